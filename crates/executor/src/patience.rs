//! How long a run may take before it counts as a hang.
//!
//! Programs that run programs are given endless loops all the time, and each would take the whole
//! time limit. So a run that takes much longer than those that ended by themselves lately is ended
//! early. Whether that was a hang, a run with the whole limit decides. Where runs that are ended
//! take more than a tenth of the time all the same, they are ended even sooner. Processor time says
//! it sooner than time, because other work on the machine does not add to it; a run that sleeps has
//! none.

use std::time::Duration;

/// Runs that are waited for in any case, so that there is something to compare with.
const FIRST: u32 = 8;
/// How much longer than others lately a run may take.
const FACTOR: u32 = 20;
/// What part the last run has in the average.
const WEIGHT: u32 = 16;
/// How slowly the slowest run is forgotten.
const FADING: u32 = 64;
/// Shorter times are never held against a run.
const LEAST: Duration = Duration::from_millis(50);
const LEAST_CPU: Duration = Duration::from_millis(10);

/// The same while ended runs take more than one part in [`SHARE`] of the time. The slowest run
/// lately is never held against others.
const HURRIED_FACTOR: u32 = 5;
const HURRIED_LEAST: Duration = Duration::from_millis(10);
const HURRIED_LEAST_CPU: Duration = Duration::from_millis(3);
const SHARE: u32 = 10;

/// Limits of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Times {
    pub run: Duration,
    /// Processor time, if it has a limit.
    pub cpu: Option<Duration>,
}

pub(crate) struct Patience {
    most: Duration,
    average: Duration,
    average_cpu: Duration,
    /// Of the runs that ended by themselves lately.
    slowest: Duration,
    slowest_cpu: Duration,
    ended: u32,
    /// Time of runs that did not end by themselves, and of all.
    lost: Duration,
    total: Duration,
}

impl Patience {
    pub(crate) fn new(most: Duration) -> Patience {
        let (average, average_cpu, slowest, slowest_cpu) = Default::default();
        let (ended, lost, total) = Default::default();
        Patience { most, average, average_cpu, slowest, slowest_cpu, ended, lost, total }
    }

    pub(crate) fn limit(&self) -> Times {
        if self.ended < FIRST {
            return Times { run: self.most, cpu: None };
        }
        let (factor, least, least_cpu) = match self.lost * SHARE > self.total {
            true => (HURRIED_FACTOR, HURRIED_LEAST, HURRIED_LEAST_CPU),
            false => (FACTOR, LEAST, LEAST_CPU),
        };
        let limit = |average: Duration, slowest: Duration, least: Duration| {
            (average * factor).max(slowest * 2).max(least).min(self.most)
        };
        let run = limit(self.average, self.slowest, least);
        Times { run, cpu: Some(limit(self.average_cpu, self.slowest_cpu, least_cpu)) }
    }

    /// A run was ended after this long.
    pub(crate) fn lose(&mut self, time: Duration) {
        self.lost += time;
        self.total += time;
    }

    /// A run that ended by itself took this long, and so much processor time.
    pub(crate) fn learn(&mut self, time: Duration, cpu: Duration) {
        self.ended += 1;
        self.total += time;
        let fades = |slowest: Duration| slowest * (FADING - 1) / FADING;
        self.slowest = fades(self.slowest).max(time);
        self.slowest_cpu = fades(self.slowest_cpu).max(cpu);
        self.average = (self.average * (WEIGHT - 1) + time) / WEIGHT;
        self.average_cpu = (self.average_cpu * (WEIGHT - 1) + cpu) / WEIGHT;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_follow_the_other_runs() {
        let (second, millisecond) = (Duration::from_secs(1), Duration::from_millis(1));
        let mut patience = Patience::new(second);
        for _ in 0..FIRST {
            assert_eq!(patience.limit(), Times { run: second, cpu: None });
            patience.learn(millisecond, millisecond / 2);
        }
        assert_eq!(patience.limit(), Times { run: LEAST, cpu: Some(LEAST_CPU) });
        for _ in 0..100 {
            patience.learn(20 * millisecond, 2 * millisecond);
        }
        let Times { run, cpu } = patience.limit();
        assert!((Duration::from_millis(390)..second).contains(&run), "{run:?}");
        assert!((Duration::from_millis(39)..LEAST).contains(&cpu.expect("a limit")), "{cpu:?}");
        patience.lose(10 * second);
        let hurried = patience.limit();
        assert!(hurried.run < run / 3 && hurried.run >= 40 * millisecond, "{hurried:?}");
        (0..100).for_each(|_| patience.learn(millisecond, millisecond / 2));
        assert!(patience.limit().run >= HURRIED_LEAST);
        patience.learn(Duration::from_secs(60), Duration::from_secs(60));
        assert_eq!(patience.limit(), Times { run: second, cpu: Some(second) });
    }
}
