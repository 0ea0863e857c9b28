//! Values in memory as text: for people, and as C source.

use std::collections::BTreeMap;

use crate::case::{Declared, How, Names, Observed, Unsaid, Value};
use crate::describe::{Kind, Object, Typed};
use crate::types::*;

/// The objects of a moment, by which pointers are understood.
pub(crate) struct Values<'a> {
    program: &'a Program,
    objects: &'a [Object],
    functions: &'a BTreeMap<u64, String>,
    names: &'a BTreeMap<u64, Names>,
}

/// A scalar within a value.
#[derive(Clone, Debug)]
pub(crate) struct Leaf {
    pub path: String,
    pub ty: TypeId,
    pub bytes: Vec<u8>,
    bits: Option<(u64, u64)>,
}

/// All scalars of a value, each with the way to it.
pub(crate) fn leaves(program: &Program, ty: TypeId, bytes: &[u8], path: &str) -> Vec<Leaf> {
    match program.resolved(ty) {
        Type::Array { element, count } => {
            let size = program.size(*element) as usize;
            let part = |at: usize| {
                let bytes = bytes.get(at * size..(at + 1) * size).unwrap_or_default();
                leaves(program, *element, bytes, &format!("{path}[{at}]"))
            };
            (0..count.unwrap_or(0) as usize).flat_map(part).collect()
        }
        Type::Record(record) => {
            let fields = shown_fields(program, record);
            let part = |field: &Field| {
                let bytes = part_of(program, field, bytes);
                let path =
                    field.name.as_ref().map_or(path.to_owned(), |name| format!("{path}.{name}"));
                match field.bits {
                    None => leaves(program, field.ty, bytes, &path),
                    bits => vec![Leaf { path, ty: field.ty, bytes: bytes.to_vec(), bits }],
                }
            };
            fields.into_iter().flat_map(part).collect()
        }
        _ => {
            vec![Leaf { path: path.to_owned(), ty, bytes: bytes.to_vec(), bits: None }]
        }
    }
}

/// What an initialiser cannot say: bytes of a union beyond the member that is shown, and which of
/// all patterns a float has that is no number.
pub(crate) fn unsaid(program: &Program, ty: TypeId, bytes: &[u8]) -> Vec<Unsaid> {
    let mut said = vec![0; bytes.len()];
    let size = program.size(ty).max(1) as usize;
    for (part, said) in bytes.chunks_exact(size).zip(said.chunks_exact_mut(size)) {
        say(program, ty, part, said);
    }
    let differs = |at: &usize| bytes[*at] != said[*at];
    let mut runs: Vec<(usize, Vec<u8>)> = Vec::new();
    for at in (0..bytes.len()).filter(differs) {
        match runs.last_mut() {
            Some((start, run)) if *start + run.len() == at => run.push(bytes[at]),
            _ => runs.push((at, vec![bytes[at]])),
        }
    }
    runs.into_iter().map(|(at, run)| Unsaid { at, c: literal(&run) }).collect()
}

/// Fills memory as the initialiser of a value does.
fn say(program: &Program, ty: TypeId, bytes: &[u8], said: &mut [u8]) {
    match program.resolved(ty) {
        Type::Array { element, .. } => {
            let size = program.size(*element).max(1) as usize;
            for (part, said) in bytes.chunks_exact(size).zip(said.chunks_exact_mut(size)) {
                say(program, *element, part, said);
            }
        }
        Type::Record(record) => {
            for field in shown_fields(program, record) {
                let (part, start) = (part_of(program, field, bytes), field.offset as usize);
                let said = &mut said[start.min(bytes.len())..];
                match field.bits {
                    None => say(program, field.ty, part, &mut said[..part.len()]),
                    Some(_) => said[..part.len()].copy_from_slice(part),
                }
            }
        }
        Type::Base { encoding: Encoding::Float, .. } if float_of(bytes).is_nan() => {
            say_nan(said);
        }
        _ => said.copy_from_slice(bytes),
    }
}

/// `__builtin_nan("")`
fn say_nan(said: &mut [u8]) {
    match said.len() {
        4 => said.copy_from_slice(&f32::NAN.to_le_bytes()),
        8 => said.copy_from_slice(&f64::NAN.to_le_bytes()),
        _ => {
            if let Some(end) = said.get_mut(7..10) {
                end.copy_from_slice(&[0xc0, 0xff, 0x7f]);
            }
        }
    }
}

