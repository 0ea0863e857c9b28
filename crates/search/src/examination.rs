//! Which runs get a second opinion, and in which order.
//!
//! Runs that add coverage or violate a check are examined at once, and so is every run of a search
//! that accounts for all paths. All others wait here, and a part of the time is theirs: most bugs
//! that only a checking build sees lie on a path whose branches were all taken before. A buffer
//! overflows at a certain number of rounds, a read goes too far on an input that ends in a certain
//! place. So what is new about a run decides who is next. Of what is alike, an even sample is
//! taken, and when nothing new waits, of all runs.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::Duration;

use path::Step;
use rustc_hash::FxHashSet;

use crate::suspicion::{Suspicions, magnitude};
use crate::{BugKind, Origin, TracedPath};

/// Inputs that wait at most, and their bytes.
const MAX_WAITING: usize = 4096;
const MAX_BYTES: usize = 16 << 20;

/// Time that is free, and examinations: so many, and one for so many runs.
const FREE: Duration = Duration::from_millis(500);
const FIRST: u64 = 64;
const RUNS_FOR_ONE: u64 = 100;
/// At the end of the search, what waits may take one part in so many of the whole time.
const LAST_SHARE: u32 = 8;

/// What is new about a run, the least promising first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Novelty {
    Path,
    /// A path, by an input of a length that none had.
    Length,
    /// The last steps of a path.
    Ending,
    /// How often a branch was repeated.
    Repetition,
    /// An access nearer to the end of an object.
    NearEnd,
}

/// Best first; among equals in the order of the signatures, which is none.
type Place = (Reverse<Novelty>, u64);

/// An input that waits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Waiting {
    pub input: Vec<u8>,
    /// How it crashed, and where it last depended on its input.
    pub crash: Option<(BugKind, Step)>,
}

#[derive(Default)]
pub(crate) struct Examinations {
    suspicions: Suspicions,
    /// Signatures of runs that were examined, wait, or were dropped.
    known: FxHashSet<u64>,
    lengths: FxHashSet<u32>,
    waiting: BTreeMap<Place, Waiting>,
    bytes: usize,
    /// Runs for which there was no room or no time.
    dropped: u64,
    /// The last input that showed nothing new.
    sample: Option<Waiting>,
    spent: Duration,
    /// Examinations of what waited, and those since one brought a bug.
    count: u64,
    fruitless: u32,
}

/// What runs have in common that need be examined only once: the path, and about how long the input
/// is.
pub(crate) fn signature(path: u64, covered: u64, len: usize) -> u64 {
    let mut hasher = DefaultHasher::new();
    (path, covered, len_class(len)).hash(&mut hasher);
    hasher.finish()
}

fn len_class(len: usize) -> u32 {
    magnitude(u32::try_from(len).unwrap_or(u32::MAX))
}

impl Examinations {
    /// Whether a run is to be examined at once although it added no coverage.
    pub(crate) fn is_urgent(&mut self, origin: &Origin, path: Option<&TracedPath>) -> bool {
        self.suspicions.violates(origin, path)
    }

    /// A run was examined at once.
    pub(crate) fn examined(&mut self, signature: u64, len: usize) {
        self.known.insert(signature);
        self.lengths.insert(len_class(len));
    }

    /// Whether a run like this one was examined, or waits for it.
    pub(crate) fn knows(&self, signature: u64) -> bool {
        self.known.contains(&signature)
    }

    /// A run is not examined, although nothing may be left out.
    pub(crate) fn leave_out(&mut self) {
        self.dropped += 1;
    }

    /// A run that nothing else speaks for.
    pub(crate) fn offer(
        &mut self,
        input: &[u8],
        signature: u64,
        path: Option<&TracedPath>,
        crash: Option<(BugKind, Step)>,
    ) {
        let nears_end = path.is_some_and(|path| self.suspicions.nears_an_end(path));
        let repeats = path.is_some_and(|path| self.suspicions.repeats_anew(&path.condition));
        let ends_anew = path.is_some_and(|path| self.suspicions.ends_anew(&path.condition));
        let is_new_path = self.known.insert(signature);
        let is_new_length = self.lengths.insert(len_class(input.len()));
        let novelties = [
            (nears_end, Novelty::NearEnd),
            (repeats, Novelty::Repetition),
            (ends_anew, Novelty::Ending),
            (is_new_path && is_new_length, Novelty::Length),
            (is_new_path, Novelty::Path),
        ];
        let Some((_, novelty)) = novelties.into_iter().find(|(holds, _)| *holds) else {
            self.sample = Some(Waiting { input: input.to_vec(), crash });
            return;
        };
        self.bytes += input.len();
        let waiting = Waiting { input: input.to_vec(), crash };
        if let Some(replaced) = self.waiting.insert((Reverse(novelty), signature), waiting) {
            self.bytes -= replaced.input.len();
        }
        while self.waiting.len() > MAX_WAITING || self.bytes > MAX_BYTES {
            let Some((_, dropped)) = self.waiting.pop_last() else { break };
            self.bytes -= dropped.input.len();
            self.dropped += 1;
        }
    }

