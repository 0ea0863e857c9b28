//! A context-free grammar as a deterministic automaton that is built as it is walked.
//!
//! A state is an Earley set. Sets are hash-consed: an item's origin is the number of the set it started in, so two
//! prefixes that reach equal sets have the same continuations and share everything that follows. This gives what
//! saturation cannot: several context-free languages at once, their complements, and exact counts. There are
//! infinitely many states unless something else bounds the length.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::grammar::{Grammar, Nonterminal, Symbol};

/// Index of an Earley set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StateId(pub u32);

/// "The set that this item is in": predicted items start there.
const HERE: StateId = StateId(u32::MAX);
/// The index of a production that stands for "the goal is this nonterminal".
const GOAL: u32 = u32::MAX;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Item {
    left: Nonterminal,
    production: u32,
    dot: u32,
    origin: StateId,
}

#[derive(Debug)]
struct State {
    items: Vec<Item>,
    /// Nonterminals that may start here.
    predicted: Vec<Nonterminal>,
    /// Items by the nonterminal that they wait for.
    waiting: FxHashMap<Nonterminal, Vec<Item>>,
    /// The fewest bytes from the end of a nonterminal that started here to the end of a sentence.
    after: FxHashMap<Nonterminal, u64>,
    accepting: bool,
    shortest: u64,
}

#[derive(Debug)]
pub struct Recognizer {
    grammar: Grammar,
    lengths: Vec<u64>,
    states: Vec<State>,
    known: FxHashMap<(Vec<Item>, bool), StateId>,
    starts: FxHashMap<Nonterminal, StateId>,
}

impl Recognizer {
    pub fn new(grammar: Grammar) -> Self {
        let lengths = grammar.shortest_lengths();
        Recognizer {
            grammar,
            lengths,
            states: Vec::new(),
            known: FxHashMap::default(),
            starts: FxHashMap::default(),
        }
    }

    pub fn grammar(&self) -> &Grammar {
        &self.grammar
    }

    pub fn shortest_length(&self, nonterminal: Nonterminal) -> u64 {
        self.lengths[nonterminal.index()]
    }

    /// The state before the first byte of a sentence of `goal`.
    pub fn start(&mut self, goal: Nonterminal) -> StateId {
        if let Some(&state) = self.starts.get(&goal) {
            return state;
        }
        let item = Item { left: goal, production: GOAL, dot: 0, origin: HERE };
        let accepting = self.lengths[goal.index()] == 0;
        let state = self.intern(vec![item], accepting);
        self.starts.insert(goal, state);
        state
    }

    /// The nonterminal that a start state is for.
    pub fn goal(&self, start: StateId) -> Option<Nonterminal> {
        self.starts.iter().find(|&(_, &state)| state == start).map(|(&goal, _)| goal)
    }

    pub fn accepting(&self, state: StateId) -> bool {
        self.states[state.0 as usize].accepting
    }

    /// The number of items of a state.
    pub fn size(&self, state: StateId) -> usize {
        self.states[state.0 as usize].items.len()
    }

    /// The length of the shortest continuation, `u64::MAX` if there is none.
    pub fn shortest(&self, state: StateId) -> u64 {
        self.states[state.0 as usize].shortest
    }

    pub fn step(&mut self, from: StateId, byte: u8) -> Option<StateId> {
        let mut advance = Advance::default();
        let state = &self.states[from.0 as usize];
        for item in &state.items {
            if let Some(Symbol::Bytes(set)) = self.next(item)
                && self.grammar.set(set).contains(byte)
            {
                self.advance(&mut advance, item, from);
            }
        }
        for &nonterminal in &state.predicted {
            if self.grammar.rule(nonterminal).bytes.contains(byte) {
                advance.complete(nonterminal, from);
            }
        }
        while let Some((nonterminal, origin)) = advance.completed.pop() {
            if let Some(waiting) = self.states[origin.0 as usize].waiting.get(&nonterminal) {
                for item in waiting {
                    self.advance(&mut advance, item, origin);
                }
            }
        }
        if advance.items.is_empty() && !advance.accepting {
            return None;
        }
        let mut kernel: Vec<Item> = advance.items.into_iter().collect();
        kernel.sort_unstable();
        let state = self.intern(kernel, advance.accepting);
        (self.shortest(state) != u64::MAX).then_some(state)
    }

    fn next(&self, item: &Item) -> Option<Symbol> {
        if item.production == GOAL {
            return (item.dot == 0).then_some(Symbol::Nonterminal(item.left));
        }
        self.grammar.rule(item.left).productions[item.production as usize].get(item.dot as usize).copied()
    }

