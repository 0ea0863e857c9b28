//! Programs that write over what they share with their server: `targets/tamper.c` says how.

mod support;

use runner::{Offence, Outcome, Runner, Sandbox};
use std::time::Duration;

fn start(sandbox: Sandbox) -> Runner {
    support::start_capturing(support::target("tamper"), sandbox)
}

const HARMLESS: &str = "a";

/// Runs one input between harmless ones, in processes that inputs share: how it ended, and who was
/// blamed.
fn offences(sandbox: Sandbox, input: &str) -> (Outcome, Vec<(String, Offence)>) {
    offences_within(support::PATIENCE, sandbox, input)
}

fn offences_within(
    time: Duration,
    sandbox: Sandbox,
    input: &str,
) -> (Outcome, Vec<(String, Offence)>) {
    let mut runner = start(sandbox);
    let run = |runner: &mut Runner, input: &str| {
        runner.run_shared(input.as_bytes(), false).unwrap().outcome
    };
    let harmless =
        |runner: &mut Runner| assert_eq!(run(runner, HARMLESS), Outcome::Exit(7), "{input}");
    (0..2).for_each(|_| harmless(&mut runner));
    runner.set_times(time, None);
    let outcome = run(&mut runner, input);
    runner.set_times(support::PATIENCE, None);
    (0..3).for_each(|_| harmless(&mut runner));
    let found = runner.take_offences().into_iter();
    (outcome, found.map(|(input, offence)| (String::from_utf8(input).unwrap(), offence)).collect())
}

fn blamed(input: &str, offence: Offence) -> (Outcome, Vec<(String, Offence)>) {
    (Outcome::Exit(7), vec![(input.to_owned(), offence)])
}

#[test]
fn what_does_no_harm_is_no_offence() {
    for input in ["c", "d", "e", "n", "r"] {
        assert_eq!(offences(Sandbox::On, input), (Outcome::Exit(7), vec![]), "{input}");
    }
}

#[test]
fn an_input_that_breaks_the_server_is_found_and_others_go_on() {
    for input in ["s", "1"] {
        assert_eq!(offences(Sandbox::On, input), blamed(input, Offence::Line), "{input}");
    }
}

#[test]
fn memory_that_says_nothing_of_the_run_is_seen_at_once() {
    assert_eq!(offences(Sandbox::On, "0"), blamed("0", Offence::Line));
    // It needs a moment to get at the memory.
    let (outcome, found) = offences_within(Duration::from_secs(2), Sandbox::On, "l");
    assert_eq!((outcome, found), (Outcome::Timeout, vec![("l".to_owned(), Offence::Line)]));
}

#[test]
fn forged_reports_are_told_from_the_real_one() {
    assert_eq!(offences(Sandbox::On, "f").1, [("f".to_owned(), Offence::Line)]);
}

#[test]
fn a_run_that_kills_its_supervisor_ends_with_it() {
    let mut runner = start(Sandbox::Off);
    assert_eq!(runner.run(b"k", false).unwrap().outcome, Outcome::Signal(libc::SIGKILL));
    assert_eq!(runner.take_offences(), [(b"k".to_vec(), Offence::Supervisor)]);
    assert_eq!(runner.run(HARMLESS.as_bytes(), false).unwrap().outcome, Outcome::Exit(7));
    assert_eq!(offences(Sandbox::On, "k"), (Outcome::Exit(7), vec![]));
}

#[test]
fn memory_is_found_written_over_in_a_process_of_its_own() {
    let mut runner = start(Sandbox::On);
    assert!(runner.run(b"1", false).unwrap().trace.is_err());
    assert_eq!(runner.take_offences(), [(b"1".to_vec(), Offence::Memory)]);
    assert!(runner.run(HARMLESS.as_bytes(), false).unwrap().trace.is_ok());
}

#[test]
fn after_some_such_inputs_each_gets_a_process_of_its_own() {
    let mut runner = start(Sandbox::On);
    for input in ["s1", "s2", "s3"] {
        runner.run_shared(input.as_bytes(), false).unwrap();
    }
    assert_eq!(runner.take_offences().len(), 3);
    for _ in 0..2 {
        assert!(!runner.run_shared(HARMLESS.as_bytes(), false).unwrap().shared);
    }
    let restarts = runner.counters().restarts;
    assert!(!runner.run_shared(b"s4", false).unwrap().shared);
    assert_eq!(runner.counters().restarts, restarts);
}
