//! Whitebox search: solve for inputs that leave known paths.
//!
//! Generational search (SAGE): every constraint of a run from its *bound* on is a flip to try; a child's bound is
//! one past the constraint that was flipped, so no path is derived twice. Flips wait in one worklist for all runs
//! and are solved when their turn comes; those of runs that did something new come first (see `novelty`). A set of hashes of path prefixes remembers which sides were already
//! explored from which prefix, so that several seeds, or a resumed campaign, do not repeat work.
//!
//! Every answer of the solver is checked by running it: a run that does not take the predicted prefix and then the
//! flipped side is a divergence, and is counted.

mod changes;
mod completeness;
mod goal;
mod hard;
mod names;
mod novelty;
mod question;
mod shares;
mod store;
mod tokens;
mod within;
mod worklist;

use std::collections::{BTreeSet, VecDeque};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;
use std::time::Duration;

use path::{Constraint, Purpose, Step};
use rustc_hash::{FxHashMap, FxHashSet};
use sites::SiteTable;
use solver::Effort;

use changes::Changes;
pub use completeness::Completeness;
use goal::{Goal, Solution, solve, solve_other_value};
use hard::{Hard, Turn};
use names::Names;
use novelty::Novelty;
use shares::Shares;
use store::{Live, Store};
use within::{Flip, solve_within};
use worklist::{Buckets, Candidate, Target, Worklist, thin_out};

use crate::{
    BugKind, Change, Claim, Context, Ending, Next, Origin, Proposal, Ran, SavedSearch, Sentences, Strategy,
    TracedPath,
};

#[derive(Clone, Debug)]
pub struct WhiteboxOptions {
    pub order: Order,
    /// Explore all paths: drop nothing, and account for what stands against a claim of completeness.
    pub exhaustive: bool,
    /// Constraints beyond this depth are not flipped.
    pub max_depth: usize,
    /// Bytes of traces to keep.
    pub trace_memory: usize,
    /// Try again without the constraints of concretisations when the strict query has no answer.
    pub optimistic: bool,
    /// Bytes that are symbolic, the others and the length being fixed; `None`: everything is symbolic.
    pub holes: Option<Vec<Range<usize>>>,
    /// Where no sentence of the language reaches a side that was never taken, take an answer that is none.
    pub outside: bool,
}

impl Default for WhiteboxOptions {
    fn default() -> WhiteboxOptions {
        WhiteboxOptions {
            order: Order::Generational,
            exhaustive: false,
            max_depth: usize::MAX,
            trace_memory: 512 << 20,
            optimistic: true,
            outside: false,
            holes: None,
        }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    #[default]
    Generational,
    DepthFirst,
}

/// Flips per target that wait, unless the search is exhaustive.
const BUCKET: usize = 4096;

/// Steps of runs that are remembered as explored. Beyond it, runs with a common prefix may repeat each other's flips.
const EXPLORED: usize = 16 << 20;

/// Bytes of waiting inputs that are saved for a later session.
const SAVED_BYTES: usize = 64 << 20;

/// Stands for "any other value" as the direction of a concretisation.
const OTHER_VALUE: u32 = u32::MAX;

/// Values of one concretisation that an exhaustive search goes through.
const MOST_VALUES: usize = 256;

pub struct Whitebox<'s> {
    options: WhiteboxOptions,
    /// The language that answers must belong to.
    sentences: Option<Box<dyn Sentences + 's>>,
    store: Store,
    worklist: Worklist,
    /// Prefixes that were run or solved for; see [`Step::after`].
    explored: FxHashSet<u64>,
    /// The same from earlier sessions. Runs that are made again in this one are expanded all the same, because some
    /// of their flips may not have been tried.
    earlier: FxHashSet<u64>,
    /// Directions taken at sites that coverage does not count.
    taken: FxHashSet<Step>,
    /// Inputs that were run.
    inputs: FxHashSet<u64>,
    expected: Option<Expected>,
    /// A flip whose trace was just brought back.
    ready: Option<Turn>,
    /// The values that concretisations had, by the path before them. Only an exhaustive search looks for others.
    values: FxHashMap<u64, BTreeSet<u64>>,
    novelty: Novelty,
    hard: Hard,
    /// Of sentences, where the search is within a language.
    changes: Changes,
    names: Names,
    /// Changed sentences whose runs deserve a trace.
    untraced: VecDeque<Vec<u8>>,
    /// No new sentence was found any more.
    exhausted: bool,
    /// Changed sentences that had new tokens together and nothing else new.
    unremarkable: u64,
    shares: Shares,
    completeness: Completeness,
}

