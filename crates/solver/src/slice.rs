//! A query cut down to what matters for its goal, in normal form and in a Dag of its own.

use crate::byte_set::ByteSet;
use crate::query::Lit;
use expr::{Dag, Importer, Label, Node, Op, TableData};
use rustc_hash::FxHashSet;

/// Literals in normal form. Conjunctions are taken apart, duplicates and tautologies are gone.
#[derive(Clone, Debug, Default)]
pub struct Slice {
    pub dag: Dag,
    /// The goal's literals come last.
    pub lits: Vec<Lit>,
    known: FxHashSet<Lit>,
    contradiction: bool,
}

/// Copies literals from the Dag of a run into a slice.
pub struct Slicer<'d> {
    from: &'d Dag,
    importer: Importer,
    slice: Slice,
}

impl<'d> Slicer<'d> {
    pub fn new(from: &'d Dag) -> Slicer<'d> {
        Slicer { from, importer: Importer::new(), slice: Slice::default() }
    }

    pub fn add(&mut self, lit: Lit) {
        let label = self.importer.import(self.from, lit.label, &mut self.slice.dag);
        self.slice.assert(Lit { label, ..lit });
    }

    /// As [`Slicer::add`], with the nodes replaced to which `fixed` gives a value. All literals of
    /// a slice must be added with the same values.
    pub fn add_fixed(&mut self, lit: Lit, fixed: &mut dyn FnMut(Label) -> Option<u128>) {
        let from = self.from;
        let mut replace = |label: Label, dag: &mut Dag| {
            fixed(label).map(|value| dag.constant(from.bits(label), value))
        };
        let label = self.importer.import_with(from, lit.label, &mut self.slice.dag, &mut replace);
        self.slice.assert(Lit { label, ..lit });
    }

    /// Requires that the input is at least `len` bytes long.
    pub fn require_length(&mut self, len: u64) {
        let Some(last) = len.checked_sub(1) else { return };
        let dag = &mut self.slice.dag;
        let (last, length) = (dag.constant(64, u128::from(last)), dag.input_length());
        let label = dag.make_binary(Op::Ult, 1, last, length);
        self.slice.assert(Lit::new(label, true));
    }

    /// Requires that the input is at most `len` bytes long.
    pub fn limit_length(&mut self, len: u64) {
        let dag = &mut self.slice.dag;
        let (len, length) = (dag.constant(64, u128::from(len)), dag.input_length());
        let label = dag.make_binary(Op::Ule, 1, length, len);
        self.slice.assert(Lit::new(label, true));
    }

    /// Requires that an input byte is in a set: a few range tests, or a read from a table.
    pub fn limit_byte(&mut self, byte: u32, set: ByteSet) {
        const FEW: usize = 3;
        let (dag, ranges) = (&mut self.slice.dag, set.ranges().collect::<Vec<_>>());
        let byte = dag.input(byte);
        let label = match ranges.len() {
            0..=FEW => {
                let tests: Vec<Label> =
                    ranges.iter().map(|range| within(dag, byte, *range)).collect();
                let first = dag.constant(1, 0);
                tests.into_iter().fold(first, |any, test| dag.make_binary(Op::Or, 1, any, test))
            }
            _ => member(dag, byte, set),
        };
        self.slice.assert(Lit::new(label, true));
    }

    /// How many nodes the slice has so far.
    pub fn len(&self) -> usize {
        self.slice.dag.len()
    }

    pub fn finish(self) -> Slice {
        self.slice
    }
}

fn within(dag: &mut Dag, byte: Label, (low, high): (u8, u8)) -> Label {
    let (start, span) = (dag.constant(8, low.into()), dag.constant(8, (high - low).into()));
    if low == high {
        return dag.make_binary(Op::Eq, 1, byte, start);
    }
    let offset = dag.make_binary(Op::Sub, 8, byte, start);
    dag.make_binary(Op::Ule, 1, offset, span)
}

fn member(dag: &mut Dag, byte: Label, set: ByteSet) -> Label {
    let table = TableData::concrete((0..=255).map(|byte| u8::from(set.contains(byte))).collect());
    let (Ok(table), one) = (dag.add_table(table), dag.constant(8, 1)) else {
        return dag.constant(1, 1);
    };
    let offset = dag.make_unary(Op::ZExt, 64, byte);
    let read = dag.make(Node { op: Op::Read as u8, bits: 8, aux: 0, a: offset, b: table, c: 0 });
    dag.make_binary(Op::Eq, 1, read, one)
}

impl Slice {
    /// These literals, as they are.
    pub(crate) fn of(dag: Dag, lits: Vec<Lit>) -> Slice {
        Slice { dag, lits, ..Slice::default() }
    }

    /// True if the literals contradict each other on the face of it.
    pub fn is_contradictory(&self) -> bool {
        self.contradiction
    }

    /// The literal to be made true last, if anything is left to be made true.
    pub fn split_goal(&self) -> Option<(&[Lit], Lit)> {
        self.lits.split_last().map(|(goal, path)| (path, *goal))
    }

    fn assert(&mut self, lit: Lit) {
        let mut stack = vec![lit];
        while let Some(Lit { label, value }) = stack.pop() {
            let node = *self.dag.node(label);
            match (self.dag.op(label), value) {
                (Op::Not, _) => stack.push(Lit::new(node.a, !value)),
                (Op::And, true) | (Op::Or, false) => {
                    stack.extend([Lit::new(node.b, value), Lit::new(node.a, value)]);
                }
                _ => self.assert_atom(label, value),
            }
        }
    }

    fn assert_atom(&mut self, label: Label, value: bool) {
        let lit = Lit::new(label, value);
        match self.dag.as_constant(label) {
            Some(constant) => self.contradiction |= (constant == 1) != value,
            None if self.known.contains(&lit.negated()) => self.contradiction = true,
            None if self.known.insert(lit) => self.lits.push(lit),
            None => {}
        }
    }
}
