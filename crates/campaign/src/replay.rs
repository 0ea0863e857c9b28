//! Running a suite again: no solving, no searching.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

use search::{Bug, BugKind, Bugs, Coverage, ExecError, Executor, Failure, Judgement, Rounds};
use serde::Serialize;
use sites::SiteTable;

use crate::NamedInput;
use crate::report::CoverageReport;
use crate::triage::records_tampering;

#[derive(Clone, Debug, Serialize)]
pub struct Replay {
    pub inputs: usize,
    pub bugs: usize,
    /// Inputs on which the program does not end, and shows no bug.
    pub hangs: usize,
    pub coverage: CoverageReport,
    /// Ended by an interrupt before the last input.
    pub interrupted: bool,
}

#[derive(Clone, Debug, Serialize)]
pub struct ReplayedInput {
    pub path: PathBuf,
    /// How the program itself ends, or its traced variant if that is not known.
    pub outcome: String,
    /// How the traced variant ends, where it disagrees.
    pub traced: Option<String>,
    /// What the sanitized variant reports.
    pub reports: Vec<String>,
    /// Of a run that does not end: its loops and what keeps them going.
    pub rounds: Option<Rounds>,
    pub is_bug: bool,
    pub is_hang: bool,
    /// Branch outcomes that the input covers, and how many no input before it did.
    pub covered: usize,
    pub new: usize,
    /// The outcomes themselves.
    #[serde(skip)]
    pub outcomes: Vec<u32>,
}

/// Runs the inputs in order and tells `each` about every one of them.
pub fn replay(
    executor: &mut dyn Executor,
    sites: &SiteTable,
    inputs: &[NamedInput],
    stop: &AtomicBool,
    mut each: impl FnMut(&ReplayedInput),
) -> Result<Replay, ExecError> {
    let mut coverage = Coverage::new(sites.outcomes);
    let mut done =
        Replay { inputs: 0, bugs: 0, hangs: 0, coverage: report(&coverage), interrupted: false };
    for input in inputs {
        if stop.load(Ordering::Relaxed) {
            done.interrupted = true;
            break;
        }
        let mut judgement = Judgement::new(executor, sites, &input.bytes)?;
        if records_tampering(input) {
            judgement.look_for_tampering(executor, &input.bytes)?;
        }
        let new = coverage.add(&judgement.covered);
        let replayed = replayed(input, judgement, new);
        done.inputs += 1;
        done.bugs += usize::from(replayed.is_bug);
        done.hangs += usize::from(replayed.is_hang && !replayed.is_bug);
        each(&replayed);
    }
    done.coverage = report(&coverage);
    Ok(done)
}

fn report(coverage: &Coverage) -> CoverageReport {
    CoverageReport { covered: coverage.covered(), total: coverage.total() }
}

fn replayed(input: &NamedInput, judgement: Judgement, new: usize) -> ReplayedInput {
    let outcome = judgement.outcome();
    let disagrees = BugKind::of(outcome) != BugKind::of(judgement.traced);
    ReplayedInput {
        path: input.path.clone(),
        outcome: outcome.to_string(),
        traced: disagrees.then(|| judgement.traced.to_string()),
        reports: diagnosed(&judgement, &input.bytes),
        rounds: rounds(&judgement),
        is_bug: judgement.is_bug(),
        is_hang: judgement.hangs(),
        covered: judgement.covered.len(),
        new,
        outcomes: judgement.covered,
    }
}

fn rounds(judgement: &Judgement) -> Option<Rounds> {
    judgement.failures.iter().find_map(|(_, diagnosis)| diagnosis.as_ref()?.rounds.clone())
}

/// Kinds and innermost frames of what has a diagnosis.
fn diagnosed(judgement: &Judgement, input: &[u8]) -> Vec<String> {
    let mut bugs = Bugs::default();
    for (kind, diagnosis) in judgement.failures.iter().filter(|(_, diagnosis)| diagnosis.is_some())
    {
        bugs.add(&failure(judgement, *kind, input), diagnosis.clone());
    }
    bugs.all().iter().map(headline).collect()
}

pub(crate) fn failure<'a>(judgement: &'a Judgement, kind: BugKind, input: &'a [u8]) -> Failure<'a> {
    Failure { kind, last: judgement.last, input, stderr: &judgement.stderr, run: 0 }
}

/// What is wrong, and where if that is known.
pub(crate) fn headline(bug: &Bug) -> String {
    let title = bug.title();
    bug.place().map_or(title.clone(), |place| format!("{title} in {place}"))
}
