//! Labels without nodes: the same questions asked of every byte, on whatever path, and questions
//! about the length.

use super::{Computation, INPUT, TestRun, Twin, now, step};
use crate::build::{self, Value};
use crate::{events, nodes, values};
use expr::Assignment;
use proptest::prelude::*;
use trace::{ConcretiseReason, EventKind, Label, Op, SHAPED};

/// What a program does with each byte: computations, each perhaps followed by a branch on its
/// result or a switch on it.
#[derive(Clone, Copy, Debug)]
enum Then {
    Nothing,
    Branch,
    Switch,
}

fn then() -> impl Strategy<Value = Then> {
    prop::sample::select(vec![Then::Nothing, Then::Branch, Then::Switch])
}

/// The condition that a switch on `on` takes what it takes now, for the plain expressions.
fn taken_case(computation: &mut Computation, on: Twin, cases: &[u64]) -> Vec<(Label, u128)> {
    let mut conditions = Vec::new();
    let value = on.value.value;
    for case in cases.iter().filter(|case| !cases.contains(&value) || **case == value) {
        let case = computation.constant(on.bits, *case);
        let node = trace::Node::binary(Op::Eq, 1, on.plain, case.plain);
        conditions.push((computation.plain.add(node), u128::from(case.value.value == value)));
    }
    conditions
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    /// What one byte was asked must not change what holds for another: answers are shared, what the
    /// path says is not.
    #[test]
    fn every_byte_is_asked_the_same(
        input in prop::array::uniform4(prop_oneof![any::<u8>(), b'0'..=b'9', Just(b'a'), Just(b'b')]),
        steps in prop::collection::vec((step(), then()), 1..12),
        cases in prop::collection::vec(prop_oneof![0u64..4, 97u64..100, 48u64..60], 1..6),
        changes in prop::collection::vec((0..INPUT, prop_oneof![any::<u8>(), b'0'..=b'9', Just(b'a'), Just(b'b')]), 64),
    ) {
        let mut cases = cases;
        cases.sort();
        cases.dedup();
        let run = TestRun::start(&input);
        let mut computations = Vec::new();
        let mut path = Vec::new();
        for (place, _) in input.iter().enumerate() {
            let mut computation = Computation::new(&input);
            computation.twins = vec![computation.twins[place]];
            let mut said = Vec::new();
            for (number, (step, then)) in steps.iter().enumerate() {
                computation.take(step);
                let last = computation.pick(computation.twins.len() - 1);
                let Value { label, value } = last.value;
                // SAFETY: a run is active, and the cases live longer than the call.
                unsafe {
                    match then {
                        Then::Nothing => {}
                        Then::Branch => {
                            let condition = if last.bits == 1 { last } else { computation.asked(last) };
                            events::branch(now(), condition.value.label, condition.value.value == 1, number as u32);
                            said.push((condition.plain, u128::from(condition.value.value)));
                        }
                        Then::Switch => {
                            let (list, count) = (cases.as_ptr(), cases.len() as u32);
                            events::__tg_switch(label, value, last.bits, list, count, number as u32);
                            said.extend(taken_case(&mut computation, last, &cases));
                        }
                    }
                }
            }
            computations.push(computation);
            path.push(said);
        }
        let labels = computations.iter_mut().flat_map(|computation| computation.labels());
        let built = run.dag(INPUT as u32, labels);
        for (place, byte) in changes {
            let mut bytes = input.to_vec();
            bytes[place] = byte;
            let assignment = Assignment { bytes };
            let stays = computations.iter().zip(&path).all(|(computation, said)| {
                said.iter().all(|(label, value)| computation.plain.eval(*label, &assignment) == *value)
            });
            for twin in computations.iter().flat_map(|c| c.twins.iter().map(move |t| (c, t))).filter(|_| stays) {
                let (computation, twin) = twin;
                let Value { label, value } = twin.value;
                let wanted = computation.plain.eval(twin.plain, &assignment);
                let got = if label == 0 { u128::from(value) } else { built.eval(label, &assignment) };
                prop_assert_eq!(got, wanted, "label {} for {:?}", label, assignment.bytes);
            }
        }
    }

    /// Conditions on the length, with branches on them: what they say holds for all lengths that
    /// take the path.
    #[test]
    fn conditions_on_the_length_hold_on_the_path(
        len in 0usize..12,
        questions in prop::collection::vec(
            (prop::sample::select(vec![Op::Eq, Op::Ult, Op::Ule, Op::Slt, Op::Sle]), 0u64..14, -14i64..14, any::<bool>(), any::<bool>()),
            1..12,
        ),
    ) {
        let input = vec![b'x'; len];
        let run = TestRun::start(&input);
        let mut asked = Vec::new();
        for (op, constant, more, constant_first, branches) in questions {
            let length = Value::new(nodes::length(now()), len as u64);
                let sum = (len as u64).wrapping_add_signed(more);
                let label = build::binary(now(), Op::Add, 64, length, Value::concrete(more as u64));
                let (sum, number) = (Value::new(label, sum), Value::concrete(constant));
                let (a, b) = if constant_first { (number, sum) } else { (sum, number) };
                let value = crate::values::binary(op, 64, a.value, b.value);
                let label = build::binary(now(), op, 64, a, b);
                let negation = build::not(now(), 1, Value::new(label, value));
                if branches {
                    events::branch(now(), negation, value == 0, 0);
                }
                asked.push(([label, negation], value, branches, (op, constant, more, constant_first)));
        }
        let dag = run.dag(len as u32, asked.iter_mut().flat_map(|(labels, ..)| labels));
        for other in 0..14u64 {
            let meaning = |(op, constant, more, constant_first): (Op, u64, i64, bool)| {
                let sum = other.wrapping_add_signed(more);
                let (a, b) = if constant_first { (constant, sum) } else { (sum, constant) };
                crate::values::binary(op, 64, a, b)
            };
            if asked.iter().any(|(_, value, branches, question)| *branches && meaning(*question) != *value) {
                continue;
            }
            let assignment = Assignment { bytes: vec![b'x'; other as usize] };
            for ([label, negation], value, _, question) in &asked {
                let wanted = u128::from(meaning(*question));
                let got = |label: Label, value: u64| if label == 0 { value.into() } else { dag.eval(label, &assignment) };
                prop_assert_eq!(got(*label, *value), wanted, "length {} of {:?}", other, question);
                prop_assert_eq!(got(*negation, 1 - value), 1 - wanted, "length {} of \
                    {:?}", other, question);
            }
        }
    }
}

