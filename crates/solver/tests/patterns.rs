//! Patterns of real programs that must be solved without Z3.

use expr::{Dag, Label, Node, Op, TableData};
use solver::{
    Answer, Chain, ChainOptions, DomainLink, Effort, Lit, PathSolver, Query, UnknownReason,
};

fn chain() -> Chain {
    Chain::standard(ChainOptions::default())
}

fn solve(dag: &Dag, path: &[Lit], goal: Lit, current: &[u8], max_len: usize) -> Answer {
    chain().solve(&Query::new(dag, path, goal, current, max_len))
}

fn binary(dag: &mut Dag, op: Op, a: Label, b: Label) -> Label {
    let bits = if matches!(op, Op::Eq | Op::Ult | Op::Ule | Op::Slt | Op::Sle | Op::FLt) {
        1
    } else {
        dag.bits(a)
    };
    dag.add(Node::binary(op, bits as u8, a, b))
}

fn zext(dag: &mut Dag, bits: u8, a: Label) -> Label {
    dag.add(Node::unary(Op::ZExt, bits, a))
}

fn read(dag: &mut Dag, bits: u8, table: u32, index: Label) -> Label {
    let offset = zext(dag, 64, index);
    let scale = dag.constant(64, u128::from(bits / 8));
    let offset = binary(dag, Op::Mul, offset, scale);
    dag.add(Node { op: Op::Read as u8, bits, aux: 0, a: offset, b: table, c: 0 })
}

/// A scanner as flex makes it: equivalence classes of bytes, then a transition table, state after
/// state.
struct Scanner {
    dag: Dag,
    states: Vec<Label>,
}

fn scanner(keyword: &[u8], length: u32) -> Scanner {
    let mut classes = [0u8; 256];
    for (class, &byte) in keyword.iter().enumerate() {
        classes[usize::from(byte)] = class as u8 + 1;
    }
    let count = 16;
    let dead = keyword.len() as u16 + 1;
    let mut next = vec![dead; usize::from(dead + 1) * count];
    for (state, &byte) in keyword.iter().enumerate() {
        next[state * count + usize::from(classes[usize::from(byte)])] = state as u16 + 1;
    }
    let mut dag = Dag::new();
    let classes = dag.add_table(TableData::concrete(classes.to_vec())).expect("a table");
    let next = TableData::concrete(next.iter().flat_map(|state| state.to_le_bytes()).collect());
    let next = dag.add_table(next).expect("a table");
    let mut state = dag.constant(16, 0);
    let mut states = Vec::new();
    for index in 0..length {
        let byte = dag.input(index);
        let class = read(&mut dag, 8, classes, byte);
        let class = zext(&mut dag, 16, class);
        let row = dag.constant(16, count as u128);
        let row = binary(&mut dag, Op::Mul, state, row);
        let cell = binary(&mut dag, Op::Add, row, class);
        state = read(&mut dag, 16, next, cell);
        states.push(state);
    }
    Scanner { dag, states }
}

#[test]
fn keyword_through_a_flex_like_table() {
    let Scanner { mut dag, states } = scanner(b"while", 5);
    let accepting = dag.constant(16, 5);
    let accepted = binary(&mut dag, Op::Eq, states[4], accepting);
    assert_eq!(
        solve(&dag, &[], Lit::new(accepted, true), b"aaaaa", 5),
        Answer::Sat(b"while".to_vec())
    );
    // No input of this scanner is in state 4 after five bytes.
    let four = dag.constant(16, 4);
    let impossible = binary(&mut dag, Op::Eq, states[4], four);
    assert_eq!(solve(&dag, &[], Lit::new(impossible, true), b"aaaaa", 5), Answer::Unsat);
}

/// A decimal number of the first `digits` bytes, and the literals that they are digits.
fn decimal(dag: &mut Dag, digits: u32) -> (Label, Vec<Lit>) {
    let mut path = Vec::new();
    let mut number = dag.constant(64, 0);
    for index in 0..digits {
        let byte = dag.input(index);
        let wide = zext(dag, 64, byte);
        let (zero, ten) = (dag.constant(64, u128::from(b'0')), dag.constant(64, 10));
        let digit = binary(dag, Op::Sub, wide, zero);
        path.push(Lit::new(binary(dag, Op::Ult, digit, ten), true));
        let shifted = binary(dag, Op::Mul, number, ten);
        number = binary(dag, Op::Add, shifted, digit);
    }
    (number, path)
}

