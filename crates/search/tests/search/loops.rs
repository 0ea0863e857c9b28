//! Loops whose number of rounds the input decides, and what happens when nothing else is left.

use search::{Outcome, Stop, Whitebox, WhiteboxOptions};

use search_testing::harness::Setup;
use search_testing::program::{Fake, Machine};

fn whitebox() -> Whitebox<'static> {
    Whitebox::new(WhiteboxOptions::default())
}

/// As many rounds as the first two bytes say, at most so many, and a crash after ten thousand.
fn counts(machine: &mut Machine<'_>, most: u64) -> Outcome {
    let (Some(high), Some(low)) = (machine.byte(0), machine.byte(1)) else {
        return Outcome::Exit(1);
    };
    let limit = machine.join(high, low);
    let mut rounds = 0;
    while rounds < most {
        let goes_on = machine.above(limit, rounds);
        if !machine.branch(2, goes_on) {
            break;
        }
        rounds += 1;
    }
    let is_bad = machine.concrete(rounds == 10_000);
    if machine.branch(3, is_bad) { Outcome::Signal(6) } else { Outcome::Exit(0) }
}

fn program(most: u64) -> Fake<'static> {
    let mut fake = Fake::new(&[&[], &[]], move |machine| counts(machine, most));
    fake.sites.compared.insert(3, 10_000);
    fake
}

#[test]
fn a_number_of_rounds_that_the_program_asks_for_is_solved_for() {
    let mut setup = Setup { seeds: vec![b"\0\x08"], ..Setup::default() };
    setup.limits.runs = Some(20);
    let (results, _) = setup.search(&mut program(20_000), &mut whitebox());
    assert_eq!(results.bugs.all().len(), 1);
    assert_eq!(results.bugs.all()[0].input[..2], 10_000_u16.to_be_bytes());
}

#[test]
fn a_search_that_dropped_flips_says_so() {
    let mut setup = Setup { seeds: vec![b"\x01\0"], ..Setup::default() };
    setup.limits.runs = None;
    let (results, stop) = setup.search(&mut program(200), &mut whitebox());
    assert!(matches!(stop, Stop::FinishedShort(_)), "{stop}");
    let text = stop.to_string();
    let dropped = format!("{} flips were dropped", results.stats.dropped_flips);
    assert!(text.contains(&dropped) && text.contains("--exhaustive"), "{text}");
    assert_eq!(results.stats.restarts, 0, "no limit would end them");
}

#[test]
fn with_a_limit_it_goes_on_at_random() {
    // The solver never hears of the second byte.
    let mut fake = Fake::new(&[&[], &[]], |machine| {
        let Some(first) = machine.byte(0) else { return Outcome::Exit(0) };
        machine.concretise(3, first);
        let secret = machine.concrete(machine.hidden_byte(1) == Some(7));
        if machine.branch(2, secret) { Outcome::Signal(6) } else { Outcome::Exit(0) }
    });
    let mut setup = Setup { seeds: vec![b"a"], ..Setup::default() };
    let (results, stop) = setup.search(&mut fake, &mut whitebox());
    assert!(matches!(stop, Stop::RunsUp), "{stop}");
    assert!(results.stats.restarts > 1000 && results.bugs.all().len() == 1);
}

#[test]
fn a_search_that_tried_everything_ends() {
    let mut fake = Fake::new(&[&[]], |machine| {
        let Some(byte) = machine.byte(0) else { return Outcome::Exit(0) };
        let equal = machine.eq(byte, b'a');
        Outcome::Exit(i32::from(machine.branch(2, equal)))
    });
    let (results, stop) = Setup::default().search(&mut fake, &mut whitebox());
    assert!(matches!(stop, Stop::Complete), "{stop}");
    assert!(results.stats.runs < 10 && results.stats.restarts == 0);
}

#[test]
fn with_a_limit_dropped_flips_have_their_turn() {
    let mut setup = Setup { seeds: vec![b"\x01\0"], ..Setup::default() };
    setup.limits.runs = Some(2000);
    let (results, stop) = setup.search(&mut program(200), &mut whitebox());
    assert!(matches!(stop, Stop::RunsUp), "{stop}");
    let stats = results.stats;
    assert!(stats.dropped_flips > 0 && stats.taken_up > 0, "{}", stats.taken_up);
    assert!(stats.restarts > 0, "and at the end there are random inputs");
}

#[test]
fn restarts_change_nothing_outside_of_holes() {
    let mut fake = Fake::new(&[&[]], |machine| {
        let Some(first) = machine.byte(1) else { return Outcome::Exit(0) };
        machine.concretise(3, first);
        let holds = machine.concrete(true);
        machine.branch(2, holds);
        Outcome::Exit(0)
    });
    let mut setup = Setup { seeds: vec![b"abcd"], ..Setup::default() };
    setup.limits.runs = Some(200);
    let options = WhiteboxOptions {
        holes: Some(std::iter::once(1..3).collect()),
        ..WhiteboxOptions::default()
    };
    let (results, stop) = setup.search(&mut fake, &mut Whitebox::new(options));
    assert!(matches!(stop, Stop::RunsUp), "{stop}");
    assert!(results.stats.restarts > 100);
    let is_inside = |input: &Vec<u8>| (input.len(), input[0], input[3]) == (4, b'a', b'd');
    assert!(fake.inputs.iter().all(is_inside), "{:?}", fake.inputs);
}
