//! Whether two functions did the same with the same arguments.
//!
//! Addresses differ between two runs, so that pointers are compared by the objects that they lead
//! to, which have the same numbers in both.

use crate::describe::{Described, Kind, Typed};
use crate::types::*;
use crate::value::{Leaf, leaves};

/// What is different after two calls that came back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Difference {
    pub result: bool,
    pub memory: bool,
}

/// Floating-point numbers may differ by `tolerance`, absolutely or relative to the larger of them.
pub fn compare(
    program: &Program,
    one: &Described,
    other: &Described,
    tolerance: f64,
) -> Difference {
    let comparison = Comparison { program, sides: [one, other], tolerance };
    Difference { result: !comparison.same_result(), memory: !comparison.same_memory() }
}

struct Comparison<'a> {
    program: &'a Program,
    sides: [&'a Described; 2],
    tolerance: f64,
}

impl Comparison<'_> {
    fn same_result(&self) -> bool {
        let [one, other] = self.sides;
        match (&one.result, &other.result) {
            (Some(first), Some(second)) => self.same(first, second) && self.same_behind(),
            (None, None) => true,
            _ => false,
        }
    }

    /// Memory that the functions made themselves: texts are compared.
    fn same_behind(&self) -> bool {
        let [one, other] = self.sides.map(|side| side.behind.as_ref());
        let is_text = |typed: &Typed| self.program.size(typed.ty) == 1;
        match (one, other) {
            (Some(one), Some(other)) if is_text(one) => one.bytes == other.bytes,
            _ => true,
        }
    }

    fn same_memory(&self) -> bool {
        let [one, other] = self.sides;
        one.after.iter().zip(&other.after).all(|(first, second)| {
            let size = self.program.size(first.ty).max(1) as usize;
            let elements = first.bytes.chunks_exact(size).zip(second.bytes.chunks_exact(size));
            first.kind == Kind::Parameter
                || elements.into_iter().all(|(first_bytes, second_bytes)| {
                    let typed = |bytes: &[u8]| Typed { ty: first.ty, bytes: bytes.to_vec() };
                    self.same(&typed(first_bytes), &typed(second_bytes))
                })
        })
    }

    fn same(&self, one: &Typed, other: &Typed) -> bool {
        let leaves = |typed: &Typed| leaves(self.program, typed.ty, &typed.bytes, "");
        let pairs = leaves(one).into_iter().zip(leaves(other));
        pairs.into_iter().all(|(one, other)| self.same_leaf(&one, &other))
    }

    fn same_leaf(&self, one: &Leaf, other: &Leaf) -> bool {
        match self.program.resolved(one.ty) {
            Type::Base { encoding: Encoding::Float, .. } => {
                let [one, other] = [one, other].map(|leaf| crate::value::float_of(&leaf.bytes));
                let larger = one.abs().max(other.abs()).max(1.0);
                one == other
                    || (one - other).abs() <= self.tolerance * larger
                    || one.is_nan() && other.is_nan()
            }
            Type::Pointer(_) => self.lead(0, &one.bytes) == self.lead(1, &other.bytes),
            _ => one.bytes == other.bytes,
        }
    }

    /// The object that a pointer leads to, and where in it; `None` for memory elsewhere.
    fn lead(&self, side: usize, pointer: &[u8]) -> Option<(usize, u64)> {
        let address = pointer.try_into().map_or(0, u64::from_le_bytes);
        if address == 0 {
            return Some((usize::MAX, 0));
        }
        let mut objects = self.sides[side].before.iter().enumerate();
        objects.find_map(|(number, object)| {
            let offset = address.checked_sub(object.address)?;
            (offset <= object.bytes.len() as u64).then_some((number, offset))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn program() -> Program {
        let double = Type::Base { name: "double".into(), size: 8, encoding: Encoding::Float };
        let mut program = Program::default();
        program.types.extend([double, Type::Pointer(TypeId(1))]);
        program
    }

    fn returned(value: f64) -> Described {
        let bytes = value.to_le_bytes().to_vec();
        Described { result: Some(Typed { ty: TypeId(1), bytes }), ..Described::default() }
    }

    #[test]
    fn floats_may_differ_by_the_tolerance() {
        let differs = |one, other, tolerance| {
            compare(&program(), &returned(one), &returned(other), tolerance).result
        };
        assert!(differs(1.0, 1.0 + 1e-12, 0.0));
        assert!(!differs(1.0, 1.0 + 1e-12, 1e-9));
        assert!(!differs(1e161, 1e161 * (1.0 + 1e-12), 1e-9));
        assert!(differs(1.0, 1.1, 1e-9));
        assert!(!differs(f64::NAN, f64::NAN, 0.0));
    }

    #[test]
    fn pointers_are_the_same_that_lead_to_the_same_object() {
        let object = |address| crate::describe::Object {
            kind: Kind::Memory,
            ty: TypeId(1),
            count: 1,
            address,
            bytes: vec![0; 8],
        };
        let run = |start: u64, pointer: u64| Described {
            before: vec![object(start)],
            result: Some(Typed { ty: TypeId(2), bytes: pointer.to_le_bytes().to_vec() }),
            ..Described::default()
        };
        let differs = |one, other| compare(&program(), &one, &other, 0.0).result;
        assert!(!differs(run(4096, 4100), run(8192, 8196)));
        assert!(differs(run(4096, 4100), run(8192, 8192)));
        assert!(differs(run(4096, 4096), run(8192, 0)));
    }
}
