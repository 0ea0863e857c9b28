//! Character classes. Programs read glibc's tables directly through the `__ctype_*_loc` functions, so it is
//! enough to know where the tables are; the functions are reads of the same tables.

use super::{answer, call_site};
use crate::build::{self, Value};
use crate::calls::Args;
use crate::{address, calls, objects, state};
use core::ffi::c_int;
use trace::Op;

unsafe extern "C" {
    fn __ctype_b_loc() -> *mut *const u16;
    fn __ctype_toupper_loc() -> *mut *const i32;
    fn __ctype_tolower_loc() -> *mut *const i32;
    fn toupper(c: c_int) -> c_int;
    fn tolower(c: c_int) -> c_int;
}

/// The tables have entries for -128 to 255.
const BELOW: usize = 128;
const ENTRIES: usize = 384;

macro_rules! tables {
    ($($name:ident = $real:ident : $entry:ty),*) => {$(
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name() -> *mut *const $entry {
            unsafe {
                let place = $real();
                let start = (*place).sub(BELOW) as usize;
                objects::register_table(start, ENTRIES * size_of::<$entry>());
                answer(0);
                place
            }
        }
    )*};
}

tables!(
    __tarragon_model___ctype_b_loc = __ctype_b_loc: u16,
    __tarragon_model___ctype_toupper_loc = __ctype_toupper_loc: i32,
    __tarragon_model___ctype_tolower_loc = __ctype_tolower_loc: i32
);

/// Label of `table[c]` for a symbolic `c`.
unsafe fn look_up(table: usize, size: usize, c: Value, value: u64) -> u32 {
    unsafe {
        let wide = {
            let Some(_entered) = state::enter() else { return 0 };
            Value::new(build::sext(32, 64, c), c.value as i32 as i64 as u64)
        };
        let place = build::__tg_index(0, wide.label, table as u64, wide.value, size as u64);
        let at = table.wrapping_add((wide.value as usize).wrapping_mul(size));
        address::__tg_load_at(at, place, value, size, 0, 0, call_site())
    }
}

unsafe fn converted(c: c_int, table: usize, result: c_int) -> c_int {
    unsafe {
        let label = Args::take().label(0);
        let in_table = (-128..256).contains(&c);
        let found = if label != 0 && in_table {
            objects::register_table(table - BELOW * 4, ENTRIES * 4);
            look_up(table, 4, Value::new(label, c as u32 as u64), result as u32 as u64)
        } else {
            0
        };
        answer(found);
        result
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_model_toupper(c: c_int) -> c_int {
    unsafe { converted(c, *__ctype_toupper_loc() as usize, toupper(c)) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_model_tolower(c: c_int) -> c_int {
    unsafe { converted(c, *__ctype_tolower_loc() as usize, tolower(c)) }
}

/// `isalpha` and the like: `table[c] & class`.
unsafe fn classified(c: c_int, class: u16) -> c_int {
    unsafe {
        let label = Args::take().label(0);
        if !(-128..256).contains(&c) {
            calls::__tgi_send_result(0, 0);
            return 0;
        }
        let table = *__ctype_b_loc();
        let entry = *table.offset(c as isize);
        if label != 0 {
            objects::register_table(table.sub(BELOW) as usize, ENTRIES * 2);
            let read = look_up(table as usize, 2, Value::new(label, c as u32 as u64), entry as u64);
            let Some(_entered) = state::enter() else { return (entry & class) as c_int };
            let wide = Value::new(build::zext(16, 32, Value::new(read, entry as u64)), entry as u64);
            answer(build::binary(Op::And, 32, wide, Value::concrete(class as u64)));
        } else {
            answer(0);
        }
        (entry & class) as c_int
    }
}

macro_rules! classes {
    ($($name:ident = $class:expr),*) => {$(
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(c: c_int) -> c_int {
            unsafe { classified(c, $class) }
        }
    )*};
}

// The classes' bits in glibc's table on a little-endian machine.
classes!(
    __tarragon_model_isupper = 1 << 8,
    __tarragon_model_islower = 1 << 9,
    __tarragon_model_isalpha = 1 << 10,
    __tarragon_model_isdigit = 1 << 11,
    __tarragon_model_isxdigit = 1 << 12,
    __tarragon_model_isspace = 1 << 13,
    __tarragon_model_isprint = 1 << 14,
    __tarragon_model_isgraph = 1 << 15,
    __tarragon_model_isblank = 1 << 0,
    __tarragon_model_iscntrl = 1 << 1,
    __tarragon_model_ispunct = 1 << 2,
    __tarragon_model_isalnum = 1 << 3
);
