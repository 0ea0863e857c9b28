//! Parsing with trees: Earley's algorithm over the places of an input.
//!
//! Tokens form a lattice (scannerless terminals match in several lengths, predicated lexer rules
//! may or may not count), so a set belongs to a `Place`, and sets are made in order of place. Sets
//! hold items only; the tree is found afterwards, from the right, by looking up which items allow
//! which split.

use crate::lexing::lexer::{Candidate, Expected, Lexer, Place};
use crate::model::TerminalId;
use crate::model::core::NtId;
use crate::parse::engine::{Limit, TooDense};
use context_free::earley::tables::{Next, PredId, Slot, Tables};
use context_free::earley::{self, Chains, Sets, Work};
use std::ops::Range;

pub(crate) type Item = earley::Item<u32>;

/// A token that led into a set.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Incoming {
    pub terminal: TerminalId,
    pub from: u32,
    pub start: u32,
}

/// Where the parts of a set begin in the chart's lists; they end where those of the next set begin.
#[derive(Clone, Copy, Debug)]
struct Set {
    begin: Lens,
    pred: PredId,
    place: Place,
}

#[derive(Clone, Copy, Default, Debug)]
struct Lens {
    /// Incomplete items, sorted by what they wait for.
    waiting: u32,
    /// Complete items in the order in which they were found.
    completed: u32,
    /// Chains that Leo's method jumped over: index of the item that starts them.
    chains: u32,
    incoming: u32,
}

pub(crate) struct Chart<'t> {
    pub tables: &'t mut Tables,
    pub start: NtId,
    sets: Vec<Set>,
    items: Vec<Item>,
    completed: Vec<Item>,
    chains: Vec<u32>,
    incoming: Vec<Incoming>,
    tops: Chains<u32>,
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

struct Here<'c, 't>(&'c Chart<'t>, u32);

impl Expected for Here<'_, '_> {
    fn allows(&self, terminal: TerminalId) -> bool {
        self.0.allows(self.1, terminal)
    }
}

impl<'t> Chart<'t> {
    /// Parses `input`. `use_chains` is off where every derivation is wanted.
    pub fn build(
        (tables, start): (&'t mut Tables, NtId),
        lexer: &mut Lexer,
        input: &[u8],
        use_chains: bool,
    ) -> Result<Chart<'t>, Stuck> {
        let mut chart = Chart::begin(tables, start, lexer.begin(), use_chains);
        chart.run(lexer, input, Limit::NONE);
        chart.result(lexer, input)
    }

    /// Parses `input` as long as no set is larger than `limit`.
    pub fn within(
        (tables, start): (&'t mut Tables, NtId),
        lexer: &mut Lexer,
        input: &[u8],
        limit: Limit,
    ) -> Result<Result<Chart<'t>, Stuck>, TooDense> {
        let mut chart = Chart::begin(tables, start, lexer.begin(), true);
        if chart.run(lexer, input, limit) { Ok(chart.result(lexer, input)) } else { Err(TooDense) }
    }

