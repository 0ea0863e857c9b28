//! The C functions that make up values of each type, and those that compare them.
//!
//! A function is written for each type that is asked for, and for the types that it needs in turn.
//! How much input a value takes at most is known beforehand.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Write as _;

use crate::harness::Bounds;
use crate::interface::{Length, Role};
use crate::types::*;

/// Elements of an array inside a struct that are input; those after them are zero.
const ELEMENTS: u64 = 8;

/// Bytes behind a `void *` of which nothing else is known.
const BLOCK: u64 = 8;

pub(crate) struct Makers<'p> {
    program: &'p Program,
    bounds: &'p Bounds,
    /// Texts of functions, by their names.
    functions: BTreeMap<String, String>,
    /// Functions that are handed out as callbacks, by their names.
    callbacks: BTreeMap<String, Function>,
    costs: RefCell<HashMap<(TypeId, u32), u64>>,
}

impl<'p> Makers<'p> {
    pub fn new(program: &'p Program, bounds: &'p Bounds) -> Makers<'p> {
        let (functions, callbacks, costs) = Default::default();
        Makers { program, bounds, functions, callbacks, costs }
    }

    /// Most input that an argument takes.
    pub fn argument(&self, ty: TypeId, role: &Role) -> u64 {
        let to = self.program.pointee(ty).unwrap_or(VOID);
        let most = match role {
            Role::Value => return self.value(ty, 0),
            Role::Length | Role::LengthBehind => return 1,
            Role::Array(Length::Fixed(count)) => *count,
            Role::Array(_) => self.bounds.array,
        };
        let element = if self.is_block(to) { 1 } else { self.value(to, 1) };
        element.saturating_mul(most).saturating_add(1)
    }

    /// Most input that a value takes.
    pub fn value(&self, ty: TypeId, depth: u32) -> u64 {
        let ty = self.program.bare(ty);
        if let Some(cost) = self.costs.borrow().get(&(ty, depth)) {
            return *cost;
        }
        let cost = match self.program.get(ty) {
            Type::Base { size, encoding: Encoding::Float, .. } => (*size).min(8),
            Type::Base { size, .. } | Type::Enum { size, .. } => *size,
            Type::Array { element, count } => {
                self.value(*element, depth).saturating_mul(count.unwrap_or(0).min(ELEMENTS))
            }
            Type::Record(record) => self.record_cost(ty, record, depth),
            Type::Pointer(to) => self.pointer_cost(*to, depth),
            _ => 0,
        };
        self.costs.borrow_mut().insert((ty, depth), cost);
        cost
    }

    fn record_cost(&self, ty: TypeId, record: &Record, depth: u32) -> u64 {
        let fields = record.fields.iter().map(|field| match field.bits {
            Some((_, width)) => width.div_ceil(8),
            None => self.value(field.ty, depth),
        });
        match record.is_union {
            true if !self.program.has_pointer(ty) => record.size,
            true => fields.max().unwrap_or(0).saturating_add(1),
            false => fields.fold(0, u64::saturating_add),
        }
    }

    fn pointer_cost(&self, to: TypeId, depth: u32) -> u64 {
        let behind = match self.program.resolved(to) {
            Type::Function(signature) => {
                let result = signature.result.map_or(0, |ty| self.value(ty, self.bounds.depth));
                return result.saturating_mul(self.bounds.calls).saturating_add(1);
            }
            _ if depth >= self.bounds.depth => 0,
            _ if self.is_text(to) => self.bounds.text,
            Type::Void => BLOCK,
            _ => self.value(to, depth + 1),
        };
        behind.saturating_add(1)
    }

    fn is_text(&self, to: TypeId) -> bool {
        match self.program.resolved(to) {
            Type::Base { encoding, size, .. } => *size == 1 && encoding.is_char(),
            _ => false,
        }
    }

    /// Bytes of which no more is known.
    fn is_block(&self, to: TypeId) -> bool {
        matches!(self.program.resolved(to), Type::Void)
    }

    /// The number of the function that fills memory with such a value.
    pub fn need(&mut self, ty: TypeId) -> u32 {
        let ty = self.program.bare(ty);
        let name = format!("tg_make_{}", ty.0);
        self.once(name, |makers| {
            let body = makers.make(ty);
            format!(
                "static void tg_make_{}(tg_byte *at, unsigned depth)\n{{\n    \
                (void)depth;\n{body}}}\n",
                ty.0
            )
        });
        ty.0
    }

    /// Types refer to themselves, so a function counts as written before it is.
    fn once(&mut self, name: String, write: impl FnOnce(&mut Makers<'p>) -> String) {
        if !self.functions.contains_key(&name) {
            self.functions.insert(name.clone(), String::new());
            let text = write(self);
            self.functions.insert(name, text);
        }
    }

    fn make(&mut self, ty: TypeId) -> String {
        let program = self.program;
        match program.get(ty) {
            Type::Base { encoding: Encoding::Bool, .. } => {
                "    tg_take(at, 1);\n    *at &= 1;\n".to_owned()
            }
            // Not every pattern of bits is a number of this type.
            Type::Base { encoding: Encoding::Float, size: 16, .. } => {
                "    double value;\n    long double extended;\n    tg_take(&value, sizeof \
                    value);\n    \
                 extended = value;\n    __builtin_memcpy(at, &extended, 10);\n"
                    .to_owned()
            }
            Type::Base { size, .. } => format!("    tg_take(at, {size});\n"),
            Type::Enum { size, constants, .. } => self.make_enum(*size, constants),
            Type::Array { element, count } => self.make_array(*element, count.unwrap_or(0)),
            Type::Record(record) => self.make_record(ty, record),
            Type::Pointer(to) => {
                let id = self.need_pointer(*to);
                format!("    *(void **)at = tg_point_{id}(depth);\n")
            }
            _ => String::new(),
        }
    }

    /// One branch for all constants: which of them it is, is up to the code under test.
    fn make_enum(&self, size: u64, constants: &[(String, i64)]) -> String {
        let take = format!("    tg_take(at, {size});\n");
        if self.bounds.any_enum || constants.is_empty() {
            return take;
        }
        let ty = match size {
            1 => "signed char",
            2 => "short",
            4 => "int",
            _ => "long",
        };
        let values: BTreeSet<i64> = constants.iter().map(|(_, value)| *value).collect();
        let is_one = |value: &i64| format!("(value == ({ty})({value}l))");
        let any: Vec<String> = values.iter().map(is_one).collect();
        format!(
            "    {ty} value;\n{take}    __builtin_memcpy(&value, at, sizeof value);\n    if \
                (!({}))\n        \
             tg_unmet();\n",
            any.join(" | ")
        )
    }

    fn make_array(&mut self, element: TypeId, count: u64) -> String {
        let (count, size) = (count.min(ELEMENTS), self.program.size(element));
        if count == 0 || size == 0 {
            return String::new();
        }
        let id = self.need(element);
        format!(
            "    unsigned i;\n    for (i = 0; i < {count}; i++)\n        tg_make_{id}(at + i * \
                {size}, depth);\n"
        )
    }

    fn make_record(&mut self, ty: TypeId, record: &Record) -> String {
        if !record.is_union {
            return record.fields.iter().map(|field| self.make_field(field)).collect();
        }
        if !self.program.has_pointer(ty) {
            return format!("    tg_take(at, {});\n", record.size);
        }
        let mut arms = String::new();
        for (number, field) in record.fields.iter().enumerate() {
            let _ =
                writeln!(arms, "    case {number}:\n    {}        break;", self.make_field(field));
        }
        format!("    switch (tg_choose({})) {{\n{arms}    }}\n", record.fields.len())
    }

    fn make_field(&mut self, field: &Field) -> String {
        match field.bits {
            Some((first, width)) => format!("    tg_take_bits(at, {first}, {width});\n"),
            None if self.program.size(field.ty) == 0 => String::new(),
            None => format!("    tg_make_{}(at + {}, depth);\n", self.need(field.ty), field.offset),
        }
    }

    fn need_pointer(&mut self, to: TypeId) -> u32 {
        let to = self.program.bare(to);
        let name = format!("tg_point_{}", to.0);
        self.once(name, |makers| {
            let body = makers.point(to);
            format!(
                "static void *tg_point_{}(unsigned depth)\n{{\n    (void)depth;\n{body}}}\n",
                to.0
            )
        });
        to.0
    }

    fn point(&mut self, to: TypeId) -> String {
        let (program, id, depth) = (self.program, to.0, self.bounds.depth);
        let maybe_null = self.maybe_null();
        match program.get(to) {
            Type::Function(signature) => {
                self.callback(id, signature);
                format!("{maybe_null}    return (void *)tg_callback_{id};\n")
            }
            Type::Record(record) if record.tag.as_deref() == Some("_IO_FILE") => {
                format!("{maybe_null}    return tg_stream;\n")
            }
            Type::Record(record) if !record.is_complete => "    return 0;\n".to_owned(),
            _ if self.is_text(to) => format!(
                "    if (depth >= {depth})\n        return 0;\n{maybe_null}    return \
                    tg_text({id}, 1);\n"
            ),
            Type::Void => format!(
                "    void *made;\n    if (depth >= {depth})\n        return 0;\n{maybe_null}    \
                 made = tg_new(0, 1, {BLOCK});\n    tg_take(made, {BLOCK});\n    return made;\n"
            ),
            _ => self.point_to_one(to),
        }
    }

    fn maybe_null(&self) -> &'static str {
        if self.bounds.null { "    if (tg_choose(2) == 0)\n        return 0;\n" } else { "" }
    }

    /// Null, a new object, or one of the earlier ones.
    fn point_to_one(&mut self, to: TypeId) -> String {
        let (id, size) = (self.need(to), self.program.size(to));
        let (null, depth) = (u32::from(self.bounds.null), self.bounds.depth);
        format!(
            "    unsigned fresh = depth < {depth} && tg_has_room(), earlier = \
                tg_earlier({id});\n    \
             unsigned choice = tg_choose({null} + fresh + earlier);\n    void *made;\n    \
             if (choice < {null} || {null} + fresh + earlier == 0)\n        return 0;\n    \
             if (!fresh || choice > {null})\n        return tg_earlier_at({id}, choice - {null} - \
             fresh);\n    \
             made = tg_new({id}, {size}, 1);\n    tg_make_{id}((tg_byte *)made, depth + 1);\n    \
             return made;\n"
        )
    }

    /// A function whose results are input.
    fn callback(&mut self, id: u32, signature: &Signature) {
        let mut signature = signature.clone();
        for (at, parameter) in signature.parameters.iter_mut().enumerate() {
            parameter.name = Some(format!("p{at}"));
        }
        let name = format!("tg_callback_{id}");
        let result = signature.result;
        let function = Function {
            name: name.clone(),
            signature,
            place: Place::default(),
            is_external: false,
            is_defined: true,
            returns: true,
        };
        let body = result.map_or(String::new(), |ty| self.result(ty, &name));
        let text = format!("static {}\n{{\n{body}}}\n", self.program.prototype(&function));
        self.functions.insert(name.clone(), text);
        self.callbacks.insert(name, function);
    }

    /// The body of a function that makes up its result.
    pub fn result(&mut self, ty: TypeId, name: &str) -> String {
        let (id, size) = (self.need(ty), self.program.size(ty));
        let declared = self.program.declare(self.program.unqualified(ty), "tg_result");
        let depth = self.bounds.depth.saturating_sub(1);
        format!(
            "    {declared};\n    __builtin_memset((void *)&tg_result, 0, sizeof tg_result);\n    \
             tg_make_{id}((tg_byte *)&tg_result, {depth});\n    \
             tg_say_value(\"made\", \"{name} {}\", &tg_result, {size});\n    return tg_result;\n",
            ty.0
        )
    }

    /// The number of the function that makes arrays of such elements.
    pub fn need_array(&mut self, element: TypeId) -> u32 {
        let element = self.program.bare(element);
        let (id, size) = (element.0, self.program.size(element).max(1));
        let null = self.maybe_null();
        self.once(format!("tg_array_{id}"), |makers| {
            let fill = match makers.is_block(element) {
                true => "tg_take(made, count);".to_owned(),
                false => {
                    let id = makers.need(element);
                    format!(
                        "for (i = 0; i < count; i++)\n        tg_make_{id}(made + i * {size}, \
                        1);"
                    )
                }
            };
            format!(
                "static void *tg_array_{id}(tg_size count)\n{{\n    tg_byte *made;\n    tg_size \
                    i;\n    \
                 (void)i;\n{null}    made = tg_new({id}, {size}, count);\n    {fill}\n    return \
                 made;\n}}\n"
            )
        });
        id
    }

    /// The number of the function that compares two such values.
    pub fn need_same(&mut self, ty: TypeId) -> u32 {
        let ty = self.program.bare(ty);
        self.once(format!("tg_same_{}", ty.0), |makers| {
            let body = makers.same(ty);
            format!(
                "static int tg_same_{}(const tg_byte *one, const tg_byte *other)\n{{\n    return \
                    {body};\n}}\n",
                ty.0
            )
        });
        ty.0
    }

    fn same(&mut self, ty: TypeId) -> String {
        let program = self.program;
        let bytes = |size: u64| format!("tg_same_bytes(one, other, {size})");
        match program.get(ty) {
            Type::Base { encoding: Encoding::Float, size: 4, .. } => {
                "tg_close(*(const float *)one, *(const float *)other)".to_owned()
            }
            Type::Base { encoding: Encoding::Float, size: 8, .. } => {
                "tg_close(*(const double *)one, *(const double *)other)".to_owned()
            }
            Type::Base { encoding: Encoding::Float, .. } => {
                "tg_close((double)*(const long double *)one, (double)*(const long double *)other)"
                    .to_owned()
            }
            Type::Base { size, .. } | Type::Enum { size, .. } => bytes(*size),
            Type::Void => bytes(1),
            Type::Pointer(to) => {
                let text = u32::from(self.is_text(*to));
                format!("tg_same_pointer(*(tg_byte *const *)one, *(tg_byte *const *)other, {text})")
            }
            Type::Array { element, count } => {
                let (id, size) = (self.need_same(*element), program.size(*element));
                let one = |i| format!("tg_same_{id}(one + {}, other + {})", i * size, i * size);
                all((0..count.unwrap_or(0)).map(one))
            }
            Type::Record(record) if record.is_union => match program.has_pointer(ty) {
                true => "1".to_owned(),
                false => bytes(record.size),
            },
            Type::Record(record) => {
                let fields: Vec<String> =
                    record.fields.iter().map(|field| self.same_field(field)).collect();
                all(fields.into_iter())
            }
            _ => "1".to_owned(),
        }
    }

    fn same_field(&mut self, field: &Field) -> String {
        let at = field.offset;
        match field.bits {
            Some((first, width)) => {
                let bytes = (first % 8 + width).div_ceil(8);
                format!("tg_same_bytes(one + {at}, other + {at}, {bytes})")
            }
            None => format!("tg_same_{}(one + {at}, other + {at})", self.need_same(field.ty)),
        }
    }

    /// Types of memory that is compared.
    pub fn compared(&mut self) -> Vec<u32> {
        let made = self.functions.keys().filter_map(|name| name.strip_prefix("tg_make_"));
        let made: Vec<u32> = made.filter_map(|id| id.parse().ok()).collect();
        made.into_iter().map(|id| self.need_same(TypeId(id))).collect()
    }

    pub fn callbacks(&self) -> impl Iterator<Item = &Function> {
        self.callbacks.values()
    }

    /// All functions, each declared before the first of them.
    pub fn text(&mut self, compares: bool) -> String {
        if compares {
            self.compared();
        }
        let mut text = String::from("\n");
        for function in self.functions.values() {
            let head = function.lines().next().unwrap_or_default();
            let _ = writeln!(text, "{}{head};", unused(head));
        }
        text += "\n";
        text.extend(self.functions.values().map(String::as_str));
        text += "\nstatic void tg_say_functions(void)\n{\n";
        text += "    tg_say(\"function stdout\");\n    tg_put_number((tg_size)tg_stream);\n    \
                 tg_end();\n";
        for name in self.callbacks.keys() {
            let _ = writeln!(
                text,
                "    tg_say(\"function {name}\");\n    tg_put_number((tg_size)(void \
                    *){name});\n    tg_end();"
            );
        }
        text + "}\n"
    }
}

fn unused(head: &str) -> &'static str {
    if head.starts_with("static") { "__attribute__((unused)) " } else { "" }
}

fn all(conditions: impl Iterator<Item = String>) -> String {
    let all: Vec<String> = conditions.collect();
    if all.is_empty() { "1".to_owned() } else { all.join("\n        && ") }
}
