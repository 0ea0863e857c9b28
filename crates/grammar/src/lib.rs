//! Everything Tarragon knows about a grammar, as a library that is useful on its own.
//!
//! # Vocabulary
//!
//! * **terminal**: a named regular expression over bytes; a *lexeme* is one string it matches.
//! * **token**: a terminal together with the lexeme found in an input.
//! * **rule**: a named list of *alternatives*, each an EBNF expression over terminals and rules.
//! * **core**: the same grammar in plain BNF; its left-hand sides are *nonterminals*, its
//!   right-hand sides *productions*, and a *slot* is a place between two symbols of a production
//!   (the dot of an Earley item).
//! * **derivation**: a derivation tree of the core; an ambiguous string has several.
//!
//! Any context-free grammar is legal. Nothing here recurses over user data: grammars, trees and
//! inputs may be as deep as memory allows.
//!
//! # Folders
//!
//! * `model`: a grammar as its author sees it, its core, and facts about both.
//! * `automata`: the lexemes of terminals as finite automata.
//! * `lexing`: text into tokens, and tokens back into text.
//! * `parse`: trees of an input, its number of derivations, ambiguity.
//! * `counting`: exact numbers of derivations and strings, and enumeration.
//! * `sampling`: random sentences.
//! * `solving`: cheapest sentences with a prefix or under constraints on tokens.
//! * `trees`: derivation trees: mutate, shrink, cover.
//! * `symbolic`: grammars with holes (CESE).
//! * `lift`: an input as the tokens of its derivation, for whitebox search.
//!
//! Productions, cheapest derivations and Earley's algorithm are in `context_free`, below this
//! crate. The modules of the folders are re-exported here, and those of Earley's algorithm:
//! `grammar::sample` is `grammar::sampling::sample`.

pub mod automata;
pub mod counting;
pub mod lexing;
pub mod lift;
pub mod model;
pub mod parse;
pub mod sampling;
pub mod solving;
pub mod symbolic;
pub mod trees;

pub use automata::{automaton, dfa, edges};
pub use context_free::earley::{completion, recognize, tables};
pub use counting::{bounded, count, enumerate, lightest, space, spaces};
pub use lexing::{lexer, spell};
pub use model::{analysis, bytes, core, language, pattern, unused};
pub use parse::ambiguity;
pub use sampling::{sample, uniform};
pub use solving::{complete, constraint, regular, token_solver};
pub use trees::{cover, edit, mutate, shrink, tree};

pub use model::core::{Core, NtId, ProdId, Sym};
pub use model::pattern::Pattern;
pub use model::{Alternative, Expr, Grammar, LexRule, Lexing, Rule, RuleId, Terminal, TerminalId};
