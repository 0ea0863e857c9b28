//! Input that arrives in the program's words: its arguments and the values of its environment variables.
//!
//! The driver leaves `@{}` where a piece of the input belongs; pieces end at zero bytes. The last argument `@{...}`
//! stands for an argument for every piece that is left. Each run finds its own pieces there, as if they had been given
//! to `execve`.

use crate::build::{self, Value};
use crate::models::input::{ask_byte, label_input};
use crate::state::{self, STATE};
use crate::{events, nodes, os, start};
use core::ffi::{c_char, c_int};
use core::ptr::null_mut;
use trace::{Header, Op, flags, words};

unsafe extern "C" {
    static mut environ: *mut *mut u8;
}

static mut ARGUMENT_COUNT: c_int = 0;
static mut ARGUMENTS: *mut *mut u8 = null_mut();

/// Called after [`__tg_start`](crate::start::__tg_start), with null if `main` takes no arguments.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tg_words(count: c_int, arguments: *mut *mut u8) {
    unsafe {
        (ARGUMENT_COUNT, ARGUMENTS) = (count, arguments);
        // A program that starts runs itself does so too late for its words.
        if start::is_deferred() && (any_placeholder(arguments) || any_placeholder(environ)) {
            start::__tarragon_init();
        }
        let header = STATE.header;
        if header.is_null() || (*header).flags & flags::WORDS == 0 {
            return;
        }
        let Some(_entered) = state::enter() else { return };
        if let Some(mut filler) = Filler::new(header, arguments) {
            filler.fill_arguments(count, arguments);
            filler.fill_list(environ, usize::MAX);
        }
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tg_argument_count() -> c_int {
    unsafe { ARGUMENT_COUNT }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tg_arguments() -> *mut *mut c_char {
    unsafe { ARGUMENTS.cast() }
}

/// Puts pieces of the input, one after the other, into words.
struct Filler {
    input: *const u8,
    len: usize,
    /// Start of the next piece; `len + 1` if there is none.
    next: usize,
    /// Free memory for new words, enough for all.
    memory: *mut u8,
}

impl Filler {
    unsafe fn new(header: *mut Header, arguments: *mut *mut u8) -> Option<Filler> {
        unsafe {
            let len = (*header).input_len as usize;
            let input = header.cast::<u8>().add((*header).input.offset as usize);
            let words = list_size(arguments) + list_size(environ);
            // Each piece once, each word once, and a new list of arguments with one for each byte at most.
            let memory = os::allocate(2 * (len + words) + size_of::<usize>() * (len + words + 2));
            if memory.is_null() {
                return None;
            }
            Some(Filler { input, len, next: 0, memory: memory.cast() })
        }
    }

    unsafe fn fill_arguments(&mut self, count: c_int, arguments: *mut *mut u8) {
        unsafe {
            if arguments.is_null() || count < 1 {
                return;
            }
            let last = count as usize - 1;
            self.fill_list(arguments, last);
            if last == 0 || !is_all(*arguments.add(last)) {
                return self.fill_list(arguments.add(last), 1);
            }
            let list = self.memory.add(self.memory.align_offset(8)).cast::<*mut u8>();
            self.memory = list.add(last + self.len + 3).cast();
            core::ptr::copy_nonoverlapping(arguments, list, last);
            let mut count = last;
            while self.next <= self.len && self.len != 0 {
                *list.add(count) = self.memory;
                self.put_piece();
                self.end_word();
                count += 1;
            }
            (ARGUMENT_COUNT, ARGUMENTS) = (count as c_int, list);
        }
    }

    /// Fills at most `most` words of a list that ends with null.
    unsafe fn fill_list(&mut self, list: *mut *mut u8, most: usize) {
        unsafe {
            let mut i = 0;
            while i < most && !list.is_null() && !(*list.add(i)).is_null() {
                if find_piece(*list.add(i)).is_some() {
                    *list.add(i) = self.fill(*list.add(i));
                }
                i += 1;
            }
        }
    }

    unsafe fn fill(&mut self, word: *const u8) -> *mut u8 {
        unsafe {
            let start = self.memory;
            let mut rest = word;
            while let Some(before) = find_piece(rest) {
                self.put(rest, before);
                self.put_piece();
                rest = rest.add(before + words::PIECE.len());
            }
            self.put(rest, length(rest));
            self.end_word();
            start
        }
    }

    unsafe fn put(&mut self, from: *const u8, size: usize) {
        unsafe {
            core::ptr::copy_nonoverlapping(from, self.memory, size);
            self.memory = self.memory.add(size);
        }
    }

    unsafe fn end_word(&mut self) {
        unsafe {
            *self.memory = 0;
            self.memory = self.memory.add(1);
        }
    }

    /// Whether the byte at `index` is part of the piece before it; which is a condition on the input.
    unsafe fn goes_on(&self, index: usize) -> bool {
        unsafe {
            if STATE.symbolic {
                ask_byte(index as u64);
            }
            if index >= self.len {
                return false;
            }
            let byte = *self.input.add(index);
            if STATE.symbolic {
                ask_zero(index, byte);
            }
            byte != 0
        }
    }

    /// The next piece, with labels.
    unsafe fn put_piece(&mut self) {
        unsafe {
            let start = self.next;
            if start > self.len {
                return;
            }
            let mut end = start;
            while self.goes_on(end) {
                end += 1;
            }
            if STATE.symbolic {
                label_input(self.memory, start as u64, end - start);
            }
            self.put(self.input.add(start), end - start);
            self.next = end + 1;
        }
    }
}

/// The condition that the input's byte ends a piece.
unsafe fn ask_zero(index: usize, byte: u8) {
    unsafe {
        let value = Value::new(nodes::input_byte(index as u32), byte as u64);
        let ends = build::binary(Op::Eq, 8, value, Value::concrete(0));
        events::branch(ends, byte == 0, 0);
    }
}

/// Bytes of all words of a list that ends with null, and of their ends.
unsafe fn list_size(list: *mut *mut u8) -> usize {
    let mut size = 0;
    unsafe {
        let mut i = 0;
        while !list.is_null() && !(*list.add(i)).is_null() {
            size += length(*list.add(i)) + 1;
            i += 1;
        }
    }
    size
}

unsafe fn any_placeholder(list: *mut *mut u8) -> bool {
    unsafe {
        let mut i = 0;
        while !list.is_null() && !(*list.add(i)).is_null() {
            let word = *list.add(i);
            if is_all(word) || find_piece(word).is_some() {
                return true;
            }
            i += 1;
        }
        false
    }
}

unsafe fn length(word: *const u8) -> usize {
    let mut len = 0;
    unsafe {
        while *word.add(len) != 0 {
            len += 1;
        }
    }
    len
}

unsafe fn is_all(word: *const u8) -> bool {
    unsafe { core::slice::from_raw_parts(word, length(word)) == words::ALL.as_bytes() }
}

/// Where the first placeholder of a word starts.
unsafe fn find_piece(word: *const u8) -> Option<usize> {
    let piece = words::PIECE.as_bytes();
    unsafe {
        let word = core::slice::from_raw_parts(word, length(word));
        word.windows(piece.len()).position(|here| here == piece)
    }
}
