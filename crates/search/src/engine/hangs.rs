//! Runs that do not end in time: confirmed on the program itself, and grouped by the loop that they are in.

use std::time::Duration;

use super::{Engine, NOWHERE, Stop, last_step};
use crate::{BugKind, Ending, Execution, Failure, TracedPath};

impl Engine<'_> {
    pub(super) fn hang(
        &mut self,
        input: &[u8],
        execution: &Execution,
        path: Option<&TracedPath>,
        covered: u64,
    ) -> Result<(), Stop> {
        let kind = BugKind::Hang;
        if self.results.bugs.ignores(kind) {
            return Ok(());
        }
        if self.is_time_up() {
            // The end of the search may have ended the run.
            self.results.stats.unconfirmed_timeouts += 1;
            return Ok(());
        }
        let has_time = self.has_time_for_hangs();
        let last = match path {
            Some(path) => last_step(path),
            None if has_time => self.triage(kind, covered, input)?,
            None => NOWHERE,
        };
        let failure = Failure { kind, last, input, stderr: &execution.stderr, run: self.results.stats.runs };
        if self.results.bugs.is_stale(&failure) {
            return self.add_bug(&failure, None);
        }
        if !has_time {
            self.results.stats.unconfirmed_timeouts += u64::from(!self.results.bugs.knows(kind, last));
            return Ok(());
        }
        self.confirm(|engine| engine.look_into(&failure))
    }

    /// Believes a hang only if it hangs again, however much time it gets. Machines under load make slow runs look like hangs, and
    /// variants are slower than the program.
    fn look_into(&mut self, failure: &Failure) -> Result<(), Stop> {
        let plain = self.world.executor.run_plain(failure.input).map_err(Stop::Execution)?;
        let ending = match plain {
            Some(ending) => ending,
            None => self.count_run(false, |executor| executor.run_patiently(failure.input))?.ending,
        };
        let stats = &mut self.results.stats;
        match (ending, plain) {
            (Ending::Timeout, _) => {
                let place = self.world.executor.locate_hang(failure.input).map_err(Stop::Execution)?;
                return self.add_bug(failure, place);
            }
            (_, None) => stats.flaky_timeouts += 1,
            (Ending::Exit(_), Some(_)) => stats.slow_in_variant += 1,
            (Ending::Signal(_) | Ending::OutOfMemory, Some(_)) => {
                let kind = BugKind::of(ending).unwrap_or(failure.kind);
                return self.crash(&Failure { kind, ..*failure });
            }
        }
        Ok(())
    }

    /// A program that runs programs can be made to hang anywhere: confirming that takes no more than a tenth of the time.
    pub(super) fn has_time_for_hangs(&self) -> bool {
        const SHARE: u32 = 10;
        const FIRST: Duration = Duration::from_millis(500);
        self.confirming.saturating_sub(FIRST) * SHARE <= self.world.clock.elapsed()
    }

    /// Takes the time that runs take which are only about hangs.
    pub(super) fn confirm<T>(&mut self, work: impl FnOnce(&mut Self) -> T) -> T {
        let started = self.world.clock.elapsed();
        let result = work(self);
        self.confirming += self.world.clock.elapsed().saturating_sub(started);
        result
    }
}
