//! Several inputs in one process: `targets/loop.c` says on stderr which input of its process it
//! had.

mod support;

use runner::{Offence, Outcome, Runner, Sandbox};
use std::time::Duration;

fn start(sandbox: Sandbox) -> Runner {
    support::start_capturing(support::target("loop"), sandbox)
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

fn process(stderr: &[u8]) -> i32 {
    let text = String::from_utf8_lossy(stderr);
    text.split(' ').nth(1).and_then(|word| word.parse().ok()).unwrap_or_else(|| panic!("{text}"))
}

/// Whether a process is there and no zombie.
fn is_alive(process: i32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    status
        .rsplit(')')
        .next()
        .and_then(|rest| rest.trim_start().chars().next())
        .is_some_and(|s| s != 'Z')
}

const QUIET: Outcome = Outcome::Exit(0);

#[test]
fn inputs_share_a_process_if_they_may() {
    for sandbox in [Sandbox::On, Sandbox::Off] {
        let mut runner = start(sandbox);
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
    let mut runner = start(Sandbox::On);
    for expected in 1..=3 {
        let run = runner.run_shared(b"hello", false).unwrap();
        let covered: Vec<usize> =
            (0..run.coverage.len()).filter(|&i| run.coverage[i] != 0).collect();
        assert_eq!(covered, [expected]);
    }
}

#[test]
fn what_ends_a_process_is_told_and_the_next_input_gets_another() {
    let ends = [
        ("abort", Outcome::Signal(libc::SIGABRT)),
        ("exit", Outcome::Exit(3)),
        ("child", QUIET),
        ("close", QUIET),
    ];
    for sandbox in [Sandbox::On, Sandbox::Off] {
        let mut runner = start(sandbox);
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
fn a_run_that_is_killed_ends_its_process() {
    for sandbox in [Sandbox::On, Sandbox::Off] {
        let mut runner = start(sandbox);
        assert_eq!(shared(&mut runner, "hello"), (QUIET, 1, true));
        assert_eq!(support::run_endless(&mut runner, "hang"), (Outcome::Timeout, true));
        assert_eq!(support::run_endless(&mut runner, "hang"), (Outcome::Timeout, false));
        assert_eq!(shared(&mut runner, "hello"), (QUIET, 1, true));
        assert_eq!(runner.counters().restarts, 0);
    }
}

/// The inputs together need twice their limit, each of them a twentieth.
#[test]
fn processor_time_of_earlier_inputs_does_not_count() {
    let mut runner = start(Sandbox::On);
    runner.set_times(support::PATIENCE, Some(Duration::from_millis(400)));
    for expected in 1..=40 {
        assert_eq!(shared(&mut runner, "work"), (QUIET, expected, true));
    }
    assert_eq!(shared(&mut runner, "spin"), (Outcome::Timeout, 41, true));
}

#[test]
fn a_process_that_grows_gets_no_other_input() {
    let mut runner = start(Sandbox::On);
    assert_eq!(shared(&mut runner, "hello"), (QUIET, 1, true));
    assert_eq!(shared(&mut runner, "eat"), (QUIET, 2, true));
    assert_eq!(shared(&mut runner, "hello"), (QUIET, 1, true));
}

#[test]
fn a_process_may_die_while_it_waits() {
    let mut runner = start(Sandbox::Off);
    let run = runner.run_shared(b"hello", false).unwrap();
    let process = process(&run.stderr_tail());
    // SAFETY: signals a process of this test.
    assert_eq!(unsafe { libc::kill(process, libc::SIGALRM) }, 0);
    support::eventually("the process is dead", || !is_alive(process));
    assert_eq!(shared(&mut runner, "hello"), (QUIET, 1, true));
}

#[test]
fn what_a_program_says_in_place_of_its_server_is_not_believed() {
    let mut runner = start(Sandbox::On);
    assert_eq!(shared(&mut runner, "hello"), (QUIET, 1, true));
    assert_eq!(shared(&mut runner, "lie"), (Outcome::Signal(libc::SIGABRT), 1, false));
    assert_eq!(runner.take_offences(), [(b"lie".to_vec(), Offence::Line)]);
    assert_eq!(shared(&mut runner, "hello"), (QUIET, 1, true));
}

#[test]
fn a_process_takes_a_thousand_inputs() {
    let mut runner = start(Sandbox::On);
    let rounds: Vec<u32> = (0..1500)
        .map(|_| round(&runner.run_shared(b"hello", false).unwrap().stderr_tail()))
        .collect();
    let expected: Vec<u32> = (1..=1000).chain(1..=500).collect();
    assert_eq!(rounds, expected);
}

#[test]
fn nothing_waits_for_a_driver_that_is_gone() {
    let mut runner = start(Sandbox::Off);
    let run = runner.run_shared(b"hello", false).unwrap();
    let process = process(&run.stderr_tail());
    assert!(is_alive(process));
    drop(runner);
    support::eventually("the process is gone", || !is_alive(process));
}
