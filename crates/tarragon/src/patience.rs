//! How long a run may take before it counts as a hang.
//!
//! Programs that run programs are given endless loops all the time, and each would take the whole time limit. So a run that takes much
//! longer than those that ended by themselves lately is ended early. Whether that was a hang, a run with the whole limit decides.

use std::time::Duration;

/// Runs that are waited for in any case, so that there is something to compare with.
const FIRST: u32 = 8;
/// How much longer than others lately a run may take.
const FACTOR: u32 = 20;
/// What part the last run has in the average.
const WEIGHT: u32 = 16;
/// Shorter times are never held against a run.
const LEAST: Duration = Duration::from_millis(50);

pub(crate) struct Patience {
    most: Duration,
    average: Duration,
    ended: u32,
}

impl Patience {
    pub(crate) fn new(most: Duration) -> Patience {
        Patience { most, average: Duration::ZERO, ended: 0 }
    }

    pub(crate) fn limit(&self) -> Duration {
        match self.ended < FIRST {
            true => self.most,
            false => (self.average * FACTOR).max(LEAST).min(self.most),
        }
    }

    /// A run that ended by itself took this long.
    pub(crate) fn learn(&mut self, time: Duration) {
        self.ended += 1;
        self.average = (self.average * (WEIGHT - 1) + time) / WEIGHT;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_follow_the_other_runs() {
        let second = Duration::from_secs(1);
        let mut patience = Patience::new(second);
        for _ in 0..FIRST {
            assert_eq!(patience.limit(), second);
            patience.learn(Duration::from_millis(1));
        }
        assert_eq!(patience.limit(), LEAST);
        for _ in 0..100 {
            patience.learn(Duration::from_millis(20));
        }
        assert!((Duration::from_millis(390)..second).contains(&patience.limit()), "{:?}", patience.limit());
        patience.learn(Duration::from_secs(60));
        assert_eq!(patience.limit(), second);
    }
}
