//! Wide characters read from the input. A wide stream converts more bytes than the program has
//! seen, so the position is counted by the characters that were delivered; only ASCII characters
//! have expressions.

use super::input::ask_byte;
use super::logic::*;
use super::stdio::{Stream, next_of_wide};
use super::table::real;
use super::{answer, give_up, guarded, set_label};
use crate::build::Value;
use crate::calls::Args;
use crate::state::STATE;
use crate::{nodes, shadow};
use core::ffi::c_int;
use trace::Op;

const END: u32 = u32::MAX;

/// Bytes of a character in UTF-8.
fn encoded_size(c: u32) -> i64 {
    match c {
        0..0x80 => 1,
        0x80..0x800 => 2,
        0x800..0x1_0000 => 3,
        _ => 4,
    }
}

/// The label of a character that the stream delivered from byte `*next` on, and its events.
unsafe fn delivered(next: *mut i64, c: u32) -> u32 {
    unsafe {
        let at = (*next).max(0) as u64;
        ask_byte(at);
        if at >= STATE.input_len as u64 {
            return 0;
        }
        let byte = nodes::input_value(at as u32);
        let plain = branch_on(apply_to(Op::Ult, 8, byte, 0x80));
        if c != END {
            *next += encoded_size(c);
        }
        if plain && byte.value == c as u64 {
            return zero_extended(8, 32, byte).label;
        }
        give_up();
        0
    }
}

/// `fgetwc`
pub(super) unsafe fn next(_: &Args, stream: *mut Stream) -> u32 {
    unsafe {
        let next = next_of_wide(stream);
        let result = real::fgetwc(stream);
        answer(0);
        if let Some(next) = next {
            guarded(|| answer(delivered(next, result)));
        }
        result
    }
}

/// `ungetwc`
pub(super) unsafe fn push_back(labels: &Args, c: u32, stream: *mut Stream) -> u32 {
    unsafe {
        let next = next_of_wide(stream);
        let result = real::ungetwc(c, stream);
        answer(if result == c { labels.label(0) } else { 0 });
        if result != END
            && let Some(next) = next
        {
            *next = (*next - encoded_size(c)).max(0);
        }
        result
    }
}

/// A line of at most `limit` characters was delivered into `to`; it may hold 0.
unsafe fn delivered_line(to: *mut i32, limit: usize, next: *mut i64) {
    unsafe {
        for i in 0..limit {
            if *next >= STATE.input_len as i64 {
                return ask_byte((*next).max(0) as u64);
            }
            let c = to.add(i).read() as u32;
            let label = delivered(next, c);
            set_label(to.add(i).cast(), label, 4);
            if branch_on(apply_to(Op::Eq, 32, Value::new(label, c as u64), b'\n' as u64)) {
                return;
            }
        }
    }
}

/// No line was delivered: the input ended, or has a byte that is no character.
unsafe fn refused_line(limit: usize, next: *mut i64) {
    unsafe {
        for _ in 0..limit {
            let c = STATE.values.add(1 + (*next).clamp(0, STATE.input_len as i64) as usize).read() as u32;
            let ends = *next >= STATE.input_len as i64 || c >= 0x80;
            let label = delivered(next, if ends { END } else { c });
            if ends {
                return;
            }
            branch_on(apply_to(Op::Eq, 32, Value::new(label, c as u64), b'\n' as u64));
        }
    }
}

/// `fgetws`
pub(super) unsafe fn line(_: &Args, to: *mut i32, size: c_int, stream: *mut Stream) -> *mut i32 {
    unsafe {
        let next = next_of_wide(stream);
        let result = real::fgetws(to, size, stream);
        answer(0);
        let limit = size.max(1) as usize - 1;
        if !result.is_null() {
            shadow::clear(to as usize, (real::wcslen(to) + 1) * 4);
        }
        let Some(next) = next else { return result };
        guarded(
            || {
                if result.is_null() { refused_line(limit, next) } else { delivered_line(to, limit, next) }
            },
        );
        result
    }
}
