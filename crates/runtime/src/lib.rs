//! The part of Tarragon that is linked, as bitcode, into instrumented targets.
//!
//! Instrumented code keeps a *label* beside every value: 0 while the value is concrete, otherwise the number of
//! an expression over the input. The functions here keep labels of memory ([`shadow`]), build expressions
//! ([`build`]), write events ([`events`]), resolve symbolic addresses ([`address`]) and stand in for library
//! functions ([`models`]).
//!
//! This crate must not allocate through the target's allocator, must not panic, must not use the standard
//! library and must not change what the target does. Fast paths test only whether labels are 0;
//! everything else is `cold`.
//!
//! Functions named `__tg_*` are called by instrumented code, which inlines those named `__tgi_*`
//! always; the table of all of them is [`trace::entry`]. Functions named `__tarragon_model_*` replace
//! the library function of that name.
#![cfg_attr(not(test), no_std)]
#![allow(clippy::missing_safety_doc)]
// Two processes, threads and signal handlers share this state by design; see `state`.
#![allow(static_mut_refs)]
// The table of models declares functions of memory with the type of their elements.
#![allow(clashing_extern_declarations)]

pub mod address;
pub mod batch;
mod budget;
pub mod build;
pub mod calls;
pub mod checks;
pub mod covered;
mod entry;
pub mod events;
pub mod floats;
mod lengths;
pub mod memory;
pub mod models;
pub mod nodes;
pub mod objects;
pub mod os;
pub mod outside;
pub mod regions;
pub mod reports;
pub mod samples;
pub mod server;
pub mod shadow;
pub mod shapes;
pub mod snapshot;
pub mod start;
pub mod state;
mod stretches;
pub mod supervise;
mod sys;
pub mod texts;
pub mod values;
pub mod varying;
pub mod words;

#[cfg(test)]
mod tests;

#[cfg(tarragon_bitcode)]
#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! {
    // SAFETY: abort has no precondition.
    unsafe { os::abort() }
}
