//! Regions that are looked up as a whole, and what becomes of a run whose budget is spent: against
//! the same computations built one by one.

use super::{Computation, INPUT, TestRun, Twin, now, step};
use crate::build::{self, Value};
use crate::regions::{self, FOUND};
use crate::{budget, events, nodes, values};
use expr::Assignment;
use proptest::prelude::*;
use trace::{Comparison, Consumer, Label, Op, PureRegion};

/// What stands at the end of a region.
#[derive(Clone, Copy, Debug)]
enum Ends {
    Nothing,
    /// A branch, and somebody else wants the other result.
    Branch,
    /// A branch alone.
    Question,
}

fn ends() -> impl Strategy<Value = Ends> {
    prop::sample::select(vec![Ends::Nothing, Ends::Branch, Ends::Question])
}

/// The region's steps on an operand: the condition for its branch, and its last value.
fn computed(computation: &mut Computation, operand: Twin, steps: &[super::Step]) -> [Twin; 2] {
    computation.twins = vec![operand];
    steps.iter().for_each(|step| computation.take(step));
    let last = computation.pick(computation.twins.len() - 1);
    let nine = computation.constant(last.bits, b'9'.into());
    let condition = if last.bits == 1 { last } else { computation.binary(Op::Ule, last, nine) };
    [condition, last]
}

fn packed([first, second]: [Twin; 2]) -> u128 {
    u128::from(first.value.label) | u128::from(second.value.label) << 32
}

/// Goes through a region as instrumented code does. Returns the condition and the last value, with
/// the labels that they have.
fn through(
    computation: &mut Computation,
    region: &PureRegion,
    operand: Twin,
    steps: &[super::Step],
    ends: Ends,
) -> [Twin; 2] {
    let concrete = Twin { value: Value::concrete(operand.value.value), ..operand };
    let mut results = computed(computation, concrete, steps);
    let Value { label, value } = operand.value;
    if label == 0 {
        return results;
    }
    let taken = results[0].value.value as u32;
    let found = match ends {
        Ends::Question => {
            FOUND * u128::from(regions::consumers::__tg_lookup_branch(region, label, value, taken))
        }
        _ => regions::__tg_lookup1(region, label, value, taken),
    };
    let labels = if found & FOUND != 0 {
        found & !FOUND
    } else {
        let label = if matches!(ends, Ends::Question) { label } else { found as Label };
        let operand = Twin { value: Value::new(label, value), ..operand };
        let built = packed(computed(computation, operand, steps));
        let noted = regions::__tg_note(region, label, value, Label::MAX, 0, Label::MAX, 0, built);
        if !matches!(ends, Ends::Nothing) {
            let site = region.consumer.branch().expect("a branch");
            events::__tg_branch(noted as Label, taken, site);
        }
        noted
    };
    if !matches!(ends, Ends::Question) {
        results[0].value.label = labels as Label;
        results[1].value.label = (labels >> 32) as Label;
    }
    results
}

/// With no room for its shapes, a region is nodes at one place, and what they become there says
/// nothing about others.
#[test]
fn what_has_no_shapes_is_not_remembered() {
    let run = TestRun::start(b"ab");
    let consumer = Consumer::Branch { site: 0, comparison: 0, constant: 0 };
    let region = PureRegion { results: 1, only_for_consumer: true, consumer };
    let wide = Value::new(build::zext(now(), 8, 64, nodes::input_value(now(), 1)), b'b'.into());
    (2..6000)
        .for_each(|factor| _ = build::binary(now(), Op::Mul, 64, wide, Value::concrete(factor)));
    now().budget.spend();
    for place in [0, 1] {
        let byte = nodes::input_value(now(), place);
        let taken = u32::from((byte.value ^ 0x5a) + 3 == 7);
        if regions::consumers::__tg_lookup_branch(&region, byte.label, byte.value, taken) == 0 {
            let mixed = Value::new(
                build::binary(now(), Op::Xor, 8, byte, Value::concrete(0x5a)),
                byte.value ^ 0x5a,
            );
            let sum = Value::new(
                build::binary(now(), Op::Add, 8, mixed, Value::concrete(3)),
                mixed.value + 3,
            );
            let label = build::binary(now(), Op::Eq, 8, sum, Value::concrete(7));
            let noted = regions::__tg_note(
                &region,
                byte.label,
                byte.value,
                Label::MAX,
                0,
                Label::MAX,
                0,
                label.into(),
            );
            events::__tg_branch(noted as Label, taken, 0);
        }
    }
    let is_met = run.is_met(2);
    assert!(is_met(&Assignment { bytes: b"ab".to_vec() }));
    for other in [*b"\x5eb", *b"a\x5e"] {
        assert!(!is_met(&Assignment { bytes: other.to_vec() }), "{other:?} goes elsewhere");
    }
}

