//! Z3 as the oracle of the evaluator and of the simplifier.

use crate::term::constant;
use crate::translate::Translator;
use expr::{Assignment, Dag, Importer, Label, Op, print};
use expr_testing::{Shape, build};
use proptest::prelude::*;
use z3::ast::BV;
use z3::{Params, SatResult, Solver};

const SHAPE: Shape = Shape { inputs: 3, length: true, floats: false, wide: true };

fn steps(count: usize) -> impl Strategy<Value = Vec<[u32; 4]>> {
    prop::collection::vec(any::<[u32; 4]>(), 1..count)
}

fn solver() -> Solver {
    let solver = Solver::new();
    let mut params = Params::new();
    params.set_u32("timeout", 300);
    solver.set_params(&params);
    solver
}

fn fix_inputs(solver: &Solver, translator: &Translator, input: &[u8]) {
    for (index, variable) in translator.inputs() {
        solver.assert(variable.eq(BV::from_u64(u64::from(input[index as usize]), 8)));
    }
    if let Some(len) = translator.length() {
        solver.assert(len.eq(BV::from_u64(input.len() as u64, 64)));
    }
}

fn has_texts(dag: &Dag, label: Label) -> bool {
    let operands = dag.operands(label);
    let mut below = operands.iter().chain(dag.table_labels(label)).filter(|&&operand| operand != 0);
    dag.op(label).is_text() || below.any(|&operand| has_texts(dag, operand))
}

/// Every node has the value that the evaluator gives it.
fn check_values(shape: Shape, steps: &[[u32; 4]], input: &[u8]) {
    let random = build(shape, steps);
    for &label in &random.nodes {
        // Operations on texts as formulas over bytes; nothing else changes but for simplification.
        let has_texts = has_texts(&random.dag, label);
        let mut formulas = Dag::new();
        let formula =
            has_texts.then(|| Importer::lowering().import(&random.dag, label, &mut formulas));
        let mut translator = Translator::new(if has_texts { &formulas } else { &random.dag });
        let Some(term) = translator.bits(formula.unwrap_or(label)) else { continue };
        // The bits of a NaN are free.
        let is_float = matches!(
            random.dag.op(label),
            Op::FAdd | Op::FSub | Op::FMul | Op::FDiv | Op::FSqrt | Op::FConv | Op::SToF | Op::UToF
        );
        if !translator.is_exact() || is_float {
            continue;
        }
        let solver = solver();
        fix_inputs(&solver, &translator, input);
        let value = random.dag.eval(label, &Assignment::new(input));
        solver.assert(term.eq(constant(random.dag.bits(label), value)).not());
        assert_ne!(solver.check(), SatResult::Sat, "{}", print(&random.dag, &[label]));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn evaluator_agrees_with_z3(steps in steps(12), input: [u8; 3]) {
        check_values(SHAPE, &steps, &input);
    }

    #[test]
    fn float_evaluator_agrees_with_z3(steps in steps(8), input: [u8; 3]) {
        check_values(Shape { floats: true, ..SHAPE }, &steps, &input);
    }

    #[test]
    fn simplified_is_equivalent(steps in steps(10)) {
        let random = build(Shape { wide: false, ..SHAPE }, &steps);
        let (mut both, mut importer) = (Dag::new(), Importer::new());
        let root = *random.nodes.last().expect("there are leaves");
        let simple = importer.import(&random.dag, root, &mut both);
        prop_assume!(!has_texts(&random.dag, root));
        let (mut left, mut right) = (Translator::new(&random.dag), Translator::new(&both));
        let (left, right) = (left.bits(root).expect("no floats"), right.bits(simple).expect("no \
            floats"));
        let solver = solver();
        solver.assert(left.eq(right).not());
        prop_assert_ne!(
            solver.check(), SatResult::Sat,
            "{}\nbecame\n{}", print(&random.dag, &[root]), print(&both, &[simple])
        );
    }
}
