//! Parsing with trees: Earley's algorithm over the places of an input.
//!
//! Tokens form a lattice (scannerless terminals match in several lengths, predicated lexer rules may or may
//! not count), so a set belongs to a `Place`, and sets are made in order of place. Sets hold items only; the
//! tree is found afterwards, from the right, by looking up which items allow which split.

use crate::core::NtId;
use crate::lexer::{Candidate, Expected, Lexer, Place};
use crate::model::TerminalId;
use crate::tables::{Next, PairSet, PredId, SHORT_CHAIN, Slot, Tables};
use rustc_hash::FxHashMap;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Item {
    pub slot: Slot,
    /// The set it began in.
    pub origin: u32,
}

/// A token that led into a set.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Incoming {
    pub terminal: TerminalId,
    pub from: u32,
    pub start: u32,
}

#[derive(Clone, Copy, Debug)]
struct Set {
    /// Incomplete items, sorted by what they wait for.
    waiting: (u32, u32),
    /// Complete items in the order in which they were found.
    complete: (u32, u32),
    /// Chains that Leo's method jumped over: index of the item that starts them.
    chains: (u32, u32),
    incoming: (u32, u32),
    pred: PredId,
    place: Place,
}

pub(crate) struct Chart<'t> {
    pub tables: &'t mut Tables,
    sets: Vec<Set>,
    items: Vec<Item>,
    completed: Vec<Item>,
    chains: Vec<u32>,
    incoming: Vec<Incoming>,
    tops: FxHashMap<(NtId, u32), (NtId, u32)>,
    use_chains: bool,
    /// The set in which the whole input was a sentence.
    pub accepted: Option<u32>,
}

/// Where parsing stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stuck {
    pub pos: usize,
    pub expected: Vec<TerminalId>,
}

/// A token whose set is still to be made.
struct Pending {
    place: Place,
    incoming: Incoming,
}

/// How long the lists are when a set begins or ends.
struct Lens {
    completed: u32,
    chains: u32,
    incoming: u32,
}

#[derive(Default)]
struct Work {
    todo: Vec<Item>,
    kernel: Vec<Item>,
    roots: Vec<NtId>,
    items: PairSet,
    done: PairSet,
}

struct Here<'c, 't>(&'c Chart<'t>, u32);

impl Expected for Here<'_, '_> {
    fn allows(&self, terminal: TerminalId) -> bool {
        self.0.allows(self.1, terminal)
    }
}

