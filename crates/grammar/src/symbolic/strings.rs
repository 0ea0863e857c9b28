//! Symbolic strings: all of one size after the other, those with the fewest hole bytes first,
//! without holding them.

use super::{Filling, Symbolic};
use crate::automata::dfa::DfaError;
use crate::counting::enumerate::{Enumerator, Found};
use crate::counting::lightest::lightest_first;
use crate::counting::space::Space;
use crate::counting::spaces::{self, SpaceError};
use crate::lexing::spell::Speller;
use crate::model::TerminalId;
use num_bigint::BigUint;
use std::collections::VecDeque;
use std::ops::ControlFlow;

/// What the size of a string is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Measure {
    /// Bytes of its tokens. Distinct sequences of tokens are enumerated.
    #[default]
    Length,
    /// Of its derivation tree. Derivations are enumerated: an ambiguous string comes as often as it
    /// has some.
    Height,
}

/// A part of a text that is to be filled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct HoleAt {
    pub start: usize,
    pub len: usize,
    /// Whose lexemes may stand there; `None` if anything may.
    pub terminal: Option<TerminalId>,
    /// The terminal of the symbolic grammar that the hole is.
    pub hole: TerminalId,
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
    /// Longest lexeme, when enumerating by height, of terminals that were kept and have infinitely
    /// many.
    pub max_lexeme: usize,
}

#[derive(Debug, Clone, thiserror::Error)]
pub enum StringsError {
    #[error(transparent)]
    Space(#[from] SpaceError),
    #[error("the scanner: {0}")]
    Scanner(#[from] DfaError),
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

/// A string by its size and its number among those of that size.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Position {
    pub size: usize,
    pub number: BigUint,
}

/// All symbolic strings, one size after the other, without an end where the language has none.
pub struct Strings<'s> {
    spelling: Spelling<'s>,
    sizes: Sizes,
    /// No string is larger, or is wanted.
    largest: Option<usize>,
    /// Which of so many equal parts of each size.
    shard: (u64, u64),
    /// No string was found so far.
    is_empty: bool,
    next: Position,
    /// Of the size of `next`.
    enumerator: Option<Enumerator<Box<Space>>>,
    end: BigUint,
    ready: VecDeque<SymbolicString>,
}

/// Strings that are made at once.
const BATCH: u32 = 256;

impl<'s> Strings<'s> {
    /// Strings of a size up to `largest`, beginning with `from`. `shard` is the number of a part
    /// and how many there are.
    pub fn new(
        symbolic: &'s Symbolic,
        sizes: Sizes,
        largest: Option<usize>,
        shard: (u64, u64),
    ) -> Result<Strings<'s>, StringsError> {
        let spelling = Spelling { symbolic, speller: Speller::new(&symbolic.grammar)? };
        let bound = symbolic.largest(sizes);
        let largest = largest.into_iter().chain(bound).min();
        let (next, end, ready) = (Position::default(), BigUint::ZERO, VecDeque::new());
        Ok(Strings {
            spelling,
            sizes,
            largest,
            shard,
            is_empty: true,
            next,
            enumerator: None,
            end,
            ready,
        })
    }

    /// Goes on with the string at a position.
    pub fn seek(&mut self, position: Position) {
        self.is_empty &= position.size == 0;
        self.next = position;
        self.enumerator = None;
        self.ready.clear();
    }

    /// Where the next string stands, if there is one.
    pub fn position(&self) -> &Position {
        &self.next
    }

    /// The next string, with its size; `None` after the last. The size of [`Strings::position`]
    /// grows when all strings of a size were handed out.
    pub fn take(&mut self) -> Result<Option<(usize, SymbolicString)>, StringsError> {
        while self.ready.is_empty() {
            if self.largest.is_some_and(|largest| self.next.size > largest) {
                return Ok(None);
            }
            self.fill()?;
        }
        let string = self.ready.pop_front();
        self.next.number += 1u32;
        Ok(string.map(|string| (self.next.size, string)))
    }

    /// Makes more strings of the size, or goes on to the next size.
    fn fill(&mut self) -> Result<(), StringsError> {
        if self.enumerator.is_none() {
            self.open()?;
        }
        if self.next.number >= self.end {
            self.next = Position { size: self.next.size + 1, number: BigUint::ZERO };
            self.enumerator = None;
            return Ok(());
        }
        let Strings { spelling, enumerator, ready, .. } = self;
        let limit = (&self.end - &self.next.number).min(BATCH.into());
        if let Some(enumerator) = enumerator {
            let _ = enumerator.run(&self.next.number, Some(&limit), |found| {
                ready.push_back(spelling.spell(&found));
                ControlFlow::Continue(())
            });
        }
        Ok(())
    }

    /// The space of the strings of the size of `next` alone.
    fn open(&mut self) -> Result<(), StringsError> {
        let size = self.next.size;
        let mut space = self.spelling.symbolic.space(&self.sizes, size)?;
        let smaller = space.sizes.iter().take_while(|s| **s < size).count();
        space.roots.drain(..smaller);
        space.sizes.drain(..smaller);
        let (part, parts) = self.shard;
        let total = space.total();
        // A tree that is higher than there are nonterminals has a rule within itself, and there is
        // one without.
        let nonterminals = self.spelling.symbolic.language.core.nts.len();
        self.is_empty &= total == BigUint::ZERO;
        if self.sizes.measure == Measure::Height && self.is_empty && size > nonterminals {
            self.largest = Some(size);
        }
        self.end = &total * (part + 1) / parts;
        let start = &total * part / parts;
        self.next.number = start.max(std::mem::take(&mut self.next.number));
        self.enumerator = Some(Enumerator::new(Box::new(space)));
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
        let ends =
            found.tokens.iter().skip(1).map(|(_, start)| *start as usize).chain([found.text.len()]);
        let mut left = None;
        for (&(terminal, start), end) in found.tokens.iter().zip(ends) {
            left = self.write(&mut string, left, terminal, &found.text[start as usize..end]);
        }
        string
    }

    /// Appends a token after one that was `left`: its terminal in the concrete grammar, and whether
    /// it was a hole.
    fn write(
        &mut self,
        string: &mut SymbolicString,
        left: Option<(TerminalId, bool)>,
        terminal: TerminalId,
        lexeme: &[u8],
    ) -> Option<(TerminalId, bool)> {
        let hole = self.symbolic.hole(terminal);
        let Some(written) = hole.map_or(Some(terminal), |hole| hole.terminal) else {
            string.text.extend_from_slice(lexeme);
            string.holes.push(self.hole_at(string, lexeme.len(), terminal, None));
            return None;
        };
        let before =
            left.filter(|(_, was_hole)| *was_hole || hole.is_some()).map(|(terminal, _)| terminal);
        self.speller.write_any(&mut string.text, before, (written, lexeme), &self.symbolic.lexemes);
        if hole.is_some() {
            string.holes.push(self.hole_at(string, lexeme.len(), terminal, Some(written)));
        }
        Some((written, hole.is_some()))
    }

    /// The hole that was written last.
    fn hole_at(
        &self,
        string: &SymbolicString,
        len: usize,
        hole: TerminalId,
        terminal: Option<TerminalId>,
    ) -> HoleAt {
        let terminal = terminal.filter(|_| self.symbolic.filling == Filling::Valid);
        HoleAt { start: string.text.len() - len, len, terminal, hole }
    }
}