/// Of a union, one member that is as large as it is.
fn shown_fields<'r>(program: &Program, record: &'r Record) -> Vec<&'r Field> {
    if !record.is_union {
        return record.fields.iter().collect();
    }
    let largest = record.fields.iter().rev().max_by_key(|field| program.size(field.ty));
    largest.into_iter().collect()
}

fn part_of<'b>(program: &Program, field: &Field, bytes: &'b [u8]) -> &'b [u8] {
    let start = field.offset as usize;
    let size = match field.bits {
        Some((first, width)) => (first % 8 + width).div_ceil(8),
        None => program.size(field.ty),
    };
    bytes.get(start..start + size as usize).unwrap_or_default()
}

/// `(*a).b` as people write it.
pub(crate) fn arrow(path: &str) -> String {
    let mut text = path.to_owned();
    while let Some(at) = text.find("(*") {
        let mut depth = 0;
        let end = text[at..].char_indices().find(|(_, c)| {
            depth += i32::from(*c == '(') - i32::from(*c == ')');
            depth == 0
        });
        let Some(end) = end.map(|(end, _)| at + end) else { break };
        let inner = text[at + 2..end].to_owned();
        let rest = text[end + 1..].to_owned();
        let rest = rest.strip_prefix('.').map_or(rest.clone(), |rest| format!("->{rest}"));
        text = format!("{}{inner}{rest}", &text[..at]);
    }
    text
}

