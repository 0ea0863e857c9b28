//! Bytes of the input that are not 0 on this path, because a branch would have gone the other way.
//!
//! What a lexer took for a letter does not end a string. Without this, the length of every string that holds it would depend on the
//! input, and then what is allocated for it and all that is linked to that.

use crate::values::{self, mask};
use crate::{address, events, nodes};
use trace::{Label, Op};

/// How deep conditions are looked into.
const DEPTH: u32 = 8;

/// The byte of the input that cannot be 0 where the condition has the value `taken`, if it depends on one byte only.
pub unsafe fn learn(condition: Label, taken: bool) -> Option<Label> {
    unsafe {
        let mut zero = Zero { byte: None };
        let otherwise = zero.value(condition, DEPTH)?;
        zero.byte.filter(|_| otherwise != taken as u64)
    }
}

/// An evaluation with one byte, the first that is met, being 0.
struct Zero {
    byte: Option<Label>,
}

impl Zero {
    /// `None` if the value depends on other bytes, or is too much work.
    unsafe fn value(&mut self, label: Label, depth: u32) -> Option<u64> {
        unsafe {
            let node = nodes::node(label);
            let bits = node.bits as u32;
            let op = Op::from_byte(node.op).filter(|_| depth > 0 && bits <= 64)?;
            if op == Op::Const || events::is_fixed(label) {
                return Some(nodes::value(label));
            }
            if op == Op::Input {
                return (*self.byte.get_or_insert(label) == label).then_some(0);
            }
            let mut value = |operand: Label| self.value(operand, depth - 1);
            match op {
                Op::ZExt => value(node.a),
                Op::SExt => {
                    Some(values::sign_extend(value(node.a)?, nodes::bits(node.a)) as u64 & mask(bits))
                }
                Op::Extract if nodes::bits(node.a) <= 64 => Some(value(node.a)? >> node.aux & mask(bits)),
                Op::Not => Some(!value(node.a)? & mask(bits)),
                Op::Ite => match value(node.a)? {
                    0 => value(node.c),
                    _ => value(node.b),
                },
                Op::Read => address::content(node.b, value(node.a)?, bits / 8),
                op if values::is_binary(op) => {
                    let operand_bits = nodes::bits(node.a);
                    (operand_bits <= 64).then_some(values::binary(
                        op,
                        operand_bits,
                        value(node.a)?,
                        value(node.b)?,
                    ))
                }
                _ => None,
            }
        }
    }
}