#[test]
fn decimal_number_is_found() {
    let mut dag = Dag::new();
    let (number, path) = decimal(&mut dag, 5);
    let wanted = dag.constant(64, 31_337);
    let equal = binary(&mut dag, Op::Eq, number, wanted);
    assert_eq!(
        solve(&dag, &path, Lit::new(equal, true), b"00000", 5),
        Answer::Sat(b"31337".to_vec())
    );
    let wanted = dag.constant(64, 100_000);
    let too_large = binary(&mut dag, Op::Eq, number, wanted);
    assert_eq!(solve(&dag, &path, Lit::new(too_large, true), b"00000", 5), Answer::Unsat);
}

#[test]
fn long_decimal_number_is_found_by_inversion() {
    let mut dag = Dag::new();
    let (number, path) = decimal(&mut dag, 12);
    let limit = dag.constant(64, 987_654_321_000);
    let greater = binary(&mut dag, Op::Ult, limit, number);
    assert_eq!(
        solve(&dag, &path, Lit::new(greater, true), b"000000000001", 12),
        Answer::Sat(b"987654321001".to_vec())
    );
}

fn little_endian(dag: &mut Dag, first: u32, bytes: u32) -> Label {
    let mut value = dag.input(first);
    for index in 1..bytes {
        let byte = dag.input(first + index);
        value = dag.add(Node::binary(Op::Concat, 8 * (index as u8 + 1), byte, value));
    }
    value
}

#[test]
fn magic_number_under_arithmetic_is_inverted() {
    let mut dag = Dag::new();
    let value = little_endian(&mut dag, 0, 4);
    let (key, factor) = (dag.constant(32, 0x1234_5678), dag.constant(32, 0x0100_0193));
    let mixed = binary(&mut dag, Op::Xor, value, key);
    let mixed = binary(&mut dag, Op::Mul, mixed, factor);
    let other = little_endian(&mut dag, 4, 4);
    let equal = binary(&mut dag, Op::Eq, mixed, other);
    let options = ChainOptions::only("inversion");
    let query = Query::new(&dag, &[], Lit::new(equal, true), b"01234567", 8);
    assert!(matches!(Chain::standard(options).solve(&query), Answer::Sat(_)));
}

#[test]
fn double_is_compared_with_a_constant() {
    let mut dag = Dag::new();
    let value = little_endian(&mut dag, 0, 8);
    let limit = dag.constant(64, u128::from(2.5f64.to_bits()));
    let greater = binary(&mut dag, Op::FLt, limit, value);
    let Answer::Sat(input) = solve(&dag, &[], Lit::new(greater, true), &[0; 8], 8) else {
        panic!("not solved")
    };
    assert!(f64::from_le_bytes(input.try_into().expect("8 bytes")) > 2.5);
}

/// "Byte i exists", as a read asks it.
fn exists(dag: &mut Dag, index: u64) -> Label {
    let (index, len) = (dag.constant(64, u128::from(index)), dag.input_length());
    binary(dag, Op::Ult, index, len)
}

#[test]
fn input_grows_and_shrinks() {
    let mut dag = Dag::new();
    let byte = dag.input(0);
    let a = dag.constant(8, u128::from(b'a'));
    let is_a = binary(&mut dag, Op::Eq, byte, a);
    let labels = [exists(&mut dag, 0), is_a, exists(&mut dag, 1), exists(&mut dag, 2)];
    let path: Vec<Lit> =
        labels.iter().zip([true, true, true, false]).map(|(&l, v)| Lit::new(l, v)).collect();
    let mut chain = chain();
    let mut solver = PathSolver::new(&dag, &path, b"ab", 3);
    assert_eq!(solver.flip(&mut chain, 0), Answer::Sat(vec![]));
    assert_eq!(solver.flip(&mut chain, 2), Answer::Sat(b"a".to_vec()));
    assert_eq!(solver.flip(&mut chain, 3), Answer::Sat(b"ab0".to_vec()));
    // At the largest length there is no longer input.
    let mut solver = PathSolver::new(&dag, &path, b"ab", 2);
    assert_eq!(solver.flip(&mut chain, 3), Answer::Unsat);
    // Byte 0 was used, so it cannot go away.
    let goal = Lit::new(labels[0], false);
    assert_eq!(solver.solve(&mut chain, 2, &[], goal), Answer::Unsat);
}

#[test]
fn length_byte_and_length_agree() {
    let mut dag = Dag::new();
    let byte = dag.input(0);
    let (wide, len) = (zext(&mut dag, 64, byte), dag.input_length());
    let one = dag.constant(64, 1);
    let rest = binary(&mut dag, Op::Sub, len, one);
    let complete = binary(&mut dag, Op::Ule, wide, rest);
    let three = dag.constant(64, 3);
    let long = binary(&mut dag, Op::Ult, three, wide);
    let path = [Lit::new(long, true)];
    let Answer::Sat(input) = solve(&dag, &path, Lit::new(complete, true), b"\xff.", 300) else {
        panic!("not solved")
    };
    assert!(usize::from(input[0]) > 3 && usize::from(input[0]) < input.len());
}

