//! The sentences of a grammar, for whitebox search.

use fastrand::Rng;
use grammar::TerminalId;
use grammar::dfa::DfaError;
use grammar::language::Language;
use grammar::lift::{Lifted, Lifter, TokenChange};
use path::Word;
use search::{Change, Scope, Sentences};
use solver::Restrictions;

use crate::corpus::{SharedCorpus, TreeCorpus};
use crate::words::Words;

/// Lifts constraints on bytes to tokens of the grammar.
pub struct Lifting<'l> {
    pub(crate) lifter: Lifter<'l>,
    corpus: SharedCorpus<'l>,
    words: Words<'l>,
}

/// Sizes of fresh sentences, as powers of two.
const MAGNITUDES: u32 = 9;
/// Of the fresh sentences, one in so many has no part of others: what was kept leads further in
/// most programs, but not everywhere.
const RANDOM_ONE_IN: u32 = 3;

impl<'l> Lifting<'l> {
    pub fn new(language: &'l Language) -> Result<Lifting<'l>, DfaError> {
        Lifting::sharing(language, TreeCorpus::shared(language)?)
    }

    /// With a corpus that others add to.
    pub fn sharing(
        language: &'l Language,
        corpus: SharedCorpus<'l>,
    ) -> Result<Lifting<'l>, DfaError> {
        Ok(Lifting { lifter: Lifter::new(language)?, corpus, words: Words::new(language) })
    }
}

impl Sentences for Lifting<'_> {
    fn contains(&mut self, input: &[u8]) -> bool {
        self.lifter.is_sentence(input)
    }

    fn fresh(&mut self, random: u64) -> Option<Vec<u8>> {
        let mut rng = Rng::with_seed(random);
        let mut corpus = self.corpus.borrow_mut();
        if rng.u32(..RANDOM_ONE_IN) != 0
            && let Some(mutated) = corpus.mutated(&mut rng)
        {
            return Some(mutated);
        }
        let size = 2 << rng.u32(..MAGNITUDES);
        Some(corpus.random(size, &mut rng))
    }

    fn learn_words(&mut self, input: &[u8], words: &[Word]) {
        // What is no sentence tells words all the same.
        let lifted = self.lifter.lift(input);
        let tokens = lifted.as_deref().map_or(&[][..], Lifted::tokens);
        self.corpus.borrow_mut().dictionary.learn(input, tokens, words);
    }

    fn ended_well(&mut self, input: &[u8]) {
        if let Some(lifted) = self.lifter.lift(input) {
            self.corpus.borrow_mut().dictionary.serve(input, lifted.tokens());
        }
    }

    fn keep(&mut self, input: &[u8]) {
        self.corpus.borrow_mut().keep(input);
    }

    fn keys(&mut self, input: &[u8]) -> Vec<u64> {
        self.lifter.keys(input)
    }

    fn changes(&mut self, input: &[u8]) -> Vec<Change> {
        let changes = self.lifter.changes(input).into_iter();
        changes
            .map(|change| Change {
                key: change.key,
                token: change.token,
                choice: change.terminal.0,
            })
            .collect()
    }

    fn change(&mut self, input: &[u8], change: Change) -> Option<Vec<u8>> {
        let terminal = TerminalId(change.choice);
        self.lifter.change(input, TokenChange { key: change.key, token: change.token, terminal })
    }

    fn token_at(&mut self, input: &[u8], byte: usize) -> Option<usize> {
        self.lifter.token_at(input, byte)
    }

    fn neighbours(&mut self, input: &[u8], token: usize) -> Vec<Vec<u8>> {
        self.lifter.neighbours(input, token).into_iter().map(|neighbour| neighbour.text).collect()
    }

    fn restrictions(&mut self, input: &[u8], scope: Scope) -> Option<Restrictions<'_>> {
        let lifted = self.lifter.lift(input)?;
        match scope {
            Scope::Lexemes => Some(self.words.lexemes(input, lifted.tokens())),
            Scope::Sentence => self.words.sentence(input),
        }
    }

    fn with_proposal(&mut self, input: &[u8], proposal: &[u8]) -> Vec<Vec<u8>> {
        self.lifter.with_proposal(input, proposal)
    }
}
