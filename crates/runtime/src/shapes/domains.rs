//! Which values each byte of the input can have on this path: what its branches and switches leave.
//!
//! A condition that all of them decide alike is implied by conditions before it, so it is no constraint: its other side cannot be
//! reached from here, and what depends on it does not depend on the input. Lexers ask each character a dozen such questions.

use super::{Facts, INPUT, STORE, facts, vector};
use crate::models::lexers;
use crate::state::STATE;
use crate::{events, os};
use trace::{ByteSet, MOST_SHAPES, Shaped};

/// The domains, a byte's each; null if there is no memory for them.
static mut DOMAINS: *mut ByteSet = core::ptr::null_mut();
/// What the path says of the shapes at each place.
static mut FIXED: *mut Fixed = core::ptr::null_mut();
/// A bit for each label of a shape, which is set if the label was recorded, and one if it is fixed: [`MARKED`] in each word, above them the number of the run that they
/// belong to. So nothing has to be undone between runs, which would cost a page fault for each page that the next run comes to.
static mut MARKS: [*mut u64; 2] = [core::ptr::null_mut(); 2];
const MARKED: u32 = 32;
const MARKS_SIZE: usize = (trace::SHAPED / MARKED) as usize * size_of::<u64>();
static mut MOST: usize = 0;

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

pub unsafe fn prepare(most_input: usize) {
    unsafe {
        DOMAINS = os::allocate(most_input * size_of::<ByteSet>()).cast();
        FIXED = os::allocate(most_input).cast();
        MARKS = [os::allocate(MARKS_SIZE).cast(), os::allocate(MARKS_SIZE).cast()];
        MOST = most_input;
    }
}

/// A run begins: every byte can have all values. False if there is no memory for it.
pub unsafe fn start(len: u32) -> bool {
    unsafe {
        let len = len as usize;
        if len > MOST || DOMAINS.is_null() || FIXED.is_null() || MARKS.iter().any(|marks| marks.is_null()) {
            return false;
        }
        os::memset(DOMAINS.cast(), 0xFF, len * size_of::<ByteSet>());
        os::memset(FIXED.cast(), 0, len);
        true
    }
}

/// Numbers of runs begin anew.
pub unsafe fn forget() {
    unsafe {
        for marks in MARKS {
            os::zero(marks.cast(), MARKS_SIZE);
        }
    }
}

/// What is asked now is the business of a lexer that was named: it neither counts elsewhere nor is it decided elsewhere.
unsafe fn of_lexer() -> bool {
    unsafe { lexers::inside() }
}

/// Whether what is known of the byte decides the condition.
#[inline(always)]
pub unsafe fn decides(at: Shaped) -> bool {
    unsafe {
        let (ByteSet(domain), ByteSet(holds)) = (&*DOMAINS.add(at.place as usize), &facts(at.shape).holds);
        // Word by word: compilers compare arrays through memory.
        let (mut inside, mut outside) = (0, 0);
        for (domain, holds) in domain.iter().zip(holds) {
            inside |= domain & holds;
            outside |= domain & !holds;
        }
        (inside == 0 || outside == 0) && !of_lexer()
    }
}

/// The path goes where the condition has this value; false if that says nothing new.
pub unsafe fn branch(at: Shaped, taken: bool) -> bool {
    unsafe {
        let Facts { holds, record, .. } = *facts(at.shape);
        let is_new = narrow(at.place, &if taken { holds } else { holds.complement() });
        if is_new && taken && record.op == trace::Op::Eq as u8 && facts(record.b).varying == 0 {
            fix(Shaped { shape: facts(record.a).extended, ..at });
        }
        is_new
    }
}

