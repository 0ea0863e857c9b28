//! The loop that all strategies share: propose, run, keep the books, learn.

mod hangs;

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use path::{PathCondition, Step};
use sites::SiteTable;
use solver::Chain;

use crate::judgement::causes;
use crate::reach::Reach;
use crate::suspicion::Suspicions;
use crate::{
    Bug, BugKind, Bugs, Context, Corpus, Coverage, Diagnosis, Ending, Entry, ExecError, Execution, Executor,
    Failure, Growth, Next, Offence, Origin, Proposal, Ran, SavedSearch, Sighting, Stats, Strategy,
    TracedPath, Violation, Violations,
};

/// Time since the start of the search.
pub trait Clock {
    fn elapsed(&self) -> Duration;
}

/// Is told what was found the moment it is found. An error ends the search, with all results so far.
pub trait Observer {
    fn new_entry(&mut self, entry: &Entry) -> Result<(), OutputError>;

    fn new_bug(&mut self, bug: &Bug, sighting: Sighting) -> Result<(), OutputError>;

    /// A run violated a property without a crash.
    fn new_violation(&mut self, _violation: &Violation) -> Result<(), OutputError> {
        Ok(())
    }

    /// Whether [`Observer::progress`] should be called now.
    fn wants_progress(&mut self, elapsed: Duration) -> bool;

    fn progress(&mut self, stats: &Stats) -> Result<(), OutputError>;

    /// Whether [`Observer::state`] should be called now.
    fn wants_state(&mut self, elapsed: Duration) -> bool;

    /// What a later session needs to go on from here.
    fn state(&mut self, saved: &SavedSearch) -> Result<(), OutputError>;
}

/// What was found could not be written.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
#[error("{0}")]
pub struct OutputError(pub String);

#[derive(Clone, Copy, Debug, Default)]
pub struct Limits {
    pub time: Option<Duration>,
    pub runs: Option<u64>,
    /// Longest input to run.
    pub max_len: usize,
}

#[derive(Clone, Debug)]
pub struct Seed {
    pub name: String,
    pub input: Vec<u8>,
}

/// Everything outside the search.
pub struct World<'a> {
    pub executor: &'a mut dyn Executor,
    pub solver: &'a mut Chain,
    pub sites: &'a SiteTable,
    pub clock: &'a dyn Clock,
    pub observer: &'a mut dyn Observer,
    /// Set from outside to end the search.
    pub stop: &'a AtomicBool,
}

/// Why a search ended.
#[derive(Debug)]
pub enum Stop {
    TimeUp,
    RunsUp,
    Interrupted,
    /// The strategy has nothing left to do.
    Finished,
    Execution(ExecError),
    Output(OutputError),
}

impl Stop {
    pub fn is_error(&self) -> bool {
        matches!(self, Stop::Execution(_) | Stop::Output(_))
    }
}

impl std::fmt::Display for Stop {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Stop::TimeUp => f.write_str("the time was up"),
            Stop::RunsUp => f.write_str("the number of runs was reached"),
            Stop::Interrupted => f.write_str("interrupted"),
            Stop::Finished => f.write_str("nothing was left to try"),
            Stop::Execution(error) => write!(f, "the program could not be run: {error}"),
            Stop::Output(error) => write!(f, "results could not be written: {error}"),
        }
    }
}

/// The books of a search.
#[derive(Debug, Default)]
pub struct Results {
    pub coverage: Coverage,
    pub corpus: Corpus,
    pub bugs: Bugs,
    pub violations: Violations,
    pub stats: Stats,
}

pub struct Engine<'a> {
    world: World<'a>,
    limits: Limits,
    rng: fastrand::Rng,
    results: Results,
    paths: HashSet<u64>,
    reach: Reach,
    /// Last sites of untraced runs that ended badly, by what they covered; each is traced once.
    triaged: HashMap<(BugKind, u64), Step>,
    suspicions: Suspicions,
    /// Time spent on running hangs once more.
    confirming: Duration,
}

