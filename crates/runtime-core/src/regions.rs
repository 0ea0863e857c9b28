//! Memo tables: what a region of the program makes of a byte, looked up as a whole.
//!
//! A region is a group of pure instructions with few operands; the instrumenter says which. Where
//! all of its labels are shapes at one place, its results are shapes at that place, too, and the
//! same ones whenever the same shapes and the same concrete values flow in. So they are built once,
//! without regard to the path, and remembered; what the path says about the place is applied to
//! what is remembered ([`crate::facts`]).
//!
//! What a region ends with is a part of what is looked up ([`consumers`]).
//!
//! Instrumented code calls `__tg_lookup1`, `2` or `3`, by the number of operands. Unless that finds
//! something, it builds the expressions one by one, with the labels that come back for its operands
//! (those that the path fixes have none), and calls `__tg_note`.

pub mod consumers;

use crate::build::Value;
use crate::facts::domains::{self, Condition, Fixed};
use crate::shapes;
use crate::state::{self, Run};
use crate::{events, lexer, os};
use core::cell::Cell;
use core::ptr::{null, null_mut};
use trace::{Label, PureRegion, Shaped};

/// In place of the site of a branch where none ends a region.
const NO_BRANCH: u32 = u32::MAX;

pub(crate) const FOUND: u128 = 1 << 127;

pub struct Regions {
    /// Outside of the program's memory, as the shapes are.
    store: Cell<*mut Store>,
    /// The region that is being built in order to be remembered.
    pending: Cell<*const PureRegion>,
    is_checked: Cell<bool>,
}

/// What flows into a region with `OTHERS` operands beside the first that has a label.
#[derive(Clone, Copy)]
struct Key<const OTHERS: usize> {
    region: *const PureRegion,
    /// The run and the first label's shape.
    shape: u32,
    /// Which operands have labels, a bit each.
    labelled: u32,
    /// Values, or the shapes of labels.
    others: [u64; OTHERS],
}

/// What is remembered of a region for what flows in.
#[derive(Clone, Copy)]
struct Memo<const OTHERS: usize> {
    key: Key<OTHERS>,
    /// Shapes; [`CONCRETE`] if the result is the same for all bytes.
    results: [u16; PureRegion::MAX_RESULTS],
    /// Which results are conditions that somebody else asks for, a bit each.
    conditions: u8,
    /// Which results may be fixed by the path although no operand is, a bit each: not what extends
    /// an operand.
    fixable: u8,
    /// A property is checked in the region, which is an event of its own.
    is_checked: bool,
    /// As the region says, which is in another line of the cache; [`NO_BRANCH`] if it has none.
    branch: u32,
}

/// The memo table of regions with as many operands. What branches are on is apart, because most
/// regions have none and a memo is to fit into a line of the cache.
struct MemoTable<const OTHERS: usize> {
    memos: [Cell<Memo<OTHERS>>; MEMOS],
    conditions: [Cell<Condition>; MEMOS],
}

const CONCRETE: u16 = u16::MAX;
const MEMOS: usize = 2048;
/// How often a region may be built in a row before its operands are taken to be new each time.
const MAX_BUILT: u8 = 16;

/// All zeros is an empty store.
struct Store {
    branches: [Cell<consumers::Branch>; MEMOS],
    switches: [Cell<consumers::Switch>; MEMOS],
    loads: [Cell<consumers::Load>; MEMOS],
    one: MemoTable<0>,
    two: MemoTable<1>,
    three: MemoTable<2>,
    /// How often regions were built since one was found again, by address.
    built: [Cell<u8>; MEMOS],
}

/// What is kept in a slot of a table, in place: copies of a line of the cache cost.
#[inline(always)]
fn peek<T: Copy>(slot: &Cell<T>) -> &T {
    // SAFETY: slots are written only by functions that hold no such reference, and signal handlers
    // do not get in while the guard is held.
    unsafe { &*slot.as_ptr() }
}

