//! The loop that all strategies share: propose, run, keep the books, learn.

mod examine;
mod finds;
mod hangs;
mod keep;
mod shrink;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::hash::Hasher;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use ::shrink::Shrinker;
use path::{PathCondition, Step};
use rustc_hash::FxHasher;
use sites::SiteTable;
use solver::Chain;
use sources::Layout;

use keep::Taken;
use shrink::Shrinking;

use crate::examination::{Examinations, signature};
use crate::hangs::Hangs;
use crate::paths::Paths;
use crate::reach::Reach;
use crate::restart::restart;
use crate::returns::Work;
use crate::{
    Bug, BugKind, Bugs, Context, Corpus, Coverage, Entry, ExecError, Execution, Executor, Hits,
    Next, Origin, Outcome, Proposal, Ran, SavedSearch, Sighting, Stats, Strategy, TracedPath,
    Violation, Violations,
};

/// Time since the start of the search.
pub trait Clock {
    fn elapsed(&self) -> Duration;
}

/// Is told what was found the moment it is found. An error ends the search, with all results so
/// far.
pub trait Observer {
    fn new_entry(&mut self, entry: &Entry) -> Result<(), OutputError>;

    fn new_bug(&mut self, bug: &Bug, sighting: Sighting) -> Result<(), OutputError>;

    /// A run violated a property without a crash.
    fn new_violation(
        &mut self,
        _violation: &Violation,
        _sighting: Sighting,
    ) -> Result<(), OutputError> {
        Ok(())
    }

    /// How many bugs were found, if the search should go on no longer for that.
    fn found_enough(&self) -> Option<u32> {
        None
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

impl Limits {
    /// Whether something ends the search in any case.
    pub fn has_end(&self) -> bool {
        self.time.is_some() || self.runs.is_some()
    }
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
    /// As many bugs were found as were asked for.
    EnoughBugs(u32),
    Interrupted,
    /// The strategy has nothing left to do, and says itself what that means.
    Finished,
    /// Nothing is left to do, because nothing was left out.
    Complete,
    /// The strategy has nothing left to do, but for these reasons it did not do all that it could.
    FinishedShort(Vec<String>),
    Execution(ExecError),
    Output(OutputError),
}

impl Stop {
    pub fn is_error(&self) -> bool {
        matches!(self, Stop::Execution(_) | Stop::Output(_))
    }

    /// Whether what had to wait may be looked into.
    fn leaves_time(&self) -> bool {
        use Stop::{Complete, Finished, FinishedShort, RunsUp};
        matches!(self, RunsUp | Finished | Complete | FinishedShort(_))
    }
}

impl std::fmt::Display for Stop {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Stop::TimeUp => f.write_str("the time was up"),
            Stop::RunsUp => f.write_str("the number of runs was reached"),
            Stop::EnoughBugs(1) => f.write_str("a bug was found (--stop-on-bug)"),
            Stop::EnoughBugs(bugs) => write!(f, "{bugs} bugs were found (--stop-on-bug)"),
            Stop::Interrupted => f.write_str("interrupted"),
            Stop::Finished => f.write_str("nothing was left to try"),
            Stop::Complete => f.write_str("complete: all paths within the bounds were explored"),
            Stop::FinishedShort(reasons) => {
                write!(f, "nothing was left to try, within limits: {}", reasons.join("; "))
            }
            Stop::Execution(error) => write!(f, "the program could not be run: {error}"),
            Stop::Output(error) => write!(f, "results could not be written: {error}"),
        }
    }
}

/// What is left after a part of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    More,
    /// The strategy has nothing left to do for now.
    Finished,
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
    paths: Paths,
    reach: Reach,
    /// Last sites of untraced runs that ended badly, by what they covered; each is traced once.
    triaged: HashMap<(BugKind, u64), Last>,
    examinations: Examinations,
    hangs: Hangs,
    /// Time spent on running hangs once more.
    confirming: Duration,
    /// Last steps of hangs that were looked into, where hangs are ignored.
    ignored_hangs: HashSet<Step>,
    /// Inputs that may hang, by what they covered, for which there was no time. They have an order,
    /// because the first few are looked into at the end.
    put_off: BTreeMap<u64, Vec<u8>>,
    /// What inputs are made of, if they are containers.
    layout: Option<Layout>,
    shrinking: Shrinking<'a>,
}

