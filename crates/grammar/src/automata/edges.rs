//! The edges of an automaton, those of one state after those of another in one list: most terminals
//! are short words, and a grammar may have a million of them.

use crate::model::pattern::ByteSet;
use std::ops::Index;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Edge {
    /// In increasing order, never empty.
    pub bytes: ByteSet,
    pub to: u32,
}

/// Edges by state.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Edges {
    list: Vec<Edge>,
    /// Where those of each state end.
    ends: Vec<u32>,
}

impl Edges {
    /// Number of states.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    pub fn get(&self, state: usize) -> Option<&[Edge]> {
        let end = *self.ends.get(state)? as usize;
        let start = state.checked_sub(1).map_or(0, |before| self.ends[before] as usize);
        Some(&self.list[start..end])
    }

    /// The edges of each state.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[Edge]> {
        (0..self.len()).map(|state| &self[state])
    }

    /// All edges, whatever state they leave.
    pub fn all(&self) -> &[Edge] {
        &self.list
    }

    /// Adds a state.
    pub fn push(&mut self, edges: impl IntoIterator<Item = Edge>) {
        self.list.extend(edges);
        self.ends.push(self.list.len() as u32);
    }

    /// The same states, with each edge changed or left out.
    pub fn filter_map(&self, keep: impl Fn(&Edge) -> Option<Edge>) -> Edges {
        self.iter().map(|edges| edges.iter().filter_map(&keep).collect::<Vec<Edge>>()).collect()
    }
}

impl Index<usize> for Edges {
    type Output = [Edge];

    #[inline]
    fn index(&self, state: usize) -> &[Edge] {
        let start = if state == 0 { 0 } else { self.ends[state - 1] };
        &self.list[start as usize..self.ends[state] as usize]
    }
}

impl<E: IntoIterator<Item = Edge>> FromIterator<E> for Edges {
    fn from_iter<I: IntoIterator<Item = E>>(states: I) -> Edges {
        let mut edges = Edges::default();
        states.into_iter().for_each(|state| edges.push(state));
        edges.list.shrink_to_fit();
        edges.ends.shrink_to_fit();
        edges
    }
}