impl<'t> Chart<'t> {
    /// Parses `input`. `use_chains` is off where every derivation is wanted.
    pub fn build(
        tables: &'t mut Tables,
        lexer: &mut Lexer,
        input: &[u8],
        use_chains: bool,
    ) -> Result<Chart<'t>, Stuck> {
        let mut chart = Chart {
            tables,
            sets: Vec::new(),
            items: Vec::new(),
            completed: Vec::new(),
            chains: Vec::new(),
            incoming: Vec::new(),
            tops: FxHashMap::default(),
            use_chains,
            accepted: None,
        };
        chart.begin(lexer.begin());
        chart.run(lexer, input);
        if chart.accepted.is_some() { Ok(chart) } else { Err(chart.stuck(lexer, input)) }
    }

    fn begin(&mut self, place: Place) {
        let start = self.tables.start;
        let pred = self.tables.predict(&[start]);
        let none = (0, 0);
        self.sets.push(Set { waiting: none, complete: none, chains: none, incoming: none, pred, place });
    }

    fn run(&mut self, lexer: &mut Lexer, input: &[u8]) {
        let mut pending: Vec<Pending> = Vec::new();
        let mut work = Work::default();
        let mut candidates = Vec::new();
        let mut accepting = self.tables.nullable[self.tables.start.index()];
        loop {
            let set = self.sets.len() as u32 - 1;
            candidates.clear();
            let at_end = lexer.candidates(input, self.place(set), &Here(self, set), &mut candidates);
            if at_end && accepting {
                self.accepted = Some(set);
            }
            for candidate in &candidates {
                self.enqueue(set, candidate, &mut pending);
            }
            loop {
                let Some(place) = pending.last().map(|p| p.place) else { return };
                if let Some(is_sentence) = self.make(place, &mut pending, &mut work) {
                    accepting = is_sentence;
                    break;
                }
            }
        }
    }

    /// Keeps `pending` sorted: the nearest place is last, and of its tokens the one found first.
    fn enqueue(&self, set: u32, candidate: &Candidate, pending: &mut Vec<Pending>) {
        if !self.allows(set, candidate.terminal) {
            return;
        }
        let incoming = Incoming { terminal: candidate.terminal, from: set, start: candidate.start };
        let i = pending.partition_point(|p| p.place > candidate.next);
        pending.insert(i, Pending { place: candidate.next, incoming });
    }

    /// Makes the set of the nearest place. `None` if it is empty, else whether the text before it is a sentence.
    fn make(&mut self, place: Place, pending: &mut Vec<Pending>, work: &mut Work) -> Option<bool> {
        work.todo.clear();
        work.kernel.clear();
        work.items.clear();
        work.done.clear();
        let begin = self.lens();
        let mut accepting = false;
        while let Some(token) = pending.pop_if(|p| p.place == place) {
            self.advance_over(token.incoming.from, Next::terminal(token.incoming.terminal), work);
            self.incoming.push(token.incoming);
        }
        while let Some(item) = work.todo.pop() {
            let next = self.tables.next[item.slot as usize];
            if next.is_end() {
                accepting |= self.complete(item, work);
                continue;
            }
            work.kernel.push(item);
            if self.tables.is_nullable(next) {
                work.add(Item { slot: item.slot + 1, origin: item.origin });
            }
        }
        if work.kernel.is_empty() && self.completed.len() as u32 == begin.completed {
            self.incoming.truncate(begin.incoming as usize);
            return None;
        }
        self.store(place, work, begin);
        Some(accepting)
    }

    fn lens(&self) -> Lens {
        Lens {
            completed: self.completed.len() as u32,
            chains: self.chains.len() as u32,
            incoming: self.incoming.len() as u32,
        }
    }

    fn store(&mut self, place: Place, work: &mut Work, begin: Lens) {
        let next = &self.tables.next;
        work.kernel.sort_unstable_by_key(|i| (next[i.slot as usize], i.slot, i.origin));
        work.roots.clear();
        work.roots.extend(work.kernel.iter().filter_map(|i| next[i.slot as usize].as_nonterminal()));
        work.roots.dedup();
        let waiting = (self.items.len() as u32, (self.items.len() + work.kernel.len()) as u32);
        self.items.extend_from_slice(&work.kernel);
        let end = self.lens();
        self.sets.push(Set {
            waiting,
            complete: (begin.completed, end.completed),
            chains: (begin.chains, end.chains),
            incoming: (begin.incoming, end.incoming),
            pred: self.tables.predict(&work.roots),
            place,
        });
    }

    fn advance_over(&self, set: u32, next: Next, work: &mut Work) {
        for item in self.waiting(set, next) {
            work.add(Item { slot: item.slot + 1, origin: item.origin });
        }
        for &slot in self.tables.predicted(self.sets[set as usize].pred, next) {
            work.add(Item { slot, origin: set });
        }
    }

    /// Returns true if this completes a sentence.
    fn complete(&mut self, item: Item, work: &mut Work) -> bool {
        let nt = self.tables.lhs[item.slot as usize];
        let index = self.completed.len() as u32;
        self.completed.push(item);
        let (top, origin) = if self.use_chains { self.top(nt, item.origin) } else { (nt, item.origin) };
        if (top, origin) != (nt, item.origin) {
            self.chains.push(index);
        }
        if work.done.insert(top.0, origin) {
            self.advance_over(origin, Next::nonterminal(top), work);
        }
        self.is_sentence(top, origin)
    }

    fn is_sentence(&self, nt: NtId, origin: u32) -> bool {
        nt == self.tables.start && origin == 0
    }

    fn top(&mut self, nt: NtId, origin: u32) -> (NtId, u32) {
        let (mut at, mut idle, mut steps) = ((nt, origin), 0, 0);
        let mut top = None;
        while let Some((slot, from)) = self.only_parent(at.0, at.1) {
            let up = (self.tables.lhs[slot as usize], from);
            idle = if up.1 == at.1 { idle + 1 } else { 0 };
            if idle > self.tables.nullable.len() {
                return (nt, origin);
            }
            (at, steps) = (up, steps + 1);
            if let Some(&known) = self.tops.get(&at) {
                top = Some(known);
                break;
            }
        }
        let top = top.unwrap_or(at);
        if steps > SHORT_CHAIN {
            self.tops.insert((nt, origin), top);
        }
        top
    }

    /// If completing `nt` can only lead to one item and completes that: the item.
    pub fn only_parent(&self, nt: NtId, origin: u32) -> Option<(Slot, u32)> {
        if self.is_sentence(nt, origin) {
            return None;
        }
        let next = Next::nonterminal(nt);
        let waiting = self.waiting(origin, next);
        let predicted = self.tables.predicted(self.sets[origin as usize].pred, next);
        let (slot, from) = match (waiting, predicted) {
            ([item], []) => (item.slot + 1, item.origin),
            ([], [slot]) => (*slot, origin),
            _ => return None,
        };
        self.tables.next[slot as usize].is_end().then_some((slot, from))
    }

    pub fn waiting(&self, set: u32, next: Next) -> &[Item] {
        let (from, to) = self.sets[set as usize].waiting;
        let items = &self.items[from as usize..to as usize];
        let key = |item: &Item| self.tables.next[item.slot as usize];
        let from = match items.len() {
            0..=8 => items.iter().position(|i| key(i) >= next).unwrap_or(items.len()),
            _ => items.partition_point(|i| key(i) < next),
        };
        let len = items[from..].iter().take_while(|i| key(i) == next).count();
        &items[from..from + len]
    }

    /// Is the incomplete item `slot` that began in `origin` in the set? Items that began in the set itself
    /// are not stored; they are there if nothing but nullable symbols stands before the dot.
    pub fn contains(&self, set: u32, slot: Slot, origin: u32) -> bool {
        let first = self.tables.first[self.tables.prod[slot as usize].index()];
        if set == origin {
            return (first..slot).all(|s| self.tables.is_nullable(self.tables.next[s as usize]));
        }
        if slot == first {
            return false;
        }
        let (from, to) = self.sets[set as usize].waiting;
        let key = |i: &Item| (self.tables.next[i.slot as usize], i.slot, i.origin);
        let wanted = (self.tables.next[slot as usize], slot, origin);
        self.items[from as usize..to as usize].binary_search_by_key(&wanted, key).is_ok()
    }

    pub fn allows(&self, set: u32, terminal: TerminalId) -> bool {
        let next = Next::terminal(terminal);
        !self.waiting(set, next).is_empty()
            || !self.tables.predicted(self.sets[set as usize].pred, next).is_empty()
    }

    pub fn completed(&self, set: u32) -> &[Item] {
        let (from, to) = self.sets[set as usize].complete;
        &self.completed[from as usize..to as usize]
    }

    /// Positions in `completed(set)` of the items that start a chain.
    pub fn chains(&self, set: u32) -> impl ExactSizeIterator<Item = u32> + '_ {
        let (from, to) = self.sets[set as usize].chains;
        let base = self.sets[set as usize].complete.0;
        self.chains[from as usize..to as usize].iter().map(move |c| c - base)
    }

    pub fn incoming(&self, set: u32) -> &[Incoming] {
        let (from, to) = self.sets[set as usize].incoming;
        &self.incoming[from as usize..to as usize]
    }

    pub fn sets(&self) -> usize {
        self.sets.len()
    }

    pub fn place(&self, set: u32) -> Place {
        self.sets[set as usize].place
    }

    fn stuck(&self, lexer: &mut Lexer, input: &[u8]) -> Stuck {
        let furthest = self.sets.iter().map(|s| s.place.pos).max().unwrap_or(0);
        let mut expected = Vec::new();
        let mut pos = furthest as usize;
        for set in (0..self.sets.len() as u32).filter(|s| self.place(*s).pos == furthest) {
            let next = &self.tables.next;
            let (from, to) = self.sets[set as usize].waiting;
            let items = &self.items[from as usize..to as usize];
            expected.extend(items.iter().filter_map(|i| next[i.slot as usize].as_terminal()));
            expected.extend(self.tables.predicted_terminals(self.sets[set as usize].pred));
            pos = pos.max(lexer.after_skipped(input, self.place(set)));
        }
        expected.sort_unstable();
        expected.dedup();
        Stuck { pos, expected }
    }
}

impl Work {
    fn add(&mut self, item: Item) {
        if self.items.insert(item.slot, item.origin) {
            self.todo.push(item);
        }
    }
}
