//! Which shape an operator makes of others: looked up by those, not built again for each byte of a text.

use super::{STORE, domains, facts, join, split};
use crate::build::Value;
use crate::values::mask;
use trace::{Label, Op, Shaped};

/// What has been asked, in a table without chains: a question that is asked again is mostly asked soon.
pub struct Answers([Answer; Answers::COUNT]);

#[derive(Clone, Copy)]
struct Answer {
    key: u64,
    constant: u64,
    /// One more than a shape, or 0 if the result is the same for all bytes.
    shape: u32,
    is_condition: bool,
}

impl Answers {
    const COUNT: usize = 2048;
}

/// An operator on shapes at one place, at most one of the operands being a constant.
#[derive(Clone, Copy)]
pub struct Question {
    key: u64,
    constant: u64,
    place: u32,
}

/// Something that was being built is no shape, so that it depends on the place and its path, and is no answer for others.
static mut UNSHAPED: bool = false;

pub unsafe fn note_unshaped() {
    unsafe { UNSHAPED = true };
}

/// Whether what was built since [`build`] holds for all places.
pub unsafe fn is_for_all_places() -> bool {
    unsafe { !UNSHAPED }
}

/// Answers are being built: they must not depend on what the path says about the place that asked first.
static mut BUILDING: bool = false;

const OP_BITS: u32 = 6;
/// Beside an operator: whether it overflows.
const OVERFLOW: u64 = 1 << 63;
/// In place of an operator: an address in an array.
const INDEX: u64 = (1 << OP_BITS) - 1;
const WIDTH_BITS: u32 = 7;
const SHAPE_BITS: u32 = 12;

const _: () = assert!(Op::ALL.len() <= INDEX as usize && trace::MOST_SHAPES == 1 << SHAPE_BITS);

impl Question {
    /// `None` if there is nothing to look up: operands without a byte, or of several, or fixed by the path.
    #[inline(always)]
    pub unsafe fn binary(op: Op, bits: u32, a: Value, b: Value) -> Option<Question> {
        unsafe {
            const CONSTANT_FIRST: u64 = 1;
            const CONSTANT_LAST: u64 = 2;
            if bits > 64 {
                return None;
            }
            if b.label == 0 {
                let at = split(a.label).filter(|at| !is_fixed(*at))?;
                return Some(Question::new(op, bits, at, CONSTANT_LAST << SHAPE_BITS, b.value & mask(bits)));
            }
            let second = split(b.label).filter(|at| !is_fixed(*at))?;
            if a.label == 0 {
                return Some(Question::new(
                    op,
                    bits,
                    second,
                    CONSTANT_FIRST << SHAPE_BITS,
                    a.value & mask(bits),
                ));
            }
            let first = split(a.label).filter(|at| at.place == second.place && !is_fixed(*at))?;
            Some(Question::new(op, bits, first, second.shape as u64, 0))
        }
    }

    /// `to` is the width of the result.
    #[inline(always)]
    pub unsafe fn unary(op: Op, from: u32, to: u32, x: Label) -> Option<Question> {
        unsafe {
            let at = split(x).filter(|at| from <= 64 && to <= 64 && !is_fixed(*at))?;
            Some(Question::new(op, from, at, 3 << SHAPE_BITS | to as u64, 0))
        }
    }

    /// Bits from `low` on, `to` of them.
    #[inline(always)]
    pub unsafe fn extract(x: Label, low: u32, to: u32) -> Option<Question> {
        unsafe {
            let at = split(x).filter(|at| to <= 64 && !is_fixed(*at))?;
            Some(Question::new(Op::Extract, to, at, 3 << SHAPE_BITS, 1 + low as u64))
        }
    }

    /// `base + index * scale`, of 64 bits.
    #[inline(always)]
    pub unsafe fn index(base: u64, index: Label, scale: u64) -> Option<Question> {
        unsafe {
            let at = split(index).filter(|at| scale < 1 << SHAPE_BITS && !is_fixed(*at))?;
            Some(Question::numbered(INDEX, 64, at, scale, base))
        }
    }

    /// The condition that `a op b` overflows, `op` being a sum, difference or product of `bits` bits with a sign.
    #[inline(always)]
    pub unsafe fn overflow(op: Op, bits: u32, a: Value, b: Value) -> Option<Question> {
        unsafe {
            let mut question = Question::binary(op, bits, a, b)?;
            question.key |= OVERFLOW;
            Some(question)
        }
    }

    #[inline(always)]
    unsafe fn new(op: Op, bits: u32, at: Shaped, more: u64, constant: u64) -> Question {
        unsafe { Question::numbered(op as u64, bits, at, more, constant) }
    }

    #[inline(always)]
    unsafe fn numbered(op: u64, bits: u32, at: Shaped, more: u64, constant: u64) -> Question {
        unsafe {
            let run = (*STORE).run as u64;
            let operands = (run << (SHAPE_BITS + 2) | more) << SHAPE_BITS | at.shape as u64;
            let key = operands << (OP_BITS + WIDTH_BITS) | op << WIDTH_BITS | bits as u64;
            Question { key, constant, place: at.place }
        }
    }

    /// The label that was the answer before, or else the one that `build` makes.
    #[inline(always)]
    pub unsafe fn answer(self, build: impl FnOnce() -> Label) -> Label {
        unsafe {
            let mixed = (self.key ^ self.constant.rotate_left(23)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
            let answers = (&raw mut (*STORE).answers.0).cast::<Answer>();
            let answer = answers.add((mixed >> 48) as usize % Answers::COUNT);
            if ((*answer).key, (*answer).constant) != (self.key, self.constant) {
                let (label, is_answer) = self.built(build);
                let shape = match split(label) {
                    _ if !is_answer => return label,
                    Some(at) => 1 + at.shape,
                    None if label == 0 => 0,
                    None => return label,
                };
                let is_condition = shape != 0 && facts(shape - 1).record.bits == 1;
                *answer = Answer { key: self.key, constant: self.constant, shape, is_condition };
            }
            let Answer { shape, is_condition, .. } = *answer;
            if shape == 0 {
                return 0;
            }
            let at = Shaped { shape: shape - 1, place: self.place };
            if is_condition && !BUILDING && domains::decides(at) { 0 } else { join(at) }
        }
    }

    #[inline(never)]
    unsafe fn built(self, build: impl FnOnce() -> Label) -> (Label, bool) {
        unsafe {
            let outer = core::mem::replace(&mut BUILDING, true);
            let unshaped = core::mem::replace(&mut UNSHAPED, false);
            let label = build();
            let is_answer = !UNSHAPED;
            (BUILDING, UNSHAPED) = (outer, unshaped || !is_answer);
            (label, is_answer)
        }
    }
}

/// From here on answers are built, or looked up again.
pub unsafe fn build(is_building: bool) {
    unsafe {
        BUILDING = is_building;
        if is_building {
            UNSHAPED = false;
        }
    }
}

#[inline(always)]
unsafe fn is_fixed(at: Shaped) -> bool {
    unsafe { !BUILDING && domains::is_fixed(at) }
}

/// Whether the path fixes the value of an expression of one byte.
#[inline(always)]
pub unsafe fn is_fixed_by_path(at: Shaped) -> bool {
    unsafe { is_fixed(at) }
}
