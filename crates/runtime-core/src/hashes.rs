//! Functions that cannot be turned round, such as hashes: what they were asked about before.
//!
//! The solver cannot find a word with a given hash, but the program often has hashed such words
//! itself, when it filled its table of keywords or met a name for the first time. So the arguments
//! of these functions are kept during a run; where one is called on other bytes that depend on the
//! input, "these bytes equal those seen before" becomes a branch. The driver is told of all these
//! words, too, and of words of different length that were compared: only another input can have
//! them in the same place.

use crate::build::{self, Value};
use crate::memory::byte;
use crate::state::{self, Run, active};
use crate::texts::{self, Bytes};
use crate::{events, nodes, objects, os, shadow};
use core::cell::Cell;
use core::ptr::null_mut;
use trace::{COMPARED, Event, EventKind, GiveUp, Label, Op};

const MAX_ARGUMENTS: usize = 256;
const MAX_BYTES: usize = trace::LONGEST_WORD;
/// Branches that all calls of a run may add.
const MAX_BRANCHES: u32 = 512;
/// Branches of a run that say of two words of the input that they are equal.
const MAX_TIES: u32 = 8;
/// Words that the driver is told of in a run.
const MAX_TOLD: u32 = trace::MAX_WORDS as u32;
/// Of these, words that are no input.
const MAX_OWN: u32 = MAX_TOLD / 2;
const RECENT: usize = 1024;
const NO_PAIR: (u32, u32) = (u32::MAX, u32::MAX);
const MAX_FUNCTIONS: usize = 4096;

/// What a function was asked about. Zeroed memory is a valid one.
#[derive(Clone, Copy)]
struct HashArgument {
    function: u32,
    len: u32,
    bytes: [u8; MAX_BYTES],
    labels: [Label; MAX_BYTES],
}

impl HashArgument {
    /// Equal for arguments of one function and length.
    fn key(&self) -> u32 {
        self.function << 8 | self.len
    }

    fn is_symbolic(&self) -> bool {
        self.labels.iter().any(|label| *label != 0)
    }

    fn bytes_with_labels(&self) -> impl Iterator<Item = Value> {
        self.bytes.iter().zip(&self.labels).map(|(byte, label)| Value::new(*label, *byte as u64))
    }
}

/// Functions that were called with words, and the words.
pub struct Hashes {
    /// Outside of the program's memory, which is compared with a copy after each run. Null before
    /// [`Hashes::prepare`], then with room for [`MAX_ARGUMENTS`].
    arguments: Cell<*mut HashArgument>,
    /// Those seen so far have numbers below this.
    count: Cell<usize>,
    /// Which arguments have a function and length in common, most of the time: lists of their
    /// numbers, oldest first.
    lists: Lists,
    branches: Cell<u32>,
    ties: Cell<u32>,
    told: Cell<u32>,
    /// What the driver was told of lately: a function and the table of a word, or the tables of two
    /// words.
    recent_pairs: [Cell<(u32, u32)>; RECENT],
    /// Functions whose result was found to be a hash in this run, by their numbers.
    functions: [Cell<u64>; MAX_FUNCTIONS / 64],
    /// How often the result of a function of the program was no hash in this run, by its number.
    plain: [Cell<u8>; MAX_FUNCTIONS],
}

impl Hashes {
    pub const NEW: Hashes = Hashes {
        arguments: Cell::new(null_mut()),
        count: Cell::new(0),
        lists: Lists::new(),
        branches: Cell::new(0),
        ties: Cell::new(0),
        told: Cell::new(0),
        recent_pairs: [const { Cell::new(NO_PAIR) }; RECENT],
        functions: [const { Cell::new(0) }; MAX_FUNCTIONS / 64],
        plain: [const { Cell::new(0) }; MAX_FUNCTIONS],
    };

    /// Before the first run.
    pub fn prepare(&self) {
        self.arguments.set(os::allocate(size_of::<[HashArgument; MAX_ARGUMENTS]>()).cast());
    }

