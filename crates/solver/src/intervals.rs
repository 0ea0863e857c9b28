//! Whether a literal is ruled out by the least and the greatest values of the parts that depend on
//! one byte.
//!
//! Intervals are of signed numbers, so that checks for overflow, which most arithmetic on small
//! numbers brings along, are refuted without trying a value. Nodes of more than 64 bits and
//! operators that are not listed can have any value.

mod read;

use crate::query::Lit;
use expr::{Dag, Label, Node, Op};
use rustc_hash::FxHashMap;

/// Both ends are included. The numbers are signed, except for truth values, which are 0 and 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Interval {
    pub low: i128,
    pub high: i128,
}

/// How deep nodes are looked into.
const MAX_DEPTH: u32 = 64;
/// How many nodes a question may look at.
const MAX_NODES: u32 = 4096;

impl Interval {
    pub(crate) fn all(bits: u32) -> Interval {
        if bits == 1 {
            return Interval { low: 0, high: 1 };
        }
        let half = 1i128 << (bits.clamp(1, 127) - 1);
        Interval { low: -half, high: half - 1 }
    }

    pub(crate) fn only(value: i128) -> Interval {
        Interval { low: value, high: value }
    }

    pub(crate) fn union(self, other: Interval) -> Interval {
        Interval { low: self.low.min(other.low), high: self.high.max(other.high) }
    }

    fn fits(self, bits: u32) -> bool {
        let all = Interval::all(bits);
        all.low <= self.low && self.high <= all.high
    }

    fn is_positive(self) -> bool {
        self.low >= 0
    }

    /// Of a truth value, the signed number of one bit: a 1 is the sign.
    fn negated(self) -> Interval {
        Interval { low: -self.high, high: -self.low }
    }

    /// From an operator that is monotonic in each operand.
    fn spanned(a: Interval, b: Interval, apply: impl Fn(i128, i128) -> i128) -> Interval {
        let corners = [(a.low, b.low), (a.low, b.high), (a.high, b.low), (a.high, b.high)];
        let [first, rest @ ..] = corners.map(|(a, b)| Interval::only(apply(a, b)));
        rest.into_iter().fold(first, Interval::union)
    }

    fn truth(always: bool, never: bool) -> Interval {
        Interval { low: i128::from(always), high: i128::from(!never) }
    }
}

/// The number that the lowest bits of a word stand for.
pub(crate) fn number(value: u64, bits: u32) -> i128 {
    match bits {
        1 => i128::from(value & 1),
        2..64 => i128::from((value << (64 - bits)) as i64 >> (64 - bits)),
        _ => i128::from(value as i64),
    }
}

/// Intervals of nodes, those of the parts being given.
pub(crate) struct Intervals<'i> {
    dag: &'i Dag,
    part: &'i mut dyn FnMut(Label) -> Option<Interval>,
    known: FxHashMap<Label, Interval>,
    left: u32,
}

