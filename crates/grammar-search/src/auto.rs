//! Several strategies in turn, by what they brought lately.
//!
//! Each turn is a slice of time, or of the runs where only their number ends the search: cheap runs
//! would use them up. A strategy's worth is what it found in its last turns for the time
//! that they took; the best one has the next turn, unless another one had less than its part of the
//! time, so that none is given up for good: what a strategy finds late may be what no other finds.
//! Inputs that add coverage are traced for the strategies that learn from traces alone, when they
//! have their turn. One of these that has nothing left to do starts again from random inputs, as
//! long as a limit ends the search, and unless everything was explored.

use std::collections::VecDeque;
use std::time::Duration;

use search::{Context, Next, Origin, Outcome, Proposal, Ran, SavedSearch, Strategy, restart};

#[derive(Default)]
pub struct Auto<'s> {
    parts: Vec<Part<'s>>,
    /// Whose turn it is, and since when; seeds come before the first turn.
    current: usize,
    since: Option<Duration>,
    /// The run that was proposed last is for its trace only.
    tracing: bool,
    /// How often a strategy worked without a run.
    busy: u32,
}

struct Part<'s> {
    strategy: Box<dyn Strategy + 's>,
    /// Outcomes found, and seconds spent, older ones counting less.
    found: f64,
    spent: f64,
    /// All time spent.
    total: Duration,
    /// The part of the time that it has in any case.
    least: f64,
    finished: bool,
    /// It never has nothing left to do.
    is_endless: bool,
    /// It has nothing left to do but random inputs.
    restarts: bool,
    /// It learns from traces: inputs that wait for one, unless it learns from none.
    untraced: Option<VecDeque<(Vec<u8>, Origin)>>,
    /// Its last run was for a trace.
    traced_last: bool,
}

/// How a search goes on of which one strategy has nothing left to do.
enum Rest {
    /// Nothing was left out, so that the others have nothing to find.
    Nothing,
    Restart,
    Others,
}

/// Length of a turn.
const TURN: Duration = Duration::from_millis(200);
/// What a run counts where runs are shared.
const RUN: Duration = Duration::from_millis(10);
/// Pieces of work without a run that count like one.
const BUSY_PER_RUN: u32 = 64;
/// The part of the time that a strategy has in any case, unless more is promised to it.
const LEAST: f64 = 1.0 / 16.0;
/// Inputs that wait for a trace; beyond it, none is added.
const MAX_UNTRACED: usize = 1000;
/// What earlier turns count at each later one.
const MEMORY: f64 = 0.8;

impl Part<'_> {
    /// Outcomes for a second. Others make random inputs for less.
    fn worth(&self) -> f64 {
        if self.restarts {
            return 0.0;
        }
        (self.found + 0.1) / (self.spent + 1e-3)
    }

    /// What becomes of a search of which this strategy has nothing left to do.
    fn rest(&self, context: &Context<'_>) -> Rest {
        if !self.strategy.covers_all_paths() {
            return Rest::Others;
        }
        match context.stats.shortfalls().is_empty() {
            true => Rest::Nothing,
            false if context.has_end => Rest::Restart,
            false => Rest::Others,
        }
    }
}

impl<'s> Auto<'s> {
    pub const NAME: &'static str = "auto";

    pub fn new() -> Auto<'s> {
        Auto::default()
    }

    /// Adds a strategy that learns from traces alone. Those of seeds go to the first strategy.
    pub fn solving(self, strategy: Box<dyn Strategy + 's>) -> Auto<'s> {
        self.add(strategy, Some(VecDeque::new()))
    }

    /// Adds a strategy that needs no traces, or asks for them itself.
    pub fn blind(self, strategy: Box<dyn Strategy + 's>) -> Auto<'s> {
        self.add(strategy, None)
    }

    /// Adds one that needs none and never ends.
    pub fn endless(self, strategy: Box<dyn Strategy + 's>) -> Auto<'s> {
        let mut auto = self.blind(strategy);
        if let Some(part) = auto.parts.last_mut() {
            part.is_endless = true;
        }
        auto
    }

    fn add(
        mut self,
        strategy: Box<dyn Strategy + 's>,
        untraced: Option<VecDeque<(Vec<u8>, Origin)>>,
    ) -> Auto<'s> {
        let (found, spent, finished, traced_last) = (0.0, 0.0, false, false);
        let (is_endless, restarts) = (false, false);
        let (total, least) = (Duration::ZERO, LEAST);
        self.parts.push(Part {
            strategy,
            found,
            spent,
            total,
            least,
            finished,
            is_endless,
            restarts,
            untraced,
            traced_last,
        });
        self
    }

    /// Promises a part of the time to the strategy that was added last.
    pub fn at_least(mut self, part: f64) -> Auto<'s> {
        if let Some(last) = self.parts.last_mut() {
            last.least = part;
        }
        self
    }

    /// The current strategy has nothing left to do. Without a limit, those that go on for ever do
    /// not keep a search going in which nothing is left to solve.
    fn end_part(&mut self, context: &Context<'_>) -> Next {
        self.parts[self.current].finished = true;
        let mut left = self.parts.iter().filter(|part| !part.finished);
        let goes_on = left.any(|part| context.has_end || !part.is_endless);
        if goes_on { Next::Busy } else { Next::Finished }
    }

    /// Ends the turn if it is over, or at once if the strategy has nothing left to do.
    fn take_turns(&mut self, now: Duration) {
        let time = now.saturating_sub(*self.since.get_or_insert(now));
        let part = &mut self.parts[self.current];
        if time < TURN && !part.finished {
            return;
        }
        part.spent = part.spent * MEMORY + time.as_secs_f64();
        part.found *= MEMORY;
        part.total += time;
        self.since = Some(now);
        let left = || self.parts.iter().enumerate().filter(|(_, part)| !part.finished);
        let had = |part: &Part<'_>| part.total.as_secs_f64() / (part.least * now.as_secs_f64());
        let neglected = left().filter(|(_, part)| had(part) < 1.0);
        let neglected = neglected.min_by(|(_, a), (_, b)| had(a).total_cmp(&had(b)));
        // Where none finds anything, all have the same.
        let better = |a: &Part<'_>, b: &Part<'_>| {
            a.worth().total_cmp(&b.worth()).then(b.total.cmp(&a.total))
        };
        let best = || left().max_by(|(_, a), (_, b)| better(a, b));
        self.current = neglected.or_else(best).map_or(0, |(number, _)| number);
    }
}

