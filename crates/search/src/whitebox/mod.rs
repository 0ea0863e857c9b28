//! Whitebox search: solve for inputs that leave known paths.
//!
//! Generational search (SAGE): every constraint of a run from its *bound* on is a flip to try; a
//! child's bound is one past the constraint that was flipped, so no path is derived twice. Flips
//! wait in one worklist for all runs and are solved when their turn comes; those of runs that did
//! something new come first (see `novelty`). A set of hashes of path prefixes remembers which sides
//! were already explored from which prefix, so that several seeds, or a resumed campaign, do not
//! repeat work.
//!
//! Every answer of the solver is checked by running it: a run that does not take the predicted
//! prefix and then the flipped side is a divergence, and is counted.

mod attempt;
mod back;
mod changes;
mod completeness;
mod dropped;
mod expand;
mod goal;
mod hard;
mod judge;
mod loops;
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

use path::Step;
use rustc_hash::{FxHashMap, FxHashSet};

use back::Back;
use changes::Changes;
pub use completeness::Completeness;
use dropped::Dropped;
use expand::Plan;
use hard::{Hard, Turn};
use judge::PathLimits;
use loops::Loops;
use names::Names;
use novelty::Novelty;
use shares::Shares;
use store::{Live, Store};
use worklist::{Buckets, Candidate, Worklist};

use crate::{Claim, Context, Next, Outcome, Ran, SavedSearch, Sentences, Strategy};

#[derive(Clone, Debug)]
pub struct WhiteboxOptions {
    pub order: Order,
    /// Explore all paths: drop nothing, and account for what stands against a claim of
    /// completeness.
    pub exhaustive: bool,
    /// Constraints beyond this depth are not flipped.
    pub max_depth: usize,
    /// Bytes of traces to keep.
    pub trace_memory: usize,
    /// Try again without the constraints of concretisations when the strict query has no answer.
    pub optimistic: bool,
    /// Bytes that are symbolic, the others and the length being fixed; `None`: everything is
    /// symbolic.
    pub holes: Option<Vec<Range<usize>>>,
    /// Where no sentence of the language reaches a side that was never taken, take an answer that
    /// is none.
    pub outside: bool,
    /// A part of what the program does is not in the traces, so that nothing can be said about all
    /// of its paths.
    pub overlooks: bool,
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
            overlooks: false,
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

/// Bytes of waiting inputs that are saved for a later session.
const SAVED_BYTES: usize = 64 << 20;

pub struct Whitebox<'s> {
    options: WhiteboxOptions,
    /// The language that answers must belong to.
    sentences: Option<Box<dyn Sentences + 's>>,
    store: Store,
    worklist: Worklist,
    /// Prefixes that were run or solved for; see [`Step::after`].
    explored: FxHashSet<u64>,
    /// The same from earlier sessions. Runs that are made again in this one are expanded all the
    /// same, because some of their flips may not have been tried.
    earlier: FxHashSet<u64>,
    /// What waited in earlier sessions and was not run again so far.
    restored: BTreeSet<Vec<u8>>,
    /// Directions taken at sites that coverage does not count.
    taken: FxHashSet<Step>,
    /// Inputs that were run.
    inputs: FxHashSet<u64>,
    expected: Option<Expected>,
    /// A flip whose trace was just brought back.
    ready: Option<Turn>,
    back: Back,
    /// The values that concretisations had, by the path before them. Only an exhaustive search
    /// looks for others, unless they are targets of calls and jumps.
    values: FxHashMap<u64, BTreeSet<u64>>,
    novelty: Novelty,
    hard: Hard,
    /// Of sentences, where the search is within a language.
    changes: Changes,
    names: Names,
    loops: Loops,
    /// The last change that was looked at was one of tokens, not of words.
    changed_last: bool,
    /// Changed sentences whose runs deserve a trace.
    untraced: VecDeque<Vec<u8>>,
    dropped: Dropped,
    /// Sentences that were traced after no new one was found any more.
    traced: FxHashSet<u64>,
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
        /// It was left open by a quick attempt.
        second: bool,
    },
    /// The first `index` constraints should come again; their hash is given.
    OtherValue {
        index: usize,
        hash: u64,
    },
    /// A change of tokens of a run, or a new sentence; the first `index` constraints should come
    /// again, whose hash is given.
    Change {
        run: Option<u32>,
        prefix: Option<(usize, u64)>,
    },
    /// A loop that is left after another number of rounds.
    Rounds {
        site: u32,
        number: u64,
    },
    Retrace(Turn),
    /// The flips of a run that were dropped.
    Dropped,
}

impl<'s> Whitebox<'s> {
    pub const NAME: &'static str = "whitebox";
    /// Of a search within a language.
    pub const NAME_WITHIN: &'static str = "grammar-whitebox";

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
            restored: BTreeSet::new(),
            taken: FxHashSet::default(),
            inputs: FxHashSet::default(),
            expected: None,
            ready: None,
            back: Back::default(),
            values: FxHashMap::default(),
            novelty: Novelty::default(),
            hard: Hard::new(BUCKET),
            changes: Changes::default(),
            names: Names::default(),
            loops: Loops::default(),
            changed_last: false,
            untraced: VecDeque::new(),
            dropped: Dropped::default(),
            traced: FxHashSet::default(),
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