#[test]
fn same_constraint_on_other_bytes_comes_from_the_cache() {
    let mut dag = Dag::new();
    let mut path = Vec::new();
    for first in [0, 4, 8] {
        let value = little_endian(&mut dag, first, 3);
        let seven = dag.constant(24, 7);
        let product = binary(&mut dag, Op::URem, value, seven);
        let five = dag.constant(24, 5);
        let equal = binary(&mut dag, Op::Eq, product, five);
        path.push(Lit::new(equal, false));
    }
    let mut chain = chain();
    let mut solver = PathSolver::new(&dag, &path, &[0; 12], 12);
    for index in 0..3 {
        assert!(matches!(solver.flip(&mut chain, index), Answer::Sat(_)));
    }
    let cache = counters(&chain, "cache");
    assert_eq!((cache.asked, cache.sat), (3, 2));
}

#[test]
fn links_can_be_switched_off() {
    let mut dag = Dag::new();
    let byte = dag.input(0);
    let a = dag.constant(8, 7);
    let equal = binary(&mut dag, Op::Eq, byte, a);
    let query = Query::new(&dag, &[], Lit::new(equal, true), b"x", 1);
    let mut none = Chain::standard(ChainOptions::only("z3"));
    assert_eq!(none.solve(&query), Answer::Unknown(UnknownReason::Unsupported));
    assert_eq!(none.counters().count(), 0);
    let mut unary = Chain::standard(ChainOptions::only("unary"));
    assert_eq!(unary.solve(&query), Answer::Sat(vec![7]));
}

fn counters(chain: &Chain, link: &str) -> solver::Counters {
    chain.counters().find(|(name, _)| *name == link).expect("a link of the chain").1
}

#[test]
fn long_chain_is_solved_at_its_end() {
    let input = vec![b'x'; 300];
    let Scanner { mut dag, states } = scanner(b"while", input.len() as u32);
    let dead = dag.constant(16, 6);
    let path: Vec<Lit> =
        states.iter().map(|&state| Lit::new(binary(&mut dag, Op::Eq, state, dead), true)).collect();
    let mut chain = chain();
    let mut solver = PathSolver::new(&dag, &path, &input, input.len());
    // The scanner leaves its dead state never, so only the first literal can be flipped.
    let Answer::Sat(first) = solver.flip(&mut chain, 0) else { panic!("not solved") };
    assert_eq!(first[0], b'w');
    for index in [1, 20, 299] {
        assert_eq!(solver.flip(&mut chain, index), Answer::Unsat);
    }
}

/// A hash over all bytes, the last ones of which are given: the answer lies before the bytes that
/// are tried alone.
#[test]
fn early_bytes_are_changed_when_late_ones_are_fixed() {
    let input = vec![b'a'; 40];
    let mut dag = Dag::new();
    let (mut hash, three) = (dag.constant(8, 7), dag.constant(8, 3));
    let mut path = Vec::new();
    for index in 0..input.len() as u32 {
        let byte = dag.input(index);
        let product = binary(&mut dag, Op::Mul, hash, three);
        hash = binary(&mut dag, Op::Xor, product, byte);
        if index >= 2 {
            let a = dag.constant(8, u128::from(b'a'));
            path.push(Lit::new(binary(&mut dag, Op::Eq, byte, a), true));
        }
    }
    let now = dag.eval(hash, &expr::Assignment::new(input.clone()));
    let other = dag.constant(8, now ^ 0x55);
    let goal = Lit::new(binary(&mut dag, Op::Eq, hash, other), true);
    let mut chain = chain();
    let answer = chain.solve(&Query::new(&dag, &path, goal, &input, input.len()));
    let Answer::Sat(found) = answer else { panic!("{answer:?}") };
    assert_eq!(dag.eval(hash, &expr::Assignment::new(found.clone())), now ^ 0x55);
    assert_eq!(found[2..], input[2..]);
    assert!(counters(&chain, "local").unknown > 0 && counters(&chain, "domain").sat == 1);
}

