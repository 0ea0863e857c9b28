//! What the runtime builds, simplified, against the same expressions built plainly and evaluated by
//! the `expr` crate.

use crate::build::{self, Value};
use crate::testing::{TestRun, now};
use crate::{events, nodes, shadow, values};
use expr::{Assignment, Dag, Recorded, TableData};
use proptest::prelude::*;
use trace::{EventKind, Label, Node, Op};

mod addresses;
mod consumers;
mod domains;
mod objects;
mod regions;
mod unrecorded;

const INPUT: usize = 4;

impl TestRun {
    /// Whether an input meets all that the run recorded.
    fn is_met(&self, input_len: u32) -> impl Fn(&Assignment) -> bool + use<> {
        let mut events = self.events();
        let own: Vec<u64> = events.iter().map(|event| nodes::value(now(), event.label)).collect();
        let dag = self.dag(input_len, events.iter_mut().map(|event| &mut event.label));
        move |assignment| {
            events.iter().zip(&own).all(|(event, own)| {
                let value = dag.eval(event.label, assignment);
                match EventKind::from_byte(event.kind) {
                    Some(EventKind::Branch) => value == event.taken.into(),
                    // Of a switch that leads elsewhere for all its cases nothing is known here.
                    Some(EventKind::Concretise | EventKind::Switch) => value == u128::from(*own),
                    _ => true,
                }
            })
        }
    }

    /// The expressions of the run so far, and the labels that it refers to them by as they are
    /// there.
    fn dag<'a>(&self, input_len: u32, used: impl Iterator<Item = &'a mut Label>) -> Dag {
        let recording = self.recording();
        let recorded = Recorded {
            nodes: recording.nodes,
            values: recording.values,
            tables: recording.tables.into_iter().map(TableData::concrete).collect(),
            shapes: recording.shapes,
            input_len,
        };
        Dag::from_recorded(recorded, used).expect("the runtime writes valid nodes")
    }
}

#[test]
fn only_holes_have_labels() {
    let labels = || [0, 1, 4].map(|index| nodes::input_byte(now(), index));
    let run = TestRun::start(b"abcd");
    assert_eq!((labels(), nodes::length(now())), ([1, 2, 0], 5));
    drop(run);
    let _run = TestRun::with_marks(b"abcd", &[0, 1, 0, 0]);
    assert_eq!((labels(), nodes::length(now())), ([0, 2, 0], 0));
    let value = nodes::input_value(now(), 2);
    assert_eq!((value.label, value.value), (0, b'c'.into()));
}

/// One step of a random computation; operands are taken from what was computed before, modulo its
/// number.
#[derive(Clone, Debug)]
enum Step {
    Binary(Op, usize, usize),
    WithConstant(Op, usize, u64, bool),
    Resize(usize, u32, bool),
    Not(usize),
    Choose(usize, usize, usize),
}

fn step() -> impl Strategy<Value = Step> {
    use Op::*;
    let ops = prop::sample::select(vec![
        Add, Sub, Mul, UDiv, SDiv, URem, SRem, And, Or, Xor, Shl, LShr, AShr, Eq, Ult, Ule, Slt,
        Sle,
    ]);
    let constant = prop_oneof![
        Just(0),
        Just(1),
        Just(u64::MAX),
        Just(0xFF),
        Just(0x80),
        any::<u64>(),
        0u64..300
    ];
    let width = prop::sample::select(vec![1u32, 8, 16, 32, 64]);
    prop_oneof![
        (ops.clone(), any::<usize>(), any::<usize>()).prop_map(|(op, a, b)| Step::Binary(op, a, b)),
        (ops, any::<usize>(), constant, any::<bool>())
            .prop_map(|(op, a, c, left)| Step::WithConstant(op, a, c, left)),
        (any::<usize>(), width, any::<bool>())
            .prop_map(|(a, bits, signed)| Step::Resize(a, bits, signed)),
        any::<usize>().prop_map(Step::Not),
        (any::<usize>(), any::<usize>(), any::<usize>())
            .prop_map(|(c, a, b)| Step::Choose(c, a, b)),
    ]
}

/// A value as the runtime keeps it, and the label of the same value in the plain expressions.
#[derive(Clone, Copy)]
struct Twin {
    value: Value,
    bits: u32,
    plain: Label,
}

struct Computation {
    plain: Dag,
    twins: Vec<Twin>,
}

impl Computation {
    fn new(input: &[u8]) -> Computation {
        let mut plain = Dag::new();
        let twin = |(i, byte): (usize, &u8)| Twin {
            value: Value::new(1 + i as u32, *byte as u64),
            bits: 8,
            plain: plain.input(i as u32),
        };
        let twins = input.iter().enumerate().map(twin).collect();
        Computation { plain, twins }
    }

    fn labels(&mut self) -> impl Iterator<Item = &mut Label> {
        self.twins.iter_mut().map(|twin| &mut twin.value.label)
    }

    fn pick(&self, index: usize) -> Twin {
        self.twins[index % self.twins.len()]
    }

