//! Inputs that are worth changing: seeds, and those that took an outcome, or took one about so
//! often, as the first. There are more of them than the corpus keeps.

use super::trim::signature;
use crate::{Hits, Origin, Outcome, Ran};

/// Outcomes that an entry remembers to be the first in.
const MAX_FIRST_IN: usize = 16;

#[derive(Debug)]
pub(super) struct Queued {
    pub input: Vec<u8>,
    /// How many branch outcomes this input was the first to take.
    pub new_outcomes: usize,
    /// Outcomes that this input was the first to take, or to take about so often.
    first_in: Vec<u32>,
    /// That run did not end.
    pub hangs: bool,
    /// Of how many outcomes this is the cheapest entry.
    cheapest_of: u32,
    cost: u64,
    pub turns: u32,
    /// What its run did, until it was trimmed.
    pub untrimmed: Option<u64>,
    pub is_traced: bool,
}

#[derive(Debug, Default)]
pub(super) struct Queue {
    entries: Vec<Queued>,
    /// Buckets of counts that were seen, by outcome.
    seen: Vec<u8>,
    /// The entry that takes an outcome at the least cost, by outcome.
    cheapest: Vec<Option<u32>>,
    /// Runs that took each outcome, and all.
    taken: Vec<u64>,
    runs: u64,
}

impl Queue {
    pub(super) fn entries(&self) -> &[Queued] {
        &self.entries
    }

    pub(super) fn entry(&mut self, number: usize) -> Option<&mut Queued> {
        self.entries.get_mut(number)
    }

    /// Takes note of a run, and of its input if that is worth changing.
    pub(super) fn learn(&mut self, ran: &Ran<'_>) {
        let first_in = self.note(ran.hits);
        let is_seed = matches!(ran.origin, Origin::Seed(_));
        let counts_differ = !first_in.is_empty() && matches!(ran.outcome, Outcome::Exit(_));
        if !(ran.new_outcomes > 0 || counts_differ || is_seed) {
            return;
        }
        self.entries.push(Queued {
            input: ran.input.to_vec(),
            new_outcomes: ran.new_outcomes,
            first_in,
            hangs: ran.outcome == Outcome::Timeout,
            cheapest_of: 0,
            cost: u64::MAX,
            turns: 0,
            untrimmed: matches!(ran.outcome, Outcome::Exit(_)).then(|| signature(ran.hits)),
            is_traced: false,
        });
        self.compare_costs(self.entries.len() - 1, ran.hits);
    }

    /// A shorter input does the same.
    pub(super) fn shorten(&mut self, number: usize, input: &[u8], hits: Hits<'_>) {
        if let Some(entry) = self.entries.get_mut(number) {
            entry.input = input.to_vec();
            self.compare_costs(number, hits);
        }
    }

    /// The first few outcomes that no run took, or took about so often.
    fn note(&mut self, hits: Hits<'_>) -> Vec<u32> {
        self.runs += 1;
        let mut first_in = Vec::new();
        for (outcome, bucket) in hits.buckets() {
            let place = outcome as usize;
            if place >= self.seen.len() {
                self.seen.resize(place + 1, 0);
                self.taken.resize(place + 1, 0);
                self.cheapest.resize(place + 1, None);
            }
            self.taken[place] += 1;
            if self.seen[place] & bucket == 0 {
                self.seen[place] |= bucket;
                first_in.push(outcome);
            }
        }
        // The rarest are the most telling.
        first_in.sort_by_key(|outcome| self.taken[*outcome as usize]);
        first_in.truncate(MAX_FIRST_IN);
        first_in
    }

