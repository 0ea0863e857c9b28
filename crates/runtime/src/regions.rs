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
use crate::shapes::{self, answers, domains};
use crate::state::{self, STATE};
use crate::{events, os};
use crate::models::lexers;
use trace::{Label, Shaped};

/// What the instrumenter says of a region. Its address tells it from others.
#[repr(C)]
pub struct Region {
    /// How many labels of it are used elsewhere.
    results: u32,
    /// The number of the branch that ends it, the condition being the first result; [`NO_BRANCH`] if none does.
    branch: u32,
}

const NO_BRANCH: u32 = u32::MAX;

/// Labels that a region can have as results, in 32 bits each of a word.
const MOST_RESULTS: usize = 4;
const FOUND: u128 = 1 << 127;

/// Concrete operands, or shapes of further labels, beside the first label.
const MOST_OTHERS: usize = 2;

/// What flows into a region.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Key {
    region: *const Region,
    /// The run and the first label's shape.
    shape: u32,
    /// Which operands have labels, a bit each.
    labelled: u32,
    others: [u64; MOST_OTHERS],
}

#[derive(Clone, Copy)]
struct Memory {
    key: Key,
    /// Shapes; [`CONCRETE`] if the result is the same for all bytes.
    results: [u16; MOST_RESULTS],
    /// Which results are conditions, a bit each.
    conditions: u8,
    /// A property is checked in the region, which is an event of its own.
    is_checked: bool,
}

const CONCRETE: u16 = u16::MAX;
const MEMORIES: usize = 4096;
/// How often a region may be built in a row before its operands are taken to be new each time.
const MOST_BUILT: u8 = 16;

/// Outside of the program's memory, as the shapes are.
struct Store {
    memories: [Memory; MEMORIES],
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

impl Key {
    #[inline(always)]
    unsafe fn of<const N: usize>(region: &Region, operands: &[Value; N]) -> Option<(Key, u32)> {
        unsafe {
            let mut key = Key { region, shape: 0, labelled: 0, others: [0; MOST_OTHERS] };
            let mut place = None;
            let mut other = 0;
            for (i, operand) in operands.iter().enumerate() {
                let mut value = operand.value;
                if operand.label != 0 {
                    let at = shapes::split(operand.label)?;
                    key.labelled |= 1 << i;
                    match place {
                        None => {
                            place = Some(at.place);
                            key.shape = shapes::in_this_run(at.shape);
                            continue;
                        }
                        Some(place) if place != at.place => return None,
                        Some(_) => value = at.shape as u64,
                    }
                }
                if let Some(slot) = key.others.get_mut(other) {
                    *slot = value;
                }
                other += 1;
            }
            // Without a label there is nothing to look up, and with too many operands no room.
            if other > MOST_OTHERS { None } else { Some((key, place?)) }
        }
    }

    #[inline(always)]
    unsafe fn memory(&self) -> *mut Memory {
        let words = self.region as u64 ^ (self.shape as u64) << 40 ^ (self.labelled as u64) << 37;
        let words = words ^ self.others[0].rotate_left(17) ^ self.others[1].rotate_left(29);
        let mixed = words.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        unsafe { (&raw mut (*STORE).memories).cast::<Memory>().add((mixed >> 44) as usize % MEMORIES) }
    }

