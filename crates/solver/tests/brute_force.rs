//! Every link, and the whole chain, against trying all inputs of two bytes.

use expr::{Assignment, Dag, Evaluator, Label, Program, Registers, Supports, print};
use expr_testing::{Shape, build};
use proptest::prelude::*;
use solver::{
    Answer, Chain, ChainOptions, DescentLink, DomainLink, InversionLink, Link, Lit, PathSolver,
    Query,
};

const SHAPE: Shape = Shape { inputs: 2, length: true, floats: false, wide: false };
const MAX_LEN: usize = 4;

/// Random literals: some that hold on `current`, as on a recorded path, and then a goal.
fn literals(dag: &mut Dag, nodes: &[Label], current: &[u8]) -> Vec<Lit> {
    let mut conditions: Vec<Label> =
        nodes.iter().copied().filter(|&label| dag.bits(label) == 1).collect();
    conditions.sort_unstable();
    conditions.dedup();
    let input = Assignment::new(current);
    conditions.iter().map(|&label| Lit::new(label, dag.eval(label, &input) == 1)).collect()
}

fn holds(dag: &Dag, lits: &[Lit], input: &[u8]) -> bool {
    let mut evaluator = Evaluator::new();
    let mut evaluation = evaluator.under(dag, input);
    lits.iter().all(|lit| evaluation.holds(lit.label) == lit.value)
}

/// Shortest length that the literals allow because of the bytes that they use.
fn needed_len(dag: &Dag, lits: &[Lit]) -> usize {
    let mut supports = Supports::new();
    let last = |lit: &Lit| {
        let id = supports.of(dag, lit.label);
        supports.get(id).last_byte()
    };
    lits.iter().filter_map(last).max().map_or(0, |byte| byte as usize + 1)
}

fn satisfiable(dag: &mut Dag, lits: &[Lit], current: &[u8]) -> bool {
    let parameters = [dag.input(0), dag.input(1), dag.input_length()];
    let roots: Vec<Label> = lits.iter().map(|lit| lit.label).collect();
    let uses_len = roots.iter().any(|&root| dag.support(root).uses_len());
    let lengths =
        if uses_len { needed_len(dag, lits)..=MAX_LEN } else { current.len()..=current.len() };
    let program = Program::compile(dag, &roots, &parameters).expect("all leaves are parameters");
    let mut registers = Registers::default();
    program.load(&mut registers);
    for len in lengths {
        program.set(&mut registers, 2, len as u128);
        for bytes in 0..=u16::MAX {
            program.set(&mut registers, 0, u128::from(bytes & 255));
            program.set(&mut registers, 1, u128::from(bytes >> 8));
            program.run(&mut registers);
            let holds =
                |(root, lit): (usize, &Lit)| (program.get(&registers, root) == 1) == lit.value;
            if lits.iter().enumerate().all(holds) {
                return true;
            }
        }
    }
    false
}

fn check(dag: &mut Dag, lits: &[Lit], current: &[u8], answer: Answer, exact: bool, context: &str) {
    let text = || {
        let labels: Vec<Label> = lits.iter().map(|lit| lit.label).collect();
        let values: Vec<bool> = lits.iter().map(|lit| lit.value).collect();
        format!("{context}: {answer:?} on {current:?} for {values:?}\n{}", print(dag, &labels))
    };
    match &answer {
        Answer::Sat(input) => {
            assert!(holds(dag, lits, input), "{}", text());
            assert!(
                input.len() <= MAX_LEN && input.len() >= needed_len(dag, lits).min(current.len()),
                "{}",
                text()
            );
        }
        Answer::Unsat => {
            let text = text();
            assert!(!satisfiable(dag, lits, current), "{text}");
        }
        Answer::Unknown(_) => assert!(!exact, "{}", text()),
    }
}

