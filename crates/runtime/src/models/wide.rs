//! Wide characters: strings of them, their classes, and conversions from bytes. Only what is ASCII has expressions in the
//! classes and conversions; which characters are is a branch.

use super::compare::{WIDE_MEMORY, WIDE_STRINGS};
use super::logic::*;
use super::{MAX_STRING, answer, answer_checked, byte, element, give_up, set_label};
use crate::build::Value;
use crate::calls::{self, Args};
use crate::{memory, shadow, state};
use core::ffi::{c_char, c_int, c_void};
use trace::{ConcretiseReason, Op};

unsafe extern "C" {
    fn wcslen(string: *const i32) -> usize;
    fn wcsnlen(string: *const i32, limit: usize) -> usize;
    fn wcscmp(a: *const i32, b: *const i32) -> c_int;
    fn wcsncmp(a: *const i32, b: *const i32, limit: usize) -> c_int;
    fn wmemcmp(a: *const i32, b: *const i32, count: usize) -> c_int;
    fn wcschr(string: *const i32, c: i32) -> *mut i32;
    fn wcsrchr(string: *const i32, c: i32) -> *mut i32;
    fn wmemchr(from: *const i32, c: i32, count: usize) -> *mut i32;
    fn __ctype_b_loc() -> *mut *const u16;
    fn towupper(c: u32) -> u32;
    fn towlower(c: u32) -> u32;
    fn mbstowcs(to: *mut i32, from: *const c_char, limit: usize) -> usize;
    fn mbtowc(to: *mut i32, from: *const c_char, limit: usize) -> c_int;
    fn mbrtowc(to: *mut i32, from: *const c_char, limit: usize, state: *mut c_void) -> usize;
    fn btowc(c: c_int) -> u32;
}

