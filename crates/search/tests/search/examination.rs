//! Second opinions: which runs get one.

use std::collections::BTreeSet;

use search::{Mutate, Outcome, Strategy, Whitebox, WhiteboxOptions};

use search_testing::harness::Setup;
use search_testing::program::{Fake, Machine};

/// Asks the same of each byte, so that the second one of a kind covers nothing new.
fn letters(machine: &mut Machine<'_>) -> Outcome {
    for index in 0.. {
        let Some(byte) = machine.byte(index) else { break };
        let equal = machine.eq(byte, b'a');
        machine.branch(2, equal);
    }
    Outcome::Exit(0)
}

fn examined(
    objects_to: fn(&[u8]) -> bool,
    strategy: &mut dyn Strategy,
    setup: &mut Setup,
) -> Fake<'static> {
    let mut fake = Fake::new(&[&[]], letters);
    fake.objects_to = Some(objects_to);
    let (results, _) = setup.search(&mut fake, strategy);
    assert_eq!(results.stats.examined, fake.examined.len() as u64);
    fake
}

fn exhaustive() -> Whitebox<'static> {
    Whitebox::new(WhiteboxOptions { exhaustive: true, ..WhiteboxOptions::default() })
}

#[test]
fn a_search_over_all_paths_examines_each_once() {
    let mut setup = Setup::default();
    let fake = examined(|input| input.starts_with(b"aaaa"), &mut exhaustive(), &mut setup);
    let once: BTreeSet<&Vec<u8>> = fake.examined.iter().collect();
    assert_eq!((once.len(), fake.examined.len()), (fake.paths.len(), fake.paths.len()));
    assert_eq!(setup.notes.bugs.len(), 1);
}

#[test]
fn paths_without_new_coverage_are_examined_too() {
    for strategy in [
        &mut Whitebox::new(WhiteboxOptions::default()) as &mut dyn Strategy,
        &mut Mutate::default(),
    ] {
        let mut setup = Setup::default();
        setup.limits.runs = Some(300);
        let fake = examined(|input| input.len() == 3, strategy, &mut setup);
        assert!(!setup.notes.bugs.is_empty(), "{}", strategy.name());
        assert!(fake.examined.len() > 4, "{}", strategy.name());
    }
}

#[test]
fn what_was_not_examined_is_counted() {
    let mut fake = Fake::new(&[&[]], letters);
    fake.objects_to = Some(|_| false);
    let mut setup = Setup::default();
    setup.limits = search::Limits { runs: Some(2000), max_len: 40, ..setup.limits };
    let (results, _) = setup.search(&mut fake, &mut Whitebox::new(WhiteboxOptions::default()));
    let (examined, unexamined) = (results.stats.examined, results.stats.unexamined);
    assert!(examined >= 64 + 2000 / 100 && unexamined > 0, "{examined} {unexamined}");
}
