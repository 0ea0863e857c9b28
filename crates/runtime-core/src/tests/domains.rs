//! What the path leaves of a byte, against a plain loop over its 256 values.

use super::{TestRun, now};
use crate::build::{self, Value};
use crate::facts::domains::{self, Condition, Fixed};
use crate::{address, events, nodes, shadow, shapes};
use proptest::prelude::*;
use trace::{Label, Node, Op};

/// A question that a byte is asked by way of a table, which can tell any set of bytes from the
/// others.
#[derive(Clone, Copy, Debug)]
enum Asks {
    Branch,
    /// A branch of a region that was looked up.
    Remembered,
    Switch,
    Settle,
}

fn asks() -> impl Strategy<Value = Asks> {
    prop::sample::select(vec![Asks::Branch, Asks::Remembered, Asks::Switch, Asks::Settle])
}

/// Sets that have much in common in their four words, and others.
fn words() -> impl Strategy<Value = [u64; 4]> {
    let word = prop_oneof![
        Just(0),
        Just(1 << 63),
        Just(1),
        Just(u64::MAX),
        (0..64u32).prop_map(|i| 1 << i)
    ];
    let bit = (0..64u32, prop::array::uniform4(any::<bool>()))
        .prop_map(|(bit, there)| there.map(|there| u64::from(there) << bit));
    prop_oneof![
        bit.clone(),
        bit.prop_map(|set| set.map(|word| !word)),
        prop::array::uniform4(word),
        any::<[u64; 4]>()
    ]
}

/// 1 for the bytes of a set.
fn table(words: &[u64; 4]) -> [u8; 256] {
    std::array::from_fn(|byte| (words[byte / 64] >> (byte % 64) & 1) as u8)
}

fn events() -> u32 {
    // SAFETY: a run is active.
    now().segment.event_count()
}

/// Asks the first byte of the input, by what the table says of it.
fn ask(table: &[u8; 256], byte: u8, asks: Asks, site: u32) {
    // SAFETY: the cases are a slice.
    unsafe {
        let start = table.as_ptr() as usize;
        shadow::clear(start, table.len());
        let la = build::zext(now(), 8, 64, nodes::input_value(now(), 0));
        let la = build::binary(
            now(),
            Op::Add,
            64,
            Value::new(la, byte.into()),
            Value::concrete(start as u64),
        );
        let content = u64::from(table[byte as usize]);
        let label =
            address::__tg_load_at(start + byte as usize, la, content, 1, start, table.len(), site);
        let holds = build::binary(now(), Op::Eq, 8, Value::new(label, content), Value::concrete(1));
        match (asks, shapes::split(now(), holds)) {
            (Asks::Branch, _) => events::branch(now(), holds, content == 1, site),
            (Asks::Remembered, Some(at)) => events::branch_on_known(
                now(),
                &Condition::of(now(), at.shape),
                0,
                content == 1,
                site,
            ),
            (Asks::Remembered, None) => {}
            (Asks::Switch, _) => events::__tg_switch(label, content, 8, [0, 1].as_ptr(), 2, site),
            (Asks::Settle, _) if label != 0 => {
                events::concretise_for_good(now(), label, trace::ConcretiseReason::Budget)
            }
            (Asks::Settle, _) => {}
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    #[test]
    fn a_byte_has_the_values_that_all_questions_leave(
        byte in prop_oneof![any::<u8>(), Just(0x3f), Just(0x7f), Just(0xbf), Just(0xff)],
        questions in prop::collection::vec((words(), asks()), 1..8),
    ) {
        let input = [byte];
        let _run = TestRun::start(&input);
        now().snapshots.reset();
        let tables: Vec<[u8; 256]> = questions.iter().map(|(words, _)| table(words)).collect();
        let mut left: Vec<u8> = (0..=255).collect();
        for (site, (table, (_, asks))) in tables.iter().zip(&questions).enumerate() {
            let before = events();
            ask(table, byte, *asks, site as u32);
            let all = left.len();
            left.retain(|other| table[*other as usize] == table[byte as usize]);
            prop_assert_eq!(events() - before, u32::from(left.len() < all), "question {}", site);
            let is_one = domains::fixed(now(), 0) == Fixed::All;
            prop_assert_eq!(is_one, left.len() == 1, "{:?} are left", left);
        }
    }
}

/// An expression that is the same for all bytes takes no room however often it is asked for.
#[test]
fn what_is_constant_is_asked_for_many_times() {
    let _run = TestRun::start(b"a");
    let byte: Label = nodes::input_byte(now(), 0);
    let zero = nodes::constant(now(), 8, 0);
    for _ in 0..4 * trace::MAX_SHAPES {
        let label = shapes::make(now(), Node::binary(Op::And, 8, byte, zero)).expect("of one byte");
        assert_eq!(nodes::as_constant(now(), label), Some(0));
    }
}
