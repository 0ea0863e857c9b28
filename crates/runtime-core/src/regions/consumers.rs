//! Regions that nothing but what they end with needs: a branch, a switch, a load from a table.

use super::{CONCRETE, FOUND, MEMOS, MemoTable, Store, abandon, begin, look_up, peek};
use crate::build::Value;
use crate::facts::domains::{self, Condition, Fixed};
use crate::shapes::{self, Switched, reads};
use crate::state::{self, Run};
use crate::{address, budget, events, lengths, lexer};
use core::cell::Cell;
use trace::{Comparison, Consumer, Label, PureRegion, Shaped};

/// What is remembered of a region with one operand that nothing but its branch needs.
#[derive(Clone, Copy)]
#[repr(align(64))]
pub(super) struct Branch {
    region: *const PureRegion,
    /// The run and the label's shape.
    shape: u32,
    /// The number of the branch: what the region says is in another line of the cache.
    branch: u32,
    is_checked: bool,
    condition: Condition,
}

const _: () = assert!(size_of::<Branch>() == 64, "a line of the cache");

/// Where what is remembered of a region and a shape starts to be looked for.
#[inline(always)]
fn place_of(region: &PureRegion, shape: u32) -> usize {
    (region as *const PureRegion as usize >> 3) ^ (shape as usize & 0xFF) << 3
}

#[inline(always)]
fn branch_slot(run: &Run, region: &PureRegion, shape: u32) -> &'static Cell<Branch> {
    &run.regions.store().branches[place_of(region, shape) % MEMOS]
}

/// As [`super::__tg_lookup1`] for a region that nothing but its branch needs: 1 if the branch is
/// recorded, or needs not be.
#[unsafe(no_mangle)]
#[cold]
pub extern "C" fn __tg_lookup_branch(
    region: &PureRegion,
    label: Label,
    value: u64,
    taken: u32,
) -> u32 {
    let run = Run::current();
    if run.regions.is_building() {
        abandon(run);
    }
    let Some(at) = shapes::split(run, label) else {
        return u32::from(compares_length(run, region, &[Value::new(label, value)], taken));
    };
    if run.threaded.get() || lexer::inside(run) {
        return 0;
    }
    if domains::fixed(run, at.place) == Fixed::All {
        return 1;
    }
    let known = peek(branch_slot(run, region, at.shape));
    let wanted = (region as *const PureRegion, shapes::in_this_run(run, at.shape));
    if (known.region, known.shape) != wanted {
        if domains::is_fixed(run, at) {
            return 1;
        }
        begin(run, region);
        return 0;
    }
    if known.is_checked {
        return 0;
    }
    let Some(_entered) = state::enter(run) else { return 0 };
    events::branch_on_known(run, &known.condition, at.place, taken & 1 == 1, known.branch);
    1
}

/// What is remembered of a region with one operand that nothing but its switch needs, for a byte.
#[derive(Clone, Copy)]
#[repr(align(64))]
pub(super) struct Switch {
    region: *const PureRegion,
    /// Of the operand.
    value: u64,
    /// The run and the operand's shape.
    shape: u32,
    /// Of what the switch is on.
    result: u16,
    byte: u8,
    to: Switched,
}

const _: () = assert!(size_of::<Switch>() == 64, "a line of the cache");

#[inline(always)]
fn switch_slot(run: &Run, region: &PureRegion, shape: u32, byte: u8) -> &'static Cell<Switch> {
    &run.regions.store().switches[(place_of(region, shape) ^ (byte as usize) << 2) % MEMOS]
}

