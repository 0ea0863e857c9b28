//! Functions that cannot be turned round, such as hashes: what they were asked about before.
//!
//! The solver cannot find a word with a given hash, but the program often has hashed such words itself, when it filled its table
//! of keywords or met a name for the first time. So the arguments of these functions are kept during a run; where one is called on
//! other bytes that depend on the input, "these bytes equal those seen before" becomes a branch. The driver is told of all these
//! words, too, and of words of different length that were compared: only another input can have them in the same place.

use crate::build::{self, Value};
use crate::state::{self, active};
use crate::texts::{self, Bytes};
use crate::{events, nodes, objects, os, shadow};
use trace::{COMPARED, Event, EventKind, GiveUp, Label, Op};

const MOST_SAMPLES: usize = 256;
const MOST_BYTES: usize = trace::LONGEST_WORD;
/// Branches that all calls of a run may add.
const MOST_BRANCHES: u32 = 512;

#[derive(Clone, Copy)]
struct Sample {
    function: u32,
    len: u32,
    bytes: [u8; MOST_BYTES],
    labels: [Label; MOST_BYTES],
}

impl Sample {
    /// Equal for samples of one function and length.
    fn key(&self) -> u32 {
        self.function << 8 | self.len
    }

    fn bytes_with_labels(&self) -> impl Iterator<Item = Value> {
        self.bytes.iter().zip(&self.labels).map(|(byte, label)| Value::new(*label, *byte as u64))
    }
}

/// Outside of the program's memory, which is compared with a copy after each run. Null before [`prepare`].
static mut SAMPLES: *mut [Sample; MOST_SAMPLES] = core::ptr::null_mut();
static mut COUNT: usize = 0;
/// Which samples have a function and length in common, most of the time: lists of their numbers, oldest first.
static mut LISTS: Lists = NO_LISTS;
static mut BRANCHES: u32 = 0;
/// Branches of a run that say of two words of the input that they are equal.
const MOST_TIES: u32 = 8;
static mut TIES: u32 = 0;

/// Words that the driver is told of in a run.
const MOST_TOLD: u32 = trace::MOST_WORDS as u32;
/// Of these, words that are no input.
const MOST_OWN: u32 = MOST_TOLD / 2;
static mut TOLD: u32 = 0;
/// What it was told of lately: a function and the table of a word, or the tables of two words.
const RECENT: usize = 1024;
static mut RECENT_PAIRS: [(u32, u32); RECENT] = [NO_PAIR; RECENT];
const NO_PAIR: (u32, u32) = (u32::MAX, u32::MAX);

/// Samples by their keys. Numbers are one more than those of samples, 0 being none.
struct Lists {
    ends: [[u16; 2]; Lists::COUNT],
    next: [u16; MOST_SAMPLES],
}

const NO_LISTS: Lists = Lists { ends: [[0; 2]; Lists::COUNT], next: [0; MOST_SAMPLES] };

impl Lists {
    const COUNT: usize = 128;

    fn of(key: u32) -> usize {
        (key.wrapping_mul(0x9E37_79B1) >> 16) as usize % Lists::COUNT
    }

    /// The sample with this number has been added.
    fn append(&mut self, key: u32, number: usize) {
        let (list, new) = (Lists::of(key), number as u16 + 1);
        let [first, last] = &mut self.ends[list];
        match self.next.get_mut(last.wrapping_sub(1) as usize) {
            Some(next) if *last != 0 => *next = new,
            _ => *first = new,
        }
        *last = new;
        if let Some(next) = self.next.get_mut(number) {
            *next = 0;
        }
    }

    /// Numbers of samples, among them all with the key.
    fn find(&self, key: u32) -> impl Iterator<Item = usize> {
        let [mut next, _] = self.ends[Lists::of(key)];
        core::iter::from_fn(move || {
            let number = next.checked_sub(1)? as usize;
            next = *self.next.get(number)?;
            Some(number)
        })
    }
}

/// Before the first run.
pub unsafe fn prepare() {
    unsafe { SAMPLES = os::allocate(size_of::<[Sample; MOST_SAMPLES]>()).cast() };
}

/// Those seen so far have numbers below `COUNT`.
unsafe fn samples() -> &'static mut [Sample] {
    // Zeroed memory is a valid sample.
    unsafe { SAMPLES.as_mut().map_or(&mut [], |samples| samples) }
}

/// A run ends: what was asked about bytes of its input is void. Words of the program's own stay, because a process that takes
/// several inputs fills its tables once.
pub unsafe fn forget() {
    unsafe {
        let mut kept = 0;
        LISTS = NO_LISTS;
        for i in 0..COUNT {
            let Some(sample) = samples().get(i).copied() else { break };
            if sample.labels.iter().all(|label| *label == 0)
                && let Some(free) = samples().get_mut(kept)
            {
                *free = sample;
                LISTS.append(sample.key(), kept);
                kept += 1;
            }
        }
        (COUNT, BRANCHES, TIES, TOLD) = (kept, 0, 0, 0);
        HASHES.fill(0);
        PLAIN.fill(0);
        RECENT_PAIRS = [NO_PAIR; RECENT];
    }
}

