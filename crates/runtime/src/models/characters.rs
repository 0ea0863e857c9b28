//! Classes and cases of characters.
//!
//! Of bytes, programs read glibc's tables directly through the `__ctype_*_loc` functions, so it is
//! enough to know where the tables are; the functions are reads of the same tables. Of wide
//! characters only what is ASCII has expressions; which ones are is a branch.

use super::logic::*;
use super::table::real;
use super::{answer, answer_checked, call_site, give_up, guarded};
use crate::build::{self, Value};
use crate::calls::Args;
use crate::{address, objects};
use core::ffi::c_int;
use trace::{Label, Op};

/// The bits of classes in glibc's table on a little-endian machine.
pub(super) mod class {
    pub const UPPER: u16 = 1 << 8;
    pub const LOWER: u16 = 1 << 9;
    pub const ALPHA: u16 = 1 << 10;
    pub const DIGIT: u16 = 1 << 11;
    pub const XDIGIT: u16 = 1 << 12;
    pub const SPACE: u16 = 1 << 13;
    pub const PRINT: u16 = 1 << 14;
    pub const GRAPH: u16 = 1 << 15;
    pub const BLANK: u16 = 1 << 0;
    pub const CNTRL: u16 = 1 << 1;
    pub const PUNCT: u16 = 1 << 2;
    pub const ALNUM: u16 = 1 << 3;
}

/// The tables have entries for -128 to 255.
const BELOW: usize = 128;
const ENTRIES: usize = 384;

fn is_in_table(c: c_int) -> bool {
    (-128..256).contains(&c)
}

/// `__ctype_b_loc`: the object of the table becomes known.
pub(super) unsafe fn table<T>(real: unsafe extern "C" fn() -> *mut *const T, _: &Args) -> *mut *const T {
    unsafe {
        let place = real();
        register(*place);
        answer(0);
        place
    }
}

unsafe fn register<T>(table: *const T) {
    unsafe { objects::register_table(table.wrapping_sub(BELOW) as usize, ENTRIES * size_of::<T>()) }
}

/// Label of `table[c]` for a symbolic `c`; the guard is not held.
unsafe fn look_up<T>(table: *const T, c: Value, value: u64) -> Label {
    unsafe {
        register(table);
        let (table, size) = (table as usize, size_of::<T>());
        let Some(label) = guarded(|| build::sext(32, 64, c)) else { return 0 };
        let wide = Value::new(label, c.value as i32 as i64 as u64);
        let place = build::__tg_index(0, wide.label, table as u64, wide.value, size as u64);
        let at = table.wrapping_add((wide.value as usize).wrapping_mul(size));
        address::__tg_load_at(at, place, value, size, 0, 0, call_site())
    }
}

/// `toupper` and `tolower`
pub(super) unsafe fn case_in(
    table: unsafe extern "C" fn() -> *mut *const i32,
    real: unsafe extern "C" fn(c_int) -> c_int,
    labels: &Args,
    c: c_int,
) -> c_int {
    unsafe {
        let (label, result) = (labels.label(0), real(c));
        let label = if label != 0 && is_in_table(c) {
            look_up(*table(), Value::new(label, c as u32 as u64), result as u32 as u64)
        } else {
            0
        };
        answer(label);
        result
    }
}

/// `isalpha`: `table[c] & class`
pub(super) unsafe fn is_in_class(class: u16, labels: &Args, c: c_int) -> c_int {
    unsafe {
        answer(0);
        if !is_in_table(c) {
            return 0;
        }
        // SAFETY: the table has an entry for the character.
        let table = *real::__ctype_b_loc();
        let entry = *table.offset(c as isize);
        if labels.label(0) != 0 {
            let c = Value::new(labels.label(0), c as u32 as u64);
            let read = Value::new(look_up(table, c, entry as u64), entry as u64);
            guarded(|| {
                let wide = zero_extended(16, 32, read);
                answer(build::binary(Op::And, 32, wide, Value::concrete(class as u64)));
            });
        }
        (entry & class) as c_int
    }
}

/// A wide character that is ASCII, as a byte; `None`, counted, if it is not.
pub(super) unsafe fn ascii(c: Value) -> Option<Value> {
    unsafe {
        if branch_on(apply_to(Op::Ult, 32, c, 0x80)) {
            return Some(truncated(8, c));
        }
        give_up();
        None
    }
}

/// The ASCII characters of a class in the current locale.
unsafe fn class_set(class: u16) -> ByteSet {
    let mut set = ByteSet::EMPTY;
    // SAFETY: the table has entries for all bytes.
    let table = unsafe { *real::__ctype_b_loc() };
    let holds = |c: &u8| unsafe { *table.add(*c as usize) & class != 0 };
    (0..0x80).filter(holds).for_each(|c| set.insert(c));
    set
}

/// `iswalpha`
pub(super) unsafe fn wide_is_in_class(class: u16, labels: &Args, c: u32, result: c_int) {
    unsafe {
        if labels.label(0) == 0 {
            return;
        }
        let Some(byte) = ascii(Value::new(labels.label(0), c as u64)) else { return };
        let yes = Value::concrete(if result != 0 { result as u32 as u64 } else { 1 });
        let is_member = class_set(class).holds(byte);
        answer_checked(choose(32, is_member, yes, FALSE), result as u32 as u64);
    }
}

/// `towupper` and `towlower`: letters from `from` on change their case.
pub(super) unsafe fn wide_case(from: u8, labels: &Args, c: u32, result: u32) {
    unsafe {
        if labels.label(0) == 0 {
            return;
        }
        let c = Value::new(labels.label(0), c as u64);
        let Some(byte) = ascii(c) else { return };
        let changed = apply_to(Op::Xor, 32, c, 0x20);
        answer_checked(choose(32, within(byte, from, from + 25), changed, c), result as u64);
    }
}
