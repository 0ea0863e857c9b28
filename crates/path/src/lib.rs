//! From what a run recorded to its path condition.
//!
//! A [`Trace`] is the checked form of the nodes and events of one run. A [`PathCondition`] lists,
//! in program order, the constraints that an input must meet to take the same path, and for each
//! constraint the ways to leave the path there (its [`Flip`]s). This crate must not solve anything
//! and must not decide which flip is worth trying.

mod condition;
mod directions;
mod switch;
mod tokens;
mod trace;
mod words;

pub use condition::{Constraint, ConstraintKind, Flip, PathCondition, Purpose, Step};
pub use directions::{WrongDirection, check_directions};
pub use run::{RawTrace, Recorded};
pub use switch::equals;
pub use tokens::Delivered;
pub use trace::{BadTrace, Trace};
pub use words::{Asker, Word};
