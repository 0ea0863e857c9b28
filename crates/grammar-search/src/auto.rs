//! Several strategies in turn, by what they brought lately.
//!
//! Each turn is a slice of time. A strategy's worth is what it found in its last turns for the time that they took; the best one has
//! the next turn, and every few turns it is the one that waited longest, so that none is given up for good. Inputs that add
//! coverage are traced for the first strategy, which is the one that solves, when it has its turn.

use std::collections::VecDeque;
use std::time::Duration;

use search::{Context, Ending, Next, Origin, Proposal, Ran, SavedSearch, Strategy};

pub struct Auto<'s> {
    parts: Vec<Part<'s>>,
    /// Whose turn it is, and since when.
    current: usize,
    since: Duration,
    turns: u64,
    /// Inputs that added coverage in runs without a trace.
    untraced: VecDeque<(Vec<u8>, Origin)>,
    /// The run that was proposed last is for its trace only.
    tracing: bool,
    /// So was the last of the first strategy's turn.
    traced_last: bool,
}

struct Part<'s> {
    strategy: Box<dyn Strategy + 's>,
    /// Outcomes found, and seconds spent, older ones counting less.
    found: f64,
    spent: f64,
    last_turn: u64,
    finished: bool,
}

/// Length of a turn.
const TURN: Duration = Duration::from_millis(200);
/// One turn in so many goes to the strategy that waited longest.
const ROUND_ROBIN: u64 = 8;
/// What earlier turns count at each later one.
const MEMORY: f64 = 0.8;

impl Part<'_> {
    /// Outcomes for a second; a strategy that was never tried is worth most.
    fn worth(&self) -> f64 {
        (self.found + 0.1) / (self.spent + 1e-3)
    }
}

impl<'s> Auto<'s> {
    /// The first strategy gets the traces of what the others find.
    pub fn new(strategies: Vec<Box<dyn Strategy + 's>>) -> Auto<'s> {
        let part = |strategy| Part { strategy, found: 0.0, spent: 0.0, last_turn: 0, finished: false };
        Auto {
            parts: strategies.into_iter().map(part).collect(),
            current: 0,
            since: Duration::ZERO,
            turns: 0,
            untraced: VecDeque::new(),
            tracing: false,
            traced_last: false,
        }
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
        self.turns += 1;
        self.since = now;
        let left = self.parts.iter().enumerate().filter(|(_, part)| !part.finished);
        let next = match self.turns.is_multiple_of(ROUND_ROBIN) {
            true => left.min_by_key(|(_, part)| part.last_turn),
            false => left.max_by(|(_, a), (_, b)| a.worth().total_cmp(&b.worth())),
        };
        self.current = next.map_or(0, |(number, _)| number);
    }
}

impl Strategy for Auto<'_> {
    fn name(&self) -> &'static str {
        "auto"
    }

    fn next(&mut self, context: &mut Context<'_>) -> Next {
        self.take_turns(context.clock.elapsed());
        // No more than every other run of its turns.
        let may_trace = self.current == 0 && !std::mem::take(&mut self.traced_last);
        if may_trace && let Some((input, origin)) = self.untraced.pop_front() {
            (self.tracing, self.traced_last) = (true, true);
            return Next::Run(Proposal { input, symbolic: true, origin });
        }
        let part = &mut self.parts[self.current];
        match part.strategy.next(context) {
            Next::Finished => {
                part.finished = true;
                if self.parts.iter().all(|part| part.finished) { Next::Finished } else { Next::Busy }
            }
            next => next,
        }
    }

    fn learn(&mut self, ran: Ran<'_>, context: &mut Context<'_>) {
        let tracing = std::mem::take(&mut self.tracing);
        let (new_outcomes, traced) = (ran.new_outcomes, ran.path.is_some());
        if matches!(ran.origin, Origin::Seed(_)) {
            return self.learn_seed(ran, context);
        }
        if tracing {
            return self.parts[0].strategy.learn(ran, context);
        }
        if new_outcomes > 0 && !traced && ran.ending != Ending::Timeout {
            self.parts[0].finished = false;
            self.untraced.push_back((ran.input.to_vec(), ran.origin.clone()));
        }
        self.parts[self.current].found += new_outcomes as f64;
        if new_outcomes > 0 {
            self.share(&ran, context);
        }
        self.parts[self.current].strategy.learn(ran, context);
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
    /// Seeds are for all strategies, their traces for the first.
    fn learn_seed(&mut self, ran: Ran<'_>, context: &mut Context<'_>) {
        for part in self.parts.iter_mut().skip(1) {
            part.strategy.learn(untraced(&ran), context);
        }
        self.parts[0].strategy.learn(ran, context);
    }

    /// Tells the other strategies, the first excepted, of an input that added coverage.
    fn share(&mut self, ran: &Ran<'_>, context: &mut Context<'_>) {
        let current = self.current;
        for (_, part) in self.parts.iter_mut().enumerate().skip(1).filter(|(number, _)| *number != current) {
            part.strategy.learn(untraced(ran), context);
        }
    }
}

fn untraced<'r>(ran: &Ran<'r>) -> Ran<'r> {
    Ran {
        input: ran.input,
        origin: ran.origin,
        ending: ran.ending,
        new_outcomes: ran.new_outcomes,
        path: None,
    }
}