/// A condition of one byte, ready for a branch on it at any place.
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
    pub const NONE: Condition = Condition { holds: ByteSet::EMPTY, shape: 0, is_negated: false, fixes: 0 };

    pub unsafe fn of(shape: u32) -> Condition {
        unsafe {
            let (Shaped { shape, .. }, is_negated) = super::without_not(Shaped { shape, place: 0 });
            let Facts { holds, record, .. } = *facts(shape);
            let is_fixing = record.op == trace::Op::Eq as u8 && facts(record.b).varying == 0;
            let fixes = if is_fixing { 1 + facts(record.a).extended as u16 } else { 0 };
            Condition { holds, shape: shape as u16, is_negated, fixes }
        }
    }

    /// As [`events::branch`] on the condition at a place. What the path fixes is decided by what it leaves of the byte.
    #[inline(always)]
    pub unsafe fn branch(&self, place: u32, taken: bool, site: u32) {
        unsafe {
            let (byte, taken) = (*INPUT.add(place as usize), taken != self.is_negated);
            let holds = self.holds.0[byte as usize / 64 % 4] >> (byte % 64) & 1 == 1;
            let domain = &mut (*DOMAINS.add(place as usize)).0;
            if holds != taken {
                return self.note_stale(domain);
            }
            // The byte is on the side that was taken, so all that is left to ask is whether something is not.
            let (flip, mut excluded, mut left) = (if taken { 0 } else { u64::MAX }, 0, [0; 4]);
            for (left, (domain, holds)) in left.iter_mut().zip(domain.iter().zip(&self.holds.0)) {
                excluded |= domain & !(holds ^ flip);
                *left = domain & (holds ^ flip);
            }
            if excluded == 0 {
                return;
            }
            *domain = left;
            (*STATE.header).symbolic_branches += 1;
            if is_only(&left, byte) {
                *FIXED.add(place as usize) = Fixed::All;
                events::note_fixed();
            }
            if taken && self.fixes != 0 {
                fix(Shaped { shape: self.fixes as u32 - 1, place });
            }
            let label = super::join(Shaped { shape: self.shape as u32, place });
            events::push_branch(label, taken, self.is_negated, site);
        }
    }

    /// The branch went where the condition does not: its label does not fit, unless it is the same for all that the byte can be.
    #[cold]
    unsafe fn note_stale(&self, domain: &[u64; 4]) {
        let any =
            |flip: u64| domain.iter().zip(&self.holds.0).any(|(domain, holds)| domain & (holds ^ flip) != 0);
        if any(0) && any(u64::MAX) {
            // SAFETY: a run is active.
            unsafe { events::note_stale() };
        }
    }
}

/// Whether a set that has a byte has no other.
#[inline(always)]
fn is_only(&[a, b, c, d]: &[u64; 4], byte: u8) -> bool {
    // No two words have the bit.
    let (any, twice) = (a | b | c | d, a & b | c & d | (a | b) & (c | d));
    any == 1 << (byte % 64) && twice == 0
}

#[inline(always)]
unsafe fn narrow(place: u32, to: &ByteSet) -> bool {
    unsafe {
        if of_lexer() {
            return true;
        }
        let (ByteSet(domain), ByteSet(to)) = (&mut *DOMAINS.add(place as usize), to);
        let excluded = domain.iter().zip(to).fold(0, |excluded, (domain, to)| excluded | domain & !to);
        if excluded == 0 {
            return false;
        }
        for (domain, to) in domain.iter_mut().zip(to) {
            *domain &= to;
        }
        if is_only(domain, super::input(place)) {
            *FIXED.add(place as usize) = Fixed::All;
            events::note_fixed();
        }
        true
    }
}

/// Where a switch on a shape leads for a byte.
#[derive(Clone, Copy)]
pub struct Way {
    /// The bytes that lead there.
    set: ByteSet,
    /// The number of the case, or of all cases if it is none of them.
    pub taken: u16,
    is_case: bool,
}

/// Where a switch leads on this run, and the value that it is on, `site` telling switches apart; `None` if it has too many cases.
#[inline(always)]
pub unsafe fn way(at: Shaped, cases: &[u64], site: u32) -> Option<(Way, u64)> {
    unsafe {
        if cases.len() >= u16::MAX as usize {
            return None;
        }
        let case = (*STORE).cases.find(at, cases, site);
        Some((case.way, case.value))
    }
}

