//! If-then-else.

use crate::dag::{Dag, op_of};
use trace::{Label, Node, Op};

pub(super) fn rewrite(dag: &mut Dag, node: &Node) -> Option<Label> {
    if op_of(node) != Op::Ite {
        return None;
    }
    known(dag, node)
        .or_else(|| same(node))
        .or_else(|| negated(dag, node))
        .or_else(|| truth(dag, node))
}

/// ite(1, x, y) = x, ite(0, x, y) = y
fn known(dag: &Dag, node: &Node) -> Option<Label> {
    Some(if dag.as_constant(node.a)? == 1 { node.b } else { node.c })
}

/// ite(p, x, x) = x
fn same(node: &Node) -> Option<Label> {
    (node.b == node.c).then_some(node.b)
}

/// ite(~p, x, y) = ite(p, y, x)
fn negated(dag: &mut Dag, node: &Node) -> Option<Label> {
    let condition = *dag.node(node.a);
    (op_of(&condition) == Op::Not).then(|| dag.make_ite(condition.a, node.c, node.b))
}

/// ite(p, 1, 0) = zext(p), ite(p, 0, 1) = zext(~p)
fn truth(dag: &mut Dag, node: &Node) -> Option<Label> {
    let bits = u32::from(node.bits);
    match (dag.as_constant(node.b)?, dag.as_constant(node.c)?) {
        (1, 0) => Some(dag.make_unary(Op::ZExt, bits, node.a)),
        (0, 1) => {
            let negated = dag.make_not(node.a);
            Some(dag.make_unary(Op::ZExt, bits, negated))
        }
        _ => None,
    }
}