    /// Whether an entry is the cheapest one of outcomes, now that its input is this. Time would be
    /// another from run to run, so that the number of branches stands for it.
    fn compare_costs(&mut self, number: usize, hits: Hits<'_>) {
        let branches: u64 = hits.counts.iter().map(|count| u64::from(*count)).sum();
        let cost = (branches + 1) * (self.entries[number].input.len() as u64 + 1);
        self.entries[number].cost = cost;
        for &outcome in hits.outcomes {
            let Some(cheapest) = self.cheapest.get_mut(outcome as usize) else { continue };
            let before = cheapest.map(|before| before as usize);
            if before.is_none_or(|before| cost < self.entries[before].cost) {
                *cheapest = Some(number as u32);
                self.entries[number].cheapest_of += 1;
                if let Some(before) = before {
                    self.entries[before].cheapest_of -= 1;
                }
            }
        }
    }

    pub(super) fn is_cheapest(&self, number: usize) -> bool {
        self.entries[number].cheapest_of > 0
    }

    /// How rare what an entry was the first in is among all runs: the logarithm of one in how many
    /// takes it.
    pub(super) fn rarity(&self, number: usize) -> u32 {
        let first_in = self.entries[number].first_in.iter();
        let rarest = first_in.map(|outcome| self.taken[*outcome as usize]).min();
        (self.runs / rarest.unwrap_or(self.runs).max(1)).max(1).ilog2()
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A run: its input, how many outcomes it was the first to take, how it ended, and how often
    /// it took outcomes.
    type Learnt<'a> = (&'a [u8], usize, Outcome, &'a [(u32, u8)]);

    /// A queue that learnt of runs.
    pub(in crate::mutate) fn queue(runs: &[Learnt<'_>]) -> Queue {
        let mut queue = Queue::default();
        for &(input, new_outcomes, outcome, hits) in runs {
            let (outcomes, counts): (Vec<u32>, Vec<u8>) = hits.iter().copied().unzip();
            let hits = Hits { outcomes: &outcomes, counts: &counts };
            let origin = &Origin::Mutation;
            queue.learn(&Ran {
                input,
                origin,
                outcome,
                new_outcomes,
                covered: 0,
                hits,
                path: None,
            });
        }
        queue
    }

    const ENDS: Outcome = Outcome::Exit(0);

    #[test]
    fn what_takes_an_outcome_in_another_bucket_is_kept() {
        let queue = queue(&[
            (b"first", 1, ENDS, &[(3, 1)]),
            (b"same", 0, ENDS, &[(3, 1)]),
            (b"loop", 0, ENDS, &[(3, 5)]),
            (b"about as often", 0, ENDS, &[(3, 7)]),
            (b"crash", 0, Outcome::Signal(11), &[(3, 200)]),
            (b"known from the crash", 0, ENDS, &[(3, 255)]),
            (b"other", 2, Outcome::Signal(11), &[(3, 1), (8, 1), (9, 1)]),
        ]);
        let kept: Vec<&[u8]> = queue.entries().iter().map(|entry| &entry.input[..]).collect();
        assert_eq!(kept, [&b"first"[..], b"loop", b"other"]);
    }

    #[test]
    fn the_cheapest_input_stands_for_an_outcome() {
        let mut queue = queue(&[
            (b"long input", 1, ENDS, &[(0, 1), (1, 1)]),
            (b"short", 0, ENDS, &[(0, 2)]),
            (b"short but slow", 0, ENDS, &[(0, 90), (1, 90)]),
        ]);
        let cheapest = |queue: &Queue| [0, 1, 2].map(|number| queue.is_cheapest(number));
        assert_eq!(cheapest(&queue), [true, true, false]);
        queue.shorten(1, b"s", Hits { outcomes: &[0, 1], counts: &[2, 1] });
        assert_eq!(cheapest(&queue), [false, true, false]);
        assert_eq!(queue.entries()[1].input, b"s");
    }

    #[test]
    fn what_few_runs_take_is_rare() {
        let often: Learnt<'_> = (b"often", 0, ENDS, &[(0, 1)]);
        let mut runs = vec![often; 64];
        runs[0].1 = 1;
        runs[9] = (b"rare", 1, ENDS, &[(0, 1), (7, 1)]);
        let queue = queue(&runs);
        assert_eq!([0, 1].map(|number| queue.rarity(number)), [0, 6]);
    }
}
