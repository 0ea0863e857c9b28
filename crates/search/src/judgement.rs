//! What the program and its variants say about one input, outside a search.

use path::{PathCondition, Step};
use sites::SiteTable;

use crate::engine::{NOWHERE, last_step_of};
use crate::{BugKind, Diagnosis, ExecError, Executor, Outcome};

#[derive(Clone, Debug)]
pub struct Judgement {
    /// How the traced variant ended.
    pub traced: Outcome,
    /// How the program itself ended, if that is known.
    pub plain: Option<Outcome>,
    /// Coverage indices of the branch outcomes that the run took.
    pub covered: Vec<u32>,
    /// What is wrong, with what is known about the cause.
    pub failures: Vec<(BugKind, Option<Diagnosis>)>,
    /// The last step at which the run depended on its input.
    pub last: Step,
    pub stderr: Vec<u8>,
}

impl Judgement {
    /// Runs the input in the program and in its variants, each in a process of its own.
    pub fn new(
        executor: &mut dyn Executor,
        sites: &SiteTable,
        input: &[u8],
    ) -> Result<Judgement, ExecError> {
        let execution = executor.run(input, false)?;
        let plain = executor.run_plain(input)?;
        let failures = failures(executor, input, execution.outcome, plain)?;
        // A trace is only for what nothing else is known about.
        let untold = failures.iter().any(|(kind, cause)| *kind != BugKind::Hang && cause.is_none());
        let trace = if untold { executor.run(input, true)?.trace } else { None };
        let last = trace.map(|mut trace| last_step_of(&PathCondition::new(&mut trace, sites)));
        Ok(Judgement {
            traced: execution.outcome,
            plain,
            covered: execution.covered,
            failures,
            last: last.unwrap_or(NOWHERE),
            stderr: execution.stderr,
        })
    }

    /// Whether the program tampers with what it shares shows only where processes are shared, and
    /// that costs new servers: it is asked for where there is a reason.
    pub fn look_for_tampering(
        &mut self,
        executor: &mut dyn Executor,
        input: &[u8],
    ) -> Result<(), ExecError> {
        let offences = executor.look_for_tampering(input)?;
        let found =
            offences.into_iter().map(|offence| (BugKind::Reported, Some(offence.diagnosis())));
        self.failures.extend(found);
        Ok(())
    }

    /// The program's own outcome counts, if it is known.
    pub fn outcome(&self) -> Outcome {
        self.plain.unwrap_or(self.traced)
    }

    pub fn hangs(&self) -> bool {
        self.outcome() == Outcome::Timeout
    }

    /// Whether anything is wrong besides that a run does not end.
    pub fn is_bug(&self) -> bool {
        self.failures.iter().any(|(kind, _)| *kind != BugKind::Hang)
    }
}

fn failures(
    executor: &mut dyn Executor,
    input: &[u8],
    traced: Outcome,
    plain: Option<Outcome>,
) -> Result<Vec<(BugKind, Option<Diagnosis>)>, ExecError> {
    let hangs = plain.unwrap_or(traced) == Outcome::Timeout;
    let mut failures = if hangs { hang_causes(executor.locate_hang(input)?) } else { Vec::new() };
    let crash = |outcome| BugKind::of(outcome).filter(|kind| *kind != BugKind::Hang);
    let ended_by = plain.and_then(crash).or_else(|| crash(traced));
    if !hangs || ended_by.is_some() {
        failures.extend(causes(ended_by, executor.examine(input)?));
    }
    Ok(failures)
}

/// A hang where its loop is or a deadlock where its threads wait, and the mistakes on the way there.
pub(crate) fn hang_causes(diagnoses: Vec<Diagnosis>) -> Vec<(BugKind, Option<Diagnosis>)> {
    let is_why = |diagnosis: &Diagnosis| {
        [Diagnosis::ENDLESS_LOOP, Diagnosis::DEADLOCK].contains(&diagnosis.kind.as_str())
    };
    let (whys, mistakes): (Vec<_>, Vec<_>) = diagnoses.into_iter().partition(is_why);
    let why = whys.into_iter().next();
    let is_deadlock = why.as_ref().is_some_and(|why| why.kind == Diagnosis::DEADLOCK);
    let hang = (if is_deadlock { BugKind::Deadlock } else { BugKind::Hang }, why);
    let mistakes = mistakes.into_iter().map(|diagnosis| (BugKind::Reported, Some(diagnosis)));
    std::iter::once(hang).chain(mistakes).collect()
}

/// Says which diagnosis is of what ended the run; the others are mistakes that it survived.
pub(crate) fn causes(
    ended_by: Option<BugKind>,
    mut diagnoses: Vec<Diagnosis>,
) -> Vec<(BugKind, Option<Diagnosis>)> {
    if ended_by.is_some() {
        // The program itself tells as much.
        diagnoses.retain(|diagnosis| !diagnosis.is_unreported());
    }
    let fatal = diagnoses.iter().position(|diagnosis| diagnosis.fatal);
    let outcome = ended_by.map(|kind| {
        let at = fatal.or(diagnoses.len().checked_sub(1));
        (kind, at.map(|at| diagnoses.remove(at)))
    });
    let survived = diagnoses.into_iter().map(|diagnosis| (BugKind::Reported, Some(diagnosis)));
    outcome.into_iter().chain(survived).collect()
}
