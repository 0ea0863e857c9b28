//! Reads types, functions and globals from the debug information (DWARF) of an object file.
//!
//! Objects are not linked, so that references between sections are relocations, which are applied
//! while reading. What a compiler may have left out (names, sizes) is absent in the model; what is
//! damaged is an error, never a panic.

#![allow(non_upper_case_globals, reason = "tags are named as the standard names them")]

use std::borrow::Cow;
use std::collections::HashMap;

use gimli::{
    AttributeValue, DebuggingInformationEntry, DwAte, Dwarf, EndianSlice, LittleEndian, Reader,
    RelocateReader, SectionId, Unit, UnitOffset, constants,
};
use object::read::elf::ElfFile64;
use object::{Object, ObjectSection, RelocationMap};
use thiserror::Error;

use crate::types::*;

#[derive(Debug, Error)]
pub enum ReadError {
    #[error("no object file of this machine: {0}")]
    Object(#[from] object::read::Error),
    #[error("debug information cannot be read: {0}")]
    Dwarf(#[from] gimli::Error),
}

type Result<T> = std::result::Result<T, ReadError>;
type Slice<'d> = RelocateReader<EndianSlice<'d, LittleEndian>, &'d RelocationMapOf>;
type Entry<'u, 'd> = DebuggingInformationEntry<'u, 'u, Slice<'d>>;

/// What references of one section refer to.
#[derive(Debug, Default)]
struct RelocationMapOf(RelocationMap);

impl gimli::Relocate<usize> for &RelocationMapOf {
    fn relocate_address(&self, offset: usize, value: u64) -> gimli::Result<u64> {
        Ok(self.0.relocate(offset as u64, value))
    }

    fn relocate_offset(&self, offset: usize, value: usize) -> gimli::Result<usize> {
        <usize as gimli::ReaderOffset>::from_u64(self.0.relocate(offset as u64, value as u64))
    }
}

#[derive(Default)]
struct Section<'d> {
    data: Cow<'d, [u8]>,
    relocations: RelocationMapOf,
}

/// Reads one object file into `program`: types of several objects stand side by side.
pub fn read(object: &[u8], program: &mut Program) -> Result<()> {
    let file = ElfFile64::<object::LittleEndian, _>::parse(object)?;
    let load = |id: SectionId| -> Result<Section<'_>> {
        let Some(section) = file.section_by_name(id.name()) else { return Ok(Section::default()) };
        let relocations = RelocationMapOf(section.relocation_map()?);
        Ok(Section { data: Cow::Borrowed(section.data()?), relocations })
    };
    let sections = gimli::DwarfSections::load(load)?;
    let dwarf = sections.borrow(|section| {
        RelocateReader::new(EndianSlice::new(&section.data, LittleEndian), &section.relocations)
    });
    let mut headers = dwarf.units();
    while let Some(header) = headers.next()? {
        let unit = dwarf.unit(header)?;
        UnitReader { dwarf: &dwarf, unit: &unit, program, types: HashMap::new() }.read()?;
    }
    program.functions.sort_by_key(|function| !function.is_defined);
    program.functions.dedup_by(|second, first| second == first);
    Ok(())
}

struct UnitReader<'u, 'd> {
    dwarf: &'u Dwarf<Slice<'d>>,
    unit: &'u Unit<Slice<'d>>,
    program: &'u mut Program,
    /// Types that were read, by where they stand.
    types: HashMap<UnitOffset, TypeId>,
}

impl<'u, 'd> UnitReader<'u, 'd> {
    fn read(&mut self) -> Result<()> {
        let mut tree = self.unit.entries_tree(None)?;
        let mut children = tree.root()?.children();
        while let Some(child) = children.next()? {
            let entry = child.entry().clone();
            match entry.tag() {
                constants::DW_TAG_subprogram => self.function(&entry)?,
                constants::DW_TAG_variable => self.global(&entry)?,
                _ => {}
            }
        }
        Ok(())
    }

    fn function(&mut self, entry: &Entry<'_, 'd>) -> Result<()> {
        let Some(name) = self.name(entry)? else { return Ok(()) };
        if self.is_cxx(entry)? {
            return Ok(());
        }
        let function = Function {
            name,
            signature: self.signature(entry)?,
            place: self.place(entry)?,
            is_external: flag(entry, constants::DW_AT_external)?,
            is_defined: !flag(entry, constants::DW_AT_declaration)?,
            returns: !flag(entry, constants::DW_AT_noreturn)?,
        };
        self.program.functions.push(function);
        Ok(())
    }

    fn global(&mut self, entry: &Entry<'_, 'd>) -> Result<()> {
        let Some(name) = self.name(entry)? else { return Ok(()) };
        let global = Global {
            ty: self.type_of(entry)?,
            place: self.place(entry)?,
            is_external: flag(entry, constants::DW_AT_external)?,
            name: name.clone(),
        };
        self.program.globals.entry(name).or_insert(global);
        Ok(())
    }

