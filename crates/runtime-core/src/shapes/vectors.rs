//! The 256 values of a shape, from those of its operands. One loop for each operator, so that
//! compilers see what repeats.

use crate::address;
use crate::state::Run;
use crate::values::{self, mask, sign_extend};
use trace::{Node, Op};

type Vector = [u64; 256];

/// False if the operator is none that is known here, or the value has more than 64 bits.
pub fn evaluate(run: &Run, record: &Node, out: &mut Vector) -> bool {
    let operand = |shape: u32| run.shapes.vector(shape);
    let width = |shape: u32| run.shapes.function(shape).record.bits as u32;
    let bits = record.bits as u32;
    let Some(op) = Op::from_byte(record.op).filter(|_| bits <= 64) else { return false };
    if (0..op.arity()).any(|i| width([record.a, record.b, record.c][i]) > 64) {
        return false;
    }
    let [a, b, c] = [record.a, record.b, record.c];
    match op {
        Op::Input => out.iter_mut().zip(0..).for_each(|(out, byte)| *out = byte),
        Op::Const => out.fill(record.const_value()),
        Op::ZExt => out.copy_from_slice(operand(a)),
        Op::SExt => each(operand(a), out, |x| sign_extend(x, width(a)) as u64 & mask(bits)),
        Op::Extract => each(operand(a), out, |x| x >> record.aux & mask(bits)),
        Op::Not | Op::Bswap | Op::Ctpop | Op::Ctlz | Op::Cttz => {
            each(operand(a), out, |x| values::unary(op, bits, x));
        }
        Op::Concat => pairs(operand(a), operand(b), out, |x, y| x << width(b) | y),
        Op::Ite => {
            pairs(operand(b), operand(c), out, |_, no| no);
            let chosen = operand(a).iter().zip(operand(b)).zip(out.iter_mut());
            chosen.for_each(|((taken, yes), out)| *out = if *taken == 1 { *yes } else { *out });
        }
        // The table holds no labels, or this would be no shape.
        Op::Read => each(operand(a), out, |x| address::content(run, b, x, bits / 8).unwrap_or(0)),
        _ => return binary(op, width(a), operand(a), operand(b), out),
    }
    true
}

fn binary(op: Op, bits: u32, a: &Vector, b: &Vector, out: &mut Vector) -> bool {
    macro_rules! one_of {
        ($($op:ident)*) => {
            match op {
                $(Op::$op => pairs(a, b, out, |x, y| values::binary(Op::$op, bits, x, y)),)*
                _ => return false,
            }
        };
    }
    one_of!(Add Sub Mul UDiv URem SDiv SRem And Or Xor Shl LShr AShr Eq Ult Ule Slt Sle);
    true
}

#[inline(always)]
fn each(a: &Vector, out: &mut Vector, f: impl Fn(u64) -> u64) {
    for (a, out) in a.iter().zip(out) {
        *out = f(*a);
    }
}

#[inline(always)]
fn pairs(a: &Vector, b: &Vector, out: &mut Vector, f: impl Fn(u64, u64) -> u64) {
    for ((a, b), out) in a.iter().zip(b).zip(out) {
        *out = f(*a, *b);
    }
}