    /// A run ends: what was asked about bytes of its input is void. Words of the program's own
    /// stay, because a process that takes several inputs fills its tables once.
    pub fn reset(&self) {
        let count = self.count.take();
        self.lists.reset();
        for number in 0..count {
            if let Some(argument) = self.argument(number).copied().filter(|it| !it.is_symbolic()) {
                self.keep(&argument);
            }
        }
        self.branches.set(0);
        self.ties.set(0);
        self.told.set(0);
        self.functions.iter().for_each(|word| word.set(0));
        self.plain.iter().for_each(|plain| plain.set(0));
        self.recent_pairs.iter().for_each(|pair| pair.set(NO_PAIR));
    }

    fn argument(&self, number: usize) -> Option<&HashArgument> {
        let is_there = number < MAX_ARGUMENTS && !self.arguments.get().is_null();
        // SAFETY: there is room for so many, and `keep` writes none while one is looked at.
        is_there.then(|| unsafe { &*self.arguments.get().add(number) })
    }

    /// Adds an argument, if there is room.
    fn keep(&self, argument: &HashArgument) {
        let number = self.count.get();
        if number < MAX_ARGUMENTS && !self.arguments.get().is_null() {
            // SAFETY: as above; `argument` is the caller's own copy.
            unsafe { *self.arguments.get().add(number) = *argument };
            self.lists.append(argument.key(), number);
            self.count.set(number + 1);
        }
    }

    /// Arguments with a key.
    fn with_key(&self, key: u32) -> impl Iterator<Item = &HashArgument> {
        self.lists.find(key).filter_map(|i| self.argument(i)).filter(move |seen| seen.key() == key)
    }

    fn is_hash(&self, function: u32) -> bool {
        let word = self.functions.get(function as usize / 64);
        word.is_some_and(|word| word.get() >> (function % 64) & 1 == 1)
    }

    /// Whether a function is taken for one that just reads.
    #[inline(always)]
    fn is_none(&self, function: u32) -> bool {
        self.plain.get(function as usize).is_some_and(|plain| plain.get() >= MAX_PLAIN)
            && !self.is_hash(function)
    }

    /// Whether the driver was not told of this lately.
    fn is_news(&self, a: u32, b: u32) -> bool {
        let place = a.wrapping_mul(31).wrapping_add(b) as usize % RECENT;
        self.recent_pairs[place].replace((a, b)) != (a, b)
    }
}

/// Arguments by their keys. Numbers are one more than those of arguments, 0 being none.
struct Lists {
    ends: [Cell<[u16; 2]>; Lists::COUNT],
    next: [Cell<u16>; MAX_ARGUMENTS],
}

impl Lists {
    const COUNT: usize = 128;

    const fn new() -> Lists {
        Lists {
            ends: [const { Cell::new([0; 2]) }; Lists::COUNT],
            next: [const { Cell::new(0) }; MAX_ARGUMENTS],
        }
    }

    fn reset(&self) {
        self.ends.iter().for_each(|ends| ends.set([0; 2]));
        self.next.iter().for_each(|next| next.set(0));
    }

    fn ends(&self, key: u32) -> &Cell<[u16; 2]> {
        &self.ends[(key.wrapping_mul(0x9E37_79B1) >> 16) as usize % Lists::COUNT]
    }

    /// The argument with this number has been added.
    fn append(&self, key: u32, number: usize) {
        let (ends, new) = (self.ends(key), number as u16 + 1);
        let [first, last] = ends.get();
        let before = last.checked_sub(1).and_then(|last| self.next.get(last as usize));
        if let Some(before) = before {
            before.set(new);
        }
        ends.set([if before.is_some() { first } else { new }, new]);
        if let Some(next) = self.next.get(number) {
            next.set(0);
        }
    }

    /// Numbers of arguments, among them all with the key.
    fn find(&self, key: u32) -> impl Iterator<Item = usize> {
        let [mut next, _] = self.ends(key).get();
        core::iter::from_fn(move || {
            let number = next.checked_sub(1)? as usize;
            next = self.next.get(number)?.get();
            Some(number)
        })
    }
}

