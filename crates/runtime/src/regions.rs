//! What a region of the program makes of a byte: looked up as a whole.
//!
//! A region is a group of pure instructions with few operands; the instrumenter says which. Where all of its labels are shapes at one
//! place, its results are shapes at that place, too, and the same ones whenever the same shapes and the same concrete values flow in. So
//! they are built once, without regard to the path, and remembered; what the path says about the place is applied to what is remembered. A branch at
//! the end of the region is part of the lookup.
//!
//! Instrumented code calls `__tg_recall1`, `2` or `3`, by the number of operands. Unless that finds something, it builds the expressions one by one
//! and calls `__tg_note`.

use crate::build::Value;
use crate::models::lexers;
use crate::shapes::{self, answers, domains, domains::Condition, reads};
use crate::state::{self, STATE};
use crate::{address, budget, events, lengths, os};
use trace::{Comparison, Label, Shaped};

/// What the instrumenter says of a region. Its address tells it from others.
#[repr(C)]
pub struct Region {
    /// How many labels of it are used elsewhere.
    pub(crate) results: u32,
    /// The number of the branch that ends it, the condition being the first result; [`NO_BRANCH`] if none does.
    pub(crate) branch: u32,
    /// Not 0 if nobody but the branch, switch or load at its end wants a result: see [`__tg_ask`].
    pub(crate) only_ends: u32,
    /// What the condition is, if it is a comparison that a length may have a part in: [`trace::comparison`], 0 if it is none.
    pub(crate) comparison: u32,
    /// What is compared with; or the number of the switch that ends the region; or that of a load, above the bytes that it loads.
    pub(crate) constant: u64,
}

pub(crate) const NO_BRANCH: u32 = u32::MAX;

/// Labels that a region can have as results, in 32 bits each of a word.
const MOST_RESULTS: usize = 4;
pub(crate) const FOUND: u128 = 1 << 127;

/// What flows into a region with `OTHERS` operands beside the first that has a label.
#[derive(Clone, Copy)]
struct Key<const OTHERS: usize> {
    region: *const Region,
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
    results: [u16; MOST_RESULTS],
    /// Which results are conditions that somebody else asks for, a bit each.
    conditions: u8,
    /// A property is checked in the region, which is an event of its own.
    is_checked: bool,
}

/// What is remembered of regions with as many operands. What branches are on is apart, because most regions have none and a memory is to fit into a line of
/// the cache.
struct Memories<const OTHERS: usize> {
    memories: [Memory<OTHERS>; MEMORIES],
    conditions: [Condition; MEMORIES],
}

/// What is remembered of a region with one operand that nothing but its branch wants.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Question {
    region: *const Region,
    /// The run and the label's shape.
    shape: u32,
    is_checked: bool,
    condition: Condition,
}

const _: () = assert!(size_of::<Question>() == 64, "a line of the cache");

const CONCRETE: u16 = u16::MAX;
const MEMORIES: usize = 2048;
/// How often a region may be built in a row before its operands are taken to be new each time.
const MOST_BUILT: u8 = 16;

/// Outside of the program's memory, as the shapes are.
struct Store {
    questions: [Question; MEMORIES],
    one: Memories<0>,
    two: Memories<1>,
    three: Memories<2>,
    /// How often regions were built since one was found again, by address.
    built: [u8; MEMORIES],
}

static mut STORE: *mut Store = core::ptr::null_mut();
/// The region that is being built in order to be remembered.
static mut PENDING: *const Region = core::ptr::null();
static mut IS_CHECKED: bool = false;

