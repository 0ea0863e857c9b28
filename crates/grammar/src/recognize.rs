//! Membership: an Earley recogniser whose sets are values.
//!
//! A `Config` is what an Earley set says about the future: its incomplete items, each with the configuration
//! in which it began. Equal configurations get the same number, so `L ::= L ',' x` stays in a cycle of two
//! configurations however long the list is, and a step that was taken before is one table lookup.
//! Configurations never change: the state of a prefix can be kept, and continued in different ways.
//!
//! Right recursion is kept linear by Leo's method: a completion that can only lead to one further completion
//! jumps to the end of that chain, which is remembered.

use crate::core::Core;
use crate::core::NtId;
use crate::model::TerminalId;
use crate::tables::{Next, PairSet, PredId, SHORT_CHAIN, Slot, Tables, hash_pair};
use rustc_hash::FxHashMap;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Config(pub u32);

/// An incomplete item: the dot, and where it began.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Item {
    pub slot: Slot,
    pub origin: Config,
}

#[derive(Clone, Copy, Debug)]
struct Record {
    first: u32,
    len: u32,
    pred: PredId,
    accepting: bool,
    /// The step taken first from here: most configurations of a long input have no other.
    step: (u32, u32),
}

#[derive(Clone)]
pub struct Recognizer {
    tables: Tables,
    records: Vec<Record>,
    /// Items of all configurations; each one's are sorted by the symbol after the dot.
    items: Vec<Item>,
    ids: Ids,
    moves: Moves,
    tops: FxHashMap<(NtId, Config), (NtId, Config)>,
    work: Work,
}

#[derive(Clone, Default)]
struct Work {
    todo: Vec<Item>,
    kernel: Vec<Item>,
    roots: Vec<NtId>,
    items: PairSet,
    completed: PairSet,
    accepting: bool,
}

const NOWHERE: Config = Config(u32::MAX);
const NO_STEP: (u32, u32) = (u32::MAX, u32::MAX);

impl Recognizer {
    pub fn new(core: &Core) -> Recognizer {
        let mut recognizer = Recognizer {
            tables: Tables::new(core),
            records: Vec::new(),
            items: Vec::new(),
            ids: Ids::default(),
            moves: Moves::default(),
            tops: FxHashMap::default(),
            work: Work::default(),
        };
        let start = core.start;
        let pred = recognizer.tables.predict(&[start]);
        let accepting = recognizer.tables.nullable[start.index()];
        recognizer.records.push(Record { first: 0, len: 0, pred, accepting, step: NO_STEP });
        recognizer
    }

    pub fn tables(&self) -> &Tables {
        &self.tables
    }

    /// The configuration of the empty prefix.
    pub fn begin(&self) -> Config {
        Config(0)
    }

    /// Is the prefix a sentence?
    pub fn accepts(&self, config: Config) -> bool {
        self.records[config.0 as usize].accepting
    }

    pub fn items(&self, config: Config) -> &[Item] {
        let record = &self.records[config.0 as usize];
        &self.items[record.first as usize..(record.first + record.len) as usize]
    }

    pub fn predictions(&self, config: Config) -> PredId {
        self.records[config.0 as usize].pred
    }

    /// Number of configurations so far; a measure of memory.
    pub fn configs(&self) -> usize {
        self.records.len()
    }

    /// Items of `config` that wait for `next`.
    pub fn waiting(&self, config: Config, next: Next) -> &[Item] {
        let items = self.items(config);
        if items.len() <= 8 {
            let of = |item: &Item| self.tables.next[item.slot as usize];
            let from = items.iter().position(|i| of(i) == next).unwrap_or(items.len());
            let len = items[from..].iter().take_while(|i| of(i) == next).count();
            return &items[from..from + len];
        }
        let key = |item: &Item| self.tables.next[item.slot as usize];
        let from = items.partition_point(|i| key(i) < next);
        let to = items.partition_point(|i| key(i) <= next);
        &items[from..to]
    }

    pub fn allows(&self, config: Config, terminal: TerminalId) -> bool {
        let next = Next::terminal(terminal);
        !self.waiting(config, next).is_empty()
            || !self.tables.predicted(self.predictions(config), next).is_empty()
    }