impl Regions {
    pub const NEW: Regions = Regions {
        store: Cell::new(null_mut()),
        pending: Cell::new(null()),
        is_checked: Cell::new(false),
    };

    /// Before the first run.
    pub fn prepare(&self) {
        if self.store.get().is_null() {
            self.store.set(os::allocate(size_of::<Store>()).cast());
        }
    }

    /// Whether there is memory for it, without which no byte has shapes.
    pub fn is_prepared(&self) -> bool {
        !self.store.get().is_null()
    }

    /// Forgets everything.
    pub fn reset(&self) {
        if self.is_prepared() {
            // SAFETY: allocated with this size; no reference to a slot is alive.
            unsafe { os::zero(self.store.get().cast(), size_of::<Store>()) };
        }
    }

    #[inline(always)]
    fn store(&self) -> &'static Store {
        // SAFETY: labels of shapes exist only in runs that found the store, which is never given
        // back; without one nothing is looked up.
        unsafe { &*self.store.get() }
    }

    #[inline(always)]
    fn is_building(&self) -> bool {
        !self.pending.get().is_null()
    }
}

/// What is being built will not be noted: a signal handler came between, or the run ends.
#[cold]
pub fn abandon(run: &Run) {
    run.regions.pending.set(null());
    run.shapes.building.stop();
}

/// A check is about to be recorded that has this label; false if it says nothing on this path.
#[inline(always)]
pub fn may_check(run: &Run, violated: Label) -> bool {
    !run.regions.is_building() || may_check_pending(run, violated)
}

#[cold]
fn may_check_pending(run: &Run, violated: Label) -> bool {
    run.regions.is_checked.set(true);
    let is_implied = |at| domains::is_fixed(run, at) || domains::decides(run, at);
    shapes::split(run, violated).is_none_or(|at| !is_implied(at))
}

impl<const OTHERS: usize> Key<OTHERS> {
    /// What flows in, and the place of all labels; no place if the path fixes all of them. `None`
    /// if there are several places, or labels that are no shapes. Operands that the path fixes lose
    /// their labels. There is one operand more than others.
    #[inline(always)]
    fn of<const N: usize>(
        run: &Run,
        region: &PureRegion,
        operands: &mut [Value; N],
    ) -> Option<(Key<OTHERS>, Option<u32>)> {
        let (mut key, mut place) =
            (Key { region, shape: 0, labelled: 0, others: [0; OTHERS] }, None);
        let mut others = key.others.iter_mut();
        for (i, operand) in operands.iter_mut().enumerate() {
            let mut value = operand.value;
            if operand.label != 0 {
                let at = shapes::split(run, operand.label)?;
                if domains::is_fixed(run, at) {
                    operand.label = 0;
                } else {
                    key.labelled |= 1 << i;
                    if place.is_none() {
                        (place, key.shape) = (Some(at.place), shapes::in_this_run(run, at.shape));
                        continue;
                    }
                    if place != Some(at.place) {
                        return None;
                    }
                    value = at.shape as u64;
                }
            }
            if let Some(other) = others.next() {
                *other = value;
            }
        }
        Some((key, place))
    }

    /// Word by word: compilers compare structures through memory.
    #[inline(always)]
    fn is(&self, other: &Key<OTHERS>) -> bool {
        let differ = self.region as u64 ^ other.region as u64;
        let differ =
            differ | (self.shape ^ other.shape) as u64 | (self.labelled ^ other.labelled) as u64;
        self.others.iter().zip(&other.others).fold(differ, |differ, (a, b)| differ | (a ^ b)) == 0
    }

    /// The slot of what is remembered.
    #[inline(always)]
    fn slot(&self) -> usize {
        let words = self.region as u64 ^ (self.shape as u64) << 40 ^ (self.labelled as u64) << 37;
        let words = self.others.iter().fold(words, |words, other| words.rotate_left(21) ^ other);
        let mixed = words.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        (mixed >> 44) as usize % MEMOS
    }
}

#[inline(always)]
fn times_built(run: &Run, region: *const PureRegion) -> &'static Cell<u8> {
    &run.regions.store().built[(region as usize >> 3) % MEMOS]
}

