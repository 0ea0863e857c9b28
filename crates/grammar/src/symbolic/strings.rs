//! Symbolic strings: all of one size after the other, those with the fewest hole bytes first, without holding them.

use super::{Filling, Symbolic};
use crate::dfa::DfaError;
use crate::enumerate::{Enumerator, Found};
use crate::lightest::lightest_first;
use crate::model::TerminalId;
use crate::space::Space;
use crate::spaces::{self, SpaceError};
use crate::spell::Speller;
use num_bigint::BigUint;
use std::ops::ControlFlow;

/// What the size of a string is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Measure {
    /// Bytes of its tokens. Distinct sequences of tokens are enumerated.
    #[default]
    Length,
    /// Of its derivation tree. Derivations are enumerated: an ambiguous string comes as often as it has some.
    Height,
}

/// A part of a text that is to be filled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct HoleAt {
    pub start: usize,
    pub len: usize,
    /// Whose lexemes may stand there; `None` if anything may.
    pub terminal: Option<TerminalId>,
}

/// A text with holes. Its bytes in the holes are an example of what may fill them.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SymbolicString {
    pub text: Vec<u8>,
    pub holes: Vec<HoleAt>,
}

impl SymbolicString {
    pub fn hole_bytes(&self) -> usize {
        self.holes.iter().map(|hole| hole.len).sum()
    }
}

/// What is enumerated in which order.
#[derive(Clone, Copy, Debug)]
pub struct Sizes {
    pub measure: Measure,
    /// Longest lexeme of terminals that were kept and have infinitely many.
    pub max_lexeme: usize,
}

impl Symbolic {
    /// The space of all strings up to a size, which [`Symbolic::strings`] goes through.
    pub fn space(&self, sizes: &Sizes, max: usize) -> Result<Space, SpaceError> {
        let space = match sizes.measure {
            Measure::Length => spaces::distinct(&self.language, max)?,
            Measure::Height => spaces::by_height(&self.language, max, Some(sizes.max_lexeme))?,
        };
        Ok(lightest_first(&space, |terminal| self.weight(terminal)))
    }

    /// Calls `each` for the strings of a space from number `from` on, at most `limit` of them.
    pub fn strings<F>(
        &self,
        space: &Space,
        from: &BigUint,
        limit: Option<&BigUint>,
        mut each: F,
    ) -> Result<(), DfaError>
    where
        F: FnMut(SymbolicString) -> ControlFlow<()>,
    {
        let mut spelling = Spelling { symbolic: self, speller: Speller::new(&self.grammar)? };
        // Whether all strings were wanted is the caller's to know.
        let _ = Enumerator::new(space).run(from, limit, |found| each(spelling.spell(&found)));
        Ok(())
    }
}

struct Spelling<'s> {
    symbolic: &'s Symbolic,
    speller: Speller,
}

impl Spelling<'_> {
    fn spell(&mut self, found: &Found) -> SymbolicString {
        let mut string = SymbolicString { text: Vec::new(), holes: Vec::new() };
        self.speller.begin();
        let ends = found.tokens.iter().skip(1).map(|(_, start)| *start as usize).chain([found.text.len()]);
        for (&(terminal, start), end) in found.tokens.iter().zip(ends) {
            self.write(&mut string, terminal, &found.text[start as usize..end]);
        }
        string
    }

    fn write(&mut self, string: &mut SymbolicString, terminal: TerminalId, lexeme: &[u8]) {
        let Some(hole) = self.symbolic.hole(terminal) else {
            return self.speller.write(&mut string.text, terminal, lexeme);
        };
        match hole.terminal {
            Some(terminal) => self.speller.write(&mut string.text, terminal, lexeme),
            None => string.text.extend_from_slice(lexeme),
        }
        let terminal = hole.terminal.filter(|_| self.symbolic.filling == Filling::Valid);
        string.holes.push(HoleAt { start: string.text.len() - hole.len, len: hole.len, terminal });
    }
}
