//! Running a suite again: no solving, no searching.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

use search::{BugKind, Coverage, Ending, ExecError, Executor};
use serde::Serialize;

use crate::NamedInput;
use crate::report::CoverageReport;

#[derive(Clone, Debug, Serialize)]
pub struct Replay {
    pub inputs: usize,
    pub bugs: usize,
    pub coverage: CoverageReport,
    /// Ended by an interrupt before the last input.
    pub interrupted: bool,
}

#[derive(Clone, Debug, Serialize)]
pub struct ReplayedInput {
    pub path: PathBuf,
    pub outcome: String,
    pub is_bug: bool,
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
    outcomes: u32,
    inputs: &[NamedInput],
    stop: &AtomicBool,
    mut each: impl FnMut(&ReplayedInput),
) -> Result<Replay, ExecError> {
    let mut coverage = Coverage::new(outcomes);
    let mut done = Replay { inputs: 0, bugs: 0, coverage: report(&coverage), interrupted: false };
    for input in inputs {
        if stop.load(Ordering::Relaxed) {
            done.interrupted = true;
            break;
        }
        let execution = executor.run(&input.bytes, false)?;
        let new = coverage.add(&execution.covered);
        let replayed = replayed(input, execution.ending, execution.covered, new);
        done.inputs += 1;
        done.bugs += usize::from(replayed.is_bug);
        each(&replayed);
    }
    done.coverage = report(&coverage);
    Ok(done)
}

fn report(coverage: &Coverage) -> CoverageReport {
    CoverageReport { covered: coverage.covered(), total: coverage.total() }
}

fn replayed(input: &NamedInput, ending: Ending, outcomes: Vec<u32>, new: usize) -> ReplayedInput {
    let (is_bug, covered) = (BugKind::of(ending).is_some(), outcomes.len());
    ReplayedInput { path: input.path.clone(), outcome: ending.to_string(), is_bug, covered, new, outcomes }
}
