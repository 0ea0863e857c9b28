//! Which inputs are kept: those that add coverage, or one for each path.

use std::collections::BTreeSet;

use path::Step;
use proptest::prelude::*;
use search::{Executor, KeepBy, Mutate, Outcome, Results, Strategy, Whitebox, WhiteboxOptions};

use search_testing::harness::Setup;
use search_testing::program::{Fake, Machine};
use search_testing::random::{fake, program};

fn by_paths() -> Setup {
    Setup { keep_by: KeepBy::Paths, ..Setup::default() }
}

fn exhaustive(trace_memory: usize) -> Whitebox<'static> {
    Whitebox::new(WhiteboxOptions { exhaustive: true, trace_memory, ..WhiteboxOptions::default() })
}

/// The paths of inputs, which are as many as there are inputs.
fn distinct_paths(mut fake: Fake<'_>, inputs: &[Vec<u8>]) -> BTreeSet<Vec<Step>> {
    for (number, input) in inputs.iter().enumerate() {
        fake.run(input, false).expect("fakes run");
        assert_eq!(fake.paths.len(), number + 1, "{input:?} takes the path of another input");
    }
    fake.paths
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, ..ProptestConfig::default() })]

    #[test]
    fn an_exhaustive_search_keeps_one_input_for_each_path(program in program(), roomy: bool) {
        let mut searched = fake(&program);
        let mut setup = by_paths();
        setup.limits.max_len = 3;
        let memory = if roomy { 1 << 20 } else { 1 };
        let (results, _) = setup.search(&mut searched, &mut exhaustive(memory));
        let kept = &setup.notes.entries;
        prop_assert_eq!(&distinct_paths(fake(&program), kept), &searched.paths);
        prop_assert_eq!(results.corpus.kept(), kept.len());
        prop_assert_eq!(results.stats.paths, kept.len() as u64);
        prop_assert_eq!(results.corpus.entries().len(), results.stats.growth.len());
    }

    #[test]
    fn a_search_without_traces_keeps_no_path_twice(program in program(), seed: u64) {
        let mut searched = fake(&program);
        let mut setup = Setup { seed, ..by_paths() };
        setup.limits.runs = Some(400);
        let (results, _) = setup.search(&mut searched, &mut Mutate::default());
        let kept = &setup.notes.entries;
        distinct_paths(fake(&program), kept);
        prop_assert_eq!(results.stats.paths, kept.len() as u64);
        let outcomes = |inputs: &[Vec<u8>]| covers(&program, inputs);
        prop_assert_eq!(outcomes(kept), outcomes(&searched.inputs));
    }
}

/// All that inputs cover together, each by itself.
fn covers(program: &[search_testing::random::Op], inputs: &[Vec<u8>]) -> BTreeSet<Vec<u32>> {
    let mut fake = fake(program);
    inputs.iter().map(|input| fake.run(input, false).expect("fakes run").covered).collect()
}

/// Counts the bytes: as many paths as there are lengths, which cover two outcomes together.
fn count(machine: &mut Machine<'_>) -> Outcome {
    for index in 0.. {
        let Some(byte) = machine.byte(index) else { break };
        let zero = machine.eq(byte, 0);
        if machine.branch(2, zero) {
            break;
        }
    }
    Outcome::Exit(0)
}

fn kept(keep_by: KeepBy, strategy: &mut dyn Strategy) -> (usize, Results) {
    let mut setup = Setup { keep_by, ..Setup::default() };
    setup.limits.runs = Some(300);
    let (results, _) = setup.search(&mut Fake::new(&[&[]], count), strategy);
    (setup.notes.entries.len(), results)
}

#[test]
fn paths_are_more_than_coverage_tells() {
    let (by_coverage, _) = kept(KeepBy::Coverage, &mut exhaustive(1 << 20));
    let (by_paths, results) = kept(KeepBy::Paths, &mut exhaustive(1 << 20));
    assert_eq!((by_coverage, by_paths), (2, 9), "no byte, and up to four that are or end in zero");
    assert_eq!((results.corpus.entries().len(), results.stats.untraced), (2, 0));
}

#[test]
fn runs_whose_path_nobody_knows_are_counted() {
    let (kept, results) = kept(KeepBy::Paths, &mut Mutate::without_traces());
    let (traced, untraced) = (results.stats.symbolic_runs, results.stats.untraced);
    assert_eq!(kept as u64, results.stats.paths);
    assert_eq!(traced, 4, "the seed, and a run for each of the sets of outcomes that there are");
    assert!(untraced > 200, "{untraced}");
}

/// Calls what the first byte says, which is fixed.
fn call(machine: &mut Machine<'_>) -> Outcome {
    let Some(byte) = machine.byte(0) else { return Outcome::Exit(0) };
    let target = machine.concretise(2, byte);
    let is_even = machine.concrete(target.is_multiple_of(2));
    machine.branch(3, is_even);
    Outcome::Exit(0)
}

#[test]
fn what_adds_coverage_is_kept_although_its_branches_are_known() {
    let mut setup = Setup { seeds: vec![b"a", b"b", b"c"], ..by_paths() };
    setup.limits.runs = Some(3);
    let options = WhiteboxOptions::default();
    setup.search(&mut Fake::new(&[&[], &[]], call), &mut Whitebox::new(options));
    assert_eq!(setup.notes.entries, [b"a", b"b"]);
}

#[test]
fn what_does_not_end_has_no_trace_and_is_kept_once() {
    let body = |machine: &mut Machine<'_>| {
        let Some(byte) = machine.byte(0) else { return Outcome::Exit(0) };
        let less = machine.less(byte, 100);
        if machine.branch(2, less) { Outcome::Timeout } else { Outcome::Exit(0) }
    };
    let mut setup = by_paths();
    setup.limits.runs = Some(200);
    setup.search(&mut Fake::new(&[&[]], body), &mut Mutate::default());
    assert_eq!(setup.notes.entries.len(), 3);
}
