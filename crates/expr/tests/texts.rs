//! Operations on texts against the same in terms of slices, and against their formulas over bytes.

use expr::{Assignment, Dag, Importer, Label, Node, Op, TableData, text_flags as flags};
use proptest::prelude::*;

const LEN: usize = 7;

/// An operation on the first bytes of the input.
fn operation(dag: &mut Dag, op: Op, aux: u16, len: usize, pattern: &[u8]) -> Label {
    let labels = (0..len as u32).map(|index| dag.input(index)).collect();
    let text = dag
        .add_table(TableData { bytes: vec![0; len], labels: Some(labels) })
        .expect("a good table");
    let pattern = dag.add_table(TableData::concrete(pattern.to_vec())).expect("a good table");
    let bits = if op == Op::Find { 64 } else { 32 };
    dag.add(Node { op: op as u8, bits, aux, a: 0, b: text, c: pattern })
}

fn eval(op: Op, aux: u16, text: &[u8], pattern: &[u8]) -> u64 {
    let mut dag = Dag::new();
    let label = operation(&mut dag, op, aux, text.len(), pattern);
    dag.eval(label, &Assignment::new(text)) as u64
}

/// The text up to its first 0.
fn until_zero(text: &[u8]) -> &[u8] {
    text.split(|&byte| byte == 0).next().unwrap_or(text)
}

fn letters(len: impl Into<prop::collection::SizeRange>) -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(prop::sample::select(&b"aAbB\0"[..]), len)
}

fn word() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(prop::sample::select(&b"aAb"[..]), 1..4)
}

fn position(text: &[u8], pattern: &[u8]) -> Option<usize> {
    text.windows(pattern.len()).position(|window| window == pattern)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn first_and_last_place(text in letters(LEN), word in word()) {
        let string = until_zero(&text);
        let or_none = |place: Option<usize>| place.unwrap_or(LEN) as u64;
        prop_assert_eq!(eval(Op::Find, 0, &text, &word), or_none(position(&text, &word)));
        prop_assert_eq!(eval(Op::Find, flags::TERMINATED, &text, &word), or_none(position(string, &word)));
        let folded = position(&string.to_ascii_lowercase(), &word.to_ascii_lowercase());
        prop_assert_eq!(eval(Op::Find, flags::TERMINATED | flags::FOLD, &text, &word), or_none(folded));
        let last = string.windows(word.len()).rposition(|window| window == word);
        prop_assert_eq!(eval(Op::Find, flags::TERMINATED | flags::LAST, &text, &word), or_none(last));
    }

    #[test]
    fn members_of_a_set(text in letters(LEN), set in letters(0..3)) {
        let or_none = |place: Option<usize>| place.unwrap_or(LEN) as u64;
        let member = text.iter().position(|byte| set.contains(byte));
        prop_assert_eq!(eval(Op::Find, flags::SET, &text, &set), or_none(member));
        let other = text.iter().position(|byte| !set.contains(byte));
        prop_assert_eq!(eval(Op::Find, flags::SET | flags::NEGATED, &text, &set), or_none(other));
    }

    #[test]
    fn order(text in letters(LEN), mut other in letters(LEN)) {
        other[LEN - 1] = 0;
        let sign = |order: std::cmp::Ordering| u64::from(order as i32 as u32);
        prop_assert_eq!(eval(Op::Compare, 0, &text, &other), sign(text.cmp(&other)));
        let (a, b) = (until_zero(&text), until_zero(&other));
        prop_assert_eq!(eval(Op::Compare, flags::TERMINATED, &text, &other), sign(a.cmp(b)));
        let folded = a.to_ascii_lowercase().cmp(&b.to_ascii_lowercase());
        prop_assert_eq!(eval(Op::Compare, flags::TERMINATED | flags::FOLD, &text, &other), sign(folded));
    }

    #[test]
    fn formulas_have_the_same_values(
        texts in prop::collection::vec(letters(LEN), 8),
        pattern in letters(0..5),
        aux in 0u16..32,
        compare: bool,
    ) {
        let mut dag = Dag::new();
        let op = if compare { Op::Compare } else { Op::Find };
        let label = operation(&mut dag, op, aux, LEN, &pattern);
        let mut lowered = Dag::new();
        let formula = Importer::lowering().import(&dag, label, &mut lowered);
        prop_assert!((1..lowered.len() as Label).all(|label| !lowered.op(label).is_text()));
        for text in texts {
            let input = Assignment::new(text);
            prop_assert_eq!(dag.eval(label, &input), lowered.eval(formula, &input));
        }
    }
}

#[test]
fn a_pattern_is_constant() {
    let mut dag = Dag::new();
    let input = dag.input(0);
    let symbolic = TableData { bytes: vec![0], labels: Some(vec![input]) };
    let table = dag.add_table(symbolic).expect("a good table");
    let node = Node { op: Op::Find as u8, bits: 64, aux: 0, a: 0, b: table, c: table };
    assert!(dag.try_add(node).is_err());
}
