//! Strings cut into tokens. Where the cuts are is a branch for each element, because the string is
//! changed there.

use super::element::{Element, Elements, MAX_STRING, is_zero};
use super::logic::branch_on;
use super::spans::Members;
use super::table::real;
use super::unfollowed::fix_pointer;
use super::{answer, ends, give_up, guarded};
use crate::state::models;
use runtime_core::build::Value;
use runtime_core::calls::Args;
use runtime_core::state::Run;
use runtime_core::{shadow, state};

/// The string that is cut, its end included, from one of its elements on.
struct Cut<E> {
    text: Elements<E>,
    at: usize,
    set: Members<E>,
}

impl<E: Element> Cut<E> {
    /// Branches for each element on whether it is one of those that go on.
    fn skip(&mut self, run: &Run, goes_on: impl Fn(&Members<E>, Value) -> bool) {
        while self.at < self.text.count && goes_on(&self.set, self.text.at(run, self.at)) {
            self.at += 1;
        }
    }

    fn is_at_end(&self, run: &Run) -> bool {
        branch_on(run, is_zero::<E>(run, self.text.at(run, self.at)))
    }

    /// The token: up to a member of the set or the end, which are told apart.
    fn walk_token(&mut self, run: &Run) {
        self.skip(run, |set, c| !branch_on(run, set.stops(run, c)));
        self.is_at_end(run);
    }
}

/// Records how a call that cuts a token off `string` depends on the elements.
fn record_cut<E: Element>(run: &Run, string: *const E, set: *const E, skips: bool) {
    if string.is_null() || !state::active(run) {
        return;
    }
    // The library is about to read the string.
    let text = Elements::new(string, E::length(string) + 1);
    if !text.is_symbolic() && !ends::is_symbolic(set) {
        return;
    }
    guarded(|run| {
        if text.count > MAX_STRING {
            return give_up(run);
        }
        let mut cut = Cut { text, at: 0, set: Members::of_string(run, set) };
        if skips {
            cut.skip(run, |set, c| branch_on(run, set.holds(run, c)));
            if cut.is_at_end(run) {
                return;
            }
        }
        cut.walk_token(run);
    });
}

/// Where the rest of a string begins. The model follows it as it is on this run.
fn rest_at<E>(run: &Run, place: *mut *mut E) -> *mut E {
    fix_pointer(run, place);
    // SAFETY: the program passes the place to the library, which is about to read it.
    unsafe { place.read() }
}

/// The library ended the token with a 0 and noted where the rest begins.
fn clear_written<E: Element>(run: &Run, token: *const E, rest: *mut *mut E) {
    answer(0);
    shadow::clear(rest as usize, 8);
    if !token.is_null() && state::active(run) {
        shadow::clear(token.wrapping_add(E::length(token)) as usize, E::SIZE);
    }
}

/// How the library cuts.
type Next<E> = unsafe extern "C" fn(*mut E, *const E, *mut *mut E) -> *mut E;

/// `strtok_r`
pub(super) fn next<E: Element>(
    run: &Run,
    real: Next<E>,
    _: &Args,
    string: *mut E,
    set: *const E,
    rest: *mut *mut E,
) -> *mut E {
    record_cut(run, if string.is_null() { rest_at(run, rest) } else { string }, set, true);
    // SAFETY: the program's own call.
    let token = unsafe { real(string, set, rest) };
    clear_written(run, token, rest);
    token
}

/// `strtok`, which keeps the rest between calls.
pub(super) fn next_of_process(
    run: &Run,
    labels: &Args,
    string: *mut u8,
    set: *const u8,
) -> *mut u8 {
    next(run, real::strtok_r, labels, string, set, models().token_rest.as_ptr())
}

/// `strsep`
pub(super) fn separated(run: &Run, _: &Args, rest: *mut *mut u8, set: *const u8) -> *mut u8 {
    record_cut(run, rest_at(run, rest), set, false);
    // SAFETY: the program's own call.
    let token = unsafe { real::strsep(rest, set) };
    clear_written(run, token, rest);
    token
}
