//! Support for tests of the whole engine: compile, instrument, run, trace, solve, search.
//!
//! A [`Case`] is a C or C++ file that says in its first lines what must be found in it. A
//! [`Program`] is a source built in every way that Tarragon builds programs; [`Twins`] runs the
//! builds side by side and compares them. A [`Tracer`] runs the traced build and checks every trace
//! against the meaning of its expressions.
//!
//! This crate only tests: it must not hold anything that a crate needs which does not test.

mod case;
mod directives;
mod perturb;
mod program;
mod tracer;
mod twins;

pub use case::{Case, Silent};
pub use perturb::perturb;
pub use program::{Program, Recipe};
pub use tracer::Tracer;
pub use twins::{Agreement, Twins};