#[test]
fn wrong_inputs_are_not_believed() {
    struct Liar;
    impl solver::Link for Liar {
        fn name(&self) -> &'static str {
            "liar"
        }
        fn solve(&mut self, query: &Query) -> Answer {
            Answer::Sat(query.current.to_vec())
        }
    }
    let mut dag = Dag::new();
    let (byte, seven) = (dag.input(0), dag.constant(8, 7));
    let equal = binary(&mut dag, Op::Eq, byte, seven);
    let mut chain = Chain::standard(ChainOptions::only("liar"));
    chain.push(Box::new(Liar));
    let answer = chain.solve(&Query::new(&dag, &[], Lit::new(equal, true), b"x", 1));
    assert_eq!(answer, Answer::Unknown(UnknownReason::WrongModel));
    assert_eq!(counters(&chain, "liar").wrong, 1);
}

/// What full effort left open is not asked again; what a quick attempt left open is.
#[test]
fn cache_gives_up_after_full_effort_only() {
    struct Stuck;
    impl solver::Link for Stuck {
        fn name(&self) -> &'static str {
            "stuck"
        }
        fn min_effort(&self) -> Effort {
            Effort::Quick
        }
        fn solve(&mut self, _query: &Query) -> Answer {
            Answer::Unknown(UnknownReason::Timeout)
        }
    }
    let mut dag = Dag::new();
    let (byte, seven) = (dag.input(0), dag.constant(8, 7));
    let goal = Lit::new(binary(&mut dag, Op::Eq, byte, seven), true);
    let only = ["cache", "stuck"].map(str::to_string).to_vec();
    let mut chain = Chain::standard(ChainOptions { only, ..ChainOptions::default() });
    chain.push(Box::new(Stuck));
    for (effort, asked) in [(Effort::Quick, 1), (Effort::Full, 2), (Effort::Full, 2)] {
        chain.effort = effort;
        let answer = chain.solve(&Query::new(&dag, &[], goal, b"x", 1));
        assert_eq!(answer, Answer::Unknown(UnknownReason::Timeout));
        assert_eq!(counters(&chain, "stuck").asked, asked);
    }
}

/// Nothing is left of a slice whose literals hold on every input.
#[test]
fn goal_that_always_holds_is_met_by_the_current_input() {
    let mut dag = Dag::new();
    let (x, y) = (dag.input(0), dag.input(1));
    let sums = [(x, y), (y, x)].map(|(a, b)| binary(&mut dag, Op::Add, a, b));
    let goal = Lit::new(binary(&mut dag, Op::Eq, sums[0], sums[1]), true);
    let mut chain = Chain::standard(ChainOptions::only("domain"));
    let answer = chain.solve(&Query::new(&dag, &[], goal, b"ab", 2));
    assert_eq!(answer, Answer::Sat(b"ab".to_vec()));
    assert_eq!(counters(&chain, "domain").asked, 0);
}

#[test]
fn long_decimal_number_is_found_and_refuted_by_bounds() {
    let mut dag = Dag::new();
    let (number, mut path) = decimal(&mut dag, 15);
    let current = b"000000000000000";
    let limit = dag.constant(64, 999_999_999_999_000);
    let above = binary(&mut dag, Op::Ult, limit, number);
    path.push(Lit::new(above, true));
    let options = ChainOptions::only(DomainLink::NAME);
    for (wanted, found) in [(999_999_999_999_321, true), (123_456_789_012_345, false)] {
        let wanted_label = dag.constant(64, wanted);
        let goal = Lit::new(binary(&mut dag, Op::Eq, number, wanted_label), true);
        let answer =
            Chain::standard(options.clone()).solve(&Query::new(&dag, &path, goal, current, 15));
        match found {
            true => assert_eq!(answer, Answer::Sat(wanted.to_string().into_bytes())),
            false => assert_eq!(answer, Answer::Unsat),
        }
    }
}

/// Four bytes hashed, masked, scaled: never beyond a table of 64 words, however hard the hash is.
#[test]
fn masked_index_is_never_out_of_bounds() {
    let mut dag = Dag::new();
    let word = little_endian(&mut dag, 0, 4);
    let (factor, mask) = (dag.constant(32, 0x9e37_79b1), dag.constant(32, 63));
    let product = binary(&mut dag, Op::Mul, word, word);
    let hash = binary(&mut dag, Op::Mul, product, factor);
    let index = binary(&mut dag, Op::And, hash, mask);
    let (index, eight) = (zext(&mut dag, 64, index), dag.constant(64, 8));
    let offset = binary(&mut dag, Op::Mul, index, eight);
    let (last, inner) = (dag.constant(64, 504), dag.constant(64, 496));
    let outside = binary(&mut dag, Op::Ult, last, offset);
    let last_word = binary(&mut dag, Op::Ult, inner, offset);
    let mut ranges = Chain::standard(ChainOptions::only("ranges"));
    let mut ask = |label| ranges.solve(&Query::new(&dag, &[], Lit::new(label, true), b"abcd", 4));
    assert_eq!(ask(outside), Answer::Unsat);
    assert_eq!(ask(last_word), Answer::Unknown(UnknownReason::Unsupported));
}

