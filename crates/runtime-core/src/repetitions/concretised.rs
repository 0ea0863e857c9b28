//! Expressions with a number in the place of the count, for what is fixed while the repetition may
//! still grow.

use super::{any, is_fixed};
use crate::build::{self, Value};
use crate::state::Run;
use crate::{nodes, values};
use trace::{Label, Node, Op};

/// How many operators around the count are looked through.
const OPERATORS: u32 = 8;

/// The expression with the count fixed to what it is; 0 if nothing else is symbolic in it.
pub fn concretised(run: &Run, label: Label) -> Label {
    if any(run) {
        without_count(run, label, run.repetition.get().count as u64).label
    } else {
        label
    }
}

/// The expression with a count of 0, which has the same value however long the repetition is.
pub fn collapsed(run: &Run, label: Label) -> Label {
    if any(run) { without_count(run, label, 0).label } else { label }
}

fn without_count(run: &Run, label: Label, count: u64) -> Value {
    Fixed { count }.value(run, label, OPERATORS)
}

/// Puts a number in the place of the count.
struct Fixed {
    count: u64,
}

impl Fixed {
    fn value(&self, run: &Run, label: Label, depth: u32) -> Value {
        let value = Value::new(label, nodes::value(run, label));
        if label == 0 || is_fixed(run, label) {
            return value.with_label(0);
        }
        if let Some(part) = run.repetition.get().parts.iter().position(|part| *part == label) {
            let [low, high] = (self.count as u16).to_le_bytes().map(u64::from);
            return Value::concrete([low, high, self.count, self.count][part & 3]);
        }
        let node = nodes::node(run, label);
        let is_narrow = node.bits <= 64 && node.op != Op::Const as u8;
        match Op::from_byte(node.op) {
            Some(op) if depth > 0 && is_narrow => {
                self.rebuilt(run, op, &node, depth - 1).unwrap_or(value)
            }
            _ => value,
        }
    }

    /// An expression whose operands lost the count; `None` if there is none in them.
    fn rebuilt(&self, run: &Run, op: Op, node: &Node, depth: u32) -> Option<Value> {
        let bits = node.bits as u32;
        let operand = |label: Label| self.value(run, label, depth);
        let is_same = |x: Value, was: Label| x.label == was || x.label == 0 && is_fixed(run, was);
        match op {
            Op::ZExt | Op::SExt | Op::Extract | Op::Not if nodes::bits(run, node.a) <= 64 => {
                let x = operand(node.a);
                (!is_same(x, node.a)).then(|| cast(run, op, nodes::bits(run, node.a), node, x))
            }
            Op::Ite => {
                let [condition, yes, no] = [node.a, node.b, node.c].map(operand);
                let same =
                    is_same(condition, node.a) && is_same(yes, node.b) && is_same(no, node.c);
                let value = if condition.value & 1 == 1 { yes.value } else { no.value };
                (!same).then(|| Value::new(build::ite(run, bits, condition, yes, no), value))
            }
            op if values::is_binary(op) && nodes::bits(run, node.a) <= 64 => {
                let [a, b] = [node.a, node.b].map(operand);
                let same = is_same(a, node.a) && is_same(b, node.b);
                let bits = nodes::bits(run, node.a);
                let value = values::binary(op, bits, a.value, b.value);
                (!same).then(|| Value::new(build::binary(run, op, bits, a, b), value))
            }
            _ => None,
        }
    }
}

/// The node of a cast or a negation with another operand.
fn cast(run: &Run, op: Op, from: u32, node: &Node, x: Value) -> Value {
    let bits = node.bits as u32;
    let value = match op {
        Op::SExt => values::sign_extend(x.value, from) as u64,
        Op::Not => !x.value,
        Op::Extract => x.value >> node.aux,
        _ => x.value,
    };
    let value = value & values::mask(bits);
    let label = match op {
        _ if x.label == 0 => 0,
        Op::ZExt => build::zext(run, from, bits, x),
        Op::SExt => build::sext(run, from, bits, x),
        Op::Not => build::not(run, bits, x),
        _ => nodes::extract(run, x.label, node.aux as u32, bits, value),
    };
    Value::new(label, value)
}
