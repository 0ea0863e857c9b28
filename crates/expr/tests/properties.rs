//! Evaluator, compiled programs, simplifier, support and text form agree on random expressions.

use expr::{
    Assignment, Dag, FunctionMap, Functions, Importer, Label, Op, Place, Program, Registers,
    Staged, Supports, parse, print,
};
use expr_testing::{Shape, build};
use proptest::prelude::*;

const SHAPE: Shape = Shape { inputs: 4, length: true, floats: true, wide: true };

fn steps() -> impl Strategy<Value = Vec<[u32; 4]>> {
    prop::collection::vec(any::<[u32; 4]>(), 1..40)
}

fn leaves(dag: &mut Dag) -> Vec<Label> {
    let mut leaves: Vec<Label> = (0..SHAPE.inputs).map(|index| dag.input(index)).collect();
    leaves.push(dag.input_length());
    leaves
}

fn run(program: &Program, input: &[u8], count: usize) -> Vec<u128> {
    let mut registers = Registers::default();
    program.load(&mut registers);
    for (index, &byte) in input.iter().enumerate() {
        program.set(&mut registers, index, u128::from(byte));
    }
    program.set(&mut registers, input.len(), input.len() as u128);
    program.run(&mut registers);
    (0..count).map(|root| program.get(&registers, root)).collect()
}

/// True if a node below `label` is wider than a word.
fn is_below_wide(dag: &Dag, label: Label) -> bool {
    let operands = dag.operands(label);
    let mut below = operands.iter().chain(dag.table_labels(label)).filter(|&&operand| operand != 0);
    below.any(|&operand| dag.bits(operand) > 64 || is_below_wide(dag, operand))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn values_fit_their_width(steps in steps(), input: [u8; 4]) {
        let random = build(SHAPE, &steps);
        for &label in &random.nodes {
            let bits = random.dag.bits(label);
            let value = random.dag.eval(label, &Assignment::new(input));
            prop_assert!(bits == 128 || value >> bits == 0);
        }
    }

    #[test]
    fn program_agrees_with_evaluator(steps in steps(), input: [u8; 4]) {
        let mut random = build(SHAPE, &steps);
        let leaves = leaves(&mut random.dag);
        let root = *random.nodes.last().expect("there are leaves");
        for roots in [&random.nodes[..], &[root]] {
            let program = Program::compile(&random.dag, roots, &leaves).expect("all leaves are \
                parameters");
            let values = run(&program, &input, roots.len());
            for (&label, value) in roots.iter().zip(values) {
                prop_assert_eq!(value, random.dag.eval(label, &Assignment::new(input)));
            }
        }
    }

    #[test]
    fn functions_of_a_byte_agree_with_evaluator(steps in steps(), others: Vec<[u32; 4]>) {
        let shape = Shape { inputs: 1, length: false, ..SHAPE };
        // The second Dag finds the functions and applications of the first.
        let mut functions = Functions::default();
        for steps in [&steps, &others] {
            let random = build(shape, steps);
            let mut map = FunctionMap::default();
            for &label in &random.nodes {
                let values = functions.of(&mut map, &random.dag, label).map(|values| **values);
                prop_assert!(values.is_some() || random.dag.bits(label) > 64 || is_below_wide(&random.dag, label));
                for (byte, value) in (0..=255).zip(values.into_iter().flatten()).step_by(15) {
                    prop_assert_eq!(u128::from(value), random.dag.eval(label, &Assignment::new([byte])));
                }
            }
        }
    }

    #[test]
    fn changed_parameters_need_their_dependents_only(steps in steps(), input: [u8; 4], changes: [(u8, u8); 3]) {
        let mut random = build(SHAPE, &steps);
        let leaves = leaves(&mut random.dag);
        let roots = &random.nodes;
        let program = Program::compile(&random.dag, roots, &leaves).expect("all leaves are \
            parameters");
        let dependents = program.dependents();
        let (mut registers, mut input) = (Registers::default(), input);
        program.load(&mut registers);
        for (index, &byte) in input.iter().enumerate() {
            program.set(&mut registers, index, u128::from(byte));
        }
        program.set(&mut registers, input.len(), input.len() as u128);
        program.run(&mut registers);
        for (place, value) in changes {
            let place = usize::from(place % 4);
            input[place] = value;
            let before: Vec<u128> = (0..roots.len()).map(|root| program.get(&registers, root)).collect();
            program.set(&mut registers, place, u128::from(value));
            program.run_again(&mut registers, &dependents[place].instructions);
            let assignment = Assignment::new(input);
            for (root, &label) in roots.iter().enumerate() {
                prop_assert_eq!(program.get(&registers, root), random.dag.eval(label, &assignment));
                let same = program.get(&registers, root) == before[root];
                prop_assert!(same || dependents[place].roots.contains(&(root as u32)));
            }
        }
    }

    #[test]
    fn simplifier_keeps_values(steps in steps(), inputs: [[u8; 4]; 4]) {
        let random = build(SHAPE, &steps);
        let (mut simple, mut importer) = (Dag::new(), Importer::new());
        for &label in &random.nodes {
            let copy = importer.import(&random.dag, label, &mut simple);
            prop_assert_eq!(random.dag.bits(label), simple.bits(copy));
            for input in inputs {
                let input = Assignment::new(input);
                prop_assert_eq!(
                    random.dag.eval(label, &input), simple.eval(copy, &input),
                    "{}\nbecame\n{}", print(&random.dag, &[label]), print(&simple, &[copy])
                );
            }
        }
    }

    #[test]
    fn text_round_trip(steps in steps()) {
        let random = build(SHAPE, &steps);
        let text = print(&random.dag, &random.nodes);
        let mut copy = Dag::new();
        let roots = parse(&text, &mut copy).expect("what was printed");
        prop_assert_eq!(print(&copy, &roots), text);
    }

    #[test]
    fn bytes_outside_the_support_do_not_matter(steps in steps(), input: [u8; 4], other: [u8; 4]) {
        let random = build(SHAPE, &steps);
        for &label in &random.nodes {
            let support = random.dag.support(label);
            let mixed: Vec<u8> =
                (0..4).map(|i| if support.contains(i as u32) { input[i] } else { other[i] }).collect();
            let values = [input.to_vec(), mixed].map(|bytes| random.dag.eval(label, &Assignment { bytes }));
            prop_assert_eq!(values[0], values[1]);
        }
    }

    #[test]
    fn staged_evaluation_agrees_with_evaluator(
        steps in steps(),
        start: [u8; 4],
        changes in prop::collection::vec((0usize..4, any::<u8>()), 0..12),
    ) {
        let random = build(Shape { length: false, ..SHAPE }, &steps);
        let (dag, mut supports, mut staged, mut input) = (&random.dag, Supports::new(), Staged::default(), start);
        staged.start(dag, 4, u64::MAX);
        for (byte, value) in [(0, start[0])].into_iter().chain(changes) {
            input[byte] = value;
            staged.change(byte + 1);
            for &label in &random.nodes {
                let mut place = |label: Label| {
                    let id = supports.of(dag, label);
                    let stage = supports.get(id).last_byte().map_or(0, |last| last + 1);
                    let is_input = dag.op(label) == Op::Input;
                    let value = is_input.then(|| u64::from(input[dag.node(label).a as usize]));
                    Some(Place { stage, value })
                };
                if let Ok(value) = staged.eval(dag, label, &mut place) {
                    prop_assert_eq!(u128::from(value), dag.eval(label, &Assignment::new(input)));
                } else {
                    prop_assert!(is_wide_or_text(dag, label));
                }
            }
        }
    }
}

