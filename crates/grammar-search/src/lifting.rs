//! The sentences of a grammar, for whitebox search.

use grammar::dfa::DfaError;
use grammar::language::Language;
use grammar::lift::Lifter;
use search::Sentences;

/// Lifts constraints on bytes to tokens of the grammar.
pub struct Lifting<'l>(Lifter<'l>);

impl<'l> Lifting<'l> {
    pub fn new(language: &'l Language) -> Result<Lifting<'l>, DfaError> {
        Lifter::new(language).map(Lifting)
    }
}

impl Sentences for Lifting<'_> {
    fn contains(&mut self, input: &[u8]) -> bool {
        self.0.is_sentence(input)
    }

    fn token_at(&mut self, input: &[u8], byte: usize) -> Option<usize> {
        self.0.token_at(input, byte)
    }

    fn neighbours(&mut self, input: &[u8], token: usize) -> Vec<Vec<u8>> {
        self.0.neighbours(input, token)
    }

    fn with_proposal(&mut self, input: &[u8], proposal: &[u8]) -> Vec<Vec<u8>> {
        self.0.with_proposal(input, proposal)
    }
}
