//! Cheapest sentences: of a prefix, of constraints over tokens, of a regular expression.

pub mod complete;
pub mod constraint;
pub mod regular;
pub mod token_solver;