pub(super) unsafe fn length(string: *const i32) -> usize {
    unsafe { wcslen(string) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_model_wcslen(string: *const i32) -> usize {
    unsafe {
        calls::__tgi_args_taken();
        let count = wcslen(string);
        WIDE_STRINGS.measured(string.cast(), count, usize::MAX);
        count
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_model_wcsnlen(string: *const i32, limit: usize) -> usize {
    unsafe {
        calls::concretise_args(&Args::take(), ConcretiseReason::CopyLength);
        let count = wcsnlen(string, limit);
        WIDE_STRINGS.measured(string.cast(), count, limit);
        count
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_model_wcscmp(a: *const i32, b: *const i32) -> c_int {
    unsafe {
        calls::__tgi_args_taken();
        let result = wcscmp(a, b);
        WIDE_STRINGS.compared_strings(a.cast(), b.cast(), usize::MAX, result);
        result
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_model_wcsncmp(a: *const i32, b: *const i32, limit: usize) -> c_int {
    unsafe {
        calls::concretise_args(&Args::take(), ConcretiseReason::CopyLength);
        let result = wcsncmp(a, b, limit);
        WIDE_STRINGS.compared_strings(a.cast(), b.cast(), limit, result);
        result
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_model_wmemcmp(a: *const i32, b: *const i32, count: usize) -> c_int {
    unsafe {
        calls::concretise_args(&Args::take(), ConcretiseReason::CopyLength);
        let result = wmemcmp(a, b, count);
        WIDE_MEMORY.compared(a.cast(), b.cast(), count, result);
        result
    }
}

/// What is looked for, and which of several counts.
struct Search {
    start: *const i32,
    count: usize,
    wanted: Value,
    last: bool,
    /// A 0 ends the range.
    terminated: bool,
}

impl Search {
    /// The place of the element that is found, or 0.
    unsafe fn expression(&self) -> Value {
        unsafe {
            let (mut rest, mut found) = (FALSE, FALSE);
            for i in (0..self.count).rev() {
                let here = element(self.start.add(i).cast(), 4);
                let hit = apply(Op::Eq, 32, here, self.wanted);
                let end = if self.terminated { apply_to(Op::Eq, 32, here, 0) } else { FALSE };
                let place = Value::concrete(self.start.add(i) as u64);
                if self.last {
                    let first = choose(64, hit, place, FALSE);
                    rest = choose(64, end, first, choose(64, found, rest, first));
                    found = either(hit, both(negated(end), found));
                } else {
                    rest = choose(64, hit, place, choose(64, end, FALSE, rest));
                    found = either(hit, found);
                }
            }
            rest
        }
    }

    unsafe fn answer(&self, result: *const i32) {
        unsafe {
            answer(0);
            let symbolic = state::active()
                && (self.wanted.label != 0 || shadow::any_label(self.start as usize, self.count * 4));
            if !symbolic {
                return;
            }
            let Some(_entered) = state::enter() else { return };
            if self.count > MAX_STRING {
                return give_up();
            }
            answer_checked(self.expression(), result as u64);
        }
    }
}

macro_rules! string_searches {
    ($($name:ident = $real:ident, $last:literal;)*) => {$(
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(start: *const i32, c: i32) -> *mut i32 {
            unsafe {
                let wanted = Value::new(Args::take().label(1), c as u32 as u64);
                let result = $real(start, c);
                let count = if state::active() {
                    super::extent(start.cast(), 4, wcslen(start), usize::MAX).count + 1
                } else {
                    0
                };
                Search { start, count, wanted, last: $last, terminated: true }.answer(result);
                result
            }
        }
    )*};
}

string_searches!(
    __tarragon_model_wcschr = wcschr, false;
    __tarragon_model_wcsrchr = wcsrchr, true;
);

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_model_wmemchr(start: *const i32, c: i32, count: usize) -> *mut i32 {
    unsafe {
        let args = Args::take();
        super::concretise(args.label(2), ConcretiseReason::CopyLength);
        let wanted = Value::new(args.label(1), c as u32 as u64);
        let result = wmemchr(start, c, count);
        // Characters behind the match need not exist.
        let seen = if result.is_null() { count } else { result.offset_from(start) as usize + 1 };
        if !result.is_null()
            && (wanted.label != 0 || shadow::any_label(result as usize, 4))
            && let Some(_entered) = state::enter()
        {
            ask(apply(Op::Eq, 32, element(result.cast(), 4), wanted));
        }
        Search { start, count: seen, wanted, last: false, terminated: false }.answer(result);
        result
    }
}

unsafe fn copy(to: *mut i32, from: *const i32, count: usize) {
    unsafe { memory::copy_with_labels(to.cast(), from.cast(), count * 4) }
}

unsafe fn fill(to: *mut i32, c: i32, count: usize, label: u32) {
    unsafe {
        for i in 0..count {
            to.add(i).write(c);
        }
        shadow::clear(to as usize, count * 4);
        if label != 0
            && let Some(_entered) = state::enter()
        {
            for i in 0..count {
                set_label(to.add(i).cast(), label, 4);
            }
        }
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_model_wcscpy(to: *mut i32, from: *const i32) -> *mut i32 {
    unsafe {
        calls::__tgi_args_taken();
        copy(to, from, wcslen(from) + 1);
        answer(0);
        to
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_model_wcsncpy(to: *mut i32, from: *const i32, count: usize) -> *mut i32 {
    unsafe {
        calls::concretise_args(&Args::take(), ConcretiseReason::CopyLength);
        let used = wcsnlen(from, count);
        copy(to, from, used);
        fill(to.add(used), 0, count - used, 0);
        answer(0);
        to
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_model_wcscat(to: *mut i32, from: *const i32) -> *mut i32 {
    unsafe {
        calls::__tgi_args_taken();
        copy(to.add(wcslen(to)), from, wcslen(from) + 1);
        answer(0);
        to
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_model_wmemcpy(to: *mut i32, from: *const i32, count: usize) -> *mut i32 {
    unsafe {
        calls::concretise_args(&Args::take(), ConcretiseReason::CopyLength);
        copy(to, from, count);
        answer(0);
        to
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_model_wmemmove(to: *mut i32, from: *const i32, count: usize) -> *mut i32 {
    unsafe { __tarragon_model_wmemcpy(to, from, count) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_model_wmempcpy(to: *mut i32, from: *const i32, count: usize) -> *mut i32 {
    unsafe { __tarragon_model_wmemcpy(to, from, count).add(count) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_model_wmemset(to: *mut i32, c: i32, count: usize) -> *mut i32 {
    unsafe {
        let args = Args::take();
        super::concretise(args.label(2), ConcretiseReason::CopyLength);
        fill(to, c, count, args.label(1));
        answer(0);
        to
    }
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
unsafe fn class_set(class: u16) -> Set {
    unsafe {
        let table = *__ctype_b_loc();
        let mut set = Set::EMPTY;
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
