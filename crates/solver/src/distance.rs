//! How far an input is from making literals true: 0 if they are, and less the nearer it is.
//!
//! A comparison is as far off as the logarithm of the difference of its sides says, an equality at
//! most as far as the number of bits in which they differ; floats are compared by their place among
//! all floats. Of a conjunction the distances add up, of a disjunction the smallest counts.

use crate::query::Lit;
use expr::{Dag, Label, Op};

/// Distances of literals as functions of values that a compiled program computes.
pub(crate) struct Distances {
    formulas: Vec<Formula>,
    /// The formula of each literal.
    pub tops: Vec<u32>,
    /// Nodes whose values are needed, in the order of [`Distances::of`]'s numbers.
    pub roots: Vec<Label>,
    /// The number of the literal that needs each root.
    pub literal_of: Vec<u32>,
}

/// Parts of a formula come before it.
enum Formula {
    Comparison { op: Op, bits: u32, a: u32, b: u32, wanted: bool },
    Bit { root: u32, wanted: bool },
    All(u32, u32),
    Any(u32, u32),
}

/// A difference of one bit, or of a factor of two.
const UNIT: u64 = 16;
/// Conditions nested deeper than this are true or false, and nothing between.
const MAX_DEPTH: u32 = 24;

impl Distances {
    pub(crate) fn new(dag: &Dag, lits: &[Lit]) -> Distances {
        let (formulas, tops) = (Vec::new(), Vec::new());
        let mut distances = Distances { formulas, tops, roots: Vec::new(), literal_of: Vec::new() };
        for (number, lit) in lits.iter().enumerate() {
            let top = distances.formula(dag, *lit, MAX_DEPTH);
            distances.tops.push(top);
            distances.literal_of.resize(distances.roots.len(), number as u32);
        }
        distances
    }

    /// The distance of formula `top`, where `value` gives the values of the roots.
    pub(crate) fn of(&self, top: u32, value: &impl Fn(u32) -> u128) -> u64 {
        match self.formulas[top as usize] {
            Formula::Bit { root, wanted } => {
                if (value(root) == 1) == wanted {
                    0
                } else {
                    UNIT
                }
            }
            Formula::Comparison { op, bits, a, b, wanted } => {
                comparison(op, bits, value(a), value(b), wanted)
            }
            Formula::All(a, b) => self.of(a, value).saturating_add(self.of(b, value)),
            Formula::Any(a, b) => match self.of(a, value) {
                0 => 0,
                distance => distance.min(self.of(b, value)),
            },
        }
    }

    fn formula(&mut self, dag: &Dag, lit: Lit, depth: u32) -> u32 {
        let Lit { label, value: wanted } = lit;
        let node = *dag.node(label);
        let op = dag.op(label);
        let formula = match op {
            Op::Not if depth > 0 => return self.formula(dag, Lit::new(node.a, !wanted), depth - 1),
            Op::And | Op::Or if depth > 0 => {
                let [a, b] = [node.a, node.b]
                    .map(|side| self.formula(dag, Lit::new(side, wanted), depth - 1));
                if (op == Op::And) == wanted { Formula::All(a, b) } else { Formula::Any(a, b) }
            }
            Op::Ite if depth > 0 => {
                let [yes, no] = [(true, node.b), (false, node.c)].map(|(condition, side)| {
                    let condition = self.formula(dag, Lit::new(node.a, condition), depth - 1);
                    let side = self.formula(dag, Lit::new(side, wanted), depth - 1);
                    self.push(Formula::All(condition, side))
                });
                Formula::Any(yes, no)
            }
            Op::Eq | Op::Ult | Op::Ule | Op::Slt | Op::Sle | Op::FEq | Op::FLt | Op::FLe => {
                let [a, b] = [node.a, node.b].map(|side| self.root(side));
                Formula::Comparison { op, bits: dag.bits(node.a), a, b, wanted }
            }
            _ => Formula::Bit { root: self.root(label), wanted },
        };
        self.push(formula)
    }

    fn push(&mut self, formula: Formula) -> u32 {
        self.formulas.push(formula);
        self.formulas.len() as u32 - 1
    }

    fn root(&mut self, label: Label) -> u32 {
        self.roots.push(label);
        self.roots.len() as u32 - 1
    }
}

