//! Changes of tokens that wait.
//!
//! What a scanner branches on hides what the parser will do with the token: a keyword in place of a
//! name leaves the path at a letter, where every branch was taken long ago. So changes of tokens
//! wait in an order of their own: first those that bring tokens together which no run had one after
//! the other. The key of a change stands for these tokens.

use std::collections::{BTreeSet, VecDeque};

use rustc_hash::{FxHashMap, FxHashSet};

use crate::Change;

/// Changes with the same key that wait; of more, the oldest are dropped.
const SAME_KEY: usize = 8;
/// A key that some run had waits like one that was tried so often.
const HANDICAP: u64 = 16;

/// Smaller is tried earlier: logarithm of attempts, then age, then key.
type Rank = (u32, u64, u64);

#[derive(Default)]
pub(super) struct Changes {
    seen: FxHashSet<u64>,
    buckets: FxHashMap<u64, Bucket>,
    order: BTreeSet<Rank>,
    next_age: u64,
    len: usize,
}

#[derive(Default)]
struct Bucket {
    attempts: u64,
    waiting: VecDeque<(u32, Change)>,
    rank: Option<Rank>,
}

impl Changes {
    /// A run had tokens with these keys. True if it was the first for one of them.
    pub(super) fn saw(&mut self, keys: impl IntoIterator<Item = u64>) -> bool {
        let mut is_new = false;
        for key in keys {
            if self.seen.insert(key) {
                self.rank_again(key);
                is_new = true;
            }
        }
        is_new
    }

    /// Adds a change of a run. Returns the run of one that is dropped for it.
    pub(super) fn push(&mut self, run: u32, change: Change) -> Option<u32> {
        let bucket = self.buckets.entry(change.key).or_default();
        bucket.waiting.push_back((run, change));
        self.len += 1;
        let dropped =
            if bucket.waiting.len() > SAME_KEY { bucket.waiting.pop_front() } else { None };
        self.len -= usize::from(dropped.is_some());
        if bucket.rank.is_none() {
            self.rank_again(change.key);
        }
        dropped.map(|(run, _)| run)
    }

    /// The next change and its run; the newest of its key.
    pub(super) fn pop(&mut self) -> Option<(u32, Change)> {
        let &(.., key) = self.order.first()?;
        let bucket = self.buckets.get_mut(&key)?;
        let next = bucket.waiting.pop_back();
        bucket.attempts += 1;
        self.len -= usize::from(next.is_some());
        self.rank_again(key);
        next
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    fn rank_again(&mut self, key: u64) {
        let Some(bucket) = self.buckets.get_mut(&key) else { return };
        if let Some(rank) = bucket.rank.take() {
            self.order.remove(&rank);
        }
        if bucket.waiting.is_empty() {
            return;
        }
        let handicap = if self.seen.contains(&key) { HANDICAP } else { 0 };
        self.next_age += 1;
        let rank = ((1 + bucket.attempts + handicap).ilog2(), self.next_age, key);
        bucket.rank = Some(rank);
        self.order.insert(rank);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(key: u64, token: u32) -> Change {
        Change { key, token, choice: 0 }
    }

    #[test]
    fn tokens_that_no_run_had_come_first() {
        let mut changes = Changes::default();
        changes.saw([1]);
        changes.push(0, change(1, 0));
        changes.push(0, change(2, 1));
        changes.push(1, change(3, 2));
        assert_eq!(changes.pop().map(|(_, change)| change.key), Some(2));
        changes.saw([3]);
        let rest: Vec<u64> =
            std::iter::from_fn(|| changes.pop()).map(|(_, change)| change.key).collect();
        assert_eq!(rest, [1, 3]);
        assert_eq!(changes.len(), 0);
    }

    #[test]
    fn of_many_with_one_key_the_newest_stay() {
        let mut changes = Changes::default();
        let dropped: Vec<u32> =
            (0..20).filter_map(|run| changes.push(run, change(5, run))).collect();
        assert_eq!(dropped, (0..12).collect::<Vec<u32>>());
        assert_eq!(changes.len(), SAME_KEY);
        assert_eq!(changes.pop().map(|(run, _)| run), Some(19));
    }
}