impl<'i> Intervals<'i> {
    /// `part` tells the interval of a node of at most 64 bits, if it knows.
    pub(crate) fn new(
        dag: &'i Dag,
        part: &'i mut dyn FnMut(Label) -> Option<Interval>,
    ) -> Intervals<'i> {
        Intervals { dag, part, known: FxHashMap::default(), left: MAX_NODES }
    }

    /// True if the literal cannot hold.
    pub(crate) fn refute(&mut self, lit: Lit) -> bool {
        let Interval { low, high } = self.of(lit.label, MAX_DEPTH);
        low == high && (low == 1) != lit.value
    }

    fn of(&mut self, label: Label, depth: u32) -> Interval {
        let bits = self.dag.bits(label);
        if let Some(&known) = self.known.get(&label) {
            return known;
        }
        if bits > 64 || depth == 0 || self.left == 0 {
            return Interval::all(bits);
        }
        self.left -= 1;
        let interval = (self.part)(label).or_else(|| self.compute(label, depth - 1));
        let interval =
            interval.filter(|interval| interval.fits(bits)).unwrap_or(Interval::all(bits));
        self.known.insert(label, interval);
        interval
    }

    /// `None` if nothing is known. What does not fit the node's width wraps around, so nothing is
    /// known of it either.
    fn compute(&mut self, label: Label, depth: u32) -> Option<Interval> {
        let (node, bits) = (*self.dag.node(label), self.dag.bits(label));
        let op = self.dag.op(label);
        match op {
            Op::Const => return Some(Interval::only(number(node.const_value(), bits))),
            Op::Read => return self.read(&node, depth),
            Op::Ite => return Some(self.ite(&node, depth)),
            _ => {}
        }
        let [a, b, _] = self.dag.operands(label).map(|operand| match operand {
            0 => Interval::only(0),
            operand => self.of(operand, depth),
        });
        if bits == 1 {
            return self.truth(op, label, [a, b], depth);
        }
        let inner = self.dag.bits(node.a);
        Some(match op {
            Op::Add => Interval { low: a.low + b.low, high: a.high + b.high },
            Op::Sub => Interval { low: a.low - b.high, high: a.high - b.low },
            Op::Mul => Interval::spanned(a, b, |a, b| a * b),
            Op::SDiv if b.low > 0 => Interval::spanned(a, b, |a, b| a / b),
            Op::SRem if b.low > 0 && a.is_positive() => {
                Interval { low: 0, high: a.high.min(b.high - 1) }
            }
            Op::And if a.is_positive() && b.is_positive() => {
                Interval { low: 0, high: a.high.min(b.high) }
            }
            Op::Not => Interval { low: -1 - a.high, high: -1 - a.low },
            Op::ZExt if a.is_positive() => a,
            Op::ZExt if a.high < 0 => {
                Interval { low: a.low + (1 << inner), high: a.high + (1 << inner) }
            }
            Op::ZExt => Interval { low: 0, high: (1 << inner) - 1 },
            Op::SExt if inner == 1 => a.negated(),
            Op::SExt => a,
            Op::Extract if node.aux == 0 => a,
            _ => return None,
        })
    }

    fn ite(&mut self, node: &Node, depth: u32) -> Interval {
        match self.side(node, depth) {
            Some(side) => self.of(side, depth),
            None => self.of(node.b, depth).union(self.of(node.c, depth)),
        }
    }

    fn truth(
        &mut self,
        op: Op,
        label: Label,
        [a, b]: [Interval; 2],
        depth: u32,
    ) -> Option<Interval> {
        let node = *self.dag.node(label);
        let is_ordered = a.is_positive() && b.is_positive();
        let signed = |operand: Interval| match self.dag.bits(node.a) {
            1 => operand.negated(),
            _ => operand,
        };
        let (signed_a, signed_b) = (signed(a), signed(b));
        Some(match op {
            Op::Not => Interval { low: 1 - a.high, high: 1 - a.low },
            Op::And => Interval { low: a.low.min(b.low), high: a.high.min(b.high) },
            Op::Or => Interval { low: a.low.max(b.low), high: a.high.max(b.high) },
            Op::Eq if self.original(node.a, depth) == self.original(node.b, depth) => {
                Interval::only(1)
            }
            Op::Eq => Interval::truth(a.low == a.high && a == b, a.high < b.low || b.high < a.low),
            Op::Slt => Interval::truth(signed_a.high < signed_b.low, signed_a.low >= signed_b.high),
            Op::Sle => Interval::truth(signed_a.high <= signed_b.low, signed_a.low > signed_b.high),
            Op::Ult if is_ordered => Interval::truth(a.high < b.low, a.low >= b.high),
            Op::Ule if is_ordered => Interval::truth(a.high <= b.low, a.low > b.high),
            _ => return None,
        })
    }

    /// (sext (extract x 0)) is x where the narrow width holds x.
    fn original(&mut self, label: Label, depth: u32) -> Label {
        let narrow = self.dag.node(label).a;
        if self.dag.op(label) != Op::SExt
            || self.dag.op(narrow) != Op::Extract
            || self.dag.node(narrow).aux != 0
        {
            return label;
        }
        let (wide, bits) = (self.dag.node(narrow).a, self.dag.bits(narrow));
        let is_same = bits > 1
            && self.dag.bits(wide) == self.dag.bits(label)
            && self.of(wide, depth).fits(bits);
        if is_same { wide } else { label }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expr::{Assignment, TableData};
    use proptest::prelude::*;

    const OPS: [Op; 20] = [
        Op::Add,
        Op::Sub,
        Op::Mul,
        Op::SDiv,
        Op::SRem,
        Op::UDiv,
        Op::And,
        Op::Or,
        Op::Xor,
        Op::Not,
        Op::Eq,
        Op::Slt,
        Op::Sle,
        Op::Ult,
        Op::Ule,
        Op::Ite,
        Op::SExt,
        Op::ZExt,
        Op::Extract,
        Op::Read,
    ];

    /// Adds nodes of 1, 8 and 16 bits over two bytes, each from earlier ones that fit. Comparisons
    /// are of all three.
    fn build(steps: &[(usize, [usize; 3], bool)]) -> (Dag, Vec<Label>) {
        let mut dag = Dag::new();
        let mut nodes = vec![dag.input(0), dag.input(1)];
        nodes.extend([0, 1, 3, 200].map(|value| dag.constant(8, value)));
        for &(op, operands, is_wide) in steps {
            let op = OPS[op % OPS.len()];
            let choose = |place: usize, bits: &dyn Fn(u32) -> bool| {
                let fitting: Vec<Label> =
                    nodes.iter().copied().filter(|&node| bits(dag.bits(node))).collect();
                fitting.get(operands[place] % fitting.len().max(1)).copied()
            };
            let bits = if is_wide { 16 } else { 8 };
            let same = |width: u32| width == bits;
            let node = match op {
                Op::SExt | Op::ZExt => {
                    choose(0, &|width| width < 16).map(|a| Node::unary(op, 16, a))
                }
                Op::Extract => choose(0, &|width| width == 16).map(|a| Node::unary(op, 8, a)),
                Op::Read => {
                    let (place, byte) =
                        (choose(0, &|width| width == 8), choose(1, &|width| width == 8));
                    let wide = choose(2, &|width| width == 16);
                    place
                        .zip(byte)
                        .zip(wide)
                        .map(|((place, byte), wide)| read(&mut dag, place, byte, wide, bits))
                }
                Op::Not => choose(0, &|_| true).map(|a| Node::unary(op, dag.bits(a) as u8, a)),
                Op::Ite => choose(0, &|width| width == 1)
                    .zip(choose(1, &same))
                    .zip(choose(2, &same))
                    .map(|((a, b), c)| Node { op: op as u8, bits: bits as u8, aux: 0, a, b, c }),
                Op::Eq | Op::Slt | Op::Sle | Op::Ult | Op::Ule => {
                    choose(0, &|_| true).and_then(|a| {
                        choose(1, &|width| width == dag.bits(a)).map(|b| Node::binary(op, 1, a, b))
                    })
                }
                _ => choose(0, &same)
                    .zip(choose(1, &same))
                    .map(|(a, b)| Node::binary(op, bits as u8, a, b)),
            };
            nodes.extend(node.map(|node| dag.add(node)));
        }
        (dag, nodes)
    }

    /// A read at one of the first places of a table, or after it, which has a node of 16 bits, a
    /// byte and a constant.
    fn read(dag: &mut Dag, place: Label, byte: Label, wide: Label, bits: u32) -> Node {
        let seven = dag.constant(8, 7);
        let place = dag.add(Node::binary(Op::And, 8, place, seven));
        let place = dag.add(Node::unary(Op::ZExt, 64, place));
        let half = |aux: u16| Node { op: Op::Extract as u8, bits: 8, aux, a: wide, b: 0, c: 0 };
        let [low, high] = [0, 8].map(|aux| dag.add(half(aux)));
        let table = TableData { bytes: vec![0, 0, 0, 9], labels: Some(vec![low, high, byte, 0]) };
        let table = dag.add_table(table).expect("a table");
        Node { op: Op::Read as u8, bits: bits as u8, aux: 0, a: place, b: table, c: 0 }
    }

    proptest! {
        #[test]
        fn every_value_lies_within(
            steps in prop::collection::vec((any::<usize>(), any::<[usize; 3]>(), any::<bool>()), 1..24),
            (first, second) in (any::<[u8; 3]>(), any::<[u8; 3]>()),
        ) {
            let (dag, nodes) = build(&steps);
            let bounds = |values: [u8; 3]| {
                values.into_iter().map(|value| Interval::only(number(value.into(), 8))).reduce(Interval::union)
            };
            let mut part = |label: Label| match dag.op(label) {
                Op::Input => bounds(if dag.node(label).a == 0 { first } else { second }),
                _ => None,
            };
            let mut intervals = Intervals::new(&dag, &mut part);
            for &label in &nodes {
                let Interval { low, high } = intervals.of(label, MAX_DEPTH);
                for input in first.into_iter().flat_map(|a| second.map(|b| [a, b])) {
                    let value = number(dag.eval(label, &Assignment::new(input)) as u64, dag.bits(label));
                    prop_assert!((low..=high).contains(&value), "{value} in {low}..={high} of \
                        {}", expr::print(&dag, &[label]));
                }
            }
        }
    }

    #[test]
    fn products_of_digits_do_not_overflow() {
        let mut dag = Dag::new();
        let [a, b] = [0, 1].map(|byte| {
            let (byte, zero) = (dag.input(byte), dag.constant(8, u128::from(b'0')));
            let digit = dag.add(Node::binary(Op::Sub, 8, byte, zero));
            let digit = dag.add(Node::unary(Op::SExt, 32, digit));
            dag.add(Node::unary(Op::SExt, 64, digit))
        });
        let product = dag.add(Node::binary(Op::Mul, 64, a, b));
        let narrow = dag.add(Node::unary(Op::Extract, 32, product));
        let same = dag.add(Node::unary(Op::SExt, 64, narrow));
        let same = dag.add(Node::binary(Op::Eq, 1, product, same));
        let overflow = Lit::new(dag.add(Node::unary(Op::Not, 1, same)), true);
        let digit = Some(Interval { low: i128::from(b'0'), high: i128::from(b'9') });
        let mut part = |label: Label| digit.filter(|_| dag.op(label) == Op::Input);
        assert!(Intervals::new(&dag, &mut part).refute(overflow));
        assert!(!Intervals::new(&dag, &mut part).refute(overflow.negated()));
    }
}
