//! What a region of the program makes of a byte: looked up as a whole.
//!
//! A region is a group of pure instructions with few operands; the instrumenter says which. Where all of its labels are shapes at one
//! place, its results are shapes at that place, too, and the same ones whenever the same shapes and the same concrete values flow in. So
//! they are built once, without regard to the path, and remembered; what the path says about the place is applied to what is remembered.
//!
//! What a region ends with is a part of the question ([`endings`]).
//!
//! Instrumented code calls `__tg_recall1`, `2` or `3`, by the number of operands. Unless that finds something, it builds the expressions one by one, with
//! the labels that come back for its operands (those that the path fixes have none), and calls `__tg_note`.

pub mod endings;

use crate::build::Value;
use crate::models::lexers;
use crate::os;
use crate::shapes::{self, answers, domains, domains::Condition};
use crate::state::{self, STATE};
use trace::{Label, PureRegion, Shaped};

/// In place of the site of a branch where none ends a region.
const NO_BRANCH: u32 = u32::MAX;

pub(crate) const FOUND: u128 = 1 << 127;

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

#[derive(Clone, Copy)]
struct Memory<const OTHERS: usize> {
    key: Key<OTHERS>,
    /// Shapes; [`CONCRETE`] if the result is the same for all bytes.
    results: [u16; PureRegion::MAX_RESULTS],
    /// Which results are conditions that somebody else asks for, a bit each.
    conditions: u8,
    /// Which results may be fixed by the path although no operand is, a bit each: not what extends an operand.
    fixable: u8,
    /// A property is checked in the region, which is an event of its own.
    is_checked: bool,
    /// As the region says, which is in another line of the cache; [`NO_BRANCH`] if it has none.
    branch: u32,
}

/// What is remembered of regions with as many operands. What branches are on is apart, because most regions have none and a memory is to fit into a line of
/// the cache.
struct Memories<const OTHERS: usize> {
    memories: [Memory<OTHERS>; MEMORIES],
    conditions: [Condition; MEMORIES],
}

const CONCRETE: u16 = u16::MAX;
const MEMORIES: usize = 2048;
/// How often a region may be built in a row before its operands are taken to be new each time.
const MOST_BUILT: u8 = 16;

/// Outside of the program's memory, as the shapes are.
struct Store {
    questions: [endings::Question; MEMORIES],
    choices: [endings::Choice; MEMORIES],
    fetched: [endings::Fetched; MEMORIES],
    one: Memories<0>,
    two: Memories<1>,
    three: Memories<2>,
    /// How often regions were built since one was found again, by address.
    built: [u8; MEMORIES],
}

static mut STORE: *mut Store = core::ptr::null_mut();
/// The region that is being built in order to be remembered.
static mut PENDING: *const PureRegion = core::ptr::null();
static mut IS_CHECKED: bool = false;

/// Before the first run.
pub unsafe fn prepare() {
    unsafe {
        if STORE.is_null() {
            STORE = os::allocate(size_of::<Store>()).cast();
        }
    }
}

/// Forgets everything.
pub unsafe fn forget() {
    unsafe {
        if !STORE.is_null() {
            os::zero(STORE.cast(), size_of::<Store>());
        }
    }
}

/// Whether there is memory for it, without which no byte has shapes.
pub unsafe fn is_prepared() -> bool {
    unsafe { !STORE.is_null() }
}

/// What is being built will not be noted: a signal handler came between, or the run ends.
#[cold]
pub unsafe fn abandon() {
    unsafe {
        PENDING = core::ptr::null();
        answers::build(false);
    }
}

/// A check is about to be recorded that has this label; false if it says nothing on this path.
#[inline(always)]
pub unsafe fn may_check(violated: Label) -> bool {
    unsafe { PENDING.is_null() || may_check_pending(violated) }
}

#[cold]
unsafe fn may_check_pending(violated: Label) -> bool {
    unsafe {
        IS_CHECKED = true;
        shapes::split(violated).is_none_or(|at| !domains::is_fixed(at) && !domains::decides(at))
    }
}

