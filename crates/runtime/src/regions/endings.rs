//! Regions that nothing but what they end with wants: a branch, a switch, a load from a table.

use super::{CONCRETE, FOUND, IS_CHECKED, MEMORIES, Memories, PENDING, STORE, abandon, begin, recall};
use crate::build::Value;
use crate::models::lexers;
use crate::shapes::{self, domains, domains::Condition, domains::Way, reads};
use crate::state::{self, STATE};
use crate::{address, budget, events, lengths};
use trace::{Comparison, Ending, Label, PureRegion, Shaped};

/// What is remembered of a region with one operand that nothing but its branch wants.
#[derive(Clone, Copy)]
#[repr(align(64))]
pub(super) struct Question {
    region: *const PureRegion,
    /// The run and the label's shape.
    shape: u32,
    /// The number of the branch: what the region says is in another line of the cache.
    branch: u32,
    is_checked: bool,
    condition: Condition,
}

const _: () = assert!(size_of::<Question>() == 64, "a line of the cache");

unsafe fn question(region: &PureRegion, shape: u32) -> *mut Question {
    unsafe {
        let number = (region as *const PureRegion as usize >> 3) ^ (shape as usize & 0xFF) << 3;
        (&raw mut (*STORE).questions).cast::<Question>().add(number % MEMORIES)
    }
}

/// As [`super::__tg_recall1`] for a region that nothing but its branch wants: 1 if the branch is recorded, or needs not be.
#[unsafe(no_mangle)]
#[cold]
pub unsafe extern "C" fn __tg_ask(region: &PureRegion, label: Label, value: u64, taken: u32) -> u32 {
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
        if domains::fixed(at.place) == domains::Fixed::All {
            return 1;
        }
        let shape = shapes::in_this_run(at.shape);
        let question = &*question(region, at.shape);
        if (question.region, question.shape) != (region as *const PureRegion, shape) {
            if domains::is_fixed(at) {
                return 1;
            }
            begin(region);
            return 0;
        }
        if question.is_checked {
            return 0;
        }
        let Some(_entered) = state::enter() else { return 0 };
        question.condition.branch(at.place, taken & 1 == 1, question.branch);
        1
    }
}

/// What is remembered of a region with one operand that nothing but its switch wants, for a byte.
#[derive(Clone, Copy)]
#[repr(align(64))]
pub(super) struct Choice {
    region: *const PureRegion,
    /// Of the operand.
    value: u64,
    /// The run and the operand's shape.
    shape: u32,
    /// Of what the switch is on.
    result: u16,
    byte: u8,
    way: Way,
}

const _: () = assert!(size_of::<Choice>() == 64, "a line of the cache");

unsafe fn choice(region: &PureRegion, shape: u32, byte: u8) -> *mut Choice {
    unsafe {
        let number = (region as *const PureRegion as usize >> 3) ^ (shape as usize & 0xFF) << 3;
        (&raw mut (*STORE).choices).cast::<Choice>().add((number ^ (byte as usize) << 2) % MEMORIES)
    }
}

/// As [`__tg_ask`], the region being one that nothing but a switch wants.
#[unsafe(no_mangle)]
#[cold]
pub unsafe extern "C" fn __tg_choose(
    region: &PureRegion,
    label: Label,
    value: u64,
    cases: *const u64,
    count: u32,
) -> u32 {
    unsafe {
        let Some(at) = shapes::split(label) else { return 0 };
        if !PENDING.is_null() {
            abandon();
        }
        if STATE.threaded || lexers::inside() {
            return 0;
        }
        if domains::fixed(at.place) == domains::Fixed::All {
            return 1;
        }
        let (shape, byte) = (shapes::in_this_run(at.shape), shapes::input(at.place));
        let choice = &*choice(region, at.shape, byte);
        let is_known = (choice.region, choice.shape) == (region as *const PureRegion, shape)
            && (choice.byte, choice.value) == (byte, value);
        if !is_known {
            let cases = core::slice::from_raw_parts(cases, count as usize);
            return choose_slowly(region, at, value, cases);
        }
        let Ending::Switch { site } = region.ending else { return 0 };
        let Some(_entered) = state::enter() else { return 0 };
        let result = Shaped { shape: choice.result as u32, place: at.place };
        events::switch_to(result, &choice.way, site);
        1
    }
}