    fn signature(&mut self, entry: &Entry<'_, 'd>) -> Result<Signature> {
        let mut signature = Signature {
            result: self.type_if_any(entry)?,
            is_prototyped: flag(entry, constants::DW_AT_prototyped)?,
            ..Signature::default()
        };
        for child in self.children(entry.offset())? {
            match child.tag() {
                constants::DW_TAG_formal_parameter => {
                    let (name, ty) = (self.name(&child)?, self.type_of(&child)?);
                    signature.parameters.push(Parameter { name, ty });
                }
                constants::DW_TAG_unspecified_parameters => signature.is_variadic = true,
                _ => {}
            }
        }
        Ok(signature)
    }

    fn children(&self, of: UnitOffset) -> Result<Vec<Entry<'u, 'd>>> {
        let mut tree = self.unit.entries_tree(Some(of))?;
        let mut children = tree.root()?.children();
        let mut entries = Vec::new();
        while let Some(child) = children.next()? {
            entries.push(child.entry().clone());
        }
        Ok(entries)
    }

    /// No type is `void`.
    fn type_of(&mut self, entry: &Entry<'_, 'd>) -> Result<TypeId> {
        Ok(self.type_if_any(entry)?.unwrap_or(VOID))
    }

    fn type_if_any(&mut self, entry: &Entry<'_, 'd>) -> Result<Option<TypeId>> {
        match entry.attr_value(constants::DW_AT_type)? {
            Some(AttributeValue::UnitRef(offset)) => self.type_at(offset).map(Some),
            _ => Ok(None),
        }
    }

    /// A number is given before the type is read, because types refer to each other in circles.
    fn type_at(&mut self, offset: UnitOffset) -> Result<TypeId> {
        if let Some(id) = self.types.get(&offset) {
            return Ok(*id);
        }
        let id = TypeId(self.program.types.len() as u32);
        self.types.insert(offset, id);
        self.program.types.push(Type::Void);
        let entry = self.unit.entry(offset)?;
        let ty = self.read_type(&entry)?;
        self.program.types[id.0 as usize] = ty;
        Ok(id)
    }

    fn read_type(&mut self, entry: &Entry<'_, 'd>) -> Result<Type> {
        use constants::*;
        let qualified = |qualifier, of| Type::Qualified { qualifier, of };
        Ok(match entry.tag() {
            DW_TAG_base_type => self.base(entry)?,
            DW_TAG_enumeration_type => self.enumeration(entry)?,
            DW_TAG_structure_type | DW_TAG_class_type => self.record(entry, false)?,
            DW_TAG_union_type => self.record(entry, true)?,
            DW_TAG_array_type => return self.array(entry),
            DW_TAG_pointer_type => Type::Pointer(self.type_of(entry)?),
            DW_TAG_subroutine_type => Type::Function(self.signature(entry)?),
            DW_TAG_typedef => Type::Typedef {
                name: self.name(entry)?.unwrap_or_default(),
                of: self.type_of(entry)?,
            },
            DW_TAG_const_type => qualified(Qualifier::Const, self.type_of(entry)?),
            DW_TAG_volatile_type => qualified(Qualifier::Volatile, self.type_of(entry)?),
            DW_TAG_restrict_type => qualified(Qualifier::Restrict, self.type_of(entry)?),
            DW_TAG_atomic_type => qualified(Qualifier::Atomic, self.type_of(entry)?),
            _ => Type::Void,
        })
    }

    fn base(&self, entry: &Entry<'_, 'd>) -> Result<Type> {
        let encoding = match entry.attr_value(constants::DW_AT_encoding)? {
            Some(AttributeValue::Encoding(encoding)) => encoding_of(encoding),
            _ => Encoding::Other,
        };
        let name = self.name(entry)?.unwrap_or_default();
        Ok(Type::Base { name, size: number(entry, constants::DW_AT_byte_size)?, encoding })
    }

    fn enumeration(&mut self, entry: &Entry<'_, 'd>) -> Result<Type> {
        let underlying = self.type_of(entry)?;
        let signed = matches!(
            self.program.resolved(underlying),
            Type::Base { encoding: Encoding::Signed | Encoding::SignedChar, .. }
        );
        let mut constants = Vec::new();
        for child in self.children(entry.offset())? {
            let value = child.attr(constants::DW_AT_const_value)?.map(|attr| {
                attr.sdata_value().or(attr.udata_value().map(|value| value as i64)).unwrap_or(0)
            });
            if let (Some(name), Some(value)) = (self.name(&child)?, value) {
                constants.push((name, value));
            }
        }
        let size = number(entry, constants::DW_AT_byte_size)?;
        Ok(Type::Enum { tag: self.name(entry)?, size, signed, constants })
    }

    fn record(&mut self, entry: &Entry<'_, 'd>, is_union: bool) -> Result<Type> {
        let mut fields = Vec::new();
        for child in self.children(entry.offset())? {
            if child.tag() == constants::DW_TAG_member {
                fields.push(self.field(&child)?);
            }
        }
        Ok(Type::Record(Record {
            is_union,
            tag: self.name(entry)?,
            size: number(entry, constants::DW_AT_byte_size)?,
            fields,
            is_complete: !flag(entry, constants::DW_AT_declaration)?,
        }))
    }