/// What is returned where nothing is found: the labels of the operands to build with.
#[inline(always)]
fn not_found<const N: usize>(operands: &[Value; N]) -> u128 {
    operands.iter().rev().fold(0, |labels, operand| labels << 32 | operand.label as u128)
}

#[inline(always)]
fn look_up<const N: usize, const OTHERS: usize>(
    run: &Run,
    region: &PureRegion,
    mut operands: [Value; N],
    table: impl FnOnce(&'static Store) -> &'static MemoTable<OTHERS>,
    taken: u32,
) -> u128 {
    if run.regions.is_building() {
        abandon(run);
    }
    if run.threaded.get() || lexer::inside(run) {
        return not_found(&operands);
    }
    let Some((key, place)) = Key::of(run, region, &mut operands) else {
        let is_recorded = consumers::compares_length(run, region, &operands, taken);
        return if is_recorded { FOUND } else { not_found(&operands) };
    };
    let Some(place) = place else { return FOUND };
    let (table, slot) = (table(run.regions.store()), key.slot());
    let memo = peek(&table.memos[slot]);
    if !key.is(&memo.key) {
        if may_be_built(times_built(run, region)) {
            begin(run, region);
        }
        return not_found(&operands);
    }
    if memo.is_checked {
        return not_found(&operands);
    }
    let Some(_entered) = state::enter(run) else { return not_found(&operands) };
    times_built(run, region).set(0);
    let results = memo.present(run, place, domains::fixed(run, place) != Fixed::None);
    if memo.branch != NO_BRANCH {
        let condition = peek(&table.conditions[slot]);
        events::branch_on_known(run, condition, place, taken & 1 == 1, memo.branch);
    }
    FOUND | results
}

/// False if a region with further operands was built in vain too often.
#[cold]
fn may_be_built(built: &Cell<u8>) -> bool {
    built.update(|times| times.wrapping_add(1));
    built.get() <= MAX_BUILT
}

/// The region is built now, and the results remembered.
#[cold]
fn begin(run: &Run, region: &PureRegion) {
    run.regions.pending.set(region);
    run.regions.is_checked.set(false);
    run.shapes.building.start();
}

impl<const OTHERS: usize> Memo<OTHERS> {
    /// The labels that the results have at a place.
    #[inline(always)]
    fn present(&self, run: &Run, place: u32, some_are_fixed: bool) -> u128 {
        let label = |i| self.label(run, i, place, some_are_fixed);
        let low = label(0) | label(1) << 32;
        let mut high = 0;
        if self.results[2] != CONCRETE || self.results[3] != CONCRETE {
            high = label(2) | label(3) << 32;
        }
        low as u128 | (high as u128) << 64
    }

    #[inline(always)]
    fn label(&self, run: &Run, i: usize, place: u32, some_are_fixed: bool) -> u64 {
        let shape = self.results[i % PureRegion::MAX_RESULTS];
        if shape == CONCRETE {
            return 0;
        }
        let at = Shaped { shape: shape as u32, place };
        let is_decided = self.conditions >> i & 1 == 1 && domains::decides(run, at);
        let may_be_fixed = some_are_fixed && self.fixable >> i & 1 == 1;
        let is_implied = is_decided || may_be_fixed && domains::is_fixed(run, at);
        if is_implied { 0 } else { shapes::join(run, at) as u64 }
    }

    /// `None` if a result is no shape at the place.
    fn new(
        run: &Run,
        region: &PureRegion,
        key: Key<OTHERS>,
        place: u32,
        labels: u128,
    ) -> Option<Memo<OTHERS>> {
        let is_checked = run.regions.is_checked.get();
        let (mut results, mut conditions, mut fixable) =
            ([CONCRETE; PureRegion::MAX_RESULTS], 0, 0);
        for (i, shape) in results.iter_mut().enumerate().take(region.results as usize) {
            let label = (labels >> (32 * i)) as Label;
            if label != 0 {
                let at = shapes::split(run, label).filter(|at| at.place == place)?;
                *shape = at.shape as u16;
                conditions |= u8::from(shapes::bits(run, at) == 1) << i;
                let operand = shapes::of_any_run(key.shape, place);
                let extends = shapes::extended(run, at) == shapes::extended(run, operand);
                fixable |= u8::from(!extends) << i;
            }
        }
        let branch = region.consumer.branch();
        if branch.is_some() {
            // The branch asks for itself.
            conditions &= !1;
        }
        let branch = branch.unwrap_or(NO_BRANCH);
        Some(Memo { key, results, conditions, fixable, is_checked, branch })
    }
}

impl<const OTHERS: usize> MemoTable<OTHERS> {
    /// The region was built with these labels: remembers them. Returns the labels that they are on
    /// this path.
    fn note<const N: usize>(
        &self,
        run: &Run,
        region: &PureRegion,
        mut operands: [Value; N],
        labels: u128,
    ) -> u128 {
        let noted = Key::of(run, region, &mut operands)
            .and_then(|(key, place)| Some((Memo::new(run, region, key, place?, labels)?, place?)));
        match noted {
            Some((memo, place)) => {
                self.keep(run, region, memo);
                memo.present(run, place, true)
            }
            None => labels,
        }
    }

    fn keep(&self, run: &Run, region: &PureRegion, memo: Memo<OTHERS>) {
        let slot = memo.key.slot();
        self.memos[slot].set(memo);
        if region.consumer.branch().is_some() {
            self.conditions[slot].set(match memo.results[0] {
                CONCRETE => Condition::NONE,
                shape => Condition::of(run, shape as u32),
            });
        }
    }
}

#[unsafe(no_mangle)]
#[cold]
pub extern "C" fn __tg_lookup1(region: &PureRegion, la: Label, a: u64, taken: u32) -> u128 {
    look_up(Run::current(), region, [Value::new(la, a)], |store| &store.one, taken)
}

#[unsafe(no_mangle)]
#[cold]
pub extern "C" fn __tg_lookup2(
    region: &PureRegion,
    la: Label,
    a: u64,
    lb: Label,
    b: u64,
    taken: u32,
) -> u128 {
    let operands = [Value::new(la, a), Value::new(lb, b)];
    look_up(Run::current(), region, operands, |store| &store.two, taken)
}

#[unsafe(no_mangle)]
#[cold]
pub extern "C" fn __tg_lookup3(
    region: &PureRegion,
    la: Label,
    a: u64,
    lb: Label,
    b: u64,
    lc: Label,
    c: u64,
    taken: u32,
) -> u128 {
    let operands = [Value::new(la, a), Value::new(lb, b), Value::new(lc, c)];
    look_up(Run::current(), region, operands, |store| &store.three, taken)
}

/// The region was built: `labels` are its results. Returns those that they are on this path.
/// Operands that it has not have the label [`Label::MAX`].
#[unsafe(no_mangle)]
#[cold]
pub extern "C" fn __tg_note(
    region: &PureRegion,
    la: Label,
    a: u64,
    lb: Label,
    b: u64,
    lc: Label,
    c: u64,
    labels: u128,
) -> u128 {
    let run = Run::current();
    if !core::ptr::eq(run.regions.pending.get(), region) {
        return labels;
    }
    abandon(run);
    if !run.shapes.building.is_for_all_places() {
        return labels;
    }
    let Some(_entered) = state::enter(run) else { return labels };
    if region.only_for_consumer
        && let Some(branch) = region.consumer.branch()
    {
        consumers::note_branch(run, region, branch, la, labels as Label);
        return labels;
    }
    let ([a, b, c], store) =
        ([Value::new(la, a), Value::new(lb, b), Value::new(lc, c)], run.regions.store());
    match [lb, lc].map(|label| label == Label::MAX) {
        [true, _] => store.one.note(run, region, [a], labels),
        [_, true] => store.two.note(run, region, [a, b], labels),
        _ => store.three.note(run, region, [a, b, c], labels),
    }
}
