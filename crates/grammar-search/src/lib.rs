//! Search strategies that know a grammar: whitebox search within its language, random sentences,
//! mutation of derivation trees, all strings of symbolic grammars, and the choice between
//! strategies by what they bring.
//!
//! Joins `grammar`, which knows nothing of programs, with `search`, which knows nothing of
//! grammars. It must not read grammar files (`grammar-formats`) nor solve (`solver`).

mod auto;
mod cese;
mod corpus;
mod dictionary;
mod in_part;
mod lifting;
mod named;
mod random;
mod seeds;
mod shrink;
mod trees;
mod verdicts;
mod words;

pub use auto::Auto;
pub use cese::{Cese, CeseOptions};
pub use corpus::{SharedCorpus, TreeCorpus};
pub use in_part::InPart;
pub use lifting::Lifting;
pub use named::NamedLifting;
pub use random::GrammarRandom;
pub use seeds::{joined, seeds};
pub use shrink::SentenceShrinker;
pub use trees::TreeMutate;
pub use verdicts::Verdicts;
