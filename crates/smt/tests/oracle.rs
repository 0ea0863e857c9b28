//! The fast links never contradict Z3.

use expr::{Assignment, Dag, Evaluator, Label, print};
use expr_testing::{Shape, build};
use proptest::prelude::*;
use smt::{Limits, Z3Link, standard_chain};
use solver::{Answer, Chain, ChainOptions, Lit, PathSolver};
use std::time::Duration;

const MAX_LEN: usize = 9;

fn path(dag: &Dag, nodes: &[Label], current: &[u8]) -> Vec<Lit> {
    let mut labels: Vec<Label> =
        nodes.iter().copied().filter(|&label| dag.bits(label) == 1).collect();
    labels.sort_unstable();
    labels.dedup();
    let input = Assignment::new(current);
    labels.iter().map(|&label| Lit::new(label, dag.eval(label, &input) == 1)).collect()
}

fn limits() -> Limits {
    Limits { time: Duration::from_millis(300), steps: 0, economical: false, stop: None }
}

fn flips(chain: &mut Chain, dag: &Dag, path: &[Lit], current: &[u8]) -> Vec<Answer> {
    let mut solver = PathSolver::new(dag, path, current, MAX_LEN);
    (0..path.len()).map(|index| solver.flip(chain, index)).collect()
}

fn holds(dag: &Dag, lits: &[Lit], input: &[u8]) -> bool {
    let mut evaluator = Evaluator::new();
    let mut evaluation = evaluator.under(dag, input);
    lits.iter().all(|lit| evaluation.holds(lit.label) == lit.value)
}

fn check(shape: Shape, steps: &[[u32; 4]], current: &[u8]) {
    let random = build(shape, steps);
    let (dag, path) = (&random.dag, path(&random.dag, &random.nodes, current));
    let mut z3 = standard_chain(ChainOptions::only(Z3Link::NAME), limits());
    let mut fast =
        Chain::standard(ChainOptions { domain_budget: 200_000, ..ChainOptions::default() });
    let expected = flips(&mut z3, dag, &path, current);
    let answers = flips(&mut fast, dag, &path, current);
    for (index, (expected, answer)) in expected.iter().zip(&answers).enumerate() {
        let mut lits = path[..=index].to_vec();
        lits[index] = lits[index].negated();
        let text = || {
            let labels: Vec<Label> = lits.iter().map(|lit| lit.label).collect();
            let values: Vec<bool> = lits.iter().map(|lit| lit.value).collect();
            format!(
                "Z3 {expected:?}, fast {answer:?} on {current:?} for {values:?}\n{}",
                print(dag, &labels)
            )
        };
        for answer in [expected, answer] {
            if let Answer::Sat(input) = answer {
                assert!(holds(dag, &lits, input), "{}", text());
            }
        }
        let contradiction = matches!(
            (expected, answer),
            (Answer::Sat(_), Answer::Unsat) | (Answer::Unsat, Answer::Sat(_))
        );
        assert!(!contradiction, "{}", text());
    }
    for (name, counters) in z3.counters().chain(fast.counters()) {
        assert!(counters.wrong == 0 || shape.floats, "{name} proposed a wrong input");
    }
}

fn steps() -> impl Strategy<Value = Vec<[u32; 4]>> {
    prop::collection::vec(any::<[u32; 4]>(), 4..16)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn fast_links_agree_with_z3(steps in steps(), current: [u8; 3]) {
        check(Shape { inputs: 3, length: true, floats: false, wide: false }, &steps, &current);
    }

    #[test]
    fn fast_links_agree_with_z3_on_floats(steps in steps(), current: [u8; 8]) {
        check(Shape { inputs: 8, length: false, floats: true, wide: true }, &steps, &current);
    }
}

#[test]
fn z3_is_asked_last() {
    let chain = standard_chain(ChainOptions::default(), limits());
    let fast = Chain::standard(ChainOptions::default());
    let names = fast.counters().map(|(name, _)| name).chain([Z3Link::NAME]);
    assert!(chain.counters().map(|(name, _)| name).eq(names));
}

#[test]
fn large_tables_are_read() {
    let mut dag = Dag::new();
    let bytes = (0..5000u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    let table = dag.add_table(expr::TableData::concrete(bytes)).expect("a table");
    let (high, low) = (dag.input(0), dag.input(1));
    let index = dag.add(expr::Node::binary(expr::Op::Concat, 16, high, low));
    let offset = dag.add(expr::Node::unary(expr::Op::ZExt, 64, index));
    let read = dag.add(expr::Node {
        op: expr::Op::Read as u8,
        bits: 16,
        aux: 0,
        a: offset,
        b: table,
        c: 0,
    });
    let input = Assignment::new([0x0c, 0x35]);
    let wanted = dag.eval(read, &input);
    let wanted = dag.constant(16, wanted);
    let goal = Lit::new(dag.add(expr::Node::binary(expr::Op::Eq, 1, read, wanted)), true);
    let limits = Limits { time: Duration::from_secs(60), steps: 0, economical: false, stop: None };
    let mut z3 = standard_chain(ChainOptions::only(Z3Link::NAME), limits);
    let answer = z3.solve(&solver::Query::new(&dag, &[], goal, &[0, 0], 2));
    let Answer::Sat(input) = answer else { panic!("{answer:?}") };
    assert!(holds(&dag, &[goal], &input));
}
