//! Expressions over the input of a run: a [`Dag`] of [`Node`]s, what its nodes evaluate to, which
//! input bytes they depend on, how they simplify, and a text form.
//!
//! A trace comes from a process that may be broken in any way, so [`Dag::from_recorded`] and
//! [`Dag::from_raw`] check all of it; every other function relies on that. The crate gives
//! expressions their meaning and nothing more: it must not decide satisfiability (`solver`) nor
//! know what a branch is (`path`).

mod dag;
mod eval;
mod function;
mod import;
mod lower;
mod program;
mod rewrite;
mod semantics;
mod shapes;
mod staged;
mod support;
mod text;
mod texts;
mod validate;

pub use dag::Dag;
pub use eval::{Assignment, Evaluation, Evaluator};
pub use function::{FunctionMap, Functions, Values};
pub use import::Importer;
pub use program::{Dependents, Program, Registers};
pub use run::{Recorded, TableData};
pub use staged::{Place, Staged, TooMuch};
pub use support::{Support, SupportId, Supports};
pub use text::{ParseError, Problem, parse, print};
pub use texts::Operation;
pub use trace::{Label, Node, Op, text as text_flags};
pub use validate::BadDag;