/// Expressions of one byte that have nodes for want of room: once the byte is fixed, nothing is
/// recorded of it any more.
#[test]
fn a_byte_is_fixed_once() {
    let _run = TestRun::start(b"ab");
    let wide = |place: u32| {
        let byte = nodes::input_value(now(), place);
        Value::new(build::zext(now(), 8, 64, byte), byte.value)
    };
    (2..6000)
        .for_each(|factor| _ = build::binary(now(), Op::Mul, 64, wide(1), Value::concrete(factor)));
    now().budget.spend();
    let count = || now().segment.event_count();
    for round in 0..100u64 {
        let mixed = wide(0).value ^ (round << 20);
        let mixed = Value::new(
            build::binary(now(), Op::Xor, 64, wide(0), Value::concrete(round << 20)),
            mixed,
        );
        build::binary(now(), Op::Mul, 64, mixed, Value::concrete(16777619));
    }
    assert!(count() <= 1, "{} events", count());
}

/// As many expressions of two bytes spend the budget of a long input, and not that of a short one.
#[test]
fn a_long_input_has_a_smaller_budget() {
    for (len, is_spent) in [(4, false), (4096, true)] {
        let _run = TestRun::start(&vec![b'a'; len]);
        let wide = |place: u32| {
            Value::new(build::zext(now(), 8, 64, nodes::input_value(now(), place)), b'a'.into())
        };
        let mut sum =
            Value::new(build::binary(now(), Op::Add, 64, wide(0), wide(1)), 2 * u64::from(b'a'));
        for factor in 0..1200u64 {
            let mixed = (2 * factor + 3) << 8;
            sum = Value::new(
                build::binary(now(), Op::Xor, 64, sum, Value::concrete(mixed)),
                sum.value ^ mixed,
            );
        }
        assert_eq!(budget::is_spent(now()), is_spent, "{len} bytes");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    /// A region means the same for every byte that goes through it, whatever the path says about
    /// others, and its branches are recorded where they say something.
    #[test]
    fn regions_mean_the_same_for_every_byte(
        input in prop::array::uniform4(prop_oneof![any::<u8>(), b'0'..=b'9', Just(b'a'), Just(b'b')]),
        program in prop::collection::vec((prop::collection::vec(step(), 1..4), ends()), 1..6),
        rounds in 1usize..4,
        changes in prop::collection::vec((0..INPUT, prop_oneof![any::<u8>(), b'0'..=b'9', Just(b'a'), Just(b'b')]), 64),
    ) {
        let run = TestRun::start(&input);
        let regions: Vec<PureRegion> = program.iter().enumerate().map(|(number, (_, ends))| PureRegion {
            results: if matches!(ends, Ends::Question) { 1 } else { 2 },
            only_for_consumer: matches!(ends, Ends::Question),
            consumer: match ends {
                Ends::Nothing => Consumer::Nothing,
                _ => Consumer::Branch { site: number as u32, comparison: 0, constant: 0 },
            },
        }).collect();
        let mut seen = Vec::new();
        let mut path = Vec::new();
        let mut computations: Vec<Computation> = (0..INPUT).map(|_| Computation::new(&input)).collect();
        for _ in 0..rounds {
            for (place, computation) in computations.iter_mut().enumerate() {
                let mut operand = Computation::new(&input).twins[place];
                operand.plain = computation.plain.input(place as u32);
                for ((steps, ends), region) in program.iter().zip(&regions) {
                    let [condition, last] = through(computation, region, operand, steps, *ends);
                    if !matches!(ends, Ends::Nothing) {
                        path.push((place, condition.plain, condition.value.value));
                    }
                    if matches!(ends, Ends::Question) {
                        continue;
                    }
                    seen.extend([condition, last].map(|twin| (place, twin)));
                    operand = last;
                }
            }
        }
        let is_met = run.is_met(INPUT as u32);
        let built = run.dag(INPUT as u32, seen.iter_mut().map(|(_, twin)| &mut twin.value.label));
        for (place, byte) in changes {
            let mut bytes = input.to_vec();
            bytes[place] = byte;
            let assignment = Assignment { bytes };
            let stays = path.iter().all(|(place, label, value)| {
                computations[*place].plain.eval(*label, &assignment) == u128::from(*value)
            });
            prop_assert_eq!(is_met(&assignment), stays, "what is recorded, for \
                                                         {:?}", assignment.bytes);
            for (place, twin) in seen.iter().filter(|_| stays) {
                let Value { label, value } = twin.value;
                let wanted = computations[*place].plain.eval(twin.plain, &assignment);
                let got = if label == 0 { u128::from(value) } else { built.eval(label, &assignment) };
                prop_assert_eq!(got, wanted, "label {} for {:?}", label, assignment.bytes);
            }
        }
    }

    /// Comparisons of the length, and of what is left of it, that end a region: what is recorded
    /// holds for those lengths that take the path.
    #[test]
    fn regions_that_compare_the_length_record_the_path(
        len in 0usize..12,
        questions in prop::collection::vec(
            (
                prop::sample::select(vec![Op::Eq, Op::Ult, Op::Ule, Op::Slt, Op::Sle]),
                0u64..14,
                0u64..14,
                prop::array::uniform3(any::<bool>()),
            ),
            1..12,
        ),
    ) {
        let input = vec![b'x'; len];
        let run = TestRun::start(&input);
        let holds = |len: u64, &(op, constant, less, [is_negated, is_swapped, is_of_difference]): &(Op, u64, u64, [bool; 3])| {
            let sum = if is_of_difference { len.wrapping_sub(less) } else { len };
            let (a, b) = if is_swapped { (constant, sum) } else { (sum, constant) };
            (values::binary(op, 64, a, b) == 1) != is_negated
        };
        let mut regions = Vec::new();
        for question @ (op, constant, less, [is_negated, is_swapped, is_of_difference]) in &questions {
            let (op, is_negated, is_swapped, is_of_difference) = (*op, *is_negated, *is_swapped, *is_of_difference);
            let comparison = Comparison { op, is_negated, is_swapped, is_of_difference }.number();
            let branch = regions.len() as u32;
            let consumer = Consumer::Branch { site: branch, comparison, constant: *constant };
            let region = Box::new(PureRegion { results: 1, only_for_consumer: true, consumer });
            let taken = u32::from(holds(len as u64, question));
            let found = if is_of_difference {
                    regions::__tg_lookup2(&region, nodes::length(now()), len as u64, 0, *less, taken) & FOUND != 0
                } else {
                    regions::consumers::__tg_lookup_branch(&region, nodes::length(now()), len as u64, taken) != 0
                };
                if !found {
                    let length = Value::new(nodes::length(now()), len as u64);
                    let less = Value::concrete(if is_of_difference { *less } else { 0 });
                    let sum = Value::new(build::binary(now(), Op::Sub, 64, length, less), length.value.wrapping_sub(less.value));
                    let (a, b) = if is_swapped { (Value::concrete(*constant), sum) } else { (sum, Value::concrete(*constant)) };
                    let value = values::binary(op, 64, a.value, b.value);
                    let mut label = build::binary(now(), op, 64, a, b);
                    if is_negated {
                        label = build::not(now(), 1, Value::new(label, value));
                    }
                    events::branch(now(), label, taken == 1, branch);
                }
            regions.push(region);
        }
        for event in run.events() {
            let taken = holds(len as u64, &questions[event.site as usize]);
            prop_assert_eq!((event.taken == 1) != (event.arg == 1), taken, "the side that was \
                taken");
        }
        let is_met = run.is_met(len as u32);
        for other in 0..14 {
            let stays = questions.iter().all(|question| holds(other, question) == holds(len as u64, question));
            prop_assert_eq!(is_met(&Assignment { bytes: vec![b'x'; other as usize] }), stays, "length {}", other);
        }
    }

    /// With the budget spent, values are fixed on the way: expressions mean the same for inputs
    /// that meet what is recorded, and none is of several bytes.
    #[test]
    fn beyond_the_budget_expressions_are_of_one_byte(
        input in prop::array::uniform4(any::<u8>()),
        steps in prop::collection::vec((step(), any::<bool>()), 1..30),
        changes in prop::collection::vec((0..INPUT, any::<u8>()), 48),
    ) {
        let run = TestRun::start(&input);
        let mut computation = Computation::new(&input);
        now().budget.spend();
        for (step, branches) in &steps {
            computation.take(step);
            let last = computation.pick(computation.twins.len() - 1);
            if *branches {
                let condition = if last.bits == 1 { last } else { computation.asked(last) };
                events::branch(now(), condition.value.label, condition.value.value == 1, 0);
            }
        }
        let is_met = run.is_met(INPUT as u32);
        let built = run.dag(INPUT as u32, computation.labels());
        for (place, byte) in changes {
            let mut bytes = input.to_vec();
            bytes[place] = byte;
            let assignment = Assignment { bytes };
            for twin in computation.twins.iter().filter(|_| is_met(&assignment)) {
                let Value { label, value } = twin.value;
                let wanted = computation.plain.eval(twin.plain, &assignment);
                let got = if label == 0 { u128::from(value) } else { built.eval(label, &assignment) };
                prop_assert_eq!(got, wanted, "label {} for {:?}", label, assignment.bytes);
            }
        }
        let mut supports = expr::Supports::new();
        for twin in computation.twins.iter().filter(|twin| twin.value.label != 0) {
            let support = supports.of(&built, twin.value.label);
            let bytes: u32 = supports.get(support).intervals().iter().map(|(first, last)| last - first + 1).sum();
            prop_assert_eq!(bytes, 1);
        }
    }
}
