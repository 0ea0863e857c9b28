//! From the states of a subset construction to a small automaton: without what leads nowhere, and
//! minimal.

use crate::automata::automaton::Automaton;
use crate::automata::dfa::{DEAD, Dfa};
use crate::automata::edges::Edge;
use crate::model::pattern::byte_set;
use rustc_hash::FxHashMap;

/// States as they come from the subset construction.
pub(crate) struct Raw {
    edges: Vec<Vec<Edge>>,
    accepts: Vec<bool>,
}

impl Raw {
    pub fn read(dfa: &mut Dfa, accepts: impl Fn(&Dfa, u32) -> bool) -> Raw {
        let bytes = dfa.class_bytes();
        let mut raw = Raw { edges: vec![Vec::new()], accepts: vec![false] };
        let mut ids: FxHashMap<u32, u32> = FxHashMap::default();
        let mut todo = vec![(dfa.start(), 0u32)];
        // The start is copied as state 0 and does not accept, so that the empty string is left out.
        while let Some((state, id)) = todo.pop() {
            let mut by_target: Vec<(u32, Vec<u8>)> = Vec::new();
            for (class, class_bytes) in bytes.iter().enumerate() {
                let next = dfa.step_class(state, class);
                if next == DEAD {
                    continue;
                }
                match by_target.iter_mut().find(|(t, _)| *t == next) {
                    Some((_, all)) => all.extend(class_bytes),
                    None => by_target.push((next, class_bytes.clone())),
                }
            }
            for (target, mut bytes) in by_target {
                bytes.sort_unstable();
                let to = *ids.entry(target).or_insert_with(|| {
                    raw.edges.push(Vec::new());
                    raw.accepts.push(accepts(dfa, target));
                    todo.push((target, raw.edges.len() as u32 - 1));
                    raw.edges.len() as u32 - 1
                });
                raw.edges[id as usize].push(Edge { bytes: byte_set(bytes), to });
            }
        }
        raw
    }

    pub fn remove_byte(&mut self, byte: u8) {
        for edges in &mut self.edges {
            for edge in edges.iter_mut().filter(|e| e.bytes.contains(&byte)) {
                edge.bytes = byte_set(edge.bytes.iter().copied().filter(|b| *b != byte).collect());
            }
            edges.retain(|e| !e.bytes.is_empty());
        }
    }

    /// Keeps the states from which acceptance can be reached.
    pub fn trim(self) -> Raw {
        let n = self.edges.len();
        let mut back = vec![Vec::new(); n];
        for (from, edges) in self.edges.iter().enumerate() {
            edges.iter().for_each(|e| back[e.to as usize].push(from));
        }
        let mut alive = self.accepts.clone();
        let mut todo: Vec<usize> = (0..n).filter(|s| alive[*s]).collect();
        while let Some(state) = todo.pop() {
            for &from in &back[state] {
                if !std::mem::replace(&mut alive[from], true) {
                    todo.push(from);
                }
            }
        }
        if !alive[0] {
            return Raw { edges: Vec::new(), accepts: Vec::new() };
        }
        let mut id = vec![0u32; n];
        for (next, state) in (0..n).filter(|s| alive[*s]).enumerate() {
            id[state] = next as u32;
        }
        let keep = |edges: Vec<Edge>| {
            let kept = edges.into_iter().filter(|e| alive[e.to as usize]);
            kept.map(|e| Edge { to: id[e.to as usize], ..e }).collect::<Vec<_>>()
        };
        let states =
            self.edges.into_iter().zip(self.accepts).enumerate().filter(|(s, _)| alive[*s]);
        let (edges, accepts) = states.map(|(_, (e, a))| (keep(e), a)).unzip();
        Raw { edges, accepts }
    }

    /// Moore's partition refinement.
    pub fn minimise(self) -> Automaton {
        let n = self.edges.len();
        let mut block: Vec<u32> = self.accepts.iter().map(|a| u32::from(*a)).collect();
        let mut count = 0;
        loop {
            let mut ids: FxHashMap<(u32, Vec<(u8, u32)>), u32> = FxHashMap::default();
            let mut refined = Vec::with_capacity(n);
            for state in 0..n {
                let mut signature: Vec<(u8, u32)> = Vec::new();
                for edge in &self.edges[state] {
                    signature.extend(edge.bytes.iter().map(|b| (*b, block[edge.to as usize])));
                }
                signature.sort_unstable();
                let next = ids.len() as u32;
                refined.push(*ids.entry((block[state], signature)).or_insert(next));
            }
            let blocks = ids.len();
            block = refined;
            if blocks == count {
                return self.quotient(&block, blocks);
            }
            count = blocks;
        }
    }

    fn quotient(self, block: &[u32], blocks: usize) -> Automaton {
        let (mut merged, mut accepts) = (vec![Vec::<Edge>::new(); blocks], vec![false; blocks]);
        let mut done = vec![false; blocks];
        for (state, edges) in self.edges.into_iter().enumerate() {
            let b = block[state] as usize;
            accepts[b] = self.accepts[state];
            if std::mem::replace(&mut done[b], true) {
                continue;
            }
            for edge in edges {
                let to = block[edge.to as usize];
                match merged[b].iter_mut().find(|e| e.to == to) {
                    Some(same) => {
                        let mut bytes = [&*same.bytes, &*edge.bytes].concat();
                        bytes.sort_unstable();
                        same.bytes = byte_set(bytes);
                    }
                    None => merged[b].push(Edge { to, bytes: edge.bytes }),
                }
            }
            merged[b].sort_by(|x, y| x.bytes.cmp(&y.bytes));
        }
        Automaton { edges: merged.into_iter().collect(), accepts }
    }
}
