//! Finite automata over bytes: lazy ones for lexing, trimmed and minimal ones for lexemes.

pub mod automaton;
pub mod dfa;
pub mod edges;
mod minimise;
