//! What a link was asked and how it answered.

use crate::query::{Answer, UnknownReason};
use std::time::Duration;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    pub asked: u64,
    pub sat: u64,
    pub unsat: u64,
    pub unknown: u64,
    /// Proposed inputs that did not pass the check; they are among `unknown` too.
    pub wrong: u64,
    /// Queries that cost the link its process; they are among `unknown` too.
    pub lost: u64,
    pub time: Duration,
}

impl Counters {
    pub fn count(&mut self, answer: &Answer, time: Duration) {
        self.asked += 1;
        self.time += time;
        match answer {
            Answer::Sat(_) => self.sat += 1,
            Answer::Unsat => self.unsat += 1,
            Answer::Unknown(reason) => {
                self.unknown += 1;
                self.lost +=
                    u64::from(matches!(reason, UnknownReason::Crash | UnknownReason::Overrun));
            }
        }
    }
}