    /// The input to examine next, if those that waited had less than their part of the time after
    /// so many runs.
    pub(crate) fn next(&mut self, elapsed: Duration, runs: u64) -> Option<Waiting> {
        let is_free = self.count < FIRST + runs / RUNS_FOR_ONE || self.spent <= FREE;
        let is_due = is_free || self.spent * 100 <= elapsed * self.percent();
        is_due.then(|| self.pop().or_else(|| self.sample.take()))?
    }

    /// The same at the end of the search.
    pub(crate) fn next_of_rest(&mut self, elapsed: Duration, runs: u64) -> Option<Waiting> {
        let is_free = self.count < FIRST + runs / RUNS_FOR_ONE || self.spent <= FREE;
        (is_free || self.spent <= elapsed / LAST_SHARE).then(|| self.pop())?
    }

    fn pop(&mut self) -> Option<Waiting> {
        let (_, waiting) = self.waiting.pop_first()?;
        self.bytes -= waiting.input.len();
        Some(waiting)
    }

    /// An examination of what waited took so long.
    pub(crate) fn spend(&mut self, time: Duration, brought: bool) {
        self.spent += time;
        self.count += 1;
        self.fruitless = if brought { 0 } else { self.fruitless.saturating_add(1) };
    }

    /// The part of the time: more where it brought something lately.
    fn percent(&self) -> u32 {
        match self.fruitless {
            ..64 => 15,
            64..1024 => 10,
            _ => 5,
        }
    }

    /// Runs that were not examined although something was new about them.
    pub(crate) fn left(&self) -> u64 {
        self.waiting.len() as u64 + self.dropped
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn offer(examinations: &mut Examinations, path: u64, input: &[u8]) {
        examinations.offer(input, signature(path, 0, input.len()), None, None);
    }

    #[test]
    fn new_lengths_come_before_new_paths_and_those_before_samples() {
        let mut examinations = Examinations::default();
        examinations.examined(signature(1, 0, 1), 1);
        offer(&mut examinations, 2, b"b");
        offer(&mut examinations, 1, b"a");
        offer(&mut examinations, 3, b"ccc");
        let next = || Some(examinations.next(SECOND, 0)?.input);
        let order: Vec<_> = std::iter::from_fn(next).collect();
        assert_eq!(order, [b"ccc".to_vec(), b"b".to_vec(), b"a".to_vec()]);
    }

    #[test]
    fn what_waits_keeps_to_its_part_of_the_time() {
        let mut examinations = Examinations::default();
        for path in 0..4000 {
            offer(&mut examinations, path, b"");
        }
        let mut asked = |seconds: u32| {
            let allowed = std::iter::from_fn(|| {
                examinations.next(SECOND * seconds, 0)?;
                examinations.spend(SECOND / 100, false);
                Some(())
            });
            allowed.count()
        };
        let first = asked(10);
        assert!((90..=110).contains(&first), "{first} hundredths of a second in 10 seconds");
        let later = asked(100) + first;
        assert!((550..=1060).contains(&later), "{later} hundredths of a second in 100 seconds");
    }

    #[test]
    fn some_are_examined_however_long_it_takes() {
        let mut examinations = Examinations::default();
        (0..1000).for_each(|path| offer(&mut examinations, path, b""));
        let slow = |_| {
            examinations.next(SECOND, 240)?;
            examinations.spend(SECOND * 60, false);
            Some(())
        };
        assert_eq!((0..1000).map_while(slow).count() as u64, FIRST + 240 / RUNS_FOR_ONE);
    }

    #[test]
    fn what_there_is_no_room_for_is_counted() {
        let mut examinations = Examinations::default();
        for path in 0..2 * MAX_WAITING as u64 {
            offer(&mut examinations, path, b"x");
        }
        assert_eq!(examinations.waiting.len(), MAX_WAITING);
        assert_eq!(examinations.left(), 2 * MAX_WAITING as u64);
        assert_eq!(examinations.bytes, MAX_WAITING);
    }
}