/// What the run that was proposed last is for.
enum Expected {
    Flip {
        candidate: Candidate,
        hash: u64,
        optimistic: bool,
        violation: bool,
    },
    /// The first `index` constraints should come again; their hash is given.
    OtherValue {
        index: usize,
        hash: u64,
    },
    /// A change of tokens of a run, or a new sentence; the first `index` constraints should come again, whose hash is given.
    Change {
        run: Option<u32>,
        prefix: Option<(usize, u64)>,
    },
    Retrace(Turn),
}

impl<'s> Whitebox<'s> {
    pub fn new(options: WhiteboxOptions) -> Whitebox<'s> {
        let worklist = match options.order {
            Order::Generational => {
                Worklist::Generational(Buckets::new((!options.exhaustive).then_some(BUCKET)))
            }
            Order::DepthFirst => Worklist::DepthFirst(Vec::new()),
        };
        Whitebox {
            store: Store::new(options.trace_memory),
            worklist,
            explored: FxHashSet::default(),
            earlier: FxHashSet::default(),
            taken: FxHashSet::default(),
            inputs: FxHashSet::default(),
            expected: None,
            ready: None,
            values: FxHashMap::default(),
            novelty: Novelty::default(),
            hard: Hard::new(BUCKET),
            changes: Changes::default(),
            names: Names::default(),
            untraced: VecDeque::new(),
            exhausted: false,
            unremarkable: 0,
            shares: Shares::default(),
            completeness: Completeness::default(),
            sentences: None,
            options,
        }
    }

    /// Proposes sentences of a language only.
    pub fn within(options: WhiteboxOptions, sentences: impl Sentences + 's) -> Whitebox<'s> {
        Whitebox { sentences: Some(Box::new(sentences)), ..Whitebox::new(options) }
    }

    /// What can be claimed about the paths explored; only an exhaustive search accounts for all of it.
    pub fn completeness(&self) -> &Completeness {
        &self.completeness
    }

    /// Time that went into hard flips; a search that follows on this one goes on counting.
    pub fn hard_time(&self) -> Duration {
        self.hard.spent()
    }

    pub fn with_hard_time(mut self, spent: Duration) -> Whitebox<'s> {
        self.hard.spend(spent);
        self
    }

    /// Whether inputs of another length may be made that no path condition asks for.
    fn follows_words(&self) -> bool {
        !self.options.exhaustive && self.options.holes.is_none() && self.options.order == Order::Generational
    }

    fn pop(&mut self, context: &Context<'_>) -> Option<Turn> {
        let Whitebox { taken, hard, worklist, .. } = self;
        let wanted = |target: &Target| is_wanted(target, context, taken);
        let first = |candidate| Turn { candidate, second: false };
        let second = |candidate| Turn { candidate, second: true };
        let ready = self.ready.take();
        ready
            .or_else(|| hard.pop_due(context.clock.elapsed(), wanted).map(second))
            .or_else(|| worklist.pop(wanted).map(first))
            .or_else(|| hard.pop(wanted).map(second))
    }

    fn attempt(&mut self, turn: Turn, context: &mut Context<'_>) -> Next {
        let candidate = turn.candidate;
        let Some(input) = self.store.input(candidate.run).map(<[u8]>::to_vec) else { return Next::Busy };
        let Some(live) = self.store.live(candidate.run) else {
            self.expected = Some(Expected::Retrace(turn));
            return Next::Run(Proposal { input, symbolic: true, origin: Origin::Retrace });
        };
        let Some(goal) = Goal::new(live, candidate) else { return self.done(candidate) };
        if candidate.direction == OTHER_VALUE {
            return self.attempt_other_value(candidate, &goal, &input, context);
        }
        if !self.explored.insert(goal.hash) && !turn.second {
            context.stats.known_flips += 1;
            return self.done(candidate);
        }
        let postpones = !self.options.exhaustive && self.options.order == Order::Generational && !turn.second;
        let hurries = postpones || self.options.exhaustive && self.hard.is_over(context.clock.elapsed());
        let effort = if hurries { Effort::Quick } else { Effort::Full };
        let target = target_of(&live.constraints[goal.index], goal.step.direction, context.sites);
        let started = context.clock.elapsed();
        let optimistic = self.options.optimistic;
        let solution = match &mut self.sentences {
            Some(sentences) => {
                let wanted = is_wanted(&target, context, &self.taken);
                let outside = self.options.outside && wanted;
                let is_new = |text: &[u8]| !self.inputs.contains(&hash_of(text));
                let flip = Flip { goal: &goal, input: &input, live, optimistic, wanted, outside };
                solve_within(&mut **sentences, flip, effort, &is_new, context)
            }
            None => {
                context.solver.effort = effort;
                solve(live, &goal, &input, optimistic, context)
            }
        };
        if turn.second || self.options.exhaustive && solution.unknown {
            self.hard.spend(context.clock.elapsed().saturating_sub(started));
        }
        if postpones && solution.unknown {
            self.hard.push(candidate, target);
            return Next::Busy;
        }
        self.act_on(candidate, &goal, solution, context)
    }

    /// Looks for a value of a concretisation that no run with the same path before it had.
    fn attempt_other_value(
        &mut self,
        candidate: Candidate,
        goal: &Goal,
        input: &[u8],
        context: &mut Context<'_>,
    ) -> Next {
        let Some(live) = self.store.live(candidate.run) else { return self.done(candidate) };
        let known = self.values.entry(goal.hash).or_default();
        if !known.insert(live.constraints[goal.index].step().direction) {
            context.stats.known_flips += 1;
            return self.done(candidate);
        }
        let solution = solve_other_value(live, goal, input, known, context);
        self.completeness.unknown_answers += u64::from(solution.unknown);
        let too_many = known.len() >= MOST_VALUES;
        let expected = Expected::OtherValue { index: goal.index, hash: live.hashes[goal.index] };
        self.store.finished_flip(candidate.run);
        match solution.input {
            Some(_) if too_many => self.completeness.concretisations += 1,
            Some(input) if self.inputs.insert(hash_of(&input)) => {
                let origin = goal.origin(false);
                self.expected = Some(expected);
                return Next::Run(Proposal { input, symbolic: true, origin });
            }
            _ => {}
        }
        Next::Busy
    }

    fn act_on(
        &mut self,
        candidate: Candidate,
        goal: &Goal,
        solution: Solution,
        context: &Context<'_>,
    ) -> Next {
        self.completeness.unknown_answers += u64::from(solution.unknown);
        let Some(input) = solution.input else { return self.done(candidate) };
        if input.len() > context.max_len || !self.inputs.insert(hash_of(&input)) {
            return self.done(candidate);
        }
        let origin = goal.origin(solution.optimistic);
        self.expected = Some(Expected::Flip {
            candidate,
            hash: goal.hash,
            optimistic: solution.optimistic,
            violation: goal.violation,
        });
        Next::Run(Proposal { input, symbolic: true, origin })
    }

    fn done(&mut self, candidate: Candidate) -> Next {
        self.store.finished_flip(candidate.run);
        Next::Busy
    }

    /// Compares a run with its prediction and returns its bound: one past the flip, or 0 for a run that went
    /// elsewhere, of which `explored` knows the part that is not new.
    fn judge(
        &mut self,
        expected: &Expected,
        live: &Live,
        ending: Ending,
        context: &mut Context<'_>,
    ) -> usize {
        let (candidate, hash, optimistic, violation) = match *expected {
            Expected::Flip { candidate, hash, optimistic, violation } => {
                (candidate, hash, optimistic, violation)
            }
            Expected::OtherValue { index, hash } => {
                self.completeness.divergences += u64::from(live.hashes.get(index) != Some(&hash));
                return 0;
            }
            Expected::Change { prefix, .. } => {
                let parted = prefix.is_some_and(|(index, hash)| live.hashes.get(index) != Some(&hash));
                context.stats.divergences += u64::from(parted);
                return 0;
            }
            Expected::Retrace(_) => return 0,
        };
        let place = candidate.index as usize;
        let follows = live.hashes.get(place + 1) == Some(&hash);
        if optimistic {
            let step = live.constraints.get(place).map(Constraint::step);
            let confirmed = step.is_some_and(|step| step.direction == u64::from(candidate.direction));
            context.stats.optimism.confirmed += u64::from(confirmed);
        } else if !follows {
            let site = self.parting_site(candidate, live);
            *context.stats.divergence_sites.entry(site).or_default() += 1;
            context.stats.divergences += 1;
            self.completeness.divergences += 1;
        }
        if violation && follows && BugKind::of(ending).is_none() {
            context.stats.silent_violations += 1;
        }
        if follows { place + 1 } else { 0 }
    }

    /// Where a run left the path that was predicted for it.
    fn parting_site(&mut self, candidate: Candidate, live: &Live) -> u32 {
        let Some(parent) = self.store.live(candidate.run) else { return 0 };
        let common = parent.hashes.iter().zip(&live.hashes).take_while(|(a, b)| a == b).count();
        let parting = common.saturating_sub(1).min(candidate.index as usize);
        parent.constraints.get(parting).map_or(0, |constraint| constraint.site)
    }

    /// Counts what stands against completeness, unless an earlier session counted the same path.
    fn note_limits(&mut self, limits: &PathLimits, live: &Live, ending: Ending) {
        let depth = live.constraints.len().min(self.options.max_depth);
        if self.earlier.contains(&live.hashes[depth]) {
            return;
        }
        self.completeness.cut_at_depth += u64::from(live.constraints.len() > depth);
        self.completeness.truncated_traces += u64::from(limits.truncated);
        self.completeness.runs_with_give_ups += u64::from(limits.gave_up);
        self.completeness.stopped_runs += u64::from(matches!(ending, Ending::Timeout | Ending::OutOfMemory));
    }

    /// Puts the flips of a new run on the worklist.
    fn expand(
        &mut self,
        input: &[u8],
        live: Live,
        changes: Vec<Change>,
        (bound, score): (usize, usize),
        context: &mut Context<'_>,
    ) {
        let number = self.store.next_number();
        let depth = live.constraints.len().min(self.options.max_depth);
        let mut flips = Vec::new();
        for (index, constraint) in live.constraints.iter().enumerate().take(depth).skip(bound) {
            self.note_taken(constraint);
            if self.is_new_step(live.hashes[index + 1]) {
                self.flips_of(
                    constraint,
                    live.hashes[index],
                    (number, index as u32),
                    context.sites,
                    &mut flips,
                );
            }
        }
        if !self.options.exhaustive {
            let all = flips.len();
            flips = thin_out(flips);
            context.stats.dropped_flips += (all - flips.len()) as u64;
        }
        if flips.is_empty() && changes.is_empty() {
            return;
        }
        self.store.add(input, live, flips.len() + changes.len());
        for change in changes {
            if let Some(run) = self.changes.push(number, change) {
                self.store.finished_flip(run);
            }
        }
        for (candidate, target) in flips {
            self.worklist.push(candidate, target, score);
        }
        self.forget_dropped(context);
    }

    fn is_new_step(&mut self, hash: u64) -> bool {
        if self.explored.len() < EXPLORED {
            self.explored.insert(hash)
        } else {
            !self.explored.contains(&hash)
        }
    }

    fn note_taken(&mut self, constraint: &Constraint) {
        if constraint.outcome.is_none() && !constraint.is_concretisation() {
            self.taken.insert(constraint.step());
        }
    }

    fn flips_of(
        &self,
        constraint: &Constraint,
        prefix: u64,
        (run, index): (u32, u32),
        sites: &SiteTable,
        flips: &mut Vec<(Candidate, Target)>,
    ) {
        if constraint.is_concretisation() && self.options.exhaustive {
            let target =
                Target { site: constraint.site, direction: OTHER_VALUE, outcome: None, violation: false };
            flips.push((Candidate { run, index, direction: OTHER_VALUE }, target));
        }
        for direction in constraint.other_directions(sites) {
            let target = Step { site: constraint.site, direction }.after(prefix);
            if self.explored.contains(&target) || self.earlier.contains(&target) {
                continue;
            }
            let target = target_of(constraint, direction, sites);
            flips.push((Candidate { run, index, direction: direction as u32 }, target));
        }
    }

    fn forget_dropped(&mut self, context: &mut Context<'_>) {
        let dropped = self.worklist.take_dropped().into_iter().chain(self.hard.take_dropped());
        for candidate in dropped {
            context.stats.dropped_flips += 1;
            self.store.finished_flip(candidate.run);
        }
    }

    fn learn_retrace(&mut self, turn: Turn, ran: Ran<'_>, context: &mut Context<'_>) {
        context.stats.retraces += 1;
        let restored = ran.path.is_some_and(|path| self.store.restore(turn.candidate.run, Live::new(path)));
        if restored {
            self.ready = Some(turn);
        } else {
            context.stats.divergences += 1;
            self.completeness.divergences += 1;
        }
    }
}

