//! The sentences of a grammar, for whitebox search.

use grammar::TerminalId;
use grammar::dfa::DfaError;
use grammar::language::Language;
use grammar::lift::{Lifter, TokenChange};
use grammar::rng::Rng;
use grammar::sample::Sampler;
use search::{Change, Scope, Sentences};
use solver::Restrictions;

use crate::words::Words;

/// Lifts constraints on bytes to tokens of the grammar.
pub struct Lifting<'l> {
    lifter: Lifter<'l>,
    sampler: Sampler<'l>,
    words: Words<'l>,
}

/// Sizes of fresh sentences, as powers of two.
const MAGNITUDES: u32 = 8;

impl<'l> Lifting<'l> {
    pub fn new(language: &'l Language) -> Result<Lifting<'l>, DfaError> {
        Ok(Lifting {
            lifter: Lifter::new(language)?,
            sampler: Sampler::new(language)?,
            words: Words::new(language),
        })
    }
}

impl Sentences for Lifting<'_> {
    fn contains(&mut self, input: &[u8]) -> bool {
        self.lifter.is_sentence(input)
    }

    fn fresh(&mut self, random: u64) -> Option<Vec<u8>> {
        let mut rng = Rng::new(random);
        let (size, mut input) = (2 << rng.below(MAGNITUDES), Vec::new());
        self.sampler.sample(&mut rng, size, &mut input);
        Some(input)
    }

    fn keys(&mut self, input: &[u8]) -> Vec<u64> {
        self.lifter.keys(input)
    }

    fn changes(&mut self, input: &[u8]) -> Vec<Change> {
        let changes = self.lifter.changes(input).into_iter();
        changes
            .map(|change| Change { key: change.key, token: change.token, choice: change.terminal.0 })
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
        self.lifter.neighbours(input, token)
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