fn steps() -> impl Strategy<Value = Vec<[u32; 4]>> {
    prop::collection::vec(any::<[u32; 4]>(), 6..24)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn every_flip_of_a_path(steps in steps(), current: [u8; 2]) {
        let mut random = build(SHAPE, &steps);
        let path = literals(&mut random.dag, &random.nodes, &current);
        let mut chain = Chain::standard(ChainOptions { domain_budget: 1 << 30, ..ChainOptions::default() });
        let answers: Vec<Answer> = {
            let mut solver = PathSolver::new(&random.dag, &path, &current, MAX_LEN);
            prop_assert!(solver.violated().is_empty());
            (0..path.len()).map(|index| solver.flip(&mut chain, index)).collect()
        };
        for (index, answer) in answers.into_iter().enumerate() {
            let mut lits = path[..=index].to_vec();
            lits[index] = lits[index].negated();
            check(&mut random.dag, &lits, &current, answer, true, "chain");
        }
        prop_assert!(chain.counters().all(|(_, counters)| counters.wrong == 0));
    }

    #[test]
    fn literals_that_do_not_hold_now(steps in steps(), current: [u8; 2], values: u32) {
        let mut random = build(SHAPE, &steps);
        let mut lits = literals(&mut random.dag, &random.nodes, &current);
        lits.truncate(6);
        for (index, lit) in lits.iter_mut().enumerate() {
            lit.value = values >> index & 1 == 1;
        }
        let Some((&goal, path)) = lits.split_last() else { return Ok(()) };
        for only in [None, Some("ranges"), Some("strings"), Some("domain"), Some("inversion"), Some("descent")] {
            let only = only.into_iter().map(str::to_string).collect();
            let options = ChainOptions { only, domain_budget: 1 << 30, ..ChainOptions::default() };
            let answer = Chain::standard(options).solve(&Query::new(&random.dag, path, goal, &current, MAX_LEN));
            check(&mut random.dag, &lits, &current, answer, false, "chain");
        }
    }

    #[test]
    fn links_alone(steps in steps(), current: [u8; 2]) {
        let mut random = build(Shape { length: false, ..SHAPE }, &steps);
        let mut lits = literals(&mut random.dag, &random.nodes, &current);
        let Some(goal) = lits.last_mut() else { return Ok(()) };
        *goal = goal.negated();
        let (goal, path) = lits.split_last().expect("not empty");
        // Links on a raw query see constants and unused bytes too.
        let query = Query::new(&random.dag, path, *goal, &current, MAX_LEN);
        let mut links: [Box<dyn Link>; 3] = [
            Box::new(DomainLink::new(1 << 30)),
            Box::<InversionLink>::default(),
            Box::new(DescentLink::new(200_000)),
        ];
        let answers = links.each_mut().map(|link| link.solve(&query));
        for answer in answers {
            check(&mut random.dag, &lits, &current, answer, false, "link");
        }
    }

    /// Floats, ranges and local search: every answer is checked, and "unsat" by trying all inputs.
    #[test]
    fn links_on_floats(steps in steps(), current: [u8; 2]) {
        let mut random = build(Shape { length: false, floats: true, ..SHAPE }, &steps);
        let mut lits = literals(&mut random.dag, &random.nodes, &current);
        lits.truncate(5);
        let Some(goal) = lits.last_mut() else { return Ok(()) };
        *goal = goal.negated();
        let (goal, path) = lits.split_last().expect("not empty");
        for only in ["ranges", "domain", "inversion", "descent"] {
            let query = Query::new(&random.dag, path, *goal, &current, MAX_LEN);
            let answer = Chain::standard(ChainOptions::only(only)).solve(&query);
            check(&mut random.dag, &lits, &current, answer, false, only);
        }
    }

    #[test]
    fn answers_are_reproducible(steps in steps(), current: [u8; 2]) {
        let mut random = build(SHAPE, &steps);
        let path = literals(&mut random.dag, &random.nodes, &current);
        let run = || {
            let mut chain = Chain::standard(ChainOptions::default());
            let mut solver = PathSolver::new(&random.dag, &path, &current, MAX_LEN);
            (0..path.len()).map(|index| solver.flip(&mut chain, index)).collect::<Vec<Answer>>()
        };
        prop_assert_eq!(run(), run());
    }
}