#[inline(never)]
unsafe fn choose_slowly(region: &PureRegion, at: Shaped, value: u64, cases: &[u64]) -> u32 {
    unsafe {
        let Ending::Switch { site } = region.ending else { return 0 };
        if shapes::value(at) != value {
            return 0;
        }
        let labels = recall(region, [Value::new(shapes::join(at), 0)], &raw mut (*STORE).one, 0);
        if labels & FOUND == 0 {
            return 0;
        }
        if let Some(result) = shapes::split(labels as Label)
            && let Some(_entered) = state::enter()
        {
            let (shape, byte) = (shapes::in_this_run(at.shape), shapes::input(at.place));
            let Some((way, _)) = domains::way(result, cases, site) else {
                events::switch_with_many_cases(result, cases, site);
                return 1;
            };
            let known = Choice { region, value, shape, result: result.shape as u16, byte, way };
            *choice(region, at.shape, byte) = known;
            events::switch_to(result, &way, site);
        }
        1
    }
}

/// What is remembered of a region that nothing but a load from a constant table wants.
#[derive(Clone, Copy)]
#[repr(align(64))]
pub(super) struct Fetched {
    region: *const PureRegion,
    /// The operand without a label, if there are two.
    other: u64,
    /// The run and the other operand's shape.
    shape: u32,
    /// Which operand has the label.
    labelled: u16,
    /// What is read; [`CONCRETE`] if that is the same for all bytes.
    result: u16,
    /// Where a read has to be to stay in the table.
    first: usize,
    last: usize,
    /// Such addresses are fixed once the budget is spent.
    is_deep: bool,
}

/// The operand of a region that has the label, which one it is, and the other's value.
#[inline(always)]
unsafe fn labelled_one<const N: usize>(operands: &[Value; N]) -> Option<(Shaped, u16, u64)> {
    unsafe {
        match operands[..] {
            [Value { label, .. }] => Some((shapes::split(label)?, 0, 0)),
            [Value { label, .. }, Value { label: 0, value }] => Some((shapes::split(label)?, 0, value)),
            [Value { label: 0, value }, Value { label, .. }] => Some((shapes::split(label)?, 1, value)),
            _ => None,
        }
    }
}

unsafe fn fetched(region: &PureRegion, shape: u32, other: u64) -> *mut Fetched {
    unsafe {
        let number =
            (region as *const PureRegion as usize >> 3) ^ (shape as usize & 0xFF) << 3 ^ other as usize >> 4;
        (&raw mut (*STORE).fetched).cast::<Fetched>().add(number % MEMORIES)
    }
}

/// The label of what is loaded, if that is known.
#[inline(always)]
unsafe fn fetch_again<const N: usize>(
    region: &PureRegion,
    operands: &[Value; N],
    address: usize,
) -> Option<Label> {
    unsafe {
        if !PENDING.is_null() || STATE.threaded || lexers::inside() {
            return None;
        }
        let (at, labelled, other) = labelled_one(operands)?;
        let known = &*fetched(region, at.shape, other);
        let is_known = core::ptr::eq(known.region, region)
            && (known.shape, known.labelled) == (shapes::in_this_run(at.shape), labelled)
            && known.other == other
            && (known.first..=known.last).contains(&address);
        if !is_known || known.is_deep && budget::is_spent() {
            return None;
        }
        if domains::fixed(at.place) == domains::Fixed::All || known.result == CONCRETE {
            return Some(0);
        }
        let _entered = state::enter()?;
        let result = Shaped { shape: known.result as u32, place: at.place };
        Some(if domains::is_constant_here(result) { 0 } else { shapes::join(result) })
    }
}

