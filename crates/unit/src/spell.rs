//! Types in C: how they are spelled, and how those of a program are declared again where its
//! sources are not at hand.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use crate::types::*;

impl Program {
    /// A declaration of `name` with this type: `int (*name)(char)`.
    pub fn declare(&self, id: TypeId, name: &str) -> String {
        match self.get(id) {
            Type::Void => spaced("void", name),
            Type::Base { name: base, .. } => spaced(base, name),
            Type::Enum { tag, .. } => spaced(&format!("enum {}", self.tag(id, tag.as_ref())), name),
            Type::Record(record) => {
                let kind = if record.is_union { "union" } else { "struct" };
                spaced(&format!("{kind} {}", self.tag(id, record.tag.as_ref())), name)
            }
            Type::Typedef { name: typedef, .. } => spaced(typedef, name),
            Type::Array { element, count } => {
                let count = count.map_or(String::new(), |count| count.to_string());
                self.declare(*element, &format!("{name}[{count}]"))
            }
            Type::Pointer(to) => self.declare_pointer(*to, &format!("*{name}")),
            Type::Function(signature) => self.declare_function(signature, name),
            Type::Qualified { qualifier, of } => self.declare_qualified(*qualifier, *of, name),
        }
    }

    /// A type without a tag by a name that was given to it.
    pub(crate) fn named(&self, id: TypeId) -> TypeId {
        let (Type::Record(Record { tag: None, .. }) | Type::Enum { tag: None, .. }) = self.get(id)
        else {
            return id;
        };
        let is_name = |ty: &Type| matches!(ty, Type::Typedef { of, .. } if *of == id);
        self.types.iter().position(is_name).map_or(id, |at| TypeId(at as u32))
    }

    /// The type alone: `int (*)(char)`.
    pub fn spell(&self, id: TypeId) -> String {
        self.declare(id, "")
    }

    /// `int sum(const int *a, size_t n)`
    pub fn prototype(&self, function: &Function) -> String {
        self.declare_function(&function.signature, &function.name)
    }

    pub(crate) fn declare_pointer(&self, to: TypeId, starred: &str) -> String {
        match self.get(to) {
            Type::Array { .. } | Type::Function(_) => self.declare(to, &format!("({starred})")),
            _ => self.declare(to, starred),
        }
    }

    fn declare_qualified(&self, qualifier: Qualifier, of: TypeId, name: &str) -> String {
        let word = match qualifier {
            Qualifier::Const => "const",
            Qualifier::Volatile => "volatile",
            Qualifier::Restrict => "restrict",
            Qualifier::Atomic => "_Atomic",
        };
        match self.get(of) {
            Type::Pointer(to) => self.declare_pointer(*to, &format!("*{}", spaced(word, name))),
            _ => format!("{word} {}", self.declare(of, name)),
        }
    }

    fn declare_function(&self, signature: &Signature, name: &str) -> String {
        let parameter = |parameter: &Parameter| {
            self.declare(parameter.ty, parameter.name.as_deref().unwrap_or_default())
        };
        let mut parameters: Vec<String> = signature.parameters.iter().map(parameter).collect();
        match (signature.is_variadic, parameters.is_empty(), signature.is_prototyped) {
            (true, false, true) => parameters.push("...".to_owned()),
            (_, true, true) => parameters.push("void".to_owned()),
            _ => {}
        }
        let declared = format!("{name}({})", parameters.join(", "));
        self.declare(signature.result.unwrap_or(VOID), &declared)
    }

    /// Types without a tag get one by their number.
    fn tag(&self, id: TypeId, tag: Option<&String>) -> String {
        tag.cloned().unwrap_or_else(|| format!("tg_type_{}", id.0))
    }

    /// Declarations of all types that these need, in an order that C takes.
    pub fn declarations(&self, of: impl IntoIterator<Item = TypeId>) -> String {
        let mut declarations = Declarations::new(self);
        of.into_iter().for_each(|id| declarations.whole(id));
        while let Some(id) = declarations.later.pop() {
            declarations.whole(id);
        }
        declarations.text
    }
}

fn spaced(first: &str, name: &str) -> String {
    if name.is_empty() { first.to_owned() } else { format!("{first} {name}") }
}

struct Declarations<'p> {
    program: &'p Program,
    text: String,
    /// Types whose definition was begun.
    begun: BTreeSet<TypeId>,
    /// Types to be defined once all others are.
    later: Vec<TypeId>,
    /// Definitions by their text up to the body: two units describe the same type twice.
    named: BTreeSet<String>,
}

