//! Which values a node can have at all, whatever the input: an interval of unsigned numbers.
//!
//! Enough to refute at once what most checks ask for, such as an index out of bounds that was
//! masked before. Looks at nodes down to some depth only; what lies deeper can have any value.

use crate::query::Lit;
use expr::{Dag, Label, Op};
use rustc_hash::FxHashMap;

/// Intervals of the nodes of one Dag.
#[derive(Default)]
pub(crate) struct Ranges {
    known: FxHashMap<Label, Range>,
    extremes: FxHashMap<(u32, u8, u32), Range>,
}

/// Both ends are included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Range {
    pub low: u128,
    pub high: u128,
}

const MAX_DEPTH: u32 = 12;
/// Larger tables are not looked through.
const MAX_TABLE: usize = 1 << 14;

impl Range {
    fn all(bits: u32) -> Range {
        Range { low: 0, high: u128::MAX >> (128 - bits) }
    }

    fn only(value: u128) -> Range {
        Range { low: value, high: value }
    }

    fn truth(always: bool, never: bool) -> Range {
        Range { low: u128::from(always), high: u128::from(!never) }
    }

    fn union(self, other: Range) -> Range {
        Range { low: self.low.min(other.low), high: self.high.max(other.high) }
    }
}

impl Ranges {
    /// Contains every value that `label` has on some input.
    pub(crate) fn of(&mut self, dag: &Dag, label: Label) -> Range {
        self.within(dag, label, MAX_DEPTH)
    }

    /// True if the literal holds on every input, as far as ranges of values tell.
    pub(crate) fn implies(&mut self, dag: &Dag, lit: Lit) -> bool {
        let range = self.of(dag, lit.label);
        range.low == range.high && (range.low == 1) == lit.value
    }

    fn within(&mut self, dag: &Dag, label: Label, depth: u32) -> Range {
        let bits = dag.bits(label);
        if let Some(value) = dag.as_constant(label) {
            return Range::only(value);
        }
        if depth == 0 {
            return Range::all(bits);
        }
        if let Some(&range) = self.known.get(&label) {
            return range;
        }
        let all = Range::all(bits);
        let range = self
            .compute(dag, label, depth - 1)
            .filter(|range| range.high <= all.high)
            .unwrap_or(all);
        self.known.insert(label, range);
        range
    }

    /// `None` if nothing is known, or if the value may wrap around.
    fn compute(&mut self, dag: &Dag, label: Label, depth: u32) -> Option<Range> {
        let node = *dag.node(label);
        let op = dag.op(label);
        if op == Op::Read {
            return self.read(dag, label);
        }
        if op == Op::Find {
            return Some(Range { low: 0, high: dag.table(node.b).bytes.len() as u128 });
        }
        let [a, b, c] = dag.operands(label).map(|operand| {
            if operand == 0 { Range::only(0) } else { self.within(dag, operand, depth) }
        });
        Some(match op {
            Op::ZExt => a,
            Op::SExt if a.high >> (dag.bits(node.a) - 1) == 0 => a,
            Op::Add => Range { low: a.low.checked_add(b.low)?, high: a.high.checked_add(b.high)? },
            Op::Sub => Range { low: a.low.checked_sub(b.high)?, high: a.high - b.low },
            Op::Mul => Range { low: a.low.checked_mul(b.low)?, high: a.high.checked_mul(b.high)? },
            Op::UDiv if b.low > 0 => Range { low: a.low / b.high, high: a.high / b.low },
            Op::URem if b.low > 0 => Range { low: 0, high: a.high.min(b.high - 1) },
            Op::And => Range { low: 0, high: a.high.min(b.high) },
            Op::Or => Range { low: a.low.max(b.low), high: below_power(a.high | b.high) },
            Op::Xor => Range { low: 0, high: below_power(a.high | b.high) },
            Op::Shl if b.low == b.high && b.high < 64 && a.high >> 64 == 0 => {
                Range { low: a.low << b.low, high: a.high << b.low }
            }
            Op::LShr if b.low == b.high && b.high < 128 => {
                Range { low: a.low >> b.low, high: a.high >> b.low }
            }
            Op::Extract if node.aux == 0 => a,
            Op::Extract => Range { low: 0, high: a.high >> node.aux },
            Op::Concat => {
                let width = dag.bits(node.b);
                Range { low: a.low << width | b.low, high: a.high << width | b.high }
            }
            Op::Ite => b.union(c),
            Op::Not if node.bits == 1 => Range { low: 1 - a.high, high: 1 - a.low },
            Op::Eq => Range::truth(a.low == a.high && a == b, a.high < b.low || b.high < a.low),
            Op::Ult => Range::truth(a.high < b.low, a.low >= b.high),
            Op::Ule => Range::truth(a.high <= b.low, a.low > b.high),
            _ => return None,
        })
    }

    fn read(&mut self, dag: &Dag, label: Label) -> Option<Range> {
        let node = *dag.node(label);
        let table = dag.table(node.b);
        if table.labels.is_some() || table.bytes.len() > MAX_TABLE {
            return None;
        }
        let count = u64::from(node.bits / 8);
        let value =
            |at: u64| (0..count).rev().fold(0, |sum, i| sum << 8 | u128::from(table.byte(at + i)));
        // Reads outside of the table are 0.
        let stride = stride(dag, node.a);
        let values = || (0..table.bytes.len() as u64).step_by(1 << stride).map(value);
        let extremes =
            || values().fold(Range::only(0), |range, value| range.union(Range::only(value)));
        Some(*self.extremes.entry((node.b, node.bits, stride)).or_insert_with(extremes))
    }
}

/// How many of the lowest bits are 0 on every input: elements of a table are read at multiples of
/// their size.
pub(crate) fn stride(dag: &Dag, label: Label) -> u32 {
    stride_within(dag, label, MAX_DEPTH / 2)
}

fn stride_within(dag: &Dag, label: Label, depth: u32) -> u32 {
    const MAX: u32 = 6;
    let node = dag.node(label);
    if let Some(value) = dag.as_constant(label) {
        return value.trailing_zeros().min(MAX);
    }
    if depth == 0 {
        return 0;
    }
    let of = |operand: Label| stride_within(dag, operand, depth - 1);
    let stride = match dag.op(label) {
        Op::Mul => of(node.a) + of(node.b),
        Op::Add | Op::Sub => of(node.a).min(of(node.b)),
        Op::Shl => of(node.a) + dag.as_constant(node.b).map_or(0, |shift| shift.min(64) as u32),
        Op::ZExt | Op::SExt => of(node.a),
        _ => 0,
    };
    stride.min(MAX)
}

/// The largest number that has no more bits.
fn below_power(value: u128) -> u128 {
    if value == 0 { 0 } else { u128::MAX >> value.leading_zeros() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expr::{Node, TableData};

    #[test]
    fn elements_of_a_table_are_read_at_multiples_of_their_size() {
        let mut dag = Dag::new();
        let numbers = [7u32, 9, 300].iter().flat_map(|number| number.to_le_bytes()).collect();
        let table = dag.add_table(TableData::concrete(numbers)).expect("a table");
        let byte = dag.input(0);
        let index = dag.add(Node::unary(Op::ZExt, 64, byte));
        let two = dag.constant(64, 2);
        let aligned = dag.add(Node::binary(Op::Shl, 64, index, two));
        let mut high = |offset: Label| {
            let read = Node { op: Op::Read as u8, bits: 32, aux: 0, a: offset, b: table, c: 0 };
            let read = dag.add(read);
            Ranges::default().of(&dag, read).high
        };
        assert_eq!(high(aligned), 300);
        assert!(high(index) > 300);
    }
}
