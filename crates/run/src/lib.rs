//! What one run of a program leaves: its [`Outcome`] and, if it was symbolic, its [`RawTrace`].
//!
//! Whoever runs programs (`runner`) and whoever gives their runs a meaning (`expr`, `path`,
//! `search`) share these types and nothing else, so that neither needs the other. `trace` says how
//! a target lays its record out in shared memory; it is `no_std` and must not allocate, so that the
//! driver's own copy of a record stands here. This crate holds data only: it must not check or
//! unfold a record (`expr` does), and it must not start a process.

mod outcome;
mod raw;

pub use outcome::Outcome;
pub use raw::{RawTrace, Recorded, TableData};
