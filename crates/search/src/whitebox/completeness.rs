//! What an exhaustive search may claim at its end.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Everything that can stand between a search that has nothing left to do and "all paths were
/// explored".
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Completeness {
    /// Nothing was left to do when the search ended.
    pub finished: bool,
    /// Paths whose constraints beyond the depth bound were not flipped. A bound that was asked for
    /// does not make the search incomplete, but it is said.
    pub cut_at_depth: u64,
    pub unknown_answers: u64,
    pub divergences: u64,
    /// Values that were fixed although others are possible.
    pub concretisations: u64,
    /// Runs in which symbolic data was dropped.
    pub runs_with_give_ups: u64,
    pub truncated_traces: u64,
    /// Runs without a usable trace.
    pub untraced_runs: u64,
    /// Runs stopped at the time or memory limit.
    pub stopped_runs: u64,
}

impl Completeness {
    /// All paths within the bounds were explored.
    pub fn is_complete(&self) -> bool {
        self.finished && self.broken_by().is_empty()
    }

    /// Takes over what stands against another search's claim.
    pub fn add(&mut self, other: &Completeness) {
        self.cut_at_depth += other.cut_at_depth;
        self.unknown_answers += other.unknown_answers;
        self.divergences += other.divergences;
        self.concretisations += other.concretisations;
        self.runs_with_give_ups += other.runs_with_give_ups;
        self.truncated_traces += other.truncated_traces;
        self.untraced_runs += other.untraced_runs;
        self.stopped_runs += other.stopped_runs;
    }

    /// What broke completeness, in words.
    pub fn broken_by(&self) -> Vec<String> {
        let causes = [
            (self.unknown_answers, "queries that the solver could not answer"),
            (self.divergences, "runs that left the predicted path"),
            (self.concretisations, "values fixed although others are possible"),
            (self.runs_with_give_ups, "runs in which symbolic data was dropped"),
            (self.truncated_traces, "traces that were cut"),
            (self.untraced_runs, "runs without a usable trace"),
            (self.stopped_runs, "runs stopped at the time or memory limit"),
        ];
        causes
            .iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, what)| format!("{count} {what}"))
            .collect()
    }
}

impl fmt::Display for Completeness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let causes = self.broken_by();
        match (self.finished, causes.is_empty()) {
            (true, true) => f.write_str("complete: all paths within the bounds were explored")?,
            (true, false) => write!(f, "not complete: {}", causes.join(", "))?,
            (false, true) => f.write_str("not complete: stopped before all flips were tried")?,
            (false, false) => {
                write!(
                    f,
                    "not complete: stopped before all flips were tried; {}",
                    causes.join(", ")
                )?;
            }
        }
        match self.cut_at_depth {
            0 => Ok(()),
            cut => write!(f, " ({cut} paths are longer than the depth bound)"),
        }
    }
}
