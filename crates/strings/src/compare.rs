//! Questions about two languages: containment, equivalence, intersection.
//!
//! Exact where the languages are regular, or one of them is context-free and not complemented;
//! otherwise all words up to a bound are compared, and the answer says so.

use crate::budget::{Budget, Stop};
use crate::language::{Language, Languages, UNBOUNDED};
use crate::problem::{Atom, Piece, Problem};
use crate::scan::Size;
use crate::solve::Answer;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// A word that is in the difference (or intersection) that was asked for.
    Found(Vec<u8>),
    /// There is none at all.
    None,
    /// There is none of at most this many bytes.
    NoneUpTo(u64),
    Unknown(Stop),
}

/// A word of the first language that is not in the second.
pub fn difference(
    languages: Languages,
    a: Language,
    b: Language,
    bound: u64,
    budget: &mut Budget,
) -> (Comparison, Languages) {
    let mut languages = languages;
    let not_b = languages.not(b);
    intersection(languages, a, not_b, bound, budget)
}

/// A word of both languages.
pub fn intersection(
    mut languages: Languages,
    a: Language,
    b: Language,
    bound: u64,
    budget: &mut Budget,
) -> (Comparison, Languages) {
    let (a, b) = (simpler(&mut languages, a), simpler(&mut languages, b));
    let hard = |language| languages.has_grammar(language);
    let plain = |language| !matches!(languages.node(language), crate::language::Node::Not(_));
    let exact =
        !hard(a) && !hard(b) || hard(a) && plain(a) && !hard(b) || hard(b) && plain(b) && !hard(a);
    let most = if exact { UNBOUNDED } else { bound };
    let mut problem = Problem { languages, ..Problem::default() };
    let word = vec![Piece::Variable(problem.sized_variable("word", Size { least: 0, most }))];
    problem.require(Atom::In(word.clone(), a));
    problem.require(Atom::In(word, b));
    let comparison = match problem.solve(budget) {
        Answer::Sat(mut words) => Comparison::Found(words.pop().unwrap_or_default()),
        Answer::Unsat if exact => Comparison::None,
        Answer::Unsat => Comparison::NoneUpTo(bound),
        Answer::Unknown(stop) => Comparison::Unknown(stop),
    };
    (comparison, problem.languages)
}

/// With automata in place of grammars that are regular.
fn simpler(languages: &mut Languages, language: Language) -> Language {
    let conjunct = crate::scan::Conjunct { parts: Vec::new(), language };
    crate::conjunction::exact(languages, &conjunct).map_or(language, |conjunct| conjunct.language)
}
