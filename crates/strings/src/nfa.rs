//! Nondeterministic automata without empty moves, and the regular approximation of grammars.
//!
//! A grammar in which no nonterminal embeds itself (each group of mutually recursive nonterminals
//! is left-linear or right-linear) is regular, and its automaton is exact. Any other grammar is
//! first replaced by a regular superset (the transformation of Mohri and Nederhof), which can prove
//! that an intersection is empty but not that it is not.

use context_free::components;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::bytes::ByteSet;
use crate::grammar::{Grammar, Nonterminal, Symbol};

#[derive(Debug, Default)]
pub struct Nfa {
    moves: Vec<Vec<(ByteSet, u32)>>,
    empty_moves: Vec<Vec<u32>>,
    end: u32,
    lengths: Vec<u64>,
    start: u32,
}

/// A regular language that contains that of a grammar; `exact` if it is the same.
#[derive(Debug)]
pub struct Approximation {
    pub nfa: Nfa,
    pub exact: bool,
}

impl Nfa {
    pub fn new(
        moves: Vec<Vec<(ByteSet, u32)>>,
        ends: impl Iterator<Item = u32>,
        start: u32,
    ) -> Self {
        let mut nfa =
            Nfa { empty_moves: vec![Vec::new(); moves.len()], moves, start, ..Nfa::default() };
        nfa.end = nfa.add_state();
        for state in ends {
            nfa.empty_moves[state as usize].push(nfa.end);
        }
        nfa.measure();
        nfa
    }

    pub fn start(&self) -> Vec<u32> {
        self.close(vec![self.start])
    }

    pub fn accepts(&self, states: &[u32]) -> bool {
        states.contains(&self.end)
    }

    pub fn shortest(&self, states: &[u32]) -> u64 {
        states.iter().map(|&state| self.lengths[state as usize]).min().unwrap_or(u64::MAX)
    }

    pub fn step(&self, states: &[u32], byte: u8) -> Vec<u32> {
        let moves = states.iter().flat_map(|&state| &self.moves[state as usize]);
        self.close(moves.filter(|(set, _)| set.contains(byte)).map(|&(_, to)| to).collect())
    }

    pub fn byte_sets(&self) -> impl Iterator<Item = ByteSet> + '_ {
        self.moves.iter().flatten().map(|&(set, _)| set)
    }

    /// Adds what empty moves reach; drops states from which the end cannot be reached.
    fn close(&self, states: Vec<u32>) -> Vec<u32> {
        let mut seen: FxHashSet<u32> = states.iter().copied().collect();
        let mut open = states;
        while let Some(state) = open.pop() {
            for &to in &self.empty_moves[state as usize] {
                if seen.insert(to) {
                    open.push(to);
                }
            }
        }
        let mut all: Vec<u32> =
            seen.into_iter().filter(|&state| self.lengths[state as usize] != u64::MAX).collect();
        all.sort_unstable();
        all
    }

    fn add_state(&mut self) -> u32 {
        self.moves.push(Vec::new());
        self.empty_moves.push(Vec::new());
        self.moves.len() as u32 - 1
    }

    /// Fills in the distance of each state from the end.
    fn measure(&mut self) {
        let mut back: Vec<Vec<(u32, u64)>> = vec![Vec::new(); self.moves.len()];
        for (from, moves) in self.moves.iter().enumerate() {
            moves.iter().for_each(|&(_, to)| back[to as usize].push((from as u32, 1)));
        }
        for (from, moves) in self.empty_moves.iter().enumerate() {
            moves.iter().for_each(|&to| back[to as usize].push((from as u32, 0)));
        }
        self.lengths = vec![u64::MAX; self.moves.len()];
        let mut queue = std::collections::VecDeque::from([(self.end, 0)]);
        while let Some((state, length)) = queue.pop_front() {
            if self.lengths[state as usize] <= length {
                continue;
            }
            self.lengths[state as usize] = length;
            for &(from, step) in &back[state as usize] {
                if step == 0 {
                    queue.push_front((from, length))
                } else {
                    queue.push_back((from, length + 1))
                }
            }
        }
    }
}

/// The regular superset of the words of `start`; `None` if its automaton would have more than
/// `limit` states.
pub fn approximate(grammar: &Grammar, start: Nonterminal, limit: usize) -> Option<Approximation> {
    let groups = groups(grammar);
    let mut builder = Builder { grammar, groups: &groups, nfa: Nfa::default(), exact: true, limit };
    let first = builder.nfa.add_state();
    let last = builder.nfa.add_state();
    builder.symbol(Symbol::Nonterminal(start), first, last)?;
    let Builder { mut nfa, exact, .. } = builder;
    (nfa.start, nfa.end) = (first, last);
    nfa.measure();
    Some(Approximation { nfa, exact })
}

/// How the members of a group of mutually recursive nonterminals mention each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shape {
    /// Not at all.
    Flat,
    /// Only at the end of productions.
    RightLinear,
    /// Only at the start of productions.
    LeftLinear,
    Embedding,
}

#[derive(Debug)]
struct Groups {
    of: Vec<u32>,
    members: Vec<Vec<Nonterminal>>,
    shapes: Vec<Shape>,
}

struct Builder<'g> {
    grammar: &'g Grammar,
    groups: &'g Groups,
    nfa: Nfa,
    exact: bool,
    limit: usize,
}