/// A function is about to be called with a pointer to text, which has `len` bytes if that can be, and otherwise ends at a zero
/// byte. Returns how many bytes it has if it depends on the input and can be compared with other words, otherwise 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tg_sample(function: u32, text: *const u8, len: i64, site: u32) -> u32 {
    unsafe {
        if !active() {
            return 0;
        }
        if is_none(function) {
            return 0;
        }
        let Some(_entered) = state::enter() else { return 0 };
        let Some(sample) = taken(function, text, len) else { return 0 };
        let symbolic = sample.labels.iter().any(|label| *label != 0);
        ask(&sample, symbolic, text, site);
        if symbolic && is_hash(function) {
            state::run_concretely(true);
        }
        if symbolic { sample.len } else { 0 }
    }
}

/// Functions whose result was found to be a hash in this run, by their numbers.
static mut HASHES: [u64; MOST_HASHES / 64] = [0; MOST_HASHES / 64];
const MOST_HASHES: usize = 4096;

/// How often the result of a function of the program was no hash in this run, by its number.
static mut PLAIN: [u8; MOST_HASHES] = [0; MOST_HASHES];
/// After so many, a function of which no result was one is taken for one that just reads, and not asked about any more.
const MOST_PLAIN: u8 = 32;

#[inline(always)]
unsafe fn is_none(function: u32) -> bool {
    unsafe { PLAIN.get(function as usize).is_some_and(|plain| *plain >= MOST_PLAIN) && !is_hash(function) }
}

unsafe fn is_hash(function: u32) -> bool {
    unsafe { HASHES.get(function as usize / 64).is_some_and(|word| word >> (function % 64) & 1 == 1) }
}

/// What a hash made of a word of `len` bytes, if `len` is not 0. Its formula helps nobody: no link of the solver turns it round, and the tables and lists that it
/// leads to would all depend on the input. That the word is another one that was hashed is a branch already. So the function is called without labels from
/// now on.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tg_hashed(function: u32, label: Label, len: u32) -> Label {
    unsafe {
        if len == 0 {
            return label;
        }
        let Some(_entered) = state::enter() else { return label };
        if state::run_concretely(false) {
            state::count_give_up(GiveUp::Hash);
            return 0;
        }
        if label == 0 || !is_mixed(label, (len as usize).min(ROUNDS)) {
            if let Some(plain) = PLAIN.get_mut(function as usize) {
                *plain = plain.saturating_add(1);
            }
            return label;
        }
        if let Some(word) = HASHES.get_mut(function as usize / 64) {
            *word |= 1 << (function % 64);
        }
        state::count_give_up(GiveUp::Hash);
        0
    }
}

/// Additions and exclusive ors that a hash has at least, one of each for each byte. Numbers in text and checksums have one kind only.
const ROUNDS: usize = 2;
/// Nodes that are looked at.
const MOST_VISITED: u32 = 256;
const MOST_OPEN: usize = 32;

/// Whether `rounds` sums and products of words, and as many exclusive ors or high bits of sums, are behind the label. Checksums, which can be turned round, have no
/// sums: those bit by bit make masks of a bit by taking it from 0.
unsafe fn is_mixed(label: Label, rounds: usize) -> bool {
    unsafe {
        let mut open = [label; MOST_OPEN];
        let mut count = 1;
        let (mut sums, mut differences) = ([0; ROUNDS], [0; ROUNDS]);
        for _ in 0..MOST_VISITED {
            if count == 0 {
                return false;
            }
            count -= 1;
            let Some(&label) = open.get(count) else { return false };
            let node = nodes::node(label);
            let arity = match Op::from_byte(node.op) {
                Some(Op::Sub) if nodes::as_constant(node.a).is_some() => 2,
                Some(Op::Add | Op::Sub | Op::Mul) if node.bits >= 32 => note(&mut sums, label),
                Some(Op::Xor) if node.bits >= 32 => note(&mut differences, label),
                Some(Op::LShr) if is_sum(node.a) => note(&mut differences, label),
                // What a table gives is no part of the mixing, as bytes of the input are not.
                Some(Op::Read) => 0,
                None => return false,
                Some(op) => op.arity(),
            };
            if [sums, differences].iter().all(|kind| kind.iter().take(rounds).all(|label| *label != 0)) {
                return true;
            }
            for operand in [node.a, node.b, node.c].into_iter().take(arity) {
                if let Some(place) = open.get_mut(count) {
                    *place = operand;
                    count += 1;
                }
            }
        }
        false
    }
}

/// Whether a label is a sum of words: high bits of one are mixed in with what comes after by hashes that rotate.
unsafe fn is_sum(label: Label) -> bool {
    unsafe {
        let node = nodes::node(label);
        node.bits >= 32 && matches!(Op::from_byte(node.op), Some(Op::Add | Op::Mul))
    }
}

