//! Classes and cases of characters.
//!
//! Of bytes, programs read glibc's tables directly through the `__ctype_*_loc` functions, so it is
//! enough to know where the tables are; the functions are reads of the same tables. Of wide
//! characters only what is ASCII has expressions; which ones are is a branch.

use super::logic::*;
use super::table::real;
use super::{answer, answer_checked, give_up, give_up_outside, guarded};
use core::ffi::c_int;
use runtime_core::build::{self, Value};
use runtime_core::calls::{Args, call_site};
use runtime_core::state::Run;
use runtime_core::{address, objects};
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
pub(super) fn table<T>(
    run: &Run,
    real: unsafe extern "C" fn() -> *mut *const T,
    _: &Args,
) -> *mut *const T {
    // SAFETY: one of the library's three functions without arguments, each of which returns where
    // its table is.
    let (place, table) = unsafe {
        let place = real();
        (place, *place)
    };
    register(run, table);
    answer(0);
    place
}

fn register<T>(run: &Run, table: *const T) {
    objects::register_table(run, table.wrapping_sub(BELOW) as usize, ENTRIES * size_of::<T>())
}

/// Label of `table[c]` for a symbolic `c`; the guard is not held.
fn look_up<T>(run: &Run, table: *const T, c: Value, value: u64) -> Label {
    register(run, table);
    let (table, size) = (table as usize, size_of::<T>());
    let Some(label) = guarded(|run| build::sext(run, 32, 64, c)) else { return 0 };
    let wide = Value::new(label, c.value as i32 as i64 as u64);
    let place = build::__tg_index(0, wide.label, table as u64, wide.value, size as u64);
    let at = table.wrapping_add((wide.value as usize).wrapping_mul(size));
    address::__tg_load_at(at, place, value, size, 0, 0, call_site())
}

/// `toupper` and `tolower`
pub(super) fn case_in(
    run: &Run,
    table: unsafe extern "C" fn() -> *mut *const i32,
    real: unsafe extern "C" fn(c_int) -> c_int,
    labels: &Args,
    c: c_int,
) -> c_int {
    // SAFETY: the program's own call, and the library's table for it.
    let (table, result) = unsafe { (*table(), real(c)) };
    let c = Value::new(labels.label(0), c as u32 as u64);
    answer(match c.label {
        0 => 0,
        _ if guarded(|run| branch_on_table(run, c)) != Some(true) => c.label,
        _ => look_up(run, table, c, result as u32 as u64),
    });
    result
}

/// Whether a character is in the tables is a branch: the library leaves others as they are.
fn branch_on_table(run: &Run, c: Value) -> bool {
    let index = apply_to(run, Op::Add, 32, c, BELOW as u64);
    branch_on(run, apply_to(run, Op::Ult, 32, index, ENTRIES as u64))
}

/// `isalpha`: `table[c] & class`
pub(super) fn is_in_class(run: &Run, class: u16, labels: &Args, c: c_int) -> c_int {
    answer(0);
    if !is_in_table(c) {
        if labels.label(0) != 0 {
            give_up_outside();
        }
        return 0;
    }
    // SAFETY: the table has an entry for the character.
    let (table, entry) = unsafe {
        let table = *real::__ctype_b_loc();
        (table, *table.offset(c as isize))
    };
    if labels.label(0) != 0 {
        let c = Value::new(labels.label(0), c as u32 as u64);
        let read = Value::new(look_up(run, table, c, entry as u64), entry as u64);
        guarded(|run| {
            let wide = zero_extended(run, 16, 32, read);
            answer(build::binary(run, Op::And, 32, wide, Value::concrete(class as u64)));
        });
    }
    (entry & class) as c_int
}

/// A wide character that is ASCII, as a byte; `None`, counted, if it is not.
pub(super) fn ascii(run: &Run, c: Value) -> Option<Value> {
    if branch_on(run, apply_to(run, Op::Ult, 32, c, 0x80)) {
        return Some(truncated(run, 8, c));
    }
    give_up(run);
    None
}

/// The ASCII characters of a class in the current locale.
fn class_set(class: u16) -> ByteSet {
    let mut set = ByteSet::EMPTY;
    // SAFETY: the table has entries for all bytes.
    let holds = |c: &u8| unsafe { *(*real::__ctype_b_loc()).add(*c as usize) & class != 0 };
    (0..0x80).filter(holds).for_each(|c| set.insert(c));
    set
}

/// `iswalpha`
pub(super) fn wide_is_in_class(run: &Run, class: u16, labels: &Args, c: u32, result: c_int) {
    if labels.label(0) == 0 {
        return;
    }
    let Some(byte) = ascii(run, Value::new(labels.label(0), c as u64)) else { return };
    let yes = Value::concrete(if result != 0 { result as u32 as u64 } else { 1 });
    let is_member = class_set(class).holds(run, byte);
    answer_checked(run, choose(run, 32, is_member, yes, FALSE), result as u32 as u64);
}

/// `towupper` and `towlower`: letters from `from` on change their case.
pub(super) fn wide_case(run: &Run, from: u8, labels: &Args, c: u32, result: u32) {
    if labels.label(0) == 0 {
        return;
    }
    let c = Value::new(labels.label(0), c as u64);
    let Some(byte) = ascii(run, c) else { return };
    let changed = apply_to(run, Op::Xor, 32, c, 0x20);
    answer_checked(
        run,
        choose(run, 32, within(run, byte, from, from + 25), changed, c),
        result as u64,
    );
}
