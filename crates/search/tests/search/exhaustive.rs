//! Exhaustive search against brute force: the same set of paths, each once, and no claim that is
//! not earned.

use proptest::prelude::*;
use search::{Order, Outcome, SavedSearch, Stop, Strategy as _, Whitebox, WhiteboxOptions};
use trace::GiveUp;

use search::Executor;
use search_testing::harness::{Setup, all_inputs, search};
use search_testing::program::{Fake, Machine};
use search_testing::random::{Op, fake, program};

fn exhaustive(order: Order) -> Whitebox<'static> {
    Whitebox::new(WhiteboxOptions { exhaustive: true, order, ..WhiteboxOptions::default() })
}

/// Longest input of random programs.
const BOUND: usize = 3;

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn finds_the_paths_that_brute_force_finds(program in program(), depth_first: bool) {
        let mut brute = fake(&program);
        for input in all_inputs(BOUND) {
            brute.run(&input, false).expect("fakes run");
        }
        let mut searched = fake(&program);
        let mut strategy = exhaustive(if depth_first { Order::DepthFirst } else { Order::Generational });
        let mut setup = Setup::default();
        setup.limits.max_len = BOUND;
        let (results, _) = setup.search(&mut searched, &mut strategy);
        prop_assert_eq!(&searched.paths, &brute.paths);
        prop_assert!(strategy.completeness().is_complete(), "{}", strategy.completeness());
        prop_assert_eq!(results.stats.runs, searched.paths.len() as u64, "a path was run twice");
        prop_assert_eq!(results.stats.divergences, 0);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, ..ProptestConfig::default() })]

    #[test]
    fn sessions_together_find_what_one_finds(program in program(), runs in 1..20_u64) {
        let mut whole = fake(&program);
        let (once, _) = search(&mut whole, &mut exhaustive(Order::Generational));

        let mut parts = fake(&program);
        let mut saved = SavedSearch::default();
        for session in 0.. {
            prop_assert!(session <= 2 * (once.stats.runs + 1), "no progress");
            let mut setup = Setup { waiting: saved.waiting.clone(), ..Setup::default() };
            // Every other session ends before it has come to all that waits.
            let enough = runs + 1 + saved.waiting.len() as u64;
            setup.limits.runs = Some(if session % 2 == 1 { 1 } else { enough });
            let mut strategy = exhaustive(Order::Generational);
            strategy.restore(&saved);
            let (_, stop) = setup.search(&mut parts, &mut strategy);
            saved = strategy.save().expect("whitebox saves");
            if matches!(stop, Stop::Finished) {
                break;
            }
        }
        prop_assert_eq!(&parts.paths, &whole.paths);
        prop_assert!(saved.waiting.is_empty());
    }
}

#[test]
fn later_sessions_do_not_count_losses_again() {
    let body = |machine: &mut Machine<'_>| {
        machine.give_up(GiveUp::Vector);
        let Some(byte) = machine.byte(0) else { return Outcome::Exit(0) };
        let equal = machine.eq(byte, b'a');
        machine.branch(2, equal);
        Outcome::Exit(0)
    };
    let mut first = exhaustive(Order::Generational);
    let mut setup = Setup { seeds: vec![b"x"], ..Setup::default() };
    setup.limits.runs = Some(1);
    setup.search(&mut Fake::new(&[&[]], body), &mut first);
    let mut second = exhaustive(Order::Generational);
    second.restore(&first.save().expect("whitebox saves"));
    setup.limits.runs = None;
    setup.search(&mut Fake::new(&[&[]], body), &mut second);
    assert!(second.completeness().finished);
    assert_eq!(second.completeness().runs_with_give_ups, 3, "one for each path");
}

#[test]
fn states_are_offered_while_the_search_runs() {
    let mut setup = Setup::default();
    setup.notes.keep_states = true;
    let program = [Op::Next, Op::Equal(b'a')];
    setup.search(&mut fake(&program), &mut exhaustive(Order::Generational));
    let states = &setup.notes.states;
    assert!(!states[0].waiting.is_empty(), "the first run has flips to try");
    assert!(states[states.len() - 1].explored.len() > states[0].explored.len());
}

#[test]
fn all_values_of_a_concretisation_are_gone_through() {
    let body = |machine: &mut Machine<'_>, fix_all: bool| {
        let Some(byte) = machine.byte(0) else { return Outcome::Exit(0) };
        let equal = machine.eq(byte, b'a');
        if machine.branch(2, equal) || fix_all {
            machine.concretise(3, byte);
        }
        Outcome::Exit(0)
    };
    for (fix_all, runs) in [(false, 3), (true, 257)] {
        let mut strategy = exhaustive(Order::Generational);
        let (results, _) =
            search(&mut Fake::new(&[&[], &[]], |machine| body(machine, fix_all)), &mut strategy);
        assert!(strategy.completeness().is_complete(), "{}", strategy.completeness());
        assert_eq!(results.stats.runs, runs);
    }
}

#[test]
fn too_many_values_of_a_concretisation_break_completeness() {
    let body = |machine: &mut Machine<'_>| {
        let (Some(high), Some(low)) = (machine.byte(0), machine.byte(1)) else {
            return Outcome::Exit(0);
        };
        let number = machine.join(high, low);
        machine.concretise(2, number);
        Outcome::Exit(0)
    };
    let mut strategy = exhaustive(Order::Generational);
    search(&mut Fake::new(&[&[]], body), &mut strategy);
    assert!(!strategy.completeness().is_complete());
    assert!(
        strategy.completeness().to_string().contains("1 values fixed"),
        "{}",
        strategy.completeness()
    );
}

#[test]
fn dropped_data_breaks_completeness() {
    let mut fake = Fake::new(&[&[]], |machine| {
        if machine.byte(0).is_some() {
            machine.give_up(GiveUp::InlineAssembly);
        }
        Outcome::Exit(0)
    });
    let mut strategy = exhaustive(Order::Generational);
    let (results, _) = search(&mut fake, &mut strategy);
    assert_eq!(results.stats.give_ups[GiveUp::InlineAssembly as usize], 1);
    assert_eq!(strategy.completeness().broken_by(), ["1 runs in which symbolic data was dropped"]);
}

#[test]
fn the_depth_bound_is_kept_and_said() {
    let body = |machine: &mut Machine<'_>| {
        for index in 0..3 {
            let Some(byte) = machine.byte(index) else { break };
            let equal = machine.eq(byte, b'a');
            machine.branch(2, equal);
        }
        Outcome::Exit(0)
    };
    let paths = |max_depth| {
        let mut fake = Fake::new(&[&[]], body);
        let options = WhiteboxOptions { exhaustive: true, max_depth, ..WhiteboxOptions::default() };
        let mut strategy = Whitebox::new(options);
        Setup::default().search(&mut fake, &mut strategy);
        (fake.paths.len(), strategy.completeness().clone())
    };
    let (all, complete) = paths(usize::MAX);
    assert_eq!((all, complete.cut_at_depth), (15, 0));
    let (some, cut) = paths(3);
    assert!(some < all && cut.cut_at_depth > 0 && cut.is_complete(), "{some} {cut}");
    assert!(cut.to_string().contains("longer than the depth bound"));
}