/// The path goes where a switch on a shape does; false if that says nothing new.
#[inline(always)]
pub unsafe fn switch(at: Shaped, way: &Way) -> bool {
    unsafe {
        let is_new = narrow(at.place, &way.set);
        if is_new && way.is_case {
            fix(Shaped { shape: facts(at.shape).extended, ..at });
        }
        is_new
    }
}

/// From here on the shape has its present value; false if that says nothing new.
pub unsafe fn settle(at: Shaped) -> bool {
    unsafe {
        if at.shape == 0 && !of_lexer() {
            return settle_byte(at.place);
        }
        let is_new = narrow(at.place, Alike::find(at));
        if is_new {
            fix(Shaped { shape: facts(at.shape).extended, ..at });
        }
        is_new
    }
}

/// The same for a byte, whose values are known without looking.
unsafe fn settle_byte(place: u32) -> bool {
    unsafe {
        let fixed = &mut *FIXED.add(place as usize);
        if *fixed == Fixed::All {
            return false;
        }
        let (byte, ByteSet(domain)) = (super::input(place), &mut *DOMAINS.add(place as usize));
        *domain = [0; 4];
        domain[byte as usize / 64 % 4] = 1 << (byte % 64);
        *fixed = Fixed::All;
        events::note_fixed();
        true
    }
}

/// The number of the case that a switch takes for a value.
pub fn case(cases: &[u64], value: u64) -> u32 {
    cases.iter().position(|case| *case == value).unwrap_or(cases.len()) as u32
}

/// From here on the shape has its present value.
unsafe fn fix(at: Shaped) {
    unsafe {
        if !of_lexer() && mark(Mark::Fixed, at) {
            events::note_fixed();
            let fixed = &mut *FIXED.add(at.place as usize);
            if *fixed == Fixed::None {
                *fixed = Fixed::Some;
            }
        }
    }
}

/// Whether a shape has the same value for all that its byte can be. It costs more than [`is_fixed`]: for what tables give, where many bytes are one.
pub unsafe fn is_constant(at: Shaped) -> bool {
    unsafe {
        if is_fixed(at) {
            return true;
        }
        let is_constant = is_constant_here(at);
        if is_constant {
            fix(super::extended(at));
        }
        is_constant && !of_lexer()
    }
}

/// The same, where nobody asks again for the same shape.
#[inline(always)]
pub unsafe fn is_constant_here(at: Shaped) -> bool {
    unsafe {
        let (ByteSet(domain), ByteSet(alike)) = (&*DOMAINS.add(at.place as usize), Alike::find(at));
        domain.iter().zip(alike).fold(0, |others, (domain, alike)| others | domain & !alike) == 0
    }
}

/// What the path says of the shapes at a place.
#[inline(always)]
pub unsafe fn fixed(place: u32) -> Fixed {
    unsafe { *FIXED.add(place as usize) }
}

/// Whether a shape, or what it extends, has the same value on all inputs that take this path.
#[inline(always)]
pub unsafe fn is_fixed(at: Shaped) -> bool {
    unsafe {
        match *FIXED.add(at.place as usize) {
            Fixed::None => false,
            Fixed::All => true,
            Fixed::Some => is_marked(Mark::Fixed, super::extended(at)),
        }
    }
}

/// The word that holds a mark, and the mark.
#[inline(always)]
unsafe fn word(kind: Mark, at: Shaped) -> (*mut u64, u64) {
    unsafe {
        let index = super::PLACES.label(at.shape, at.place) ^ trace::SHAPED;
        (MARKS[kind as usize].add((index / MARKED) as usize), 1 << (index % MARKED))
    }
}