    /// A value of the wanted width.
    fn resized(&mut self, twin: Twin, bits: u32, signed: bool) -> Twin {
        let x = twin.value;
        if twin.bits == bits {
            return twin;
        }
        let (label, value, op) = {
            if bits < twin.bits {
                (build::trunc(now(), bits, x), x.value & values::mask(bits), Op::Extract)
            } else if signed {
                let value = values::sign_extend(x.value, twin.bits) as u64 & values::mask(bits);
                (build::sext(now(), twin.bits, bits, x), value, Op::SExt)
            } else {
                (build::zext(now(), twin.bits, bits, x), x.value, Op::ZExt)
            }
        };
        let plain = self.plain.add(Node::unary(op, bits as u8, twin.plain));
        Twin { value: Value::new(label, value), bits, plain }
    }

    fn binary(&mut self, op: Op, a: Twin, b: Twin) -> Twin {
        let value = values::binary(op, a.bits, a.value.value, b.value.value);
        let comparison = matches!(op, Op::Eq | Op::Ult | Op::Ule | Op::Slt | Op::Sle);
        let bits = if comparison { 1 } else { a.bits };
        let label = build::binary(now(), op, a.bits, a.value, b.value);
        let plain = self.plain.add(Node::binary(op, bits as u8, a.plain, b.plain));
        Twin { value: Value::new(label, value), bits, plain }
    }

    fn constant(&mut self, bits: u32, value: u64) -> Twin {
        let value = value & values::mask(bits);
        Twin {
            value: Value::concrete(value),
            bits,
            plain: self.plain.constant(bits, value as u128),
        }
    }

    /// A condition as programs ask them of characters: equal to what it is, not 0, or a digit.
    fn asked(&mut self, x: Twin) -> Twin {
        let [same, zero, nine] =
            [x.value.value, 0, b'9' as u64].map(|value| self.constant(x.bits, value));
        match x.value.value % 3 {
            0 => self.binary(Op::Eq, x, same),
            1 => self.binary(Op::Eq, x, zero),
            _ => self.binary(Op::Ule, x, nine),
        }
    }

