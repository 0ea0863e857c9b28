//! How a search within a language shares its time: by what each kind of work brought lately.
//!
//! Runs without a trace may be a hundred times faster than those with one, so turns are weighed by
//! the time that they take. No kind of work is given up for good: each has at least a part of the
//! time, and new sentences a large one.

use std::time::Duration;

/// What there is to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Work {
    /// Flips of traced runs.
    Flips,
    /// Traces of sentences that did something new.
    Traces,
    /// Sentences with another token, without a trace.
    Changes,
    /// Sentences that have nothing to do with earlier ones, without a trace.
    Fresh,
}

const ALL: [Work; 4] = [Work::Flips, Work::Traces, Work::Changes, Work::Fresh];
/// The part of the time that is sure for each. What brought most lately is not what brings most in
/// the end: changes are cheap and soon all alike, and new sentences, of which some do not end, lead
/// to other places; traces bring nothing by themselves, and one hard flip takes as long as many of
/// them.
const LEAST: [f64; 4] = [0.06, 0.06, 0.06, 0.4];
/// Seconds after which a find counts half.
const HALF_LIFE: f64 = 1.0;

#[derive(Clone, Copy, Default)]
struct Share {
    found: f64,
    spent: f64,
}

impl Share {
    fn worth(&self) -> f64 {
        (self.found + 0.5) / (self.spent + 0.01)
    }
}

#[derive(Default)]
pub(super) struct Shares {
    shares: [Share; 4],
    /// Whose turn it is, and since when; nobody's while seeds are run.
    turn: Option<(usize, Duration)>,
}

impl Shares {
    /// The work of the last turn was the first to take so many outcomes.
    pub(super) fn found(&mut self, outcomes: usize) {
        if let Some((work, _)) = self.turn {
            self.shares[work].found += outcomes as f64;
        }
    }

    /// The work that has the next turn, of what there is.
    pub(super) fn next(&mut self, now: Duration, is_there: impl Fn(Work) -> bool) -> Option<Work> {
        if let Some((work, since)) = self.turn {
            let seconds = now.saturating_sub(since).as_secs_f64();
            self.shares[work].spent += seconds;
            let fades = (-seconds / HALF_LIFE).exp2();
            for share in &mut self.shares {
                (share.found, share.spent) = (share.found * fades, share.spent * fades);
            }
        }
        let total: f64 = self.shares.iter().map(|share| share.spent).sum();
        let there = || (0..ALL.len()).filter(|&work| is_there(ALL[work]));
        let starved = there().find(|&work| self.shares[work].spent < LEAST[work] * total);
        let best = || {
            let by_worth =
                |a: &usize, b: &usize| self.shares[*a].worth().total_cmp(&self.shares[*b].worth());
            there().max_by(by_worth)
        };
        let next = starved.or_else(best)?;
        self.turn = Some((next, now));
        Some(ALL[next])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Time given to each work where each turn takes a millisecond and brings so much.
    fn given(brings: [usize; 4], is_there: impl Fn(Work) -> bool) -> [u32; 4] {
        let mut shares = Shares::default();
        let mut given = [0; 4];
        for turn in 0..10_000 {
            let Some(work) = shares.next(Duration::from_millis(turn), &is_there) else { break };
            given[work as usize] += 1;
            shares.found(brings[work as usize]);
        }
        given
    }

    #[test]
    fn what_brings_most_has_most_of_the_time_and_the_others_their_part() {
        let given = given([0, 0, 3, 1], |_| true);
        assert!(
            given[2] > 4200 && given[0] > 500 && given[1] > 500 && given[3] > 3500,
            "{given:?}"
        );
    }

    #[test]
    fn what_is_not_there_has_no_turn() {
        let given = given([0, 0, 3, 1], |work| work != Work::Changes);
        assert!(given[2] == 0 && given[3] > given[0], "{given:?}");
        assert_eq!(Shares::default().next(Duration::ZERO, |_| false), None);
    }
}
