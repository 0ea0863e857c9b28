//! A query cut down to what matters for its goal, in normal form and in a Dag of its own.

use crate::query::Lit;
use expr::{Dag, Importer, Label, Op};
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

    /// As [`Slicer::add`], with the nodes replaced to which `fixed` gives a value. All literals of a slice must
    /// be added with the same values.
    pub fn add_fixed(&mut self, lit: Lit, fixed: &mut dyn FnMut(Label) -> Option<u128>) {
        let from = self.from;
        let mut replace =
            |label: Label, dag: &mut Dag| fixed(label).map(|value| dag.constant(from.bits(label), value));
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

    /// How many nodes the slice has so far.
    pub fn len(&self) -> usize {
        self.slice.dag.len()
    }

    pub fn finish(self) -> Slice {
        self.slice
    }
}

impl Slice {
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
