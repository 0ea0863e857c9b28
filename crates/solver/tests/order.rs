//! The order of the stages: names, asking and answering go together.

use expr::{Dag, Evaluator, Label};
use expr_testing::{Shape, build};
use proptest::prelude::*;
use solver::{Answer, Chain, ChainOptions, Counters, Effort, Lit, PathSolver};

const NAMES: [&str; 10] = [
    "ranges",
    "unary",
    "product",
    "cache",
    "strings",
    "local",
    "subsumption",
    "domain",
    "inversion",
    "descent",
];

#[test]
fn the_standard_chain_has_every_stage_in_order() {
    let chain = Chain::standard(ChainOptions::default());
    assert_eq!(chain.counters().map(|(name, _)| name).collect::<Vec<_>>(), NAMES);
}

#[test]
fn each_stage_can_be_left_out() {
    for name in NAMES {
        let without = ChainOptions { without: vec![name.to_string()], ..ChainOptions::default() };
        let left: Vec<&str> = Chain::standard(without).counters().map(|(name, _)| name).collect();
        assert_eq!(left, NAMES.into_iter().filter(|&other| other != name).collect::<Vec<_>>());
        let alone: Vec<&str> =
            Chain::standard(ChainOptions::only(name)).counters().map(|(name, _)| name).collect();
        assert_eq!(alone, [name]);
    }
}

/// Conditions among the nodes, with their values on an input.
fn path(dag: &Dag, nodes: &[Label], current: &[u8]) -> Vec<Lit> {
    let conditions = nodes.iter().copied().filter(|&label| dag.bits(label) == 1);
    let mut labels: Vec<Label> = conditions.collect();
    labels.sort_unstable();
    labels.dedup();
    let mut evaluator = Evaluator::new();
    let mut evaluation = evaluator.under(dag, current);
    labels.iter().map(|&label| Lit::new(label, evaluation.holds(label))).collect()
}

fn snapshot(chain: &Chain) -> Vec<(&'static str, Counters)> {
    chain.counters().collect()
}

/// The names of the stages that a question was put to, and of those among them that answered it.
fn moved(
    before: &[(&'static str, Counters)],
    after: &[(&'static str, Counters)],
) -> (Vec<&'static str>, Vec<&'static str>) {
    let pairs = || before.iter().zip(after);
    let stages = || pairs().map(|((name, before), (_, after))| (*name, before, after));
    let asked = stages().filter(|(_, before, after)| after.asked > before.asked);
    let answers = |counters: &Counters| counters.sat + counters.unsat;
    let answered = stages().filter(|(_, before, after)| answers(after) > answers(before));
    (asked.map(|stage| stage.0).collect(), answered.map(|stage| stage.0).collect())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Whoever answers is the last that was asked, in the order of the names.
    #[test]
    fn nobody_after_the_stage_that_answers_is_asked(
        steps in prop::collection::vec(any::<[u32; 4]>(), 6..48),
        current: [u8; 10],
        without in prop::sample::select(&NAMES[..]),
    ) {
        let random = build(Shape { inputs: 10, length: true, floats: false, wide: false }, &steps);
        let path = path(&random.dag, &random.nodes, &current);
        let without = vec![without.to_string()];
        let mut chain = Chain::standard(ChainOptions { without, ..ChainOptions::default() });
        let mut solver = PathSolver::new(&random.dag, &path, &current, current.len());
        for effort in [Effort::Glance, Effort::Quick, Effort::Full] {
            chain.effort = effort;
            for index in 0..path.len() {
                let before = snapshot(&chain);
                let answer = solver.flip(&mut chain, index);
                let (asked, answered) = moved(&before, &snapshot(&chain));
                prop_assert!(answered.len() <= 1, "{:?} answered", answered);
                if let Some(stage) = answered.first() {
                    prop_assert_eq!(asked.last(), Some(stage));
                    prop_assert!(!matches!(answer, Answer::Unknown(_)));
                }
            }
        }
    }
}
