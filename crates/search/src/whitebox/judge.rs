//! A run and its prediction: whether it went where the solver's answer should have led, and what
//! its trace does not show.

use path::{Constraint, Trace};

use super::hard::Turn;
use super::store::Live;
use super::worklist::Candidate;
use super::{Expected, Whitebox};
use crate::{BugKind, Context, Outcome, Ran, TracedPath};

impl Whitebox<'_> {
    /// Compares a run with its prediction and returns its bound: one past the flip, or 0 for a run
    /// that went elsewhere, of which `explored` knows the part that is not new.
    pub(super) fn judge(
        &mut self,
        expected: &Expected,
        live: &Live,
        outcome: Outcome,
        context: &mut Context<'_>,
    ) -> usize {
        let (candidate, hash, optimistic, violation) = match *expected {
            Expected::Flip { candidate, hash, optimistic, violation, .. } => {
                (candidate, hash, optimistic, violation)
            }
            Expected::OtherValue { index, hash } => {
                self.completeness.divergences += u64::from(live.hashes.get(index) != Some(&hash));
                return 0;
            }
            Expected::Change { prefix, .. } => {
                let parted =
                    prefix.is_some_and(|(index, hash)| live.hashes.get(index) != Some(&hash));
                context.stats.divergences += u64::from(parted);
                return 0;
            }
            Expected::Rounds { .. } | Expected::Retrace(_) | Expected::Dropped => return 0,
        };
        let place = candidate.index as usize;
        let follows = live.hashes.get(place + 1) == Some(&hash);
        if optimistic {
            let step = live.constraints.get(place).map(Constraint::step);
            let confirmed =
                step.is_some_and(|step| step.direction == u64::from(candidate.direction));
            context.stats.optimism.confirmed += u64::from(confirmed);
        } else if !follows {
            let site = self.parting_site(candidate, live);
            *context.stats.divergence_sites.entry(site).or_default() += 1;
            context.stats.divergences += 1;
            self.completeness.divergences += 1;
        }
        if violation && follows && BugKind::of(outcome).is_none() {
            context.stats.silent_violations += 1;
        }
        if follows { place + 1 } else { 0 }
    }

    /// Where a run left the path that was predicted for it.
    pub(super) fn parting_site(&mut self, candidate: Candidate, live: &Live) -> u32 {
        let Some(parent) = self.store.live(candidate.run) else { return 0 };
        let common = parent.hashes.iter().zip(&live.hashes).take_while(|(a, b)| a == b).count();
        let parting = common.saturating_sub(1).min(candidate.index as usize);
        parent.constraints.get(parting).map_or(0, |constraint| constraint.site)
    }

    /// Counts what stands against completeness, unless an earlier session counted the same path.
    pub(super) fn note_limits(&mut self, limits: &PathLimits, live: &Live, outcome: Outcome) {
        let depth = live.constraints.len().min(self.options.max_depth);
        if self.earlier.contains(&live.hashes[depth]) {
            return;
        }
        self.completeness.cut_at_depth += u64::from(live.constraints.len() > depth);
        self.completeness.truncated_traces += u64::from(limits.truncated);
        self.completeness.runs_with_give_ups += u64::from(limits.gave_up);
        self.completeness.stopped_runs +=
            u64::from(matches!(outcome, Outcome::Timeout | Outcome::OutOfMemory));
    }

    pub(super) fn learn_retrace(&mut self, turn: Turn, ran: Ran<'_>, context: &mut Context<'_>) {
        context.stats.retraces += 1;
        let restored =
            ran.path.is_some_and(|path| self.store.restore(turn.candidate.run, Live::new(path)));
        if restored {
            self.ready = Some(turn);
        } else {
            context.stats.divergences += 1;
            self.completeness.divergences += 1;
        }
    }
}

/// What a trace does not show of its run.
pub(super) struct PathLimits {
    truncated: bool,
    gave_up: bool,
}

impl PathLimits {
    pub(super) fn of(path: &TracedPath) -> PathLimits {
        let Trace { give_ups, truncated, .. } = &path.trace;
        PathLimits { truncated: *truncated, gave_up: give_ups.iter().any(|&count| count > 0) }
    }
}
