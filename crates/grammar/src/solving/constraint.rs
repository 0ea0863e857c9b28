//! What a token constraint says about one token, and sets of terminals.
//!
//! A fixed lexeme stands for the terminals that the lexer may read it as: what comes before or
//! after it is not known here.

use crate::model::TerminalId;
use crate::model::language::Language;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Constraint {
    OneOf(Vec<TerminalId>),
    AllBut(Vec<TerminalId>),
    Lexeme(Vec<u8>),
}

impl Constraint {
    /// The terminals that the token may be.
    pub fn terminals(&self, language: &Language) -> TerminalSet {
        let count = language.grammar.terminals.len();
        match self {
            Constraint::OneOf(list) => TerminalSet::of(count, list.iter().copied()),
            Constraint::AllBut(list) => TerminalSet::of(count, list.iter().copied()).complement(),
            Constraint::Lexeme(text) => {
                let read_as = |t: &TerminalId| language.lexemes[t.index()].matches(text);
                TerminalSet::of(count, (0..count).map(TerminalId::from).filter(read_as))
            }
        }
    }
}

/// Some of a grammar's terminals.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TerminalSet {
    words: Box<[u64]>,
    /// Terminals of the grammar.
    count: usize,
}

impl TerminalSet {
    /// `count` is the number of the grammar's terminals; others are left out.
    pub fn of(count: usize, members: impl IntoIterator<Item = TerminalId>) -> TerminalSet {
        let mut set = TerminalSet { words: vec![0; count.div_ceil(64)].into(), count };
        for t in members.into_iter().filter(|t| t.index() < count) {
            set.words[t.index() / 64] |= 1 << (t.index() % 64);
        }
        set
    }

    #[inline]
    pub fn contains(&self, t: TerminalId) -> bool {
        self.words.get(t.index() / 64).is_some_and(|word| word >> (t.index() % 64) & 1 == 1)
    }

    pub fn complement(&self) -> TerminalSet {
        let others = (0..self.count).map(TerminalId::from).filter(|t| !self.contains(*t));
        TerminalSet::of(self.count, others)
    }

    pub fn intersection(&self, other: &TerminalSet) -> TerminalSet {
        TerminalSet::of(self.count, self.iter().filter(|t| other.contains(*t)))
    }

    /// In increasing order.
    pub fn iter(&self) -> impl Iterator<Item = TerminalId> + '_ {
        self.words.iter().enumerate().flat_map(|(i, word)| {
            let rests =
                std::iter::successors(Some(*word), |rest| Some(rest & rest.wrapping_sub(1)));
            let bits = rests.take_while(|rest| *rest != 0).map(u64::trailing_zeros);
            bits.map(move |bit| TerminalId(i as u32 * 64 + bit))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(members: &[u32]) -> TerminalSet {
        TerminalSet::of(130, members.iter().map(|t| TerminalId(*t)))
    }

    #[test]
    fn sets_over_several_words() {
        let some = set(&[0, 63, 64, 129]);
        assert_eq!(some.iter().map(|t| t.0).collect::<Vec<_>>(), [0, 63, 64, 129]);
        assert_eq!(some.complement().iter().count(), 126);
        assert_eq!(some.complement().complement(), some);
        assert_eq!(some.intersection(&set(&[63, 65])), set(&[63]));
        assert!(!some.contains(TerminalId(1)) && !some.contains(TerminalId(1000)));
    }
}
