//! A language that inputs must belong to.

/// Knows the sentences of a language.
pub trait Sentences {
    fn contains(&mut self, input: &[u8]) -> bool;

    /// The first sentence that `passes`, of those that differ from `current` where `byte` is. `proposal` is a text that passes but is
    /// no sentence.
    fn near(
        &mut self,
        current: &[u8],
        byte: usize,
        proposal: Option<&[u8]>,
        passes: &mut dyn FnMut(&[u8]) -> bool,
    ) -> Option<Vec<u8>>;
}
