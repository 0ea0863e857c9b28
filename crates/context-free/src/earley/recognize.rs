//! Membership: an Earley recogniser whose sets are values.
//!
//! A `Config` is what an Earley set says about the future: its incomplete items, each with the
//! configuration in which it began. Equal configurations get the same number, so `L ::= L ',' x`
//! stays in a cycle of two configurations however long the list is, and a step that was taken
//! before is one table lookup. Configurations never change: the state of a prefix can be kept, and
//! continued in different ways.
//!
//! Right recursion is kept linear by Leo's method: a completion that can only lead to one further
//! completion jumps to the end of that chain, which is remembered.

use crate::earley::pairs::{PairMap, hash_pair};
use crate::earley::reasons::Reasons;
use crate::earley::tables::{Next, PredId, Tables};
use crate::earley::{self, Chains, SetId, Sets, Work};
use crate::ids::NtId;
use crate::ids::TerminalId;
use crate::productions::Productions;
use hashbrown::HashTable;
use rustc_hash::FxHashMap;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Config(pub u32);

impl SetId for Config {
    fn number(self) -> u32 {
        self.0
    }

    fn of_number(number: u32) -> Config {
        Config(number)
    }
}

pub type Item = earley::Item<Config>;

/// What a step reads: a terminal, or one of some terminals, by a number that follows those of the
/// terminals.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Letter(u32);

#[derive(Clone, Copy, Debug)]
struct Record {
    first: u32,
    len: u32,
    pred: PredId,
    accepting: bool,
    /// The step taken first from here: most configurations of a long input have no other.
    step: (u32, u32),
}

#[derive(Clone, Debug)]
pub struct Recognizer {
    tables: Tables,
    records: Vec<Record>,
    /// Items of all configurations; each one's are sorted by the symbol after the dot.
    items: Vec<Item>,
    /// Configurations by their items, each with the hash of these.
    ids: HashTable<(u64, Config)>,
    /// Steps after the first of each configuration, by letter.
    moves: PairMap,
    terminals: usize,
    /// Nonterminals to recognise, each with the configuration of its empty prefix.
    goals: Vec<(NtId, Config)>,
    /// The last of these configurations: most others have higher numbers.
    last_start: Config,
    /// Numbers of the sets of terminals that were read as one letter.
    letters: FxHashMap<Box<[TerminalId]>, Letter>,
    reasons: Option<Reasons>,
    tops: Chains<Config>,
    work: Work<Config>,
}

const NOWHERE: Config = Config(u32::MAX);
const NO_STEP: (u32, u32) = (u32::MAX, u32::MAX);

impl Recognizer {
    /// A recogniser that begins with nothing yet: see `start`.
    pub fn new(productions: &Productions) -> Recognizer {
        Recognizer {
            tables: Tables::new(productions),
            records: Vec::new(),
            items: Vec::new(),
            ids: HashTable::new(),
            moves: PairMap::default(),
            terminals: productions.terminals(),
            goals: Vec::new(),
            last_start: Config(0),
            letters: FxHashMap::default(),
            reasons: None,
            tops: Chains::default(),
            work: Work::default(),
        }
    }

    /// A recogniser of the sentences of one nonterminal, which `begin` is for.
    pub fn for_goal(productions: &Productions, goal: NtId) -> Recognizer {
        let mut recognizer = Recognizer::new(productions);
        recognizer.start(goal);
        recognizer
    }

    /// As `for_goal`, and it remembers what each step completed.
    pub fn with_reasons(productions: &Productions, goal: NtId) -> Recognizer {
        let reasons = Some(Reasons::default());
        Recognizer { reasons, ..Recognizer::for_goal(productions, goal) }
    }

    /// The configuration of the empty prefix of a sentence of `goal`. Few nonterminals are goals,
    /// so they are a list.
    pub fn start(&mut self, goal: NtId) -> Config {
        if let Some((_, config)) = self.goals.iter().find(|(nt, _)| *nt == goal) {
            return *config;
        }
        let config = Config(self.records.len() as u32);
        let pred = self.tables.predict(&[goal]);
        let accepting = self.tables.nullable[goal.index()];
        let first = self.items.len() as u32;
        self.records.push(Record { first, len: 0, pred, accepting, step: NO_STEP });
        self.goals.push((goal, config));
        self.last_start = config;
        config
    }

    /// The nonterminal that `start` gave a configuration for.
    #[inline]
    pub fn goal(&self, config: Config) -> Option<NtId> {
        if config > self.last_start {
            return None;
        }
        self.goals.iter().find(|(_, start)| *start == config).map(|(nt, _)| *nt)
    }

    pub(crate) fn reasons(&self) -> Option<&Reasons> {
        self.reasons.as_ref()
    }

    pub fn tables(&self) -> &Tables {
        &self.tables
    }