/// A run, and what decides how closely it is looked at.
#[derive(Clone, Copy)]
struct RunOnce<'r> {
    input: &'r [u8],
    origin: &'r Origin,
    execution: &'r Execution,
    path: Option<&'r TracedPath>,
    /// Hash of what it covered.
    covered: u64,
    /// Of runs that need be examined only once.
    signature: u64,
    /// It covered something new.
    is_new: bool,
    /// The search says something about all paths, so that none may be passed over.
    claims: bool,
}

impl<'r> RunOnce<'r> {
    /// Of an input that has been run before.
    fn again(input: &'r [u8], execution: &'r Execution) -> RunOnce<'r> {
        let covered = covered_hash(execution);
        let signature = signature(covered, covered, input.len());
        RunOnce {
            input,
            origin: &Origin::Retrace,
            execution,
            path: None,
            covered,
            signature,
            is_new: false,
            claims: false,
        }
    }
}

/// How far time and coverage are.
#[derive(Clone, Copy)]
struct Books {
    time: Duration,
    /// Of it, what is counted apart.
    apart: Duration,
    covered: usize,
}

/// The last step at which a run depended on its input.
#[derive(Clone, Copy, Debug)]
struct Last {
    step: Step,
    /// Whether it tells runs apart: a concretisation is the same step whatever the value is.
    is_telling: bool,
}

impl Last {
    const NOWHERE: Last = Last { step: NOWHERE, is_telling: false };

    fn of(path: &TracedPath) -> Last {
        let is_value =
            path.condition.constraints.last().is_none_or(|last| last.is_concretisation());
        Last { step: last_step(path), is_telling: !is_value }
    }
}

impl<'a> Engine<'a> {
    /// `results` holds what an earlier part of the campaign found; fresh ones are `Results::new`.
    pub fn new(world: World<'a>, limits: Limits, seed: u64, results: Results) -> Engine<'a> {
        let rng = fastrand::Rng::with_seed(seed);
        let (paths, triaged, examinations) =
            (Paths::default(), HashMap::new(), Examinations::default());
        let reach = Reach::new(world.sites);
        let (hangs, confirming) = (Hangs::default(), Duration::ZERO);
        let (ignored_hangs, put_off) = Default::default();
        Engine {
            world,
            limits,
            rng,
            results,
            paths,
            reach,
            triaged,
            examinations,
            hangs,
            confirming,
            ignored_hangs,
            put_off,
            layout: None,
            shrinking: Shrinking::default(),
        }
    }

    /// All inputs are containers of this layout.
    pub fn with_layout(mut self, layout: Option<Layout>) -> Engine<'a> {
        self.results.bugs = self.results.bugs.of_layout(layout.clone());
        Engine { layout, ..self }
    }

