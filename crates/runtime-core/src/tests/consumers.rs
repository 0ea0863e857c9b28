//! Regions with several operands, and those that end with a switch or with a load from a table:
//! what is recorded holds for exactly those inputs that take the path, and labels mean what the
//! program computes.

use super::{TestRun, now};
use crate::build::{self, Value};
use crate::objects::register_globals;
use crate::regions::consumers::{
    __tg_lookup_load1, __tg_lookup_load2, __tg_lookup_switch, LOADED, LOCATED,
};
use crate::regions::{self, FOUND};
use crate::{address, events, nodes, shadow, values};
use expr::Assignment;
use proptest::prelude::*;
use trace::{Consumer, EventKind, Extent, Global, Label, Op, PureRegion};

const INPUT: usize = 6;

fn bytes() -> impl Strategy<Value = [u8; INPUT]> {
    prop::array::uniform6(prop_oneof![any::<u8>(), b'0'..=b'9', Just(b'a'), Just(b'b')])
}

fn changes() -> impl Strategy<Value = Vec<(usize, u8)>> {
    prop::collection::vec(
        (0..INPUT, prop_oneof![any::<u8>(), b'0'..=b'9', Just(b'a'), Just(b'b')]),
        64,
    )
}

fn changed(input: &[u8], place: usize, byte: u8) -> Assignment {
    let mut bytes = input.to_vec();
    bytes[place] = byte;
    Assignment { bytes }
}

/// A region that nothing but what it ends with wants.
fn region(consumer: Consumer) -> Box<PureRegion> {
    Box::new(PureRegion { results: 1, only_for_consumer: true, consumer })
}

fn noted(region: &PureRegion, [a, b]: [Value; 2], labels: u128) -> u128 {
    regions::__tg_note(region, a.label, a.value, b.label, b.value, Label::MAX, 0, labels)
}

const NONE: Value = Value::new(Label::MAX, 0);

/// A switch on a byte that is mixed with a constant, as instrumented code goes through it.
fn switch(region: &PureRegion, byte: Value, mixed_with: u64, cases: &[u64], site: u32) {
    // SAFETY: `list` has `count` cases.
    unsafe {
        let (list, count) = (cases.as_ptr(), cases.len() as u32);
        if __tg_lookup_switch(region, byte.label, byte.value, list, count) == 0 {
            let wide = Value::new(build::zext(now(), 8, 32, byte), byte.value);
            let label = build::binary(now(), Op::Xor, 32, wide, Value::concrete(mixed_with));
            let label = noted(region, [byte, NONE], label.into()) as Label;
            events::__tg_switch(label, byte.value ^ mixed_with, 32, list, count, site);
        }
    }
}

fn case(cases: &[u64], value: u64) -> usize {
    cases.iter().position(|case| *case == value).unwrap_or(cases.len())
}

/// `a op b`, and whether that is less than 64, on which the region branches.
fn compared(region: &PureRegion, op: Op, [a, b]: [Value; 2]) -> Label {
    let value = values::binary(op, 8, a.value, b.value);
    let taken = u32::from(value < 64);
    let found = regions::__tg_lookup2(region, a.label, a.value, b.label, b.value, taken);
    if found & FOUND != 0 {
        return (found >> 32) as Label;
    }
    let open = [a.with_label(found as Label), b.with_label((found >> 32) as Label)];
    let result = build::binary(now(), op, 8, open[0], open[1]);
    let condition =
        build::binary(now(), Op::Ult, 8, Value::new(result, value), Value::concrete(64));
    let labels = noted(region, open, u128::from(condition) | u128::from(result) << 32);
    events::__tg_branch(labels as Label, taken, 0);
    (labels >> 32) as Label
}

