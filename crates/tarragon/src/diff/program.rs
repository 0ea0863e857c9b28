//! One of the two programs: what it does with an input, and the search that makes inputs for it.

use std::collections::BTreeSet;

use anyhow::Result;
use diff::Observation;
use executor::Observed;
use search::{Engine, Progress, Stop, TracedPath};
use sites::{SiteKind, SiteTable};

use super::exchange::{Exchange, Generated};

pub(crate) struct Program<'a> {
    pub observed: Observed,
    /// Of a program that was built with Tarragon.
    pub search: Option<Search<'a>>,
}

pub(crate) struct Search<'a> {
    pub engine: Engine<'a>,
    pub strategy: Exchange<'a>,
    pub sites: &'a SiteTable,
    pub is_finished: bool,
}

/// What a trace tells about the origin of a difference.
#[derive(Default)]
pub(crate) struct Traced {
    /// The last branch that depended on the input.
    pub stopped: Option<String>,
    /// The functions that ran.
    pub ran: Option<BTreeSet<String>>,
}

impl Program<'_> {
    pub(crate) fn observe(&mut self, input: &[u8]) -> Result<Observation> {
        let run = self.observed.run(input)?;
        let (stdout, stderr) = (run.stdout, run.stderr);
        Ok(Observation { outcome: run.outcome, stdout, stderr, files: run.files })
    }

    pub(crate) fn trace(&mut self, input: &[u8]) -> Result<Traced> {
        let Some(Search { engine, sites, .. }) = &mut self.search else {
            return Ok(Traced::default());
        };
        let executor = engine.executor();
        executor.restrict(None, None);
        let execution = executor.run(input, true)?;
        let ran = Some(functions(sites, &execution.covered));
        let path = execution.trace.map(|trace| TracedPath::new(trace, sites));
        let last = path.and_then(|path| Some(path.condition.constraints.last()?.step().site));
        let stopped = last.map_or_else(|| "no branch".to_owned(), |site| sites.place(site));
        Ok(Traced { stopped: Some(stopped), ran })
    }
}

impl Search<'_> {
    /// A part of the search. Says what was run, and why it ended, if it did.
    pub(crate) fn advance(&mut self, steps: usize) -> (Vec<Generated>, Option<Stop>) {
        let stop = match self.engine.advance(&mut self.strategy, steps) {
            Ok(progress) => {
                self.is_finished = progress == Progress::Finished;
                None
            }
            Err(stop) => Some(stop),
        };
        (self.strategy.take_generated(), stop)
    }

    pub(crate) fn has_more(&self) -> bool {
        !self.is_finished || self.strategy.has_offers()
    }
}

/// Names of the functions to which branch outcomes belong.
fn functions(sites: &SiteTable, covered: &[u32]) -> BTreeSet<String> {
    let outcomes = |kind: &SiteKind| match kind {
        SiteKind::Plain => 0..0,
        SiteKind::Branch { coverage } => *coverage..coverage + 2,
        SiteKind::Switch { coverage, cases } => *coverage..coverage + cases.len() as u32 + 1,
    };
    // Both are in order, so that a branch that was taken is soon found.
    let is_covered = |range: std::ops::Range<u32>| {
        let first = covered.partition_point(|outcome| *outcome < range.start);
        covered.get(first).is_some_and(|outcome| range.contains(outcome))
    };
    let taken = sites.sites.iter().filter(|site| is_covered(outcomes(&site.kind)));
    let names = taken.filter_map(|site| sites.functions.get(site.function as usize));
    names.cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use sites::Site;

    #[test]
    fn functions_ran_if_a_branch_of_theirs_did() {
        let site = |function, kind| Site { function, kind, ..Site::default() };
        let sites = SiteTable {
            functions: ["f", "g", "h"].map(str::to_owned).to_vec(),
            sites: vec![
                Site::default(),
                site(0, SiteKind::Branch { coverage: 0 }),
                site(1, SiteKind::Switch { coverage: 2, cases: vec![1, 2] }),
                site(2, SiteKind::Branch { coverage: 5 }),
            ],
            outcomes: 7,
            ..SiteTable::default()
        };
        let names = |covered: &[u32]| functions(&sites, covered).into_iter().collect::<Vec<_>>();
        assert_eq!(names(&[1, 4]), ["f", "g"]);
        assert_eq!(names(&[5]), ["h"]);
        assert!(names(&[]).is_empty());
    }
}
