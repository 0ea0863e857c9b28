//! The flips of a new run go on the worklist.

use path::{Constraint, Purpose, Step};
use rustc_hash::FxHashSet;
use sites::SiteTable;

use super::Whitebox;
use super::back::WayBack;
use super::store::Live;
use super::worklist::{Candidate, Target, thin_out};
use crate::{Change, Context};

/// Steps of runs that are remembered as explored. Beyond it, runs with a common prefix may repeat
/// each other's flips.
const EXPLORED: usize = 16 << 20;

/// Stands for "any other value" as the direction of a concretisation.
pub(super) const OTHER_VALUE: u32 = u32::MAX;
/// The same where the value is a pointer that the program calls or jumps through.
pub(super) const OTHER_TARGET: u32 = u32::MAX - 1;

/// What is to be done with a new run.
#[derive(Default)]
pub(super) struct Plan {
    /// The first constraint that may be flipped.
    pub bound: usize,
    /// Its flips come the earlier, the higher this is.
    pub score: usize,
    pub changes: Vec<Change>,
    pub back: Option<WayBack>,
    /// The run was expanded before: what was left over then has its turn now.
    pub again: bool,
}

impl Whitebox<'_> {
    /// Puts the flips of a new run on the worklist.
    pub(super) fn expand(
        &mut self,
        input: &[u8],
        live: Live,
        plan: Plan,
        context: &mut Context<'_>,
    ) {
        let Plan { bound, score, changes, back, again } = plan;
        let number = self.store.next_number();
        let depth = live.constraints.len().min(self.options.max_depth);
        let mut flips = Vec::new();
        for (index, constraint) in live.constraints.iter().enumerate().take(depth).skip(bound) {
            self.note_taken(constraint);
            if self.is_new_step(live.hashes[index + 1]) || again {
                self.flips_of(
                    constraint,
                    live.hashes[index],
                    (number, index as u32),
                    context.sites,
                    &mut flips,
                );
            }
        }
        if !self.options.exhaustive {
            let all = flips.len();
            flips = thin_out(flips);
            context.stats.dropped_flips += (all - flips.len()) as u64;
            if all > flips.len() {
                self.dropped.note(input);
            }
        }
        let count = flips.len() + changes.len() + usize::from(back.is_some());
        if count == 0 {
            return;
        }
        self.store.add(input, live, count);
        if let Some(back) = back {
            self.back.push(number, back);
        }
        for change in changes {
            if let Some(run) = self.changes.push(number, change) {
                self.store.finished_flip(run);
            }
        }
        for (candidate, target) in flips {
            self.worklist.push(candidate, target, score);
        }
        self.forget_dropped(context);
    }

    pub(super) fn is_new_step(&mut self, hash: u64) -> bool {
        if self.explored.len() < EXPLORED {
            self.explored.insert(hash)
        } else {
            !self.explored.contains(&hash)
        }
    }

    pub(super) fn note_taken(&mut self, constraint: &Constraint) {
        if constraint.outcome.is_none() && !constraint.is_concretisation() {
            self.taken.insert(constraint.step());
        }
    }

    pub(super) fn flips_of(
        &self,
        constraint: &Constraint,
        prefix: u64,
        (run, index): (u32, u32),
        sites: &SiteTable,
        flips: &mut Vec<(Candidate, Target)>,
    ) {
        // Answers that are to be sentences need not be ones with another value.
        let is_asked_of_targets = self.sentences.is_none() || self.options.outside;
        let direction = match constraint.is_target() {
            true if is_asked_of_targets => Some(OTHER_TARGET),
            _ if constraint.is_concretisation() && self.options.exhaustive => Some(OTHER_VALUE),
            _ => None,
        };
        if let Some(direction) = direction {
            let target =
                Target { site: constraint.site, direction, outcome: None, violation: false };
            flips.push((Candidate { run, index, direction }, target));
        }
        for direction in constraint.other_directions(sites) {
            let target = Step { site: constraint.site, direction }.after(prefix);
            if self.explored.contains(&target) || self.earlier.contains(&target) {
                continue;
            }
            let target = target_of(constraint, direction, sites);
            flips.push((Candidate { run, index, direction: direction as u32 }, target));
        }
    }

    pub(super) fn forget_dropped(&mut self, context: &mut Context<'_>) {
        let dropped = self.worklist.take_dropped().into_iter().chain(self.hard.take_dropped());
        for candidate in dropped {
            context.stats.dropped_flips += 1;
            if let Some(input) = self.store.input(candidate.run) {
                self.dropped.note(input);
            }
            self.store.finished_flip(candidate.run);
        }
    }
}

pub(super) fn target_of(constraint: &Constraint, direction: u64, sites: &SiteTable) -> Target {
    Target {
        site: constraint.site,
        direction: direction as u32,
        outcome: constraint.outcome_of(direction, sites),
        violation: constraint.purpose(direction) != Purpose::Cover,
    }
}

/// A side that was never taken, or a property that was never violated.
pub(super) fn is_wanted(target: &Target, context: &Context<'_>, taken: &FxHashSet<Step>) -> bool {
    match target.outcome {
        Some(outcome) => !context.coverage.has(outcome),
        None if target.direction == OTHER_VALUE => false,
        None => {
            !taken.contains(&Step { site: target.site, direction: u64::from(target.direction) })
        }
    }
}
