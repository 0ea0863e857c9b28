//! A small subset of a suite that covers the same branch outcomes.
//!
//! Finding the smallest one is set cover, which is hard. So: what only one input covers needs that
//! input; of the others, the one that adds most is taken, again and again; then those are dropped
//! that became superfluous. Outcomes no two of which have an input in common need an input each:
//! where the subset is no larger than that, it is the smallest. Where it is larger, all other
//! choices are gone through, as far as that bound leaves hope and a limit allows; most outcomes say
//! nothing then, because who covers a rarer one covers them.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashSet};

/// Which inputs to keep.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Minimised {
    /// Numbers of the inputs, in order.
    pub kept: Vec<usize>,
    /// No subset with the same coverage has fewer inputs than this.
    pub at_least: usize,
}

impl Minimised {
    pub fn is_smallest(&self) -> bool {
        self.kept.len() == self.at_least
    }
}

/// Steps of the search, each of which looks at an input of a demand: about a second.
const MAX_STEPS: usize = 10_000_000;

/// Chooses among inputs, of each of which the covered outcomes and the length are given. Of inputs
/// that add as much, the shortest is taken.
pub fn minimise(inputs: &[(Vec<u32>, usize)]) -> Minimised {
    minimise_within(inputs, MAX_STEPS)
}

fn minimise_within(inputs: &[(Vec<u32>, usize)], steps: usize) -> Minimised {
    let mut coverers: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    for (number, (covered, _)) in inputs.iter().enumerate() {
        covered.iter().for_each(|outcome| coverers.entry(*outcome).or_default().push(number));
    }
    let essential = coverers.values().filter(|by| by.len() == 1).map(|by| by[0]);
    let mut kept: Vec<usize> = essential.collect();
    kept.sort_unstable();
    kept.dedup();
    while let Some(best) = best_addition(inputs, &coverers, &kept) {
        kept.push(best);
    }
    drop_superfluous(inputs, &mut kept);
    let demands = demands(&coverers);
    let (forced, open): (Vec<&[usize]>, Vec<&[usize]>) =
        demands.iter().map(Vec::as_slice).partition(|demand| demand.len() == 1);
    let mut search = Search { best: kept, steps };
    let is_complete = search.run(&mut forced.concat(), &open);
    let mut kept = search.best;
    kept.sort_unstable();
    let at_least = if is_complete { kept.len() } else { forced.len() + independent(&open) };
    Minimised { kept, at_least }
}

/// Sets of inputs of each of which one is needed, the smallest first; none holds another.
fn demands(coverers: &BTreeMap<u32, Vec<usize>>) -> Vec<Vec<usize>> {
    let mut sets: Vec<&Vec<usize>> = coverers.values().collect();
    sets.sort_by_key(|set| (set.len(), *set));
    sets.dedup();
    let mut demands: Vec<Vec<usize>> = Vec::new();
    for set in sets {
        let holds =
            |smaller: &Vec<usize>| smaller.iter().all(|number| set.binary_search(number).is_ok());
        if !demands.iter().any(holds) {
            demands.push(set.clone());
        }
    }
    demands
}

/// Looks for fewer inputs than the best choice so far has.
struct Search {
    best: Vec<usize>,
    steps: usize,
}

impl Search {
    /// Goes through all choices that meet the demands left open, the smallest first; false if there
    /// were too many.
    fn run(&mut self, chosen: &mut Vec<usize>, open: &[&[usize]]) -> bool {
        let size = open.iter().map(|demand| demand.len()).sum();
        let Some(steps) = self.steps.checked_sub(size) else { return false };
        self.steps = steps;
        if chosen.len() + independent(open) >= self.best.len() {
            return true;
        }
        let Some(first) = open.first() else {
            self.best.clone_from(chosen);
            return true;
        };
        first.iter().all(|&number| {
            let left: Vec<&[usize]> = open
                .iter()
                .copied()
                .filter(|demand| demand.binary_search(&number).is_err())
                .collect();
            chosen.push(number);
            let is_complete = self.run(chosen, &left);
            chosen.pop();
            is_complete
        })
    }
}

/// The input that covers most of what is missing.
fn best_addition(
    inputs: &[(Vec<u32>, usize)],
    coverers: &BTreeMap<u32, Vec<usize>>,
    kept: &[usize],
) -> Option<usize> {
    let missing = coverers.values().filter(|by| !by.iter().any(|number| kept.contains(number)));
    let mut gains: BTreeMap<usize, usize> = BTreeMap::new();
    missing.flatten().for_each(|number| *gains.entry(*number).or_default() += 1);
    let rank =
        |(number, gain): &(usize, usize)| (*gain, Reverse(inputs[*number].1), Reverse(*number));
    gains.into_iter().max_by_key(rank).map(|(number, _)| number)
}

