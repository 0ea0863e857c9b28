//! A solver for constraints over strings, regular and context-free languages.
//!
//! Build a [`Problem`]: languages, variables, and constraints over terms. [`Problem::solve`]
//! answers with an assignment, with `Unsat`, or with `Unknown` and the reason.
//!
//! ```
//! use strings::{Answer, Atom, Budget, Piece, Problem};
//!
//! let mut problem = Problem::default();
//! let x = problem.variable("x");
//! let ab = problem.languages.literal(b"ab");
//! let words = problem.languages.star(ab);
//! problem.require(Atom::In(vec![Piece::Variable(x)], words));
//! problem.require(Atom::Contains(vec![Piece::Variable(x)], vec![Piece::Literal(b"ba".to_vec())]));
//! assert_eq!(problem.solve(&mut Budget::default()), Answer::Sat(vec![b"abab".to_vec()]));
//! ```

mod bounded;
mod budget;
mod bytes;
mod cases;
mod checks;
pub mod compare;
mod conjunction;
mod embed;
mod grammar;
pub mod hmp;
mod inequalities;
mod language;
mod lengths;
mod levi;
mod linear;
mod measured;
mod nfa;
mod problem;
mod progressions;
mod recognizer;
mod saturate;
mod scan;
mod search;
mod segments;
pub mod smtlib;
mod solutions;
mod solve;
mod tracks;
mod window;

pub use budget::{Budget, Stop};
pub use bytes::ByteSet;
pub use grammar::{Grammar, Nonterminal, Repetition, Rule, SetId, Symbol};
pub use language::{GrammarId, Language, Languages, UNBOUNDED};
pub use problem::{Atom, Formula, Piece, Problem, Term, Variable, VariableId};
pub use scan::Size;
pub use solutions::{Count, Visitor};
pub use solve::Answer;
pub use tracks::{Cell, Comparison, Occurrence, Reader, Track, Tracks};
pub use window::{Finder, Window};
