//! Repetitions (length abstraction): lexemes that can be made longer in place, by one byte that is
//! repeated as often as one likes.
//!
//! Where a lexeme's automaton comes back to the same state with a byte, any number of that byte may
//! stand there. A string with such a run in one of its holes is kept without it; how often the byte
//! is repeated is for the user of the string to choose.

use super::{HoleAt, Symbolic, SymbolicString};
use crate::automata::automaton::Automaton;
use crate::lexing::mode::friendliest;

/// How a lexeme that fills a hole is made longer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repeat {
    /// The lexeme that this is about.
    pub lexeme: Vec<u8>,
    /// How many bytes of it come before those that are added.
    pub after: usize,
    /// The byte that is repeated.
    pub filler: u8,
}

impl Repeat {
    /// As late in the lexeme as can be; `None` if its automaton comes back to no state with one
    /// byte.
    pub(super) fn of(automaton: &Automaton, lexeme: Vec<u8>) -> Option<Repeat> {
        let step = |state: &mut usize, byte: &u8| {
            let edge =
                automaton.edges.get(*state)?.iter().find(|edge| edge.bytes.contains(byte))?;
            *state = edge.to as usize;
            Some(*state)
        };
        let states = std::iter::once(0).chain(lexeme.iter().scan(0, step));
        let repeats = states.enumerate().filter_map(|(after, state)| {
            let again =
                automaton.edges.get(state)?.iter().find(|edge| edge.to as usize == state)?;
            Some((after, friendliest(&again.bytes)))
        });
        let (after, filler) = repeats.last()?;
        Some(Repeat { lexeme, after, filler })
    }
}

/// A symbolic string in which one hole holds a run of equal bytes, of any number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repeated {
    /// The string without these bytes.
    pub string: SymbolicString,
    /// Which of its holes holds them.
    pub hole: usize,
    /// Where in the string's text they stand.
    pub at: usize,
    pub filler: u8,
}

impl Symbolic {
    /// The string with a run of equal bytes in a hole; `None` if the hole's lexemes cannot be made
    /// longer like that.
    pub fn repeated(&self, string: &SymbolicString, hole: usize) -> Option<Repeated> {
        let place = string.holes.get(hole)?;
        let repeat = self.hole(place.hole)?.repeat.as_ref()?;
        let mut string = string.clone();
        string.text.get_mut(place.start..place.start + place.len)?.copy_from_slice(&repeat.lexeme);
        Some(Repeated { at: place.start + repeat.after, hole, filler: repeat.filler, string })
    }
}

impl Repeated {
    /// A text of the string with so many of the equal bytes.
    pub fn with(&self, text: &[u8], count: usize) -> Vec<u8> {
        let (before, after) = text.split_at(self.at.min(text.len()));
        [before, &vec![self.filler; count], after].concat()
    }

    /// The same text without the bytes.
    pub fn without(&self, text: &[u8], count: usize) -> Vec<u8> {
        let (before, after) = text.split_at(self.at.min(text.len()));
        [before, after.get(count..).unwrap_or_default()].concat()
    }

    /// Where the bytes of a hole are in a text with so many of the equal bytes.
    pub fn places(&self, hole: &HoleAt, count: usize) -> impl Iterator<Item = usize> + use<> {
        let at = self.at;
        (hole.start..hole.start + hole.len)
            .map(move |place| if place < at { place } else { place + count })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Pattern;
    use crate::automata::automaton::own_lexemes;
    use crate::model::TerminalId;

    fn repeat(pattern: &str, len: usize) -> Option<(usize, u8)> {
        let automaton = own_lexemes(&Pattern::parse(pattern).expect("a pattern")).expect("small");
        let repeat = Repeat::of(&automaton, automaton.of_length(len)?)?;
        for count in 0..20 {
            let (before, after) = repeat.lexeme.split_at(repeat.after);
            let longer = [before, &vec![repeat.filler; count], after].concat();
            assert!(automaton.matches(&longer), "{pattern} {longer:?}");
        }
        Some((repeat.after, repeat.filler))
    }

    #[test]
    fn longer_lexemes_are_lexemes() {
        assert_eq!(repeat("[a-z]+", 1), Some((1, b'a')));
        assert_eq!(repeat("x[0-9]*", 3), Some((3, b'0')));
        assert_eq!(repeat("\"[^\"]*\"", 2), Some((1, b'a')), "before the end");
        assert_eq!(repeat("[0-9]+x", 2), Some((1, b'0')));
        assert_eq!(repeat("(?s-u:[^\r\n])+", 2), Some((2, b'a')));
        assert_eq!(repeat("(ab)+", 2), None, "no byte leads back");
        assert_eq!(repeat("[a-z]{1,9}", 2), None);
    }

    #[test]
    fn holes_after_the_repetition_move() {
        let hole = |start, len| HoleAt { start, len, terminal: None, hole: TerminalId(0) };
        let string =
            SymbolicString { text: b"<ab>c".to_vec(), holes: vec![hole(1, 2), hole(4, 1)] };
        let repeated = Repeated { string: string.clone(), hole: 0, at: 2, filler: b'x' };
        let text = repeated.with(&string.text, 3);
        assert_eq!(text, b"<axxxb>c");
        assert_eq!(repeated.without(&text, 3), string.text);
        let places = |i: usize| repeated.places(&string.holes[i], 3).collect::<Vec<_>>();
        assert_eq!((places(0), places(1)), (vec![1, 5], vec![7]));
    }
}