    /// Moves an item of the set `at` over its next symbol, and over what may be empty after it.
    fn advance(&self, into: &mut Advance, item: &Item, at: StateId) {
        let origin = if item.origin == HERE { at } else { item.origin };
        let mut item = Item { dot: item.dot + 1, origin, ..*item };
        loop {
            match self.next(&item) {
                None if item.production == GOAL => into.accepting = true,
                None => into.complete(item.left, item.origin),
                Some(symbol) => {
                    into.items.insert(item);
                    if self.may_be_empty(symbol) {
                        item.dot += 1;
                        continue;
                    }
                }
            }
            return;
        }
    }

    fn may_be_empty(&self, symbol: Symbol) -> bool {
        matches!(symbol, Symbol::Nonterminal(n) if self.lengths[n.index()] == 0)
    }

    fn intern(&mut self, kernel: Vec<Item>, accepting: bool) -> StateId {
        let key = (kernel, accepting);
        if let Some(&state) = self.known.get(&key) {
            return state;
        }
        let id = StateId(self.states.len() as u32);
        let state = self.close(key.0.clone(), accepting);
        self.states.push(state);
        self.known.insert(key, id);
        id
    }

    /// Adds what may start here to the kernel of a set.
    fn close(&self, kernel: Vec<Item>, accepting: bool) -> State {
        let mut items = kernel;
        let mut predicted = Vec::new();
        let mut seen = FxHashSet::default();
        let mut next = 0;
        while next < items.len() {
            let item = items[next];
            next += 1;
            if let Some(Symbol::Nonterminal(nonterminal)) = self.next(&item)
                && self.lengths[nonterminal.index()] != u64::MAX
                && seen.insert(nonterminal)
            {
                predicted.push(nonterminal);
                self.predict(&mut items, nonterminal);
            }
        }
        let mut waiting: FxHashMap<Nonterminal, Vec<Item>> = FxHashMap::default();
        for item in &items {
            if let Some(Symbol::Nonterminal(nonterminal)) = self.next(item) {
                waiting.entry(nonterminal).or_default().push(*item);
            }
        }
        let after = self.after(&items);
        let shortest = if accepting { 0 } else { self.shortest_of(&items, &after) };
        State { items, predicted, waiting, after, accepting, shortest }
    }

    fn predict(&self, items: &mut Vec<Item>, left: Nonterminal) {
        for production in 0..self.grammar.rule(left).productions.len() as u32 {
            let mut item = Item { left, production, dot: 0, origin: HERE };
            while let Some(symbol) = self.next(&item) {
                items.push(item);
                if !self.may_be_empty(symbol) {
                    break;
                }
                item.dot += 1;
            }
        }
    }

    /// For each nonterminal that items of a new set wait for, the fewest bytes that follow it.
    fn after(&self, items: &[Item]) -> FxHashMap<Nonterminal, u64> {
        let mut after = FxHashMap::default();
        let mut changed = true;
        while changed {
            changed = false;
            for item in items {
                let Some(Symbol::Nonterminal(nonterminal)) = self.next(item) else { continue };
                let length = self.rest(item, 1).saturating_add(self.outside(item, &after));
                let best = after.entry(nonterminal).or_insert(u64::MAX);
                if length < *best {
                    *best = length;
                    changed = true;
                }
            }
        }
        after
    }

    fn shortest_of(&self, items: &[Item], after: &FxHashMap<Nonterminal, u64>) -> u64 {
        let total = |item: &Item| self.rest(item, 0).saturating_add(self.outside(item, after));
        items.iter().map(total).min().unwrap_or(u64::MAX)
    }

    /// The fewest bytes of the item's symbols after the dot, the first `skip` left out.
    fn rest(&self, item: &Item, skip: usize) -> u64 {
        if item.production == GOAL {
            return if skip == 0 && item.dot == 0 { self.lengths[item.left.index()] } else { 0 };
        }
        let production = &self.grammar.rule(item.left).productions[item.production as usize];
        production[item.dot as usize + skip..]
            .iter()
            .map(|&symbol| self.length(symbol))
            .fold(0, u64::saturating_add)
    }

    fn length(&self, symbol: Symbol) -> u64 {
        match symbol {
            Symbol::Bytes(set) if self.grammar.set(set).is_empty() => u64::MAX,
            Symbol::Bytes(_) => 1,
            Symbol::Nonterminal(n) => self.lengths[n.index()],
        }
    }

    fn outside(&self, item: &Item, here: &FxHashMap<Nonterminal, u64>) -> u64 {
        if item.production == GOAL {
            return 0;
        }
        let after = if item.origin == HERE { here } else { &self.states[item.origin.0 as usize].after };
        after.get(&item.left).copied().unwrap_or(u64::MAX)
    }
}

/// A set under construction.
#[derive(Default)]
struct Advance {
    items: FxHashSet<Item>,
    accepting: bool,
    completed: Vec<(Nonterminal, StateId)>,
    seen: FxHashSet<(Nonterminal, StateId)>,
}

impl Advance {
    fn complete(&mut self, nonterminal: Nonterminal, origin: StateId) {
        if self.seen.insert((nonterminal, origin)) {
            self.completed.push((nonterminal, origin));
        }
    }
}
