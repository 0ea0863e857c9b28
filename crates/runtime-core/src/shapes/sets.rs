//! Sets of bytes that a shape does not tell apart, kept as they were computed: those that have one
//! value, and those that a switch sends one way.

use crate::state::Run;
use core::cell::Cell;
use trace::{ByteSet, Shaped};

/// For which bytes shapes have the value that they have for a byte.
pub struct Alike([Cell<Same>; Alike::COUNT]);

#[derive(Clone, Copy)]
#[repr(align(64))]
struct Same {
    /// The run and the shape.
    shape: u32,
    byte: u8,
    bytes: ByteSet,
}

impl Alike {
    const COUNT: usize = 2048;
}

/// The bytes for which a shape has its present value.
#[inline(always)]
pub fn bytes_alike(run: &Run, at: Shaped) -> ByteSet {
    let (byte, shape) = (super::input(run, at.place), super::in_this_run(run, at.shape));
    let number = (at.shape as usize * 37 + byte as usize) % Alike::COUNT;
    let slot = &run.shapes.store().alike.0[number];
    let same = slot.get();
    if (same.shape, same.byte) == (shape, byte) {
        return same.bytes;
    }
    let values = run.shapes.vector(at.shape);
    let bytes = ByteSet::whose(values, |value| value == values[byte as usize]);
    slot.set(Same { shape, byte, bytes });
    bytes
}

/// Where a switch on a shape leads.
#[derive(Clone, Copy)]
pub struct Switched {
    /// The bytes that it sends there.
    pub set: ByteSet,
    /// The number of the case; that of all cases for the default.
    pub taken: u16,
    pub is_case: bool,
}

/// What switches on shapes do for bytes.
pub struct Switches {
    known: [Cell<Known>; Switches::COUNT],
    /// Where switches on shapes lead for all bytes.
    all: [All; Switches::ALL],
}

struct All {
    run: Cell<u32>,
    site: Cell<u32>,
    shape: Cell<u32>,
    taken: [Cell<u16>; 256],
}

#[derive(Clone, Copy)]
#[repr(align(64))]
struct Known {
    run: u32,
    site: u32,
    shape: u32,
    byte: u8,
    /// What the shape is for the byte.
    value: u64,
    to: Switched,
}

const _: () = assert!(size_of::<Known>() == 64, "a line of the cache");

impl Switches {
    const COUNT: usize = 2048;
    const ALL: usize = 128;
}

/// The number of the case that a switch takes for a value.
pub fn case_of(cases: &[u64], value: u64) -> u32 {
    cases.iter().position(|case| *case == value).unwrap_or(cases.len()) as u32
}

/// Where a switch on a shape leads, and what the shape is; `None` if it has too many cases.
#[inline(always)]
pub fn switched(run: &Run, at: Shaped, cases: &[u64], site: u32) -> Option<(Switched, u64)> {
    if cases.len() >= u16::MAX as usize {
        return None;
    }
    let byte = super::input(run, at.place);
    let key = (site as u64) << 20 ^ (at.shape as u64) << 8 ^ byte as u64;
    let mixed = key.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40;
    let slot = &run.shapes.store().switches.known[mixed as usize % Switches::COUNT];
    let mut known = slot.get();
    let wanted = (run.shapes.number(), site, at.shape, byte);
    if (known.run, known.site, known.shape, known.byte) != wanted {
        known = Known {
            run: wanted.0,
            site,
            shape: at.shape,
            byte,
            value: run.shapes.vector(at.shape)[byte as usize],
            to: switched_anew(run, at.shape, byte, cases, site),
        };
        slot.set(known);
    }
    Some((known.to, known.value))
}

#[cold]
fn switched_anew(run: &Run, shape: u32, byte: u8, cases: &[u64], site: u32) -> Switched {
    let all = for_all_bytes(run, shape, cases, site);
    let taken = all[byte as usize].get();
    let mut set = ByteSet::EMPTY;
    for (other, way) in (0..=255u8).zip(all) {
        if way.get() == taken {
            set.insert(other);
        }
    }
    Switched { set, taken, is_case: (taken as usize) < cases.len() }
}

/// A switch has hundreds of cases at times, so that it is asked once for all bytes.
fn for_all_bytes<'a>(run: &'a Run, shape: u32, cases: &[u64], site: u32) -> &'a [Cell<u16>; 256] {
    let number = (site as usize * 31 + shape as usize) % Switches::ALL;
    let (all, now) = (&run.shapes.store().switches.all[number], run.shapes.number());
    if (all.run.get(), all.site.get(), all.shape.get()) != (now, site, shape) {
        all.run.set(now);
        all.site.set(site);
        all.shape.set(shape);
        for (taken, value) in all.taken.iter().zip(run.shapes.vector(shape)) {
            taken.set(case_of(cases, *value) as u16);
        }
    }
    &all.taken
}