impl Builder<'_> {
    /// Adds paths from `from` to `to` for the words of a symbol.
    fn symbol(&mut self, symbol: Symbol, from: u32, to: u32) -> Option<()> {
        if self.nfa.moves.len() > self.limit {
            return None;
        }
        match symbol {
            Symbol::Bytes(set) => self.nfa.moves[from as usize].push((self.grammar.set(set), to)),
            Symbol::Nonterminal(nonterminal) => self.group(nonterminal, from, to)?,
        }
        Some(())
    }

    fn sequence(&mut self, symbols: &[Symbol], from: u32, to: u32) -> Option<()> {
        match symbols {
            [] => self.nfa.empty_moves[from as usize].push(to),
            [only] => self.symbol(*only, from, to)?,
            [first, rest @ ..] => {
                let middle = self.nfa.add_state();
                self.symbol(*first, from, middle)?;
                self.sequence(rest, middle, to)?;
            }
        }
        Some(())
    }

    /// A fresh copy of the automaton of the group of `entry`.
    fn group(&mut self, entry: Nonterminal, from: u32, to: u32) -> Option<()> {
        let groups = self.groups;
        let group = groups.of[entry.index()] as usize;
        let members = &groups.members[group];
        let shape = groups.shapes[group];
        if shape == Shape::Flat {
            return self.alternatives(
                entry,
                |builder, production| builder.sequence(production, from, to),
                from,
                to,
            );
        }
        let before: FxHashMap<Nonterminal, u32> =
            members.iter().map(|&n| (n, self.nfa.add_state())).collect();
        let after: FxHashMap<Nonterminal, u32> =
            members.iter().map(|&n| (n, self.nfa.add_state())).collect();
        match shape {
            Shape::RightLinear => self.nfa.empty_moves[from as usize].push(before[&entry]),
            Shape::LeftLinear => self.nfa.empty_moves[after[&entry] as usize].push(to),
            _ => {
                self.nfa.empty_moves[from as usize].push(before[&entry]);
                self.nfa.empty_moves[after[&entry] as usize].push(to);
            }
        }
        self.exact &= shape != Shape::Embedding;
        for &member in members {
            self.member(member, shape, (&before, &after), (from, to))?;
        }
        Some(())
    }

    fn member(
        &mut self,
        member: Nonterminal,
        shape: Shape,
        (before, after): (&FxHashMap<Nonterminal, u32>, &FxHashMap<Nonterminal, u32>),
        (from, to): (u32, u32),
    ) -> Option<()> {
        let (first, last) = match shape {
            Shape::RightLinear => (before[&member], to),
            Shape::LeftLinear => (from, after[&member]),
            _ => (before[&member], after[&member]),
        };
        let inside = |symbol: &Symbol| match symbol {
            Symbol::Nonterminal(n) => before.contains_key(n).then_some(*n),
            Symbol::Bytes(_) => None,
        };
        let production = |builder: &mut Self, production: &[Symbol]| match shape {
            Shape::RightLinear => match production.last().and_then(inside) {
                Some(next) => {
                    builder.sequence(&production[..production.len() - 1], first, before[&next])
                }
                None => builder.sequence(production, first, last),
            },
            Shape::LeftLinear => match production.first().and_then(inside) {
                Some(next) => builder.sequence(&production[1..], after[&next], last),
                None => builder.sequence(production, first, last),
            },
            _ => {
                let mut at = first;
                let mut start = 0;
                for (i, symbol) in production.iter().enumerate() {
                    if let Some(next) = inside(symbol) {
                        builder.sequence(&production[start..i], at, before[&next])?;
                        at = after[&next];
                        start = i + 1;
                    }
                }
                builder.sequence(&production[start..], at, last)
            }
        };
        self.alternatives(member, production, first, last)
    }

    fn alternatives(
        &mut self,
        nonterminal: Nonterminal,
        mut add: impl FnMut(&mut Self, &[Symbol]) -> Option<()>,
        first: u32,
        last: u32,
    ) -> Option<()> {
        let rule = self.grammar.rule(nonterminal);
        if !rule.bytes.is_empty() {
            self.nfa.moves[first as usize].push((rule.bytes, last));
        }
        rule.productions.iter().try_for_each(|production| add(self, production))
    }
}

/// Strongly connected components of "mentions".
fn groups(grammar: &Grammar) -> Groups {
    let successors: Vec<Vec<Nonterminal>> =
        grammar.nonterminals().map(|n| mentions(grammar, n)).collect();
    let of = components(&successors);
    let count = of.iter().map(|&group| group + 1).max().unwrap_or(0);
    let mut members = vec![Vec::new(); count as usize];
    for nonterminal in grammar.nonterminals() {
        members[of[nonterminal.index()] as usize].push(nonterminal);
    }
    let shapes =
        (0..count).map(|group| shape(grammar, &of, group, &members[group as usize])).collect();
    Groups { of, members, shapes }
}

fn mentions(grammar: &Grammar, nonterminal: Nonterminal) -> Vec<Nonterminal> {
    let symbols = grammar.rule(nonterminal).productions.iter().flatten();
    let mut all: Vec<_> = symbols
        .filter_map(|symbol| match symbol {
            Symbol::Nonterminal(n) => Some(*n),
            Symbol::Bytes(_) => None,
        })
        .collect();
    all.sort_unstable();
    all.dedup();
    all
}

fn shape(grammar: &Grammar, of: &[u32], group: u32, members: &[Nonterminal]) -> Shape {
    let inside =
        |symbol: &Symbol| matches!(symbol, Symbol::Nonterminal(n) if of[n.index()] == group);
    let (mut left, mut right, mut recursive) = (true, true, false);
    for production in members.iter().flat_map(|&member| &grammar.rule(member).productions) {
        for (i, _) in production.iter().enumerate().filter(|(_, symbol)| inside(symbol)) {
            recursive = true;
            left &= i == 0;
            right &= i + 1 == production.len();
        }
    }
    match (recursive, right, left) {
        (false, ..) => Shape::Flat,
        (_, true, _) => Shape::RightLinear,
        (_, _, true) => Shape::LeftLinear,
        _ => Shape::Embedding,
    }
}
