//! Truth sets: for which values of the one byte it depends on, or for which lengths, a condition is
//! true.
//!
//! Conditions on a byte are functions of it (see [`Functions`]); those that cannot be, and
//! conditions on the length, are kept by normal form, so that the same test on another byte or in
//! another run is a lookup.

use crate::byte_set::ByteSet;
use crate::length_set::LengthSet;
use expr::{Dag, FunctionMap, Functions, Importer, Label, Op, Program, Registers, Values};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Normal forms beyond this number are forgotten.
const MAX_SHAPES: usize = 1 << 20;

/// Truth sets of conditions on one byte or on the length.
#[derive(Default)]
pub struct Truths {
    functions: Functions,
    /// Conditions in normal form, the byte being input byte 0.
    shapes: Dag,
    of_byte: FxHashMap<Label, ByteSet>,
    of_length: FxHashMap<(Label, u64), LengthSet>,
    registers: Registers,
    generation: u64,
}

/// Where the nodes of one Dag are among the shapes.
#[derive(Default)]
pub struct ShapeMap {
    functions: FunctionMap,
    importer: Importer,
    generation: u64,
}

impl Truths {
    /// The byte values that make `label`, which depends on one byte only, true.
    pub fn of_byte(&mut self, map: &mut ShapeMap, dag: &Dag, label: Label) -> ByteSet {
        if let Some(set) = self.functions.ones(&mut map.functions, dag, label) {
            return set;
        }
        let shape = self.shape(map, dag, label);
        if let Some(&set) = self.of_byte.get(&shape) {
            return set;
        }
        let byte = self.shapes.input(0);
        let mut set = ByteSet::EMPTY;
        if let Some(program) = Program::compile(&self.shapes, &[shape], &[byte]) {
            program.load(&mut self.registers);
            for value in 0..=255 {
                program.set(&mut self.registers, 0, u128::from(value));
                program.run(&mut self.registers);
                if program.get(&self.registers, 0) == 1 {
                    set.insert(value);
                }
            }
        }
        self.of_byte.insert(shape, set);
        set
    }

    /// The values of `label`, which depends on one byte only, unless a word does not hold them.
    pub fn values(&mut self, map: &mut ShapeMap, dag: &Dag, label: Label) -> Option<Arc<Values>> {
        self.functions.of(&mut map.functions, dag, label).cloned()
    }

    /// What `label`, which has 8 bits and depends on one byte only, makes of that byte.
    pub fn byte_function(
        &mut self,
        map: &mut ShapeMap,
        dag: &Dag,
        label: Label,
    ) -> Option<[u8; 256]> {
        let values = self.functions.of(&mut map.functions, dag, label)?;
        Some(values.map(|value| value as u8))
    }

    /// The lengths up to `largest` that make `label`, which depends on the length only, true.
    pub fn of_length(
        &mut self,
        map: &mut ShapeMap,
        dag: &Dag,
        label: Label,
        largest: u64,
    ) -> LengthSet {
        let shape = self.shape(map, dag, label);
        if let Some(set) = self.of_length.get(&(shape, largest)) {
            return set.clone();
        }
        let set = comparison(&self.shapes, shape, largest)
            .unwrap_or_else(|| self.enumerate(shape, largest));
        self.of_length.insert((shape, largest), set.clone());
        set
    }

    fn enumerate(&mut self, shape: Label, largest: u64) -> LengthSet {
        let length = self.shapes.input_length();
        let Some(program) = Program::compile(&self.shapes, &[shape], &[length]) else {
            return LengthSet::interval(1, 0);
        };
        program.load(&mut self.registers);
        LengthSet::where_true(largest, |len| {
            program.set(&mut self.registers, 0, u128::from(len));
            program.run(&mut self.registers);
            program.get(&self.registers, 0) == 1
        })
    }

