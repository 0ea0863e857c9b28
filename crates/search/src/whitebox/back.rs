//! Back to the predicted path: the second step of a flip whose first one led elsewhere.
//!
//! What code that is not followed computes is a constant in the constraints of a run. So a flip
//! that changes what went in leads elsewhere: `x == hash(y)` is solved for the old `y` only. But
//! the run that parted from its prediction knows the new `hash(y)`. Its constraint where it parted
//! is flipped, with all other bytes as they are, and the next run may get to where the first was
//! to go.

use super::expand::{is_wanted, target_of};
use super::store::Live;
use super::worklist::Candidate;
use super::{Expected, Whitebox};
use crate::Context;

/// Steps after one flip: several values may depend on each other.
const MAX_STEPS: u32 = 4;

/// Flips that lead back, of runs that parted from their predictions.
#[derive(Default)]
pub(super) struct Back {
    waiting: Option<Candidate>,
    /// Steps since the last flip of another kind.
    steps: u32,
}

/// Of a run: its constraint at which it parted, and where it should have gone.
pub(super) type WayBack = (u32, u32);

impl Back {
    pub(super) fn push(&mut self, run: u32, (index, direction): WayBack) {
        self.waiting = Some(Candidate { run, index, direction });
    }

    /// The flip of the last run, if there is one.
    pub(super) fn pop(&mut self) -> Option<Candidate> {
        let candidate = self.waiting.take();
        self.steps = candidate.map_or(0, |_| self.steps + 1);
        candidate
    }

    fn has_room(&self) -> bool {
        self.steps < MAX_STEPS
    }
}

impl Whitebox<'_> {
    /// How a run that parted from its prediction gets back to it, if what it was made for is still
    /// wanted and the run met the same condition.
    pub(super) fn way_back(
        &mut self,
        expected: Option<&Expected>,
        bound: usize,
        live: &Live,
        context: &Context<'_>,
    ) -> Option<WayBack> {
        let Some(&Expected::Flip { candidate, optimistic: false, .. }) = expected else {
            return None;
        };
        let followed = bound > 0;
        if followed || self.options.exhaustive || !self.back.has_room() {
            return None;
        }
        let parent = self.store.live(candidate.run)?;
        let goal = parent.constraints.get(candidate.index as usize)?;
        let target = target_of(goal, u64::from(candidate.direction), context.sites);
        let common = parent.hashes.iter().zip(&live.hashes).take_while(|(a, b)| a == b).count();
        let index = common.checked_sub(1).filter(|index| *index <= candidate.index as usize)?;
        let predicted = parent.constraints.get(index)?;
        let direction = match index == candidate.index as usize {
            true => u64::from(candidate.direction),
            false => predicted.step().direction,
        };
        let met = live.constraints.get(index)?;
        let is_other_side =
            met.site == predicted.site && met.other_directions(context.sites).contains(&direction);
        (is_other_side && is_wanted(&target, context, &self.taken))
            .then_some((index as u32, direction as u32))
    }
}