/// As [`__tg_lookup_branch`], the region being one that nothing but a switch needs.
///
/// # Safety
/// There are as many `cases` as `count` says.
#[unsafe(no_mangle)]
#[cold]
pub unsafe extern "C" fn __tg_lookup_switch(
    region: &PureRegion,
    label: Label,
    value: u64,
    cases: *const u64,
    count: u32,
) -> u32 {
    let run = Run::current();
    let Some(at) = shapes::split(run, label) else { return 0 };
    if run.regions.is_building() {
        abandon(run);
    }
    if run.threaded.get() || lexer::inside(run) {
        return 0;
    }
    if domains::fixed(run, at.place) == Fixed::All {
        return 1;
    }
    let (shape, byte) = (shapes::in_this_run(run, at.shape), shapes::input(run, at.place));
    let known = peek(switch_slot(run, region, at.shape, byte));
    let is_known = (known.region, known.shape) == (region as *const PureRegion, shape)
        && (known.byte, known.value) == (byte, value);
    if !is_known {
        // SAFETY: the caller's promise.
        let cases = unsafe { core::slice::from_raw_parts(cases, count as usize) };
        return choose_slowly(run, region, at, value, cases);
    }
    let Consumer::Switch { site } = region.consumer else { return 0 };
    let Some(_entered) = state::enter(run) else { return 0 };
    let result = Shaped { shape: known.result as u32, place: at.place };
    events::switch_to(run, result, &known.to, site);
    1
}

#[inline(never)]
fn choose_slowly(run: &Run, region: &PureRegion, at: Shaped, value: u64, cases: &[u64]) -> u32 {
    let Consumer::Switch { site } = region.consumer else { return 0 };
    if shapes::value(run, at) != value {
        return 0;
    }
    let operand = Value::new(shapes::join(run, at), 0);
    let labels = look_up(run, region, [operand], |store| &store.one, 0);
    if labels & FOUND == 0 {
        return 0;
    }
    if let Some(result) = shapes::split(run, labels as Label)
        && let Some(_entered) = state::enter(run)
    {
        let (shape, byte) = (shapes::in_this_run(run, at.shape), shapes::input(run, at.place));
        let Some((to, _)) = shapes::switched(run, result, cases, site) else {
            events::switch_with_many_cases(run, result, cases, site);
            return 1;
        };
        let known = Switch { region, value, shape, result: result.shape as u16, byte, to };
        switch_slot(run, region, at.shape, byte).set(known);
        events::switch_to(run, result, &to, site);
    }
    1
}

/// What is remembered of a region that nothing but a load from a constant table needs.
#[derive(Clone, Copy)]
#[repr(align(64))]
pub(super) struct Load {
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
fn labelled_one<const N: usize>(run: &Run, operands: &[Value; N]) -> Option<(Shaped, u16, u64)> {
    let (label, number, other) = match operands[..] {
        [Value { label, .. }] => (label, 0, 0),
        [Value { label, .. }, Value { label: 0, value }] => (label, 0, value),
        [Value { label: 0, value }, Value { label, .. }] => (label, 1, value),
        _ => return None,
    };
    Some((shapes::split(run, label)?, number, other))
}

#[inline(always)]
fn load_slot(run: &Run, region: &PureRegion, shape: u32, other: u64) -> &'static Cell<Load> {
    &run.regions.store().loads[(place_of(region, shape) ^ other as usize >> 4) % MEMOS]
}

/// The label of what is loaded, if that is known.
#[inline(always)]
fn load_again<const N: usize>(
    run: &Run,
    region: &PureRegion,
    operands: &[Value; N],
    address: usize,
) -> Option<Label> {
    if run.regions.is_building() || run.threaded.get() || lexer::inside(run) {
        return None;
    }
    let (at, labelled, other) = labelled_one(run, operands)?;
    let known = peek(load_slot(run, region, at.shape, other));
    let is_known = core::ptr::eq(known.region, region)
        && (known.shape, known.labelled) == (shapes::in_this_run(run, at.shape), labelled)
        && known.other == other
        && (known.first..=known.last).contains(&address);
    if !is_known || known.is_deep && budget::is_spent(run) {
        return None;
    }
    if domains::fixed(run, at.place) == Fixed::All || known.result == CONCRETE {
        return Some(0);
    }
    let _entered = state::enter(run)?;
    let result = Shaped { shape: known.result as u32, place: at.place };
    Some(if domains::is_constant_here(run, result) { 0 } else { shapes::join(run, result) })
}

/// A region led to a read that is known.
fn note_load<const N: usize>(
    run: &Run,
    region: &PureRegion,
    operands: &[Value; N],
    la: Label,
    size: usize,
) -> Option<()> {
    let ((at, labelled, other), address) = (labelled_one(run, operands)?, shapes::split(run, la)?);
    let (first, last, result) = reads::in_constant_table(run, address, size)?;
    let result = if shapes::is_constant(run, result) { CONCRETE } else { result as u16 };
    let (shape, is_deep) = (shapes::in_this_run(run, at.shape), budget::is_deep(run, address));
    let load = Load { region, other, shape, labelled, result, first, last, is_deep };
    load_slot(run, region, at.shape, other).set(load);
    Some(())
}

