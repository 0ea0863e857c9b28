//! Questions about texts against trying all inputs of a few letters.

use expr::{Dag, Evaluator, Label, Node, Op, TableData, text_flags as flags};
use proptest::prelude::*;
use solver::{Answer, Chain, ChainOptions, Lit, Narrowed, PathSolver, Query, Restrictions};
use strings::Languages;

const LETTERS: &[u8] = b"abB\0";
const LEN: usize = 5;

#[derive(Clone, Debug, PartialEq)]
struct Condition {
    /// The text is the input from here to there; with letters in lower case if `lower`.
    range: (usize, usize),
    lower: bool,
    operation: Operation,
}

#[derive(Clone, Debug, PartialEq)]
enum Operation {
    /// A flag a bit, and a comparison with a number.
    Find {
        pattern: Vec<u8>,
        aux: u16,
        relation: Op,
        number: u64,
    },
    Compare {
        pattern: Vec<u8>,
        aux: u16,
        relation: Op,
    },
    /// The first byte is this one.
    Byte(u8),
}

fn letters(len: std::ops::Range<usize>) -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(prop::sample::select(LETTERS), len)
}

fn condition() -> impl Strategy<Value = Condition> {
    let relation = || prop::sample::select(&[Op::Eq, Op::Ult, Op::Ule][..]);
    let find = (letters(0..4), 0u16..32, relation(), 0u64..7).prop_map(
        |(pattern, aux, relation, number)| Operation::Find { pattern, aux, relation, number },
    );
    let compare = (letters(0..5), 0u16..32, prop::sample::select(&[Op::Eq, Op::Slt][..]))
        .prop_map(|(pattern, aux, relation)| Operation::Compare { pattern, aux, relation });
    let byte = prop::sample::select(LETTERS).prop_map(Operation::Byte);
    let operation = prop_oneof![3 => find, 2 => compare, 1 => byte];
    (0..LEN, 1..=LEN, prop::bool::weighted(0.2), operation).prop_map(
        |(start, len, lower, operation)| Condition {
            range: (start, (start + len).min(LEN)),
            lower,
            operation,
        },
    )
}

fn lower(dag: &mut Dag, byte: Label) -> Label {
    let bit = dag.constant(8, 0x20);
    let changed = dag.make_binary(Op::Or, 8, byte, bit);
    let upper = dag.constant(8, u128::from(b'B'));
    let is_upper = dag.make_binary(Op::Eq, 1, byte, upper);
    dag.make_ite(is_upper, changed, byte)
}

impl Condition {
    /// False for patterns without bytes, and for those that contain the 0 that ends the text.
    fn is_readable(&self) -> bool {
        match &self.operation {
            Operation::Find { pattern, aux, .. } if aux & flags::SET == 0 => {
                let has_end =
                    pattern.len() > 1 && aux & flags::TERMINATED != 0 && pattern.contains(&0);
                !pattern.is_empty() && !has_end
            }
            _ => true,
        }
    }

    fn build(&self, dag: &mut Dag) -> Label {
        let mut cell = |index: usize| {
            let byte = dag.input(index as u32);
            if self.lower { lower(dag, byte) } else { byte }
        };
        let labels: Vec<Label> = (self.range.0..self.range.1).map(&mut cell).collect();
        let first = labels[0];
        let text = TableData { bytes: vec![0; labels.len()], labels: Some(labels) };
        let text = dag.add_table(text).expect("a good table");
        let mut node = |op: Op, bits: u8, aux: u16, pattern: &[u8]| {
            let pattern =
                dag.add_table(TableData::concrete(pattern.to_vec())).expect("a good table");
            dag.add(Node { op: op as u8, bits, aux, a: 0, b: text, c: pattern })
        };
        match &self.operation {
            Operation::Find { pattern, aux, relation, number } => {
                let found = node(Op::Find, 64, *aux, pattern);
                let number = dag.constant(64, u128::from(*number));
                dag.make_binary(*relation, 1, found, number)
            }
            Operation::Compare { pattern, aux, relation } => {
                let sign = node(Op::Compare, 32, *aux, pattern);
                let zero = dag.constant(32, 0);
                dag.make_binary(*relation, 1, sign, zero)
            }
            Operation::Byte(byte) => {
                let byte = dag.constant(8, u128::from(*byte));
                dag.make_binary(Op::Eq, 1, first, byte)
            }
        }
    }
}

/// All inputs of the right length, the letters being those that the conditions tell apart and one
/// that they do not.
fn all_inputs() -> impl Iterator<Item = Vec<u8>> {
    let letters = [LETTERS, b"Ax"].concat();
    (0..letters.len().pow(LEN as u32)).map(move |mut number| {
        let mut input = Vec::new();
        for _ in 0..LEN {
            input.push(letters[number % letters.len()]);
            number /= letters.len();
        }
        input
    })
}