impl Strategy for Whitebox<'_> {
    fn name(&self) -> &'static str {
        if self.sentences.is_some() { "grammar-whitebox" } else { "whitebox" }
    }

    fn next(&mut self, context: &mut Context<'_>) -> Next {
        if self.sentences.is_some() {
            return self.next_within(context);
        }
        if self.names.are_due()
            && let Some(next) = self.attempt_name(context)
        {
            return next;
        }
        if let Some(turn) = self.pop(context) {
            return self.attempt(turn, context);
        }
        self.attempt_name(context).unwrap_or_else(|| {
            self.completeness.finished = true;
            Next::Finished
        })
    }

    fn learn(&mut self, ran: Ran<'_>, context: &mut Context<'_>) {
        let expected = self.expected.take();
        if let Some(Expected::Retrace(turn)) = expected {
            return self.learn_retrace(turn, ran, context);
        }
        self.inputs.insert(hash_of(ran.input));
        if expected.is_some() {
            self.shares.found(ran.new_outcomes);
        }
        self.keep(&ran);
        if let (Some(Expected::Change { run: Some(run), .. }), None) = (&expected, &ran.path) {
            self.store.finished_flip(*run);
        }
        if ran.path.is_none() && self.sentences.is_some() {
            return self.learn_untraced(&ran);
        }
        let Some(path) = ran.path else {
            self.completeness.untraced_runs += 1;
            return;
        };
        let limits = PathLimits::of(&path);
        if self.follows_words() {
            self.names.learn(ran.input, &path.condition.words);
        }
        let live = Live::new(path);
        self.note_limits(&limits, &live, ran.ending);
        let bound = expected.as_ref().map_or(0, |expected| self.judge(expected, &live, ran.ending, context));
        let score = self.novelty.score(&live.constraints, ran.new_outcomes);
        if self.sentences.is_some() {
            self.expand_sentence((ran.input, ran.ending), live, (bound, score), context);
        } else {
            self.expand(ran.input, live, Vec::new(), (bound, score), context);
        }
        match expected {
            Some(Expected::Flip { candidate, .. }) => self.store.finished_flip(candidate.run),
            Some(Expected::Change { run: Some(run), .. }) => self.store.finished_flip(run),
            _ => {}
        }
    }

    fn holes(&self) -> Option<&[Range<usize>]> {
        self.options.holes.as_deref()
    }

    fn claim(&self) -> Option<Claim> {
        self.options.exhaustive.then(|| Claim::about_paths(self.completeness.clone()))
    }

    fn queue(&self) -> usize {
        self.worklist.len() + self.hard.len() + self.changes.len() + self.names.len()
    }

    fn save(&self) -> Option<SavedSearch> {
        let mut explored: Vec<u64> = self.explored.union(&self.earlier).copied().collect();
        explored.sort_unstable();
        let mut room = SAVED_BYTES;
        let fits = |input: &&[u8]| {
            room = room.saturating_sub(input.len());
            room > 0
        };
        let waiting = self.store.inputs().into_iter().take_while(fits).map(<[u8]>::to_vec).collect();
        Some(SavedSearch { explored, waiting, completeness: self.completeness.clone(), enumeration: None })
    }

    fn restore(&mut self, saved: &SavedSearch) {
        self.earlier.extend(&saved.explored);
        self.completeness = Completeness { finished: false, ..saved.completeness.clone() };
    }
}

fn target_of(constraint: &Constraint, direction: u64, sites: &SiteTable) -> Target {
    Target {
        site: constraint.site,
        direction: direction as u32,
        outcome: constraint.outcome_of(direction, sites),
        violation: constraint.purpose(direction) != Purpose::Cover,
    }
}

/// A side that was never taken, or a property that was never violated.
fn is_wanted(target: &Target, context: &Context<'_>, taken: &FxHashSet<Step>) -> bool {
    match target.outcome {
        Some(outcome) => !context.coverage.has(outcome),
        None if target.direction == OTHER_VALUE => false,
        None => !taken.contains(&Step { site: target.site, direction: u64::from(target.direction) }),
    }
}

/// What a trace does not show of its run.
struct PathLimits {
    truncated: bool,
    gave_up: bool,
}

impl PathLimits {
    fn of(path: &TracedPath) -> PathLimits {
        PathLimits { truncated: path.truncated, gave_up: path.give_ups.iter().any(|&count| count > 0) }
    }
}

fn hash_of<T: Hash + ?Sized>(input: &T) -> u64 {
    let mut hasher = DefaultHasher::new();
    input.hash(&mut hasher);
    hasher.finish()
}