impl<'a> Values<'a> {
    pub fn new(
        program: &'a Program,
        objects: &'a [Object],
        functions: &'a BTreeMap<u64, String>,
        names: &'a BTreeMap<u64, Names>,
    ) -> Values<'a> {
        Values { program, objects, functions, names }
    }

    pub fn value(&self, ty: TypeId, bytes: &[u8]) -> Value {
        Value {
            ty: self.program.spell(ty),
            text: self.text(ty, bytes, &mut Vec::new()),
            c: self.c(ty, bytes),
            unsaid: unsaid(self.program, ty, bytes),
        }
    }

    pub fn leaf(&self, leaf: &Leaf) -> Value {
        let ty = self.program.spell(leaf.ty);
        match leaf.bits {
            Some(bits) => {
                let text = self.bit_field(leaf.ty, &leaf.bytes, bits);
                Value { ty, c: text.clone(), text, unsaid: Vec::new() }
            }
            None => Value {
                ty,
                text: self.text(leaf.ty, &leaf.bytes, &mut Vec::new()),
                c: self.c(leaf.ty, &leaf.bytes),
                unsaid: Vec::new(),
            },
        }
    }

    /// A scalar of the memory after the call.
    pub fn observed(&self, leaf: &Leaf) -> Observed {
        let (c_target, c) = (leaf.path.clone(), self.leaf(leaf).c);
        let (how, c_target, c) = match self.program.resolved(leaf.ty) {
            Type::Pointer(_) if is_unnamed(&c) => (How::Set, c_target, "0".to_owned()),
            Type::Pointer(_) => (How::Pointer, c_target, c),
            Type::Base { encoding: Encoding::Float, .. } if float_of(&leaf.bytes).is_nan() => {
                (How::Nan, c_target, c)
            }
            // Its value in C is that of a double.
            Type::Base { encoding: Encoding::Float, size: 16, .. } => {
                (How::Equal, format!("(double){c_target}"), c)
            }
            _ => (How::Equal, c_target, c),
        };
        Observed { c_target, c, how, varies: false }
    }

    /// What a result points to that the harness did not make.
    pub fn new_memory(&self, behind: &Typed) -> String {
        match is_text(self.program, behind.ty) {
            true => quoted(&behind.bytes),
            false => format!("&{}", self.text(behind.ty, &behind.bytes, &mut Vec::new())),
        }
    }

    /// Definitions of the memory that the harness made.
    pub fn declared(&self) -> Vec<Declared> {
        let made = self.objects.iter().filter(|object| object.kind == Kind::Memory);
        made.map(|object| self.declare(object)).collect()
    }

    fn declare(&self, object: &Object) -> Declared {
        let name = self.names.get(&object.address).map_or("", |names| &names.c).to_owned();
        let size = self.program.size(object.ty).max(1) as usize;
        let count = object.count.max(1);
        let ty = self.program.named(object.ty);
        let declare = |declarator: &str| match self.program.get(ty) {
            Type::Void => format!("unsigned char {declarator}"),
            _ => self.program.declare(ty, declarator),
        };
        let pointer = match self.program.get(ty) {
            Type::Void => declare(&format!("*{name}")),
            _ => self.program.declare_pointer(ty, &format!("*{name}")),
        };
        let declaration = declare(&format!("{name}[{count}]"));
        let mut elements: Vec<String> =
            object.bytes.chunks_exact(size).map(|bytes| self.c(object.ty, bytes)).collect();
        if elements.is_empty() {
            elements.push("0".to_owned());
        }
        let c = match object.bytes.split_last() {
            Some((0, text)) if self.is_char(object.ty) && !text.contains(&0) => literal(text),
            _ => elements.join(", "),
        };
        let unsaid = unsaid(self.program, object.ty, &object.bytes);
        Declared { name, declaration, pointer, count, c: format!("{{ {c} }}"), unsaid }
    }

    fn c(&self, ty: TypeId, bytes: &[u8]) -> String {
        match self.program.resolved(ty) {
            Type::Array { element, .. } => {
                let size = self.program.size(*element).max(1) as usize;
                let parts: Vec<String> =
                    bytes.chunks_exact(size).map(|bytes| self.c(*element, bytes)).collect();
                format!("{{ {} }}", parts.join(", "))
            }
            Type::Record(record) => format!("{{ {} }}", self.c_fields(record, bytes).join(", ")),
            Type::Pointer(_) => self.c_pointer(bytes),
            _ => self.scalar(ty, bytes).1,
        }
    }

    /// Members of a struct without a name are members of the one around it.
    fn c_fields(&self, record: &Record, bytes: &[u8]) -> Vec<String> {
        let one = |field: &Field| -> Vec<String> {
            let part = part_of(self.program, field, bytes);
            match (&field.name, field.bits, self.program.resolved(field.ty)) {
                (None, None, Type::Record(inner)) => self.c_fields(inner, part),
                (None, _, _) => Vec::new(),
                (Some(name), Some(bits), _) => {
                    vec![format!(".{name} = {}", self.bit_field(field.ty, part, bits))]
                }
                // An array of no length takes no initialiser.
                (Some(_), None, _) if self.program.size(field.ty) == 0 => Vec::new(),
                (Some(name), None, _) => vec![format!(".{name} = {}", self.c(field.ty, part))],
            }
        };
        shown_fields(self.program, record).into_iter().flat_map(one).collect()
    }

    fn c_pointer(&self, bytes: &[u8]) -> String {
        let address = number(bytes);
        if address == 0 {
            return "0".to_owned();
        }
        if let Some(name) = self.functions.get(&address) {
            // Not every source that has a stream includes what declares it.
            return if name == "stdout" { "tg_stream".to_owned() } else { name.clone() };
        }
        let Some((object, offset)) = self.object_at(address) else {
            return format!("(void *){address:#x}");
        };
        let name = self.names.get(&object.address).map_or("", |names| &names.c);
        let size = self.program.size(object.ty).max(1);
        match (object.kind, offset % size) {
            (Kind::Memory, 0) if offset == 0 => name.to_owned(),
            (Kind::Memory, 0) => format!("&{name}[{}]", offset / size),
            (Kind::Memory, _) => format!("(void *)((char *){name} + {offset})"),
            _ => format!("(void *)((char *)&{name} + {offset})"),
        }
    }

    /// The object in which or at whose end an address is, and how far.
    fn object_at(&self, address: u64) -> Option<(&'a Object, u64)> {
        let within = |object: &&Object| {
            address
                .checked_sub(object.address)
                .is_some_and(|at| at < object.bytes.len().max(1) as u64)
        };
        let at_end = |object: &&Object| object.address + object.bytes.len() as u64 == address;
        let found =
            self.objects.iter().find(within).or_else(|| self.objects.iter().find(at_end))?;
        Some((found, address - found.address))
    }

    /// `shown` are the objects around this value.
    fn text(&self, ty: TypeId, bytes: &[u8], shown: &mut Vec<u64>) -> String {
        match self.program.resolved(ty) {
            Type::Array { element, .. } => self.text_of_array(*element, bytes, shown),
            Type::Record(record) => {
                let one = |field: &Field| {
                    let part = part_of(self.program, field, bytes);
                    let text = match field.bits {
                        Some(bits) => self.bit_field(field.ty, part, bits),
                        None => self.text(field.ty, part, shown),
                    };
                    let name = field.name.as_ref().map(|name| format!("{name} = "));
                    format!("{}{text}", name.unwrap_or_default())
                };
                let fields = shown_fields(self.program, record).into_iter().map(one);
                let beyond = self.beyond(ty, record, bytes);
                format!("{{{}}}", fields.chain(beyond).collect::<Vec<_>>().join(", "))
            }
            Type::Pointer(_) => self.text_of_pointer(bytes, shown),
            _ => self.scalar(ty, bytes).0,
        }
    }

    /// What the member of a union that is shown does not say.
    fn beyond(&self, ty: TypeId, record: &Record, bytes: &[u8]) -> Vec<String> {
        if !record.is_union {
            return Vec::new();
        }
        let unsaid = unsaid(self.program, ty, bytes).into_iter();
        unsaid.map(|Unsaid { at, c }| format!("from byte {at} {c}")).collect()
    }

    fn text_of_array(&self, element: TypeId, bytes: &[u8], shown: &mut Vec<u64>) -> String {
        let size = self.program.size(element).max(1) as usize;
        if self.is_char(element)
            && let Some((0, text)) = bytes.split_last()
            && !text.contains(&0)
        {
            return quoted(text);
        }
        let parts: Vec<String> =
            bytes.chunks_exact(size).map(|bytes| self.text(element, bytes, shown)).collect();
        format!("[{}]", parts.join(", "))
    }

    fn is_char(&self, ty: TypeId) -> bool {
        matches!(self.program.resolved(ty), Type::Base { encoding, .. } if encoding.is_char())
    }

    fn text_of_pointer(&self, bytes: &[u8], shown: &mut Vec<u64>) -> String {
        let address = number(bytes);
        if address == 0 {
            return "NULL".to_owned();
        }
        if let Some(name) = self.functions.get(&address) {
            return name.clone();
        }
        let Some((object, offset)) = self.object_at(address) else {
            return "(other memory)".to_owned();
        };
        let name = self.names.get(&object.address).map_or("", |names| &names.people);
        if offset != 0 || shown.contains(&object.address) || object.kind != Kind::Memory {
            let size = self.program.size(object.ty).max(1);
            return match (offset, offset % size) {
                (0, _) => format!("(the same as {})", arrow(name)),
                (_, 0) => format!("{} + {}", arrow(name), offset / size),
                _ => format!("(byte {offset} of {})", arrow(name)),
            };
        }
        shown.push(object.address);
        match object.count {
            1 if !self.is_char(object.ty) => {
                format!("&{}", self.text(object.ty, &object.bytes, shown))
            }
            _ => self.text_of_array(object.ty, &object.bytes, shown),
        }
    }

    fn bit_field(&self, ty: TypeId, bytes: &[u8], (first, width): (u64, u64)) -> String {
        let all = number_of_any(bytes) >> (first % 8);
        let value = if width >= 64 { all as u64 } else { all as u64 & ((1 << width) - 1) };
        let signed = match self.program.resolved(ty) {
            Type::Base { encoding, .. } => {
                matches!(encoding, Encoding::Signed | Encoding::SignedChar)
            }
            Type::Enum { signed, .. } => *signed,
            _ => false,
        };
        let shift = 64 - width.clamp(1, 64);
        match signed {
            true => (((value << shift) as i64) >> shift).to_string(),
            false => value.to_string(),
        }
    }

    /// For people, and in C.
    fn scalar(&self, ty: TypeId, bytes: &[u8]) -> (String, String) {
        let twice = |text: String| (text.clone(), text);
        match self.program.resolved(ty) {
            Type::Base { encoding: Encoding::Float, .. } => float(bytes),
            Type::Base { encoding: Encoding::Bool, .. } => twice(number(bytes).to_string()),
            Type::Base { encoding: Encoding::SignedChar, .. } => character(bytes, true),
            Type::Base { encoding: Encoding::UnsignedChar, .. } => character(bytes, false),
            Type::Base { encoding: Encoding::Signed, .. } => integer(signed(bytes)),
            Type::Enum { constants, signed: is_signed, .. } => {
                let value = if *is_signed { signed(bytes) } else { i128::from(number(bytes)) };
                match constants.iter().find(|(_, constant)| i128::from(*constant) == value) {
                    Some((name, _)) => twice(name.clone()),
                    None => integer(value),
                }
            }
            _ => integer(number_of_any(bytes) as i128),
        }
    }
}