impl<'a> Engine<'a> {
    /// `results` holds what an earlier part of the campaign found; fresh ones are `Results::new`.
    pub fn new(world: World<'a>, limits: Limits, seed: u64, results: Results) -> Engine<'a> {
        let rng = fastrand::Rng::with_seed(seed);
        let (paths, triaged, suspicions) = (HashSet::new(), HashMap::new(), Suspicions::default());
        let reach = Reach::new(world.sites);
        Engine { world, limits, rng, results, paths, reach, triaged, suspicions, confirming: Duration::ZERO }
    }

    /// Runs the seeds, then what the strategy proposes, until a limit is reached.
    pub fn search(mut self, strategy: &mut dyn Strategy, seeds: Vec<Seed>) -> (Results, Stop) {
        let stop = self.seeds(strategy, seeds).and_then(|()| self.propose(strategy));
        let stop = stop.err().unwrap_or(Stop::Finished);
        self.count(strategy);
        (self.results, stop)
    }

    fn seeds(&mut self, strategy: &mut dyn Strategy, seeds: Vec<Seed>) -> Result<(), Stop> {
        for Seed { name, input } in seeds {
            self.check_limits()?;
            self.run(strategy, Proposal { input, symbolic: true, origin: Origin::Seed(name) })?;
        }
        Ok(())
    }

    fn propose(&mut self, strategy: &mut dyn Strategy) -> Result<(), Stop> {
        loop {
            self.check_limits()?;
            match strategy.next(&mut self.context()) {
                Next::Run(proposal) => self.run(strategy, proposal)?,
                Next::Busy => self.report(strategy)?,
                Next::Finished => return Ok(()),
            }
        }
    }

    fn check_limits(&self) -> Result<(), Stop> {
        if self.world.stop.load(Ordering::Relaxed) {
            return Err(Stop::Interrupted);
        }
        if self.limits.runs.is_some_and(|runs| self.results.stats.runs >= runs) {
            return Err(Stop::RunsUp);
        }
        match self.is_time_up() {
            true => Err(Stop::TimeUp),
            false => Ok(()),
        }
    }

    fn is_time_up(&self) -> bool {
        self.limits.time.is_some_and(|time| self.world.clock.elapsed() >= time)
    }

    fn run(&mut self, strategy: &mut dyn Strategy, proposal: Proposal) -> Result<(), Stop> {
        let Proposal { input, symbolic, origin } = &proposal;
        self.world.executor.restrict(strategy.holes(), strategy.stretch());
        let mut execution = self.execute(input, *symbolic)?;
        self.add_offences()?;
        let path = self.traced_path(&mut execution);
        let covered = covered_hash(&execution);
        let hash = path.as_ref().map_or(covered, |path| path.condition.control_hash());
        self.results.stats.paths += u64::from(self.paths.insert(hash));
        self.reach.add(&execution.covered, &mut self.results.stats.reached_files);
        let new_outcomes = self.results.coverage.add(&execution.covered);
        self.keep(input, origin, new_outcomes)?;
        match BugKind::of(execution.ending) {
            Some(kind) => self.bug(kind, input, &execution, path.as_ref(), covered)?,
            None if new_outcomes > 0 || self.is_suspect(origin, path.as_ref()) => {
                self.doubt(input, path.as_ref())?;
            }
            None => {}
        }
        if let (Ending::Exit(_), Some(path)) = (execution.ending, &path) {
            self.note_violations(input, &path.condition)?;
        }
        let ran = Ran { input, origin, ending: execution.ending, new_outcomes, covered, path };
        strategy.learn(ran, &mut self.context());
        self.report(strategy)
    }

    fn execute(&mut self, input: &[u8], symbolic: bool) -> Result<Execution, Stop> {
        self.count_run(symbolic, |executor| executor.run(input, symbolic))
    }

    fn count_run(
        &mut self,
        symbolic: bool,
        run: impl FnOnce(&mut dyn Executor) -> Result<Execution, ExecError>,
    ) -> Result<Execution, Stop> {
        let started = self.world.clock.elapsed();
        let execution = run(self.world.executor).map_err(Stop::Execution)?;
        let stats = &mut self.results.stats;
        stats.times.running += self.world.clock.elapsed().saturating_sub(started);
        stats.runs += 1;
        stats.unstable = self.world.executor.unstable();
        stats.symbolic_runs += u64::from(symbolic);
        stats.bad_traces += u64::from(execution.bad_trace.is_some());
        match execution.ending {
            Ending::Exit(_) => {}
            Ending::Signal(_) => stats.crashes += 1,
            Ending::Timeout => stats.timeouts += 1,
            Ending::OutOfMemory => stats.out_of_memory += 1,
        }
        Ok(execution)
    }

    fn traced_path(&mut self, execution: &mut Execution) -> Option<TracedPath> {
        let mut trace = execution.trace.take()?;
        self.results.stats.add_losses(&trace.events);
        let condition = PathCondition::new(&mut trace, self.world.sites);
        let stats = &mut self.results.stats;
        stats.add_give_ups(&trace.give_ups);
        stats.truncated_traces += u64::from(trace.truncated);
        stats.add_constraints(&condition.constraints);
        Some(TracedPath { dag: trace.dag, condition, give_ups: trace.give_ups, truncated: trace.truncated })
    }

    fn keep(&mut self, input: &[u8], origin: &Origin, new_outcomes: usize) -> Result<(), Stop> {
        if new_outcomes == 0 {
            return Ok(());
        }
        let (seconds, covered) = (self.world.clock.elapsed().as_secs_f64(), self.results.coverage.covered());
        let stats = &mut self.results.stats;
        stats.growth.push(Growth { run: stats.runs, seconds, covered });
        let entry = self.results.corpus.add(input, origin, new_outcomes, self.results.stats.runs);
        self.world.observer.new_entry(entry).map_err(Stop::Output)
    }

    fn bug(
        &mut self,
        kind: BugKind,
        input: &[u8],
        execution: &Execution,
        path: Option<&TracedPath>,
        covered: u64,
    ) -> Result<(), Stop> {
        if kind == BugKind::Hang {
            return self.hang(input, execution, path, covered);
        }
        let last = path.map_or_else(|| self.triage(kind, covered, input), |path| Ok(last_step(path)))?;
        let run = self.results.stats.runs;
        self.crash(&Failure { kind, last, input, stderr: &execution.stderr, run })
    }

    fn crash(&mut self, failure: &Failure) -> Result<(), Stop> {
        let tells_nothing = self.results.bugs.is_stale(failure);
        let diagnoses = if tells_nothing { Vec::new() } else { self.examine(failure.input)? };
        self.add_all(failure, causes(Some(failure.kind), diagnoses))
    }

    fn add_all(&mut self, failure: &Failure, causes: Vec<(BugKind, Option<Diagnosis>)>) -> Result<(), Stop> {
        causes.into_iter().try_for_each(|(kind, cause)| {
            let stderr = if kind == BugKind::Reported { b"" } else { failure.stderr };
            self.add_bug(&Failure { kind, stderr, ..*failure }, cause)
        })
    }

    /// Inputs that tamper with what the program shares with its executor: found, whatever else they do.
    fn add_offences(&mut self) -> Result<(), Stop> {
        for Offence { input, what } in self.world.executor.take_offences() {
            let (kind, run) = (format!("{}: the program {what}", Offence::TITLE), self.results.stats.runs);
            let diagnosis = Diagnosis { kind, fatal: false, frames: Vec::new(), report: Vec::new() };
            let failure = Failure { kind: BugKind::Reported, last: NOWHERE, input: &input, stderr: b"", run };
            self.add_bug(&failure, Some(diagnosis))?;
        }
        Ok(())
    }

    fn add_bug(&mut self, failure: &Failure, diagnosis: Option<Diagnosis>) -> Result<(), Stop> {
        let (sighting, bug) = self.results.bugs.add(failure, diagnosis);
        if sighting == Sighting::Known {
            return Ok(());
        }
        let id = bug.id;
        // The bug was seen in a variant; what counts is the program.
        let plain = self.world.executor.run_plain(failure.input).map_err(Stop::Execution)?;
        match self.results.bugs.confirm(id, plain) {
            Some(bug) => self.world.observer.new_bug(bug, sighting).map_err(Stop::Output),
            None => Ok(()),
        }
    }

    fn note_violations(&mut self, input: &[u8], path: &PathCondition) -> Result<(), Stop> {
        for (violation, _) in self.results.violations.add(input, path) {
            self.world.observer.new_violation(&violation).map_err(Stop::Output)?;
        }
        Ok(())
    }

    fn is_suspect(&mut self, origin: &Origin, path: Option<&TracedPath>) -> bool {
        self.suspicions.deserves(origin, path.map(|path| &path.condition), self.results.stats.runs)
    }

    /// Asks for a second opinion on a run that ended well.
    fn doubt(&mut self, input: &[u8], path: Option<&TracedPath>) -> Result<(), Stop> {
        let diagnoses = self.examine(input)?;
        let last = path.map_or(NOWHERE, last_step);
        let run = self.results.stats.runs;
        let failure = Failure { kind: BugKind::Reported, last, input, stderr: b"", run };
        self.add_all(&failure, causes(None, diagnoses))
    }

    fn examine(&mut self, input: &[u8]) -> Result<Vec<Diagnosis>, Stop> {
        let started = self.world.clock.elapsed();
        let diagnoses = self.world.executor.examine(input).map_err(Stop::Execution)?;
        self.results.stats.times.examining += self.world.clock.elapsed().saturating_sub(started);
        Ok(diagnoses)
    }

    /// The last step of an untraced run that ended badly.
    fn triage(&mut self, kind: BugKind, covered: u64, input: &[u8]) -> Result<Step, Stop> {
        if let Some(&last) = self.triaged.get(&(kind, covered)) {
            return Ok(last);
        }
        let mut execution = match kind {
            BugKind::Hang => {
                self.confirm(|engine| engine.count_run(true, |executor| executor.trace_hang(input)))?
            }
            _ => self.execute(input, true)?,
        };
        let last = self.traced_path(&mut execution).map_or(NOWHERE, |path| last_step(&path));
        self.triaged.insert((kind, covered), last);
        Ok(last)
    }

    fn report(&mut self, strategy: &dyn Strategy) -> Result<(), Stop> {
        let elapsed = self.world.clock.elapsed();
        if self.world.observer.wants_state(elapsed)
            && let Some(saved) = strategy.save()
        {
            self.world.observer.state(&saved).map_err(Stop::Output)?;
        }
        if !self.world.observer.wants_progress(elapsed) {
            return Ok(());
        }
        self.count(strategy);
        self.world.observer.progress(&self.results.stats).map_err(Stop::Output)
    }

    /// Brings the statistics up to date.
    fn count(&mut self, strategy: &dyn Strategy) {
        let Results { coverage, corpus, bugs, stats, .. } = &mut self.results;
        stats.covered = coverage.covered();
        stats.outcomes = coverage.total();
        stats.corpus = corpus.entries().len();
        stats.hangs = bugs.all().iter().filter(|bug| bug.kind == BugKind::Hang).count();
        stats.bugs = bugs.all().len() - stats.hangs;
        stats.queue = strategy.queue();
        stats.times.total = self.world.clock.elapsed();
        stats.solver = crate::stats::links(self.world.solver);
    }

    fn context(&mut self) -> Context<'_> {
        Context {
            sites: self.world.sites,
            solver: self.world.solver,
            rng: &mut self.rng,
            clock: self.world.clock,
            coverage: &self.results.coverage,
            corpus: &self.results.corpus,
            stats: &mut self.results.stats,
            max_len: self.limits.max_len,
        }
    }
}

impl Results {
    pub fn new(sites: &SiteTable) -> Results {
        Results { coverage: Coverage::new(sites.outcomes), stats: Stats::new(), ..Results::default() }
    }
}

pub(crate) const NOWHERE: Step = Step { site: 0, direction: 0 };

fn last_step(path: &TracedPath) -> Step {
    last_step_of(&path.condition)
}

/// The last step of a path; the value of a concretisation is not a direction.
pub(crate) fn last_step_of(path: &PathCondition) -> Step {
    path.constraints.last().map_or(NOWHERE, |constraint| match constraint.is_concretisation() {
        true => Step { direction: 0, ..constraint.step() },
        false => constraint.step(),
    })
}

fn covered_hash(execution: &Execution) -> u64 {
    let mut hasher = DefaultHasher::new();
    execution.covered.hash(&mut hasher);
    hasher.finish()
}
