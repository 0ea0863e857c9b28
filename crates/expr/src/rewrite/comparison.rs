//! Equalities and orders. Afterwards a comparison with a constant is an `eq`, `ult` or `slt`.

use crate::dag::{Dag, op_of};
use crate::semantics::mask;
use trace::{Label, Node, Op};

pub(super) fn rewrite(dag: &mut Dag, node: &Node) -> Option<Label> {
    match op_of(node) {
        Op::Eq => same_operands(dag, node).or_else(|| equality(dag, node)),
        Op::Ult | Op::Ule => {
            same_operands(dag, node).or_else(|| strict(dag, node)).or_else(|| unsigned(dag, node))
        }
        Op::Slt | Op::Sle => {
            same_operands(dag, node).or_else(|| strict(dag, node)).or_else(|| signed(dag, node))
        }
        _ => None,
    }
}

fn truth(dag: &mut Dag, value: bool) -> Option<Label> {
    Some(dag.constant(1, u128::from(value)))
}

/// x = x, x <= x: true; x < x: false
fn same_operands(dag: &mut Dag, node: &Node) -> Option<Label> {
    if node.a != node.b {
        return None;
    }
    truth(dag, matches!(op_of(node), Op::Eq | Op::Ule | Op::Sle))
}

fn equality(dag: &mut Dag, node: &Node) -> Option<Label> {
    match dag.as_constant(node.b) {
        Some(c) => equal_to_constant(dag, node.a, c),
        None => equal_extensions(dag, node.a, node.b),
    }
}

/// zext(x) = zext(y) and sext(x) = sext(y) are x = y for x and y of one width
fn equal_extensions(dag: &mut Dag, a: Label, b: Label) -> Option<Label> {
    let (x, y) = inner_pair(dag, a, b, Op::ZExt).or_else(|| inner_pair(dag, a, b, Op::SExt))?;
    Some(dag.make_binary(Op::Eq, 1, x, y))
}

/// The operands of two extensions of the same kind and width.
fn inner_pair(dag: &Dag, a: Label, b: Label, op: Op) -> Option<(Label, Label)> {
    let (x, y) = (dag.node(a), dag.node(b));
    let alike = op_of(x) == op && op_of(y) == op && dag.bits(x.a) == dag.bits(y.a);
    alike.then_some((x.a, y.a))
}

fn equal_to_constant(dag: &mut Dag, x: Label, c: u128) -> Option<Label> {
    let node = *dag.node(x);
    let bits = u32::from(node.bits);
    let equals = |dag: &mut Dag, y: Label, value: u128| {
        let value = dag.constant(dag.bits(y), value);
        Some(dag.make_binary(Op::Eq, 1, y, value))
    };
    match op_of(&node) {
        // (x = 1) = x, (x = 0) = ~x at 1 bit
        _ if bits == 1 => Some(if c == 1 { x } else { dag.make_not(x) }),
        // zext(y) = c: y = c or false
        Op::ZExt if c > mask(dag.bits(node.a)) => truth(dag, false),
        Op::ZExt => equals(dag, node.a, c),
        // sext(y) = c: y = c or false
        Op::SExt if extend(c, dag.bits(node.a), bits) != c => truth(dag, false),
        Op::SExt => equals(dag, node.a, c),
        // ~y = c: y = ~c
        Op::Not => equals(dag, node.a, !c),
        // y ++ z = c: y = c1 and z = c0
        Op::Concat => {
            let split = dag.bits(node.b);
            let high = equals(dag, node.a, c >> split)?;
            let low = equals(dag, node.b, c)?;
            Some(dag.make_binary(Op::And, 1, high, low))
        }
        Op::Ite => equal_choice(dag, &node, c),
        // find(text, pattern) = c: false after the text
        Op::Find if c > dag.table(node.b).bytes.len() as u128 => truth(dag, false),
        // d - y = c: y = d - c
        Op::Sub => {
            let d = dag.as_constant(node.a)?;
            equals(dag, node.b, d.wrapping_sub(c))
        }
        // y + d = c: y = c - d
        Op::Add => {
            let d = dag.as_constant(node.b)?;
            equals(dag, node.a, c.wrapping_sub(d))
        }
        // y ^ d = c: y = c ^ d
        Op::Xor => {
            let d = dag.as_constant(node.b)?;
            equals(dag, node.a, c ^ d)
        }
        // y * d = c: y = c / d for odd d
        Op::Mul => {
            let d = dag.as_constant(node.b).filter(|d| d & 1 == 1)?;
            equals(dag, node.a, c.wrapping_mul(inverse(d)))
        }
        _ => None,
    }
}

/// ite(p, d, e) = c: p, ~p, true or false for constants d and e
fn equal_choice(dag: &mut Dag, ite: &Node, c: u128) -> Option<Label> {
    match (dag.as_constant(ite.b)? == c, dag.as_constant(ite.c)? == c) {
        (true, true) => truth(dag, true),
        (true, false) => Some(ite.a),
        (false, true) => Some(dag.make_not(ite.a)),
        (false, false) => truth(dag, false),
    }
}

/// The inverse of an odd number modulo 2^128, by Newton's iteration.
fn inverse(odd: u128) -> u128 {
    (0..7).fold(odd, |x, _| x.wrapping_mul(2u128.wrapping_sub(odd.wrapping_mul(x))))
}

