//! Runs that do not end in time: confirmed on the program itself, and grouped by the loop that they
//! are in.

use std::time::Duration;

use path::Step;

use super::{Engine, Last, RunOnce, Stop};
use crate::judgement::hang_causes;
use crate::{BugKind, Failure, Outcome, Return};

/// Inputs that are looked into at the end of a search, if nothing else is left to do.
const MAX_AT_END: usize = 32;

impl Engine<'_> {
    pub(super) fn hang(&mut self, run: &RunOnce<'_>) -> Result<(), Stop> {
        if self.is_time_up() {
            // The end of the search may have ended the run.
            self.results.stats.unconfirmed_timeouts += 1;
            return Ok(());
        }
        let kind = BugKind::Hang;
        let has_time = run.claims || self.has_time_for_hangs();
        let last = match run.path {
            Some(path) => Last::of(path),
            None if has_time => self.triage(kind, run)?,
            None => Last::NOWHERE,
        };
        let (number, stderr) = (self.results.stats.runs, &*run.execution.stderr);
        let failure = Failure { kind, last: last.step, input: run.input, stderr, run: number };
        if self.is_known_hang(&failure) && (last.is_telling || !run.claims) {
            return self.add_hang(&failure);
        }
        if !has_time {
            self.put_off(run, last.step);
            return Ok(());
        }
        self.confirm(|engine| engine.look_into(&failure, run))
    }

    fn is_known_hang(&self, failure: &Failure) -> bool {
        let is_stale = |kind| self.results.bugs.is_stale(&Failure { kind, ..*failure });
        is_stale(BugKind::Hang)
            || is_stale(BugKind::Deadlock)
            || self.ignored_hangs.contains(&failure.last)
    }

    /// Of a known one.
    fn add_hang(&mut self, failure: &Failure) -> Result<(), Stop> {
        if self.results.bugs.knows(BugKind::Deadlock, failure.last) {
            return self.add_bug(&Failure { kind: BugKind::Deadlock, ..*failure }, None);
        }
        match self.results.bugs.ignores(failure.kind) {
            true => Ok(()),
            false => self.add_bug(failure, None),
        }
    }

    /// Believes a hang only if it hangs again, however much time it gets. Machines under load make
    /// slow runs look like hangs, and variants are slower than the program.
    fn look_into(&mut self, failure: &Failure, run: &RunOnce<'_>) -> Result<(), Stop> {
        let plain = self.world.executor.run_plain(failure.input).map_err(Stop::Execution)?;
        let outcome = match plain {
            Some(outcome) => outcome,
            None => {
                self.count_run(false, |executor| executor.run_patiently(failure.input))?.outcome
            }
        };
        match outcome {
            // It was told to end, by a timer perhaps, and did.
            sent if sent.was_sent() => {}
            Outcome::Signal(_) | Outcome::OutOfMemory => {
                let kind = BugKind::of(outcome).unwrap_or(failure.kind);
                return self.crash(&Failure { kind, ..*failure }, run);
            }
            Outcome::Timeout => {
                let diagnoses =
                    self.world.executor.locate_hang(failure.input).map_err(Stop::Execution)?;
                let mut causes = hang_causes(diagnoses);
                if self.results.bugs.ignores(BugKind::Hang) {
                    if causes.iter().all(|(kind, _)| *kind == BugKind::Hang) {
                        self.ignored_hangs.insert(failure.last);
                    }
                    causes.retain(|(kind, _)| *kind != BugKind::Hang);
                }
                return self.add_all(failure, causes);
            }
            Outcome::Exit(_) if plain.is_some() => self.results.stats.slow_in_variant += 1,
            Outcome::Exit(_) => self.results.stats.flaky_timeouts += 1,
        }
        // It ends, so that it has the same right to a second opinion as any other run.
        self.doubt(failure.input, None)
    }

    /// There is no time to look into a hang at a new place.
    fn put_off(&mut self, run: &RunOnce<'_>, last: Step) {
        let is_known =
            self.results.bugs.knows(BugKind::Hang, last) || self.put_off.contains_key(&run.covered);
        if !is_known {
            self.results.stats.unconfirmed_timeouts += 1;
            self.put_off.insert(run.covered, run.input.to_vec());
        }
    }

    /// Nothing else is left to do: looks into hangs that had to wait, as far as there is time.
    pub(super) fn look_into_rest(&mut self) -> Result<(), Stop> {
        for (_, input) in std::mem::take(&mut self.put_off).into_iter().take(MAX_AT_END) {
            if matches!(self.check_limits(), Err(Stop::TimeUp | Stop::Interrupted)) {
                break;
            }
            let execution = self.execute(&input, false)?;
            if execution.outcome == Outcome::Timeout {
                self.results.stats.unconfirmed_timeouts -= 1;
                let run = RunOnce::again(&input, &execution);
                let last = self.triage(BugKind::Hang, &run)?.step;
                let (number, stderr) = (self.results.stats.runs, &*execution.stderr);
                let failure =
                    Failure { kind: BugKind::Hang, last, input: &input, stderr, run: number };
                self.look_into(&failure, &run)?;
            }
        }
        Ok(())
    }

    /// A program that runs programs can be made to hang anywhere: confirming that takes no more
    /// than a tenth of the time.
    pub(super) fn has_time_for_hangs(&self) -> bool {
        const SHARE: u32 = 10;
        const FIRST: Duration = Duration::from_millis(500);
        self.confirming.saturating_sub(FIRST) * SHARE <= self.world.clock.elapsed()
    }

    /// Takes the time that runs take which are only about hangs.
    pub(super) fn confirm<T>(&mut self, work: impl FnOnce(&mut Self) -> T) -> T {
        let (started, examining) = (self.world.clock.elapsed(), self.examining());
        let result = work(self);
        let time = self.world.clock.elapsed().saturating_sub(started);
        self.confirming += time;
        let time = time.saturating_sub(self.examining().saturating_sub(examining));
        let confirmed = Return { time, turns: 1, outcomes: 0 };
        self.results.stats.returns.add("confirming hangs", confirmed);
        result
    }

    pub(super) fn examining(&self) -> Duration {
        self.results.stats.times.examining
    }
}