impl<'p> Declarations<'p> {
    fn new(program: &'p Program) -> Declarations<'p> {
        let (begun, later, named) = Default::default();
        Declarations { program, text: String::new(), begun, later, named }
    }

    /// A type whose size must be known.
    fn whole(&mut self, id: TypeId) {
        match self.program.get(id) {
            Type::Array { element, .. } => self.whole(*element),
            Type::Qualified { of, .. } => self.whole(*of),
            Type::Typedef { of, .. } => {
                self.mentioned(id);
                self.whole(*of);
            }
            Type::Enum { .. } | Type::Record(_) if self.begun.insert(id) => self.define(id),
            Type::Pointer(_) | Type::Function(_) => self.mentioned(id),
            _ => {}
        }
    }

    /// A type of which a name is enough. Structs are defined later, for preconditions to use them:
    /// types refer to each other in circles.
    fn mentioned(&mut self, id: TypeId) {
        match self.program.get(id) {
            Type::Pointer(to) => self.mentioned(*to),
            Type::Qualified { of, .. } => self.mentioned(*of),
            Type::Function(signature) => self.signature(signature),
            Type::Typedef { name, of } if self.begun.insert(id) => {
                self.mentioned(*of);
                self.typedef(name, *of);
            }
            Type::Record(_) if !self.begun.contains(&id) => {
                self.line(&format!("{};", self.program.spell(id)));
                self.later.push(id);
            }
            Type::Enum { .. } | Type::Array { .. } => self.whole(id),
            _ => {}
        }
    }

    fn signature(&mut self, signature: &Signature) {
        let types = signature.parameters.iter().map(|parameter| parameter.ty);
        types.chain(signature.result).for_each(|id| self.mentioned(id));
    }

    fn typedef(&mut self, name: &str, of: TypeId) {
        let line = format!("typedef {};", self.program.declare(of, name));
        if !name.starts_with("__builtin_") {
            self.line(&line);
        }
    }

    fn define(&mut self, id: TypeId) {
        let spelled = self.program.spell(id);
        if !self.named.insert(spelled.clone()) {
            return;
        }
        match self.program.get(id) {
            Type::Enum { constants, .. } => {
                let constants = constants.iter().map(|(name, value)| format!("{name} = {value}"));
                let list = constants.collect::<Vec<_>>().join(", ");
                self.line(&format!("{spelled} {{ {list} }};"));
            }
            Type::Record(record) if record.is_complete => self.record(&spelled, record),
            _ => {}
        }
    }

    fn record(&mut self, spelled: &str, record: &'p Record) {
        record.fields.iter().for_each(|field| self.whole(field.ty));
        let packed = if self.is_packed(record) { " __attribute__((packed))" } else { "" };
        let mut body = String::new();
        let mut end = 0;
        for field in &record.fields {
            if !packed.is_empty() && !record.is_union && field.offset > end {
                let _ = writeln!(body, "    char tg_gap_{end}[{}];", field.offset - end);
            }
            end = field.offset + self.program.size(field.ty);
            let name = field.name.as_deref().unwrap_or_default();
            let width = field.bits.map_or(String::new(), |(_, width)| format!(" : {width}"));
            let anonymous = name.is_empty() && field.bits.is_none();
            let declared = match anonymous {
                // Its members belong to the record around it, so it cannot be declared by its tag.
                true => self.body_of(field.ty),
                false => self.program.declare(field.ty, name),
            };
            let _ = writeln!(body, "    {declared}{width};");
        }
        if !packed.is_empty() && !record.is_union && record.size > end {
            let _ = writeln!(body, "    char tg_gap_{end}[{}];", record.size - end);
        }
        self.line(&format!("{spelled} {{\n{body}}}{packed};"));
        self.line(&format!(
            "_Static_assert(sizeof({spelled}) == {}, \"layout of {spelled}\");",
            record.size
        ));
    }

    /// An anonymous struct or union as a member.
    fn body_of(&self, id: TypeId) -> String {
        let Type::Record(record) = self.program.resolved(id) else { return String::new() };
        let kind = if record.is_union { "union" } else { "struct" };
        let field = |field: &Field| match field.name.as_deref() {
            Some(name) => format!("{}; ", self.program.declare(field.ty, name)),
            None => format!("{}; ", self.body_of(field.ty)),
        };
        format!("{kind} {{ {}}}", record.fields.iter().map(field).collect::<String>())
    }

    /// Whether the offsets are not those that C would choose.
    fn is_packed(&self, record: &Record) -> bool {
        let misplaced = |field: &Field| {
            field.bits.is_none()
                && !field.offset.is_multiple_of(self.program.align(field.ty).max(1))
        };
        let whole: u64 =
            record.fields.iter().map(|field| self.program.align(field.ty)).max().unwrap_or(1);
        record.fields.iter().any(misplaced) || !record.size.is_multiple_of(whole.max(1))
    }

    fn line(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }
}
