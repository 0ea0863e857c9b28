//! Where control goes from code that is followed to code that is not, and nobody's name is known:
//! calls through pointers, and results of functions that such code calls.
//!
//! Code that is followed, the runtime's included, has a section of its own, so that an address
//! tells on which side it is.

use super::{UNKNOWN, enter, known, lent};
use runtime_core::calls::__tgi_args_taken;
use runtime_core::events;
use runtime_core::state::{Run, active};
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
        __tg_through_pointer(address, labels, site);
    }
    followed as u32
}

/// The same if its code is not followed. It stands in the section so that there is one also where
/// the instrumenter has put nothing there.
#[unsafe(no_mangle)]
#[unsafe(link_section = "tarragon_code")]
pub extern "C" fn __tg_through_pointer(address: usize, labels: Label, site: u32) {
    // No function that it calls back shall take labels that were meant for it.
    __tgi_args_taken();
    let run = Run::current();
    if labels != 0
        && let Some(_entered) = enter(run)
    {
        events::give_up(run, GiveUp::External, site, UNKNOWN);
    }
    lent::__tg_foreign(UNKNOWN, address, site);
    super::__tg_outside(UNKNOWN, site);
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

/// A function whose address others may have returns a value with these labels, or-ed, to `address`.
#[unsafe(no_mangle)]
pub extern "C" fn __tgi_returns(labels: Label, address: usize, site: u32) {
    if labels != 0 && !is_followed(address) {
        __tg_returns(site);
    }
}

/// The same where that code is not followed.
#[unsafe(no_mangle)]
#[cold]
pub extern "C" fn __tg_returns(site: u32) {
    let run = Run::current();
    if active(run)
        && let Some(_entered) = enter(run)
    {
        let caller = known().called.get().unwrap_or(UNKNOWN);
        events::give_up(run, GiveUp::External, site, caller);
    }
}
