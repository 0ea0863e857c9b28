//! Several strategies in turn, by what they brought lately.
//!
//! Each turn is a slice of time. A strategy's worth is what it found in its last turns for the time that they took; the best one has
//! the next turn, and every few turns it is the one that waited longest, so that none is given up for good. Inputs that
//! add coverage are traced for the strategies that learn from traces alone, when they have their turn.

use std::collections::VecDeque;
use std::time::Duration;

use search::{Context, Ending, Next, Origin, Proposal, Ran, SavedSearch, Strategy};

#[derive(Default)]
pub struct Auto<'s> {
    parts: Vec<Part<'s>>,
    /// Whose turn it is, and since when.
    current: usize,
    since: Duration,
    turns: u32,
    /// The run that was proposed last is for its trace only.
    tracing: bool,
}

struct Part<'s> {
    strategy: Box<dyn Strategy + 's>,
    /// Outcomes found, and seconds spent, older ones counting less.
    found: f64,
    spent: f64,
    last_turn: u32,
    /// All time spent.
    total: Duration,
    finished: bool,
    /// It learns from traces: inputs that wait for one, unless it learns from none.
    untraced: Option<VecDeque<(Vec<u8>, Origin)>>,
    /// Its last run was for a trace.
    traced_last: bool,
}

/// Length of a turn.
const TURN: Duration = Duration::from_millis(200);
/// One turn in so many goes to the strategy that waited longest, if it had less than that part of the time.
const ROUND_ROBIN: u32 = 16;
/// Inputs that wait for a trace; beyond it, none is added.
const MOST_UNTRACED: usize = 1000;
/// What earlier turns count at each later one.
const MEMORY: f64 = 0.8;

impl Part<'_> {
    /// Outcomes for a second; a strategy that was never tried is worth most.
    fn worth(&self) -> f64 {
        match self.total.is_zero() {
            true => f64::INFINITY,
            false => (self.found + 0.1) / (self.spent + 1e-3),
        }
    }
}

impl<'s> Auto<'s> {
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

    fn add(
        mut self,
        strategy: Box<dyn Strategy + 's>,
        untraced: Option<VecDeque<(Vec<u8>, Origin)>>,
    ) -> Auto<'s> {
        let (found, spent, last_turn, finished, traced_last) = (0.0, 0.0, 0, false, false);
        let total = Duration::ZERO;
        self.parts.push(Part { strategy, found, spent, last_turn, total, finished, untraced, traced_last });
        self
    }

    /// Ends the turn if it is over, or at once if the strategy has nothing left to do.
    fn take_turns(&mut self, now: Duration) {
        let time = now.saturating_sub(self.since);
        let part = &mut self.parts[self.current];
        if time < TURN && !part.finished {
            return;
        }
        part.spent = part.spent * MEMORY + time.as_secs_f64();
        part.found *= MEMORY;
        part.last_turn = self.turns;
        part.total += time;
        self.turns += 1;
        self.since = now;
        let left = || self.parts.iter().enumerate().filter(|(_, part)| !part.finished);
        let waits =
            |part: &Part<'_>| self.turns.is_multiple_of(ROUND_ROBIN) && part.total * ROUND_ROBIN <= now;
        let neglected = left().filter(|(_, part)| waits(part)).min_by_key(|(_, part)| part.last_turn);
        let best = || left().max_by(|(_, a), (_, b)| a.worth().total_cmp(&b.worth()));
        self.current = neglected.or_else(best).map_or(0, |(number, _)| number);
    }
}

impl Strategy for Auto<'_> {
    fn name(&self) -> &'static str {
        "auto"
    }

    fn next(&mut self, context: &mut Context<'_>) -> Next {
        self.take_turns(context.clock.elapsed());
        let Some(part) = self.parts.get_mut(self.current) else { return Next::Finished };
        // No more than every other run of a turn is for a trace.
        if !std::mem::take(&mut part.traced_last)
            && let Some((input, origin)) = part.untraced.as_mut().and_then(VecDeque::pop_front)
        {
            (self.tracing, part.traced_last) = (true, true);
            return Next::Run(Proposal { input, symbolic: true, origin });
        }
        match part.strategy.next(context) {
            Next::Finished => {
                part.finished = true;
                if self.parts.iter().all(|part| part.finished) { Next::Finished } else { Next::Busy }
            }
            next => next,
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
    /// Tells the other strategies of an input, and its own of one that it has no trace of.
    fn share(&mut self, ran: &Ran<'_>, own: usize, context: &mut Context<'_>) {
        for (number, part) in self.parts.iter_mut().enumerate() {
            let has_it = number == own && (part.untraced.is_none() || ran.path.is_some());
            let hangs = ran.ending == Ending::Timeout;
            match &mut part.untraced {
                _ if has_it => {}
                None => part.strategy.learn(untraced(ran), context),
                Some(waiting) if hangs || waiting.len() >= MOST_UNTRACED => {}
                Some(waiting) => {
                    waiting.push_back((ran.input.to_vec(), ran.origin.clone()));
                    part.finished = false;
                }
            }
        }
    }
}

fn untraced<'r>(ran: &Ran<'r>) -> Ran<'r> {
    Ran {
        input: ran.input,
        origin: ran.origin,
        ending: ran.ending,
        new_outcomes: ran.new_outcomes,
        covered: ran.covered,
        path: None,
    }
}