/// A function is about to be called with a pointer to text, which has `len` bytes if that can be,
/// and otherwise ends at a zero byte. Returns how many bytes it has if it depends on the input and
/// can be compared with other words, otherwise 0.
#[unsafe(no_mangle)]
pub extern "C" fn __tg_sample(function: u32, text: *const u8, len: i64, site: u32) -> u32 {
    let run = Run::current();
    if !active(run) || run.hashes.is_none(function) {
        return 0;
    }
    let Some(_entered) = state::enter(run) else { return 0 };
    let Some(argument) = taken(run, function, text as usize, len) else { return 0 };
    let symbolic = argument.is_symbolic();
    ask(run, &argument, symbolic, text as usize, site);
    if symbolic && run.hashes.is_hash(function) {
        state::run_concretely(run, true);
    }
    if symbolic { argument.len } else { 0 }
}

/// After so many results, a function of which none was a hash is taken for one that just reads, and
/// not asked about any more.
const MAX_PLAIN: u8 = 32;

/// What a hash made of a word of `len` bytes, if `len` is not 0. Its formula helps nobody: no link
/// of the solver turns it round, and the tables and lists that it leads to would all depend on the
/// input. That the word is another one that was hashed is a branch already. So the function is
/// called without labels from now on.
#[unsafe(no_mangle)]
pub extern "C" fn __tg_hashed(function: u32, label: Label, len: u32) -> Label {
    let run = Run::current();
    if len == 0 {
        return label;
    }
    let Some(_entered) = state::enter(run) else { return label };
    if state::run_concretely(run, false) {
        run.segment.count_give_up(GiveUp::Hash);
        return 0;
    }
    if label == 0 || !is_mixed(run, label, (len as usize).min(ROUNDS)) {
        if let Some(plain) = run.hashes.plain.get(function as usize) {
            plain.update(|plain| plain.saturating_add(1));
        }
        return label;
    }
    if let Some(word) = run.hashes.functions.get(function as usize / 64) {
        word.update(|word| word | 1 << (function % 64));
    }
    run.segment.count_give_up(GiveUp::Hash);
    0
}

/// Additions and exclusive ors that a hash has at least, one of each for each byte. Numbers in text
/// and checksums have one kind only.
const ROUNDS: usize = 2;
/// Nodes that are looked at.
const MAX_VISITED: u32 = 256;
const MAX_OPEN: usize = 32;

