//! Regions that nothing but what they end with wants: a branch, a switch, a load from a table.

use super::{FOUND, IS_CHECKED, MEMORIES, PENDING, Region, STORE, abandon, begin, built, recall};
use crate::build::Value;
use crate::models::lexers;
use crate::shapes::{self, domains, domains::Condition, reads};
use crate::state::{self, STATE};
use crate::{address, budget, events, lengths};
use trace::{Comparison, Label};

/// What is remembered of a region with one operand that nothing but its branch wants.
#[derive(Clone, Copy)]
#[repr(align(64))]
pub(super) struct Question {
    region: *const Region,
    /// The run and the label's shape.
    shape: u32,
    is_checked: bool,
    condition: Condition,
}

const _: () = assert!(size_of::<Question>() == 64, "a line of the cache");

unsafe fn question(region: &Region, shape: u32) -> *mut Question {
    unsafe {
        let number = (region as *const Region as usize >> 3) ^ (shape as usize & 0xFF) << 3;
        (&raw mut (*STORE).questions).cast::<Question>().add(number % MEMORIES)
    }
}

/// As [`super::__tg_recall1`] for a region that nothing but its branch wants: 1 if the branch is recorded, or needs not be.
#[unsafe(no_mangle)]
#[cold]
pub unsafe extern "C" fn __tg_ask(region: &Region, label: Label, value: u64, taken: u32) -> u32 {
    unsafe {
        if !PENDING.is_null() {
            abandon();
        }
        let Some(at) = shapes::split(label) else {
            return u32::from(compares_length(region, &[Value::new(label, value)], taken));
        };
        if STATE.threaded || lexers::inside() {
            return 0;
        }
        let some_are_fixed = match domains::fixed(at.place) {
            domains::Fixed::None => false,
            domains::Fixed::Some => true,
            domains::Fixed::All => return 1,
        };
        let shape = shapes::in_this_run(at.shape);
        let question = &*question(region, at.shape);
        if (question.region, question.shape) != (region as *const Region, shape) {
            if !(some_are_fixed && domains::is_fixed(at)) {
                begin(region, built(region));
            }
            return 0;
        }
        if question.is_checked {
            return 0;
        }
        let Some(_entered) = state::enter() else { return 0 };
        *built(region) = 0;
        if !(some_are_fixed && domains::is_fixed(at)) {
            question.condition.branch(at.place, some_are_fixed, taken & 1 == 1, region.branch);
        }
        1
    }
}

/// As [`__tg_ask`], the region being one that nothing but a switch wants.
#[unsafe(no_mangle)]
#[cold]
pub unsafe extern "C" fn __tg_choose(
    region: &Region,
    label: Label,
    value: u64,
    cases: *const u64,
    count: u32,
) -> u32 {
    unsafe {
        if shapes::split(label).is_none_or(|at| shapes::value(at) != value) {
            return 0;
        }
        let labels = recall(region, [Value::new(label, 0)], &raw mut (*STORE).one, 0);
        if labels & FOUND == 0 {
            return 0;
        }
        if let Some(at) = shapes::split(labels as Label)
            && let Some(_entered) = state::enter()
        {
            let cases = core::slice::from_raw_parts(cases, count as usize);
            events::switch_on_byte(at, cases, region.constant as u32);
        }
        1
    }
}

/// The label is that of the value that was loaded.
const LOADED: u64 = 1 << 63;
/// The label is that of the address.
const LOCATED: u64 = 1 << 62;

/// As [`super::__tg_recall1`] for a region that nothing but a load wants, at its result.
#[inline(always)]
unsafe fn fetch(region: &Region, labels: u128, address: usize) -> u64 {
    unsafe {
        if labels & FOUND == 0 {
            return 0;
        }
        let la = labels as Label;
        let (size, site) = (region.constant as u32 as usize, (region.constant >> 32) as u32);
        if la == 0 {
            return LOCATED;
        }
        let Some(_entered) = state::enter() else { return LOCATED };
        if budget::settles_address(la) {
            return LOCATED;
        }
        match reads::again(la, address, size, site) {
            Some(label) => LOADED | address::without_if_constant(label) as u64,
            None => LOCATED | la as u64,
        }
    }
}

#[unsafe(no_mangle)]
#[cold]
pub unsafe extern "C" fn __tg_fetch1(region: &Region, la: Label, a: u64, address: usize) -> u64 {
    unsafe { fetch(region, recall(region, [Value::new(la, a)], &raw mut (*STORE).one, 0), address) }
}

#[unsafe(no_mangle)]
#[cold]
pub unsafe extern "C" fn __tg_fetch2(
    region: &Region,
    la: Label,
    a: u64,
    lb: Label,
    b: u64,
    address: usize,
) -> u64 {
    unsafe {
        let operands = [Value::new(la, a), Value::new(lb, b)];
        fetch(region, recall(region, operands, &raw mut (*STORE).two, 0), address)
    }
}

/// What [`__tg_ask`] finds from here on.
pub(super) unsafe fn note_question(region: &Region, operand: Label, label: Label) -> Option<()> {
    unsafe {
        let at = shapes::split(operand)?;
        let mut condition = Condition::NONE;
        if label != 0 {
            let result = shapes::split(label).filter(|result| result.place == at.place)?;
            condition = Condition::of(result.shape);
        }
        let shape = shapes::in_this_run(at.shape);
        *question(region, at.shape) = Question { region, shape, is_checked: IS_CHECKED, condition };
        Some(())
    }
}

/// Records the branch of a region that compares the length of the input; false if it does not.
pub(super) unsafe fn compares_length(region: &Region, operands: &[Value], taken: u32) -> bool {
    unsafe {
        let Some(Comparison { op, is_negated, is_swapped, is_of_difference }) =
            Comparison::of(region.comparison)
        else {
            return false;
        };
        let Some(_entered) = state::enter() else { return false };
        let constant = Value::concrete(region.constant);
        let label = match *operands {
            [a, b] if is_of_difference => lengths::compared_rest(op, a, b, region.constant, is_swapped),
            [a, b] if is_swapped => lengths::compared(op, 64, b, a),
            [a, b] => lengths::compared(op, 64, a, b),
            [a] if is_swapped => lengths::compared(op, 64, constant, a),
            [a] => lengths::compared(op, 64, a, constant),
            _ => None,
        };
        let Some(label) = label else { return false };
        let label = match lengths::split(label) {
            Some(length) if is_negated => length.negated().label(),
            _ => label,
        };
        events::branch(label, taken & 1 == 1, region.branch);
        true
    }
}
