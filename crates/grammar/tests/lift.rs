//! Sentences near a sentence, on random grammars: empty rules, left recursion, ambiguity and cycles
//! included.

use grammar_testing as common;

use common::{grammar, oracle, spec};
use grammar::language::Language;
use grammar::lift::{Lifter, Neighbour};
use proptest::prelude::*;

/// Longest sentence that the oracle knows.
const MAX: usize = 5;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn changes_of_sentences_are_sentences(spec in spec()) {
        let Ok(language) = Language::new(grammar(&spec)) else { return Ok(()) };
        let oracle = oracle(&spec, MAX);
        let known = oracle.derivations();
        let mut lifter = Lifter::new(&language).expect("small automata");
        for sentence in known.keys().take(20) {
            let lifted = lifter.lift(sentence).expect("the oracle derives it");
            for token in 0..=lifted.tokens().len() {
                for Neighbour { text, .. } in lifter.neighbours(sentence, token) {
                    prop_assert!(text.len() > MAX || known.contains_key(&text), "{:?} near \
                        {:?}", text, sentence);
                    prop_assert!(lifter.is_sentence(&text));
                }
            }
            for change in lifter.changes(sentence) {
                if let Some(text) = lifter.change(sentence, change) {
                    prop_assert!(text.len() > MAX || known.contains_key(&text), "{:?} of \
                        {:?}", text, sentence);
                }
            }
        }
    }

    /// What a sentence with one other token can be, brute force knows: all sentences that agree
    /// with it before and after.
    #[test]
    fn no_sentence_with_one_other_lexeme_is_missed(spec in spec()) {
        let Ok(language) = Language::new(grammar(&spec)) else { return Ok(()) };
        let known = oracle(&spec, MAX);
        let mut lifter = Lifter::new(&language).expect("small automata");
        for sentence in known.derivations().keys().take(10) {
            let lifted = lifter.lift(sentence).expect("the oracle derives it");
            for (number, token) in lifted.tokens().iter().enumerate() {
                let near: Vec<_> = lifter.neighbours(sentence, number).into_iter().map(|near| near.text).collect();
                for letter in [&b"a"[..], b"b"] {
                    let other = [&sentence[..token.start], letter, &sentence[token.end..]].concat();
                    let possible = other != *sentence && is_one_token_away(&language, &lifted, number, letter);
                    prop_assert!(!possible || near.contains(&other), "{:?} is not near \
                        {:?}", other, sentence);
                }
            }
        }
    }
}

/// Whether a terminal with this lexeme can stand in place of a token, the other tokens being what
/// they are.
fn is_one_token_away(
    language: &Language,
    lifted: &grammar::lift::Lifted,
    token: usize,
    lexeme: &[u8],
) -> bool {
    let mut recognizer = language.core.recognizer();
    let matching = (0..language.lexemes.len()).filter(|&t| language.lexemes[t].matches(lexeme));
    let mut matching = matching.map(grammar::TerminalId::from);
    matching.any(|terminal| {
        let mut terminals: Vec<_> = lifted.tokens().iter().map(|token| token.terminal).collect();
        terminals[token] = terminal;
        let begin = recognizer.begin();
        let end = terminals.iter().try_fold(begin, |config, t| recognizer.advance(config, *t));
        end.is_some_and(|config| recognizer.accepts(config))
    })
}
