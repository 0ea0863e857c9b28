//! Cross-checking: what two programs did with one input, compared, classed and grouped.
//!
//! [`Rules`] say what counts, [`compare`] finds the [`Difference`] between two [`Observation`]s,
//! [`Signature`]s put differences with one origin together in [`Groups`], and [`shrink()`] makes
//! the input of one smaller. Everything is data: this crate must not start a process, read a clock or
//! write a file.

mod compare;
mod groups;
mod normalise;
mod observation;
mod plainer;
mod rules;
mod tokens;

pub use compare::{Class, Compared, Difference, Kind, Mismatch, compare};
pub use groups::{Group, Groups, Place, Sighting, Signature};
pub use normalise::{BadNormaliser, Normaliser};
pub use observation::{Observation, Side};
pub use plainer::shrink;
pub use rules::{Aspect, Rules};
pub use tokens::TokenKind;
