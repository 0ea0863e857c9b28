//! One function that runs a search over a fake program, with everything around it faked too.

use std::cell::Cell;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use search::{
    Bug, Clock, Corpus, Engine, Entry, Execution, Executor, KeepBy, Limits, Observer, Outcome,
    OutputError, Results, SavedSearch, Seed, Sighting, Stats, Stop, Strategy, World,
};
use sites::SiteTable;
use solver::{Answer, Chain, ChainOptions, Link, Query};

use crate::program::Fake;

/// The bytes that test programs compare with.
pub const CONSTANTS: &[u8] = b"\0abx";
/// The constants, and two bytes of each range between them: no program can tell more bytes apart.
const ALPHABET: &[u8] = b"\0\x01\x02abcdxyz";
pub const MAX_LEN: usize = 4;

/// Tries all inputs over the alphabet: slow, obvious, and the last link of the chain in these
/// tests.
pub struct BruteForce;

impl Link for BruteForce {
    fn name(&self) -> &'static str {
        "brute-force"
    }

    fn solve(&mut self, query: &Query) -> Answer {
        let mut evaluator = expr::Evaluator::new();
        for input in all_inputs(query.max_len.min(MAX_LEN)) {
            let mut evaluation = evaluator.under(query.dag, &input);
            if query.literals().all(|lit| evaluation.holds(lit.label) == lit.value) {
                return Answer::Sat(input);
            }
        }
        Answer::Unsat
    }
}

pub fn all_inputs(max_len: usize) -> Vec<Vec<u8>> {
    let mut inputs = vec![Vec::new()];
    let mut start = 0;
    for _ in 0..max_len {
        let end = inputs.len();
        for index in start..end {
            let longer: Vec<_> =
                ALPHABET.iter().map(|&byte| [&inputs[index][..], &[byte]].concat()).collect();
            inputs.extend(longer);
        }
        start = end;
    }
    inputs
}

/// A clock that moves one millisecond each time somebody looks.
#[derive(Default)]
pub struct Ticks(Cell<u64>);

impl Clock for Ticks {
    fn elapsed(&self) -> Duration {
        self.0.set(self.0.get() + 1);
        Duration::from_millis(self.0.get())
    }
}

/// Writes down what it is told, and fails after a number of entries.
#[derive(Default)]
pub struct Notes {
    pub entries: Vec<Vec<u8>>,
    pub bugs: Vec<(Sighting, Vec<u8>)>,
    pub progress: usize,
    pub room: Option<usize>,
    pub keep_states: bool,
    pub states: Vec<SavedSearch>,
}

impl Observer for Notes {
    fn new_entry(&mut self, entry: &Entry) -> Result<(), OutputError> {
        if self.room.is_some_and(|room| self.entries.len() >= room) {
            return Err(OutputError("disk full".to_owned()));
        }
        self.entries.push(entry.input.clone());
        Ok(())
    }

    fn new_bug(&mut self, bug: &Bug, sighting: Sighting) -> Result<(), OutputError> {
        self.bugs.push((sighting, bug.input.clone()));
        Ok(())
    }

    fn wants_progress(&mut self, _elapsed: Duration) -> bool {
        true
    }

    fn progress(&mut self, _stats: &Stats) -> Result<(), OutputError> {
        self.progress += 1;
        Ok(())
    }

    fn wants_state(&mut self, _elapsed: Duration) -> bool {
        self.keep_states
    }

    fn state(&mut self, saved: &SavedSearch) -> Result<(), OutputError> {
        self.states.push(saved.clone());
        Ok(())
    }
}

pub struct Setup {
    pub limits: Limits,
    pub seeds: Vec<&'static [u8]>,
    /// Inputs that an earlier session left.
    pub waiting: Vec<Vec<u8>>,
    pub seed: u64,
    pub keep_by: KeepBy,
    pub notes: Notes,
    pub stop: AtomicBool,
}

impl Default for Setup {
    fn default() -> Setup {
        Setup {
            limits: Limits { time: None, runs: Some(20_000), max_len: MAX_LEN },
            seeds: vec![b""],
            waiting: Vec::new(),
            seed: 1,
            keep_by: KeepBy::Coverage,
            notes: Notes::default(),
            stop: AtomicBool::new(false),
        }
    }
}

impl Setup {
    pub fn search(&mut self, fake: &mut Fake<'_>, strategy: &mut dyn Strategy) -> (Results, Stop) {
        let sites = fake.sites.clone();
        self.search_with(fake, &sites, strategy)
    }

    pub fn search_with(
        &mut self,
        executor: &mut dyn Executor,
        sites: &SiteTable,
        strategy: &mut dyn Strategy,
    ) -> (Results, Stop) {
        let mut chain = chain();
        let clock = Ticks::default();
        let world = World {
            executor,
            solver: &mut chain,
            sites,
            clock: &clock,
            observer: &mut self.notes,
            stop: &self.stop,
        };
        let seeds = self.seeds.iter().map(|seed| seed.to_vec()).chain(self.waiting.iter().cloned());
        let seeds = seeds.map(|input| Seed { name: "test".to_owned(), input });
        let results = Results { corpus: Corpus::after(0, self.keep_by), ..Results::new(sites) };
        Engine::new(world, self.limits, self.seed, results).search(strategy, seeds.collect())
    }
}

/// A run of which only the outcome is known.
pub fn ended(outcome: Outcome) -> Execution {
    Execution {
        outcome,
        covered: Vec::new(),
        counts: Vec::new(),
        trace: None,
        bad_trace: None,
        run_time: Duration::ZERO,
        cpu_time: Duration::ZERO,
        stderr: Vec::new(),
    }
}

/// The standard links, and the last one of these tests.
pub fn chain() -> Chain {
    let mut chain = Chain::standard(ChainOptions::default());
    chain.push(Box::new(BruteForce));
    chain
}

/// Searches with the defaults.
pub fn search(fake: &mut Fake<'_>, strategy: &mut dyn Strategy) -> (Results, Stop) {
    Setup::default().search(fake, strategy)
}
