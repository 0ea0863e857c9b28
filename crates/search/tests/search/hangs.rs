//! Inputs that run for ever, and how few of them are needed.

use std::time::Duration;

use search::{Mutate, Outcome, Strategy, Whitebox, WhiteboxOptions};

use search_testing::harness::Setup;
use search_testing::program::{Fake, Machine};

/// An interpreter in which `x` is an endless loop, `a` and `b` are commands, and everything else is
/// an error.
fn interpreter(machine: &mut Machine<'_>) -> Outcome {
    for index in 0.. {
        let Some(byte) = machine.byte(index) else { break };
        match machine.switch(2, byte) {
            0 => return Outcome::Timeout,
            3 => return Outcome::Exit(1),
            _ => {}
        }
    }
    Outcome::Exit(0)
}

fn timeouts(strategy: &mut dyn Strategy, hang_time: Duration) -> (u64, usize) {
    let cases: &[u64] = &[b'x'.into(), b'a'.into(), b'b'.into()];
    let mut fake = Fake::new(&[cases], interpreter);
    fake.hang_time = hang_time;
    let mut setup = Setup { seeds: vec![b"", b"abax"], ..Setup::default() };
    setup.limits = search::Limits { runs: Some(2000), max_len: 24, ..setup.limits };
    let (results, _) = setup.search(&mut fake, strategy);
    (results.stats.timeouts, results.stats.covered)
}

#[test]
fn hangs_that_cost_much_become_few_and_cover_the_same() {
    let whitebox = || Whitebox::new(WhiteboxOptions::default());
    let (all, covered) = timeouts(&mut whitebox(), Duration::from_micros(1));
    let (few, still_covered) = timeouts(&mut whitebox(), Duration::from_secs(1));
    assert_eq!(still_covered, covered);
    assert!(few * 4 < all, "{few} instead of {all}");
}

#[test]
fn what_hangs_is_not_mutated() {
    let (hangs, _) = timeouts(&mut Mutate::default(), Duration::from_micros(1));
    assert!(hangs < 80, "{hangs} of 2000 runs");
}