/// Sign extension of the low `from` bits to `to` bits.
fn extend(value: u128, from: u32, to: u32) -> u128 {
    let shift = 128 - from;
    (((value << shift) as i128) >> shift) as u128 & mask(to)
}

/// x <= c is x < c + 1, c <= x is c - 1 < x, except at the ends, where both are true
fn strict(dag: &mut Dag, node: &Node) -> Option<Label> {
    let bits = dag.bits(node.a);
    let (op, lowest, highest) = match op_of(node) {
        Op::Ule => (Op::Ult, 0, mask(bits)),
        Op::Sle => (Op::Slt, 1 << (bits - 1), mask(bits) >> 1),
        _ => return None,
    };
    if let Some(c) = dag.as_constant(node.b) {
        if c == highest {
            return truth(dag, true);
        }
        let next = dag.constant(bits, c.wrapping_add(1));
        return Some(dag.make_binary(op, 1, node.a, next));
    }
    let c = dag.as_constant(node.a)?;
    if c == lowest {
        return truth(dag, true);
    }
    let previous = dag.constant(bits, c.wrapping_sub(1));
    Some(dag.make_binary(op, 1, previous, node.b))
}

fn unsigned(dag: &mut Dag, node: &Node) -> Option<Label> {
    let op = op_of(node);
    if let Some((x, y)) = inner_pair(dag, node.a, node.b, Op::ZExt) {
        // zext(x) < zext(y): x < y
        return Some(dag.make_binary(op, 1, x, y));
    }
    if op != Op::Ult {
        return None;
    }
    match (dag.as_constant(node.a), dag.as_constant(node.b)) {
        (_, Some(c)) => below_constant(dag, node.a, c),
        (Some(c), _) => above_constant(dag, node.b, c),
        _ => None,
    }
}

/// x < 0: false; x < 1: x = 0; zext(y) < c: y < c or true
fn below_constant(dag: &mut Dag, x: Label, c: u128) -> Option<Label> {
    let node = *dag.node(x);
    match c {
        0 => truth(dag, false),
        1 => {
            let zero = dag.constant(u32::from(node.bits), 0);
            Some(dag.make_binary(Op::Eq, 1, x, zero))
        }
        _ if op_of(&node) == Op::ZExt => {
            let bits = dag.bits(node.a);
            if c > mask(bits) {
                return truth(dag, true);
            }
            let c = dag.constant(bits, c);
            Some(dag.make_binary(Op::Ult, 1, node.a, c))
        }
        _ => None,
    }
}

/// max < x: false; zext(y) > c: y > c or false
fn above_constant(dag: &mut Dag, x: Label, c: u128) -> Option<Label> {
    let node = *dag.node(x);
    if c == mask(u32::from(node.bits)) {
        return truth(dag, false);
    }
    if op_of(&node) != Op::ZExt {
        return None;
    }
    let bits = dag.bits(node.a);
    if c >= mask(bits) {
        return truth(dag, false);
    }
    let c = dag.constant(bits, c);
    Some(dag.make_binary(Op::Ult, 1, c, node.a))
}

fn signed(dag: &mut Dag, node: &Node) -> Option<Label> {
    let op = op_of(node);
    if let Some((x, y)) = inner_pair(dag, node.a, node.b, Op::SExt) {
        // sext(x) < sext(y): x < y
        return Some(dag.make_binary(op, 1, x, y));
    }
    both_not_negative(dag, node)
        .or_else(|| with_negative(dag, node))
        .or_else(|| signed_narrow(dag, node))
}

/// True if the highest bit is certainly 0.
fn not_negative(dag: &Dag, label: Label) -> bool {
    let bits = dag.bits(label);
    match dag.as_constant(label) {
        Some(c) => c >> (bits - 1) == 0,
        None => dag.op(label) == Op::ZExt && dag.bits(dag.node(label).a) < bits,
    }
}

/// x <s y is x <u y if neither is negative
fn both_not_negative(dag: &mut Dag, node: &Node) -> Option<Label> {
    let op = if op_of(node) == Op::Slt { Op::Ult } else { Op::Ule };
    (not_negative(dag, node.a) && not_negative(dag, node.b))
        .then(|| dag.make_binary(op, 1, node.a, node.b))
}

/// x <s c is false and c <s x true for a negative c and an x that is not negative
fn with_negative(dag: &mut Dag, node: &Node) -> Option<Label> {
    let negative = |label: Label| dag.as_constant(label).is_some() && !not_negative(dag, label);
    if negative(node.b) && not_negative(dag, node.a) {
        return truth(dag, false);
    }
    if negative(node.a) && not_negative(dag, node.b) {
        return truth(dag, true);
    }
    None
}

/// sext(y) <s c is y <s c if c fits the width of y, likewise c <s sext(y)
fn signed_narrow(dag: &mut Dag, node: &Node) -> Option<Label> {
    let narrow = |dag: &mut Dag, extended: Label, constant: Label| {
        let c = dag.as_constant(constant)?;
        let inner = *dag.node(extended);
        if op_of(&inner) != Op::SExt {
            return None;
        }
        let (from, to) = (dag.bits(inner.a), u32::from(inner.bits));
        (extend(c, from, to) == c).then(|| (inner.a, dag.constant(from, c)))
    };
    if let Some((y, c)) = narrow(dag, node.a, node.b) {
        return Some(dag.make_binary(op_of(node), 1, y, c));
    }
    let (y, c) = narrow(dag, node.b, node.a)?;
    Some(dag.make_binary(op_of(node), 1, c, y))
}