    /// The inputs of bugs are made smaller meanwhile.
    pub fn with_shrinker(self, shrinker: Option<Box<dyn Shrinker + 'a>>) -> Engine<'a> {
        Engine { shrinking: Shrinking::by(shrinker), ..self }
    }

    /// Runs the seeds, then what the strategy proposes, until a limit is reached.
    pub fn search(mut self, strategy: &mut dyn Strategy, seeds: Vec<Seed>) -> (Results, Stop) {
        let stop = self.seeds(strategy, seeds).and_then(|()| self.propose(strategy));
        let stop = stop.err().unwrap_or_else(|| self.finished(strategy));
        let mut stop = self.true_reason(stop);
        if stop.leaves_time() {
            let rest = self.look_into_rest().and_then(|()| self.examine_rest());
            let rest = rest.and_then(|()| self.shrink_rest());
            stop = self.true_reason(rest.err().unwrap_or(stop));
        }
        self.count(strategy);
        (self.results, stop)
    }

    /// An interrupt ends runs that are going on, which then cannot be told from others that fail.
    fn true_reason(&self, stop: Stop) -> Stop {
        match stop {
            Stop::Execution(_) if self.world.stop.load(Ordering::Relaxed) => Stop::Interrupted,
            other => other,
        }
    }

    fn seeds(&mut self, strategy: &mut dyn Strategy, seeds: Vec<Seed>) -> Result<(), Stop> {
        for Seed { name, input } in seeds {
            self.check_limits()?;
            let books = self.books();
            self.run(strategy, Proposal { input, symbolic: true, origin: Origin::Seed(name) })?;
            self.book(Work::SEEDS, books);
        }
        Ok(())
    }

    fn propose(&mut self, strategy: &mut dyn Strategy) -> Result<(), Stop> {
        while self.step(strategy)? == Progress::More {}
        Ok(())
    }

    /// A part of a search: at most this many pieces of work of the strategy, which brings its seeds
    /// itself. Others may have their turn before the next part.
    pub fn advance(&mut self, strategy: &mut dyn Strategy, steps: usize) -> Result<Progress, Stop> {
        for _ in 0..steps {
            if self.step(strategy)? == Progress::Finished {
                return Ok(Progress::Finished);
            }
        }
        Ok(Progress::More)
    }

    /// The books between two parts of a search.
    pub fn results(&mut self, strategy: &dyn Strategy) -> &Results {
        self.count(strategy);
        &self.results
    }

    /// For runs between two parts of a search, of which its books know nothing.
    pub fn executor(&mut self) -> &mut dyn Executor {
        &mut *self.world.executor
    }

    fn step(&mut self, strategy: &mut dyn Strategy) -> Result<Progress, Stop> {
        self.check_limits()?;
        let books = self.books();
        let next = strategy.next(&mut self.context());
        let work = Work::of(&next);
        let progress = self.take(strategy, next);
        self.book(work, books);
        progress
    }

    fn take(&mut self, strategy: &mut dyn Strategy, next: Next) -> Result<Progress, Stop> {
        match next {
            Next::Run(proposal) if self.is_shunned(strategy, &proposal) => {
                self.shun(strategy, &proposal)?;
            }
            Next::Run(proposal) => self.run(strategy, proposal)?,
            Next::Busy => self.report(strategy)?,
            Next::Finished if self.goes_on_at_random(strategy) => {
                let proposal = restart(strategy.holes(), &mut self.context());
                self.run(strategy, proposal)?;
            }
            Next::Finished => return Ok(Progress::Finished),
        }
        Ok(Progress::More)
    }

    /// What a step is measured by.
    fn books(&self) -> Books {
        Books {
            time: self.world.clock.elapsed(),
            apart: self.examining() + self.confirming + self.shrinking.apart,
            covered: self.results.coverage.covered(),
        }
    }

    fn book(&mut self, work: Work, before: Books) {
        let now = self.books();
        let time = now.time.saturating_sub(before.time);
        let apart = now.apart.saturating_sub(before.apart);
        let outcomes = now.covered.saturating_sub(before.covered) as u64;
        let found_by = self.world.solver.found_by();
        let returns = &mut self.results.stats.returns;
        returns.book(work, time.saturating_sub(apart), outcomes, found_by);
    }

    pub(crate) fn is_interrupted(&self) -> bool {
        self.world.stop.load(Ordering::Relaxed)
    }

    /// Why the strategy has nothing left to do.
    fn finished(&self, strategy: &dyn Strategy) -> Stop {
        let reasons = self.results.stats.shortfalls();
        match reasons.is_empty() {
            _ if strategy.accounts_for_all() => Stop::Finished,
            true if strategy.covers_all_paths() => Stop::Complete,
            true => Stop::Finished,
            false => Stop::FinishedShort(reasons),
        }
    }

    /// Whether the search goes on although its strategy has nothing left to do: not where that is
    /// everything, and not without an end.
    fn goes_on_at_random(&self, strategy: &dyn Strategy) -> bool {
        self.limits.has_end()
            && strategy.takes_any_input()
            && !self.results.stats.shortfalls().is_empty()
    }

    /// Whether an input is left out because it would probably not end.
    fn is_shunned(
        &mut self,
        strategy: &dyn Strategy,
        Proposal { input, origin, .. }: &Proposal,
    ) -> bool {
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
        let outcome = Outcome::Timeout;
        let ran = Ran {
            input,
            origin,
            outcome,
            new_outcomes: 0,
            covered: 0,
            hits: Hits::default(),
            path: None,
        };
        strategy.learn(ran, &mut self.context());
        self.report(strategy)
    }

    fn check_limits(&self) -> Result<(), Stop> {
        if self.world.stop.load(Ordering::Relaxed) {
            return Err(Stop::Interrupted);
        }
        if let Some(bugs) = self.world.observer.found_enough() {
            return Err(Stop::EnoughBugs(bugs));
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

    fn run(&mut self, strategy: &mut dyn Strategy, mut proposal: Proposal) -> Result<(), Stop> {
        if let Some(layout) = &self.layout {
            layout.normalise(&mut proposal.input);
        }
        let Proposal { input, symbolic, origin } = &proposal;
        self.world.executor.restrict(strategy.holes(), strategy.repetition());
        let mut execution = self.execute(input, *symbolic)?;
        self.add_offences()?;
        let covered = covered_hash(&execution);
        let Taken { path, hash, is_new: is_new_path } =
            self.path_taken(&proposal, &mut execution, covered)?;
        self.reach.add(&execution.covered, &mut self.results.stats.reached_files);
        let new_outcomes = self.results.coverage.add(&execution.covered);
        let hung = execution.outcome == Outcome::Timeout;
        self.hangs.learn(input, hung && new_outcomes == 0, execution.run_time);
        self.keep(input, origin, (new_outcomes, is_new_path), hung)?;
        let run = RunOnce {
            input,
            origin,
            execution: &execution,
            path: path.as_ref(),
            covered,
            signature: signature(hash, covered, input.len()),
            is_new: new_outcomes > 0,
            claims: strategy.accounts_for_all(),
        };
        match BugKind::of(execution.outcome) {
            Some(BugKind::Hang) => self.hang(&run)?,
            Some(kind) => self.bug(kind, &run)?,
            None => self.consider(&run)?,
        }
        if let (Outcome::Exit(_), Some(path)) = (execution.outcome, &path) {
            self.note_violations(input, &path.condition)?;
        }
        self.examine_next()?;
        self.shrink_next()?;
        let ran = Ran {
            input,
            origin,
            outcome: execution.outcome,
            new_outcomes,
            covered,
            hits: execution.hits(),
            path,
        };
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
        let time = self.world.clock.elapsed().saturating_sub(started);
        stats.times.running += time;
        stats.times.tracing += if symbolic { time } else { Duration::ZERO };
        stats.runs += 1;
        stats.unstable = self.world.executor.unstable();
        stats.believed = self.world.executor.believed();
        stats.symbolic_runs += u64::from(symbolic);
        stats.bad_traces += u64::from(execution.bad_trace.is_some());
        match execution.outcome {
            Outcome::Exit(_) => {}
            sent if sent.was_sent() => stats.told_to_end += 1,
            Outcome::Signal(_) => stats.crashes += 1,
            Outcome::Timeout => stats.timeouts += 1,
            Outcome::OutOfMemory => stats.out_of_memory += 1,
        }
        Ok(execution)
    }

    fn traced_path(&mut self, execution: &mut Execution) -> Option<TracedPath> {
        let trace = execution.trace.take()?;
        let stats = &mut self.results.stats;
        stats.add_losses(&trace.events);
        stats.add_give_ups(&trace.give_ups);
        stats.truncated_traces += u64::from(trace.truncated);
        let path = TracedPath::new(trace, self.world.sites);
        stats.add_constraints(&path.condition.constraints);
        Some(path)
    }

    /// The last step of an untraced run that ended badly.
    fn triage(&mut self, kind: BugKind, run: &RunOnce<'_>) -> Result<Last, Stop> {
        if let Some(&last) = self.triaged.get(&(kind, run.covered)) {
            return Ok(last);
        }
        let mut execution = match kind {
            BugKind::Hang => self.confirm(|engine| {
                engine.count_run(true, |executor| executor.trace_hang(run.input))
            })?,
            _ => self.execute(run.input, true)?,
        };
        let last = self.traced_path(&mut execution).map_or(Last::NOWHERE, |path| Last::of(&path));
        self.triaged.insert((kind, run.covered), last);
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
        stats.corpus = corpus.kept();
        stats.hangs = bugs.all().iter().filter(|bug| bug.kind == BugKind::Hang).count();
        stats.bugs = bugs.all().len() - stats.hangs;
        stats.queue = strategy.queue();
        stats.unexamined = self.examinations.left();
        stats.times.total = self.world.clock.elapsed();
        stats.solver = crate::stats::links(self.world.solver, &stats.returns);
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
            has_end: self.limits.has_end(),
            only_runs_end_it: self.limits.time.is_none() && self.limits.runs.is_some(),
        }
    }
}

impl Results {
    pub fn new(sites: &SiteTable) -> Results {
        Results {
            coverage: Coverage::new(sites.outcomes),
            stats: Stats::new(),
            ..Results::default()
        }
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
    let mut hasher = FxHasher::default();
    // To this hasher, zeros at the beginning are nothing.
    hasher.write_usize(execution.covered.len());
    execution.covered.iter().for_each(|outcome| hasher.write_u32(*outcome));
    hasher.finish()
}
