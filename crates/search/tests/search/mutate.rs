//! What `mutate` makes of counts and traces.

use search::{Limits, Mutate, Outcome, Strategy};

use search_testing::harness::Setup;
use search_testing::program::{Fake, Machine, Value};

/// Whether a search of so many runs finds the program's crash.
fn finds(
    program: fn(&mut Machine<'_>) -> Outcome,
    mut strategy: impl Strategy,
    (seed, runs): (&'static [u8], u64),
) -> bool {
    let mut fake = Fake::new(&[&[], &[]], program);
    let limits = Limits { time: None, runs: Some(runs), max_len: 64 };
    let mut setup = Setup { seeds: vec![seed], limits, ..Setup::default() };
    let (results, _) = setup.search(&mut fake, &mut strategy);
    !results.bugs.all().is_empty()
}

/// A number of four bytes, the last one first.
fn number(machine: &mut Machine<'_>) -> Option<Value> {
    let mut number = machine.byte(3)?;
    for index in [2, 1, 0] {
        let low = machine.byte(index)?;
        number = machine.join(number, low);
    }
    Some(number)
}

fn magic(machine: &mut Machine<'_>) -> Outcome {
    let Some(number) = number(machine) else { return Outcome::Exit(0) };
    let magic = machine.constant(number, 0xDEAD_BEEF);
    let is_magic = machine.same(number, magic);
    if machine.branch(2, is_magic) { Outcome::Signal(11) } else { Outcome::Exit(0) }
}

#[test]
fn what_bytes_are_compared_with_is_read_off_a_trace() {
    let start: (&[u8], u64) = (b"some text", 1500);
    assert!(finds(magic, Mutate::default(), start));
    assert!(!finds(magic, Mutate::without_traces(), start), "it is hard to guess");
}

/// Goes round a loop for each byte that is as it should be. Two rounds take the same outcomes.
fn many(machine: &mut Machine<'_>) -> Outcome {
    let mut rounds = 0;
    while let Some(byte) = machine.hidden_byte(usize::from(rounds)) {
        let goes_on = machine.concrete(byte == 0xA1 + 7 * rounds);
        if !machine.branch(2, goes_on) {
            break;
        }
        rounds += 1;
    }
    let is_many = machine.concrete(rounds >= 4);
    if machine.branch(3, is_many) { Outcome::Signal(11) } else { Outcome::Exit(0) }
}

#[test]
fn an_input_that_goes_round_a_loop_more_often_is_worth_changing() {
    assert!(finds(many, Mutate::default(), (b"............", 50_000)));
}
