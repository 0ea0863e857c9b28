//! Earley's algorithm. What all engines share is here: items, how a completion moves on, and
//! Leo's chains.
//!
//! An engine says what its sets are (`Sets`): numbers of places in an input, or values that are
//! interned. Nothing here knows which.

pub mod completion;
mod pairs;
pub mod reasons;
pub mod recognize;
pub mod tables;

use crate::earley::pairs::PairSet;
use crate::earley::tables::{Next, PredId, SHORT_CHAIN, Slot, Tables};
use crate::ids::NtId;
use crate::ids::TerminalId;
use rustc_hash::FxHashMap;
use std::hash::Hash;

/// The number of a set of items; the first set is number 0.
pub trait SetId: Copy + Ord + Hash {
    fn number(self) -> u32;

    fn of_number(number: u32) -> Self;
}

impl SetId for u32 {
    fn number(self) -> u32 {
        self
    }

    fn of_number(number: u32) -> u32 {
        number
    }
}

/// A production with a dot, and the set in which it began.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Item<S> {
    pub slot: Slot,
    pub origin: S,
}

impl<S> Item<S> {
    fn new(slot: Slot, origin: S) -> Item<S> {
        Item { slot, origin }
    }
}

/// Sets of items, as far as they are made.
pub trait Sets {
    type Id: SetId;

    fn tables(&self) -> &Tables;

    /// Incomplete items of a set, sorted by `Tables::key`; those that the set predicts are not
    /// among them.
    fn incomplete(&self, set: Self::Id) -> &[Item<Self::Id>];

    fn predictions(&self, set: Self::Id) -> PredId;

    /// Incomplete items that wait for `next`.
    #[inline]
    fn waiting(&self, set: Self::Id, next: Next) -> &[Item<Self::Id>] {
        let items = self.incomplete(set);
        let of = |item: &Item<Self::Id>| self.tables().next[item.slot as usize];
        if items.len() <= 8 {
            let from = items.iter().position(|i| of(i) >= next).unwrap_or(items.len());
            let len = items[from..].iter().take_while(|i| of(i) == next).count();
            return &items[from..from + len];
        }
        let from = items.partition_point(|i| of(i) < next);
        let to = from + items[from..].partition_point(|i| of(i) == next);
        &items[from..to]
    }

    /// What `next` leads to: items that wait for it, and predicted ones with the dot after it
    /// already.
    #[inline]
    fn parents(&self, set: Self::Id, next: Next) -> (&[Item<Self::Id>], &[Slot]) {
        (self.waiting(set, next), self.tables().predicted(self.predictions(set), next))
    }

    fn allows(&self, set: Self::Id, terminal: TerminalId) -> bool {
        let (waiting, predicted) = self.parents(set, Next::terminal(terminal));
        !waiting.is_empty() || !predicted.is_empty()
    }

    /// Adds what reading a terminal leads to.
    fn scan(&self, set: Self::Id, terminal: TerminalId, work: &mut Work<Self::Id>) {
        let (waiting, predicted) = self.parents(set, Next::terminal(terminal));
        waiting.iter().for_each(|item| work.add(Item::new(item.slot + 1, item.origin)));
        predicted.iter().for_each(|&slot| work.add(Item::new(slot, set)));
    }

    /// Adds what a nonterminal leads to, given its parents. Once for each nonterminal and set:
    /// plain items are not looked up.
    fn advance_over(
        &self,
        set: Self::Id,
        (waiting, predicted): (&[Item<Self::Id>], &[Slot]),
        work: &mut Work<Self::Id>,
    ) {
        waiting.iter().for_each(|item| work.add(Item::new(item.slot + 1, item.origin)));
        for &slot in predicted {
            let item = Item::new(slot, set);
            if self.tables().is_plain(slot) { work.kernel.push(item) } else { work.add(item) }
        }
    }

    /// Is a nonterminal that began in a set the goal of that set?
    fn is_sentence(&self, nt: NtId, origin: Self::Id) -> bool;

