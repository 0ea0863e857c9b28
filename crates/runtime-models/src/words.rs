//! Input that arrives in the program's words: its arguments and the values of its environment
//! variables.
//!
//! The driver leaves `@{}` where a piece of the input belongs; pieces end at zero bytes. The last
//! argument `@{...}` stands for an argument for every piece that is left. Each run finds its own
//! pieces there, as if they had been given to `execve`.
//!
//! When `main` begins, the runtime takes its arguments ([`take`]), sees to it that a run has begun
//! if there are placeholders ([`any_placeholder`]), and fills them ([`fill`]).

use crate::input::label_input;
use crate::sources::Source;
use crate::state::models;
use core::cell::Cell;
use core::ffi::{c_char, c_int};
use core::ptr::null_mut;
use runtime_core::build::{self, Value};
use runtime_core::state::{self, Run};
use runtime_core::{events, nodes, os};
use trace::{Op, flags, words};

unsafe extern "C" {
    static mut environ: *mut *mut u8;
}

/// The arguments that `main` gets.
pub struct Words {
    count: Cell<c_int>,
    arguments: Cell<List>,
}

impl Words {
    pub const NEW: Words = Words { count: Cell::new(0), arguments: Cell::new(List(null_mut())) };
}

/// A list of words that ends with null, or null: the program's own, and there as long as it.
#[derive(Clone, Copy)]
struct List(*mut *mut u8);

impl List {
    /// The environment variables.
    fn environment() -> List {
        // SAFETY: the C library has set the variable, and `main` has not begun to change it.
        List(unsafe { environ })
    }

    /// The places of its words.
    fn places(self) -> impl Iterator<Item = &'static Cell<*mut u8>> {
        let end = if self.0.is_null() { 0 } else { usize::MAX };
        // SAFETY: what is before the null is the list's, and is only used as cells.
        let places = (0..end).map(move |i| unsafe { &*self.0.add(i).cast::<Cell<*mut u8>>() });
        places.take_while(|place| !place.get().is_null())
    }

    fn words(self) -> impl Iterator<Item = &'static [u8]> {
        self.places().map(word)
    }

    /// Bytes of all words, and of their ends.
    fn size(self) -> usize {
        self.words().map(|word| word.len() + 1).sum()
    }

    fn any_placeholder(self) -> bool {
        self.words().any(|word| is_all(word) || split(word).is_some())
    }
}

/// The word at a place of a list.
fn word(place: &Cell<*mut u8>) -> &'static [u8] {
    let start = place.get();
    let mut len = 0;
    // SAFETY: words end with a zero, and are as long there as the list. They do not change before
    // `main` goes on.
    unsafe {
        while *start.add(len) != 0 {
            len += 1;
        }
        core::slice::from_raw_parts(start, len)
    }
}

fn is_all(word: &[u8]) -> bool {
    word == words::ALL.as_bytes()
}

/// What is before and after the first placeholder of a word.
fn split(word: &[u8]) -> Option<(&[u8], &[u8])> {
    let piece = words::PIECE.as_bytes();
    let at = word.windows(piece.len()).position(|here| here == piece)?;
    Some((word.get(..at)?, word.get(at + piece.len()..)?))
}

/// `main` begins with these arguments; null if it takes none.
///
/// # Safety
/// They are the program's own list, with so many words and a null after them.
pub unsafe fn take(count: c_int, arguments: *mut *mut u8) {
    let words = &models().words;
    words.count.set(count);
    words.arguments.set(List(arguments));
}

/// Whether pieces of the input belong into arguments or environment variables. A program that
/// starts runs itself does so too late for them.
pub fn any_placeholder() -> bool {
    models().words.arguments.get().any_placeholder() || List::environment().any_placeholder()
}

/// Puts the input of this run there, if that is where it belongs.
pub fn fill(run: &Run) {
    if !run.segment.is_attached() || !run.segment.has_flag(flags::WORDS) {
        return;
    }
    let Some(_entered) = state::enter(run) else { return };
    if let Some(mut filler) = Filler::new(run) {
        filler.fill_arguments();
        filler.fill_words(List::environment().places());
    }
}

#[unsafe(no_mangle)]
pub extern "C" fn __tg_argument_count() -> c_int {
    models().words.count.get()
}

#[unsafe(no_mangle)]
pub extern "C" fn __tg_arguments() -> *mut *mut c_char {
    models().words.arguments.get().0.cast()
}