    fn shape(&mut self, map: &mut ShapeMap, dag: &Dag, label: Label) -> Label {
        if self.shapes.len() > MAX_SHAPES {
            let functions = std::mem::take(&mut self.functions);
            *self = Truths { functions, generation: self.generation + 1, ..Truths::default() };
        }
        if map.generation != self.generation {
            (map.importer, map.generation) = (Importer::new(), self.generation);
        }
        let mut same_byte =
            |label: Label, shapes: &mut Dag| (dag.op(label) == Op::Input).then(|| shapes.input(0));
        map.importer.import_with(dag, label, &mut self.shapes, &mut same_byte)
    }
}

/// Comparisons of Len, or of Len plus a constant, with a constant, without enumeration.
fn comparison(dag: &Dag, label: Label, largest: u64) -> Option<LengthSet> {
    let node = dag.node(label);
    let none = LengthSet::interval(1, 0);
    match dag.op(label) {
        Op::Not => comparison(dag, node.a, largest).map(|set| set.complement(largest)),
        Op::Eq if dag.op(node.a) == Op::Len => {
            let c = dag.as_constant(node.b)? as u64;
            Some(if c <= largest { LengthSet::interval(c, c) } else { none })
        }
        Op::Ult => {
            match (dag.as_constant(node.a), dag.as_constant(node.b)) {
                (None, Some(c)) => Some(offset_below(length_plus(dag, node.a)?, c as u64, largest)),
                (Some(c), None) => {
                    // c < Len + d is not Len + d < c + 1
                    let offset = length_plus(dag, node.b)?;
                    let next = (c as u64).checked_add(1);
                    Some(next.map_or(none, |next| {
                        offset_below(offset, next, largest).complement(largest)
                    }))
                }
                _ => None,
            }
        }
        _ => None,
    }
}

/// The d of Len + d.
fn length_plus(dag: &Dag, label: Label) -> Option<u64> {
    let node = dag.node(label);
    match dag.op(label) {
        Op::Len => Some(0),
        Op::Add if dag.op(node.a) == Op::Len => dag.as_constant(node.b).map(|c| c as u64),
        _ => None,
    }
}

/// The lengths for which Len + offset, modulo 2^64, is below `limit`: an interval that may wrap
/// around.
fn offset_below(offset: u64, limit: u64, largest: u64) -> LengthSet {
    let Some(last) = limit.checked_sub(1) else { return LengthSet::interval(1, 0) };
    let (first, last) = (offset.wrapping_neg(), last.wrapping_sub(offset));
    if first <= last {
        return LengthSet::interval(first, last.min(largest));
    }
    // Outside is the one interval between the two parts.
    LengthSet::interval(last + 1, first - 1).complement(largest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const MAX_LEN: u64 = 40;

    fn near_the_ends() -> impl Strategy<Value = u64> {
        prop_oneof![0..60u64, (u64::MAX - 60)..=u64::MAX]
    }

    proptest! {
        #[test]
        fn comparison_agrees_with_enumeration(c in near_the_ends(), d in near_the_ends(), kind in 0..6) {
            let mut truths = Truths::default();
            let dag = &mut truths.shapes;
            let (len, c, d) = (dag.input_length(), dag.constant(64, c.into()), dag.constant(64, d.into()));
            let sum = dag.make_binary(Op::Add, 64, len, d);
            let label = match kind {
                0 => dag.make_binary(Op::Eq, 1, len, c),
                1 => dag.make_binary(Op::Ult, 1, len, c),
                2 => dag.make_binary(Op::Ult, 1, c, len),
                3 => dag.make_binary(Op::Ult, 1, sum, c),
                4 => dag.make_binary(Op::Ult, 1, c, sum),
                _ => dag.make_binary(Op::Ule, 1, c, sum),
            };
            let label = dag.make_not(label);
            if let Some(set) = comparison(&truths.shapes, label, MAX_LEN) {
                let enumerated = truths.enumerate(label, MAX_LEN);
                prop_assert!((0..=MAX_LEN).all(|len| set.contains(len) == enumerated.contains(len)));
                prop_assert!(set.intervals().iter().all(|&(first, last)| first <= last && last <= MAX_LEN));
            } else {
                prop_assert!(truths.shapes.as_constant(label).is_some() || kind > 2);
            }
        }
    }
}
