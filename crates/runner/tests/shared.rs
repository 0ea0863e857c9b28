//! Several inputs in one process: `targets/loop.c` says on stderr which input of its process it had.

mod support;

use runner::{Offence, Outcome, Runner, Sandbox};
use std::time::Duration;

fn start(sandbox: Sandbox, run_time: Duration) -> Runner {
    support::start_capturing(support::target("loop"), sandbox, run_time)
}

fn patient(sandbox: Sandbox) -> Runner {
    start(sandbox, Duration::from_secs(60))
}

/// How the run ended, which input of its process it had, and whether the process has or had others.
fn shared(runner: &mut Runner, input: &str) -> (Outcome, u32, bool) {
    let run = runner.run_shared(input.as_bytes(), true).unwrap();
    if matches!(run.outcome, Outcome::Exit(_)) {
        assert_eq!(run.stdout().unwrap(), input.as_bytes());
    }
    assert_eq!(run.trace.as_ref().unwrap().events.len(), 1);
    (run.outcome, round(&run.stderr_tail()), run.shared)
}

fn round(stderr: &[u8]) -> u32 {
    let text = String::from_utf8_lossy(stderr);
    text.split(' ').next().and_then(|word| word.parse().ok()).unwrap_or_else(|| panic!("{text}"))
}

const QUIET: Outcome = Outcome::Exit(0);

#[test]
fn inputs_share_a_process_if_they_may() {
    for sandbox in [Sandbox::On, Sandbox::Off] {
        let mut runner = patient(sandbox);
        for expected in 1..=3 {
            assert_eq!(shared(&mut runner, "hello"), (QUIET, expected, true));
        }
        let alone = runner.run(b"hello", true).unwrap();
        assert_eq!((alone.outcome, round(&alone.stderr_tail()), alone.shared), (QUIET, 1, false));
        assert_eq!(shared(&mut runner, "x"), (QUIET, 1, true));
        assert_eq!(shared(&mut runner, ""), (QUIET, 2, true));
        assert_eq!(runner.counters().restarts, 0);
    }
}

#[test]
fn coverage_is_that_of_the_input() {
    let mut runner = patient(Sandbox::On);
    for expected in 1..=3 {
        let run = runner.run_shared(b"hello", false).unwrap();
        let covered: Vec<usize> = (0..run.coverage.len()).filter(|&i| run.coverage[i] != 0).collect();
        assert_eq!(covered, [expected]);
    }
}

#[test]
fn what_ends_a_process_is_told_and_the_next_input_gets_another() {
    let ends = [
        ("abort", Outcome::Signal(libc::SIGABRT)),
        ("exit", Outcome::Exit(3)),
        ("hang", Outcome::Timeout),
        ("child", QUIET),
        ("close", QUIET),
    ];
    for sandbox in [Sandbox::On, Sandbox::Off] {
        let mut runner = start(sandbox, Duration::from_millis(500));
        for (input, expected) in ends {
            assert_eq!(shared(&mut runner, "hello"), (QUIET, 1, true), "before {input}");
            assert_eq!(shared(&mut runner, input), (expected, 2, true));
            assert_eq!(shared(&mut runner, input), (expected, 1, false), "after {input}");
        }
        assert!(runner.counters().stray_children >= 2);
        assert_eq!(runner.counters().restarts, 0);
    }
}

#[test]
fn processor_time_of_earlier_inputs_does_not_count() {
    let mut runner = patient(Sandbox::On);
    runner.set_times(Duration::from_secs(60), Some(Duration::from_millis(120)));
    for expected in 1..=4 {
        assert_eq!(shared(&mut runner, "work"), (QUIET, expected, true));
    }
    runner.set_times(Duration::from_secs(60), Some(Duration::from_millis(20)));
    assert_eq!(shared(&mut runner, "work"), (Outcome::Timeout, 5, true));
}

#[test]
fn a_process_that_grows_gets_no_other_input() {
    let mut runner = patient(Sandbox::On);
    assert_eq!(shared(&mut runner, "hello"), (QUIET, 1, true));
    assert_eq!(shared(&mut runner, "eat"), (QUIET, 2, true));
    assert_eq!(shared(&mut runner, "hello"), (QUIET, 1, true));
}

#[test]
fn a_process_may_die_while_it_waits() {
    let mut runner = patient(Sandbox::On);
    assert_eq!(shared(&mut runner, "alarm"), (QUIET, 1, true));
    std::thread::sleep(Duration::from_millis(1200));
    assert_eq!(shared(&mut runner, "hello"), (QUIET, 1, true));
}

#[test]
fn what_a_program_says_in_place_of_its_server_is_not_believed() {
    let mut runner = start(Sandbox::On, Duration::from_millis(500));
    assert_eq!(shared(&mut runner, "hello"), (QUIET, 1, true));
    assert_eq!(shared(&mut runner, "lie"), (Outcome::Signal(libc::SIGABRT), 1, false));
    assert_eq!(runner.take_offences(), [(b"lie".to_vec(), Offence::Line)]);
    assert_eq!(shared(&mut runner, "hello"), (QUIET, 1, true));
}

#[test]
fn a_process_takes_a_thousand_inputs() {
    let mut runner = patient(Sandbox::On);
    let rounds: Vec<u32> =
        (0..1500).map(|_| round(&runner.run_shared(b"hello", false).unwrap().stderr_tail())).collect();
    let expected: Vec<u32> = (1..=1000).chain(1..=500).collect();
    assert_eq!(rounds, expected);
}

#[test]
fn nothing_waits_for_a_driver_that_is_gone() {
    let mut runner = patient(Sandbox::Off);
    let run = runner.run_shared(b"hello", false).unwrap();
    let process = String::from_utf8(run.stderr_tail()).unwrap().split(' ').nth(1).unwrap().to_owned();
    let there = || std::path::Path::new("/proc").join(&process).exists();
    assert!(there());
    drop(runner);
    let gone = || {
        (0..200).any(|_| {
            std::thread::sleep(Duration::from_millis(10));
            !there()
        })
    };
    assert!(gone());
}