    fn take(&mut self, step: &Step) {
        let next = match *step {
            Step::Binary(op, a, b) => {
                let a = self.pick(a);
                let b = self.resized(self.pick(b), a.bits, false);
                self.binary(op, a, b)
            }
            Step::WithConstant(op, a, constant, left) => {
                let a = self.pick(a);
                let c = self.constant(a.bits, constant);
                if left { self.binary(op, c, a) } else { self.binary(op, a, c) }
            }
            Step::Resize(a, bits, signed) => self.resized(self.pick(a), bits, signed),
            Step::Not(a) => {
                let a = self.pick(a);
                let label = build::not(now(), a.bits, a.value);
                let value = !a.value.value & values::mask(a.bits);
                let plain = self.plain.add(Node::unary(Op::Not, a.bits as u8, a.plain));
                Twin { value: Value::new(label, value), bits: a.bits, plain }
            }
            Step::Choose(c, a, b) => {
                let condition = self.resized(self.pick(c), 1, false);
                let a = self.pick(a);
                let b = self.resized(self.pick(b), a.bits, true);
                let label = build::ite(now(), a.bits, condition.value, a.value, b.value);
                let value = if condition.value.value == 1 { a.value.value } else { b.value.value };
                let (op, bits) = (Op::Ite as u8, a.bits as u8);
                let node = Node { op, bits, aux: 0, a: condition.plain, b: a.plain, c: b.plain };
                Twin { value: Value::new(label, value), bits: a.bits, plain: self.plain.add(node) }
            }
        };
        self.twins.push(next);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    #[test]
    fn simplified_expressions_mean_the_same(
        input in prop::array::uniform4(any::<u8>()),
        steps in prop::collection::vec(step(), 1..40),
        others in prop::collection::vec(prop::array::uniform4(any::<u8>()), 4),
    ) {
        let run = TestRun::start(&input);
        let mut computation = Computation::new(&input);
        for step in &steps {
            computation.take(step);
        }
        let built = run.dag(INPUT as u32, computation.labels());
        for twin in &computation.twins {
            let Value { label, value } = twin.value;
            for bytes in others.iter().chain([&input]) {
                let assignment = Assignment { bytes: bytes.to_vec() };
                let wanted = computation.plain.eval(twin.plain, &assignment);
                let got = if label == 0 { value as u128 } else { built.eval(label, &assignment) };
                prop_assert_eq!(got, wanted, "label {} for {:?}", label, bytes);
            }
            if label != 0 {
                prop_assert_eq!(built.value(label), value);
            }
        }
    }

    /// The same with branches between: what they say about the path may be used, so that
    /// expressions mean the same for inputs that take it.
    #[test]
    fn expressions_mean_the_same_on_the_path(
        input in prop::array::uniform4(any::<u8>()),
        steps in prop::collection::vec((step(), any::<bool>()), 1..30),
        changes in prop::collection::vec((0..INPUT, prop_oneof![Just(0), any::<u8>()]), 48),
    ) {
        let run = TestRun::start(&input);
        let mut computation = Computation::new(&input);
        let mut path = Vec::new();
        for (step, branches) in &steps {
            computation.take(step);
            if *branches {
                let last = computation.pick(computation.twins.len() - 1);
                let condition = if last.bits == 1 { last } else { computation.asked(last) };
                events::branch(now(), condition.value.label, condition.value.value == 1, 0);
                path.push((condition.plain, condition.value.value as u128));
            }
        }
        let built = run.dag(INPUT as u32, computation.labels());
        for (place, byte) in changes {
            let mut bytes = input.to_vec();
            bytes[place] = byte;
            let assignment = Assignment { bytes };
            if path.iter().any(|(condition, taken)| computation.plain.eval(*condition, &assignment) != *taken) {
                continue;
            }
            for twin in &computation.twins {
                let Value { label, value } = twin.value;
                let wanted = computation.plain.eval(twin.plain, &assignment);
                let got = if label == 0 { value as u128 } else { built.eval(label, &assignment) };
                prop_assert_eq!(got, wanted, "label {} for {:?}", label, assignment.bytes);
            }
        }
    }

    /// Values that are stored and loaded in other pieces, on both sides of where the next page of
    /// labels begins: each loaded value is the bytes that it was made of.
    #[test]
    fn memory_keeps_the_meaning_of_every_byte(
        input in prop::array::uniform4(any::<u8>()),
        stores in prop::collection::vec((0usize..24, prop::sample::select(vec![1usize, 2, 4, 8]), prop::option::weighted(0.7, any::<usize>())), 1..12),
        loads in prop::collection::vec((0usize..24, prop::sample::select(vec![1usize, 2, 4, 8])), 1..12),
        other in prop::array::uniform4(any::<u8>()),
    ) {
        let run = TestRun::start(&input);
        let mut memory = vec![0u8; 2 << shadow::PAGE_BITS];
        let mut twin = [None::<(Label, usize)>; 32];
        let base = (memory.as_mut_ptr() as usize + 16).next_multiple_of(1 << shadow::PAGE_BITS) - 16;
        // SAFETY: all accesses are within `memory`, and a run is active.
        unsafe {
            shadow::clear(base, 32);
            for (at, size, pick) in stores {
                let (value, label) = pick.map_or((0, 0), |pick| wide_value(&input, size, pick));
                for i in 0..size {
                    *((base + at + i) as *mut u8) = (value >> (8 * i)) as u8;
                    twin[at + i] = (label != 0).then_some((label, i));
                }
                store(base + at, label, size);
            }
            for (at, size) in loads {
                let value = shadow::read_value(base + at, size);
                let mut label = load(base + at, value, size);
                let mut twin = twin;
                let used = twin.iter_mut().flatten().map(|(label, _)| label);
                let dag = run.dag(INPUT as u32, used.chain([&mut label]));
                let assignment = Assignment { bytes: other.to_vec() };
                let byte = |i: usize| match twin[at + i] {
                    Some((label, part)) => (dag.eval(label, &assignment) >> (8 * part)) as u8,
                    None => *((base + at + i) as *const u8),
                };
                let wanted = (0..size).fold(0u128, |sum, i| sum | (byte(i) as u128) << (8 * i));
                let got = if label == 0 { value as u128 } else { dag.eval(label, &assignment) };
                prop_assert_eq!(got, wanted);
            }
        }
    }
}

/// As instrumented code loads a value of this size.
fn load(address: usize, value: u64, size: usize) -> Label {
    match size {
        2 => shadow::__tgi_load2(address, value),
        _ => shadow::load_plainly(address, size, value),
    }
}

/// As instrumented code stores one.
fn store(address: usize, label: Label, size: usize) {
    match size {
        2 => shadow::__tgi_store2(address, label),
        _ => shadow::store_plainly(address, label, size),
    }
}

/// A value of `size` bytes that depends on one input byte, and its label.
fn wide_value(input: &[u8; INPUT], size: usize, pick: usize) -> (u64, Label) {
    let index = pick % INPUT;
    let byte = Value::new(1 + index as u32, input[index] as u64);
    let bits = size as u32 * 8;
    let wide = Value::new(build::zext(now(), 8, bits, byte), byte.value);
    let factor = 0x0101_0101_0101_0101 & values::mask(bits);
    let value = byte.value.wrapping_mul(factor) & values::mask(bits);
    (value, build::binary(now(), Op::Mul, bits, wide, Value::concrete(factor)))
}

#[test]
fn a_label_is_dropped_where_the_value_does_not_fit() {
    let _run = TestRun::start(b"ab");
    let mut byte = b'a';
    let at = &raw mut byte as usize;
    // SAFETY: the access is to a local variable, and a run is active.
    unsafe {
        shadow::store(now(), at, 1, 1);
        assert_eq!(shadow::__tgi_load1(at, b'a' as u64), 1);
        *(at as *mut u8) = b'x';
        assert_eq!(shadow::__tgi_load1(at, b'x' as u64), 0);
        assert_eq!(shadow::entry(at), 0);
    }
}
