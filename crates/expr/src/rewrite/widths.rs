//! Extension, extraction and concatenation.

use crate::dag::{Dag, op_of};
use trace::{Label, Node, Op};

pub(super) fn rewrite(dag: &mut Dag, node: &Node) -> Option<Label> {
    match op_of(node) {
        Op::ZExt => same_width(dag, node).or_else(|| zext_of_zext(dag, node)),
        Op::SExt => same_width(dag, node).or_else(|| sext_of_extension(dag, node)),
        Op::Extract => same_width(dag, node).or_else(|| extract_of(dag, node)),
        Op::Concat => zero_high(dag, node)
            .or_else(|| concat_of_zext(dag, node))
            .or_else(|| adjacent_extracts(dag, node.a, node.b))
            .or_else(|| concat_of_concat(dag, node)),
        Op::Bswap => Some(bswap(dag, node)),
        _ => None,
    }
}

/// zext(x) = sext(x) = x[0 .. n] = x at the width of x
fn same_width(dag: &Dag, node: &Node) -> Option<Label> {
    (dag.bits(node.a) == u32::from(node.bits)).then_some(node.a)
}

/// zext(zext(x)) = zext(x)
fn zext_of_zext(dag: &mut Dag, node: &Node) -> Option<Label> {
    let inner = *dag.node(node.a);
    (op_of(&inner) == Op::ZExt).then(|| dag.make_unary(Op::ZExt, u32::from(node.bits), inner.a))
}

/// sext(sext(x)) = sext(x), sext(zext(x)) = zext(x)
fn sext_of_extension(dag: &mut Dag, node: &Node) -> Option<Label> {
    let inner = *dag.node(node.a);
    let op = op_of(&inner);
    matches!(op, Op::SExt | Op::ZExt).then(|| dag.make_unary(op, u32::from(node.bits), inner.a))
}

fn extract_of(dag: &mut Dag, node: &Node) -> Option<Label> {
    let inner = *dag.node(node.a);
    match op_of(&inner) {
        Op::Extract => {
            // x[i ..][j ..] = x[i + j ..]
            Some(dag.make_extract(inner.a, u32::from(inner.aux + node.aux), u32::from(node.bits)))
        }
        Op::Concat => Some(extract_of_concat(dag, node, &inner)),
        Op::ZExt => Some(extract_of_zext(dag, node, &inner)),
        Op::SExt => extract_of_sext(dag, node, &inner),
        Op::And | Op::Or | Op::Xor => extract_of_binary(dag, node, &inner),
        Op::Add | Op::Sub | Op::Mul if node.aux == 0 => extract_of_binary(dag, node, &inner),
        _ => None,
    }
}

/// (x ++ y)[i .. j] = y[i .. j], x[i - |y| .. j - |y|], or a part of each
fn extract_of_concat(dag: &mut Dag, node: &Node, concat: &Node) -> Label {
    let (low, bits) = (u32::from(node.aux), u32::from(node.bits));
    let split = dag.bits(concat.b);
    if low + bits <= split {
        dag.make_extract(concat.b, low, bits)
    } else if low >= split {
        dag.make_extract(concat.a, low - split, bits)
    } else {
        let low_part = dag.make_extract(concat.b, low, split - low);
        let high_part = dag.make_extract(concat.a, 0, low + bits - split);
        dag.make_binary(Op::Concat, bits, high_part, low_part)
    }
}

/// zext(x)[i .. j] = x[i .. j], 0, or zext(x[i .. |x|])
fn extract_of_zext(dag: &mut Dag, node: &Node, zext: &Node) -> Label {
    let (low, bits) = (u32::from(node.aux), u32::from(node.bits));
    let width = dag.bits(zext.a);
    if low + bits <= width {
        dag.make_extract(zext.a, low, bits)
    } else if low >= width {
        dag.constant(bits, 0)
    } else {
        let part = dag.make_extract(zext.a, low, width - low);
        dag.make_unary(Op::ZExt, bits, part)
    }
}

