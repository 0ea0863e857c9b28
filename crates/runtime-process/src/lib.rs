//! How a target takes one input after the other: what the runtime knows of processes.
//!
//! [`server`] stops the target at the start of `main` and forks a child for each run. [`batch`]
//! gives one process several inputs, and [`snapshot`] restores it in between. [`supervise`] waits
//! for the end of a run; the driver uses it, too, for programs that have no server inside.
//!
//! This crate is linked as bitcode into instrumented targets: it must not allocate, panic, use the
//! standard library, or change what the target does. It knows nothing of labels or expressions.
#![cfg_attr(not(test), no_std)]

pub mod batch;
mod process;
mod progress;
pub mod server;
pub mod snapshot;
pub mod supervise;
pub mod sys;