/// Between the letters there are others that compare differently.
fn with_bytes_between(input: &[u8]) -> [Vec<u8>; 2] {
    [1, 2].map(|step| {
        input.iter().map(|&byte| if byte == b'x' { step * 0x4f } else { byte }).collect()
    })
}

fn holds(dag: &Dag, lits: &[Lit], input: &[u8]) -> bool {
    let mut evaluator = Evaluator::new();
    let mut evaluation = evaluator.under(dag, input);
    lits.iter().all(|lit| evaluation.holds(lit.label) == lit.value)
}

fn changes(a: &[u8], b: &[u8]) -> usize {
    a.iter().zip(b).filter(|(a, b)| a != b).count()
}

/// The nearest input on which the literals hold.
fn nearest(dag: &Dag, lits: &[Lit], current: &[u8]) -> Option<usize> {
    let inputs = all_inputs().flat_map(|input| with_bytes_between(&input));
    inputs.filter(|input| holds(dag, lits, input)).map(|input| changes(&input, current)).min()
}

fn literals(dag: &mut Dag, conditions: &[(Condition, bool)]) -> Vec<Lit> {
    conditions.iter().map(|(condition, value)| Lit::new(condition.build(dag), *value)).collect()
}

fn conditions() -> impl Strategy<Value = Vec<(Condition, bool)>> {
    prop::collection::vec((condition(), any::<bool>()), 1..4)
}

/// Questions about the results of few operations, as a run asks them that takes `current`.
fn run(dag: &mut Dag, conditions: &[Condition], current: &[u8]) -> Vec<Lit> {
    let labels: Vec<Label> = conditions.iter().map(|condition| condition.build(dag)).collect();
    let is_so = |&label: &Label| Lit::new(label, holds(dag, &[Lit::new(label, true)], current));
    labels.iter().map(is_so).collect()
}

/// One search after another number again and again, and comparisons.
fn rounds() -> impl Strategy<Value = Vec<Condition>> {
    let again = prop::collection::vec((prop::sample::select(&[Op::Eq, Op::Ult][..]), 0u64..7), 6);
    (condition(), again, condition()).prop_map(|(first, again, last)| {
        let with = |(to, by)| {
            let mut next = first.clone();
            if let Operation::Find { relation, number, .. } = &mut next.operation {
                (*relation, *number) = (to, by);
            }
            next
        };
        again.into_iter().map(with).chain([first.clone(), last]).collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(80))]

    #[test]
    fn narrowed_paths_mean_the_same(rounds in rounds(), current in letters(LEN..LEN + 1)) {
        let mut dag = Dag::new();
        let path = run(&mut dag, &rounds, &current);
        let narrowed = Narrowed::new(&mut dag, path.iter().copied());
        for input in all_inputs() {
            for (prefix, &lit) in path.iter().enumerate() {
                let narrow = &narrowed.lits[..narrowed.count(prefix)];
                let goal = narrowed.narrow_goal(prefix, lit.negated());
                let is_met = holds(&dag, &path[..prefix], &input);
                prop_assert_eq!(holds(&dag, narrow, &input), is_met);
                let flipped = is_met && holds(&dag, &[lit.negated()], &input);
                prop_assert_eq!(is_met && holds(&dag, &[goal], &input), flipped);
            }
        }
        let origins: Vec<usize> = (0..narrowed.lits.len()).map(|lit| narrowed.origin(lit)).collect();
        let is_right = |(lit, &origin): (usize, &usize)| {
            (narrowed.count(origin)..narrowed.count(origin + 1)).contains(&lit)
        };
        prop_assert!(origins.iter().enumerate().all(is_right), "{:?}", origins);
    }

    #[test]
    fn answers_are_right(conditions in conditions(), current in letters(LEN..LEN + 1)) {
        let mut dag = Dag::new();
        let lits = literals(&mut dag, &conditions);
        let (&goal, path) = lits.split_last().expect("not empty");
        let mut chain = Chain::standard(ChainOptions::only("strings"));
        let answer = chain.solve(&Query::new(&dag, path, goal, &current, LEN));
        let nearest = nearest(&dag, &lits, &current);
        match &answer {
            Answer::Sat(input) => {
                prop_assert!(holds(&dag, &lits, input), "{:?}", answer);
                prop_assert!(nearest.is_none_or(|fewest| changes(input, &current) <= fewest), "{:?}", answer);
            }
            Answer::Unsat => prop_assert_eq!(nearest, None),
            Answer::Unknown(_) => {
                let asked = chain.counters().any(|(name, counters)| name == "strings" && counters.asked > 0);
                let readable = conditions.iter().all(|(condition, _)| condition.is_readable());
                prop_assert!(!asked || !readable);
            }
        }
        prop_assert!(chain.counters().all(|(_, counters)| counters.wrong == 0));
    }

    #[test]
    fn the_chain_does_without(conditions in conditions(), current in letters(LEN..LEN + 1)) {
        let mut dag = Dag::new();
        let lits = literals(&mut dag, &conditions);
        let (&goal, path) = lits.split_last().expect("not empty");
        let query = Query::new(&dag, path, goal, &current, LEN);
        let with = Chain::standard(ChainOptions::default()).solve(&query);
        let without = ChainOptions { without: vec!["strings".to_string()], ..ChainOptions::default() };
        let without = Chain::standard(without).solve(&query);
        let known = |answer: &Answer| !matches!(answer, Answer::Unknown(_));
        if known(&with) && known(&without) {
            prop_assert_eq!(with == Answer::Unsat, without == Answer::Unsat, "{:?} \
                {:?}", with, without);
        }
    }
}

