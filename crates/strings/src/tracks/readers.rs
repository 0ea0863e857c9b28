//! Automata that read a text from left to right and accept it or not: a language, the place of a
//! pattern, the sign of a comparison.
//!
//! The last two could be languages as well. As automata of their own they need no derivatives, and
//! which places are accepted costs no states.

use crate::bytes::ByteSet;
use crate::language::{Language, Languages};

/// What reads a text.
#[derive(Clone, Debug)]
pub enum Reader {
    /// The text is a word of the language.
    Language(Language),
    Occurrence(Occurrence),
    Comparison(Comparison),
}

/// What a reader knows about the part that it has read.
pub(super) type State = u128;

/// Whatever follows, the text is accepted.
pub(super) const ACCEPTED: State = State::MAX;

/// The place of a pattern is an accepted one.
#[derive(Clone, Debug)]
pub struct Occurrence {
    /// For each byte the places of the pattern where it may stand, as bits.
    masks: Box<[u128; 256]>,
    sets: Vec<ByteSet>,
    /// Position of the pattern's last byte.
    end: u32,
    last: bool,
    terminated: bool,
    accepted: Vec<bool>,
}

/// With a reader of the last occurrence: the last one so far is at an accepted place.
const AT_ACCEPTED: State = 1 << 126;

impl Occurrence {
    /// A search for a pattern: at each of its places one of these bytes. `accepted` says of each
    /// place of the text whether the pattern may be found there, and last whether it may be
    /// nowhere.
    ///
    /// `terminated` texts end at a 0, and `last` asks for the last place. `None` if the pattern is
    /// too long, or empty, or if it has several bytes of which one may be the 0 that ends the text.
    pub fn new(
        pattern: &[ByteSet],
        terminated: bool,
        last: bool,
        accepted: Vec<bool>,
    ) -> Option<Occurrence> {
        let has_end = terminated && pattern.len() > 1 && pattern.iter().any(|set| set.contains(0));
        if has_end || !(1..=120).contains(&pattern.len()) || accepted.is_empty() {
            return None;
        }
        let mut masks = Box::new([0; 256]);
        for (place, set) in pattern.iter().enumerate() {
            set.iter().for_each(|byte| masks[usize::from(byte)] |= 1 << place);
        }
        let mut sets = pattern.to_vec();
        sets.extend(terminated.then(|| ByteSet::single(0)));
        sets.sort_unstable();
        sets.dedup();
        Some(Occurrence { masks, sets, end: pattern.len() as u32 - 1, last, terminated, accepted })
    }

    fn accepts_none(&self) -> bool {
        self.accepted.last() == Some(&true)
    }

    fn start(&self) -> State {
        if self.last && self.accepts_none() { AT_ACCEPTED } else { 0 }
    }

    /// Bit i of the state says that the last bytes read are the pattern's first i + 1.
    fn read(&self, state: State, index: usize, byte: u8) -> Option<State> {
        let ends = self.terminated && byte == 0;
        if self.last && ends {
            return self.finish(state);
        }
        let bits = ((state & !AT_ACCEPTED) << 1 | 1) & self.masks[usize::from(byte)];
        let is_accepted = |place: usize| self.accepted.get(place) == Some(&true);
        let hit = (bits >> self.end & 1 == 1).then(|| is_accepted(index - self.end as usize));
        match hit {
            Some(accepted) if self.last => Some(bits | if accepted { AT_ACCEPTED } else { 0 }),
            None if self.last => Some(bits | state & AT_ACCEPTED),
            Some(accepted) => accepted.then_some(ACCEPTED),
            None if ends => self.finish(state),
            None => Some(bits),
        }
    }

    fn finish(&self, state: State) -> Option<State> {
        let accepts = if self.last { state & AT_ACCEPTED != 0 } else { self.accepts_none() };
        accepts.then_some(ACCEPTED)
    }
}

/// The text is less than, equal to or greater than another, whichever is accepted.
#[derive(Clone, Debug)]
pub struct Comparison {
    pub other: Vec<u8>,
    /// Upper-case letters of ASCII count as lower-case ones.
    pub fold: bool,
    /// Texts that are equal up to a 0 are equal.
    pub terminated: bool,
    /// Less, equal, greater.
    pub accepted: [bool; 3],
}

impl Comparison {
    fn folded(&self, byte: u8) -> u8 {
        if self.fold { byte.to_ascii_lowercase() } else { byte }
    }

    fn read(&self, index: usize, byte: u8) -> Option<State> {
        let Some(&other) = self.other.get(index) else { return self.finish() };
        let (byte, other) = (self.folded(byte), self.folded(other));
        if byte != other {
            let sign = if byte < other { 0 } else { 2 };
            return self.accepted[sign].then_some(ACCEPTED);
        }
        if self.terminated && byte == 0 { self.finish() } else { Some(0) }
    }

    fn finish(&self) -> Option<State> {
        self.accepted[1].then_some(ACCEPTED)
    }

    fn sets(&self, index: usize) -> Vec<ByteSet> {
        let Some(&other) = self.other.get(index) else { return Vec::new() };
        let other = self.folded(other);
        let less = (0..=255).filter(|&byte| self.folded(byte) < other).collect();
        let equal = (0..=255).filter(|&byte| self.folded(byte) == other).collect();
        vec![less, equal]
    }
}

impl Reader {
    pub(super) fn start(&self) -> State {
        match self {
            Reader::Language(language) => State::from(language.0),
            Reader::Occurrence(occurrence) => occurrence.start(),
            Reader::Comparison(_) => 0,
        }
    }

    /// After byte number `index` of a text, of which `left` bytes follow; `None` if it cannot be
    /// accepted any more.
    pub(super) fn read(
        &self,
        languages: &mut Languages,
        state: State,
        index: usize,
        byte: u8,
        left: usize,
    ) -> Option<State> {
        if state == ACCEPTED {
            return Some(state);
        }
        match self {
            Reader::Occurrence(occurrence) => occurrence.read(state, index, byte),
            Reader::Comparison(comparison) => comparison.read(index, byte),
            Reader::Language(_) => {
                let next = languages.derivative(Language(state as u32), byte);
                let reachable = next != Languages::EMPTY && languages.shortest(next) <= left as u64;
                reachable.then_some(State::from(next.0))
            }
        }
    }

    /// At the end of the text.
    pub(super) fn finish(&self, languages: &Languages, state: State) -> Option<State> {
        if state == ACCEPTED {
            return Some(state);
        }
        match self {
            Reader::Occurrence(occurrence) => occurrence.finish(state),
            Reader::Comparison(comparison) => comparison.finish(),
            Reader::Language(_) => languages.nullable(Language(state as u32)).then_some(ACCEPTED),
        }
    }

    /// Bytes that no set tells apart lead to the same state as byte number `index`.
    pub(super) fn sets(&self, languages: &Languages, index: usize) -> Vec<ByteSet> {
        match self {
            Reader::Language(language) => languages.byte_sets(&[*language]),
            Reader::Occurrence(occurrence) => occurrence.sets.clone(),
            Reader::Comparison(comparison) => comparison.sets(index),
        }
    }

    /// Equal numbers at two indices mean equal sets there.
    pub(super) fn sets_key(&self, index: usize) -> u32 {
        match self {
            Reader::Comparison(comparison) => {
                comparison.other.get(index).map_or(256, |&other| other.into())
            }
            Reader::Language(_) | Reader::Occurrence(_) => 0,
        }
    }
}