fn event_count() -> u32 {
    // SAFETY: a run is active.
    now().segment.event_count()
}

/// Branches on the byte at a place being at least `least`, as it is.
fn ask_at_least(place: u32, least: u64) {
    let byte = nodes::input_value(now(), place);
    let label = build::binary(now(), Op::Ule, 8, Value::concrete(least), byte);
    events::branch(now(), label, byte.value >= least, 0);
}

#[test]
fn what_follows_from_a_branch_is_no_constraint() {
    let _run = TestRun::start(b"5x");
    ask_at_least(0, b'0'.into());
    ask_at_least(0, b'('.into());
    assert_eq!(event_count(), 1);
    ask_at_least(0, b'2'.into());
    ask_at_least(1, b'('.into());
    assert_eq!(event_count(), 3);
}

/// The input as a number, the first byte being its lowest.
fn number() -> Value {
    let [low, high] = [0, 1].map(|place| nodes::input_value(now(), place));
    let [low, high] =
        [low, high].map(|byte| Value::new(build::zext(now(), 8, 16, byte), byte.value));
    let shifted = build::binary(now(), Op::Shl, 16, high, Value::concrete(8));
    let high = Value::new(shifted, high.value << 8);
    Value::new(build::binary(now(), Op::Or, 16, low, high), low.value | high.value)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    /// A number is compared with those near it, again and again: what is recorded says all that was
    /// asked, and a number that is left out is the only one.
    #[test]
    fn bounds_leave_nothing_out(
        value in prop_oneof![any::<u16>(), Just(0), Just(u16::MAX), 0x7ffe..0x8002u16],
        asked in prop::collection::vec(
            (
                prop::sample::select(vec![Op::Eq, Op::Ult, Op::Ule, Op::Slt, Op::Sle]),
                -3..=3i16,
                any::<bool>(),
            ),
            1..12,
        ),
    ) {
        let run = TestRun::start(&value.to_le_bytes());
        let of_input = number();
        let holds = |(op, near, is_first): (Op, i16, bool), number: u16| {
            let constant = u64::from(value.wrapping_add_signed(near));
            let (a, b) = if is_first { (constant, number.into()) } else { (number.into(), constant) };
            values::binary(op, 16, a, b) == 1
        };
        for &(op, near, is_first) in &asked {
            let constant = Value::concrete(value.wrapping_add_signed(near).into());
            let (a, b) = if is_first { (constant, of_input) } else { (of_input, constant) };
            let condition = build::binary(now(), op, 16, a, b);
            events::branch(now(), condition, holds((op, near, is_first), value), 1);
        }
        let is_met = run.is_met(2);
        let is_fixed = build::binary(now(), Op::Add, 16, of_input, Value::concrete(1)) == 0;
        let others = (-5..=5).map(|near| value.wrapping_add_signed(near));
        for other in others.chain([0, u16::MAX, 0x7fff, 0x8000]) {
            let asks_the_same = asked.iter().all(|&ask| holds(ask, other) == holds(ask, value));
            let bytes = Assignment::new(other.to_le_bytes());
            prop_assert_eq!(is_met(&bytes), asks_the_same, "{}", other);
            prop_assert!(!is_fixed || !asks_the_same || other == value, "{}", other);
        }
    }
}

