//! Everything Tarragon knows about a grammar, as a library that is useful on its own.
//!
//! # Vocabulary
//!
//! * **terminal**: a named regular expression over bytes; a *lexeme* is one string it matches.
//! * **token**: a terminal together with the lexeme found in an input.
//! * **rule**: a named list of *alternatives*, each an EBNF expression over terminals and rules.
//! * **core**: the same grammar in plain BNF; its left-hand sides are *nonterminals*, its right-hand sides
//!   *productions*, and a *slot* is a place between two symbols of a production (the dot of an Earley item).
//! * **derivation**: a derivation tree of the core; an ambiguous string has several.
//!
//! Any context-free grammar is legal. Nothing here recurses over user data: grammars, trees and inputs may be
//! as deep as memory allows.

mod alias;
pub mod ambiguity;
pub mod analysis;
pub mod automaton;
pub mod bounded;
pub mod bytes;
mod chart;
pub mod complete;
pub mod completion;
pub mod constraint;
pub mod core;
pub mod count;
pub mod cover;
mod derivations;
pub mod dfa;
mod earley;
pub mod edges;
pub mod edit;
mod end_of_input;
mod engine;
pub mod enumerate;
mod extract;
mod flatten;
mod fragment;
pub mod language;
mod lexeme;
pub mod lexer;
pub mod lift;
pub mod lightest;
mod minimise;
mod mode;
pub mod model;
pub mod mutate;
pub mod parse;
pub mod pattern;
mod precedence;
mod reasons;
pub mod recognize;
pub mod regular;
pub mod rng;
pub mod sample;
pub mod shrink;
pub mod space;
pub mod spaces;
pub mod spell;
pub mod symbolic;
pub mod tables;
pub mod token_solver;
pub mod tree;
pub mod uniform;

pub use crate::core::{Core, NtId, ProdId, Sym};
pub use model::{Alternative, Expr, Grammar, LexRule, Lexing, Rule, RuleId, Terminal, TerminalId};
pub use pattern::Pattern;
