//! Derivation trees, and what is done to them: mutate, shrink, cover.

pub mod cover;
pub mod edit;
pub mod mutate;
pub mod shrink;
pub mod tree;
