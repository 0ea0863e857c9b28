//! Symbolic grammars (CESE): terminals become holes, to be filled by what the program does with
//! them.
//!
//! A terminal with one lexeme stays. A finite one becomes holes of the lengths that its lexemes
//! have, an infinite one holes of its lengths up to a bound. *Free* holes of the same length are
//! all the same, whichever terminal they stand for; productions and nonterminals that become equal
//! by that are merged, so that a string is not enumerated once for letters and once for digits.
//! *Valid* holes keep their terminal, because only its lexemes may fill them.
//!
//! The result is a [`Language`] like any other: a hole is a terminal with one lexeme, an example of
//! those it stands for. So counting and enumerating need not know about holes.

mod bound;
mod build;
mod repetition;
mod strings;

pub use build::{SymbolicError, symbolic};
pub use repetition::{Repeat, Repeated};
pub use strings::{HoleAt, Measure, Position, Sizes, Strings, StringsError, SymbolicString};

use crate::automata::automaton::Automaton;
use crate::model::language::Language;
use crate::model::{Grammar, TerminalId};

/// What may fill a hole.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Filling {
    /// Any bytes, as in the paper.
    #[default]
    Free,
    /// Lexemes of the hole's terminal.
    Valid,
}

/// What a terminal becomes, where it is not for its number of lexemes to decide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// Its lexemes are enumerated.
    Keep,
    /// A hole, although it has only one lexeme.
    Hole,
    /// Holes of at most this many bytes.
    Bound(usize),
}

#[derive(Clone, Debug)]
pub struct Options {
    pub filling: Filling,
    /// Most bytes of a hole for a terminal with infinitely many lexemes, if it has any as short as
    /// that.
    pub bound: usize,
    pub choices: Vec<(TerminalId, Choice)>,
    /// Everything is a hole: what is left is plain whitebox search.
    pub coarsest: bool,
}

/// The default of [`Options::bound`].
pub const BOUND: usize = 2;

impl Default for Options {
    fn default() -> Options {
        Options { filling: Filling::Free, bound: BOUND, choices: Vec::new(), coarsest: false }
    }
}

impl Options {
    /// No holes: all lexemes are enumerated.
    pub fn concrete(grammar: &Grammar) -> Options {
        let terminals = (0..grammar.terminals.len()).map(TerminalId::from);
        Options {
            choices: terminals.map(|terminal| (terminal, Choice::Keep)).collect(),
            ..Options::default()
        }
    }
}

/// How many lexemes a terminal has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lexemes {
    None,
    One,
    Finite,
    Infinite,
}

/// What became of a terminal of the concrete grammar.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fate {
    /// No rule uses it.
    Unused,
    Kept,
    /// Holes of these lengths.
    Holes(Vec<usize>),
}

/// A terminal of the symbolic grammar that stands for all lexemes of some length.
#[derive(Clone, Debug)]
pub struct Hole {
    /// The terminal of the concrete grammar that it is written as, the first of several for free
    /// holes; `None` for the coarsest abstraction, which knows no terminals.
    pub terminal: Option<TerminalId>,
    pub len: usize,
    /// How its lexemes can be made longer, if those of any of its terminals can.
    pub repeat: Option<Repeat>,
}

/// A symbolic grammar.
pub struct Symbolic {
    pub filling: Filling,
    /// Terminals of the concrete grammar keep their numbers; those of holes follow.
    pub language: Language,
    /// The concrete grammar, by which tokens are spelled.
    pub grammar: Grammar,
    /// Of the concrete grammar's terminals.
    pub lexemes: Vec<Automaton>,
    pub fates: Vec<(Lexemes, Fate)>,
    /// How the shortest lexemes of terminals that became holes can be made longer.
    pub repeats: Vec<Option<Repeat>>,
    /// The number of the first hole among the terminals.
    first: usize,
    holes: Vec<Hole>,
}

impl Symbolic {
    /// The hole that a terminal of the symbolic grammar is.
    pub fn hole(&self, terminal: TerminalId) -> Option<&Hole> {
        self.holes.get(terminal.index().checked_sub(self.first)?)
    }

    /// Is there any hole?
    pub fn has_holes(&self) -> bool {
        !self.holes.is_empty()
    }

    /// How many bytes of holes a token is.
    pub fn weight(&self, terminal: TerminalId) -> usize {
        self.hole(terminal).map_or(0, |hole| hole.len)
    }
}
