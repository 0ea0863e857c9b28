//! Limits, bugs and failures of what lies outside.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use search::{ExecError, Execution, Executor, Outcome, Random, Sighting, Stop};

use search_testing::harness::{Setup, ended};
use search_testing::program::{Fake, Machine};

fn quiet(_: &mut Machine<'_>) -> Outcome {
    Outcome::Exit(0)
}

#[test]
fn limits_end_the_search() {
    let mut setup = Setup::default();
    setup.limits.runs = Some(10);
    let (results, stop) = setup.search(&mut Fake::new(&[], quiet), &mut Random);
    assert!(matches!(stop, Stop::RunsUp));
    assert_eq!(results.stats.runs, 10);

    setup.limits.time = Some(Duration::from_millis(5));
    let (results, stop) = setup.search(&mut Fake::new(&[], quiet), &mut Random);
    assert!(matches!(stop, Stop::TimeUp));
    assert!(results.stats.runs < 10);

    setup.stop = AtomicBool::new(true);
    let (results, stop) = setup.search(&mut Fake::new(&[], quiet), &mut Random);
    assert!(matches!(stop, Stop::Interrupted));
    assert_eq!(results.stats.runs, 0);
}

#[test]
fn what_was_found_survives_a_full_disk() {
    let mut setup = Setup { seeds: vec![b"a", b"b"], ..Setup::default() };
    setup.notes.room = Some(1);
    let mut fake = Fake::new(&[&[]], |machine| {
        let Some(byte) = machine.byte(0) else { return Outcome::Exit(0) };
        let equal = machine.eq(byte, b'a');
        machine.branch(2, equal);
        Outcome::Exit(0)
    });
    let (results, stop) = setup.search(&mut fake, &mut Random);
    assert!(stop.is_error());
    assert_eq!(stop.to_string(), "results could not be written: disk full");
    assert_eq!(results.corpus.entries().len(), 2);
    assert_eq!(results.stats.runs, 2);
}

#[test]
fn a_smaller_input_for_a_known_bug_is_told() {
    let mut setup = Setup { seeds: vec![b"abb", b"ab", b"abbb"], ..Setup::default() };
    setup.limits.runs = Some(3);
    let mut fake = Fake::new(&[], |_| Outcome::Signal(11));
    setup.search(&mut fake, &mut Random);
    let told: Vec<_> =
        setup.notes.bugs.iter().map(|(sighting, input)| (*sighting, &input[..])).collect();
    assert_eq!(told, [(Sighting::New, &b"abb"[..]), (Sighting::Smaller, b"ab")]);
}

/// Times out on the first run only.
struct Flaky(u32);

impl Executor for Flaky {
    fn run(&mut self, _input: &[u8], _symbolic: bool) -> Result<Execution, ExecError> {
        self.0 += 1;
        let outcome = if self.0 == 1 { Outcome::Timeout } else { Outcome::Exit(0) };
        Ok(ended(outcome))
    }
}

#[test]
fn a_hang_must_hang_twice() {
    let mut hanging = Fake::new(&[], |_| Outcome::Timeout);
    let mut setup = Setup::default();
    setup.limits.runs = Some(5);
    let (results, _) = setup.search(&mut hanging, &mut Random);
    assert_eq!(results.bugs.all().len(), 1);
    assert_eq!(results.stats.flaky_timeouts, 0);

    let (results, _) = setup.search_with(&mut Flaky(0), &Default::default(), &mut Random);
    assert_eq!(results.bugs.all().len(), 0);
    assert_eq!((results.stats.timeouts, results.stats.flaky_timeouts), (1, 1));
}

/// Cannot be run at all.
struct Broken;

impl Executor for Broken {
    fn run(&mut self, _input: &[u8], _symbolic: bool) -> Result<Execution, ExecError> {
        Err(ExecError("the fork server is gone".to_owned()))
    }
}

#[test]
fn a_program_that_cannot_run_ends_the_search() {
    let (_, stop) = Setup::default().search_with(&mut Broken, &Default::default(), &mut Random);
    assert_eq!(stop.to_string(), "the program could not be run: the fork server is gone");
}
