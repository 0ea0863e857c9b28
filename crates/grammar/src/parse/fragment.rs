//! Glushkov automata of rules: one position per symbol, and what may stand next to what.
//!
//! Between two symbols of a path stand *marks*, which say where nodes of the tree begin and end.
//! Nothing here knows a grammar; `flatten` puts fragments together.

use crate::model::core::{NtId, ProdId, Sym};
use rustc_hash::FxHashSet;

/// Where nodes of the tree begin and end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Mark {
    Open(ProdId),
    Close(ProdId),
    /// All nodes of the list `L ::= L x` that end with an `Item` after this begin here.
    Begin(NtId),
    Item(ProdId, NtId),
}

pub(crate) type Marks = Vec<Mark>;

/// The sentences of something, as paths over positions.
#[derive(Clone, Debug, Default)]
pub(crate) struct Fragment {
    pub symbols: Vec<Sym>,
    /// Positions a path may begin with, and the marks before them.
    pub first: Vec<(u32, Marks)>,
    /// Positions a path may end with, and the marks after them.
    pub last: Vec<(u32, Marks)>,
    pub follow: Vec<(u32, u32, Marks)>,
    /// The marks of a path without symbols.
    pub empty: Option<Marks>,
}

impl Fragment {
    /// The empty path and no other.
    pub fn nothing() -> Fragment {
        Fragment { empty: Some(Vec::new()), ..Fragment::default() }
    }

    pub fn symbol(symbol: Sym) -> Fragment {
        let ends = vec![(0, Vec::new())];
        Fragment { symbols: vec![symbol], first: ends.clone(), last: ends, ..Fragment::default() }
    }

    /// How much there is to copy.
    pub fn size(&self) -> usize {
        self.symbols.len() + self.first.len() + self.last.len() + self.follow.len()
    }

    pub fn then(mut self, other: &Fragment) -> Fragment {
        let mut other = self.shifted(other);
        self.follow.append(&mut joined(&self.last, &other.first));
        self.follow.append(&mut other.follow);
        if let Some(empty) = &self.empty {
            self.first.extend(other.first.iter().map(|(p, marks)| (*p, chain(empty, marks))));
        }
        let before = std::mem::take(&mut self.last);
        self.last = other.last;
        if let Some(empty) = &other.empty {
            self.last.extend(before.iter().map(|(p, marks)| (*p, chain(marks, empty))));
        }
        self.empty = self.empty.zip(other.empty).map(|(a, b)| chain(&a, &b));
        self.symbols.append(&mut other.symbols);
        self
    }

    pub fn or(mut self, other: &Fragment) -> Fragment {
        let mut other = self.shifted(other);
        self.first.append(&mut other.first);
        self.last.append(&mut other.last);
        self.follow.append(&mut other.follow);
        self.empty = self.empty.or(other.empty);
        self.symbols.append(&mut other.symbols);
        self
    }

    /// This, and then any number of `more`.
    pub fn repeating(mut self, more: &Fragment) -> Fragment {
        let mut more = self.shifted(more);
        self.follow.append(&mut joined(&self.last, &more.first));
        let inside: FxHashSet<(u32, u32)> = more.follow.iter().map(|f| (f.0, f.1)).collect();
        let again =
            joined(&more.last, &more.first).into_iter().filter(|f| !inside.contains(&(f.0, f.1)));
        self.follow.append(&mut more.follow);
        self.follow.extend(again);
        if let Some(empty) = &self.empty {
            self.first.extend(more.first.iter().map(|(p, marks)| (*p, chain(empty, marks))));
        }
        self.last.append(&mut more.last);
        self.symbols.append(&mut more.symbols);
        self
    }

    /// With a mark before everything.
    pub fn after(mut self, mark: Mark) -> Fragment {
        let begins = self.first.iter_mut().map(|f| &mut f.1).chain(&mut self.empty);
        begins.for_each(|marks| marks.insert(0, mark));
        self
    }

    /// With a mark after everything.
    pub fn before(mut self, mark: Mark) -> Fragment {
        let ends = self.last.iter_mut().map(|l| &mut l.1).chain(&mut self.empty);
        ends.for_each(|marks| marks.push(mark));
        self
    }

    /// `other` with positions after those of `self`.
    fn shifted(&self, other: &Fragment) -> Fragment {
        let by = self.symbols.len() as u32;
        let mut other = other.clone();
        other.first.iter_mut().chain(&mut other.last).for_each(|end| end.0 += by);
        other.follow.iter_mut().for_each(|(from, to, _)| (*from, *to) = (*from + by, *to + by));
        other
    }
}

fn joined(last: &[(u32, Marks)], first: &[(u32, Marks)]) -> Vec<(u32, u32, Marks)> {
    let pairs = last.iter().flat_map(|l| first.iter().map(move |f| (l, f)));
    pairs.map(|(l, f)| (l.0, f.0, chain(&l.1, &f.1))).collect()
}

fn chain(left: &[Mark], right: &[Mark]) -> Marks {
    [left, right].concat()
}
