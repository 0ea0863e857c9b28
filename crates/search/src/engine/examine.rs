//! Second opinions: which runs the build that checks more is asked about, and when.

use std::time::Duration;

use path::Step;

use super::{Engine, NOWHERE, RunOnce, Stop, last_step};
use crate::examination::Waiting;
use crate::judgement::causes;
use crate::{BugKind, Diagnosis, Failure, Origin, Return, TracedPath};

impl Engine<'_> {
    /// Asks for a second opinion on a run that ended well, now or later. Of a search that claims
    /// something about all paths, each run is examined. Where it says nothing about its path, each
    /// kind of run is.
    pub(super) fn consider(&mut self, run: &RunOnce<'_>) -> Result<(), Stop> {
        if !self.world.executor.can_examine() || *run.origin == Origin::Retrace {
            return Ok(());
        }
        let is_urgent = self.examinations.is_urgent(run.origin, run.path) || run.is_new;
        if is_urgent && self.has_time_to_examine() || run.claims && !self.is_examined(run) {
            self.examinations.examined(run.signature, run.input.len());
            return self.doubt(run.input, run.path);
        }
        if run.claims {
            self.examinations.leave_out();
        }
        self.examinations.offer(run.input, run.signature, run.path, None);
        Ok(())
    }

    /// Whether a run without a trace is like one that was examined.
    pub(super) fn is_examined(&self, run: &RunOnce<'_>) -> bool {
        run.path.is_none() && self.examinations.knows(run.signature)
    }

    /// Examinations that take half of the time are too slow to make at once.
    fn has_time_to_examine(&self) -> bool {
        const FREE: Duration = Duration::from_secs(2);
        self.results.stats.times.examining.saturating_sub(FREE) * 2 <= self.world.clock.elapsed()
    }

    /// Examines one of the inputs that wait for it, if that is due.
    pub(super) fn examine_next(&mut self) -> Result<(), Stop> {
        match self.examinations.next(self.world.clock.elapsed(), self.results.stats.runs) {
            Some(waiting) => self.examine_waiting(&waiting),
            None => Ok(()),
        }
    }

    /// Nothing else is left to do: examines what still waits, as far as there is time.
    pub(super) fn examine_rest(&mut self) -> Result<(), Stop> {
        let is_time =
            |engine: &Self| !matches!(engine.check_limits(), Err(Stop::TimeUp | Stop::Interrupted));
        while is_time(self) {
            let (elapsed, runs) = (self.world.clock.elapsed(), self.results.stats.runs);
            let Some(waiting) = self.examinations.next_of_rest(elapsed, runs) else { break };
            self.examine_waiting(&waiting)?;
        }
        self.add_offences()
    }

    fn examine_waiting(&mut self, Waiting { input, crash }: &Waiting) -> Result<(), Stop> {
        let (started, bugs) = (self.world.clock.elapsed(), self.results.bugs.all().len());
        match crash {
            Some((kind, last)) => self.examine_crash(input, *kind, *last)?,
            None => self.doubt(input, None)?,
        }
        let time = self.world.clock.elapsed().saturating_sub(started);
        self.examinations.spend(time, self.results.bugs.all().len() > bugs);
        Ok(())
    }

    /// Looks for another cause of a crash than the one that was found at its last step.
    fn examine_crash(&mut self, input: &[u8], kind: BugKind, last: Step) -> Result<(), Stop> {
        let diagnoses = self.examine(input)?;
        if diagnoses.is_empty() {
            return Ok(());
        }
        let run = self.results.stats.runs;
        let failure = Failure { kind, last, input, stderr: b"", run };
        self.add_all(&failure, causes(Some(kind), diagnoses))
    }

    /// Has an input examined whose run ended well.
    pub(super) fn doubt(&mut self, input: &[u8], path: Option<&TracedPath>) -> Result<(), Stop> {
        let diagnoses = self.examine(input)?;
        let last = path.map_or(NOWHERE, last_step);
        let run = self.results.stats.runs;
        let failure = Failure { kind: BugKind::Reported, last, input, stderr: b"", run };
        self.add_all(&failure, causes(None, diagnoses))
    }

    pub(super) fn examine(&mut self, input: &[u8]) -> Result<Vec<Diagnosis>, Stop> {
        let started = self.world.clock.elapsed();
        let diagnoses = self.world.executor.examine(input).map_err(Stop::Execution)?;
        self.results.stats.examined += u64::from(self.world.executor.can_examine());
        self.results.stats.unfinished_examinations = self.world.executor.unfinished_examinations();
        let time = self.world.clock.elapsed().saturating_sub(started);
        self.results.stats.times.examining += time;
        let examined = Return { time, turns: 1, outcomes: 0 };
        self.results.stats.returns.add("second opinions", examined);
        Ok(diagnoses)
    }
}
