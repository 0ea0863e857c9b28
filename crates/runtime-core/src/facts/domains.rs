//! Which values each byte of the input can have on this path: what its branches and switches leave.
//!
//! Lexers ask each character a dozen questions of which most are decided by those before.

use super::fixed_where_it_holds;
use crate::shapes::{self, Switched};
use crate::state::Run;
use crate::{lexer, os};
use core::cell::Cell;
use core::ptr::null_mut;
use trace::{ByteSet, Label, Shaped};

pub struct Domains {
    /// The domains, a byte's each; null if there is no memory for them.
    domains: Cell<*mut ByteSet>,
    /// What the path says of the byte functions at each place.
    fixed: Cell<*mut Fixed>,
    /// A bit for each label of a byte function, which is set if the label was recorded, and one if
    /// it is fixed: [`MARKED`] in each word, above them the number of the run that they belong to.
    /// So nothing has to be undone between runs, which would cost a page fault for each page that
    /// the next run comes to.
    marks: [Cell<*mut u64>; 2],
    /// How many bytes there is memory for.
    max: Cell<usize>,
}

const MARKED: u32 = 32;
const MARKS_SIZE: usize = (trace::SHAPED / MARKED) as usize * size_of::<u64>();

#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Fixed {
    None,
    /// Those that are marked.
    Some,
    /// The byte has one value.
    All,
}

#[derive(Clone, Copy)]
pub enum Mark {
    Recorded,
    Fixed,
}

impl Domains {
    pub const NEW: Domains = Domains {
        domains: Cell::new(null_mut()),
        fixed: Cell::new(null_mut()),
        marks: [const { Cell::new(null_mut()) }; 2],
        max: Cell::new(0),
    };

    /// Before the first run.
    pub fn prepare(&self, max_input: usize) {
        self.domains.set(os::allocate(max_input * size_of::<ByteSet>()).cast());
        self.fixed.set(os::allocate(max_input).cast());
        self.marks.iter().for_each(|marks| marks.set(os::allocate(MARKS_SIZE).cast()));
        self.max.set(max_input);
    }

    /// A run begins: every byte can have all values. False if there is no memory for it.
    pub fn start(&self, len: u32) -> bool {
        let (len, domains, fixed) = (len as usize, self.domains.get(), self.fixed.get());
        let is_missing = self.marks.iter().any(|marks| marks.get().is_null());
        if len > self.max.get() || domains.is_null() || fixed.is_null() || is_missing {
            return false;
        }
        // SAFETY: both have room for `max` bytes of input; 0 is `Fixed::None`.
        unsafe {
            os::memset(domains.cast(), 0xFF, len * size_of::<ByteSet>());
            os::memset(fixed.cast(), 0, len);
        }
        true
    }

    /// Numbers of runs begin anew.
    pub fn reset_marks(&self) {
        for marks in &self.marks {
            // SAFETY: allocated with this size before the first run.
            unsafe { os::zero(marks.get().cast(), MARKS_SIZE) };
        }
    }

    /// The domain of a byte that has byte functions.
    #[inline(always)]
    fn of(&self, place: u32) -> &Cell<[u64; 4]> {
        // SAFETY: places of byte functions are below the length that the run began with, for which
        // there is memory; a byte set is its four words.
        unsafe { &*self.domains.get().add(place as usize).cast() }
    }

    #[inline(always)]
    fn fixed_at(&self, place: u32) -> &Cell<Fixed> {
        // SAFETY: as above.
        unsafe { &*self.fixed.get().add(place as usize).cast() }
    }

    /// The word that holds a mark, and the mark.
    #[inline(always)]
    fn word(&self, run: &Run, kind: Mark, at: Shaped) -> (&Cell<u64>, u64) {
        let index = run.shapes.places().label(at.shape, at.place) ^ trace::SHAPED;
        // SAFETY: there is a bit for each label of a byte function.
        let word =
            unsafe { &*self.marks[kind as usize].get().add((index / MARKED) as usize).cast() };
        (word, 1 << (index % MARKED))
    }
}

const _: () = assert!(size_of::<ByteSet>() == size_of::<[u64; 4]>());