    /// The configuration of the empty prefix, of the first goal.
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
        Sets::waiting(self, config, next)
    }

    pub fn allows(&self, config: Config, terminal: TerminalId) -> bool {
        Sets::allows(self, config, terminal)
    }

    /// Terminals that can come next, in order.
    pub fn expected(&self, config: Config) -> Vec<TerminalId> {
        let waiting = self
            .items(config)
            .iter()
            .filter_map(|i| self.tables.next[i.slot as usize].as_terminal());
        let predicted = self.tables.predicted_terminals(self.predictions(config));
        let mut all: Vec<TerminalId> = waiting.chain(predicted).collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// The configuration after one more token, if there is a sentence that begins so.
    #[inline]
    pub fn advance(&mut self, config: Config, terminal: TerminalId) -> Option<Config> {
        self.step(config, Letter(terminal.0), &[terminal])
    }

    /// The configuration after one more token, which may be any of `terminals`: the union of what
    /// each leads to.
    pub fn advance_any(&mut self, config: Config, terminals: &[TerminalId]) -> Option<Config> {
        let letter = self.letter(terminals);
        self.step(config, letter, terminals)
    }

    /// The letter for one of `terminals`.
    pub fn letter(&mut self, terminals: &[TerminalId]) -> Letter {
        if let [terminal] = terminals {
            return Letter(terminal.0);
        }
        if let Some(&letter) = self.letters.get(terminals) {
            return letter;
        }
        let letter = Letter((self.terminals + self.letters.len()) as u32);
        self.letters.insert(terminals.into(), letter);
        letter
    }

    /// `letter` is that of `terminals`.
    #[inline]
    pub fn step(
        &mut self,
        config: Config,
        letter: Letter,
        terminals: &[TerminalId],
    ) -> Option<Config> {
        let to = match self.records[config.0 as usize].step {
            NO_STEP => self.compute(config, letter, terminals),
            (first, to) if first == letter.0 => Config(to),
            _ => match self.moves.get(config.0, letter.0) {
                Some(to) => Config(to),
                None => self.compute(config, letter, terminals),
            },
        };
        (to != NOWHERE).then_some(to)
    }

    fn compute(&mut self, config: Config, letter: Letter, terminals: &[TerminalId]) -> Config {
        let first = self.reasons.as_ref().map_or(0, Reasons::len);
        let to = self.union(config, terminals);
        self.remember(config, letter, to);
        if let Some(reasons) = &mut self.reasons {
            reasons.end_step(config, letter, first);
        }
        to
    }

    fn union(&mut self, config: Config, terminals: &[TerminalId]) -> Config {
        let mut work = std::mem::take(&mut self.work);
        work.begin();
        for terminal in terminals {
            self.scan(config, *terminal, &mut work);
        }
        let mut accepting = false;
        while let Some(item) = work.next_complete(&self.tables) {
            accepting |= self.complete(item, &mut work);
        }
        let to = if work.kernel.is_empty() && !accepting {
            NOWHERE
        } else {
            self.intern(&mut work, accepting)
        };
        self.work = work;
        to
    }

    fn remember(&mut self, config: Config, letter: Letter, to: Config) {
        let step = &mut self.records[config.0 as usize].step;
        if *step == NO_STEP {
            *step = (letter.0, to.0);
        } else {
            self.moves.insert(config.0, letter.0, to.0);
        }
    }

    /// Returns true if this completes a sentence.
    fn complete(&mut self, item: Item, work: &mut Work<Config>) -> bool {
        let (nt, origin) = (self.tables.lhs[item.slot as usize], item.origin);
        if !work.complete(nt, origin) {
            return false;
        }
        let parents = self.parents(origin, Next::nonterminal(nt));
        if parents.0.len() + parents.1.len() > 1 {
            self.advance_over(origin, parents, work);
            self.give_reason(item, (nt, origin));
            return self.is_sentence(nt, origin);
        }
        let top = self.top(nt, origin);
        self.give_reason(item, top);
        if top == (nt, origin) || work.complete(top.0, top.1) {
            self.advance_over(top.1, self.parents(top.1, Next::nonterminal(top.0)), work);
        }
        self.is_sentence(top.0, top.1)
    }

    #[inline]
    fn give_reason(&mut self, item: Item, top: (NtId, Config)) {
        if let Some(reasons) = &mut self.reasons {
            reasons.add(item, top);
        }
    }

    fn top(&mut self, nt: NtId, origin: Config) -> (NtId, Config) {
        let mut tops = std::mem::take(&mut self.tops);
        let top = tops.top(self, nt, origin);
        self.tops = tops;
        top
    }

    fn intern(&mut self, work: &mut Work<Config>, accepting: bool) -> Config {
        work.sort_kernel(&self.tables);
        let hash = work.kernel.iter().fold(u64::from(accepting), |h, item| {
            h.rotate_left(7).wrapping_mul(0x9E37_79B9_7F4A_7C15)
                ^ hash_pair(item.slot, item.origin.0)
        });
        let same = |(other, c): &(u64, Config)| {
            *other == hash
                && self.items(*c) == work.kernel.as_slice()
                && self.accepts(*c) == accepting
        };
        match self.ids.find(hash, same) {
            Some((_, config)) => *config,
            None => self.create(hash, work, accepting),
        }
    }

    fn create(&mut self, hash: u64, work: &mut Work<Config>, accepting: bool) -> Config {
        work.find_roots(&self.tables);
        let id = Config(self.records.len() as u32);
        let record = Record {
            first: self.items.len() as u32,
            len: work.kernel.len() as u32,
            pred: self.tables.predict(&work.roots),
            accepting,
            step: NO_STEP,
        };
        self.items.extend_from_slice(&work.kernel);
        self.records.push(record);
        self.ids.insert_unique(hash, (hash, id), |(hash, _)| *hash);
        id
    }
}

impl Sets for Recognizer {
    type Id = Config;

    fn tables(&self) -> &Tables {
        &self.tables
    }

    fn incomplete(&self, config: Config) -> &[Item] {
        self.items(config)
    }

    fn predictions(&self, config: Config) -> PredId {
        self.records[config.0 as usize].pred
    }

    #[inline]
    fn is_sentence(&self, nt: NtId, origin: Config) -> bool {
        origin <= self.last_start && self.goals.contains(&(nt, origin))
    }
}