/// A search for a word in the whole input.
fn search(dag: &mut Dag, len: u32, word: &[u8]) -> Label {
    let labels = (0..len).map(|index| dag.input(index)).collect();
    let text = TableData { bytes: vec![0; len as usize], labels: Some(labels) };
    let (text, pattern) = (dag.add_table(text), dag.add_table(TableData::concrete(word.to_vec())));
    let (b, c) = (text.expect("a good table"), pattern.expect("a good table"));
    dag.add(Node { op: Op::Find as u8, bits: 64, aux: flags::TERMINATED, a: 0, b, c })
}

#[test]
fn two_words_in_a_long_text() {
    let mut dag = Dag::new();
    let [first, second] = [&b"tarragon"[..], b"marjoram"].map(|word| search(&mut dag, 200, word));
    let none = dag.constant(64, 200);
    let lits =
        [first, second].map(|found| Lit::new(dag.make_binary(Op::Eq, 1, found, none), false));
    let order = Lit::new(dag.make_binary(Op::Ult, 1, second, none), true);
    let current = [b' '; 200];
    let mut chain = Chain::standard(ChainOptions::default());
    let answer = chain.solve(&Query::new(&dag, &[lits[0], order], lits[1], &current, 200));
    let Answer::Sat(input) = answer else { panic!("{answer:?}") };
    assert!(holds(&dag, &lits, &input));
    assert_eq!(changes(&input, &current), 16);
    let asked = chain.counters().find(|(name, _)| *name == "strings").expect("the link").1;
    assert_eq!((asked.sat, asked.wrong), (1, 0));
}

#[test]
fn answers_stay_within_a_language() {
    let mut dag = Dag::new();
    let found = search(&mut dag, 6, b"ab");
    let none = dag.constant(64, 6);
    let goal = Lit::new(dag.make_binary(Op::Eq, 1, found, none), false);
    let mut languages = Languages::default();
    // A digit between any two letters.
    let [letter, digit] = [(b'a', b'z'), (b'0', b'9')].map(|(first, last)| {
        let set = strings::ByteSet::range(first, last);
        languages.bytes(set)
    });
    let pair = languages.concat(letter, digit);
    let loose = languages.star(pair);
    let both = languages.or([letter, digit]);
    let any = languages.star(both);
    let current = *b"x1y2z3";
    let mut solver = PathSolver::new(&dag, &[], &current, 6);
    let mut chain = Chain::standard(ChainOptions::default());
    for (language, possible) in [(loose, false), (any, true)] {
        let windows = [(0..6, language)];
        let mut restrictions = Restrictions { languages: &mut languages, windows: &windows };
        match solver.solve_within(&mut chain, 0, goal, &mut restrictions) {
            Answer::Sat(input) => {
                assert!(
                    possible
                        && languages.contains(language, &input)
                        && holds(&dag, &[goal], &input)
                );
            }
            answer => assert!(!possible, "{answer:?}"),
        }
    }
}

#[test]
fn the_length_of_a_string_ties_no_bytes() {
    let mut dag = Dag::new();
    let cells: Vec<Label> = (0..4).map(|index| dag.input(index)).collect();
    let text = TableData { bytes: b"abcd".to_vec(), labels: Some(cells) };
    let text = dag.add_table(text).expect("a good table");
    let zero = dag.add_table(TableData::concrete(vec![0])).expect("a good table");
    let length = dag.add(Node { op: Op::Find as u8, bits: 64, aux: 0, a: 0, b: text, c: zero });
    let loop_over_it = (0..5).map(|round| {
        let round = dag.constant(64, round);
        dag.make_binary(Op::Ult, 1, round, length)
    });
    let path: Vec<Lit> =
        loop_over_it.enumerate().map(|(round, goes_on)| Lit::new(goes_on, round < 4)).collect();
    let narrowed = Narrowed::new(&mut dag, path.iter().copied());
    assert_eq!(narrowed.lits.len(), 4);
    for (round, lit) in narrowed.lits.iter().enumerate() {
        assert_eq!(dag.support(lit.label).single_byte(), Some(round as u32));
        let flip = narrowed.narrow_goal(round, path[round].negated());
        assert_eq!(dag.support(flip.label).single_byte(), Some(round as u32));
    }
}
