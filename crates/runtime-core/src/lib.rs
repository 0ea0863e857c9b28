//! The core of the runtime: what happens to labels in an instrumented program.
//!
//! Instrumented code keeps a *label* beside every value: 0 while the value is concrete, otherwise
//! the number of an expression over the input. The functions here keep labels of memory
//! ([`shadow`]), build expressions ([`build`]), record events ([`events`]) and what they imply
//! ([`facts`]), and resolve symbolic addresses ([`address`]).
//!
//! All that is known of a run is one [`state::Run`], which functions take. This crate must not
//! allocate through the target's allocator, must not panic, must not use the standard library and
//! must not change what the target does. Fast paths test only whether labels are 0; everything else
//! is `cold`.
//!
//! Addresses are numbers (`usize`), and the target's own: instrumented code and models pass those
//! of memory that the target has just accessed or is about to. So bytes may be read there.
//!
//! Functions named `__tg_*` are called by instrumented code, which inlines those named `__tgi_*`
//! always; the table of all of them is [`trace::entry`].
#![cfg_attr(not(any(test, feature = "testing")), no_std)]
#![allow(
    clippy::declare_interior_mutable_const,
    reason = "each is copied once, into the one `Run`"
)]

pub mod address;
mod budget;
pub mod build;
pub mod calls;
pub mod checks;
pub mod cons;
pub mod covered;
pub mod events;
pub mod facts;
pub mod family;
pub mod floats;
pub mod hashes;
pub mod lengths;
pub mod lexer;
pub mod memory;
pub mod nodes;
pub mod objects;
pub mod os;
pub mod regions;
pub mod repetitions;
pub mod reports;
mod segment;
pub mod shadow;
pub mod shapes;
pub mod state;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
pub mod texts;
pub mod tls;
pub mod values;
pub mod varying;

#[cfg(test)]
mod tests;