/// Adds the label to those that were seen, and returns how many operands such nodes have.
fn note(seen: &mut [Label; ROUNDS], label: Label) -> usize {
    if !seen.contains(&label)
        && let Some(free) = seen.iter_mut().find(|free| **free == 0)
    {
        *free = label;
    }
    2
}

/// Tells the driver of a word, and makes branches of the question whether it is one of those seen before.
unsafe fn ask(sample: &Sample, symbolic: bool, text: *const u8, site: u32) {
    unsafe {
        let function = sample.function;
        if symbolic || TOLD < MOST_OWN {
            let word = Bytes { start: text, size: sample.len as usize };
            if let Some(table) = texts::copy(word, symbolic).filter(|table| is_news(function, *table)) {
                tell(function, table);
            }
        }
        let asks = symbolic && BRANCHES < MOST_BRANCHES;
        if !asks && COUNT == MOST_SAMPLES {
            return;
        }
        let mut known = false;
        let key = sample.key();
        for seen in LISTS.find(key).filter_map(|i| samples().get(i)).filter(|seen| seen.key() == key) {
            // To be like one of two equal words is as good as to be like the other, but the program's own stay the same.
            known |= seen.bytes == sample.bytes && (symbolic || seen.labels == sample.labels);
            if asks && seen.labels != sample.labels {
                suggest(sample, seen, site);
            }
        }
        if !known && let Some(free) = samples().get_mut(COUNT) {
            *free = *sample;
            LISTS.append(key, COUNT);
            COUNT += 1;
        }
    }
}

/// Two words of different length were found to be different, with the guard held.
pub unsafe fn differ(a: Bytes, b: Bytes) {
    unsafe {
        let is_word = |word: &Bytes| (1..=MOST_BYTES).contains(&word.size);
        let symbolic = [a, b].map(|word| word.is_symbolic());
        if ![a, b].iter().all(is_word) || symbolic == [false, false] || TOLD >= MOST_TOLD {
            return;
        }
        let [is_a, is_b] = symbolic;
        let (Some(a), Some(b)) = (texts::copy(a, is_a), texts::copy(b, is_b)) else { return };
        // Functions have small numbers.
        if is_news(COMPARED | a, b) {
            let comparison = COMPARED | TOLD;
            tell(comparison, a);
            tell(comparison, b);
        }
    }
}

/// Whether the driver was not told of this lately.
unsafe fn is_news(a: u32, b: u32) -> bool {
    unsafe {
        let place = a.wrapping_mul(31).wrapping_add(b) as usize % RECENT;
        let Some(recent) = RECENT_PAIRS.get_mut(place) else { return false };
        core::mem::replace(recent, (a, b)) != (a, b)
    }
}

unsafe fn tell(asker: u32, table: u32) {
    unsafe {
        if TOLD < MOST_TOLD {
            TOLD += 1;
            let kind = EventKind::Word as u8;
            events::push(Event { kind, taken: 0, aux: 0, site: asker, label: 0, arg: table });
        }
    }
}

/// The bytes at `text` as far as they lie in a known object; `None` if they are too many or go beyond it.
unsafe fn taken(function: u32, text: *const u8, len: i64) -> Option<Sample> {
    unsafe {
        let object = objects::find(text as usize)?;
        let room = (object.start + object.size).checked_sub(text as usize)?;
        let most = room.min(MOST_BYTES);
        let len = usize::try_from(len).ok().filter(|len| (1..=most).contains(len));
        let mut sample = Sample { function, len: 0, bytes: [0; MOST_BYTES], labels: [0; MOST_BYTES] };
        let mut i = 0;
        while len.map_or(i == most || *text.add(i) != 0, |len| i < len) {
            if i == most {
                return None;
            }
            *sample.bytes.get_mut(i)? = *text.add(i);
            *sample.labels.get_mut(i)? = shadow::label_of_byte(text as usize + i);
            i += 1;
        }
        sample.len = i as u32;
        (i > 0).then_some(sample)
    }
}

/// The branch "the bytes equal those seen", unless that is impossible. That two words of the input are equal ties their bytes together in every question that
/// follows, so it is said a few times only.
unsafe fn suggest(now: &Sample, seen: &Sample, site: u32) {
    unsafe {
        if BRANCHES >= MOST_BRANCHES {
            return;
        }
        if now.bytes == seen.bytes && seen.labels.iter().any(|label| *label != 0) {
            if TIES >= MOST_TIES {
                return;
            }
            TIES += 1;
        }
        let mut equal = Value::concrete(1);
        let pairs = now.bytes_with_labels().zip(seen.bytes_with_labels()).take(now.len as usize);
        for (a, b) in pairs {
            if a.label == 0 && b.label == 0 && a.value != b.value {
                return;
            }
            if a.label == b.label {
                continue;
            }
            let same = Value::new(build::binary(Op::Eq, 8, a, b), (a.value == b.value) as u64);
            let both = if equal.label == 0 { same.label } else { build::binary(Op::And, 1, equal, same) };
            equal = Value::new(both, equal.value & same.value);
        }
        if equal.label != 0 {
            BRANCHES += 1;
            events::branch(equal.label, equal.value == 1, site);
        }
    }
}
