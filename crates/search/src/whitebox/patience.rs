//! Which flips are beyond the solver. A question that it cannot answer costs its whole time limit, and the same branch tends to
//! ask the same kind of question in every run: after a few without an answer, only some are still asked.

use std::collections::HashMap;

use path::Step;

/// Questions without an answer in a row that are borne.
const BORNE: u32 = 3;
/// Of the later ones, one in so many is asked.
const ONE_IN: u32 = 16;

#[derive(Default)]
pub(super) struct Patience {
    /// Questions since the last answer, those that were not asked included.
    unanswered: HashMap<Step, u32>,
}

impl Patience {
    /// Whether to ask for a run that goes this way.
    pub(super) fn asks(&mut self, step: Step) -> bool {
        let Some(unanswered) = self.unanswered.get_mut(&step).filter(|count| **count >= BORNE) else {
            return true;
        };
        *unanswered += 1;
        (*unanswered - BORNE).is_multiple_of(ONE_IN)
    }

    pub(super) fn learn(&mut self, step: Step, answered: bool) {
        if answered {
            self.unanswered.remove(&step);
        } else {
            *self.unanswered.entry(step).or_default() += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_branch_without_answers_is_asked_about_less_and_less() {
        let step = Step { site: 1, direction: 0 };
        let mut patience = Patience::default();
        assert!((0..100).all(|_| patience.asks(step)), "nothing is known against it");
        let mut asked = 0;
        for _ in 0..100 {
            if patience.asks(step) {
                asked += 1;
                patience.learn(step, false);
            }
        }
        assert!((BORNE..20).contains(&asked), "{asked}");
        patience.learn(step, true);
        assert!(patience.asks(step));
    }
}
