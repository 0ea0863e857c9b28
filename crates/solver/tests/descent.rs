//! What local search finds that no other link can.

use expr::{Assignment, Dag, Label, Node, Op, TableData};
use solver::{Answer, Chain, ChainOptions, DescentLink, Lit, Query};

fn binary(dag: &mut Dag, op: Op, a: Label, b: Label) -> Label {
    let is_comparison =
        matches!(op, Op::Eq | Op::Ult | Op::Ule | Op::Slt | Op::Sle | Op::FEq | Op::FLt | Op::FLe);
    let bits = if is_comparison { 1 } else { dag.bits(a) as u8 };
    dag.add(Node::binary(op, bits, a, b))
}

fn word(dag: &mut Dag, first: u32, bytes: u32) -> Label {
    let low = dag.input(first);
    (1..bytes).fold(low, |low, index| {
        let byte = dag.input(first + index);
        dag.add(Node::binary(Op::Concat, 8 * (index as u8 + 1), byte, low))
    })
}

/// Solves with local search alone and checks the answer.
fn descend(dag: &Dag, path: &[Lit], goal: Lit, current: &[u8]) -> Vec<u8> {
    let mut chain = Chain::standard(ChainOptions::only(DescentLink::NAME));
    let answer = chain.solve(&Query::new(dag, path, goal, current, current.len()));
    let Answer::Sat(input) = answer else { panic!("{answer:?}") };
    let assignment = Assignment::new(input.clone());
    assert!(
        path.iter().chain([&goal]).all(|lit| (dag.eval(lit.label, &assignment) == 1) == lit.value)
    );
    input
}

#[test]
fn nonlinear_arithmetic() {
    let mut dag = Dag::new();
    let (x, y) = (word(&mut dag, 0, 2), word(&mut dag, 2, 2));
    let [x, y] = [x, y].map(|half| dag.add(Node::unary(Op::ZExt, 64, half)));
    let squares = [x, y].map(|z| binary(&mut dag, Op::Mul, z, z));
    let sum = binary(&mut dag, Op::Add, squares[0], squares[1]);
    // All sums of two squares within a hundredth of the limit.
    let (low, high) = (dag.constant(64, 2_000_000_000), dag.constant(64, 2_001_000_000));
    let path = [Lit::new(binary(&mut dag, Op::Ult, low, sum), true)];
    let product = binary(&mut dag, Op::Mul, x, y);
    let goal = Lit::new(binary(&mut dag, Op::Ult, sum, high), true);
    let near = dag.constant(64, 900_000_000);
    let path = [path[0], Lit::new(binary(&mut dag, Op::Ult, near, product), true)];
    descend(&dag, &path, goal, &[0; 4]);
}

/// The sum of six bytes, each weighted by its place and its square, modulo a prime.
#[test]
fn checksum() {
    let mut dag = Dag::new();
    let mut sum = dag.constant(32, 1);
    let prime = dag.constant(32, 65_521);
    for index in 0..6 {
        let byte = dag.input(index);
        let byte = dag.add(Node::unary(Op::ZExt, 32, byte));
        let square = binary(&mut dag, Op::Mul, byte, byte);
        let (weight, three) = (dag.constant(32, u128::from(index) * 77 + 5), dag.constant(32, 3));
        let term = binary(&mut dag, Op::Mul, square, weight);
        let scaled = binary(&mut dag, Op::Mul, sum, three);
        let next = binary(&mut dag, Op::Add, scaled, term);
        sum = binary(&mut dag, Op::URem, next, prime);
    }
    let wanted = dag.constant(32, 31_337);
    let goal = Lit::new(binary(&mut dag, Op::Eq, sum, wanted), true);
    descend(&dag, &[], goal, b"000000");
}

/// FNV of three letters, cut to 16 bits, selects an entry of a table.
#[test]
fn entry_found_by_a_hash() {
    let mut dag = Dag::new();
    let mut hash = dag.constant(32, 0x811c_9dc5);
    let mut path = Vec::new();
    for index in 0..3 {
        let byte = dag.input(index);
        let (a, letters) = (dag.constant(8, u128::from(b'a')), dag.constant(8, 26));
        let offset = binary(&mut dag, Op::Sub, byte, a);
        path.push(Lit::new(binary(&mut dag, Op::Ult, offset, letters), true));
        let byte = dag.add(Node::unary(Op::ZExt, 32, byte));
        let factor = dag.constant(32, 0x0100_0193);
        let mixed = binary(&mut dag, Op::Xor, hash, byte);
        hash = binary(&mut dag, Op::Mul, mixed, factor);
    }
    let table = TableData::concrete((0..=255u8).map(|i| u8::from(i == 77)).collect());
    let table = dag.add_table(table).expect("a table");
    let low = dag.add(Node { op: Op::Extract as u8, bits: 8, aux: 3, a: hash, b: 0, c: 0 });
    let offset = dag.add(Node::unary(Op::ZExt, 64, low));
    let entry = dag.add(Node { op: Op::Read as u8, bits: 8, aux: 0, a: offset, b: table, c: 0 });
    let one = dag.constant(8, 1);
    let goal = Lit::new(binary(&mut dag, Op::Eq, entry, one), true);
    descend(&dag, &path, goal, b"xyz");
}

#[test]
fn doubles() {
    let mut dag = Dag::new();
    let x = word(&mut dag, 0, 8);
    let constant = |dag: &mut Dag, value: f64| dag.constant(64, u128::from(value.to_bits()));
    let square = binary(&mut dag, Op::FMul, x, x);
    let (low, high, zero) =
        (constant(&mut dag, 1e6), constant(&mut dag, 1.5e6), constant(&mut dag, 0.0));
    let path = [
        Lit::new(binary(&mut dag, Op::FLt, low, square), true),
        Lit::new(binary(&mut dag, Op::FLt, x, zero), true),
    ];
    let goal = Lit::new(binary(&mut dag, Op::FLt, square, high), true);
    let input = descend(&dag, &path, goal, &[0; 8]);
    let x = f64::from_le_bytes(input.try_into().expect("8 bytes"));
    assert!(x < 0.0 && x * x > 1e6 && x * x < 1.5e6);
    // A number in text, as a double, divided.
    let mut value = constant(&mut dag, 0.0);
    let mut path = Vec::new();
    for index in 0..4 {
        let byte = dag.input(index);
        let (offset, digits) = (dag.constant(8, u128::from(b'0')), dag.constant(8, 10));
        let digit = binary(&mut dag, Op::Sub, byte, offset);
        path.push(Lit::new(binary(&mut dag, Op::Ult, digit, digits), true));
        let digit = dag.add(Node::unary(Op::UToF, 64, digit));
        let ten = constant(&mut dag, 10.0);
        let shifted = binary(&mut dag, Op::FMul, value, ten);
        value = binary(&mut dag, Op::FAdd, shifted, digit);
    }
    let (divisor, wanted) = (constant(&mut dag, 8.0), constant(&mut dag, 912.125));
    let quotient = binary(&mut dag, Op::FDiv, value, divisor);
    let goal = Lit::new(binary(&mut dag, Op::FEq, quotient, wanted), true);
    assert_eq!(descend(&dag, &path, goal, b"0000"), b"7297");
    let whole = dag.add(Node::unary(Op::FToS, 32, quotient));
    let wanted = dag.constant(32, 77);
    let goal = Lit::new(binary(&mut dag, Op::Eq, whole, wanted), true);
    descend(&dag, &path, goal, b"9999");
}
