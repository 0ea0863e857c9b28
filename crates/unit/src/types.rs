//! The types, functions and globals of a C program, as debug information tells them.

use std::collections::BTreeMap;

/// A type's place in [`Program::types`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TypeId(pub u32);

/// Whatever debug information does not say more about.
pub const VOID: TypeId = TypeId(0);

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Type {
    Void,
    Base {
        name: String,
        size: u64,
        encoding: Encoding,
    },
    Enum {
        tag: Option<String>,
        size: u64,
        signed: bool,
        constants: Vec<(String, i64)>,
    },
    Record(Record),
    /// `count` is `None` for a flexible array.
    Array {
        element: TypeId,
        count: Option<u64>,
    },
    Pointer(TypeId),
    Function(Signature),
    Typedef {
        name: String,
        of: TypeId,
    },
    Qualified {
        qualifier: Qualifier,
        of: TypeId,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    Bool,
    Signed,
    Unsigned,
    SignedChar,
    UnsignedChar,
    Float,
    Complex,
    Other,
}

impl Encoding {
    pub fn is_char(self) -> bool {
        matches!(self, Encoding::SignedChar | Encoding::UnsignedChar)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Qualifier {
    Const,
    Volatile,
    Restrict,
    Atomic,
}

/// A struct or a union.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    pub is_union: bool,
    pub tag: Option<String>,
    pub size: u64,
    pub fields: Vec<Field>,
    /// False for a type of which only the name is known.
    pub is_complete: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    pub name: Option<String>,
    pub ty: TypeId,
    pub offset: u64,
    /// Of a bit-field: its first bit, counted from the start of the record, and its width.
    pub bits: Option<(u64, u64)>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Signature {
    pub result: Option<TypeId>,
    pub parameters: Vec<Parameter>,
    pub is_variadic: bool,
    /// False for `int f()` of old.
    pub is_prototyped: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    pub name: Option<String>,
    pub ty: TypeId,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    pub name: String,
    pub signature: Signature,
    pub place: Place,
    /// Other translation units can call it.
    pub is_external: bool,
    pub is_defined: bool,
    /// False for one that is declared never to return.
    pub returns: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Global {
    pub name: String,
    pub ty: TypeId,
    pub place: Place,
    pub is_external: bool,
}

/// Where something is declared.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    pub file: String,
    pub line: u64,
}

/// What the debug information of a program says.
#[derive(Clone, Debug)]
pub struct Program {
    pub types: Vec<Type>,
    /// Definitions first; each name once, unless several files have static functions of one name.
    pub functions: Vec<Function>,
    pub globals: BTreeMap<String, Global>,
}

impl Default for Program {
    fn default() -> Program {
        Program { types: vec![Type::Void], functions: Vec::new(), globals: BTreeMap::new() }
    }
}

impl Program {
    pub fn get(&self, id: TypeId) -> &Type {
        &self.types[id.0 as usize]
    }

    /// The type without its names and qualifiers.
    pub fn bare(&self, mut id: TypeId) -> TypeId {
        while let Type::Typedef { of, .. } | Type::Qualified { of, .. } = self.get(id) {
            id = *of;
        }
        id
    }

    pub fn resolved(&self, id: TypeId) -> &Type {
        self.get(self.bare(id))
    }

    /// The type without qualifiers at its top, its name kept.
    pub fn unqualified(&self, mut id: TypeId) -> TypeId {
        while let Type::Qualified { of, .. } = self.get(id) {
            id = *of;
        }
        id
    }

    /// Size in bytes; 0 where there is none.
    pub fn size(&self, id: TypeId) -> u64 {
        match self.resolved(id) {
            Type::Base { size, .. } | Type::Enum { size, .. } => *size,
            Type::Record(record) => record.size,
            Type::Array { element, count } => self.size(*element) * count.unwrap_or(0),
            Type::Pointer(_) => POINTER,
            _ => 0,
        }
    }

    pub fn align(&self, id: TypeId) -> u64 {
        match self.resolved(id) {
            Type::Base { size, .. } | Type::Enum { size, .. } => (*size).max(1),
            Type::Record(record) => {
                record.fields.iter().map(|field| self.align(field.ty)).max().unwrap_or(1)
            }
            Type::Array { element, .. } => self.align(*element),
            Type::Pointer(_) => POINTER,
            _ => 1,
        }
    }

    /// Whether a value of the type holds a pointer.
    pub fn has_pointer(&self, id: TypeId) -> bool {
        match self.resolved(id) {
            Type::Pointer(_) => true,
            Type::Array { element, .. } => self.has_pointer(*element),
            Type::Record(record) => record.fields.iter().any(|field| self.has_pointer(field.ty)),
            _ => false,
        }
    }

    pub fn is_integer(&self, id: TypeId) -> bool {
        matches!(
            self.resolved(id),
            Type::Base { encoding: Encoding::Signed | Encoding::Unsigned, .. }
        )
    }

    pub fn pointee(&self, id: TypeId) -> Option<TypeId> {
        match self.resolved(id) {
            Type::Pointer(to) => Some(*to),
            _ => None,
        }
    }

    /// The definition with this name, or else a declaration.
    pub fn function(&self, name: &str) -> Option<&Function> {
        self.functions.iter().find(|function| function.name == name)
    }
}

/// Bytes of a pointer on x86-64.
pub const POINTER: u64 = 8;
