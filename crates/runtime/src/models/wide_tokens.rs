//! Strings of wide characters cut into tokens. Where the cuts are is a branch for each character, because the string is
//! changed there.

use super::logic::*;
use super::wide_search::WideSet;
use super::{MAX_STRING, answer, element, give_up};
use crate::{calls, shadow, state};
use trace::Op;

unsafe extern "C" {
    fn wcslen(string: *const i32) -> usize;
    fn wcstok(string: *mut i32, set: *const i32, rest: *mut *mut i32) -> *mut i32;
}

/// Asks for each character on from `at` whether it is in the set, up to the first of the other kind; that is where the string ends
/// at the latest.
unsafe fn skip(mut at: *const i32, set: &WideSet, members: bool) -> *const i32 {
    unsafe {
        loop {
            let c = element(at.cast(), 4);
            if ask(apply_to(Op::Eq, 32, c, 0)) || ask(set.holds(c)) != members {
                return at;
            }
            at = at.add(1);
        }
    }
}

/// Records how a call that cuts a token off `string` depends on the characters.
unsafe fn cut(string: *const i32, set: *const i32) {
    unsafe {
        if string.is_null() || !state::active() {
            return;
        }
        let size = wcslen(string);
        if !shadow::any_label(string as usize, size * 4 + 4) {
            return;
        }
        let Some(_entered) = state::enter() else { return };
        if size > MAX_STRING {
            return give_up();
        }
        let set = WideSet::of(set);
        let token = skip(string, &set, true);
        skip(token, &set, false);
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_model_wcstok(
    string: *mut i32,
    set: *const i32,
    rest: *mut *mut i32,
) -> *mut i32 {
    unsafe {
        calls::__tgi_args_taken();
        cut(if string.is_null() { *rest } else { string }, set);
        let token = wcstok(string, set, rest);
        answer(0);
        shadow::clear(rest as usize, 8);
        // The library ended the token with a 0.
        if !token.is_null() && state::active() {
            shadow::clear(token as usize + wcslen(token) * 4, 4);
        }
        token
    }
}