/// Puts pieces of the input, one after the other, into words.
struct Filler<'a> {
    run: &'a Run,
    input: *const u8,
    len: usize,
    /// Start of the next piece; `len + 1` if there is none.
    next: usize,
    /// Free memory for new words, zeroed and enough for all.
    memory: *mut u8,
}

impl Filler<'_> {
    /// The run's segment is attached; nothing need be symbolic.
    fn new(run: &Run) -> Option<Filler<'_>> {
        let header = run.segment.header();
        // SAFETY: attached.
        let (len, offset) = unsafe { ((*header).input_len as usize, (*header).input.offset) };
        let input = header.cast::<u8>().wrapping_add(offset as usize);
        let words = models().words.arguments.get().size() + List::environment().size();
        // Each piece once, each word once, and a new list of arguments with one for each byte at
        // most.
        let size = 2 * (len + words) + size_of::<usize>() * (len + words + 2);
        let memory = os::allocate_after_guard(size);
        (!memory.is_null()).then_some(Filler { run, input, len, next: 0, memory: memory.cast() })
    }

    fn fill_arguments(&mut self) {
        let words = &models().words;
        let (count, list) = (words.count.get().max(0) as usize, words.arguments.get());
        // Before the last word is filled, which may make any word of it.
        let takes_rest = count > 1 && list.words().nth(count - 1).is_some_and(is_all);
        self.fill_words(list.places().take(count));
        if takes_rest {
            let (count, list) = self.with_rest(list, count - 1);
            words.count.set(count as c_int);
            words.arguments.set(list);
        }
    }

    /// A list of the first `kept` words and one for each piece that is left, and how many that are.
    fn with_rest(&mut self, list: List, kept: usize) -> (usize, List) {
        let aligned = self.memory.wrapping_add(self.memory.align_offset(align_of::<*mut u8>()));
        let new = aligned.cast::<*mut u8>();
        self.memory = new.wrapping_add(kept + self.len + 3).cast();
        let mut count = 0;
        let mut add = |word: *mut u8| {
            // SAFETY: there is room for the kept words, one for each byte, one more, and a null.
            unsafe { new.add(count).write(word) };
            count += 1;
        };
        list.places().take(kept).for_each(|place| add(place.get()));
        while self.next <= self.len && self.len != 0 {
            add(self.memory);
            self.put_piece();
            self.end_word();
        }
        (count, List(new))
    }

    fn fill_words(&mut self, places: impl Iterator<Item = &'static Cell<*mut u8>>) {
        for place in places {
            let word = word(place);
            if split(word).is_some() {
                place.set(self.filled(word));
            }
        }
    }

    fn filled(&mut self, word: &[u8]) -> *mut u8 {
        let start = self.memory;
        let mut rest = word;
        while let Some((before, after)) = split(rest) {
            self.put(before);
            self.put_piece();
            rest = after;
        }
        self.put(rest);
        self.end_word();
        start
    }

    fn put(&mut self, bytes: &[u8]) {
        // SAFETY: the memory is new, and enough for all words and pieces.
        unsafe {
            core::ptr::copy_nonoverlapping(bytes.as_ptr(), self.memory, bytes.len());
            self.memory = self.memory.add(bytes.len());
        }
    }

    fn end_word(&mut self) {
        self.put(&[0]);
    }

    /// The next piece, with labels.
    fn put_piece(&mut self) {
        let start = self.next;
        if start > self.len {
            return;
        }
        let mut end = start;
        while self.goes_on(end) {
            end += 1;
        }
        let size = end - start;
        if self.run.symbolic.get() {
            label_input(self.run, Source::WHOLE, self.memory, start as u64, size);
        }
        // SAFETY: these bytes were just read, one by one.
        self.put(unsafe { core::slice::from_raw_parts(self.input.add(start), size) });
        self.next = end + 1;
    }

    /// Whether the byte at `index` is part of the piece before it; which is a condition on the
    /// input.
    fn goes_on(&self, index: usize) -> bool {
        let is_symbolic = self.run.symbolic.get();
        if is_symbolic {
            Source::WHOLE.ask_byte(self.run, index as u64);
        }
        if index >= self.len {
            return false;
        }
        // SAFETY: it is a byte of the input.
        let byte = unsafe { *self.input.add(index) };
        if is_symbolic {
            ask_zero(self.run, index, byte);
        }
        byte != 0
    }
}

/// The condition that the input's byte ends a piece.
fn ask_zero(run: &Run, index: usize, byte: u8) {
    let value = Value::new(nodes::input_byte(run, index as u32), byte as u64);
    let ends = build::binary(run, Op::Eq, 8, value, Value::concrete(0));
    events::branch(run, ends, byte == 0, 0);
}