/// x * y of two words is both 7 and 9; more literals change nothing about that.
#[test]
fn core_is_found_again_in_a_longer_question() {
    let mut dag = Dag::new();
    let (x, y) = (little_endian(&mut dag, 0, 1), little_endian(&mut dag, 1, 1));
    let product = binary(&mut dag, Op::Mul, x, y);
    let [seven, nine, limit] = [7, 9, 100].map(|value| dag.constant(8, value));
    let [is_seven, is_nine] = [seven, nine].map(|value| binary(&mut dag, Op::Eq, product, value));
    let sum = binary(&mut dag, Op::Add, x, y);
    let small = binary(&mut dag, Op::Ult, sum, limit);
    let options = ChainOptions { without: vec!["local".to_string()], ..ChainOptions::default() };
    let mut chain = Chain::standard(options);
    let (path, longer) =
        ([Lit::new(is_seven, true)], [Lit::new(small, true), Lit::new(is_seven, true)]);
    let goal = Lit::new(is_nine, true);
    assert_eq!(chain.solve(&Query::new(&dag, &path, goal, &[1, 7], 2)), Answer::Unsat);
    assert_eq!(chain.solve(&Query::new(&dag, &longer, goal, &[1, 7], 2)), Answer::Unsat);
    let subsumption = counters(&chain, "subsumption");
    assert_eq!((subsumption.asked, subsumption.unsat), (2, 1));
    // Without the literal that contradicts, the answer is another.
    assert!(matches!(
        chain.solve(&Query::new(&dag, &longer[..1], goal, &[1, 7], 2)),
        Answer::Sat(_)
    ));
}

#[test]
fn input_for_the_same_goal_is_tried_again() {
    let mut dag = Dag::new();
    let (x, y) = (little_endian(&mut dag, 0, 1), little_endian(&mut dag, 1, 1));
    let product = binary(&mut dag, Op::Mul, x, y);
    let [nine, limit] = [9, 100].map(|value| dag.constant(8, value));
    let is_nine = binary(&mut dag, Op::Eq, product, nine);
    let sum = binary(&mut dag, Op::Add, x, y);
    let small = binary(&mut dag, Op::Ult, sum, limit);
    let mut chain = chain();
    let goal = Lit::new(is_nine, true);
    let path = [Lit::new(small, true)];
    let first = chain.solve(&Query::new(&dag, &path, goal, &[1, 7], 2));
    assert_eq!(chain.solve(&Query::new(&dag, &[], goal, &[1, 7], 2)), first);
    assert_eq!(counters(&chain, "subsumption").sat, 1);
}

/// Casts between integers and floats, arithmetic on floats, comparisons with constants: all without
/// Z3.
#[test]
fn floats_and_integers_are_converted() {
    let mut dag = Dag::new();
    let (integer, double) = (little_endian(&mut dag, 0, 4), little_endian(&mut dag, 4, 8));
    let float = |dag: &mut Dag, value: f64| dag.constant(64, u128::from(value.to_bits()));
    let converted = dag.add(Node::unary(Op::SToF, 64, integer));
    let (half, limit) = (float(&mut dag, 0.5), float(&mut dag, -1000.25));
    let scaled = binary(&mut dag, Op::FMul, converted, half);
    let below = binary(&mut dag, Op::FLt, scaled, limit);
    let whole = dag.add(Node::unary(Op::FToS, 32, double));
    let minus_five = dag.constant(32, u128::from(-5i32 as u32));
    let is_minus_five = binary(&mut dag, Op::Eq, whole, minus_five);
    let single = dag.add(Node::unary(Op::FConv, 32, double));
    let one_and_a_half = dag.constant(32, u128::from(1.5f32.to_bits()));
    let is_single = binary(&mut dag, Op::Eq, single, one_and_a_half);
    let (offset, wanted) = (float(&mut dag, 0.25), float(&mut dag, 7.0));
    let sum = binary(&mut dag, Op::FAdd, double, offset);
    let is_sum = dag.add(Node::binary(Op::FEq, 1, sum, wanted));
    for goal in [below, is_minus_five, is_single, is_sum] {
        let answer = solve(&dag, &[], Lit::new(goal, true), &[0; 12], 12);
        let Answer::Sat(input) = answer else { panic!("{answer:?}") };
        assert_eq!(dag.eval(goal, &expr::Assignment::new(input)), 1);
    }
}
