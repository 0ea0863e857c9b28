//! Test code for people to check in: each [`Case`] is what a program was seen to do, and becomes
//! one test of a [`Framework`].
//!
//! The crate is given behaviours and returns files. It must not run the program, decide which
//! behaviours are worth a test, or know where inputs come from. What differs between frameworks is
//! in the templates; what differs between languages is in `literal`. The helpers that start the
//! program are part of the templates, so that the tests depend on nothing but their framework.

mod comment;
mod framework;
mod literal;
mod names;
mod render;
mod suite;
mod unit;

pub use framework::Framework;
pub use literal::{c_string, java_string, python_bytes, rust_bytes, shell_format};
pub use names::{Names, slug};
pub use render::{EmitError, OutputFile, render};
pub use suite::{Case, Expected, KnownFailure, Markers, Run, Suite};
pub use unit::render_units;
pub use unit::{Allocated, Argument, MadeUpFunction, Patch, Queue, STOPPED, Set};
pub use unit::{Linked, UnitCase, UnitSuite};
