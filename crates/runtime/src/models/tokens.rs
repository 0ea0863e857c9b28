//! Strings cut into tokens. Where the cuts are is a branch for each byte, because the string is changed there.

use super::logic::*;
use super::{MAX_STRING, answer, byte, give_up};
use crate::{calls, shadow, state};
use core::ffi::c_char;

unsafe extern "C" {
    fn strtok_r(string: *mut c_char, set: *const c_char, rest: *mut *mut c_char) -> *mut c_char;
    fn strsep(rest: *mut *mut c_char, set: *const c_char) -> *mut c_char;
    fn strlen(string: *const c_char) -> usize;
}

/// Asks for each byte on from `at` whether it is in the set, up to the first that is not, or that is 0.
unsafe fn skip(mut at: *const u8, set: &ByteSet) -> *const u8 {
    unsafe {
        while ask(set.holds(byte(at))) {
            at = at.add(1);
        }
        at
    }
}

/// The token at `at`: up to a byte of the set or the end, which are told apart.
unsafe fn walk_token(at: *const u8, set: &ByteSet) {
    unsafe {
        let mut stops = *set;
        stops.insert(0);
        let end = skip(at, &stops.complement());
        ask(is(byte(end), 0));
    }
}

/// Records how a call that cuts a token off `string` depends on the bytes.
unsafe fn cut(string: *const c_char, set: *const c_char, skips: bool) {
    unsafe {
        if string.is_null() || !state::active() {
            return;
        }
        let size = strlen(string);
        if !shadow::any_label(string as usize, size + 1) {
            return;
        }
        let Some(_entered) = state::enter() else { return };
        if size > MAX_STRING {
            return give_up();
        }
        let set = ByteSet::of_string(set.cast());
        let mut at = string.cast::<u8>();
        if skips {
            at = skip(at, &set);
            if ask(is(byte(at), 0)) {
                return;
            }
        }
        walk_token(at, &set);
    }
}

/// The library ended the token with a 0 and noted where the rest begins.
unsafe fn clear_written(token: *const c_char, rest: *mut *mut c_char) {
    unsafe {
        answer(0);
        shadow::clear(rest as usize, 8);
        if !token.is_null() && state::active() {
            shadow::clear(token as usize + strlen(token), 1);
        }
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_model_strtok_r(
    string: *mut c_char,
    set: *const c_char,
    rest: *mut *mut c_char,
) -> *mut c_char {
    unsafe {
        calls::__tgi_args_taken();
        cut(if string.is_null() { *rest } else { string }, set, true);
        let token = strtok_r(string, set, rest);
        clear_written(token, rest);
        token
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_model___strtok_r(
    string: *mut c_char,
    set: *const c_char,
    rest: *mut *mut c_char,
) -> *mut c_char {
    unsafe { __tarragon_model_strtok_r(string, set, rest) }
}

/// The rest that `strtok` keeps between calls.
static mut REST: *mut c_char = core::ptr::null_mut();

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_model_strtok(string: *mut c_char, set: *const c_char) -> *mut c_char {
    unsafe { __tarragon_model_strtok_r(string, set, &raw mut REST) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_model_strsep(rest: *mut *mut c_char, set: *const c_char) -> *mut c_char {
    unsafe {
        calls::__tgi_args_taken();
        cut(*rest, set, false);
        let token = strsep(rest, set);
        clear_written(token, rest);
        token
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_model___strsep_g(
    rest: *mut *mut c_char,
    set: *const c_char,
) -> *mut c_char {
    unsafe { __tarragon_model_strsep(rest, set) }
}
