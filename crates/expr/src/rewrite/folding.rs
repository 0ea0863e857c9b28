//! Operators on constants.

use crate::dag::{Dag, op_of, operands_of};
use crate::semantics::{Operator, wide};
use crate::texts::Operation;
use trace::{Label, Node, Op};

pub(super) fn rewrite(dag: &mut Dag, node: &Node) -> Option<Label> {
    match op_of(node) {
        Op::Const | Op::Token | Op::Input | Op::Len => None,
        Op::Read => constant_read(dag, node),
        Op::Find | Op::Compare => constant_text(dag, node),
        // A 128-bit constant is a concatenation already.
        Op::Concat if node.bits > 64 && dag.bits(node.b) == 64 => None,
        op => constant_operands(dag, op, node),
    }
}

/// op(c, d, e) = the value
fn constant_operands(dag: &mut Dag, op: Op, node: &Node) -> Option<Label> {
    let mut values = [0; 3];
    for (value, label) in values.iter_mut().zip(operands_of(node)).take(op.arity()) {
        *value = dag.as_constant(label)?;
    }
    let operator =
        Operator { op, bits: node.bits, operand_bits: dag.bits(node.a) as u8, low: node.aux as u8 };
    let value = wide::apply(operator, values[0], values[1], values[2]);
    Some(dag.constant(u32::from(node.bits), value))
}

/// read(table, c) = the bytes there, concatenated
fn constant_read(dag: &mut Dag, node: &Node) -> Option<Label> {
    let offset = dag.as_constant(node.a)? as u64;
    let mut value: Option<Label> = None;
    for index in 0..u64::from(node.bits / 8) {
        let byte = table_byte(dag, node.b, offset.checked_add(index));
        value = Some(match value {
            None => byte,
            Some(low) => {
                let bits = dag.bits(low) + 8;
                dag.make_binary(Op::Concat, bits, byte, low)
            }
        });
    }
    value
}

/// find(text, pattern) = where it is
fn constant_text(dag: &mut Dag, node: &Node) -> Option<Label> {
    let (text, pattern) = (dag.table(node.b), dag.table(node.c));
    if text.labels.is_some() {
        return None;
    }
    let value = Operation::new(node, &pattern.bytes).apply(text.bytes.len(), |at| text.bytes[at]);
    Some(dag.constant(u32::from(node.bits), u128::from(value)))
}

fn table_byte(dag: &mut Dag, table: u32, offset: Option<u64>) -> Label {
    let table = dag.table(table);
    match offset.map(|at| (table.label(at), table.byte(at))) {
        Some((0, byte)) => dag.constant(8, u128::from(byte)),
        Some((label, _)) => label,
        None => dag.constant(8, 0),
    }
}
