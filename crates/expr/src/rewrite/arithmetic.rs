//! Sums, products, quotients and shifts.

use crate::dag::{Dag, op_of};
use crate::semantics::mask;
use trace::{Label, Node, Op};

pub(super) fn rewrite(dag: &mut Dag, node: &Node) -> Option<Label> {
    match op_of(node) {
        Op::Add => neutral(dag, node, 0).or_else(|| add_of_add(dag, node)),
        Op::Sub => sub_same(dag, node).or_else(|| sub_constant(dag, node)),
        Op::Mul => mul_constant(dag, node),
        Op::UDiv => udiv_constant(dag, node),
        Op::URem => urem_constant(dag, node),
        Op::Shl => shl_constant(dag, node),
        Op::LShr => lshr_constant(dag, node),
        Op::AShr => neutral(dag, node, 0),
        _ => None,
    }
}

/// x op neutral = x
fn neutral(dag: &Dag, node: &Node, neutral: u128) -> Option<Label> {
    (dag.as_constant(node.b)? == neutral).then_some(node.a)
}

/// (x + c) + d = x + (c + d)
fn add_of_add(dag: &mut Dag, node: &Node) -> Option<Label> {
    let d = dag.as_constant(node.b)?;
    let inner = *dag.node(node.a);
    if op_of(&inner) != Op::Add {
        return None;
    }
    let c = dag.as_constant(inner.b)?;
    let bits = u32::from(node.bits);
    let sum = dag.constant(bits, c.wrapping_add(d));
    Some(dag.make_binary(Op::Add, bits, inner.a, sum))
}

/// x - x = 0
fn sub_same(dag: &mut Dag, node: &Node) -> Option<Label> {
    (node.a == node.b).then(|| dag.constant(u32::from(node.bits), 0))
}

/// x - c = x + (-c)
fn sub_constant(dag: &mut Dag, node: &Node) -> Option<Label> {
    let c = dag.as_constant(node.b)?;
    let bits = u32::from(node.bits);
    let negative = dag.constant(bits, c.wrapping_neg());
    Some(dag.make_binary(Op::Add, bits, node.a, negative))
}

/// x * 0 = 0, x * 1 = x, x * 2^k = x << k
fn mul_constant(dag: &mut Dag, node: &Node) -> Option<Label> {
    let c = dag.as_constant(node.b)?;
    let bits = u32::from(node.bits);
    match c {
        0 => Some(node.b),
        1 => Some(node.a),
        _ if c.is_power_of_two() => {
            let amount = dag.constant(bits, u128::from(c.trailing_zeros()));
            Some(dag.make_binary(Op::Shl, bits, node.a, amount))
        }
        _ => None,
    }
}

/// x / 2^k = x >> k
fn udiv_constant(dag: &mut Dag, node: &Node) -> Option<Label> {
    let c = dag.as_constant(node.b)?;
    let bits = u32::from(node.bits);
    c.is_power_of_two().then(|| {
        let amount = dag.constant(bits, u128::from(c.trailing_zeros()));
        dag.make_binary(Op::LShr, bits, node.a, amount)
    })
}

/// x % 2^k = x & (2^k - 1)
fn urem_constant(dag: &mut Dag, node: &Node) -> Option<Label> {
    let c = dag.as_constant(node.b)?;
    let bits = u32::from(node.bits);
    c.is_power_of_two().then(|| {
        let low = dag.constant(bits, c - 1);
        dag.make_binary(Op::And, bits, node.a, low)
    })
}

/// x << k = x[0 .. n - k] ++ 0
fn shl_constant(dag: &mut Dag, node: &Node) -> Option<Label> {
    let amount = dag.as_constant(node.b)?;
    let bits = u32::from(node.bits);
    if amount == 0 {
        return Some(node.a);
    }
    if amount >= u128::from(bits) {
        return Some(dag.constant(bits, 0));
    }
    let high = dag.make_extract(node.a, 0, bits - amount as u32);
    let low = dag.constant(amount as u32, 0);
    Some(dag.make_binary(Op::Concat, bits, high, low))
}

/// x >> k = zext(x[k .. n])
fn lshr_constant(dag: &mut Dag, node: &Node) -> Option<Label> {
    let amount = dag.as_constant(node.b)? & mask(u32::from(node.bits));
    let bits = u32::from(node.bits);
    if amount >= u128::from(bits) {
        return Some(dag.constant(bits, 0));
    }
    let high = dag.make_extract(node.a, amount as u32, bits - amount as u32);
    Some(dag.make_unary(Op::ZExt, bits, high))
}
