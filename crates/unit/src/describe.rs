//! Reads what a harness prints of one run: the memory before and after the call, and the result.
//!
//! The program under test prints to the same stream and may crash at any moment, so that anything
//! may be missing or damaged; such lines are left out.

use std::collections::BTreeMap;

use crate::types::{Program, TypeId, VOID};

/// Memory that the harness knows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Object {
    pub kind: Kind,
    pub ty: TypeId,
    pub count: u64,
    pub address: u64,
    pub bytes: Vec<u8>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Parameter,
    Global,
    /// Made up by the harness.
    Memory,
}

/// A value with its type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Typed {
    pub ty: TypeId,
    pub bytes: Vec<u8>,
}

/// What a run said of itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Described {
    pub before: Vec<Object>,
    /// Empty if the call did not come back.
    pub after: Vec<Object>,
    pub result: Option<Typed>,
    /// What a result points to that is not among the objects.
    pub behind: Option<Typed>,
    /// Results that were made up for callbacks and for functions without a body, in order.
    pub made: Vec<(String, Typed)>,
    /// Names of the globals among the objects, in order.
    pub globals: Vec<String>,
    /// Callbacks by their addresses.
    pub functions: BTreeMap<u64, String>,
    pub returned: bool,
    /// A property that was asked for does not hold.
    pub violated: bool,
    /// The arguments are not of interest.
    pub unmet: bool,
    /// A function without a body that never returns was called.
    pub stopped: Option<String>,
}

const MARK: &str = "@tarragon ";

impl Described {
    pub fn parse(output: &[u8]) -> Described {
        let text = String::from_utf8_lossy(output);
        let mut described = Described::default();
        // A program may leave its own line unfinished before one of ours.
        let lines = text.lines().filter_map(|line| Some(line.split_once(MARK)?.1));
        for line in lines.filter_map(|line| line.strip_suffix(" .")) {
            let words: Vec<&str> = line.split(' ').collect();
            described.add(&words);
        }
        described
    }

    /// What the memory before the call looks like, whatever values are in it: which objects there
    /// are, and where pointers lead.
    pub fn shape(&self, program: &Program) -> Vec<u64> {
        let mut shape = Vec::new();
        for object in &self.before {
            shape.extend([u64::from(object.ty.0), object.count]);
            let size = program.size(object.ty).max(1) as usize;
            for bytes in object.bytes.chunks_exact(size) {
                let leaves = crate::value::leaves(program, object.ty, bytes, "");
                let pointers = leaves.into_iter().filter(|leaf| program.pointee(leaf.ty).is_some());
                shape.extend(pointers.map(|leaf| self.number_of(&leaf.bytes)));
            }
        }
        shape
    }

    /// The number of the object that a pointer leads to, after those for null and for elsewhere.
    fn number_of(&self, pointer: &[u8]) -> u64 {
        let address = pointer.try_into().map_or(0, u64::from_le_bytes);
        let found = self.before.iter().position(|object| object.address == address);
        found.map_or(u64::from(address != 0), |number| number as u64 + 2)
    }

    fn add(&mut self, words: &[&str]) -> Option<()> {
        match words {
            ["before", rest @ ..] => self.before.push(object(rest)?),
            ["after", rest @ ..] => self.after.push(object(rest)?),
            ["result", ty, bytes] => self.result = Some(typed(ty, bytes)?),
            ["behind", ty, bytes] => self.behind = Some(typed(ty, bytes)?),
            ["made", name, ty, bytes] => self.made.push(((*name).to_owned(), typed(ty, bytes)?)),
            ["function", name, address] => {
                self.functions.insert(address.parse().ok()?, (*name).to_owned());
            }
            ["global", name] => self.globals.push((*name).to_owned()),
            ["returned"] => self.returned = true,
            ["violated"] => self.violated = true,
            ["unmet"] => self.unmet = true,
            ["stopped", name] => self.stopped = Some((*name).to_owned()),
            _ => return None,
        }
        Some(())
    }
}

fn object(words: &[&str]) -> Option<Object> {
    let [kind, ty, count, address, bytes] = words else { return None };
    let kind = match *kind {
        "p" => Kind::Parameter,
        "g" => Kind::Global,
        "m" => Kind::Memory,
        _ => return None,
    };
    let (count, address) = (count.parse().ok()?, address.parse().ok()?);
    Some(Object { kind, ty: type_id(ty)?, count, address, bytes: hex(bytes)? })
}

fn typed(ty: &str, bytes: &str) -> Option<Typed> {
    Some(Typed { ty: type_id(ty)?, bytes: hex(bytes)? })
}

fn type_id(text: &str) -> Option<TypeId> {
    Some(if text == "0" { VOID } else { TypeId(text.parse().ok()?) })
}

fn hex(text: &str) -> Option<Vec<u8>> {
    let digits = text.strip_prefix('x')?;
    let byte = |at: usize| u8::from_str_radix(digits.get(at..at + 2)?, 16).ok();
    (0..digits.len()).step_by(2).map(byte).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_between_the_output_of_the_program_are_read() {
        let output =
            b"hello\n@tarragon before p 3 1 4096 x2a000000 .\nunfinished@tarragon result 3 \
            x01 .\n\n@tarragon returned .\nbye";
        let described = Described::parse(output);
        let bytes = vec![0x2a, 0, 0, 0];
        let object =
            Object { kind: Kind::Parameter, ty: TypeId(3), count: 1, address: 4096, bytes };
        assert_eq!(described.before, [object]);
        assert_eq!(described.result, Some(Typed { ty: TypeId(3), bytes: vec![1] }));
        assert!(described.returned && !described.violated);
    }

    #[test]
    fn damaged_lines_are_left_out() {
        let output =
            b"\n@tarragon before p 3 1 4096 x2 .\n@tarragon before q 3 1 0 x00 .\n@tarragon \
            after p 3 1 0 x00";
        assert_eq!(Described::parse(output), Described::default());
    }
}