    #[inline(always)]
    unsafe fn built(&self) -> *mut u8 {
        unsafe { (&raw mut (*STORE).built).cast::<u8>().add((self.region as usize >> 3) % MEMORIES) }
    }
}

#[inline(always)]
unsafe fn recall<const N: usize>(region: &Region, operands: [Value; N], taken: u32) -> u128 {
    unsafe {
        if !PENDING.is_null() {
            abandon();
        }
        let Some((key, place)) = Key::of(region, &operands) else { return 0 };
        let Some(_entered) = state::enter() else { return 0 };
        if STATE.threaded || lexers::inside() {
            return 0;
        }
        let some_are_fixed = match domains::fixed(place) {
            domains::Fixed::None => false,
            domains::Fixed::Some if operands.iter().any(|operand| events::is_fixed(operand.label)) => return 0,
            domains::Fixed::Some => true,
            domains::Fixed::All => return FOUND,
        };
        let memory = &*key.memory();
        if memory.key != key {
            begin(&key);
            return 0;
        }
        if memory.is_checked {
            return 0;
        }
        *key.built() = 0;
        let results = present(memory, place, some_are_fixed, region.results);
        if region.branch != NO_BRANCH {
            events::branch(results as u32, taken & 1 == 1, region.branch);
        }
        FOUND | results
    }
}

/// The region is built now, and the results remembered, unless that was in vain too often.
#[cold]
unsafe fn begin(key: &Key) {
    unsafe {
        let built = key.built();
        *built = (*built).wrapping_add(1);
        if *built <= MOST_BUILT {
            (PENDING, IS_CHECKED) = (key.region, false);
            answers::build(true);
        }
    }
}

/// The labels that remembered results have at a place.
#[inline(always)]
unsafe fn present(memory: &Memory, place: u32, some_are_fixed: bool, count: u32) -> u128 {
    unsafe {
        let mut labels = 0;
        for (i, &shape) in memory.results.iter().enumerate().take(count as usize) {
            if shape == CONCRETE {
                continue;
            }
            let at = Shaped { shape: shape as u32, place };
            let is_decided = memory.conditions >> i & 1 == 1 && domains::decides(at);
            if !is_decided && !(some_are_fixed && domains::is_fixed(at)) {
                labels |= (shapes::join(at) as u128) << (32 * i);
            }
        }
        labels
    }
}

#[unsafe(no_mangle)]
#[cold]
pub unsafe extern "C" fn __tg_recall1(region: &Region, la: Label, a: u64, taken: u32) -> u128 {
    unsafe { recall(region, [Value::new(la, a)], taken) }
}

#[unsafe(no_mangle)]
#[cold]
pub unsafe extern "C" fn __tg_recall2(region: &Region, la: Label, a: u64, lb: Label, b: u64, taken: u32) -> u128 {
    unsafe { recall(region, [Value::new(la, a), Value::new(lb, b)], taken) }
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
    unsafe { recall(region, [Value::new(la, a), Value::new(lb, b), Value::new(lc, c)], taken) }
}

/// The region was built: `results` are its labels. Returns those that they are on this path.
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
    results: u128,
) -> u128 {
    unsafe {
        let is_pending = PENDING == region as *const Region;
        PENDING = core::ptr::null();
        if !is_pending {
            return results;
        }
        let Some(_entered) = state::enter() else { return results };
        answers::build(false);
        let noted = match [lb, lc].map(|label| label == Label::MAX) {
            [true, _] => Key::of(region, &[Value::new(la, a)]),
            [_, true] => Key::of(region, &[Value::new(la, a), Value::new(lb, b)]),
            _ => Key::of(region, &[Value::new(la, a), Value::new(lb, b), Value::new(lc, c)]),
        };
        let Some((key, place)) = noted else { return results };
        let Some(memory) = remembered(key, place, results) else { return results };
        *key.memory() = memory;
        present(&memory, place, true, region.results)
    }
}

/// `None` if a result is no shape at the place.
unsafe fn remembered(key: Key, place: u32, results: u128) -> Option<Memory> {
    unsafe {
        let is_checked = IS_CHECKED;
        let mut memory = Memory { key, results: [CONCRETE; MOST_RESULTS], conditions: 0, is_checked };
        for (i, shape) in memory.results.iter_mut().enumerate().take((*key.region).results as usize) {
            let label = (results >> (32 * i)) as Label;
            if label != 0 {
                let at = shapes::split(label).filter(|at| at.place == place)?;
                *shape = at.shape as u16;
                memory.conditions |= u8::from(shapes::bits(at) == 1) << i;
            }
        }
        Some(memory)
    }
}
