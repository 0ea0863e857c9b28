//! Strings cut into tokens. Where the cuts are is a branch for each element, because the string is
//! changed there.

use super::element::{Element, Elements, MAX_STRING, is_zero};
use super::logic::branch_on;
use super::spans::Members;
use super::state::MODEL_STATE;
use super::table::real;
use super::{answer, give_up, guarded};
use crate::build::Value;
use crate::calls::Args;
use crate::{shadow, state};

/// The string that is cut, its end included, from one of its elements on.
struct Cut<E> {
    text: Elements<E>,
    at: usize,
    set: Members<E>,
}

impl<E: Element> Cut<E> {
    /// Branches for each element on whether it is one of those that go on.
    unsafe fn skip(&mut self, goes_on: impl Fn(&Members<E>, Value) -> bool) {
        while self.at < self.text.count && goes_on(&self.set, self.text.at(self.at)) {
            self.at += 1;
        }
    }

    unsafe fn is_at_end(&self) -> bool {
        unsafe { branch_on(is_zero::<E>(self.text.at(self.at))) }
    }

    /// The token: up to a member of the set or the end, which are told apart.
    unsafe fn walk_token(&mut self) {
        unsafe {
            self.skip(|set, c| !branch_on(set.stops(c)));
            self.is_at_end();
        }
    }
}

/// Records how a call that cuts a token off `string` depends on the elements.
unsafe fn record_cut<E: Element>(string: *const E, set: *const E, skips: bool) {
    unsafe {
        if string.is_null() || !state::active() {
            return;
        }
        // SAFETY: the library is about to read the string.
        let text = Elements::new(string, E::length(string) + 1);
        if !text.is_symbolic() {
            return;
        }
        guarded(|| {
            if text.count > MAX_STRING {
                return give_up();
            }
            let mut cut = Cut { text, at: 0, set: Members::of_string(set) };
            if skips {
                cut.skip(|set, c| branch_on(set.holds(c)));
                if cut.is_at_end() {
                    return;
                }
            }
            cut.walk_token();
        });
    }
}

/// The library ended the token with a 0 and noted where the rest begins.
unsafe fn clear_written<E: Element>(token: *const E, rest: *mut *mut E) {
    unsafe {
        answer(0);
        shadow::clear(rest as usize, 8);
        if !token.is_null() && state::active() {
            shadow::clear(token.add(E::length(token)) as usize, E::SIZE);
        }
    }
}

/// How the library cuts.
type Next<E> = unsafe extern "C" fn(*mut E, *const E, *mut *mut E) -> *mut E;

/// `strtok_r`
pub(super) unsafe fn next<E: Element>(
    real: Next<E>,
    _: &Args,
    string: *mut E,
    set: *const E,
    rest: *mut *mut E,
) -> *mut E {
    unsafe {
        record_cut(if string.is_null() { *rest } else { string }, set, true);
        let token = real(string, set, rest);
        clear_written(token, rest);
        token
    }
}

/// `strtok`, which keeps the rest between calls.
pub(super) unsafe fn next_of_process(labels: &Args, string: *mut u8, set: *const u8) -> *mut u8 {
    unsafe { next(real::strtok_r, labels, string, set, &raw mut MODEL_STATE.token_rest) }
}

/// `strsep`
pub(super) unsafe fn separated(_: &Args, rest: *mut *mut u8, set: *const u8) -> *mut u8 {
    unsafe {
        record_cut(*rest, set, false);
        let token = real::strsep(rest, set);
        clear_written(token, rest);
        token
    }
}