    /// What can be claimed about the paths explored; only an exhaustive search accounts for all of
    /// it.
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

    fn end(&mut self, context: &mut Context<'_>) -> Next {
        self.completeness.finished = true;
        context.stats.earlier_sessions = u64::from(!self.earlier.is_empty());
        context.stats.overlooked = u64::from(self.options.overlooks);
        Next::Finished
    }

    /// Whether inputs of another length may be made that no path condition asks for.
    fn follows_words(&self) -> bool {
        !self.options.exhaustive
            && self.options.holes.is_none()
            && self.options.order == Order::Generational
    }
}

impl Strategy for Whitebox<'_> {
    fn name(&self) -> &'static str {
        if self.sentences.is_some() { Whitebox::NAME_WITHIN } else { Whitebox::NAME }
    }

    fn next(&mut self, context: &mut Context<'_>) -> Next {
        if self.sentences.is_some() {
            return self.next_within(context);
        }
        if let Some(next) = self.restart_between(context) {
            return next;
        }
        if self.names.are_due()
            && let Some(next) = self.attempt_name(context)
        {
            return next;
        }
        if self.loops.are_due()
            && let Some(next) = self.attempt_loop(context)
        {
            return next;
        }
        if let Some(turn) = self.pop(context) {
            return self.attempt(turn, context);
        }
        self.attempt_loop(context)
            .or_else(|| self.attempt_name(context))
            .or_else(|| self.take_up_dropped(context))
            .unwrap_or_else(|| self.end(context))
    }

    fn learn(&mut self, ran: Ran<'_>, context: &mut Context<'_>) {
        let expected = self.expected.take();
        if let Some(Expected::Retrace(turn)) = expected {
            return self.learn_retrace(turn, ran, context);
        }
        self.inputs.insert(hash_of(ran.input));
        if ran.path.is_some() || !matches!(ran.outcome, Outcome::Exit(_)) {
            self.restored.remove(ran.input);
        }
        if expected.is_some() {
            self.shares.found(ran.new_outcomes);
        }
        if ran.new_outcomes > 0 && matches!(expected, Some(Expected::Flip { second: true, .. })) {
            self.hard.found();
        }
        self.keep(&ran);
        if let (Some(Expected::Change { run: Some(run), .. }), None) = (&expected, &ran.path) {
            self.store.finished_flip(*run);
        }
        if ran.path.is_none() && self.sentences.is_some() {
            return self.learn_untraced(&ran);
        }
        if let (Some(Expected::Rounds { site, number }), Outcome::Timeout) =
            (&expected, ran.outcome)
        {
            self.loops.took_too_long(*site, *number);
        }
        let Some(path) = ran.path else {
            self.completeness.untraced_runs += 1;
            if let Some(Expected::Flip { candidate, .. }) = expected {
                self.store.finished_flip(candidate.run);
            }
            return;
        };
        let limits = PathLimits::of(&path);
        if self.follows_words() {
            self.learn_words(ran.input, &path.condition.words, context);
            if self.sentences.is_none() {
                self.learn_loops(ran.input, &path, context);
            }
        }
        let live = Live::new(path);
        self.note_limits(&limits, &live, ran.outcome);
        let bound = expected
            .as_ref()
            .map_or(0, |expected| self.judge(expected, &live, ran.outcome, context));
        let score = self.novelty.score(&live.constraints, ran.new_outcomes);
        if self.sentences.is_some() {
            self.expand_sentence((ran.input, ran.outcome), live, (bound, score), context);
        } else {
            let back = self.way_back(expected.as_ref(), bound, &live, context);
            let again = matches!(expected, Some(Expected::Dropped));
            let plan = Plan { bound, score, back, again, ..Plan::default() };
            self.expand(ran.input, live, plan, context);
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

    fn accounts_for_all(&self) -> bool {
        self.options.exhaustive
    }

    fn covers_all_paths(&self) -> bool {
        self.sentences.is_none()
    }

    fn takes_any_input(&self) -> bool {
        !self.options.exhaustive && self.sentences.is_none()
    }

    fn queue(&self) -> usize {
        self.worklist.len()
            + self.hard.len()
            + self.changes.len()
            + self.names.len()
            + self.loops.len()
    }

    fn save(&self) -> Option<SavedSearch> {
        let mut explored: Vec<u64> = self.explored.union(&self.earlier).copied().collect();
        explored.sort_unstable();
        let mut room = SAVED_BYTES;
        let fits = |input: &&[u8]| {
            room = room.saturating_sub(input.len());
            room > 0
        };
        let stored = self.store.inputs().into_iter();
        let waiting = stored.chain(self.restored.iter().map(Vec::as_slice));
        let waiting = waiting.take_while(fits).map(<[u8]>::to_vec).collect();
        Some(SavedSearch {
            explored,
            waiting,
            completeness: self.completeness.clone(),
            enumeration: None,
        })
    }

    fn restore(&mut self, saved: &SavedSearch) {
        self.earlier.extend(&saved.explored);
        self.restored.extend(saved.waiting.iter().cloned());
        self.completeness = Completeness { finished: false, ..saved.completeness.clone() };
    }
}

fn hash_of<T: Hash + ?Sized>(input: &T) -> u64 {
    let mut hasher = DefaultHasher::new();
    input.hash(&mut hasher);
    hasher.finish()
}