impl<const OTHERS: usize> Key<OTHERS> {
    /// What flows in, and the place of all labels; no place if the path fixes all of them. `None` if there are several places, or labels that are
    /// no shapes. Operands that the path fixes lose their labels. There is one operand more than others.
    #[inline(always)]
    unsafe fn of<const N: usize>(
        region: &PureRegion,
        operands: &mut [Value; N],
    ) -> Option<(Key<OTHERS>, Option<u32>)> {
        unsafe {
            let (mut key, mut place) = (Key { region, shape: 0, labelled: 0, others: [0; OTHERS] }, None);
            let mut others = key.others.iter_mut();
            for (i, operand) in operands.iter_mut().enumerate() {
                let mut value = operand.value;
                if operand.label != 0 {
                    let at = shapes::split(operand.label)?;
                    if domains::is_fixed(at) {
                        operand.label = 0;
                    } else {
                        key.labelled |= 1 << i;
                        if place.is_none() {
                            (place, key.shape) = (Some(at.place), shapes::in_this_run(at.shape));
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
    }

    /// Word by word: compilers compare structures through memory.
    #[inline(always)]
    fn is(&self, other: &Key<OTHERS>) -> bool {
        let differ = self.region as u64 ^ other.region as u64;
        let differ = differ | (self.shape ^ other.shape) as u64 | (self.labelled ^ other.labelled) as u64;
        self.others.iter().zip(&other.others).fold(differ, |differ, (a, b)| differ | (a ^ b)) == 0
    }

    /// The place of what is remembered.
    #[inline(always)]
    fn number(&self) -> usize {
        let words = self.region as u64 ^ (self.shape as u64) << 40 ^ (self.labelled as u64) << 37;
        let words = self.others.iter().fold(words, |words, other| words.rotate_left(21) ^ other);
        let mixed = words.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        (mixed >> 44) as usize % MEMORIES
    }
}

#[inline(always)]
unsafe fn built(region: *const PureRegion) -> *mut u8 {
    unsafe { (&raw mut (*STORE).built).cast::<u8>().add((region as usize >> 3) % MEMORIES) }
}

/// What is returned where nothing is found: the labels of the operands to build with.
#[inline(always)]
fn unfound<const N: usize>(operands: &[Value; N]) -> u128 {
    operands.iter().rev().fold(0, |labels, operand| labels << 32 | operand.label as u128)
}

#[inline(always)]
unsafe fn recall<const N: usize, const OTHERS: usize>(
    region: &PureRegion,
    mut operands: [Value; N],
    memories: *mut Memories<OTHERS>,
    taken: u32,
) -> u128 {
    unsafe {
        if !PENDING.is_null() {
            abandon();
        }
        if STATE.threaded || lexers::inside() {
            return unfound(&operands);
        }
        let Some((key, place)) = Key::of(region, &mut operands) else {
            let is_recorded = endings::compares_length(region, &operands, taken);
            return if is_recorded { FOUND } else { unfound(&operands) };
        };
        let Some(place) = place else { return FOUND };
        let number = key.number();
        let memory = &*(&raw const (*memories).memories).cast::<Memory<OTHERS>>().add(number);
        if !key.is(&memory.key) {
            if may_be_built(built(region)) {
                begin(region);
            }
            return unfound(&operands);
        }
        if memory.is_checked {
            return unfound(&operands);
        }
        let Some(_entered) = state::enter() else { return unfound(&operands) };
        *built(region) = 0;
        let results = memory.present(place, domains::fixed(place) != domains::Fixed::None);
        if memory.branch != NO_BRANCH {
            let condition = &*(&raw const (*memories).conditions).cast::<Condition>().add(number);
            condition.branch(place, taken & 1 == 1, memory.branch);
        }
        FOUND | results
    }
}

/// False if a region with further operands was built in vain too often.
#[cold]
unsafe fn may_be_built(built: *mut u8) -> bool {
    unsafe {
        *built = (*built).wrapping_add(1);
        *built <= MOST_BUILT
    }
}

/// The region is built now, and the results remembered.
#[cold]
unsafe fn begin(region: *const PureRegion) {
    unsafe {
        (PENDING, IS_CHECKED) = (region, false);
        answers::build(true);
    }
}

impl<const OTHERS: usize> Memory<OTHERS> {
    /// The labels that the results have at a place.
    #[inline(always)]
    unsafe fn present(&self, place: u32, some_are_fixed: bool) -> u128 {
        unsafe {
            let low = self.label(0, place, some_are_fixed) | self.label(1, place, some_are_fixed) << 32;
            let mut high = 0;
            if self.results[2] != CONCRETE || self.results[3] != CONCRETE {
                high = self.label(2, place, some_are_fixed) | self.label(3, place, some_are_fixed) << 32;
            }
            low as u128 | (high as u128) << 64
        }
    }

    #[inline(always)]
    unsafe fn label(&self, i: usize, place: u32, some_are_fixed: bool) -> u64 {
        unsafe {
            let shape = self.results[i % PureRegion::MAX_RESULTS];
            if shape == CONCRETE {
                return 0;
            }
            let at = Shaped { shape: shape as u32, place };
            let is_decided = self.conditions >> i & 1 == 1 && domains::decides(at);
            let may_be_fixed = some_are_fixed && self.fixable >> i & 1 == 1;
            if is_decided || may_be_fixed && domains::is_fixed(at) { 0 } else { shapes::join(at) as u64 }
        }
    }

    /// `None` if a result is no shape at the place.
    unsafe fn new(key: Key<OTHERS>, place: u32, labels: u128) -> Option<Memory<OTHERS>> {
        unsafe {
            let (is_checked, region) = (IS_CHECKED, &*key.region);
            let (mut results, mut conditions, mut fixable) = ([CONCRETE; PureRegion::MAX_RESULTS], 0, 0);
            for (i, shape) in results.iter_mut().enumerate().take(region.results as usize) {
                let label = (labels >> (32 * i)) as Label;
                if label != 0 {
                    let at = shapes::split(label).filter(|at| at.place == place)?;
                    *shape = at.shape as u16;
                    conditions |= u8::from(shapes::bits(at) == 1) << i;
                    let extends =
                        shapes::extended(at) == shapes::extended(shapes::of_any_run(key.shape, place));
                    fixable |= u8::from(!extends) << i;
                }
            }
            let branch = region.ending.branch();
            if branch.is_some() {
                // The branch asks for itself.
                conditions &= !1;
            }
            let branch = branch.unwrap_or(NO_BRANCH);
            Some(Memory { key, results, conditions, fixable, is_checked, branch })
        }
    }

    /// The region was built with these labels: remembers them. Returns the labels that they are on this path.
    unsafe fn note<const N: usize>(
        region: &PureRegion,
        operands: [Value; N],
        memories: *mut Memories<OTHERS>,
        labels: u128,
    ) -> u128 {
        unsafe {
            let mut operands = operands;
            let noted = Key::of(region, &mut operands);
            let noted = noted.and_then(|(key, place)| Some((Memory::new(key, place?, labels)?, place?)));
            match noted {
                Some((memory, place)) => {
                    (*memories).keep(&memory);
                    memory.present(place, true)
                }
                None => labels,
            }
        }
    }
}

impl<const OTHERS: usize> Memories<OTHERS> {
    unsafe fn keep(&mut self, memory: &Memory<OTHERS>) {
        unsafe {
            let (number, region) = (memory.key.number(), &*memory.key.region);
            self.memories[number] = *memory;
            if region.ending.branch().is_some() {
                self.conditions[number] = match memory.results[0] {
                    CONCRETE => Condition::NONE,
                    shape => Condition::of(shape as u32),
                };
            }
        }
    }
}

#[unsafe(no_mangle)]
#[cold]
pub unsafe extern "C" fn __tg_recall1(region: &PureRegion, la: Label, a: u64, taken: u32) -> u128 {
    unsafe { recall(region, [Value::new(la, a)], &raw mut (*STORE).one, taken) }
}

#[unsafe(no_mangle)]
#[cold]
pub unsafe extern "C" fn __tg_recall2(
    region: &PureRegion,
    la: Label,
    a: u64,
    lb: Label,
    b: u64,
    taken: u32,
) -> u128 {
    unsafe { recall(region, [Value::new(la, a), Value::new(lb, b)], &raw mut (*STORE).two, taken) }
}

#[unsafe(no_mangle)]
#[cold]
pub unsafe extern "C" fn __tg_recall3(
    region: &PureRegion,
    la: Label,
    a: u64,
    lb: Label,
    b: u64,
    lc: Label,
    c: u64,
    taken: u32,
) -> u128 {
    unsafe {
        let operands = [Value::new(la, a), Value::new(lb, b), Value::new(lc, c)];
        recall(region, operands, &raw mut (*STORE).three, taken)
    }
}

/// The region was built: `labels` are its results. Returns those that they are on this path. Operands that it has not have the label [`Label::MAX`].
#[unsafe(no_mangle)]
#[cold]
pub unsafe extern "C" fn __tg_note(
    region: &PureRegion,
    la: Label,
    a: u64,
    lb: Label,
    b: u64,
    lc: Label,
    c: u64,
    labels: u128,
) -> u128 {
    unsafe {
        if !core::ptr::eq(PENDING, region) {
            return labels;
        }
        abandon();
        if !answers::is_for_all_places() {
            return labels;
        }
        let Some(_entered) = state::enter() else { return labels };
        if region.only_ends
            && let Some(branch) = region.ending.branch()
        {
            endings::note_question(region, branch, la, labels as Label);
            return labels;
        }
        let [a, b, c] = [Value::new(la, a), Value::new(lb, b), Value::new(lc, c)];
        match [lb, lc].map(|label| label == Label::MAX) {
            [true, _] => Memory::note(region, [a], &raw mut (*STORE).one, labels),
            [_, true] => Memory::note(region, [a, b], &raw mut (*STORE).two, labels),
            _ => Memory::note(region, [a, b, c], &raw mut (*STORE).three, labels),
        }
    }
}
