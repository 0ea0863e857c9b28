//! Which path a run took, and whether its input is kept.

use super::{Engine, Stop};
use crate::paths::path_of;
use crate::{Execution, Growth, KeepBy, Origin, Outcome, Proposal, TracedPath};

/// The path that a run took.
pub(super) struct Taken {
    /// Of a traced run.
    pub path: Option<TracedPath>,
    /// Tells it from other paths; of a run without a trace, only by what it covered.
    pub hash: u64,
    pub is_new: bool,
}

impl Engine<'_> {
    /// Where inputs are kept for their paths, a run without a trace is traced, but only if no run
    /// covered the same: tracing all would make strategies slow that need no traces.
    pub(super) fn path_taken(
        &mut self,
        Proposal { input, symbolic, .. }: &Proposal,
        execution: &mut Execution,
        covered: u64,
    ) -> Result<Taken, Stop> {
        let mut path = self.traced_path(execution);
        if self.results.corpus.keep_by() == KeepBy::Paths {
            let is_new_cover = self.paths.is_new_cover(covered);
            let can_be_traced = !symbolic && execution.outcome != Outcome::Timeout;
            if can_be_traced && !is_new_cover {
                self.results.stats.untraced += 1;
                return Ok(Taken { path: None, hash: covered, is_new: false });
            }
            if can_be_traced {
                let mut traced = self.execute(input, true)?;
                path = self.traced_path(&mut traced);
            }
        }
        let hash = path_of(path.as_ref(), covered, self.results.corpus.keep_by());
        let is_new = self.paths.is_new(hash);
        self.results.stats.paths += u64::from(is_new);
        Ok(Taken { path, hash, is_new })
    }

    /// Keeps an input that adds coverage or takes a new path, whichever is wanted. A trace that is
    /// made again has an input already.
    pub(super) fn keep(
        &mut self,
        input: &[u8],
        origin: &Origin,
        (new_outcomes, is_new_path): (usize, bool),
        hung: bool,
    ) -> Result<(), Stop> {
        let seconds = self.world.clock.elapsed().as_secs_f64();
        let (covered, stats) = (self.results.coverage.covered(), &mut self.results.stats);
        if new_outcomes > 0 {
            stats.growth.push(Growth { run: stats.runs, seconds, covered });
        }
        let is_wanted = match self.results.corpus.keep_by() {
            KeepBy::Coverage => new_outcomes > 0,
            KeepBy::Paths => is_new_path && *origin != Origin::Retrace,
        };
        if !is_wanted {
            return Ok(());
        }
        let entry = self.results.corpus.add(input, origin, new_outcomes, (stats.runs, hung));
        self.world.observer.new_entry(&entry).map_err(Stop::Output)
    }
}