#[inline(always)]
unsafe fn is_marked(kind: Mark, at: Shaped) -> bool {
    unsafe {
        let (word, bit) = word(kind, at);
        *word & bit != 0 && *word >> MARKED == (*STORE).run as u64
    }
}

/// True if it was not marked before.
pub unsafe fn mark(kind: Mark, at: Shaped) -> bool {
    unsafe {
        let ((word, bit), run) = (word(kind, at), (*STORE).run as u64);
        if *word >> MARKED != run {
            *word = run << MARKED;
        }
        let is_new = *word & bit == 0;
        *word |= bit;
        is_new
    }
}

/// For which bytes shapes have the value that they have for a byte, as it was computed.
pub struct Alike([Same; Alike::COUNT]);

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

    /// The bytes for which a shape has its present value.
    #[inline(always)]
    unsafe fn find(at: Shaped) -> &'static ByteSet {
        unsafe {
            let (byte, shape) = (*INPUT.add(at.place as usize), super::in_this_run(at.shape));
            let number = (at.shape as usize * 37 + byte as usize) % Alike::COUNT;
            let same = &mut *(&raw mut (*STORE).alike.0).cast::<Same>().add(number);
            if (same.shape, same.byte) != (shape, byte) {
                let values = vector(at.shape);
                let bytes = ByteSet::whose(values, |value| value == values[byte as usize]);
                *same = Same { shape, byte, bytes };
            }
            &same.bytes
        }
    }
}

/// What switches on shapes do for bytes, as it was computed.
pub struct Cases {
    cases: [Case; Cases::COUNT],
    /// Where switches on shapes lead.
    ways: [Ways; Cases::WAYS],
}

/// Where a switch on a shape leads for each byte.
struct Ways {
    run: u32,
    site: u32,
    shape: u32,
    taken: [u16; 256],
}

#[derive(Clone, Copy)]
#[repr(align(64))]
struct Case {
    run: u32,
    site: u32,
    shape: u32,
    byte: u8,
    /// What the shape is for the byte.
    value: u64,
    way: Way,
}

const _: () = assert!(size_of::<Case>() == 64, "a line of the cache");

impl Cases {
    const COUNT: usize = 2048;
    const WAYS: usize = 128;

    #[inline(always)]
    unsafe fn find(&mut self, at: Shaped, cases: &[u64], site: u32) -> &Case {
        unsafe {
            let byte = *INPUT.add(at.place as usize);
            let key = (site as u64) << 20 ^ (at.shape as u64) << 8 ^ byte as u64;
            let mixed = key.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40;
            let case = &mut self.cases[mixed as usize % Cases::COUNT];
            let wanted = ((*STORE).run, site, at.shape, byte);
            if (case.run, case.site, case.shape, case.byte) != wanted {
                let ways = ways(&mut self.ways, at.shape, cases, site);
                let taken = ways[byte as usize];
                let set = ByteSet::whose(ways, |way| way == taken);
                let way = Way { set, taken, is_case: (taken as usize) < cases.len() };
                let value = vector(at.shape)[byte as usize];
                *case = Case { run: wanted.0, site, shape: at.shape, byte, value, way };
            }
            case
        }
    }
}

/// A switch has hundreds of cases at times, so that it is asked once for all bytes.
#[cold]
unsafe fn ways<'a>(
    known: &'a mut [Ways; Cases::WAYS],
    shape: u32,
    cases: &[u64],
    site: u32,
) -> &'a [u16; 256] {
    unsafe {
        let number = (site as usize * 31 + shape as usize) % Cases::WAYS;
        let (ways, run) = (&mut known[number], (*STORE).run);
        if (ways.run, ways.site, ways.shape) != (run, site, shape) {
            (ways.run, ways.site, ways.shape) = (run, site, shape);
            for (taken, value) in ways.taken.iter_mut().zip(vector(shape)) {
                *taken = case(cases, *value) as u16;
            }
        }
        &ways.taken
    }
}

const _: () = assert!(MOST_SHAPES.is_power_of_two());
