//! Context-free grammars over bytes, as lean as solving needs them.
//!
//! Alternatives of one byte are kept as one set per nonterminal: grammars that list 250 bytes as 250 alternatives are
//! common, and nothing above needs to see them one by one. This module knows nothing of automata or constraints.

use rustc_hash::FxHashMap;

use crate::bytes::ByteSet;

/// Index of a nonterminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Nonterminal(pub u32);

impl Nonterminal {
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Index of a set of bytes within its grammar.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SetId(pub u32);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Symbol {
    Bytes(SetId),
    Nonterminal(Nonterminal),
}

/// The alternatives of one nonterminal.
#[derive(Clone, Debug, Default)]
pub struct Rule {
    /// The alternatives that are one byte.
    pub bytes: ByteSet,
    /// All other alternatives.
    pub productions: Vec<Vec<Symbol>>,
}

/// What `(x)?`, `(x)*` and `(x)+` mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Repetition {
    Optional,
    Star,
    Plus,
}

#[derive(Clone, Debug, Default)]
pub struct Grammar {
    rules: Vec<Rule>,
    sets: Vec<ByteSet>,
    set_ids: FxHashMap<ByteSet, SetId>,
    repetitions: FxHashMap<(Symbol, Repetition), Nonterminal>,
}

impl Grammar {
    pub fn add_nonterminal(&mut self) -> Nonterminal {
        self.rules.push(Rule::default());
        Nonterminal(self.rules.len() as u32 - 1)
    }

    pub fn add_production(&mut self, left: Nonterminal, right: Vec<Symbol>) {
        match right[..] {
            [Symbol::Bytes(set)] => self.add_bytes(left, self.set(set)),
            _ => self.rules[left.index()].productions.push(right),
        }
    }

    /// Each byte of `bytes` is an alternative of `left`.
    pub fn add_bytes(&mut self, left: Nonterminal, bytes: ByteSet) {
        let rule = &mut self.rules[left.index()];
        rule.bytes = rule.bytes.union(bytes);
    }

    pub fn symbol(&mut self, bytes: ByteSet) -> Symbol {
        let next = SetId(self.sets.len() as u32);
        let id = *self.set_ids.entry(bytes).or_insert(next);
        if id == next {
            self.sets.push(bytes);
        }
        Symbol::Bytes(id)
    }

    pub fn literal(&mut self, text: &[u8]) -> Vec<Symbol> {
        text.iter().map(|&byte| self.symbol(ByteSet::single(byte))).collect()
    }

    /// A nonterminal for a repeated symbol; the same one each time.
    pub fn repeat(&mut self, symbol: Symbol, repetition: Repetition) -> Nonterminal {
        if let Some(&known) = self.repetitions.get(&(symbol, repetition)) {
            return known;
        }
        let new = self.add_nonterminal();
        let again = Symbol::Nonterminal(new);
        let (first, second) = match repetition {
            Repetition::Optional => (vec![], vec![symbol]),
            Repetition::Star => (vec![], vec![again, symbol]),
            Repetition::Plus => (vec![symbol], vec![again, symbol]),
        };
        self.add_production(new, first);
        self.add_production(new, second);
        self.repetitions.insert((symbol, repetition), new);
        new
    }

    pub fn set(&self, id: SetId) -> ByteSet {
        self.sets[id.0 as usize]
    }

    pub fn rule(&self, nonterminal: Nonterminal) -> &Rule {
        &self.rules[nonterminal.index()]
    }

    pub fn nonterminals(&self) -> impl Iterator<Item = Nonterminal> + use<> {
        (0..self.rules.len() as u32).map(Nonterminal)
    }

    pub fn len(&self) -> usize {
        self.rules.len()
    }

    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// All sets of bytes that productions mention, those of one-byte alternatives included.
    pub fn byte_sets(&self) -> impl Iterator<Item = ByteSet> + '_ {
        self.sets.iter().copied().chain(self.rules.iter().map(|rule| rule.bytes))
    }

    /// The length of the shortest word of each nonterminal, `u64::MAX` where there is none.
    ///
    /// Knuth's generalisation of Dijkstra's algorithm, with a heap of nonterminals.
    pub fn shortest_lengths(&self) -> Vec<u64> {
        ShortestLengths::new(self).run()
    }
}

struct ShortestLengths<'g> {
    grammar: &'g Grammar,
    lengths: Vec<u64>,
    /// For each nonterminal, the productions (left side, index) that mention it.
    uses: Vec<Vec<(Nonterminal, u32)>>,
    heap: std::collections::BinaryHeap<std::cmp::Reverse<(u64, u32)>>,
    /// How many symbols of a production still have no length, and the sum of those that have.
    open: Vec<Vec<(u32, u64)>>,
}

impl<'g> ShortestLengths<'g> {
    fn new(grammar: &'g Grammar) -> Self {
        let mut uses = vec![Vec::new(); grammar.len()];
        let mut open = Vec::with_capacity(grammar.len());
        let mut heap = std::collections::BinaryHeap::new();
        for left in grammar.nonterminals() {
            let rule = grammar.rule(left);
            if !rule.bytes.is_empty() {
                heap.push(std::cmp::Reverse((1, left.0)));
            }
            let mut states = Vec::with_capacity(rule.productions.len());
            for (index, production) in rule.productions.iter().enumerate() {
                let mut state = (0, 0);
                for symbol in production {
                    match *symbol {
                        Symbol::Bytes(set) if !grammar.set(set).is_empty() => state.1 += 1,
                        Symbol::Bytes(_) => state.0 += 1,
                        Symbol::Nonterminal(n) => {
                            state.0 += 1;
                            uses[n.index()].push((left, index as u32));
                        }
                    }
                }
                if state.0 == 0 {
                    heap.push(std::cmp::Reverse((state.1, left.0)));
                }
                states.push(state);
            }
            open.push(states);
        }
        ShortestLengths { grammar, lengths: vec![u64::MAX; grammar.len()], uses, heap, open }
    }

    fn run(mut self) -> Vec<u64> {
        while let Some(std::cmp::Reverse((length, n))) = self.heap.pop() {
            if self.lengths[n as usize] != u64::MAX {
                continue;
            }
            self.lengths[n as usize] = length;
            for (left, index) in std::mem::take(&mut self.uses[n as usize]) {
                let state = &mut self.open[left.index()][index as usize];
                state.0 -= 1;
                state.1 = state.1.saturating_add(length);
                if state.0 == 0 && state.1 != u64::MAX {
                    self.heap.push(std::cmp::Reverse((state.1, left.0)));
                }
            }
        }
        debug_assert_eq!(self.lengths.len(), self.grammar.len());
        self.lengths
    }
}
