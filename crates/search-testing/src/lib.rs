//! Searches over programs that are closures: no process, no clock, no file.
//!
//! A [`program::Fake`] is an executor that runs a closure over symbolic values; [`random`] makes
//! such programs; [`harness`] has the rest of the world that a search needs. Tests of several
//! crates use it as a dev-dependency; nothing else may depend on it.

pub mod harness;
pub mod program;
pub mod random;