/// sext(x)[i .. j] = x[i .. j] or sext(x[i .. |x|])
fn extract_of_sext(dag: &mut Dag, node: &Node, sext: &Node) -> Option<Label> {
    let (low, bits) = (u32::from(node.aux), u32::from(node.bits));
    let width = dag.bits(sext.a);
    if low + bits <= width {
        Some(dag.make_extract(sext.a, low, bits))
    } else if low < width {
        let part = dag.make_extract(sext.a, low, width - low);
        Some(dag.make_unary(Op::SExt, bits, part))
    } else {
        None
    }
}

/// (x op y)[i .. j] = x[i .. j] op y[i .. j], where x and y are extensions, concatenations or
/// constants, so that the extraction meets something narrower
fn extract_of_binary(dag: &mut Dag, node: &Node, binary: &Node) -> Option<Label> {
    let narrows =
        |label: Label| matches!(dag.op(label), Op::ZExt | Op::SExt | Op::Concat | Op::Const);
    if !narrows(binary.a) || !narrows(binary.b) {
        return None;
    }
    let (low, bits) = (u32::from(node.aux), u32::from(node.bits));
    let a = dag.make_extract(binary.a, low, bits);
    let b = dag.make_extract(binary.b, low, bits);
    Some(dag.make_binary(op_of(binary), bits, a, b))
}

/// 0 ++ x = zext(x)
fn zero_high(dag: &mut Dag, node: &Node) -> Option<Label> {
    (dag.as_constant(node.a)? == 0).then(|| dag.make_unary(Op::ZExt, u32::from(node.bits), node.b))
}

/// zext(x) ++ y = zext(x ++ y)
fn concat_of_zext(dag: &mut Dag, node: &Node) -> Option<Label> {
    let high = *dag.node(node.a);
    if op_of(&high) != Op::ZExt {
        return None;
    }
    let bits = dag.bits(high.a) + dag.bits(node.b);
    let joined = dag.make_binary(Op::Concat, bits, high.a, node.b);
    Some(dag.make_unary(Op::ZExt, u32::from(node.bits), joined))
}

/// x[j .. k] ++ x[i .. j] = x[i .. k]
fn adjacent_extracts(dag: &mut Dag, high: Label, low: Label) -> Option<Label> {
    let part = |dag: &Dag, label: Label| {
        let node = *dag.node(label);
        (op_of(&node) == Op::Extract).then_some((node.a, u32::from(node.aux), u32::from(node.bits)))
    };
    let (high, low) = (part(dag, high)?, part(dag, low)?);
    let adjacent = high.0 == low.0 && high.1 == low.1 + low.2;
    adjacent.then(|| dag.make_extract(low.0, low.1, low.2 + high.2))
}

/// x ++ (y ++ z) = xy ++ z if x ++ y is one extraction or constant xy
fn concat_of_concat(dag: &mut Dag, node: &Node) -> Option<Label> {
    let low = *dag.node(node.b);
    if op_of(&low) != Op::Concat {
        return None;
    }
    let both_constant = dag.op(node.a) == Op::Const && dag.op(low.a) == Op::Const;
    let bits = dag.bits(node.a) + dag.bits(low.a);
    let joined = if both_constant && bits <= 64 {
        dag.make_binary(Op::Concat, bits, node.a, low.a)
    } else {
        adjacent_extracts(dag, node.a, low.a)?
    };
    Some(dag.make_binary(Op::Concat, u32::from(node.bits), joined, low.b))
}

/// bswap(x) = x[0 .. 8] ++ x[8 .. 16] ++ …
fn bswap(dag: &mut Dag, node: &Node) -> Label {
    let mut swapped = dag.make_extract(node.a, 0, 8);
    for low in (8..u32::from(node.bits)).step_by(8) {
        let byte = dag.make_extract(node.a, low, 8);
        swapped = dag.make_binary(Op::Concat, low + 8, swapped, byte);
    }
    swapped
}