/// Whether what a pointer of this kind leads to is read up to a zero.
pub(crate) fn is_text(program: &Program, ty: TypeId) -> bool {
    matches!(program.resolved(ty), Type::Base { size: 1, encoding, .. } if encoding.is_char())
}

/// Whether C source has no name for where a pointer leads.
pub fn is_unnamed(c: &str) -> bool {
    c.contains("(void *)0x")
}

/// A string literal of C: octal escapes end after three digits. It has no trigraphs.
pub(crate) fn literal(bytes: &[u8]) -> String {
    let one = |byte: &u8| match byte {
        b'"' | b'\\' | b'?' => format!("\\{}", *byte as char),
        b' '..=b'~' => (*byte as char).to_string(),
        _ => format!("\\{byte:03o}"),
    };
    format!("\"{}\"", bytes.iter().map(one).collect::<String>())
}

fn quoted(bytes: &[u8]) -> String {
    format!("\"{}\"", bytes.escape_ascii())
}

fn number(bytes: &[u8]) -> u64 {
    number_of_any(bytes) as u64
}

fn number_of_any(bytes: &[u8]) -> u128 {
    bytes.iter().take(16).rev().fold(0, |number, byte| number << 8 | u128::from(*byte))
}

fn signed(bytes: &[u8]) -> i128 {
    let unused = 128 - 8 * bytes.len().clamp(1, 16) as u32;
    (number_of_any(bytes) as i128) << unused >> unused
}

