//! Expressions with a number in the place of the count, for what is fixed while the stretch may still grow.

use super::{STRETCH, any, is_fixed};
use crate::build::{self, Value};
use crate::{nodes, values};
use trace::{Label, Node, Op};

/// How many operators around the count are looked through.
const OPERATORS: u32 = 8;

/// The expression with the count fixed to what it is; 0 if nothing else is symbolic in it.
pub unsafe fn settled(label: Label) -> Label {
    unsafe { if any() { without_count(label, STRETCH.count as u64).label } else { label } }
}

/// The expression with a count of 0, which has the same value however long the stretch is.
pub unsafe fn collapsed(label: Label) -> Label {
    unsafe { if any() { without_count(label, 0).label } else { label } }
}

unsafe fn without_count(label: Label, count: u64) -> Value {
    unsafe { Fixed { count }.value(label, OPERATORS) }
}

/// Puts a number in the place of the count.
struct Fixed {
    count: u64,
}

impl Fixed {
    unsafe fn value(&self, label: Label, depth: u32) -> Value {
        unsafe {
            let value = Value::new(label, nodes::value(label));
            if label == 0 || is_fixed(label) {
                return value.with_label(0);
            }
            if let Some(part) = STRETCH.parts.iter().position(|part| *part == label) {
                let [low, high] = (self.count as u16).to_le_bytes().map(u64::from);
                return Value::concrete([low, high, self.count, self.count][part & 3]);
            }
            let node = nodes::node(label);
            let is_narrow = node.bits <= 64 && node.op != Op::Const as u8;
            match Op::from_byte(node.op) {
                Some(op) if depth > 0 && is_narrow => self.rebuilt(op, &node, depth - 1).unwrap_or(value),
                _ => value,
            }
        }
    }

    /// An expression whose operands lost the count; `None` if there is none in them.
    unsafe fn rebuilt(&self, op: Op, node: &Node, depth: u32) -> Option<Value> {
        unsafe {
            let bits = node.bits as u32;
            let operand = |label: Label| self.value(label, depth);
            let is_same = |x: Value, was: Label| x.label == was || x.label == 0 && is_fixed(was);
            match op {
                Op::ZExt | Op::SExt | Op::Extract | Op::Not if nodes::bits(node.a) <= 64 => {
                    let x = operand(node.a);
                    (!is_same(x, node.a)).then(|| cast(op, nodes::bits(node.a), node, x))
                }
                Op::Ite => {
                    let [condition, yes, no] = [node.a, node.b, node.c].map(operand);
                    let same = is_same(condition, node.a) && is_same(yes, node.b) && is_same(no, node.c);
                    let value = if condition.value & 1 == 1 { yes.value } else { no.value };
                    (!same).then(|| Value::new(build::ite(bits, condition, yes, no), value))
                }
                op if values::is_binary(op) && nodes::bits(node.a) <= 64 => {
                    let [a, b] = [node.a, node.b].map(operand);
                    let same = is_same(a, node.a) && is_same(b, node.b);
                    let bits = nodes::bits(node.a);
                    let value = values::binary(op, bits, a.value, b.value);
                    (!same).then(|| Value::new(build::binary(op, bits, a, b), value))
                }
                _ => None,
            }
        }
    }
}

/// The node of a cast or a negation with another operand.
unsafe fn cast(op: Op, from: u32, node: &Node, x: Value) -> Value {
    unsafe {
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
            Op::ZExt => build::zext(from, bits, x),
            Op::SExt => build::sext(from, bits, x),
            Op::Not => build::not(bits, x),
            _ => nodes::extract(x.label, node.aux as u32, bits, value),
        };
        Value::new(label, value)
    }
}
