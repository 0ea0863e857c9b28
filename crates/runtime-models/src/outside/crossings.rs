//! Where control goes from code that is followed to code that is not, and nobody's name is known:
//! calls through pointers, and results of functions that such code calls.
//!
//! Code that is followed, the runtime's included, has a section of its own, so that an address
//! tells on which side it is.

use super::reach::{Memory, Search, is_address};
use super::{UNKNOWN, enter, known, lent};
use runtime_core::calls::__tgi_args_taken;
use runtime_core::events;
use runtime_core::state::Run;
use trace::{GiveUp, Label, Lent};

unsafe extern "C" {
    #[link_name = "__start_tarragon_code"]
    static CODE_START: u8;
    #[link_name = "__stop_tarragon_code"]
    static CODE_END: u8;
}

#[inline(always)]
fn is_followed(address: usize) -> bool {
    // The linker defines both ends.
    let (start, end) = (&raw const CODE_START as usize, &raw const CODE_END as usize);
    address.wrapping_sub(start) < end.wrapping_sub(start)
}

/// A function is about to be called through a pointer, with arguments whose labels are or-ed.
/// Returns whether its code is followed.
#[unsafe(no_mangle)]
pub extern "C" fn __tgi_through_pointer(address: usize, labels: Label, site: u32) -> u32 {
    let followed = is_followed(address);
    if !followed {
        __tg_through_pointer(address, labels, site, super::border());
    }
    followed as u32
}

/// The same if its code is not followed. It stands in the section so that there is one also where
/// the instrumenter has put nothing there.
#[unsafe(no_mangle)]
#[unsafe(link_section = "tarragon_code")]
pub extern "C" fn __tg_through_pointer(address: usize, labels: Label, site: u32, border: usize) {
    // No function that it calls back shall take labels that were meant for it.
    __tgi_args_taken();
    let run = Run::current();
    if labels != 0
        && let Some(_entered) = enter(run)
    {
        events::give_up(run, GiveUp::External, site, UNKNOWN);
    }
    lent::__tg_foreign(UNKNOWN, address, site);
    super::__tg_outside(UNKNOWN, site, border);
}

/// It gets a pointer to memory of `size` bytes, 0 if that is not known.
#[unsafe(no_mangle)]
pub extern "C" fn __tgi_lend_through_pointer(
    followed: u32,
    pointer: usize,
    size: usize,
    site: u32,
) {
    if followed == 0 {
        lent::__tg_lend(UNKNOWN, pointer, size, Lent::Foreign as u32, site);
    }
}

/// It has returned.
#[unsafe(no_mangle)]
pub extern "C" fn __tgi_from_pointer(followed: u32) {
    if followed == 0 {
        super::__tg_back(UNKNOWN);
    }
}

/// A function that code which is not followed may call begins; it returns to `address`.
#[unsafe(no_mangle)]
pub extern "C" fn __tgi_called_from(address: usize) {
    if !is_followed(address) {
        __tg_called_back();
    }
}

/// The same where that code has called it. What that code did so far is told from what the program
/// does from here on.
#[unsafe(no_mangle)]
#[cold]
pub extern "C" fn __tg_called_back() {
    let run = Run::current();
    if known().is_active()
        && let Some(_entered) = enter(run)
    {
        super::check_called(run);
    }
}

/// Such a function returns values with these labels, or-ed.
#[unsafe(no_mangle)]
pub extern "C" fn __tgi_returns(labels: Label, address: usize, site: u32) {
    if !is_followed(address) {
        __tg_returns(labels, address, site);
    }
}

/// The same where it returns to code that is not followed.
#[unsafe(no_mangle)]
#[cold]
pub extern "C" fn __tg_returns(labels: Label, address: usize, site: u32) {
    let run = Run::current();
    let Some(_entered) = enter(run) else { return };
    let known = known();
    if known.is_active() {
        known.go_on();
    }
    if labels != 0 || known.is_active() && lent::sees_others(run, address) {
        give_up(run, site);
    }
}

/// Code that is not followed has this pointer, and a function that it called returns.
#[unsafe(no_mangle)]
pub extern "C" fn __tgi_hands_back(pointer: usize, address: usize, site: u32) {
    if !is_followed(address) {
        __tg_hands_back(pointer, site);
    }
}

/// The same where it returns there. Without such code on the stack that called it, it is the start
/// of a thread, or a handler: nobody looks at what their arguments lead to.
#[unsafe(no_mangle)]
#[cold]
pub extern "C" fn __tg_hands_back(pointer: usize, site: u32) {
    let run = Run::current();
    if known().is_active()
        && is_address(pointer)
        && let Some(_entered) = enter(run)
        && Search::from(Memory::at(run, pointer, 0)).finds_label(run)
    {
        give_up(run, site);
    }
}

/// The caller, which is not followed, gets symbolic data.
fn give_up(run: &Run, site: u32) {
    let caller = known().called.get().unwrap_or(UNKNOWN);
    events::give_up(run, GiveUp::External, site, caller);
}