/// C has no negative literals, so that the least numbers are written as differences.
fn integer(value: i128) -> (String, String) {
    let c = match value {
        _ if value == i128::from(i32::MIN) => "(-2147483647 - 1)".to_owned(),
        _ if value == i128::from(i64::MIN) => "(-9223372036854775807L - 1)".to_owned(),
        _ if value > i128::from(u64::MAX) || value < i128::from(i64::MIN) => {
            format!("((__int128){}L << 64 | {}UL)", value >> 64, value as u64)
        }
        _ if value > i128::from(i64::MAX) => format!("{value}UL"),
        _ if value > i128::from(i32::MAX) || value < i128::from(i32::MIN) => format!("{value}L"),
        _ => value.to_string(),
    };
    (value.to_string(), c)
}

fn character(bytes: &[u8], is_signed: bool) -> (String, String) {
    let value = if is_signed { signed(bytes) } else { i128::from(number(bytes)) };
    let shown = match bytes {
        [byte @ (b'\'' | b'\\')] => format!("'\\{}'", *byte as char),
        [byte] if byte.is_ascii_graphic() || *byte == b' ' => format!("'{}'", *byte as char),
        _ => value.to_string(),
    };
    (shown, value.to_string())
}

/// A number of 4, 8 or 16 bytes.
pub(crate) fn float_of(bytes: &[u8]) -> f64 {
    match bytes.len() {
        4 => bytes.try_into().map_or(0.0, |bytes| f64::from(f32::from_le_bytes(bytes))),
        8 => bytes.try_into().map_or(0.0, f64::from_le_bytes),
        _ => extended(bytes),
    }
}

fn float(bytes: &[u8]) -> (String, String) {
    let value = float_of(bytes);
    let mut canonical = vec![0; bytes.len()];
    say_nan(&mut canonical);
    let text = match bytes.len() {
        _ if value.is_nan() && bytes != canonical => {
            format!("NaN ({:#x})", number_of_any(bytes))
        }
        4 => format!("{:?}", value as f32),
        _ => format!("{value:?}"),
    };
    let c = match value {
        _ if value.is_nan() => "__builtin_nan(\"\")".to_owned(),
        _ if value.is_infinite() && value > 0.0 => "__builtin_inf()".to_owned(),
        _ if value.is_infinite() => "-__builtin_inf()".to_owned(),
        _ => format!("{value:?}"),
    };
    (text, c)
}

/// The 80 bits of a `long double`, as a double.
fn extended(bytes: &[u8]) -> f64 {
    let (mantissa, head) =
        (number(bytes.get(..8).unwrap_or_default()), number(bytes.get(8..10).unwrap_or_default()));
    let exponent = (head & 0x7fff) as i32;
    let sign = if head & 0x8000 != 0 { -1.0 } else { 1.0 };
    match exponent {
        0x7fff if mantissa << 1 == 0 => sign * f64::INFINITY,
        0x7fff => f64::NAN,
        _ => sign * mantissa as f64 * 2f64.powi(exponent - 16383 - 63),
    }
}