    fn result(self, lexer: &mut Lexer, input: &[u8]) -> Result<Chart<'t>, Stuck> {
        if self.accepted.is_some() { Ok(self) } else { Err(self.stuck(lexer, input)) }
    }

    fn begin(tables: &'t mut Tables, start: NtId, place: Place, use_chains: bool) -> Chart<'t> {
        let pred = tables.predict(&[start]);
        let (items, completed, chains, incoming) = Default::default();
        let sets = vec![Set { begin: Lens::default(), pred, place }];
        let tops = Chains::default();
        Chart {
            tables,
            start,
            sets,
            items,
            completed,
            chains,
            incoming,
            tops,
            use_chains,
            accepted: None,
        }
    }

    /// False if a set grew larger than `limit`, which ends it.
    fn run(&mut self, lexer: &mut Lexer, input: &[u8], limit: Limit) -> bool {
        let mut pending: Vec<Pending> = Vec::new();
        let mut work = Work::default();
        let mut candidates = Vec::new();
        let mut accepting = self.tables.nullable[self.start.index()];
        loop {
            let set = self.sets.len() as u32 - 1;
            if self.incomplete(set).len() > limit.0 {
                return false;
            }
            candidates.clear();
            let at_end =
                lexer.candidates(input, self.place(set), &Here(self, set), &mut candidates);
            if at_end && accepting {
                self.accepted = Some(set);
            }
            for candidate in &candidates {
                self.enqueue(set, candidate, &mut pending);
            }
            loop {
                let Some(place) = pending.last().map(|p| p.place) else { return true };
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

    /// Makes the set of the nearest place. `None` if it is empty, else whether the text before it
    /// is a sentence.
    fn make(
        &mut self,
        place: Place,
        pending: &mut Vec<Pending>,
        work: &mut Work<u32>,
    ) -> Option<bool> {
        work.begin();
        let begin = self.lens();
        let mut accepting = false;
        while let Some(token) = pending.pop_if(|p| p.place == place) {
            self.scan(token.incoming.from, token.incoming.terminal, work);
            self.incoming.push(token.incoming);
        }
        while let Some(item) = work.next_complete(self.tables) {
            accepting |= self.complete(item, work);
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
            waiting: self.items.len() as u32,
            completed: self.completed.len() as u32,
            chains: self.chains.len() as u32,
            incoming: self.incoming.len() as u32,
        }
    }

    fn store(&mut self, place: Place, work: &mut Work<u32>, begin: Lens) {
        work.sort_kernel(self.tables);
        work.find_roots(self.tables);
        self.items.extend_from_slice(&work.kernel);
        self.sets.push(Set { begin, pred: self.tables.predict(&work.roots), place });
    }

    /// Returns true if this completes a sentence.
    fn complete(&mut self, item: Item, work: &mut Work<u32>) -> bool {
        let nt = self.tables.lhs[item.slot as usize];
        let index = self.completed.len() as u32;
        self.completed.push(item);
        let (top, origin) =
            if self.use_chains { self.top(nt, item.origin) } else { (nt, item.origin) };
        if (top, origin) != (nt, item.origin) {
            self.chains.push(index);
        }
        if work.complete(top, origin) {
            self.advance_over(origin, self.parents(origin, Next::nonterminal(top)), work);
        }
        self.is_sentence(top, origin)
    }

    fn top(&mut self, nt: NtId, origin: u32) -> (NtId, u32) {
        let mut tops = std::mem::take(&mut self.tops);
        let top = tops.top(self, nt, origin);
        self.tops = tops;
        top
    }

    /// Is the incomplete item `slot` that began in `origin` in the set? Items that began in the set
    /// itself are not stored; they are there if nothing but nullable symbols stands before the dot.
    pub fn contains(&self, set: u32, slot: Slot, origin: u32) -> bool {
        let first = self.tables.first[self.tables.prod[slot as usize].index()];
        if set == origin {
            return (first..slot).all(|s| self.tables.is_nullable(self.tables.next[s as usize]));
        }
        if slot == first {
            return false;
        }
        let wanted = self.tables.key(slot, origin);
        let key = |item: &Item| self.tables.key(item.slot, item.origin);
        self.incomplete(set).binary_search_by_key(&wanted, key).is_ok()
    }

    /// What `part` of the lists belongs to a set.
    fn range(&self, set: u32, part: impl Fn(&Lens) -> u32) -> Range<usize> {
        let set = set as usize;
        let end =
            self.sets.get(set + 1).map_or_else(|| part(&self.lens()), |next| part(&next.begin));
        part(&self.sets[set].begin) as usize..end as usize
    }

    pub fn completed(&self, set: u32) -> &[Item] {
        &self.completed[self.range(set, |l| l.completed)]
    }

    /// Positions in `completed(set)` of the items that start a chain.
    pub fn chains(&self, set: u32) -> impl ExactSizeIterator<Item = u32> + '_ {
        let base = self.sets[set as usize].begin.completed;
        self.chains[self.range(set, |l| l.chains)].iter().map(move |c| c - base)
    }

    pub fn incoming(&self, set: u32) -> &[Incoming] {
        &self.incoming[self.range(set, |l| l.incoming)]
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
            let items = self.incomplete(set);
            expected.extend(items.iter().filter_map(|i| next[i.slot as usize].as_terminal()));
            expected.extend(self.tables.predicted_terminals(self.sets[set as usize].pred));
            pos = pos.max(lexer.after_skipped(input, self.place(set)));
        }
        expected.sort_unstable();
        expected.dedup();
        Stuck { pos, expected }
    }
}

impl Sets for Chart<'_> {
    type Id = u32;

    fn tables(&self) -> &Tables {
        self.tables
    }

    fn incomplete(&self, set: u32) -> &[Item] {
        &self.items[self.range(set, |l| l.waiting)]
    }

    fn predictions(&self, set: u32) -> PredId {
        self.sets[set as usize].pred
    }

    fn is_sentence(&self, nt: NtId, origin: u32) -> bool {
        nt == self.start && origin == 0
    }
}