    /// Terminals that can come next, in order.
    pub fn expected(&self, config: Config) -> Vec<TerminalId> {
        let waiting =
            self.items(config).iter().filter_map(|i| self.tables.next[i.slot as usize].as_terminal());
        let predicted = self.tables.predicted_terminals(self.predictions(config));
        let mut all: Vec<TerminalId> = waiting.chain(predicted).collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// The configuration after one more token, if there is a sentence that begins so.
    #[inline]
    pub fn advance(&mut self, config: Config, terminal: TerminalId) -> Option<Config> {
        let to = match self.records[config.0 as usize].step {
            NO_STEP => self.compute(config, terminal),
            (first, to) if first == terminal.0 => Config(to),
            _ => match self.moves.get(config.0, terminal.0) {
                Some(to) => Config(to),
                None => self.compute(config, terminal),
            },
        };
        (to != NOWHERE).then_some(to)
    }

    fn compute(&mut self, config: Config, terminal: TerminalId) -> Config {
        let mut work = std::mem::take(&mut self.work);
        work.begin();
        self.advance_over(config, Next::terminal(terminal), &mut work);
        while let Some(item) = work.todo.pop() {
            let next = self.tables.next[item.slot as usize];
            if next.is_end() {
                self.complete(self.tables.lhs[item.slot as usize], item.origin, &mut work);
                continue;
            }
            work.kernel.push(item);
            if self.tables.is_nullable(next) {
                work.add(Item { slot: item.slot + 1, origin: item.origin });
            }
        }
        let to = if work.kernel.is_empty() && !work.accepting { NOWHERE } else { self.intern(&mut work) };
        self.work = work;
        self.remember(config, terminal, to);
        to
    }

    fn remember(&mut self, config: Config, terminal: TerminalId, to: Config) {
        let step = &mut self.records[config.0 as usize].step;
        if *step == NO_STEP {
            *step = (terminal.0, to.0);
        } else {
            self.moves.insert(config.0, terminal.0, to.0);
        }
    }

    fn advance_over(&self, config: Config, next: Next, work: &mut Work) {
        for item in self.waiting(config, next) {
            work.add(Item { slot: item.slot + 1, origin: item.origin });
        }
        for &slot in self.tables.predicted(self.predictions(config), next) {
            work.add(Item { slot, origin: config });
        }
    }

    fn complete(&mut self, nt: NtId, origin: Config, work: &mut Work) {
        let (nt, origin) = self.top(nt, origin);
        if !work.completed.insert(nt.0, origin.0) {
            return;
        }
        work.accepting |= self.is_sentence(nt, origin);
        self.advance_over(origin, Next::nonterminal(nt), work);
    }

    fn is_sentence(&self, nt: NtId, origin: Config) -> bool {
        nt == self.tables.start && origin == Config(0)
    }

    /// Leo: the last completion of the chain that this one starts.
    fn top(&mut self, nt: NtId, origin: Config) -> (NtId, Config) {
        let (mut at, mut idle, mut steps) = ((nt, origin), 0, 0);
        let mut top = None;
        while let Some(up) = self.only_parent(at.0, at.1) {
            // A chain of units inside one configuration may be a cycle.
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

    /// If completing `nt` can only complete one other nonterminal: that one.
    fn only_parent(&self, nt: NtId, origin: Config) -> Option<(NtId, Config)> {
        if self.is_sentence(nt, origin) {
            return None;
        }
        let next = Next::nonterminal(nt);
        let waiting = self.waiting(origin, next);
        let predicted = self.tables.predicted(self.predictions(origin), next);
        let (slot, from) = match (waiting, predicted) {
            ([item], []) => (item.slot + 1, item.origin),
            ([], [slot]) => (*slot, origin),
            _ => return None,
        };
        self.tables.next[slot as usize].is_end().then(|| (self.tables.lhs[slot as usize], from))
    }

    fn intern(&mut self, work: &mut Work) -> Config {
        let tables = &self.tables;
        work.kernel.sort_unstable_by_key(|i| (tables.next[i.slot as usize], i.slot, i.origin));
        let hash = work.kernel.iter().fold(u64::from(work.accepting), |h, item| {
            h.rotate_left(7).wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ hash_pair(item.slot, item.origin.0)
        });
        let same =
            |c: &Config| self.items(*c) == work.kernel.as_slice() && self.accepts(*c) == work.accepting;
        match self.ids.find(hash, same) {
            Some(config) => config,
            None => self.create(hash, work),
        }
    }

    fn create(&mut self, hash: u64, work: &mut Work) -> Config {
        let next = |item: &Item| self.tables.next[item.slot as usize];
        work.roots.clear();
        work.roots.extend(work.kernel.iter().filter_map(|i| next(i).as_nonterminal()));
        work.roots.dedup();
        let id = Config(self.records.len() as u32);
        let record = Record {
            first: self.items.len() as u32,
            len: work.kernel.len() as u32,
            pred: self.tables.predict(&work.roots),
            accepting: work.accepting,
            step: NO_STEP,
        };
        self.items.extend_from_slice(&work.kernel);
        self.records.push(record);
        self.ids.insert(hash, id);
        id
    }
}

impl Work {
    fn begin(&mut self) {
        self.todo.clear();
        self.kernel.clear();
        self.items.clear();
        self.completed.clear();
        self.accepting = false;
    }

    #[inline]
    fn add(&mut self, item: Item) {
        if self.items.insert(item.slot, item.origin.0) {
            self.todo.push(item);
        }
    }
}

/// Configurations by the hash of their items: open addressing, with a part of the hash beside each.
#[derive(Clone, Default)]
struct Ids {
    table: Vec<(u32, Config)>,
    len: usize,
}

impl Ids {
    fn find(&self, hash: u64, same: impl Fn(&Config) -> bool) -> Option<Config> {
        let mask = self.table.len().checked_sub(1)?;
        let (mut i, tag) = (Ids::spread(hash) & mask, hash as u32);
        loop {
            let (t, config) = self.table[i];
            if config == NOWHERE {
                return None;
            }
            if t == tag && same(&config) {
                return Some(config);
            }
            i = (i + 1) & mask;
        }
    }

    fn insert(&mut self, hash: u64, config: Config) {
        if self.len * 2 >= self.table.len() {
            self.grow();
        }
        self.put(hash as u32, config);
        self.len += 1;
    }

    fn put(&mut self, tag: u32, config: Config) {
        let mask = self.table.len() - 1;
        let mut i = Ids::spread(u64::from(tag)) & mask;
        while self.table[i].1 != NOWHERE {
            i = (i + 1) & mask;
        }
        self.table[i] = (tag, config);
    }

    fn grow(&mut self) {
        let size = (self.table.len() * 2).max(1024);
        let old = std::mem::replace(&mut self.table, vec![(0, NOWHERE); size]);
        old.into_iter().filter(|e| e.1 != NOWHERE).for_each(|(tag, config)| self.put(tag, config));
    }

    /// Only the tag decides the place, so that growing needs no items.
    fn spread(hash: u64) -> usize {
        (u64::from(hash as u32).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 20) as usize
    }
}

/// Further steps taken so far, after the first of each configuration: an open-addressing table from (configuration, terminal) to configuration.
#[derive(Clone, Default)]
struct Moves {
    table: Vec<(u32, u32, u32)>,
    len: usize,
}

const FREE: u32 = u32::MAX;

impl Moves {
    #[inline]
    fn get(&self, config: u32, terminal: u32) -> Option<u32> {
        let mask = self.table.len().checked_sub(1)?;
        let mut i = hash_pair(config, terminal) as usize & mask;
        loop {
            let (c, t, to) = self.table[i];
            if c == config && t == terminal {
                return Some(to);
            }
            if c == FREE {
                return None;
            }
            i = (i + 1) & mask;
        }
    }

    fn insert(&mut self, config: u32, terminal: u32, to: u32) {
        if self.len * 2 >= self.table.len() {
            let size = (self.table.len() * 2).max(1024);
            let old = std::mem::replace(&mut self.table, vec![(FREE, 0, 0); size]);
            self.len = 0;
            old.into_iter().filter(|e| e.0 != FREE).for_each(|(c, t, to)| self.insert(c, t, to));
        }
        let mask = self.table.len() - 1;
        let mut i = hash_pair(config, terminal) as usize & mask;
        while self.table[i].0 != FREE {
            i = (i + 1) & mask;
        }
        self.table[i] = (config, terminal, to);
        self.len += 1;
    }
}
