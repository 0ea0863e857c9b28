//! From a path condition and a literal to be made true: an input, a proof that there is none, or
//! "unknown".
//!
//! The [`Chain`] is one list of small stages, each removable and with its own [`Counters`]; the
//! function that builds it says the order in which they are asked. A goal is cut down to the
//! literals that share input bytes with it once the stages that need no copy do not know the
//! answer. Every input that a stage proposes is checked by evaluation before it is believed. The
//! crate is deterministic, knows no backend (Z3 is a [`Link`] in the `smt` crate) and must not run
//! a target.

mod byte_set;
mod cache;
mod chain;
mod checker;
mod components;
mod counters;
mod descent;
mod digest;
mod distance;
mod domain;
mod intervals;
mod inverse;
mod inversion;
mod length_set;
mod levels;
mod linear;
mod lowered;
mod mixing;
mod narrow;
mod outlook;
mod oversize;
mod path_domains;
mod path_solver;
mod product;
mod query;
mod question;
mod ranges;
mod slice;
mod stage;
mod stages;
mod subsumption;
mod text_atoms;
mod texts;
mod truth;

pub use chain::{Chain, ChainOptions};
pub use counters::Counters;
pub use descent::DescentLink;
pub use domain::DomainLink;
pub use inversion::InversionLink;
pub use narrow::Narrowed;
pub use path_solver::PathSolver;
pub use query::{Answer, Effort, Link, Lit, Query, UnknownReason};
pub use texts::Restrictions;