fn comparison(op: Op, bits: u32, a: u128, b: u128, wanted: bool) -> u64 {
    match op {
        Op::Eq => equality(a, b, wanted).min(UNIT * u64::from((a ^ b).count_ones().max(1))),
        Op::Ult | Op::Ule => order(a, b, op == Op::Ult, wanted),
        Op::Slt | Op::Sle => order(signed(a, bits), signed(b, bits), op == Op::Slt, wanted),
        _ => match (place(a, bits), place(b, bits)) {
            (Some(a), Some(b)) if op == Op::FEq => equality(a, b, wanted),
            (Some(a), Some(b)) => order(a, b, op == Op::FLt, wanted),
            // A comparison with something that is no number is false.
            _ if wanted => UNIT * 64,
            _ => 0,
        },
    }
}

fn equality(a: u128, b: u128, wanted: bool) -> u64 {
    match (a == b, wanted) {
        (true, false) => UNIT,
        (false, false) => 0,
        (_, true) => scaled(a.abs_diff(b)),
    }
}

/// `a < b` or, if not `strict`, `a <= b`.
fn order(a: u128, b: u128, strict: bool, wanted: bool) -> u64 {
    let (small, large) = if wanted { (a, b) } else { (b, a) };
    let strict = strict == wanted;
    match if strict { small < large } else { small <= large } {
        true => 0,
        false => scaled((small - large).saturating_add(u128::from(strict))),
    }
}

/// Signed numbers in the order of unsigned ones.
fn signed(value: u128, bits: u32) -> u128 {
    value ^ 1 << (bits - 1)
}

/// The place of a float among all floats in order; `None` for a NaN.
fn place(value: u128, bits: u32) -> Option<u128> {
    let is_nan = match bits {
        32 => f32::from_bits(value as u32).is_nan(),
        _ => f64::from_bits(value as u64).is_nan(),
    };
    let sign = 1 << (bits - 1);
    // Zeros of both signs are the same place.
    (!is_nan).then_some(if value & sign == 0 { value + sign } else { sign - (value & !sign) })
}

/// A logarithm in sixteenths; 0 for 0 only.
fn scaled(difference: u128) -> u64 {
    match difference {
        0 => 0,
        _ => {
            let whole = difference.ilog2();
            let rest =
                if whole >= 4 { difference >> (whole - 4) } else { difference << (4 - whole) };
            1 + UNIT * u64::from(whole) + (rest as u64 & 15)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expr::{Assignment, Node};
    use proptest::prelude::*;

    #[test]
    fn nearer_is_less() {
        assert_eq!(scaled(0), 0);
        assert!((1..5000u128).all(|d| scaled(d) <= scaled(d + 1) && scaled(d) > 0));
        let distance =
            |a: f64| comparison(Op::FLt, 64, 2.5f64.to_bits().into(), a.to_bits().into(), true);
        let distances = [-1e300, -3.0, 0.0, 1.0, 2.4, 2.5].map(distance);
        assert!(distances.windows(2).all(|pair| pair[0] > pair[1]), "{distances:?}");
        assert_eq!(distance(2.6), 0);
        assert!(distance(f64::NAN) > 0);
    }

    proptest! {
        /// 0 exactly where the comparison comes out as wanted.
        #[test]
        fn zero_means_true(a: u128, b: u128, close in 0u128..3, op in 0..8usize, width in 0..5usize, wanted: bool) {
            let op = [Op::Eq, Op::Ult, Op::Ule, Op::Slt, Op::Sle, Op::FEq, Op::FLt, Op::FLe][op];
            let bits = if op >= Op::FAdd { [32, 64][width % 2] } else { [8, 16, 32, 64, 128][width] };
            let mask = u128::MAX >> (128 - bits);
            for (a, b) in [(a & mask, b & mask), (a & mask, a.wrapping_add(close) & mask)] {
                let mut dag = Dag::new();
                let (x, y) = (dag.constant(bits, a), dag.constant(bits, b));
                let label = dag.add(Node::binary(op, 1, x, y));
                let holds = (dag.eval(label, &Assignment::default()) == 1) == wanted;
                prop_assert_eq!(comparison(op, bits, a, b, wanted) == 0, holds);
            }
        }
    }
}
