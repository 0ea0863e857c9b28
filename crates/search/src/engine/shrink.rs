//! The inputs of bugs are made smaller while the search goes on, in a share of its time.
//!
//! A smaller input is run, judged and written like any other that goes wrong, but its run is
//! nothing that the search learns from: how far this gets hangs on the clock, and searches do not.

use std::collections::{HashMap, HashSet, VecDeque};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::Duration;

use ::shrink::Shrinker;

use super::{Engine, RunOnce, Stop};
use crate::{Bug, BugKind, Return, Stats};

/// The part of the time that goes into this, beside what is free.
const SHARE: u32 = 10;
const FREE: Duration = Duration::from_millis(500);
/// Attempts for each bug that are free, however slow they are.
const FREE_ATTEMPTS: usize = 32;
/// How long an attempt goes on at least, and until it has tried something new: one that was cut off
/// begins anew, and would not get beyond that.
const SLICE: Duration = Duration::from_millis(200);

/// What is to be made smaller.
#[derive(Default)]
pub(super) struct Shrinking<'a> {
    /// None: inputs stay as they were found.
    shrinker: Option<Box<dyn Shrinker + 'a>>,
    /// Bugs with an input that nobody has made smaller, by their ids.
    waiting: VecDeque<u32>,
    /// What was tried for each of them. Shrinkers begin anew where they were cut off.
    tried: HashMap<u32, HashSet<u64>>,
    spent: Duration,
    /// Of it, what no second opinion took.
    pub(super) apart: Duration,
}

impl<'a> Shrinking<'a> {
    pub(super) fn by(shrinker: Option<Box<dyn Shrinker + 'a>>) -> Shrinking<'a> {
        Shrinking { shrinker, ..Shrinking::default() }
    }

    /// The bug has a new input. Runs that do not end take too long to try many.
    pub(super) fn want(&mut self, bug: &Bug) {
        let ends = !matches!(bug.kind, BugKind::Hang | BugKind::Deadlock | BugKind::OutOfMemory);
        if ends && !self.waiting.contains(&bug.id) {
            self.waiting.push_back(bug.id);
        }
    }
}

/// How an attempt to make an input smaller ended.
enum Attempt {
    Done,
    /// The share was used up.
    Cut,
    Failed(Stop),
}

impl Engine<'_> {
    /// Makes the input of a bug smaller, if there is one to be and its time has come.
    pub(super) fn shrink_next(&mut self) -> Result<(), Stop> {
        let Some(&id) = self.shrinking.waiting.front() else { return Ok(()) };
        if !self.has_free_attempts(id) && !self.has_time_to_shrink(Duration::ZERO) {
            return Ok(());
        }
        let Some(mut shrinker) = self.shrinking.shrinker.take() else { return Ok(()) };
        let (started, examining) = (self.world.clock.elapsed(), self.examining());
        let (books, triaged) = (self.results.stats.clone(), self.triaged.clone());
        let attempt = self.shrink(id, &mut *shrinker);
        self.shrinking.shrinker = Some(shrinker);
        let time = self.world.clock.elapsed().saturating_sub(started);
        let own = time.saturating_sub(self.examining().saturating_sub(examining));
        self.shrinking.spent += time;
        self.shrinking.apart += own;
        self.close_books(books);
        let made = Return { time: own, turns: 1, outcomes: 0 };
        self.results.stats.returns.add("smaller inputs", made);
        // Which runs are traced once more to find their last step is counted, too.
        self.triaged = triaged;
        // Its own finds have asked for more of the same.
        self.shrinking.waiting.retain(|waiting| *waiting != id);
        match attempt {
            Attempt::Done => drop(self.shrinking.tried.remove(&id)),
            Attempt::Cut => self.shrinking.waiting.push_back(id),
            Attempt::Failed(stop) => return Err(stop),
        }
        Ok(())
    }

    /// The search goes on as if these runs had not been: its limits and claims hang on the books.
    fn close_books(&mut self, before: Stats) {
        let after = std::mem::replace(&mut self.results.stats, before);
        let stats = &mut self.results.stats;
        stats.shrinking += after.runs - stats.runs;
        stats.examined = after.examined;
        stats.unfinished_examinations = after.unfinished_examinations;
        stats.times = after.times;
        stats.returns = after.returns;
    }

    /// Nothing else is left to do.
    pub(super) fn shrink_rest(&mut self) -> Result<(), Stop> {
        for _ in 0..self.shrinking.waiting.len() {
            self.shrink_next()?;
        }
        Ok(())
    }

    fn shrink(&mut self, id: u32, shrinker: &mut dyn Shrinker) -> Attempt {
        let Some(input) = self.results.bugs.get(id).map(|bug| bug.input.clone()) else {
            return Attempt::Done;
        };
        let started = self.world.clock.elapsed();
        let (mut attempt, mut has_tried) = (Attempt::Done, false);
        shrinker.shrink(&input, &mut |candidate| {
            // Shrinkers that begin anew may ask about what they have got so far.
            if self.is_input_of(id, candidate) {
                return Some(true);
            }
            if self.shrinking.tried.get(&id).is_some_and(|tried| tried.contains(&hash(candidate))) {
                return Some(false);
            }
            let spent = self.world.clock.elapsed().saturating_sub(started);
            let has_got_on = has_tried && spent >= SLICE && !self.has_free_attempts(id);
            if self.is_over() || has_got_on && !self.has_time_to_shrink(spent) {
                attempt = Attempt::Cut;
                return None;
            }
            has_tried = true;
            self.shrinking.tried.entry(id).or_default().insert(hash(candidate));
            self.shows(id, candidate).map_err(|stop| attempt = Attempt::Failed(stop)).ok()
        });
        attempt
    }

    /// Whether the input shows the bug at least as badly; if so, it is the bug's from now on.
    fn shows(&mut self, id: u32, candidate: &[u8]) -> Result<bool, Stop> {
        let execution = self.execute(candidate, false)?;
        self.add_offences()?;
        let run = RunOnce::again(candidate, &execution);
        match BugKind::of(execution.outcome) {
            Some(BugKind::Hang) => {}
            Some(kind) => self.bug(kind, &run)?,
            None => self.doubt_for(id, candidate)?,
        }
        Ok(self.is_input_of(id, candidate))
    }

    fn is_input_of(&self, id: u32, input: &[u8]) -> bool {
        self.results.bugs.get(id).is_some_and(|bug| bug.input == input)
    }

    /// A run that ends well may show a bug that only a build that checks more sees.
    fn doubt_for(&mut self, id: u32, candidate: &[u8]) -> Result<(), Stop> {
        let is_reported =
            self.results.bugs.get(id).is_some_and(|bug| bug.kind == BugKind::Reported);
        if is_reported { self.doubt(candidate, None) } else { Ok(()) }
    }

    fn has_free_attempts(&self, id: u32) -> bool {
        let attempts = self.shrinking.tried.get(&id).map_or(0, HashSet::len);
        attempts < FREE_ATTEMPTS && !self.is_over()
    }

    /// `more` is what is being spent now.
    fn has_time_to_shrink(&self, more: Duration) -> bool {
        let spent = (self.shrinking.spent + more).saturating_sub(FREE);
        spent * SHARE <= self.world.clock.elapsed() && !self.is_over()
    }

    fn is_over(&self) -> bool {
        self.is_interrupted() || self.is_time_up()
    }
}

fn hash(input: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    input.hash(&mut hasher);
    hasher.finish()
}
