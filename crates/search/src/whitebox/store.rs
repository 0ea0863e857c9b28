//! Runs whose flips still wait, with their traces as far as memory allows.
//!
//! A trace is dropped when nothing waits on it any more, or, least recently used first, when all
//! traces together exceed the limit. A dropped trace is had again by running the input once more.

use std::collections::{BTreeMap, HashMap};

use expr::Dag;
use path::{Constraint, PathCondition};
use sites::SiteTable;

use super::question::Questions;
use crate::TracedPath;

/// A run with its trace at hand.
pub(crate) struct Live {
    pub constraints: Vec<Constraint>,
    /// What else an answer has to meet, wherever it leaves the path.
    given: Vec<Constraint>,
    /// `hashes[i]` stands for the first `i` steps.
    pub hashes: Vec<u64>,
    /// Empty once `questions` has it.
    dag: Dag,
    questions: Option<Box<Questions>>,
    size: usize,
}

impl Live {
    pub(crate) fn new(path: TracedPath) -> Live {
        let PathCondition { constraints, given, .. } = path.condition;
        let mut hashes = vec![0];
        for constraint in &constraints {
            hashes.push(constraint.step().after(hashes[hashes.len() - 1]));
        }
        let size = size(&path.trace.dag, constraints.len() + given.len());
        Live { constraints, given, hashes, dag: path.trace.dag, questions: None, size }
    }

    /// Hash of the whole path.
    pub(crate) fn hash(&self) -> u64 {
        self.hashes[self.hashes.len() - 1]
    }

    /// The run's constraints and what answers questions about them. `input` and `max_len` are the
    /// same every time.
    pub(crate) fn questions(
        &mut self,
        input: &[u8],
        max_len: usize,
        sites: &SiteTable,
    ) -> (&[Constraint], &mut Questions) {
        let Live { constraints, given, dag, questions, .. } = self;
        let questions = questions.get_or_insert_with(|| {
            Box::new(Questions::new(std::mem::take(dag), given, constraints, input, max_len, sites))
        });
        (constraints, questions)
    }
}

/// About how many bytes a trace takes once it is prepared for the solver.
fn size(dag: &Dag, constraints: usize) -> usize {
    const NODE: usize = 96;
    const CONSTRAINT: usize = 256;
    let tables: usize = dag.tables().iter().map(|table| table.bytes.len() * 5).sum();
    dag.len() * NODE + constraints * CONSTRAINT + tables
}

struct Stored {
    input: Vec<u8>,
    hash: u64,
    /// Flips of this run that wait.
    waiting: usize,
    live: Option<Live>,
    size: usize,
    last_use: u64,
}

pub(crate) struct Store {
    runs: HashMap<u32, Stored>,
    next: u32,
    by_use: BTreeMap<u64, u32>,
    uses: u64,
    size: usize,
    limit: usize,
}

impl Store {
    /// Keeps traces of together about `limit` bytes, and always the one in use.
    pub(crate) fn new(limit: usize) -> Store {
        Store { runs: HashMap::new(), next: 0, by_use: BTreeMap::new(), uses: 0, size: 0, limit }
    }

    pub(crate) fn add(&mut self, input: &[u8], live: Live, waiting: usize) -> u32 {
        let number = self.next;
        self.next += 1;
        let stored = Stored {
            input: input.to_vec(),
            hash: live.hash(),
            waiting,
            live: None,
            size: 0,
            last_use: 0,
        };
        self.runs.insert(number, stored);
        self.attach(number, live);
        number
    }

    /// The number that the next run gets.
    pub(crate) fn next_number(&self) -> u32 {
        self.next
    }

    pub(crate) fn input(&self, run: u32) -> Option<&[u8]> {
        self.runs.get(&run).map(|stored| &stored.input[..])
    }

    /// The inputs of all runs, oldest first.
    pub(crate) fn inputs(&self) -> Vec<&[u8]> {
        let mut runs: Vec<_> = self.runs.iter().collect();
        runs.sort_by_key(|(number, _)| **number);
        runs.into_iter().map(|(_, stored)| &stored.input[..]).collect()
    }

    /// The run's trace, unless it was dropped.
    pub(crate) fn live(&mut self, run: u32) -> Option<&mut Live> {
        self.touch(run);
        self.runs.get_mut(&run)?.live.as_mut()
    }

    /// Gives a run its trace back. False if the program took another path this time.
    pub(crate) fn restore(&mut self, run: u32, live: Live) -> bool {
        let same = self.runs.get(&run).is_some_and(|stored| stored.hash == live.hash());
        if same {
            self.attach(run, live);
        } else {
            self.forget(run);
        }
        same
    }

    /// One flip of the run is done.
    pub(crate) fn finished_flip(&mut self, run: u32) {
        let Some(stored) = self.runs.get_mut(&run) else { return };
        stored.waiting = stored.waiting.saturating_sub(1);
        if stored.waiting == 0 {
            self.forget(run);
        }
    }

    fn forget(&mut self, run: u32) {
        self.evict(run);
        self.runs.remove(&run);
    }

    fn attach(&mut self, run: u32, live: Live) {
        self.evict(run);
        if let Some(stored) = self.runs.get_mut(&run) {
            stored.size = live.size;
            stored.live = Some(live);
            self.size += stored.size;
        }
        self.touch(run);
        self.make_room(run);
    }

    fn touch(&mut self, run: u32) {
        let Some(stored) = self.runs.get_mut(&run).filter(|stored| stored.live.is_some()) else {
            return;
        };
        self.by_use.remove(&stored.last_use);
        self.uses += 1;
        stored.last_use = self.uses;
        self.by_use.insert(self.uses, run);
    }

    fn make_room(&mut self, keep: u32) {
        while self.size > self.limit {
            let Some(&oldest) = self.by_use.values().find(|&&run| run != keep) else { return };
            self.evict(oldest);
        }
    }

    fn evict(&mut self, run: u32) {
        let Some(stored) = self.runs.get_mut(&run) else { return };
        if stored.live.take().is_some() {
            self.size -= stored.size;
            self.by_use.remove(&stored.last_use);
        }
    }
}
