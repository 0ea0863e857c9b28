//! Switches as 1-bit expressions.
//!
//! Case `i` of a switch on `x` is taken iff `x = v_i`. The default is taken iff `x` lies in none of
//! the ranges `[lo, hi]` that the case values form; runs of neighbouring values are joined, so that
//! the 26 letters cost one range test `x - lo <= hi - lo` and not 26 comparisons.

use expr::Dag;
use trace::{Label, Node, Op};

/// `x = value`, with `value` cut to the width of `x`.
pub fn equals(dag: &mut Dag, x: Label, value: u64) -> Label {
    let bits = dag.node(x).bits;
    let constant = dag.add(Node::constant(bits, cut(bits, value)));
    dag.add(Node::binary(Op::Eq, 1, x, constant))
}

/// True iff a case is taken, false iff the default is. `None` if there are no cases.
pub(crate) fn any_case(dag: &mut Dag, x: Label, cases: &[u64]) -> Option<Label> {
    let bits = dag.node(x).bits;
    let mut parts: Vec<Label> =
        ranges(bits, cases).into_iter().map(|(lo, hi)| within(dag, x, lo, hi)).collect();
    while parts.len() > 1 {
        parts = parts.chunks(2).map(|pair| either(dag, pair)).collect();
    }
    parts.pop()
}

fn either(dag: &mut Dag, pair: &[Label]) -> Label {
    match *pair {
        [a, b] => dag.add(Node::binary(Op::Or, 1, a, b)),
        _ => pair[0],
    }
}

fn within(dag: &mut Dag, x: Label, lo: u64, hi: u64) -> Label {
    if lo == hi {
        return equals(dag, x, lo);
    }
    let bits = dag.node(x).bits;
    let low = dag.add(Node::constant(bits, lo));
    let offset = dag.add(Node::binary(Op::Sub, bits, x, low));
    let span = dag.add(Node::constant(bits, hi - lo));
    dag.add(Node::binary(Op::Ule, 1, offset, span))
}

/// The case values, sorted and joined to inclusive ranges.
fn ranges(bits: u8, cases: &[u64]) -> Vec<(u64, u64)> {
    let mut values: Vec<u64> = cases.iter().map(|&value| cut(bits, value)).collect();
    values.sort_unstable();
    let mut ranges: Vec<(u64, u64)> = Vec::new();
    for value in values {
        match ranges.last_mut() {
            Some((_, hi)) if value - *hi <= 1 => *hi = value,
            _ => ranges.push((value, value)),
        }
    }
    ranges
}

pub(crate) fn cut(bits: u8, value: u64) -> u64 {
    if bits >= 64 { value } else { value & ((1 << bits) - 1) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_join() {
        assert_eq!(ranges(8, &[99, 97, 98, 0, 255, 98]), [(0, 0), (97, 99), (255, 255)]);
        assert_eq!(
            ranges(8, &[0xffff_ff80]),
            [(0x80, 0x80)],
            "values are cut to the width of the switch"
        );
        assert_eq!(ranges(64, &[u64::MAX, u64::MAX - 1]), [(u64::MAX - 1, u64::MAX)]);
    }
}
