//! One run as a test: arguments, result and written memory, for people and as C source.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::describe::{Described, Kind, Object, Typed};
use crate::types::*;
use crate::value::Values;

/// A run of a function, ready to be printed or to be made a test.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Case {
    pub arguments: Vec<Named>,
    /// Memory that arguments and globals point to.
    pub objects: Vec<Declared>,
    /// Globals that were set before the call.
    pub globals: Vec<Named>,
    /// Results that callbacks and functions without a body gave, in order.
    pub made: Vec<Named>,
    pub result: Option<Value>,
    /// The scalars of the result and of what it points to.
    pub returned: Vec<Observed>,
    pub writes: Vec<Write>,
}

/// A scalar after the call, for C source to compare.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Observed {
    /// An expression; the result is called `result`.
    pub c_target: String,
    /// The value that it had, as an expression.
    pub c: String,
    pub how: How,
    /// Another run with the same input had another value.
    pub varies: bool,
}

/// How a value is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum How {
    Equal,
    /// It is no number.
    Nan,
    Pointer,
    /// A pointer to memory that has no name: all that can be said is that it is not null.
    Set,
    Text,
}

/// A value under a name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Named {
    pub name: String,
    #[serde(flatten)]
    pub value: Value,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Value {
    /// As C spells it.
    #[serde(rename = "type")]
    pub ty: String,
    /// For people: what a pointer leads to is shown in place.
    pub text: String,
    /// An initialiser or an expression in C; objects are named as in `objects`.
    pub c: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unsaid: Vec<Unsaid>,
}

/// Bytes that no initialiser can give a value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unsaid {
    /// How many bytes from the start of the value.
    pub at: usize,
    /// A string literal of C.
    pub c: String,
}

/// An object that C source has to define.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Declared {
    pub name: String,
    /// `struct node o3[1]`: to be declared before all initialisers, which may refer to it.
    pub declaration: String,
    /// The same as a pointer to so many elements, `struct node *o3`: for memory that is allocated.
    pub pointer: String,
    pub count: u64,
    pub c: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unsaid: Vec<Unsaid>,
}

/// A scalar that has another value after the call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Write {
    /// By way of the parameters: `list->next->value`.
    pub target: String,
    pub before: String,
    pub after: String,
    /// By way of the objects: `o4[0].value`.
    #[serde(flatten)]
    pub observed: Observed,
}

impl Case {
    pub fn new(program: &Program, function: &Function, described: &Described) -> Case {
        let names = names(program, function, described);
        let before = Values::new(program, &described.before, &described.functions, &names);
        let mut case = Case {
            objects: before.declared(),
            writes: writes(program, described, &names),
            ..Case::default()
        };
        for object in &described.before {
            let list = match object.kind {
                Kind::Parameter => &mut case.arguments,
                Kind::Global => &mut case.globals,
                Kind::Memory => continue,
            };
            let name = names.get(&object.address).map_or("", |names| &names.people).to_owned();
            list.push(Named { name, value: before.value(object.ty, &object.bytes) });
        }
        for ((argument, parameter), _) in
            case.arguments.iter_mut().zip(&function.signature.parameters).zip(0..)
        {
            argument.value.ty = program.spell(parameter.ty);
        }
        let made = |(name, Typed { ty, bytes }): &(String, Typed)| Named {
            name: name.clone(),
            value: before.value(*ty, bytes),
        };
        case.made = described.made.iter().map(made).collect();
        let after = Values::new(program, &described.after, &described.functions, &names);
        case.returned = returned(program, described, &after);
        case.result = described.result.as_ref().map(|Typed { ty, bytes }| {
            let mut value = after.value(*ty, bytes);
            if let Some(behind) = &described.behind {
                value.text = after.new_memory(behind);
            }
            value
        });
        case
    }

    /// Marks what another run with the same input did otherwise.
    pub fn compare_runs(&mut self, other: &Case) {
        let others = other.returned.iter().chain(other.writes.iter().map(|write| &write.observed));
        let others: Vec<&Observed> = others.collect();
        let mark = |observed: &mut Observed| observed.varies = !others.contains(&&*observed);
        self.returned.iter_mut().for_each(mark);
        self.writes.iter_mut().map(|write| &mut write.observed).for_each(mark);
    }

    /// The arguments in one line.
    pub fn arguments_text(&self) -> String {
        let one = |named: &Named| format!("{} = {}", named.name, named.value.text);
        let all = self.arguments.iter().chain(&self.globals).chain(&self.made);
        all.map(one).collect::<Vec<_>>().join(", ")
    }

    /// What was written in one line.
    pub fn writes_text(&self) -> String {
        const SHOWN: usize = 8;
        let one = |write: &Write| format!("{} = {}", write.target, write.after);
        let mut all: Vec<String> = self.writes.iter().take(SHOWN).map(one).collect();
        if self.writes.len() > SHOWN {
            all.push(format!("… ({} more)", self.writes.len() - SHOWN));
        }
        all.join(", ")
    }
}

