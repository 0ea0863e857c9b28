//! Classes and cases of wide characters, and conversions from bytes. Only what is ASCII has expressions; which characters are
//! is a branch.

use super::logic::*;
use super::{MAX_STRING, answer, answer_checked, byte, give_up, set_label};
use crate::build::Value;
use crate::calls::{self, Args};
use crate::{shadow, state};
use core::ffi::{c_char, c_int, c_void};
use trace::{ConcretiseReason, Op};

unsafe extern "C" {
    fn __ctype_b_loc() -> *mut *const u16;
    fn towupper(c: u32) -> u32;
    fn towlower(c: u32) -> u32;
    fn mbstowcs(to: *mut i32, from: *const c_char, limit: usize) -> usize;
    fn mbtowc(to: *mut i32, from: *const c_char, limit: usize) -> c_int;
    fn mbrtowc(to: *mut i32, from: *const c_char, limit: usize, state: *mut c_void) -> usize;
    fn btowc(c: c_int) -> u32;
}

/// An argument that is an ASCII character, as a byte; `None`, counted, if it is not.
unsafe fn ascii(c: Value) -> Option<Value> {
    unsafe {
        if ask(apply_to(Op::Ult, 32, c, 0x80)) {
            return Some(truncated(8, c));
        }
        give_up();
        None
    }
}

/// The bytes of a class in the current locale.
unsafe fn class_set(class: u16) -> ByteSet {
    unsafe {
        let table = *__ctype_b_loc();
        let mut set = ByteSet::EMPTY;
        for c in 0..0x80u8 {
            if *table.add(c as usize) & class != 0 {
                set.insert(c);
            }
        }
        set
    }
}

unsafe fn classified(c: u32, class: u16, result: c_int) {
    unsafe {
        let label = Args::take().label(0);
        answer(0);
        if label == 0 {
            return;
        }
        let Some(_entered) = state::enter() else { return };
        let Some(byte) = ascii(Value::new(label, c as u64)) else { return };
        let yes = Value::concrete(if result != 0 { result as u32 as u64 } else { 1 });
        answer_checked(choose(32, class_set(class).holds(byte), yes, FALSE), result as u32 as u64);
    }
}

macro_rules! classes {
    ($($name:ident = $real:ident, $class:expr;)*) => {
        unsafe extern "C" {
            $(fn $real(c: u32) -> c_int;)*
        }
        $(#[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(c: u32) -> c_int {
            unsafe {
                let result = $real(c);
                classified(c, $class, result);
                result
            }
        })*
    };
}

classes!(
    __tarragon_model_iswupper = iswupper, 1 << 8;
    __tarragon_model_iswlower = iswlower, 1 << 9;
    __tarragon_model_iswalpha = iswalpha, 1 << 10;
    __tarragon_model_iswdigit = iswdigit, 1 << 11;
    __tarragon_model_iswxdigit = iswxdigit, 1 << 12;
    __tarragon_model_iswspace = iswspace, 1 << 13;
    __tarragon_model_iswprint = iswprint, 1 << 14;
    __tarragon_model_iswgraph = iswgraph, 1 << 15;
    __tarragon_model_iswblank = iswblank, 1 << 0;
    __tarragon_model_iswcntrl = iswcntrl, 1 << 1;
    __tarragon_model_iswpunct = iswpunct, 1 << 2;
    __tarragon_model_iswalnum = iswalnum, 1 << 3;
);

/// Letters from `from` on change their case.
unsafe fn converted(c: u32, from: u8, result: u32) {
    unsafe {
        let label = Args::take().label(0);
        answer(0);
        if label == 0 {
            return;
        }
        let Some(_entered) = state::enter() else { return };
        let c = Value::new(label, c as u64);
        let Some(byte) = ascii(c) else { return };
        let changed = apply_to(Op::Xor, 32, c, 0x20);
        answer_checked(choose(32, within(byte, from, from + 25), changed, c), result as u64);
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_model_towupper(c: u32) -> u32 {
    unsafe {
        let result = towupper(c);
        converted(c, b'a', result);
        result
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_model_towlower(c: u32) -> u32 {
    unsafe {
        let result = towlower(c);
        converted(c, b'A', result);
        result
    }
}

/// The wide character of a byte, if both are the same ASCII character.
unsafe fn widened(c: Value, result: u64) -> Option<Value> {
    unsafe {
        let plain = ask(apply_to(Op::Ult, 8, c, 0x80));
        if plain && c.value == result {
            return Some(zero_extended(8, 32, c));
        }
        if c.label != 0 {
            give_up();
        }
        None
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_model_btowc(c: c_int) -> u32 {
    unsafe {
        let label = Args::take().label(0);
        let result = btowc(c);
        answer(0);
        if label != 0
            && let Some(_entered) = state::enter()
        {
            ascii(Value::new(label, c as u32 as u64));
            answer(if result == c as u32 { label } else { 0 });
        }
        result
    }
}

/// `to` holds `count` wide characters made of the bytes at `from`, as long as those are ASCII.
unsafe fn label_widened(to: *mut i32, from: *const c_char, count: usize) {
    unsafe {
        shadow::clear(to as usize, count * 4);
        let Some(_entered) = state::enter() else { return };
        for i in 0..count.min(MAX_STRING) {
            let c = byte(from.cast::<u8>().add(i));
            // A 0 ends the text.
            ask(is(c, 0));
            let Some(wide) = widened(c, to.add(i).read() as u32 as u64) else { return };
            set_label(to.add(i).cast(), wide.label, 4);
        }
    }
}

/// The text has a byte that is no character: it is the first that is not ASCII, as far as the model knows.
unsafe fn refused(from: *const c_char, limit: usize) {
    unsafe {
        let Some(_entered) = state::enter() else { return };
        for i in 0..limit.min(MAX_STRING) {
            let c = byte(from.cast::<u8>().add(i));
            if ask(is(c, 0)) || !ask(apply_to(Op::Ult, 8, c, 0x80)) {
                break;
            }
        }
        give_up();
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_model_mbstowcs(to: *mut i32, from: *const c_char, limit: usize) -> usize {
    unsafe {
        calls::concretise_args(&Args::take(), ConcretiseReason::CopyLength);
        let result = mbstowcs(to, from, limit);
        answer(0);
        if !state::active() || to.is_null() {
            return result;
        }
        if result == usize::MAX {
            refused(from, limit);
        } else {
            label_widened(to, from, (result + 1).min(limit));
        }
        result
    }
}

/// One character was converted, of which `used` bytes were read.
unsafe fn converted_one(to: *mut i32, from: *const c_char, used: usize) {
    unsafe {
        answer(0);
        if !state::active() || from.is_null() || used > 16 {
            return;
        }
        if used <= 1 && !to.is_null() {
            return label_widened(to, from, 1);
        }
        if !to.is_null() {
            shadow::clear(to as usize, 4);
        }
        if shadow::any_label(from as usize, used) {
            super::give_up_outside();
        }
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_model_mbtowc(to: *mut i32, from: *const c_char, limit: usize) -> c_int {
    unsafe {
        calls::concretise_args(&Args::take(), ConcretiseReason::CopyLength);
        let result = mbtowc(to, from, limit);
        converted_one(to, from, result as usize);
        result
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_model_mbrtowc(
    to: *mut i32,
    from: *const c_char,
    limit: usize,
    state: *mut c_void,
) -> usize {
    unsafe {
        calls::concretise_args(&Args::take(), ConcretiseReason::CopyLength);
        let result = mbrtowc(to, from, limit, state);
        converted_one(to, from, result);
        result
    }
}
