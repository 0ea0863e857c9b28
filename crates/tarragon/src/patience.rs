//! How long a run may take before it counts as a hang.
//!
//! Programs that run programs are given endless loops all the time, and each would take the whole time limit. So a run that takes much
//! longer than any that ended by itself is ended early. Whether that was a hang, a run with the whole limit decides.

use std::time::Duration;

/// Runs that are waited for in any case, so that there is something to compare with.
const FIRST: u32 = 8;
/// How much longer than the slowest run so far a run may take.
const FACTOR: u32 = 10;
/// Shorter times are never held against a run.
const LEAST: Duration = Duration::from_millis(50);

pub(crate) struct Patience {
    most: Duration,
    slowest: Duration,
    ended: u32,
}

impl Patience {
    pub(crate) fn new(most: Duration) -> Patience {
        Patience { most, slowest: Duration::ZERO, ended: 0 }
    }

    pub(crate) fn limit(&self) -> Duration {
        match self.ended < FIRST {
            true => self.most,
            false => (self.slowest * FACTOR).max(LEAST).min(self.most),
        }
    }

    /// A run that ended by itself took this long.
    pub(crate) fn learn(&mut self, time: Duration) {
        self.ended += 1;
        self.slowest = self.slowest.max(time);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_follow_the_slowest_run() {
        let second = Duration::from_secs(1);
        let mut patience = Patience::new(second);
        for _ in 0..FIRST {
            assert_eq!(patience.limit(), second);
            patience.learn(Duration::from_millis(1));
        }
        assert_eq!(patience.limit(), LEAST);
        patience.learn(Duration::from_millis(20));
        assert_eq!(patience.limit(), Duration::from_millis(200));
        patience.learn(Duration::from_millis(900));
        assert_eq!(patience.limit(), second);
    }
}