/// The label is that of the value that was loaded.
pub(crate) const LOADED: u64 = 1 << 63;
/// The label is that of the address.
pub(crate) const LOCATED: u64 = 1 << 62;

/// As [`super::__tg_lookup1`] for a region that nothing but a load needs, at its result.
#[inline(always)]
fn fetch<const N: usize, const OTHERS: usize>(
    run: &Run,
    region: &PureRegion,
    operands: [Value; N],
    table: impl FnOnce(&'static Store) -> &'static MemoTable<OTHERS>,
    address: usize,
) -> u64 {
    if let Some(label) = load_again(run, region, &operands, address) {
        return LOADED | label as u64;
    }
    let labels = look_up(run, region, operands, table, 0);
    if labels & FOUND == 0 {
        return 0;
    }
    let la = labels as Label;
    let Consumer::Load { site, size } = region.consumer else { return LOCATED };
    if la == 0 {
        return LOCATED;
    }
    let size = size as usize;
    let Some(_entered) = state::enter(run) else { return LOCATED };
    if budget::concretises_address(run, la) {
        return LOCATED;
    }
    match reads::again(run, la, address, size, site) {
        Some(label) => {
            note_load(run, region, &operands, la, size);
            LOADED | address::without_if_constant(run, label) as u64
        }
        None => LOCATED | la as u64,
    }
}

#[unsafe(no_mangle)]
#[cold]
pub extern "C" fn __tg_lookup_load1(region: &PureRegion, la: Label, a: u64, address: usize) -> u64 {
    fetch(Run::current(), region, [Value::new(la, a)], |store| &store.one, address)
}

#[unsafe(no_mangle)]
#[cold]
pub extern "C" fn __tg_lookup_load2(
    region: &PureRegion,
    la: Label,
    a: u64,
    lb: Label,
    b: u64,
    address: usize,
) -> u64 {
    let operands = [Value::new(la, a), Value::new(lb, b)];
    fetch(Run::current(), region, operands, |store| &store.two, address)
}

/// What [`__tg_lookup_branch`] finds from here on.
pub(super) fn note_branch(
    run: &Run,
    region: &PureRegion,
    branch: u32,
    operand: Label,
    label: Label,
) -> Option<()> {
    let at = shapes::split(run, operand)?;
    let mut condition = Condition::NONE;
    if label != 0 {
        let result = shapes::split(run, label).filter(|result| result.place == at.place)?;
        condition = Condition::of(run, result.shape);
    }
    let (shape, is_checked) = (shapes::in_this_run(run, at.shape), run.regions.is_checked.get());
    let known = Branch { region, shape, branch, is_checked, condition };
    branch_slot(run, region, at.shape).set(known);
    Some(())
}

/// Records the branch of a region that compares the length of the input; false if it does not.
pub(super) fn compares_length(
    run: &Run,
    region: &PureRegion,
    operands: &[Value],
    taken: u32,
) -> bool {
    let Consumer::Branch { comparison, site, constant } = region.consumer else { return false };
    let Some(compared) = Comparison::of(comparison) else { return false };
    let Comparison { op, is_negated, is_swapped, is_of_difference } = compared;
    let Some(_entered) = state::enter(run) else { return false };
    let fixed = Value::concrete(constant);
    let label = match *operands {
        [a, b] if is_of_difference => lengths::compared_rest(run, op, a, b, constant, is_swapped),
        [a, b] if is_swapped => lengths::compared(run, op, 64, b, a),
        [a, b] => lengths::compared(run, op, 64, a, b),
        [a] if is_swapped => lengths::compared(run, op, 64, fixed, a),
        [a] => lengths::compared(run, op, 64, a, fixed),
        _ => None,
    };
    let Some(label) = label else { return false };
    let label = match lengths::split(label) {
        Some(length) if is_negated => length.negated().label(),
        _ => label,
    };
    events::branch(run, label, taken & 1 == 1, site);
    true
}
