//! Conjunction, disjunction, exclusive or and complement.

use crate::dag::{Dag, op_of};
use crate::semantics::mask;
use trace::{Label, Node, Op};

pub(super) fn rewrite(dag: &mut Dag, node: &Node) -> Option<Label> {
    match op_of(node) {
        Op::And | Op::Or | Op::Xor => same_operands(dag, node)
            .or_else(|| complement(dag, node))
            .or_else(|| with_constant(dag, node))
            .or_else(|| regroup(dag, node))
            .or_else(|| disjoint(dag, node)),
        Op::Add => disjoint(dag, node),
        Op::Not => not_not(dag, node).or_else(|| not_comparison(dag, node)),
        _ => None,
    }
}

/// x & x = x, x | x = x, x ^ x = 0
fn same_operands(dag: &mut Dag, node: &Node) -> Option<Label> {
    (node.a == node.b).then(|| match op_of(node) {
        Op::Xor => dag.constant(u32::from(node.bits), 0),
        _ => node.a,
    })
}

/// x & ~x = 0, x | ~x = x ^ ~x = ~0
fn complement(dag: &mut Dag, node: &Node) -> Option<Label> {
    let negates = |a: Label, b: Label| dag.op(a) == Op::Not && dag.node(a).a == b;
    if !negates(node.a, node.b) && !negates(node.b, node.a) {
        return None;
    }
    let value = if op_of(node) == Op::And { 0 } else { u128::MAX };
    Some(dag.constant(u32::from(node.bits), value))
}

/// x & 0 = 0, x & ~0 = x, x & (2^k - 1) = zext(x[0 .. k]), x | 0 = x, x | ~0 = ~0, x ^ 0 = x, x ^
/// ~0 = ~x
fn with_constant(dag: &mut Dag, node: &Node) -> Option<Label> {
    let c = dag.as_constant(node.b)?;
    let bits = u32::from(node.bits);
    let ones = mask(bits);
    match op_of(node) {
        Op::And if c == 0 => Some(node.b),
        Op::And if c == ones => Some(node.a),
        Op::And if (c + 1).is_power_of_two() => {
            let low = dag.make_extract(node.a, 0, c.trailing_ones());
            Some(dag.make_unary(Op::ZExt, bits, low))
        }
        Op::Or | Op::Xor if c == 0 => Some(node.a),
        Op::Or if c == ones => Some(node.b),
        Op::Xor if c == ones => Some(dag.make_not(node.a)),
        _ => None,
    }
}

/// (x op c) op d = x op (c op d)
fn regroup(dag: &mut Dag, node: &Node) -> Option<Label> {
    let d = dag.as_constant(node.b)?;
    let inner = *dag.node(node.a);
    if inner.op != node.op {
        return None;
    }
    let c = dag.as_constant(inner.b)?;
    let joined = match op_of(node) {
        Op::And => c & d,
        Op::Or => c | d,
        _ => c ^ d,
    };
    let bits = u32::from(node.bits);
    let joined = dag.constant(bits, joined);
    Some(dag.make_binary(op_of(node), bits, inner.a, joined))
}

/// (x ++ 0) op y = x ++ y[0 .. k] if y < 2^k, for op in |, ^, +
fn disjoint(dag: &mut Dag, node: &Node) -> Option<Label> {
    if op_of(node) == Op::And {
        return None;
    }
    let shifted = |dag: &Dag, label: Label| {
        let concat = *dag.node(label);
        let zero_low = op_of(&concat) == Op::Concat && dag.as_constant(concat.b) == Some(0);
        zero_low.then(|| (concat.a, dag.bits(concat.b)))
    };
    [(node.a, node.b), (node.b, node.a)].into_iter().find_map(|(x, y)| {
        let (high, low_bits) = shifted(dag, high_part(dag, x))?;
        if significant_bits(dag, y, 4) > low_bits {
            return None;
        }
        let low = dag.make_extract(y, 0, low_bits);
        let bits = dag.bits(high) + low_bits;
        let joined = dag.make_binary(Op::Concat, bits, high, low);
        Some(dag.make_unary(Op::ZExt, u32::from(node.bits), joined))
    })
}

/// Looks through one zero extension.
fn high_part(dag: &Dag, label: Label) -> Label {
    let node = dag.node(label);
    if op_of(node) == Op::ZExt { node.a } else { label }
}

/// A number of low bits beyond which a value is 0.
fn significant_bits(dag: &Dag, label: Label, depth: u32) -> u32 {
    let node = dag.node(label);
    if let Some(value) = dag.as_constant(label) {
        return 128 - value.leading_zeros();
    }
    match op_of(node) {
        Op::ZExt if depth > 0 => significant_bits(dag, node.a, depth - 1),
        Op::Concat if depth > 0 => match significant_bits(dag, node.a, depth - 1) {
            0 => significant_bits(dag, node.b, depth - 1),
            high => high + dag.bits(node.b),
        },
        _ => u32::from(node.bits),
    }
}

/// ~~x = x
fn not_not(dag: &Dag, node: &Node) -> Option<Label> {
    let inner = dag.node(node.a);
    (op_of(inner) == Op::Not).then_some(inner.a)
}

/// ~(x < y) = y <= x, ~(x <= y) = y < x
fn not_comparison(dag: &mut Dag, node: &Node) -> Option<Label> {
    let inner = *dag.node(node.a);
    let opposite = match op_of(&inner) {
        Op::Ult => Op::Ule,
        Op::Ule => Op::Ult,
        Op::Slt => Op::Sle,
        Op::Sle => Op::Slt,
        _ => return None,
    };
    Some(dag.make_binary(opposite, 1, inner.b, inner.a))
}