    /// If completing `nt` can only lead to one item and completes that: the item.
    fn only_parent(&self, nt: NtId, origin: Self::Id) -> Option<Item<Self::Id>> {
        if self.is_sentence(nt, origin) {
            return None;
        }
        let item = match self.parents(origin, Next::nonterminal(nt)) {
            ([item], []) => Item::new(item.slot + 1, item.origin),
            ([], [slot]) => Item::new(*slot, origin),
            _ => return None,
        };
        self.tables().next[item.slot as usize].is_end().then_some(item)
    }
}

/// Leo: the ends of chains of completions that can only lead to each other, remembered where they
/// are long.
#[derive(Clone, Debug)]
pub struct Chains<S> {
    tops: FxHashMap<(NtId, S), (NtId, S)>,
}

impl<S> Default for Chains<S> {
    fn default() -> Chains<S> {
        Chains { tops: FxHashMap::default() }
    }
}

impl<S: SetId> Chains<S> {
    /// The last completion of the chain that this one starts.
    pub fn top(&mut self, sets: &impl Sets<Id = S>, nt: NtId, origin: S) -> (NtId, S) {
        let tables = sets.tables();
        let (mut at, mut idle, mut steps) = ((nt, origin), 0, 0);
        let mut top = None;
        while let Some(item) = sets.only_parent(at.0, at.1) {
            // A chain of units inside one set may be a cycle.
            idle = if item.origin == at.1 { idle + 1 } else { 0 };
            if idle > tables.nullable.len() {
                return (nt, origin);
            }
            (at, steps) = ((tables.lhs[item.slot as usize], item.origin), steps + 1);
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
}

/// The set that is being made.
#[derive(Clone, Debug)]
pub struct Work<S> {
    pub todo: Vec<Item<S>>,
    pub kernel: Vec<Item<S>>,
    pub roots: Vec<NtId>,
    items: PairSet,
    completed: PairSet,
    keys: Vec<u64>,
}

impl<S> Default for Work<S> {
    fn default() -> Work<S> {
        let (items, completed) = Default::default();
        Work {
            todo: Vec::new(),
            kernel: Vec::new(),
            roots: Vec::new(),
            items,
            completed,
            keys: Vec::new(),
        }
    }
}

impl<S: SetId> Work<S> {
    pub fn begin(&mut self) {
        self.todo.clear();
        self.kernel.clear();
        self.items.clear();
        self.completed.clear();
    }

    #[inline]
    pub fn add(&mut self, item: Item<S>) {
        if self.items.insert(item.slot, item.origin.number()) {
            self.todo.push(item);
        }
    }

    /// True if this completion is new.
    #[inline]
    pub fn complete(&mut self, nt: NtId, origin: S) -> bool {
        self.completed.insert(nt.0, origin.number())
    }

    /// The next item that is complete; incomplete ones go into the kernel, with the dot moved over
    /// what may be empty.
    #[inline]
    pub fn next_complete(&mut self, tables: &Tables) -> Option<Item<S>> {
        while let Some(item) = self.todo.pop() {
            let next = tables.next[item.slot as usize];
            if next.is_end() {
                return Some(item);
            }
            self.kernel.push(item);
            if tables.is_nullable(next) {
                self.add(Item::new(item.slot + 1, item.origin));
            }
        }
        None
    }

    pub fn sort_kernel(&mut self, tables: &Tables) {
        self.keys.clear();
        self.keys
            .extend(self.kernel.iter().map(|item| tables.key(item.slot, item.origin.number())));
        self.keys.sort_unstable();
        for (item, key) in self.kernel.iter_mut().zip(&self.keys) {
            let (slot, origin) = tables.of_key(*key);
            *item = Item::new(slot, S::of_number(origin));
        }
    }

    /// The nonterminals that the kernel waits for; it has to be sorted.
    pub fn find_roots(&mut self, tables: &Tables) {
        self.roots.clear();
        self.roots.extend(
            self.kernel.iter().filter_map(|i| tables.next[i.slot as usize].as_nonterminal()),
        );
        self.roots.dedup();
    }
}
