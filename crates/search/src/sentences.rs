//! A language that inputs must belong to.

use path::Word;
use solver::Restrictions;

/// Another token at a place of a sentence, or one more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change {
    /// Stands for the changed token and those before it.
    pub key: u64,
    pub token: u32,
    /// Which change at that token; its meaning is the language's own.
    pub choice: u32,
}

/// What of a sentence stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Each token keeps its terminal and its length.
    Lexemes,
    /// The sentence keeps its length.
    Sentence,
}

/// Knows the sentences of a language.
pub trait Sentences {
    /// Takes note of an input that did something new.
    fn keep(&mut self, input: &[u8]);

    /// Takes note of the words that the program asked about in a run on `input`.
    fn learn_words(&mut self, _input: &[u8], _words: &[Word]) {}

    /// Takes note of an input whose run ended with status 0.
    fn ended_well(&mut self, _input: &[u8]) {}

    /// A sentence that is not derived from a path: any, or one that has parts of those kept.
    fn fresh(&mut self, random: u64) -> Option<Vec<u8>>;

    /// Keys of the tokens of a sentence; none for other inputs.
    fn keys(&mut self, input: &[u8]) -> Vec<u64>;

    /// Changes of a sentence at all of its tokens.
    fn changes(&mut self, input: &[u8]) -> Vec<Change>;

    /// The sentence with a change; `None` if it cannot be made.
    fn change(&mut self, input: &[u8], change: Change) -> Option<Vec<u8>>;

    fn contains(&mut self, input: &[u8]) -> bool;

    /// The number of the token that a byte of a sentence belongs to, or that follows it; `None` for
    /// other inputs.
    fn token_at(&mut self, input: &[u8], byte: usize) -> Option<usize>;

    /// Texts that differ from a sentence at one of its tokens. Most of them are sentences.
    fn neighbours(&mut self, input: &[u8], token: usize) -> Vec<Vec<u8>>;

    /// Languages that parts of a sentence must belong to so that it stays one, as far as the
    /// language can tell; most answers that keep to them are sentences. `None` for other inputs,
    /// and where there is no such language.
    fn restrictions(&mut self, _input: &[u8], _scope: Scope) -> Option<Restrictions<'_>> {
        None
    }

    /// Texts near a sentence that have the bytes which a proposal, itself no sentence, changes.
    /// Some of them are sentences.
    fn with_proposal(&mut self, input: &[u8], proposal: &[u8]) -> Vec<Vec<u8>>;
}