/// Drops inputs, longest first, all of whose outcomes others cover too.
fn drop_superfluous(inputs: &[(Vec<u32>, usize)], kept: &mut Vec<usize>) {
    let mut times: BTreeMap<u32, usize> = BTreeMap::new();
    for outcome in kept.iter().flat_map(|number| &inputs[*number].0) {
        *times.entry(*outcome).or_default() += 1;
    }
    kept.sort_by_key(|number| Reverse(inputs[*number].1));
    kept.retain(|number| {
        let superfluous = inputs[*number].0.iter().all(|outcome| times[outcome] > 1);
        if superfluous {
            inputs[*number].0.iter().for_each(|outcome| *times.entry(*outcome).or_default() -= 1);
        }
        !superfluous
    });
}

/// How many demands, the smallest first, have no input in common with those before them.
fn independent(demands: &[&[usize]]) -> usize {
    let mut used: HashSet<usize> = HashSet::new();
    let is_apart = |demand: &&&[usize]| {
        let is_apart = !demand.iter().any(|number| used.contains(number));
        if is_apart {
            used.extend(demand.iter());
        }
        is_apart
    };
    demands.iter().filter(is_apart).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn sets(sets: &[&[u32]]) -> Vec<(Vec<u32>, usize)> {
        sets.iter().map(|set| (set.to_vec(), set.len())).collect()
    }

    #[test]
    fn what_others_cover_goes() {
        let minimised = minimise(&sets(&[&[1, 2], &[2, 3], &[1, 2, 3, 4], &[5], &[4, 5]]));
        assert_eq!((minimised.kept.clone(), minimised.is_smallest()), (vec![2, 3], true));
        assert_eq!(minimise(&[]).kept, Vec::<usize>::new());
    }

    #[test]
    fn greed_that_was_wrong_is_put_right_or_not_called_smallest() {
        // Two of the first three cover all, but the third one looks best at first.
        let inputs = sets(&[&[1, 2, 3, 10], &[4, 5, 6, 7], &[1, 2, 4, 5, 8], &[8, 9], &[9, 10]]);
        let greedy = minimise_within(&inputs, 0);
        assert_eq!(greedy.is_smallest(), greedy.kept.len() == greedy.at_least);
        let minimised = minimise(&inputs);
        assert!(minimised.is_smallest() && minimised.kept.len() <= greedy.kept.len());
        assert!(greedy.at_least <= minimised.at_least);
    }

    /// All subsets, smallest first.
    fn smallest(inputs: &[(Vec<u32>, usize)]) -> usize {
        let union = |bits: usize| -> BTreeSet<u32> {
            (0..inputs.len())
                .filter(|i| bits >> i & 1 == 1)
                .flat_map(|i| inputs[i].0.clone())
                .collect()
        };
        let all = union(usize::MAX >> 1);
        let counts =
            (0..1usize << inputs.len()).filter(|bits| union(*bits) == all).map(usize::count_ones);
        counts.min().unwrap_or(0) as usize
    }

    #[test]
    fn nothing_is_lost_and_nothing_is_smaller() {
        let (mut random, mut improved) = (7u64, 0);
        for _ in 0..200 {
            let mut next = || {
                random = random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                (random >> 40) as u32
            };
            let inputs: Vec<(Vec<u32>, usize)> = (0..7)
                .map(|_| ((0..10).filter(|_| next() % 3 == 0).collect(), next() as usize % 5))
                .collect();
            let minimised = minimise(&inputs);
            let cover = |numbers: &mut dyn Iterator<Item = usize>| -> BTreeSet<u32> {
                numbers.flat_map(|number| inputs[number].0.clone()).collect()
            };
            assert_eq!(cover(&mut minimised.kept.iter().copied()), cover(&mut (0..inputs.len())));
            let smallest = smallest(&inputs);
            assert_eq!((minimised.kept.len(), minimised.is_smallest()), (smallest, true));
            let greedy = minimise_within(&inputs, 0);
            assert!(greedy.at_least <= smallest && smallest <= greedy.kept.len());
            improved += usize::from(smallest < greedy.kept.len());
        }
        assert!(improved > 0, "greed was right each time");
    }
}
