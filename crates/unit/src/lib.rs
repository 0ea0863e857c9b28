//! Unit tests from types: what a function takes, a C program that makes it up, and what came of it.
//!
//! [`dwarf`] reads types and functions from debug information into a [`Program`], [`interface`]
//! says what each parameter is for, [`Harness`] writes a C program that makes up arguments from its
//! input and calls the function. [`Described`] reads what that program says of one run, as C
//! source.
//!
//! This crate is text in, text out: it starts no compiler and no process, and knows no search.

pub mod dwarf;
pub mod interface;

mod case;
mod compare;
mod describe;
mod harness;
mod makers;
mod spell;
mod types;
mod value;

pub use case::{Case, Declared, How, Named, Observed, Unsaid, Value, Write};
pub use compare::{Difference, compare};
pub use describe::{Described, Kind, Object, Typed};
pub use harness::{Bounds, FILE, Harness, MadeUp, Origin, Subject, UNMET};
pub use types::*;
pub use value::is_unnamed;