#[test]
fn long_chains_need_no_stack() {
    let mut dag = Dag::new();
    let mut sum = dag.input(0);
    for index in 1..200_000 {
        let byte = dag.input(index % 50);
        let product = dag.add(expr::Node::binary(expr::Op::Mul, 8, sum, byte));
        sum = dag.add(expr::Node::binary(expr::Op::Add, 8, product, byte));
    }
    let input = Assignment::new(vec![3; 50]);
    let value = dag.eval(sum, &input);
    assert_eq!(dag.support(sum).intervals(), [(0, 49)]);
    let mut copy = Dag::new();
    let root = Importer::new().import(&dag, sum, &mut copy);
    assert_eq!(copy.eval(root, &input), value);
    let mut parsed = Dag::new();
    let roots = parse(&print(&dag, &[sum]), &mut parsed).expect("what was printed");
    assert_eq!(parsed.eval(roots[0], &input), value);
}

/// True if words do not hold the node or one below it, or a text is among them.
fn is_wide_or_text(dag: &Dag, label: Label) -> bool {
    let below = dag.operands(label).into_iter().chain(dag.table_labels(label).iter().copied());
    let mut below = below.filter(|&operand| operand != 0);
    dag.bits(label) > 64
        || dag.op(label).is_text()
        || below.any(|operand| is_wide_or_text(dag, operand))
}
