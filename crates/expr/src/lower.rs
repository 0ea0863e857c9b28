//! Operations on texts as formulas over single bytes, for solvers that know no texts.

use crate::dag::Dag;
use crate::texts::Operation;
use trace::{Label, Op, text};

/// The text of an operation: the label of each byte.
pub(crate) struct Lowering<'l> {
    pub operation: Operation<'l>,
    pub cells: &'l [Label],
}

impl Lowering<'_> {
    pub(crate) fn make(&self, dag: &mut Dag) -> Label {
        match self.operation.op {
            Op::Compare => self.compare(dag),
            _ if self.has(text::LAST) => self.last(dag),
            _ => self.first(dag),
        }
    }

    fn has(&self, flag: u16) -> bool {
        self.operation.flags & flag != 0
    }

    /// `r(i) = if hit(i) { i } else if text ends at i { none } else { r(i + 1) }`
    fn first(&self, dag: &mut Dag) -> Label {
        let none = dag.constant(64, self.cells.len() as u128);
        let mut rest = none;
        for at in (0..self.cells.len()).rev() {
            let (hit, end) = (self.hit(dag, at), self.end(dag, at));
            let here = dag.constant(64, at as u128);
            rest = dag.make_ite(end, none, rest);
            rest = dag.make_ite(hit, here, rest);
        }
        rest
    }

    /// `r(i) = if text ends at i { none } else if r(i + 1) found { r(i + 1) } else if hit(i) { i }
    /// else { none }`
    fn last(&self, dag: &mut Dag) -> Label {
        let none = dag.constant(64, self.cells.len() as u128);
        let (mut rest, mut found) = (none, dag.constant(1, 0));
        for at in (0..self.cells.len()).rev() {
            let (hit, end) = (self.hit(dag, at), self.end(dag, at));
            let here = dag.constant(64, at as u128);
            let here = dag.make_ite(hit, here, none);
            let later = dag.make_ite(found, rest, here);
            rest = dag.make_ite(end, none, later);
            let (any, goes_on) = (dag.make_binary(Op::Or, 1, found, hit), dag.make_not(end));
            found = dag.make_binary(Op::And, 1, goes_on, any);
        }
        rest
    }

    fn end(&self, dag: &mut Dag, at: usize) -> Label {
        if self.has(text::TERMINATED) { equals(dag, self.cells[at], 0) } else { dag.constant(1, 0) }
    }

    fn hit(&self, dag: &mut Dag, at: usize) -> Label {
        let pattern = self.operation.pattern;
        if self.has(text::SET) {
            let mut found = dag.constant(1, 0);
            for &member in pattern {
                let here = self.same(dag, self.cells[at], member);
                found = dag.make_binary(Op::Or, 1, found, here);
            }
            return if self.has(text::NEGATED) { dag.make_not(found) } else { found };
        }
        let mut all = dag.constant(1, u128::from(pattern.len() <= self.cells.len() - at));
        for (&cell, &wanted) in self.cells[at..].iter().zip(pattern) {
            let here = self.same(dag, cell, wanted);
            all = dag.make_binary(Op::And, 1, all, here);
        }
        all
    }

    /// `r(i) = if text[i] == pattern[i] { r(i + 1) } else if text[i] < pattern[i] { -1 } else { 1
    /// }`
    fn compare(&self, dag: &mut Dag) -> Label {
        let [below, equal, above] = [u128::MAX, 0, 1].map(|sign| dag.constant(32, sign));
        let mut rest = equal;
        for (&cell, &other) in self.cells.iter().zip(self.operation.pattern).rev() {
            let other = self.folded(other);
            if self.has(text::TERMINATED) && other == 0 {
                rest = equal;
            }
            let (cell, other) = (self.fold(dag, cell), dag.constant(8, u128::from(other)));
            let less = dag.make_binary(Op::Ult, 1, cell, other);
            let unequal = dag.make_ite(less, below, above);
            let same = dag.make_binary(Op::Eq, 1, cell, other);
            rest = dag.make_ite(same, rest, unequal);
        }
        rest
    }

    fn same(&self, dag: &mut Dag, cell: Label, wanted: u8) -> Label {
        let (lower, upper) = (wanted.to_ascii_lowercase(), wanted.to_ascii_uppercase());
        if !self.has(text::FOLD) || lower == upper {
            return equals(dag, cell, wanted);
        }
        let (lower, upper) = (equals(dag, cell, lower), equals(dag, cell, upper));
        dag.make_binary(Op::Or, 1, lower, upper)
    }

    fn folded(&self, byte: u8) -> u8 {
        if self.has(text::FOLD) { byte.to_ascii_lowercase() } else { byte }
    }

    /// `if 'A' <= c <= 'Z' { c | 0x20 } else { c }`
    fn fold(&self, dag: &mut Dag, cell: Label) -> Label {
        if !self.has(text::FOLD) {
            return cell;
        }
        let [first, count, bit] = [u128::from(b'A'), 25, 0x20].map(|value| dag.constant(8, value));
        let offset = dag.make_binary(Op::Sub, 8, cell, first);
        let is_upper = dag.make_binary(Op::Ule, 1, offset, count);
        let lower = dag.make_binary(Op::Or, 8, cell, bit);
        dag.make_ite(is_upper, lower, cell)
    }
}

fn equals(dag: &mut Dag, cell: Label, byte: u8) -> Label {
    let byte = dag.constant(8, u128::from(byte));
    dag.make_binary(Op::Eq, 1, cell, byte)
}
