//! Runs that went wrong: what was the cause, and is it known?

use path::PathCondition;

use super::{Engine, NOWHERE, RunOnce, Stop, last_step};
use crate::judgement::causes;
use crate::{BugKind, Diagnosis, Failure, Sighting};

impl Engine<'_> {
    pub(super) fn bug(&mut self, kind: BugKind, run: &RunOnce<'_>) -> Result<(), Stop> {
        let last = match run.path {
            Some(path) => last_step(path),
            None => self.triage(kind, run)?.step,
        };
        let number = self.results.stats.runs;
        let failure =
            Failure { kind, last, input: run.input, stderr: &run.execution.stderr, run: number };
        self.crash(&failure, run)
    }

    /// A crash after a known last step may still have another cause: a search that claims something
    /// looks into each, others as far as there is time.
    pub(super) fn crash(&mut self, failure: &Failure, run: &RunOnce<'_>) -> Result<(), Stop> {
        if !self.results.bugs.is_stale(failure) || run.claims && !self.is_examined(run) {
            self.examinations.examined(run.signature, run.input.len());
            return match self.examine(failure.input) {
                Ok(diagnoses) => self.add_all(failure, causes(Some(failure.kind), diagnoses)),
                // What was found is kept.
                Err(_) if self.is_interrupted() => self.add_bug(failure, None),
                Err(stop) => Err(stop),
            };
        }
        if self.world.executor.can_examine() {
            let crash = Some((failure.kind, failure.last));
            self.examinations.offer(failure.input, run.signature, run.path, crash);
        }
        self.add_bug(failure, None)
    }

    pub(super) fn add_all(
        &mut self,
        failure: &Failure,
        causes: Vec<(BugKind, Option<Diagnosis>)>,
    ) -> Result<(), Stop> {
        causes.into_iter().try_for_each(|(kind, cause)| {
            let stderr = if kind == BugKind::Reported { b"" } else { failure.stderr };
            self.add_bug(&Failure { kind, stderr, ..*failure }, cause)
        })
    }

    /// Inputs that tamper with what the program shares with its executor: found, whatever else they
    /// do.
    pub(super) fn add_offences(&mut self) -> Result<(), Stop> {
        for offence in self.world.executor.take_offences() {
            let (kind, run) = (BugKind::Reported, self.results.stats.runs);
            let failure = Failure { kind, last: NOWHERE, input: &offence.input, stderr: b"", run };
            self.add_bug(&failure, Some(offence.diagnosis()))?;
        }
        Ok(())
    }

    pub(super) fn add_bug(
        &mut self,
        failure: &Failure,
        diagnosis: Option<Diagnosis>,
    ) -> Result<(), Stop> {
        let (sighting, bug) = self.results.bugs.add(failure, diagnosis);
        if sighting == Sighting::Known {
            return Ok(());
        }
        let id = bug.id;
        self.shrinking.want(bug);
        // The bug was seen in a variant; what counts is the program.
        let plain = match self.world.executor.run_plain(failure.input) {
            // It is kept although nobody could ask the program.
            Err(_) if self.is_interrupted() => None,
            plain => plain.map_err(Stop::Execution)?,
        };
        match self.results.bugs.confirm(id, plain) {
            Some(bug) => self.world.observer.new_bug(bug, sighting).map_err(Stop::Output),
            None => Ok(()),
        }
    }

    pub(super) fn note_violations(
        &mut self,
        input: &[u8],
        path: &PathCondition,
    ) -> Result<(), Stop> {
        let found = self.results.violations.add(input, path, self.layout.as_ref());
        for (violation, sighting) in found {
            self.world.observer.new_violation(&violation, sighting).map_err(Stop::Output)?;
        }
        Ok(())
    }
}
