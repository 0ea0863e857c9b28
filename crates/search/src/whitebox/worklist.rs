//! Flips that wait, and the order in which they are tried.
//!
//! Flips with the same target (site and direction) form a bucket. A bucket's rank falls with the
//! logarithm of the number of attempts on it, and a *wanted* bucket (its side was never taken, its
//! property never violated) may be tried sixteen times as often as the others before it has to wait
//! for them: wanted sides come first, but one that cannot be reached does not stop the rest. Within
//! equal ranks the score of the run decides, then age. Of a bucket's flips with the best score, the
//! oldest and the newest are tried in turn: the oldest leave no short input out, and the newest
//! make inputs longer, without which code that needs long inputs (a table that grows, an error far
//! from the start) is never reached.
//!
//! A rank can only get worse while a bucket waits, so ranks are brought up to date when a bucket
//! comes to the front.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;

/// A flip: leave run number `run` at its constraint `index` in `direction`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Candidate {
    pub run: u32,
    pub index: u32,
    pub direction: u32,
}

/// What a flip tries to reach.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Target {
    pub site: u32,
    pub direction: u32,
    /// Coverage index, if the target is a branch outcome.
    pub outcome: Option<u32>,
    /// The target is the violation of a property.
    pub violation: bool,
}

/// Flips of one run with the same target that are worth keeping.
const SAME_TARGET: usize = 64;

/// Leaves out most flips of those targets of which a run has hundreds, one for each round of a
/// loop: what remains is spread evenly over the run.
pub(crate) fn thin_out(flips: Vec<(Candidate, Target)>) -> Vec<(Candidate, Target)> {
    let mut counts: FxHashMap<Target, usize> = FxHashMap::default();
    for (_, target) in &flips {
        *counts.entry(*target).or_default() += 1;
    }
    let mut seen: FxHashMap<Target, usize> = FxHashMap::default();
    let mut is_kept = |(_, target): &(Candidate, Target)| {
        let count = counts[target];
        if count <= SAME_TARGET {
            return true;
        }
        let place = seen.entry(*target).or_default();
        *place += 1;
        // The first of each of as many equal parts.
        (*place * SAME_TARGET).div_ceil(count) != ((*place - 1) * SAME_TARGET).div_ceil(count)
    };
    flips.into_iter().filter(|flip| is_kept(flip)).collect()
}

#[derive(Debug)]
pub(crate) enum Worklist {
    Generational(Buckets),
    /// The last constraint of the last run first, as in DART.
    DepthFirst(Vec<Candidate>),
}

impl Worklist {
    pub(crate) fn push(&mut self, candidate: Candidate, target: Target, score: usize) {
        match self {
            Worklist::Generational(buckets) => buckets.push(candidate, target, score),
            Worklist::DepthFirst(stack) => stack.push(candidate),
        }
    }

    pub(crate) fn pop(&mut self, wanted: impl Fn(&Target) -> bool) -> Option<Candidate> {
        match self {
            Worklist::Generational(buckets) => buckets.pop(wanted),
            Worklist::DepthFirst(stack) => stack.pop(),
        }
    }

    pub(crate) fn len(&self) -> usize {
        match self {
            Worklist::Generational(buckets) => buckets.len,
            Worklist::DepthFirst(stack) => stack.len(),
        }
    }

    /// Flips that were dropped since the last call.
    pub(crate) fn take_dropped(&mut self) -> Vec<Candidate> {
        match self {
            Worklist::Generational(buckets) => std::mem::take(&mut buckets.dropped),
            Worklist::DepthFirst(_) => Vec::new(),
        }
    }
}

/// Smaller is tried earlier: level, then wanted, then score, then age, then number of the bucket.
type Rank = (u32, bool, Reverse<usize>, u64, usize);

#[derive(Debug, Default)]
pub(crate) struct Buckets {
    buckets: Vec<Bucket>,
    by_target: FxHashMap<Target, usize>,
    order: BTreeSet<Rank>,
    next_age: u64,
    len: usize,
    /// Flips that one bucket may hold.
    capacity: Option<usize>,
    dropped: Vec<Candidate>,
}

/// Of a flip among those with the same target.
type Place = (Reverse<usize>, u64);

#[derive(Debug)]
struct Bucket {
    target: Target,
    attempts: u64,
    /// By score, best first, and age, oldest first.
    waiting: BTreeMap<Place, Candidate>,
    rank: Option<Rank>,
    wanted: bool,
}

impl Buckets {
    pub(crate) fn new(capacity: Option<usize>) -> Buckets {
        Buckets { capacity, ..Buckets::default() }
    }

    fn push(&mut self, candidate: Candidate, target: Target, score: usize) {
        let number = self.bucket(target);
        self.next_age += 1;
        self.buckets[number].waiting.insert((Reverse(score), self.next_age), candidate);
        self.len += 1;
        self.shrink(number);
        self.rank_again(number);
    }

    fn pop(&mut self, wanted: impl Fn(&Target) -> bool) -> Option<Candidate> {
        loop {
            let number = self.order.first()?.4;
            let bucket = &mut self.buckets[number];
            let still_wanted = bucket.wanted && wanted(&bucket.target);
            if still_wanted != bucket.wanted {
                bucket.wanted = still_wanted;
                self.rank_again(number);
                continue;
            }
            let candidate = bucket.take()?;
            bucket.attempts += 1;
            self.len -= 1;
            self.rank_again(number);
            return Some(candidate);
        }
    }

    fn bucket(&mut self, target: Target) -> usize {
        let next = self.buckets.len();
        let number = *self.by_target.entry(target).or_insert(next);
        if number == next {
            let bucket =
                Bucket { target, attempts: 0, waiting: BTreeMap::new(), rank: None, wanted: true };
            self.buckets.push(bucket);
        }
        number
    }

