//! Keywords behind a hash that nobody can invert are found once their hash was seen.

use expr::{Dag, Label, Node, Op, TableData};
use solver::{Answer, Chain, ChainOptions, Lit, OpaqueCall, Query, Samples};

const HASH: u32 = 7;

/// Stands for code that is not instrumented.
fn hash(bytes: &[u8]) -> u64 {
    bytes.iter().fold(5381u64, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(17) & 0xffff_ffff
    })
}

fn keywords() -> Samples {
    let mut samples = Samples::default();
    for keyword in ["while", "until", "break", "if"] {
        samples.observe(HASH, keyword.as_bytes(), hash(keyword.as_bytes()));
    }
    samples
}

/// A call with the `input` as its argument, whose result is the node that stands for byte 1000.
fn call(dag: &mut Dag, input: &[u8]) -> OpaqueCall {
    let labels: Vec<Label> = (0..input.len() as u32).map(|index| dag.input(index)).collect();
    let byte = dag.input(1000);
    let result = dag.add(Node::unary(Op::ZExt, 32, byte));
    let argument = TableData { bytes: input.to_vec(), labels: Some(labels) };
    OpaqueCall { function: HASH, result, argument, output: hash(input) }
}

fn is(dag: &mut Dag, label: Label, value: u64) -> Label {
    let value = dag.constant(dag.bits(label), u128::from(value));
    dag.add(Node::binary(Op::Eq, 1, label, value))
}

fn solve(samples: &Samples, input: &[u8], wanted: u64) -> Answer {
    let mut dag = Dag::new();
    let call = call(&mut dag, input);
    let goal = is(&mut dag, call.result, wanted);
    let resolved = samples.resolve(&dag, &[call], &[goal]);
    let path: Vec<Lit> = resolved.known.iter().flatten().copied().collect();
    let query = Query::new(&resolved.dag, &path, Lit::new(resolved.labels[0], true), input, input.len());
    Chain::standard(ChainOptions::default()).solve(&query)
}

#[test]
fn keyword_is_found_by_its_hash() {
    let samples = keywords();
    assert_eq!(solve(&samples, b"aaaaa", hash(b"until")), Answer::Sat(b"until".to_vec()));
    assert_eq!(solve(&samples, b"zz", hash(b"if")), Answer::Sat(b"if".to_vec()));
    // Another length, and a hash that was never seen.
    assert_eq!(solve(&samples, b"aaaa", hash(b"until")), Answer::Unsat);
    assert_eq!(solve(&samples, b"aaaaa", 12), Answer::Unsat);
    // Without samples the argument is what it was.
    assert_eq!(solve(&Samples::default(), b"until", hash(b"until")), Answer::Sat(b"until".to_vec()));
    assert_eq!(solve(&Samples::default(), b"aaaaa", hash(b"until")), Answer::Unsat);
}

#[test]
fn concrete_bytes_of_the_argument_stay() {
    let samples = keywords();
    let mut dag = Dag::new();
    let mut call = call(&mut dag, b"bbbbb");
    if let Some(labels) = &mut call.argument.labels {
        labels[0] = 0;
    }
    let goals = [hash(b"break"), hash(b"while")].map(|wanted| is(&mut dag, call.result, wanted));
    let resolved = samples.resolve(&dag, &[call], &goals);
    let path: Vec<Lit> = resolved.known.iter().flatten().copied().collect();
    let mut answers = resolved.labels.iter().map(|&goal| {
        let query = Query::new(&resolved.dag, &path, Lit::new(goal, true), b"bbbbb", 5);
        Chain::standard(ChainOptions::default()).solve(&query)
    });
    assert_eq!(answers.next(), Some(Answer::Sat(b"break".to_vec())));
    assert_eq!(answers.next(), Some(Answer::Unsat));
}

/// The result of one call is an argument of the next.
#[test]
fn calls_of_calls() {
    let mut samples = keywords();
    samples.observe(8, &[0x11], 1);
    samples.observe(8, &[0x22], 2);
    samples.observe(HASH, b"x", 0x22);
    let mut dag = Dag::new();
    let first = call(&mut dag, b"y");
    let low = dag.add(Node { op: Op::Extract as u8, bits: 8, aux: 0, a: first.result, b: 0, c: 0 });
    let placeholder = dag.input(1001);
    let argument = TableData { bytes: vec![first.output as u8], labels: Some(vec![low]) };
    let second = OpaqueCall { function: 8, result: placeholder, argument, output: 77 };
    let goal = is(&mut dag, placeholder, 2);
    let resolved = samples.resolve(&dag, &[first, second], &[goal]);
    let path: Vec<Lit> = resolved.known.iter().flatten().copied().collect();
    let query = Query::new(&resolved.dag, &path, Lit::new(resolved.labels[0], true), b"y", 1);
    let answer = Chain::standard(ChainOptions::default()).solve(&query);
    assert_eq!(answer, Answer::Sat(b"x".to_vec()));
}
