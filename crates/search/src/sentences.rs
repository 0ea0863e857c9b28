//! A language that inputs must belong to.

/// Knows the sentences of a language.
pub trait Sentences {
    fn contains(&mut self, input: &[u8]) -> bool;

    /// The number of the token that a byte of a sentence belongs to, or that follows it; `None` for other inputs.
    fn token_at(&mut self, input: &[u8], byte: usize) -> Option<usize>;

    /// Texts that differ from a sentence at one of its tokens. Most of them are sentences.
    fn neighbours(&mut self, input: &[u8], token: usize) -> Vec<Vec<u8>>;

    /// Texts near a sentence that have the bytes which a proposal, itself no sentence, changes. Some of them are sentences.
    fn with_proposal(&mut self, input: &[u8], proposal: &[u8]) -> Vec<Vec<u8>>;
}