impl Strategy for Auto<'_> {
    fn name(&self) -> &'static str {
        Auto::NAME
    }

    fn next(&mut self, context: &mut Context<'_>) -> Next {
        self.take_turns(match context.only_runs_end_it {
            true => self.counted(context),
            false => context.clock.elapsed(),
        });
        let Some(part) = self.parts.get_mut(self.current) else { return Next::Finished };
        // No more than every other run of a turn is for a trace.
        if !std::mem::take(&mut part.traced_last)
            && let Some((input, origin)) = part.untraced.as_mut().and_then(VecDeque::pop_front)
        {
            (self.tracing, part.traced_last) = (true, true);
            return Next::Run(Proposal { input, symbolic: true, origin });
        }
        match part.strategy.next(context) {
            Next::Finished => match part.rest(context) {
                Rest::Nothing => Next::Finished,
                Rest::Restart => {
                    part.restarts = true;
                    Next::Run(restart(part.strategy.holes(), context))
                }
                Rest::Others => self.end_part(context),
            },
            next => {
                self.busy = self.busy.saturating_add(u32::from(matches!(next, Next::Busy)));
                part.restarts = false;
                next
            }
        }
    }

    fn learn(&mut self, ran: Ran<'_>, context: &mut Context<'_>) {
        let is_seed = matches!(ran.origin, Origin::Seed(_));
        let new_outcomes = ran.new_outcomes;
        if std::mem::take(&mut self.tracing) {
            return self.parts[self.current].strategy.learn(ran, context);
        }
        // Seeds come before all turns, and are for everyone.
        let own = if is_seed { 0 } else { self.current };
        if is_seed || new_outcomes > 0 {
            self.share(&ran, own, context);
        }
        if !is_seed {
            self.parts[own].found += new_outcomes as f64;
        }
        self.parts[own].strategy.learn(ran, context);
    }

    fn covers_all_paths(&self) -> bool {
        self.parts.iter().any(|part| part.strategy.covers_all_paths())
    }

    fn queue(&self) -> usize {
        self.parts.iter().map(|part| part.strategy.queue()).sum()
    }

    fn save(&self) -> Option<SavedSearch> {
        self.parts.first()?.strategy.save()
    }

    fn restore(&mut self, saved: &SavedSearch) {
        if let Some(part) = self.parts.first_mut() {
            part.strategy.restore(saved);
        }
    }
}

impl Auto<'_> {
    /// What stands for the time where only the number of runs ends a search. What a strategy does
    /// without a run is little of it, but not nothing.
    fn counted(&self, context: &Context<'_>) -> Duration {
        let runs = u32::try_from(context.stats.runs).unwrap_or(u32::MAX);
        RUN.saturating_mul(runs).saturating_add((RUN / BUSY_PER_RUN).saturating_mul(self.busy))
    }

    /// Tells the other strategies of an input, and its own of one that it has no trace of.
    fn share(&mut self, ran: &Ran<'_>, own: usize, context: &mut Context<'_>) {
        for (number, part) in self.parts.iter_mut().enumerate() {
            let has_it = number == own && (part.untraced.is_none() || ran.path.is_some());
            let hangs = ran.outcome == Outcome::Timeout;
            match &mut part.untraced {
                _ if has_it => {}
                None => part.strategy.learn(ran.untraced(), context),
                Some(waiting) if hangs || waiting.len() >= MAX_UNTRACED => {}
                Some(waiting) => {
                    waiting.push_back((ran.input.to_vec(), ran.origin.clone()));
                    part.finished = false;
                }
            }
        }
    }
}