/// What the path says of the byte functions at a place.
#[inline(always)]
pub fn fixed(run: &Run, place: u32) -> Fixed {
    run.facts.domains.fixed_at(place).get()
}

/// Whether what is known of the byte decides the condition.
#[inline(always)]
pub fn decides(run: &Run, at: Shaped) -> bool {
    let (domain, ByteSet(holds)) =
        (run.facts.domains.of(at.place).get(), shapes::holds(run, at.shape));
    // Word by word: compilers compare arrays through memory.
    let (mut inside, mut outside) = (0, 0);
    for (domain, holds) in domain.iter().zip(holds) {
        inside |= domain & holds;
        outside |= domain & !holds;
    }
    (inside == 0 || outside == 0) && !lexer::inside(run)
}

/// Whether the path says that a label is a byte of the input which does not have this value.
#[inline(always)]
pub fn excludes(run: &Run, label: Label, value: u8) -> bool {
    let place = match shapes::split(run, label) {
        Some(Shaped { shape: shapes::BYTE, place }) if !lexer::inside(run) => place,
        _ => return false,
    };
    let [word, bit] = [value / 64, value % 64];
    run.facts.domains.of(place).get()[word as usize] >> bit & 1 == 0
}

/// A condition of one byte, and what a branch on it teaches at any place.
#[derive(Clone, Copy)]
pub struct Condition {
    /// The bytes for which it holds.
    holds: ByteSet,
    /// Without its negations.
    shape: u16,
    is_negated: bool,
    /// What is fixed where it holds, one more than its shape; 0 if nothing is.
    fixes: u16,
}

impl Condition {
    /// One that is the same for all bytes.
    pub const NONE: Condition =
        Condition { holds: ByteSet::EMPTY, shape: 0, is_negated: false, fixes: 0 };

    pub fn of(run: &Run, shape: u32) -> Condition {
        let (Shaped { shape, .. }, is_negated) =
            shapes::without_not(run, Shaped { shape, place: 0 });
        let is_constant = |shape| shapes::is_constant(run, shape);
        let fixes = match fixed_where_it_holds(&shapes::record(run, shape), is_constant) {
            Some(operand) => {
                1 + shapes::extended(run, Shaped { shape: operand, place: 0 }).shape as u16
            }
            None => 0,
        };
        Condition { holds: *shapes::holds(run, shape), shape: shape as u16, is_negated, fixes }
    }

    pub fn is_negated(&self) -> bool {
        self.is_negated
    }

    /// The condition without its negations, at a place.
    #[inline(always)]
    pub fn at(&self, place: u32) -> Shaped {
        Shaped { shape: self.shape as u32, place }
    }

    /// Whether it holds for a byte, without its negations.
    #[inline(always)]
    pub fn holds_for(&self, byte: u8) -> bool {
        self.holds.0[byte as usize / 64 % 4] >> (byte % 64) & 1 == 1
    }

    /// The path goes where the condition, without its negations, has this value; false if that says
    /// nothing new. This is the rule for a branch on one byte.
    #[inline(always)]
    pub fn learn(&self, run: &Run, place: u32, taken: bool) -> bool {
        let flip = if taken { 0 } else { u64::MAX };
        let is_new = narrow(run, place, &self.holds.0.map(|holds| holds ^ flip));
        if is_new && taken && self.fixes != 0 {
            fix(run, Shaped { shape: self.fixes as u32 - 1, place });
        }
        is_new
    }

    /// Whether the path leaves both values.
    #[cold]
    pub fn is_open(&self, run: &Run, place: u32) -> bool {
        let domain = run.facts.domains.of(place).get();
        let any = |flip: u64| {
            domain.iter().zip(&self.holds.0).any(|(domain, holds)| domain & (holds ^ flip) != 0)
        };
        any(0) && any(u64::MAX)
    }
}

/// Whether a set that has a byte has no other.
#[inline(always)]
fn is_only(&[a, b, c, d]: &[u64; 4], byte: u8) -> bool {
    // No two words have the bit.
    let (any, twice) = (a | b | c | d, a & b | c & d | (a | b) & (c | d));
    any == 1 << (byte % 64) && twice == 0
}

