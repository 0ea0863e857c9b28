//! The loop that all strategies share: propose, run, keep the books, learn.

mod hangs;

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use path::{PathCondition, Step};
use sites::SiteTable;
use solver::Chain;

use crate::examination::{Examinations, signature};
use crate::hangs::Hangs;
use crate::judgement::causes;
use crate::reach::Reach;
use crate::{
    Bug, BugKind, Bugs, Context, Corpus, Coverage, Diagnosis, Ending, Entry, ExecError, Execution, Executor,
    Failure, Growth, Mutate, Next, Offence, Origin, Proposal, Ran, Random, SavedSearch, Sighting, Stats,
    Strategy, TracedPath, Violation, Violations,
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
    /// The strategy has nothing left to do, but for these reasons it did not do all that it could.
    FinishedShort(Vec<String>),
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
            Stop::FinishedShort(reasons) => {
                write!(f, "nothing was left to try, within limits: {}", reasons.join("; "))
            }
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
    examinations: Examinations,
    hangs: Hangs,
    /// Time spent on running hangs once more.
    confirming: Duration,
}

impl<'a> Engine<'a> {
    /// `results` holds what an earlier part of the campaign found; fresh ones are `Results::new`.
    pub fn new(world: World<'a>, limits: Limits, seed: u64, results: Results) -> Engine<'a> {
        let rng = fastrand::Rng::with_seed(seed);
        let (paths, triaged, examinations) = (HashSet::new(), HashMap::new(), Examinations::default());
        let reach = Reach::new(world.sites);
        let (hangs, confirming) = (Hangs::default(), Duration::ZERO);
        Engine { world, limits, rng, results, paths, reach, triaged, examinations, hangs, confirming }
    }

    /// Runs the seeds, then what the strategy proposes, until a limit is reached.
    pub fn search(mut self, strategy: &mut dyn Strategy, seeds: Vec<Seed>) -> (Results, Stop) {
        let stop = self.seeds(strategy, seeds).and_then(|()| self.propose(strategy));
        let mut stop = stop.err().unwrap_or_else(|| self.finished(strategy));
        if matches!(stop, Stop::Finished | Stop::FinishedShort(_) | Stop::RunsUp) {
            stop = self.examine_rest().err().unwrap_or(stop);
        }
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
                Next::Run(proposal) if self.is_shunned(strategy, &proposal) => {
                    self.shun(strategy, &proposal)?;
                }
                Next::Run(proposal) => self.run(strategy, proposal)?,
                Next::Busy => self.report(strategy)?,
                Next::Finished if self.goes_on_at_random(strategy) => {
                    let proposal = self.random_input();
                    self.run(strategy, proposal)?;
                }
                Next::Finished => return Ok(()),
            }
        }
    }

    /// Why the strategy has nothing left to do.
    fn finished(&self, strategy: &dyn Strategy) -> Stop {
        let reasons = self.results.stats.shortfalls();
        // A search that accounts for everything says so itself.
        if reasons.is_empty() || strategy.accounts_for_all() {
            Stop::Finished
        } else {
            Stop::FinishedShort(reasons)
        }
    }

    /// Whether the search goes on although its strategy has nothing left to do: not where that is everything, and not
    /// without an end.
    fn goes_on_at_random(&self, strategy: &dyn Strategy) -> bool {
        let has_end = self.limits.time.is_some() || self.limits.runs.is_some();
        has_end && strategy.takes_any_input() && !self.results.stats.shortfalls().is_empty()
    }

    /// An input that may lead to where no flip led: mostly a change of one that was found.
    fn random_input(&mut self) -> Proposal {
        const RANDOM_ONE_IN: u32 = 8;
        self.results.stats.restarts += 1;
        let next = match self.rng.u32(0..RANDOM_ONE_IN) {
            0 => Random.next(&mut self.context()),
            _ => Mutate::default().next(&mut self.context()),
        };
        let (input, origin) = match next {
            Next::Run(Proposal { input, origin, .. }) => (input, origin),
            Next::Busy | Next::Finished => (Vec::new(), Origin::Random),
        };
        Proposal { input, symbolic: true, origin }
    }

    /// Whether an input is left out because it would probably not end.
    fn is_shunned(&mut self, strategy: &dyn Strategy, Proposal { input, origin, .. }: &Proposal) -> bool {
        let is_needed = matches!(origin, Origin::Retrace | Origin::Violation { .. });
        !is_needed && !strategy.accounts_for_all() && self.hangs.expects(input)
    }

    /// The strategy learns what was expected of the run.
    fn shun(
        &mut self,
        strategy: &mut dyn Strategy,
        Proposal { input, origin, .. }: &Proposal,
    ) -> Result<(), Stop> {
        self.results.stats.shunned += 1;
        let ending = Ending::Timeout;
        let ran = Ran { input, origin, ending, new_outcomes: 0, covered: 0, path: None };
        strategy.learn(ran, &mut self.context());
        self.report(strategy)
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
        let hung = execution.ending == Ending::Timeout;
        self.hangs.learn(input, hung && new_outcomes == 0, execution.run_time);
        self.keep(input, origin, (new_outcomes, hung))?;
        match BugKind::of(execution.ending) {
            Some(kind) => self.bug(kind, input, &execution, path.as_ref(), covered)?,
            None => {
                let claims = strategy.accounts_for_all();
                let signature = signature(hash, covered, input.len());
                self.consider(&proposal, path.as_ref(), signature, (new_outcomes > 0, claims))?;
            }
        }
        if let (Ending::Exit(_), Some(path)) = (execution.ending, &path) {
            self.note_violations(input, &path.condition)?;
        }
        self.examine_next()?;
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

    fn keep(
        &mut self,
        input: &[u8],
        origin: &Origin,
        (new_outcomes, hung): (usize, bool),
    ) -> Result<(), Stop> {
        if new_outcomes == 0 {
            return Ok(());
        }
        let (seconds, covered) = (self.world.clock.elapsed().as_secs_f64(), self.results.coverage.covered());
        let stats = &mut self.results.stats;
        stats.growth.push(Growth { run: stats.runs, seconds, covered });
        let entry = self.results.corpus.add(input, origin, new_outcomes, (self.results.stats.runs, hung));
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

    /// Asks for a second opinion on a run that ended well, now or later. Of a search that claims something about all paths, each
    /// run is examined. Where it says nothing about its path, each kind of run is.
    fn consider(
        &mut self,
        Proposal { input, origin, .. }: &Proposal,
        path: Option<&TracedPath>,
        signature: u64,
        (is_new, claims): (bool, bool),
    ) -> Result<(), Stop> {
        if !self.world.executor.can_examine() || *origin == Origin::Retrace {
            return Ok(());
        }
        let is_known = path.is_none() && self.examinations.knows(signature);
        if self.examinations.is_urgent(origin, path) || is_new || claims && !is_known {
            self.examinations.examined(signature, input.len());
            return self.doubt(input, path);
        }
        if claims {
            self.examinations.leave_out();
        }
        self.examinations.offer(input, signature, path);
        Ok(())
    }

    /// Examines one of the inputs that wait for it, if that is due.
    fn examine_next(&mut self) -> Result<(), Stop> {
        match self.examinations.next(self.world.clock.elapsed(), self.results.stats.runs) {
            Some(input) => self.examine_waiting(&input),
            None => Ok(()),
        }
    }

    /// Nothing else is left to do: examines what still waits, as far as there is time.
    fn examine_rest(&mut self) -> Result<(), Stop> {
        let is_time = |engine: &Self| !matches!(engine.check_limits(), Err(Stop::TimeUp | Stop::Interrupted));
        while is_time(self) {
            let (elapsed, runs) = (self.world.clock.elapsed(), self.results.stats.runs);
            let Some(input) = self.examinations.next_of_rest(elapsed, runs) else { break };
            self.examine_waiting(&input)?;
        }
        Ok(())
    }

    fn examine_waiting(&mut self, input: &[u8]) -> Result<(), Stop> {
        let (started, bugs) = (self.world.clock.elapsed(), self.results.bugs.all().len());
        self.doubt(input, None)?;
        let time = self.world.clock.elapsed().saturating_sub(started);
        self.examinations.spend(time, self.results.bugs.all().len() > bugs);
        Ok(())
    }

    /// Has an input examined whose run ended well.
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
        self.results.stats.examined += u64::from(self.world.executor.can_examine());
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
        stats.unexamined = self.examinations.left();
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