/// A loop over a number of two bytes, and what is made of the number afterwards.
#[test]
fn a_loop_fixes_the_number_that_it_counts_to() {
    let _run = TestRun::start(&[3, 0]);
    let count = number();
    let next = || build::binary(now(), Op::Add, 16, count, Value::concrete(1));
    assert!(next() != 0);
    let ask = |round| {
        let goes_on = build::binary(now(), Op::Slt, 16, Value::concrete(round), count);
        events::branch(now(), goes_on, round < count.value, 1);
    };
    (0..=3).for_each(ask);
    let asked = event_count();
    assert_eq!((asked, next()), (4, 0));
    (0..=4).for_each(ask);
    assert_eq!(event_count(), asked, "what follows is no constraint");
}

#[test]
fn bytes_that_are_asked_the_same_need_no_nodes() {
    let text = [b'x'; 200];
    let _run = TestRun::start(&text);
    let count = || now().segment.node_count();
    ask_at_least(0, 7);
    let before = count();
    (1..200).for_each(|place| ask_at_least(place, 7));
    assert_eq!((count(), event_count()), (before, 200));
}

/// Labels have room for a number of shapes that depends on the input's length; what comes after are
/// nodes.
#[test]
fn too_many_shapes_become_nodes() {
    let run = TestRun::start(b"ab");
    let wide = Value::new(build::zext(now(), 8, 64, nodes::input_value(now(), 1)), b'b'.into());
    let products =
        (2..6000).map(|factor| build::binary(now(), Op::Mul, 64, wide, Value::concrete(factor)));
    let mut labels: Vec<Label> = products.collect();
    assert!(labels[0] & SHAPED != 0 && labels[5000] & SHAPED == 0 && labels[5000] != 0);
    let dag = run.dag(2, labels.iter_mut());
    for (factor, label) in (2..).zip(&labels) {
        assert_eq!(dag.eval(*label, &Assignment::new(*b"az")), factor * u128::from(b'z'));
        assert_eq!(dag.value(*label), factor as u64 * u64::from(b'b'));
    }
}

#[test]
fn a_new_run_knows_nothing_of_the_last() {
    for _ in 0..3 {
        let _run = TestRun::start(b"5");
        ask_at_least(0, b'0'.into());
        assert_eq!(event_count(), 1);
        now().shapes.reset();
    }
}

/// Why values were fixed.
fn reasons(run: &TestRun) -> Vec<ConcretiseReason> {
    let fixed = run.events().into_iter().filter(|event| event.kind == EventKind::Concretise as u8);
    fixed.filter_map(|event| ConcretiseReason::from_byte(event.aux)).collect()
}

#[test]
fn too_many_expressions_of_one_byte_are_not_said_to_be_of_several() {
    let sum = |a, b| build::binary(now(), Op::Add, 64, a, b);
    for (is_full, reason) in
        [(true, ConcretiseReason::Expressions), (false, ConcretiseReason::Budget)]
    {
        let run = TestRun::start(b"ab");
        let [first, second] = [(0, b'a'), (1, b'b')].map(|(place, byte)| {
            Value::new(build::zext(now(), 8, 64, nodes::input_value(now(), place)), byte.into())
        });
        let factors = 2..if is_full { 6000 } else { 3 };
        for factor in factors {
            build::binary(now(), Op::Mul, 64, first, Value::concrete(factor));
        }
        now().budget.spend();
        assert_ne!(sum(first, second), 0);
        now().budget.start(now());
        assert_eq!(reasons(&run), [reason]);
    }
}
