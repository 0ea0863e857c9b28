//! Truth sets: for which values of the one byte it depends on, or for which lengths, a condition is true.
//!
//! Kept by normal form, so that the same test on another byte or in another run is a lookup.

use crate::byte_set::ByteSet;
use crate::length_set::LengthSet;
use expr::{Dag, Importer, Label, Op, Program, Registers};
use rustc_hash::FxHashMap;

/// Normal forms beyond this number are forgotten.
const MOST_SHAPES: usize = 1 << 20;

/// Truth sets of conditions on one byte or on the length.
#[derive(Default)]
pub struct Truths {
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
    importer: Importer,
    generation: u64,
}

impl Truths {
    /// The byte values that make `label`, which depends on one byte only, true.
    pub fn of_byte(&mut self, map: &mut ShapeMap, dag: &Dag, label: Label) -> ByteSet {
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

    /// The lengths up to `largest` that make `label`, which depends on the length only, true.
    pub fn of_length(&mut self, map: &mut ShapeMap, dag: &Dag, label: Label, largest: u64) -> LengthSet {
        let shape = self.shape(map, dag, label);
        if let Some(set) = self.of_length.get(&(shape, largest)) {
            return set.clone();
        }
        let set = comparison(&self.shapes, shape, largest).unwrap_or_else(|| self.enumerate(shape, largest));
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
        if self.shapes.len() > MOST_SHAPES {
            *self = Truths { generation: self.generation + 1, ..Truths::default() };
        }
        if map.generation != self.generation {
            *map = ShapeMap { importer: Importer::new(), generation: self.generation };
        }
        let mut same_byte =
            |label: Label, shapes: &mut Dag| (dag.op(label) == Op::Input).then(|| shapes.input(0));
        map.importer.import_with(dag, label, &mut self.shapes, &mut same_byte)
    }
}

/// Len = c, Len < c and c < Len without enumeration.
fn comparison(dag: &Dag, label: Label, largest: u64) -> Option<LengthSet> {
    let node = dag.node(label);
    let op = dag.op(label);
    if op == Op::Not {
        return comparison(dag, node.a, largest).map(|set| set.complement(largest));
    }
    if !matches!(op, Op::Eq | Op::Ult) {
        return None;
    }
    let is_len = |label: Label| dag.op(label) == Op::Len;
    let below = |c: u64| LengthSet::interval(0, largest.min(c));
    match (op, dag.as_constant(node.a), dag.as_constant(node.b)) {
        (Op::Eq, _, Some(c)) if is_len(node.a) => {
            let c = c as u64;
            Some(if c <= largest { LengthSet::interval(c, c) } else { LengthSet::interval(1, 0) })
        }
        (Op::Ult, _, Some(c)) if is_len(node.a) => {
            Some((c as u64).checked_sub(1).map_or(LengthSet::interval(1, 0), below))
        }
        (Op::Ult, Some(c), _) if is_len(node.b) => Some(
            (c as u64).checked_add(1).map_or(LengthSet::interval(1, 0), |c| LengthSet::interval(c, largest)),
        ),
        _ => None,
    }
}