/// Before the first run.
pub unsafe fn prepare() {
    unsafe {
        if STORE.is_null() {
            STORE = os::allocate(size_of::<Store>()).cast();
        }
    }
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
    /// What flows in, and the place of all labels. `None` if there are several places, or none. There is one operand more than others.
    #[inline(always)]
    unsafe fn of<const N: usize>(region: &Region, operands: &[Value; N]) -> Option<(Key<OTHERS>, u32)> {
        unsafe {
            let (mut key, mut place) = (Key { region, shape: 0, labelled: 0, others: [0; OTHERS] }, None);
            let mut others = key.others.iter_mut();
            for (i, operand) in operands.iter().enumerate() {
                let mut value = operand.value;
                if operand.label != 0 {
                    let at = shapes::split(operand.label)?;
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
                if let Some(other) = others.next() {
                    *other = value;
                }
            }
            Some((key, place?))
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
unsafe fn built(region: *const Region) -> *mut u8 {
    unsafe { (&raw mut (*STORE).built).cast::<u8>().add((region as usize >> 3) % MEMORIES) }
}

#[inline(always)]
unsafe fn recall<const N: usize, const OTHERS: usize>(
    region: &Region,
    operands: [Value; N],
    memories: *mut Memories<OTHERS>,
    taken: u32,
) -> u128 {
    unsafe {
        if !PENDING.is_null() {
            abandon();
        }
        let Some((key, place)) = Key::of(region, &operands) else {
            return if compares_length(region, &operands, taken) { FOUND } else { 0 };
        };
        if STATE.threaded || lexers::inside() {
            return 0;
        }
        let some_are_fixed = match domains::fixed(place) {
            domains::Fixed::None => false,
            domains::Fixed::Some if operands.iter().any(|operand| events::is_fixed(operand.label)) => {
                return 0;
            }
            domains::Fixed::Some => true,
            domains::Fixed::All => return FOUND,
        };
        let number = key.number();
        let memory = &*(&raw const (*memories).memories).cast::<Memory<OTHERS>>().add(number);
        if !key.is(&memory.key) {
            begin(region, built(region));
            return 0;
        }
        if memory.is_checked {
            return 0;
        }
        let Some(_entered) = state::enter() else { return 0 };
        *built(region) = 0;
        let results = memory.present(place, some_are_fixed);
        if region.branch != NO_BRANCH {
            let condition = &*(&raw const (*memories).conditions).cast::<Condition>().add(number);
            condition.branch(place, some_are_fixed, taken & 1 == 1, region.branch);
        }
        FOUND | results
    }
}

/// Records the branch of a region that compares the length of the input; false if it does not.
unsafe fn compares_length(region: &Region, operands: &[Value], taken: u32) -> bool {
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
        events::branch(label, (taken & 1 == 1) != is_negated, region.branch);
        true
    }
}

/// The region is built now, and the results remembered, unless that was in vain too often.
#[cold]
unsafe fn begin(region: *const Region, built: *mut u8) {
    unsafe {
        *built = (*built).wrapping_add(1);
        if *built <= MOST_BUILT {
            (PENDING, IS_CHECKED) = (region, false);
            answers::build(true);
        }
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
            let shape = self.results[i % MOST_RESULTS];
            if shape == CONCRETE {
                return 0;
            }
            let at = Shaped { shape: shape as u32, place };
            let is_decided = self.conditions >> i & 1 == 1 && domains::decides(at);
            if is_decided || some_are_fixed && domains::is_fixed(at) { 0 } else { shapes::join(at) as u64 }
        }
    }

    /// `None` if a result is no shape at the place.
    unsafe fn new(key: Key<OTHERS>, place: u32, labels: u128) -> Option<Memory<OTHERS>> {
        unsafe {
            let (is_checked, region) = (IS_CHECKED, &*key.region);
            let (mut results, mut conditions) = ([CONCRETE; MOST_RESULTS], 0);
            for (i, shape) in results.iter_mut().enumerate().take(region.results as usize) {
                let label = (labels >> (32 * i)) as Label;
                if label != 0 {
                    let at = shapes::split(label).filter(|at| at.place == place)?;
                    *shape = at.shape as u16;
                    conditions |= u8::from(shapes::bits(at) == 1) << i;
                }
            }
            if region.branch != NO_BRANCH {
                // The branch asks for itself.
                conditions &= !1;
            }
            Some(Memory { key, results, conditions, is_checked })
        }
    }

    /// The region was built with these labels: remembers them. Returns the labels that they are on this path.
    unsafe fn note<const N: usize>(
        region: &Region,
        operands: [Value; N],
        memories: *mut Memories<OTHERS>,
        labels: u128,
    ) -> u128 {
        unsafe {
            let noted = Key::of(region, &operands);
            let noted = noted.and_then(|(key, place)| Some((Memory::new(key, place, labels)?, place)));
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
            if region.branch != NO_BRANCH {
                self.conditions[number] = match memory.results[0] {
                    CONCRETE => Condition::NONE,
                    shape => Condition::of(shape as u32),
                };
            }
        }
    }
}

unsafe fn question(region: &Region, shape: u32) -> *mut Question {
    unsafe {
        let number = (region as *const Region as usize >> 3) ^ (shape as usize & 0xFF) << 3;
        (&raw mut (*STORE).questions).cast::<Question>().add(number % MEMORIES)
    }
}

/// As [`__tg_recall1`] for a region that nothing but its branch wants: 1 if the branch is recorded, or needs not be.
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
        if !(some_are_fixed && domains::is_fixed(at)) {
            question.condition.branch(at.place, some_are_fixed, taken & 1 == 1, region.branch);
        }
        1
    }
}

/// As [`__tg_ask`], the region being one that nothing but a switch wants.
#[unsafe(no_mangle)]
#[cold]
pub unsafe extern "C" fn __tg_choose(region: &Region, label: Label, cases: *const u64, count: u32) -> u32 {
    unsafe {
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

/// As [`__tg_recall1`] for a region that nothing but a load wants, at its result.
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
unsafe fn note_question(region: &Region, operand: Label, label: Label) -> Option<()> {
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

#[unsafe(no_mangle)]
#[cold]
pub unsafe extern "C" fn __tg_recall1(region: &Region, la: Label, a: u64, taken: u32) -> u128 {
    unsafe { recall(region, [Value::new(la, a)], &raw mut (*STORE).one, taken) }
}

#[unsafe(no_mangle)]
#[cold]
pub unsafe extern "C" fn __tg_recall2(
    region: &Region,
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
    region: &Region,
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
    region: &Region,
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
        let Some(_entered) = state::enter() else { return labels };
        if region.only_ends != 0 && region.branch != NO_BRANCH {
            note_question(region, la, labels as Label);
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