/// The byte is one of these; false if that says nothing new.
#[inline(always)]
fn narrow(run: &Run, place: u32, to: &[u64; 4]) -> bool {
    if lexer::inside(run) {
        return true;
    }
    let cell = run.facts.domains.of(place);
    let (domain, mut left, mut excluded) = (cell.get(), [0; 4], 0);
    for (left, (domain, to)) in left.iter_mut().zip(domain.iter().zip(to)) {
        excluded |= domain & !to;
        *left = domain & to;
    }
    if excluded == 0 {
        return false;
    }
    cell.set(left);
    if is_only(&left, shapes::input(run, place)) {
        run.facts.domains.fixed_at(place).set(Fixed::All);
        run.facts.note_fixed();
    }
    true
}

/// The path goes where a switch on a byte function does; false if that says nothing new.
#[inline(always)]
pub fn learn_switch(run: &Run, at: Shaped, to: &Switched) -> bool {
    let is_new = narrow(run, at.place, &to.set.0);
    if is_new && to.is_case {
        fix(run, shapes::extended(run, at));
    }
    is_new
}

/// From here on the byte function has its present value; false if that says nothing new.
pub fn concretise(run: &Run, at: Shaped) -> bool {
    if at.shape == 0 && !lexer::inside(run) {
        return concretise_byte(run, at.place);
    }
    let is_new = narrow(run, at.place, &shapes::bytes_alike(run, at).0);
    if is_new {
        fix(run, shapes::extended(run, at));
    }
    is_new
}

/// The same for a byte, whose values are known without looking.
fn concretise_byte(run: &Run, place: u32) -> bool {
    let fixed = run.facts.domains.fixed_at(place);
    if fixed.get() == Fixed::All {
        return false;
    }
    let byte = shapes::input(run, place);
    run.facts.domains.of(place).set(ByteSet::only(byte).0);
    fixed.set(Fixed::All);
    run.facts.note_fixed();
    true
}

/// From here on the byte function has its present value.
fn fix(run: &Run, at: Shaped) {
    if !lexer::inside(run) && mark(run, Mark::Fixed, at) {
        run.facts.note_fixed();
        let fixed = run.facts.domains.fixed_at(at.place);
        if fixed.get() == Fixed::None {
            fixed.set(Fixed::Some);
        }
    }
}

/// Whether a byte function has the same value for all that its byte can be. It costs more than
/// [`is_fixed`]: for what tables give, where many bytes are one.
#[inline(always)]
pub fn is_constant(run: &Run, at: Shaped) -> bool {
    if is_fixed(run, at) {
        return true;
    }
    let is_constant = is_constant_here(run, at);
    if is_constant {
        fix(run, shapes::extended(run, at));
    }
    is_constant && !lexer::inside(run)
}

/// The same, where nobody asks again for the same one.
#[inline(always)]
pub fn is_constant_here(run: &Run, at: Shaped) -> bool {
    let (domain, ByteSet(alike)) =
        (run.facts.domains.of(at.place).get(), shapes::bytes_alike(run, at));
    // By index: rustc leaves a call to `Zip::fold` here, which costs more than the rest.
    (0..domain.len()).fold(0, |others, word| others | domain[word] & !alike[word]) == 0
}

/// Whether a byte function, or what it extends, has the same value on all inputs that take this
/// path.
#[inline(always)]
pub fn is_fixed(run: &Run, at: Shaped) -> bool {
    match fixed(run, at.place) {
        Fixed::None => false,
        Fixed::All => true,
        Fixed::Some => is_marked(run, Mark::Fixed, shapes::extended(run, at)),
    }
}

#[inline(always)]
fn is_marked(run: &Run, kind: Mark, at: Shaped) -> bool {
    let (word, bit) = run.facts.domains.word(run, kind, at);
    word.get() & bit != 0 && word.get() >> MARKED == run.shapes.number() as u64
}

/// True if it was not marked before.
pub fn mark(run: &Run, kind: Mark, at: Shaped) -> bool {
    let ((word, bit), number) = (run.facts.domains.word(run, kind, at), run.shapes.number() as u64);
    let marks = if word.get() >> MARKED == number { word.get() } else { number << MARKED };
    word.set(marks | bit);
    marks & bit == 0
}