/// The scalars of a result, and of the memory behind it that the harness did not make.
fn returned(program: &Program, described: &Described, after: &Values<'_>) -> Vec<Observed> {
    let Some(Typed { ty, bytes }) = &described.result else { return Vec::new() };
    let leaves = crate::value::leaves(program, *ty, bytes, "result");
    let mut all: Vec<Observed> = leaves.iter().map(|leaf| after.observed(leaf)).collect();
    match &described.behind {
        Some(behind) if crate::value::is_text(program, behind.ty) => all.push(Observed {
            c_target: "result".to_owned(),
            c: crate::value::literal(&behind.bytes),
            how: How::Text,
            varies: false,
        }),
        Some(behind) => {
            let leaves = crate::value::leaves(program, behind.ty, &behind.bytes, "(*result)");
            all.extend(leaves.iter().map(|leaf| after.observed(leaf)));
        }
        None => {}
    }
    all
}

/// What an object is called.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Names {
    /// The way to it from the parameters, as a pointer; the name itself for parameters and globals.
    pub people: String,
    /// The name of an array in C.
    pub c: String,
}

/// Names of objects by address. Addresses differ between runs, numbers of objects do not.
fn names(program: &Program, function: &Function, described: &Described) -> BTreeMap<u64, Names> {
    let mut names = BTreeMap::new();
    let mut parameters = function.signature.parameters.iter().enumerate();
    let mut globals = described.globals.iter();
    let mut open = Vec::new();
    for object in &described.before {
        let people = match object.kind {
            Kind::Memory => continue,
            Kind::Global => globals.next().cloned().unwrap_or_default(),
            Kind::Parameter => parameters.next().map_or(String::new(), |(at, parameter)| {
                parameter.name.clone().unwrap_or_else(|| format!("p{at}"))
            }),
        };
        names.insert(object.address, Names { c: people.clone(), people: people.clone() });
        open.push((object, people));
    }
    for (object, people) in open {
        follow(program, described, object.ty, &object.bytes, &people, &mut names);
    }
    for (number, object) in described.before.iter().enumerate() {
        let entry = names.entry(object.address).or_default();
        if object.kind == Kind::Memory {
            entry.c = format!("o{number}");
        }
    }
    names
}

/// Names what the pointers of a value lead to, by the way to them.
fn follow(
    program: &Program,
    described: &Described,
    ty: TypeId,
    bytes: &[u8],
    path: &str,
    names: &mut BTreeMap<u64, Names>,
) {
    for leaf in crate::value::leaves(program, ty, bytes, path) {
        let is_pointer = matches!(program.resolved(leaf.ty), Type::Pointer(_));
        let address = leaf.bytes.try_into().map_or(0, u64::from_le_bytes);
        let found = described.before.iter().find(|object| {
            object.kind == Kind::Memory && object.address == address && address != 0
        });
        let Some(object) = found.filter(|_| is_pointer) else { continue };
        if names.contains_key(&address) {
            continue;
        }
        names.insert(address, Names { people: leaf.path.clone(), c: String::new() });
        for (element, path) in elements(program, object, &leaf.path) {
            follow(program, described, object.ty, element, &path, names);
        }
    }
}

/// The elements of an object, each with the way to it.
fn elements<'o>(program: &Program, object: &'o Object, pointer: &str) -> Vec<(&'o [u8], String)> {
    let size = program.size(object.ty).max(1) as usize;
    let is_record = matches!(program.resolved(object.ty), Type::Record(_));
    let name = |at: usize| match (object.count, object.kind) {
        (_, Kind::Parameter | Kind::Global) => pointer.to_owned(),
        (1, _) if is_record => format!("(*{pointer})"),
        (1, _) => format!("*{pointer}"),
        _ => format!("{pointer}[{at}]"),
    };
    object.bytes.chunks_exact(size).enumerate().map(|(at, bytes)| (bytes, name(at))).collect()
}

fn writes(program: &Program, described: &Described, names: &BTreeMap<u64, Names>) -> Vec<Write> {
    let mut writes = Vec::new();
    let before = Values::new(program, &described.before, &described.functions, names);
    let after = Values::new(program, &described.after, &described.functions, names);
    for (old, new) in described.before.iter().zip(&described.after) {
        let is_same = (old.address, old.ty, old.count) == (new.address, new.ty, new.count);
        if old.kind == Kind::Parameter || !is_same || old.bytes == new.bytes {
            continue;
        }
        let empty = Names::default();
        let name = names.get(&old.address).unwrap_or(&empty);
        let numbered = |at: usize| match old.kind {
            Kind::Global => name.c.clone(),
            _ => format!("{}[{at}]", name.c),
        };
        let olds = elements(program, old, &name.people);
        let news = elements(program, new, &name.people);
        for (at, ((old_bytes, path), (new_bytes, _))) in olds.iter().zip(&news).enumerate() {
            let leaves = |bytes, path: &str| crate::value::leaves(program, old.ty, bytes, path);
            let c_targets = leaves(new_bytes, &numbered(at));
            let pairs = leaves(old_bytes, path).into_iter().zip(leaves(new_bytes, path));
            for ((old, new), c_target) in pairs.zip(c_targets) {
                if old.bytes != new.bytes {
                    writes.push(Write {
                        target: crate::value::arrow(&new.path),
                        before: before.leaf(&old).text,
                        after: after.leaf(&new).text,
                        observed: after.observed(&c_target),
                    });
                }
            }
        }
    }
    writes
}