/// The label of what a table has at the place of a byte.
fn looked_up(region: &PureRegion, table: &[u8], byte: Value, has_base: bool) -> Label {
    let (base, size) = (table.as_ptr() as u64, 1);
    let (address, value) = ((base + byte.value) as usize, table[byte.value as usize].into());
    let found = match has_base {
        true => __tg_lookup_load2(region, 0, base, byte.label, byte.value, address),
        false => __tg_lookup_load1(region, byte.label, byte.value, address),
    };
    if found & LOADED != 0 {
        return found as Label;
    }
    let mut la = found as Label;
    if found & LOCATED == 0 {
        let wide = Value::new(build::zext(now(), 8, 64, byte), byte.value);
        let label = build::binary(now(), Op::Add, 64, Value::concrete(base), wide);
        let operands = if has_base { [Value::concrete(base), byte] } else { [byte, NONE] };
        la = noted(region, operands, label.into()) as Label;
    }
    address::__tg_load_at(address, la, value, size, 0, 0, 0)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(800))]

    #[test]
    fn switches_are_recorded_where_they_say_something(
        input in bytes(),
        switches in prop::collection::vec((0u64..4, prop::collection::vec(0x28u64..0x68, 1..12)), 1..5),
        rounds in 1usize..4,
        changes in changes(),
    ) {
        let run = TestRun::start(&input);
        let regions: Vec<_> = (0..switches.len()).map(|site| region(Consumer::Switch { site: site as u32 })).collect();
        for place in (0..rounds).flat_map(|_| 0..INPUT) {
            for (site, (mixed_with, cases)) in switches.iter().enumerate() {
                let byte = nodes::input_value(now(), place as u32);
                    switch(&regions[site], byte, *mixed_with, cases, site as u32);
            }
        }
        let mut events = run.events();
        let dag = run.dag(INPUT as u32, events.iter_mut().map(|event| &mut event.label));
        for (place, byte) in changes {
            let assignment = changed(&input, place, byte);
            let is_met = events.iter().all(|event| {
                assert_eq!(event.kind, EventKind::Switch as u8);
                let (_, cases) = &switches[event.site as usize];
                case(cases, dag.eval(event.label, &assignment) as u64) == event.arg as usize
            });
            let stays = switches.iter().all(|(mixed_with, cases)| {
                let way = |byte: u8| case(cases, u64::from(byte) ^ mixed_with);
                way(input[place]) == way(byte)
            });
            prop_assert_eq!(is_met, stays, "for {:?}", assignment.bytes);
        }
    }

    /// Operands at two places: some of them are fixed by the path, as a whole or some of their
    /// bits, and then the region is one of the other byte.
    #[test]
    fn what_the_path_fixes_is_a_constant_of_a_region(
        input in bytes(),
        masks in prop::array::uniform6(prop::sample::select(vec![0u64, 0xF0, 0xFF])),
        questions in prop::collection::vec(
            (0..INPUT, 0..INPUT, prop::sample::select(vec![Op::Add, Op::Sub, Op::Xor, Op::And])), 1..12),
        changes in changes(),
    ) {
        let run = TestRun::start(&input);
        let ops = [Op::Add, Op::Sub, Op::Xor, Op::And];
        let consumer = Consumer::Branch { site: 0, comparison: 0, constant: 0 };
        let regions = ops.map(|_| Box::new(PureRegion { results: 2, only_for_consumer: false, consumer }));
        let mut seen = Vec::new();
        for (place, mask) in masks.into_iter().enumerate() {
                let byte = nodes::input_value(now(), place as u32);
                let fixed = build::binary(now(), Op::And, 8, byte, Value::concrete(mask));
                let fixed = Value::new(fixed, byte.value & mask);
                events::branch(now(), build::binary(now(), Op::Eq, 8, fixed, Value::concrete(fixed.value)), true, 0);
            }
            for (first, second, op) in &questions {
                let region = &regions[ops.iter().position(|other| other == op).unwrap_or(0)];
                let operands = [first, second].map(|place| nodes::input_value(now(), *place as u32));
                seen.push(compared(region, *op, operands));
            }
        let is_met = run.is_met(INPUT as u32);
        let dag = run.dag(INPUT as u32, seen.iter_mut());
        for (place, byte) in changes {
            let assignment = changed(&input, place, byte);
            let result = |bytes: &[u8], (first, second, op): &(usize, usize, Op)| {
                values::binary(*op, 8, bytes[*first].into(), bytes[*second].into())
            };
            let stays = u64::from(input[place] ^ byte) & masks[place] == 0
                && questions.iter().all(|q| (result(&input, q) < 64) == (result(&assignment.bytes, q) < 64));
            prop_assert_eq!(is_met(&assignment), stays, "for {:?}", assignment.bytes);
            for (question, label) in questions.iter().zip(&seen).filter(|_| stays) {
                let wanted = result(&assignment.bytes, question);
                let got = if *label == 0 { result(&input, question).into() } else { dag.eval(*label, &assignment) };
                prop_assert_eq!(got, u128::from(wanted), "label {} for \
                                                          {:?}", label, assignment.bytes);
            }
        }
    }

    #[test]
    fn what_constant_tables_give_is_remembered(
        input in bytes(),
        classes in prop::collection::vec(0u8..5, 256),
        asked in prop::collection::vec((0..INPUT, any::<bool>(), 0u64..5), 1..24),
        changes in changes(),
    ) {
        let run = TestRun::start(&input);
        let extent = Extent::new(classes.len() as u64, true, false);
        let mut globals = [Global { start: classes.as_ptr() as usize, extent }];
        let regions = [0, 1].map(|site| region(Consumer::Load { site, size: 1 }));
        let mut seen = Vec::new();
        // SAFETY: a run is active, and the list of globals is not used after this test.
        unsafe {
            now().snapshots.prepare();
            now().snapshots.reset();
            shadow::clear(classes.as_ptr() as usize, classes.len());
            register_globals(now(), globals.as_mut_ptr(), 1);
            for (place, has_base, least) in &asked {
                let byte = nodes::input_value(now(), *place as u32);
                let label = looked_up(&regions[usize::from(*has_base)], &classes, byte, *has_base);
                let class = classes[byte.value as usize];
                let condition = match label {
                    0 => 0,
                    label => build::binary(now(), Op::Ult, 8, Value::new(label, class.into()), Value::concrete(*least)),
                };
                events::branch(now(), condition, u64::from(class) < *least, 0);
                seen.push(label);
            }
            register_globals(now(), std::ptr::null_mut(), 0);
        }
        prop_assert!(now().segment.table_count() <= 1, "the table never changes");
        let is_met = run.is_met(INPUT as u32);
        let dag = run.dag(INPUT as u32, seen.iter_mut());
        for (place, byte) in changes {
            let assignment = changed(&input, place, byte);
            let class = |bytes: &[u8], place: usize| classes[bytes[place] as usize];
            let below = |bytes: &[u8], place: usize, least: u64| u64::from(class(bytes, place)) < least;
            let stays = asked.iter().all(|(place, _, least)| {
                below(&input, *place, *least) == below(&assignment.bytes, *place, *least)
            });
            prop_assert_eq!(is_met(&assignment), stays, "for {:?}", assignment.bytes);
            for ((place, _, _), label) in asked.iter().zip(&seen).filter(|_| stays) {
                let wanted = class(&assignment.bytes, *place);
                let got = if *label == 0 { class(&input, *place).into() } else { dag.eval(*label, &assignment) };
                prop_assert_eq!(got, u128::from(wanted), "label {} for \
                                                          {:?}", label, assignment.bytes);
            }
        }
    }
}