/// A region led to a read that is known.
unsafe fn note_fetched<const N: usize>(
    region: &PureRegion,
    operands: &[Value; N],
    la: Label,
    size: usize,
) -> Option<()> {
    unsafe {
        let ((at, labelled, other), address) = (labelled_one(operands)?, shapes::split(la)?);
        let (first, last, result) = reads::in_constant_table(address, size)?;
        let result =
            if shapes::varying(Shaped { shape: result, ..at }) == 0 { CONCRETE } else { result as u16 };
        let (shape, is_deep) = (shapes::in_this_run(at.shape), budget::is_deep(address));
        *fetched(region, at.shape, other) =
            Fetched { region, other, shape, labelled, result, first, last, is_deep };
        Some(())
    }
}

/// The label is that of the value that was loaded.
pub(crate) const LOADED: u64 = 1 << 63;
/// The label is that of the address.
pub(crate) const LOCATED: u64 = 1 << 62;

/// As [`super::__tg_recall1`] for a region that nothing but a load wants, at its result.
#[inline(always)]
unsafe fn fetch<const N: usize, const OTHERS: usize>(
    region: &PureRegion,
    operands: [Value; N],
    memories: *mut Memories<OTHERS>,
    address: usize,
) -> u64 {
    unsafe {
        if let Some(label) = fetch_again(region, &operands, address) {
            return LOADED | label as u64;
        }
        let labels = recall(region, operands, memories, 0);
        if labels & FOUND == 0 {
            return 0;
        }
        let la = labels as Label;
        let Ending::Load { site, size } = region.ending else { return LOCATED };
        if la == 0 {
            return LOCATED;
        }
        let size = size as usize;
        let Some(_entered) = state::enter() else { return LOCATED };
        if budget::settles_address(la) {
            return LOCATED;
        }
        match reads::again(la, address, size, site) {
            Some(label) => {
                note_fetched(region, &operands, la, size);
                LOADED | address::without_if_constant(label) as u64
            }
            None => LOCATED | la as u64,
        }
    }
}

#[unsafe(no_mangle)]
#[cold]
pub unsafe extern "C" fn __tg_fetch1(region: &PureRegion, la: Label, a: u64, address: usize) -> u64 {
    unsafe { fetch(region, [Value::new(la, a)], &raw mut (*STORE).one, address) }
}

#[unsafe(no_mangle)]
#[cold]
pub unsafe extern "C" fn __tg_fetch2(
    region: &PureRegion,
    la: Label,
    a: u64,
    lb: Label,
    b: u64,
    address: usize,
) -> u64 {
    unsafe { fetch(region, [Value::new(la, a), Value::new(lb, b)], &raw mut (*STORE).two, address) }
}

/// What [`__tg_ask`] finds from here on.
pub(super) unsafe fn note_question(
    region: &PureRegion,
    branch: u32,
    operand: Label,
    label: Label,
) -> Option<()> {
    unsafe {
        let at = shapes::split(operand)?;
        let mut condition = Condition::NONE;
        if label != 0 {
            let result = shapes::split(label).filter(|result| result.place == at.place)?;
            condition = Condition::of(result.shape);
        }
        let shape = shapes::in_this_run(at.shape);
        *question(region, at.shape) = Question { region, shape, branch, is_checked: IS_CHECKED, condition };
        Some(())
    }
}

/// Records the branch of a region that compares the length of the input; false if it does not.
pub(super) unsafe fn compares_length(region: &PureRegion, operands: &[Value], taken: u32) -> bool {
    unsafe {
        let Ending::Branch { comparison, site, constant } = region.ending else { return false };
        let Some(compared) = Comparison::of(comparison) else { return false };
        let Comparison { op, is_negated, is_swapped, is_of_difference } = compared;
        let Some(_entered) = state::enter() else { return false };
        let fixed = Value::concrete(constant);
        let label = match *operands {
            [a, b] if is_of_difference => lengths::compared_rest(op, a, b, constant, is_swapped),
            [a, b] if is_swapped => lengths::compared(op, 64, b, a),
            [a, b] => lengths::compared(op, 64, a, b),
            [a] if is_swapped => lengths::compared(op, 64, fixed, a),
            [a] => lengths::compared(op, 64, a, fixed),
            _ => None,
        };
        let Some(label) = label else { return false };
        let label = match lengths::split(label) {
            Some(length) if is_negated => length.negated().label(),
            _ => label,
        };
        events::branch(label, taken & 1 == 1, site);
        true
    }
}