/// Whether the label is made of `rounds` sums and products of words, and as many exclusive ors or
/// high bits of sums. Checksums, which can be turned round, have no sums: those bit by bit make
/// masks of a bit by taking it from 0.
fn is_mixed(run: &Run, label: Label, rounds: usize) -> bool {
    let mut open = [label; MAX_OPEN];
    let mut count = 1;
    let (mut sums, mut differences) = ([0; ROUNDS], [0; ROUNDS]);
    for _ in 0..MAX_VISITED {
        if count == 0 {
            return false;
        }
        count -= 1;
        let Some(&label) = open.get(count) else { return false };
        let node = nodes::node(run, label);
        let arity = match Op::from_byte(node.op) {
            Some(Op::Sub) if nodes::as_constant(run, node.a).is_some() => 2,
            Some(Op::Add | Op::Sub | Op::Mul) if node.bits >= 32 => note(&mut sums, label),
            Some(Op::Xor) if node.bits >= 32 => note(&mut differences, label),
            Some(Op::LShr) if is_sum(run, node.a) => note(&mut differences, label),
            // What a table gives is no part of the mixing, as bytes of the input are not.
            Some(Op::Read) => 0,
            None => return false,
            Some(op) => op.arity(),
        };
        if [sums, differences].iter().all(|kind| kind.iter().take(rounds).all(|label| *label != 0))
        {
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

/// Whether a label is a sum of words: high bits of one are mixed in with what comes after by hashes
/// that rotate.
fn is_sum(run: &Run, label: Label) -> bool {
    let node = nodes::node(run, label);
    node.bits >= 32 && matches!(Op::from_byte(node.op), Some(Op::Add | Op::Mul))
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

/// Tells the driver of a word, and makes branches of the question whether it is one of those seen
/// before.
fn ask(run: &Run, now: &HashArgument, symbolic: bool, text: usize, site: u32) {
    let (hashes, function) = (&run.hashes, now.function);
    if symbolic || hashes.told.get() < MAX_OWN {
        let word = Bytes { start: text, size: now.len as usize };
        if let Some(table) = texts::copy(run, word, symbolic)
            && hashes.is_news(function, table)
        {
            tell(run, function, table);
        }
    }
    let asks = symbolic && hashes.branches.get() < MAX_BRANCHES;
    if !asks && hashes.count.get() == MAX_ARGUMENTS {
        return;
    }
    let mut known = false;
    for seen in hashes.with_key(now.key()) {
        // To be like one of two equal words is as good as to be like the other, but the program's
        // own stay the same.
        known |= seen.bytes == now.bytes && (symbolic || seen.labels == now.labels);
        if asks && seen.labels != now.labels {
            suggest(run, now, seen, site);
        }
    }
    if !known {
        hashes.keep(now);
    }
}

/// Two words of different length were found to be different, with the guard held.
pub fn differ(run: &Run, a: Bytes, b: Bytes) {
    let is_word = |word: &Bytes| (1..=MAX_BYTES).contains(&word.size);
    let symbolic = [a, b].map(|word| word.is_symbolic());
    if ![a, b].iter().all(is_word)
        || symbolic == [false, false]
        || run.hashes.told.get() >= MAX_TOLD
    {
        return;
    }
    let [is_a, is_b] = symbolic;
    let (Some(a), Some(b)) = (texts::copy(run, a, is_a), texts::copy(run, b, is_b)) else { return };
    // Functions have small numbers.
    if run.hashes.is_news(COMPARED | a, b) {
        let comparison = COMPARED | run.hashes.told.get();
        tell(run, comparison, a);
        tell(run, comparison, b);
    }
}

fn tell(run: &Run, asker: u32, table: u32) {
    if run.hashes.told.get() < MAX_TOLD {
        run.hashes.told.update(|told| told + 1);
        let kind = EventKind::Word as u8;
        events::push(run, Event { kind, taken: 0, aux: 0, site: asker, label: 0, arg: table });
    }
}

/// The bytes at `text` as far as they lie in a known object; `None` if they are too many or go
/// beyond it.
fn taken(run: &Run, function: u32, text: usize, len: i64) -> Option<HashArgument> {
    let object = objects::find(run, text)?;
    let room = (object.start + object.size).checked_sub(text)?;
    let most = room.min(MAX_BYTES);
    let len = usize::try_from(len).ok().filter(|len| (1..=most).contains(len));
    let mut taken =
        HashArgument { function, len: 0, bytes: [0; MAX_BYTES], labels: [0; MAX_BYTES] };
    let mut i = 0;
    while len.map_or(i == most || byte(text + i) != 0, |len| i < len) {
        if i == most {
            return None;
        }
        *taken.bytes.get_mut(i)? = byte(text + i);
        *taken.labels.get_mut(i)? = shadow::label_of_byte(run, text + i);
        i += 1;
    }
    taken.len = i as u32;
    (i > 0).then_some(taken)
}

/// The branch "the bytes equal those seen", unless that is impossible. That two words of the input
/// are equal ties their bytes together in every question that follows, so it is said a few times
/// only.
fn suggest(run: &Run, now: &HashArgument, seen: &HashArgument, site: u32) {
    let hashes = &run.hashes;
    if hashes.branches.get() >= MAX_BRANCHES {
        return;
    }
    if now.bytes == seen.bytes && seen.is_symbolic() {
        if hashes.ties.get() >= MAX_TIES {
            return;
        }
        hashes.ties.update(|ties| ties + 1);
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
        let same = Value::new(build::binary(run, Op::Eq, 8, a, b), (a.value == b.value) as u64);
        let both =
            if equal.label == 0 { same.label } else { build::binary(run, Op::And, 1, equal, same) };
        equal = Value::new(both, equal.value & same.value);
    }
    if equal.label != 0 {
        hashes.branches.update(|branches| branches + 1);
        events::branch(run, equal.label, equal.value == 1, site);
    }
}