    fn rank_again(&mut self, number: usize) {
        let bucket = &mut self.buckets[number];
        if let Some(rank) = bucket.rank.take() {
            self.order.remove(&rank);
        }
        if let Some((&(score, age), _)) = bucket.waiting.first_key_value() {
            let rank = (level(bucket.attempts, bucket.wanted), !bucket.wanted, score, age, number);
            bucket.rank = Some(rank);
            self.order.insert(rank);
        }
    }

    /// Halves a bucket that holds twice its capacity: the best stay, and half as many of the
    /// newest.
    fn shrink(&mut self, number: usize) {
        let Some(capacity) = self.capacity else { return };
        let capacity = capacity.max(2);
        let bucket = &mut self.buckets[number];
        if bucket.waiting.len() < 2 * capacity {
            return;
        }
        let mut rest: Vec<(Place, Candidate)> =
            std::mem::take(&mut bucket.waiting).into_iter().collect();
        let mut newest = rest.split_off(capacity / 2);
        newest.sort_unstable_by_key(|&((_, age), _)| age);
        let kept = newest.split_off(newest.len() - (capacity - capacity / 2));
        self.len -= newest.len();
        self.dropped.extend(newest.into_iter().map(|(_, candidate)| candidate));
        bucket.waiting = rest.into_iter().chain(kept).collect();
    }
}

impl Bucket {
    /// The oldest or the newest of those with the best score.
    fn take(&mut self) -> Option<Candidate> {
        let (&(score, oldest), _) = self.waiting.first_key_value()?;
        let place = match self.attempts % 2 {
            0 => (score, oldest),
            _ => *self.waiting.range(..=(score, u64::MAX)).next_back()?.0,
        };
        self.waiting.remove(&place)
    }
}

/// How long a bucket has to wait: `log2(1 + attempts)`, less four if it is wanted.
fn level(attempts: u64, wanted: bool) -> u32 {
    let level = (attempts + 1).ilog2();
    if wanted { level.saturating_sub(4) } else { level }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(site: u32) -> Target {
        Target { site, direction: 1, outcome: Some(site), violation: false }
    }

    fn candidate(run: u32) -> Candidate {
        Candidate { run, index: 0, direction: 1 }
    }

    fn drain(buckets: &mut Buckets, wanted: impl Fn(&Target) -> bool) -> Vec<u32> {
        std::iter::from_fn(|| buckets.pop(&wanted)).map(|candidate| candidate.run).collect()
    }

    #[test]
    fn wanted_then_score_then_age() {
        let mut buckets = Buckets::new(None);
        buckets.push(candidate(1), target(1), 5);
        buckets.push(candidate(2), target(2), 1);
        buckets.push(candidate(3), target(3), 9);
        buckets.push(candidate(4), target(4), 1);
        assert_eq!(drain(&mut buckets, |t| t.site == 2 || t.site == 4), [2, 4, 3, 1]);
    }

    #[test]
    fn attempts_make_a_bucket_wait() {
        let mut buckets = Buckets::new(None);
        for run in 0..3 {
            buckets.push(candidate(run), target(1), 9);
        }
        buckets.push(candidate(10), target(2), 0);
        assert_eq!(drain(&mut buckets, |_| false), [0, 10, 2, 1]);
    }

    #[test]
    fn an_unreachable_wanted_side_does_not_starve_the_rest() {
        let mut buckets = Buckets::new(None);
        for run in 0..1000 {
            buckets.push(candidate(run), target(1), 9);
        }
        buckets.push(candidate(5000), target(2), 0);
        let order = drain(&mut buckets, |t| t.site == 1);
        assert!(order.iter().position(|&run| run == 5000).is_some_and(|place| place < 40));
    }

    #[test]
    fn full_buckets_keep_their_best_and_their_newest() {
        let mut buckets = Buckets::new(Some(2));
        for (run, score) in [9, 7, 5, 1].into_iter().enumerate() {
            buckets.push(candidate(run as u32), target(1), score);
        }
        assert_eq!(buckets.len, 2);
        assert_eq!(buckets.dropped.len(), 2);
        assert_eq!(drain(&mut buckets, |_| true), [0, 3]);
    }

    #[test]
    fn oldest_and_newest_in_turn() {
        let mut buckets = Buckets::new(None);
        for run in 0..5 {
            buckets.push(candidate(run), target(1), usize::from(run != 2));
        }
        assert_eq!(drain(&mut buckets, |_| true), [0, 4, 1, 3, 2]);
    }

    #[test]
    fn loops_are_thinned_out_evenly() {
        for rounds in [1, SAME_TARGET, SAME_TARGET + 1, 1000, 6401] {
            let flips = (0..rounds)
                .flat_map(|run| [(candidate(run as u32), target(1)), (candidate(7), target(2))]);
            let kept = thin_out(flips.take(2 * rounds - 1).collect());
            let places: Vec<u32> =
                kept.iter().filter(|(_, kept)| *kept == target(1)).map(|(c, _)| c.run).collect();
            assert_eq!(places.len(), rounds.min(SAME_TARGET), "{rounds}");
            assert_eq!(places[0], 0);
            let widest = places.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap_or(1);
            assert!(widest as usize <= rounds.div_ceil(SAME_TARGET), "{widest} of {rounds}");
        }
    }

    #[test]
    fn depth_first_is_a_stack() {
        let mut list = Worklist::DepthFirst(Vec::new());
        list.push(candidate(1), target(1), 0);
        list.push(candidate(2), target(1), 0);
        assert_eq!(list.pop(|_| true), Some(candidate(2)));
        assert_eq!(list.len(), 1);
    }
}
