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

    fn near(
        &mut self,
        current: &[u8],
        byte: usize,
        proposal: Option<&[u8]>,
        passes: &mut dyn FnMut(&[u8]) -> bool,
    ) -> Option<Vec<u8>> {
        self.0.near(current, byte, proposal, passes)
    }
}
