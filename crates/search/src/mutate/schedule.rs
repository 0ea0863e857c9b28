//! Which input is changed next: of a few that are drawn, the one that had the fewest turns for what
//! it was the first to cover, so that new inputs catch up with old ones and inputs that opened much
//! have more turns.

use fastrand::Rng;

use crate::Entry;

/// Inputs that are drawn for each turn.
const DRAWN: usize = 4;

/// Turns so far, by the number of the input: those of the corpus, then seeds.
#[derive(Debug, Default)]
pub(super) struct Schedule {
    turns: Vec<u32>,
    seed_turns: Vec<u32>,
}

impl Schedule {
    /// The number of an entry, or of a seed after those; 0 if there is neither.
    pub(super) fn pick(&mut self, found: &[Entry], seeds: usize, rng: &mut Rng) -> usize {
        self.turns.resize(found.len(), 0);
        self.seed_turns.resize(seeds, 0);
        let pool = (found.len() + seeds).max(1);
        let drawn = (0..DRAWN).map(|_| rng.usize(0..pool));
        let best = drawn.min_by_key(|index| self.cost(*index, found)).unwrap_or(0);
        let turns = match best.checked_sub(found.len()) {
            None => self.turns.get_mut(best),
            Some(seed) => self.seed_turns.get_mut(seed),
        };
        if let Some(turns) = turns {
            *turns = turns.saturating_add(1);
        }
        best
    }

    /// Children of what hangs tend to hang, so that such inputs come only if there are hardly any
    /// others.
    fn cost(&self, index: usize, found: &[Entry]) -> (bool, u64, usize) {
        match found.get(index) {
            Some(entry) => {
                let opened = 1 + u64::from(entry.new_outcomes.max(1).ilog2());
                (entry.hangs, u64::from(self.turns[index]) / opened, entry.input.len())
            }
            None => {
                let turns = self.seed_turns.get(index - found.len()).copied();
                (false, turns.unwrap_or(0).into(), 0)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Origin;

    fn entry(new_outcomes: usize, hangs: bool) -> Entry {
        let (input, origin) = (b"input".to_vec(), Origin::Mutation);
        Entry { id: 1, input, origin, new_outcomes, run: 1, hangs }
    }

    /// How often each entry and seed is picked.
    fn picks(found: &[Entry], seeds: usize) -> Vec<usize> {
        let (mut schedule, mut rng) = (Schedule::default(), Rng::with_seed(1));
        let mut picks = vec![0; (found.len() + seeds).max(1)];
        (0..3000).for_each(|_| picks[schedule.pick(found, seeds, &mut rng)] += 1);
        picks
    }

    #[test]
    fn what_opened_much_has_more_turns_and_what_hangs_hardly_any() {
        let picked = picks(&[entry(1, false), entry(64, false), entry(64, true)], 1);
        assert!(picked[1] > 2 * picked[0], "{picked:?}");
        assert!(picked[2] < picked[0] && picked[3] > picked[2], "{picked:?}");
        assert_eq!(picks(&[], 0), [3000]);
    }

    #[test]
    fn a_new_input_catches_up() {
        let (mut schedule, mut rng) = (Schedule::default(), Rng::with_seed(1));
        let mut found = vec![entry(1, false), entry(1, false)];
        for _ in 0..1000 {
            schedule.pick(&found, 0, &mut rng);
        }
        found.push(entry(1, false));
        let picked = (0..300).filter(|_| schedule.pick(&found, 0, &mut rng) == 2).count();
        assert!(picked > 180, "{picked} of 300");
    }
}
