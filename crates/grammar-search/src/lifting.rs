//! The sentences of a grammar, for whitebox search.

use grammar::TerminalId;
use grammar::dfa::DfaError;
use grammar::language::Language;
use grammar::lift::{Lifter, TokenChange};
use search::{Change, Sentences};

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

    fn keys(&mut self, input: &[u8]) -> Vec<u64> {
        self.0.keys(input)
    }

    fn changes(&mut self, input: &[u8]) -> Vec<Change> {
        let changes = self.0.changes(input).into_iter();
        changes
            .map(|change| Change { key: change.key, token: change.token, choice: change.terminal.0 })
            .collect()
    }

    fn change(&mut self, input: &[u8], change: Change) -> Option<Vec<u8>> {
        let terminal = TerminalId(change.choice);
        self.0.change(input, TokenChange { key: change.key, token: change.token, terminal })
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