    fn field(&mut self, entry: &Entry<'_, 'd>) -> Result<Field> {
        let ty = self.type_of(entry)?;
        let offset = number(entry, constants::DW_AT_data_member_location)?;
        let width = number(entry, constants::DW_AT_bit_size)?;
        let first = match entry.attr(constants::DW_AT_data_bit_offset)? {
            Some(first) => first.udata_value().unwrap_or(0),
            None => offset * 8,
        };
        let bits = (width > 0).then_some((first, width));
        let offset = if bits.is_some() { first / 8 } else { offset };
        Ok(Field { name: self.name(entry)?, ty, offset, bits })
    }

    /// `int a[2][3]` is one entry with two bounds, but an array of arrays.
    fn array(&mut self, entry: &Entry<'_, 'd>) -> Result<Type> {
        let mut element = self.type_of(entry)?;
        let mut counts = Vec::new();
        for child in self.children(entry.offset())? {
            if child.tag() == constants::DW_TAG_subrange_type {
                counts.push(count_of(&child)?);
            }
        }
        while counts.len() > 1 {
            let count = counts.pop().flatten();
            self.program.types.push(Type::Array { element, count });
            element = TypeId(self.program.types.len() as u32 - 1);
        }
        Ok(Type::Array { element, count: counts.pop().flatten() })
    }

    fn name(&self, entry: &Entry<'_, 'd>) -> Result<Option<String>> {
        let Some(value) = entry.attr_value(constants::DW_AT_name)? else { return Ok(None) };
        let text = self.dwarf.attr_string(self.unit, value)?;
        Ok(Some(text.to_string_lossy()?.into_owned()).filter(|name| !name.is_empty()))
    }

    /// Whether C cannot call it: its name says its types, too.
    fn is_cxx(&self, entry: &Entry<'_, 'd>) -> Result<bool> {
        let Some(value) = entry.attr_value(constants::DW_AT_linkage_name)? else {
            return Ok(false);
        };
        Ok(self.dwarf.attr_string(self.unit, value)?.to_string_lossy()?.starts_with("_Z"))
    }

    fn place(&self, entry: &Entry<'_, 'd>) -> Result<Place> {
        let line = number(entry, constants::DW_AT_decl_line)?;
        let file = match (entry.attr_value(constants::DW_AT_decl_file)?, &self.unit.line_program) {
            (Some(AttributeValue::FileIndex(index)), Some(program)) => {
                match program.header().file(index) {
                    Some(file) => self.file(program.header(), file)?,
                    None => String::new(),
                }
            }
            _ => String::new(),
        };
        Ok(Place { file, line })
    }

    fn file(
        &self,
        header: &gimli::LineProgramHeader<Slice<'d>>,
        file: &gimli::FileEntry<Slice<'d>>,
    ) -> Result<String> {
        let text = |value| -> Result<String> {
            Ok(self.dwarf.attr_string(self.unit, value)?.to_string_lossy()?.into_owned())
        };
        let name = text(file.path_name())?;
        let directory = match file.directory(header) {
            Some(directory) if !name.starts_with('/') => text(directory)?,
            _ => return Ok(name),
        };
        let below = format!("{directory}/{name}");
        match (&self.unit.comp_dir, directory.starts_with('/')) {
            (Some(start), false) => Ok(format!("{}/{below}", start.to_string_lossy()?)),
            _ => Ok(below),
        }
    }
}

fn encoding_of(encoding: DwAte) -> Encoding {
    match encoding {
        constants::DW_ATE_boolean => Encoding::Bool,
        constants::DW_ATE_signed => Encoding::Signed,
        constants::DW_ATE_unsigned => Encoding::Unsigned,
        constants::DW_ATE_signed_char => Encoding::SignedChar,
        constants::DW_ATE_unsigned_char => Encoding::UnsignedChar,
        constants::DW_ATE_float => Encoding::Float,
        constants::DW_ATE_complex_float => Encoding::Complex,
        _ => Encoding::Other,
    }
}

fn count_of(bound: &Entry<'_, '_>) -> Result<Option<u64>> {
    if let Some(count) = bound.attr(constants::DW_AT_count)? {
        return Ok(count.udata_value());
    }
    let upper = bound.attr(constants::DW_AT_upper_bound)?;
    Ok(upper.and_then(|upper| upper.udata_value()).and_then(|upper| upper.checked_add(1)))
}

fn flag(entry: &Entry<'_, '_>, name: gimli::DwAt) -> Result<bool> {
    Ok(matches!(entry.attr_value(name)?, Some(AttributeValue::Flag(true))))
}

fn number(entry: &Entry<'_, '_>, name: gimli::DwAt) -> Result<u64> {
    Ok(entry.attr(name)?.and_then(|attr| attr.udata_value()).unwrap_or(0))
}
