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
}

impl Answers {
    const COUNT: usize = 2048;

    pub fn forget(&mut self) {
        for answer in &mut self.0 {
            answer.key = 0;
        }
    }
}

/// An operator on shapes at one place, at most one of the operands being a constant.
#[derive(Clone, Copy)]
pub struct Question {
    key: u64,
    constant: u64,
    place: u32,
}

/// Answers are being built: they must not depend on what the path says about the place that asked first.
static mut BUILDING: bool = false;

const OP_BITS: u32 = 6;
const WIDTH_BITS: u32 = 7;
const SHAPE_BITS: u32 = 12;

const _: () = assert!(Op::ALL.len() <= 1 << OP_BITS && trace::MOST_SHAPES == 1 << SHAPE_BITS);

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
            let (left, right) = (split(a.label), split(b.label));
            let (first, second, kind, constant) = match (left, right) {
                (Some(a), None) if b.label == 0 => (a, 0, CONSTANT_LAST, b.value & mask(bits)),
                (None, Some(b)) if a.label == 0 => (b, 0, CONSTANT_FIRST, a.value & mask(bits)),
                (Some(a), Some(b)) if a.place == b.place => (a, b.shape, 0, 0),
                _ => return None,
            };
            let second_at = Shaped { shape: second, place: first.place };
            if is_fixed(first) || kind == 0 && is_fixed(second_at) {
                return None;
            }
            Some(Question::new(op, bits, first, kind << SHAPE_BITS | second as u64, constant))
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

    #[inline(always)]
    unsafe fn new(op: Op, bits: u32, at: Shaped, more: u64, constant: u64) -> Question {
        unsafe {
            let run = (*STORE).run as u64;
            let operands = (run << (SHAPE_BITS + 2) | more) << SHAPE_BITS | at.shape as u64;
            let key = (operands << OP_BITS | op as u64) << WIDTH_BITS | bits as u64;
            Question { key, constant, place: at.place }
        }
    }

    /// The label that was the answer before, or else the one that `build` makes.
    #[inline(always)]
    pub unsafe fn answer(self, build: impl FnOnce() -> Label) -> Label {
        unsafe {
            let mixed = (self.key ^ self.constant.rotate_left(23)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
            let answers = (&raw mut (*STORE).answers).cast::<Answer>();
            let answer = answers.add((mixed >> 48) as usize % Answers::COUNT);
            if ((*answer).key, (*answer).constant) != (self.key, self.constant) {
                let label = self.built(build);
                let shape = match split(label) {
                    Some(at) => 1 + at.shape,
                    None if label == 0 => 0,
                    None => return label,
                };
                *answer = Answer { key: self.key, constant: self.constant, shape };
            }
            match (*answer).shape {
                0 => 0,
                shape => decided(Shaped { shape: shape - 1, place: self.place }),
            }
        }
    }

    #[inline(never)]
    unsafe fn built(self, build: impl FnOnce() -> Label) -> Label {
        unsafe {
            let outer = core::mem::replace(&mut BUILDING, true);
            let label = build();
            BUILDING = outer;
            label
        }
    }
}

#[inline(always)]
unsafe fn is_fixed(at: Shaped) -> bool {
    unsafe { !BUILDING && domains::is_fixed(at) }
}

/// A label, or 0 if it is a condition that the path decides.
#[inline(always)]
unsafe fn decided(at: Shaped) -> Label {
    unsafe {
        let is_decided = facts(at.shape).record.bits == 1 && !BUILDING && domains::decides(at);
        if is_decided { 0 } else { join(at) }
    }
}

/// Whether the path fixes the value of an expression of one byte.
#[inline(always)]
pub unsafe fn is_fixed_by_path(at: Shaped) -> bool {
    unsafe { is_fixed(at) }
}
