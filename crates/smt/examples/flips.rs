//! Times the parts of the chain on made-up paths: `cargo run --release -p smt --example flips`.

use expr::{Dag, Label, Node, Op, TableData};
use smt::{Limits, Z3Link, standard_chain};
use solver::{Answer, ChainOptions, Lit, PathSolver};
use std::time::Instant;

fn main() {
    let text: Vec<u8> = (0..5000).map(|i| b"{\"key\": [12, 3.5, true]} "[i % 25]).collect();
    report("single bytes, unary", &single_bytes(&text), &text, &[]);
    report("single bytes, z3", &single_bytes(&text[..100]), &text[..100], &[Z3Link::NAME]);
    report("end of input, unary", &ends(text.len()), &text, &[]);
    report(
        "scanner chain of 8, fast",
        &scanner(&text, 8),
        &text,
        &["unary", "local", "cache", "domain"],
    );
    report("scanner chain of 8, domain", &scanner(&text[..400], 8), &text[..400], &["domain"]);
    report("scanner chain of 8, z3", &scanner(&text[..16], 8), &text[..16], &[Z3Link::NAME]);
    report("scanner chain of 1000, fast", &scanner(&text[..1000], 1000), &text[..1000], &[]);
    report("32-bit fields, inversion", &fields(text.len()), &text, &["inversion"]);
    report("32-bit fields, z3", &fields(400), &text[..400], &[Z3Link::NAME]);
}

struct Case {
    dag: Dag,
    path: Vec<Lit>,
}

fn report(name: &str, case: &Case, input: &[u8], links: &[&str]) {
    let only = links.iter().map(|link| link.to_string()).collect();
    let mut chain =
        standard_chain(ChainOptions { only, ..ChainOptions::default() }, Limits::default());
    let start = Instant::now();
    let mut solver = PathSolver::new(&case.dag, &case.path, input, input.len() + 100);
    assert!(solver.violated().is_empty());
    let prepared = start.elapsed();
    let mut counts = [0; 3];
    for index in 0..case.path.len() {
        match solver.flip(&mut chain, index) {
            Answer::Sat(_) => counts[0] += 1,
            Answer::Unsat => counts[1] += 1,
            Answer::Unknown(_) => counts[2] += 1,
        }
    }
    let seconds = start.elapsed().as_secs_f64();
    let [sat, unsat, unknown] = counts;
    println!(
        "{name:30} {:7} flips {sat:6} sat {unsat:6} unsat {unknown:5} unknown {:10.0} flips/s \
         (prepared in {prepared:?})",
        case.path.len(),
        case.path.len() as f64 / seconds
    );
    for (name, counters) in chain.counters() {
        if counters.asked > 0 {
            println!("    {name}: {counters:?}");
        }
    }
}

impl Case {
    fn new() -> Case {
        Case { dag: Dag::new(), path: Vec::new() }
    }

    fn branch(&mut self, label: Label, input: &[u8]) {
        let value = self.dag.eval(label, &expr::Assignment::new(input)) == 1;
        self.path.push(Lit::new(label, value));
    }

    fn binary(&mut self, op: Op, a: Label, b: Label) -> Label {
        let bits = if matches!(op, Op::Eq | Op::Ult) { 1 } else { self.dag.bits(a) as u8 };
        self.dag.add(Node::binary(op, bits, a, b))
    }

    fn constant(&mut self, bits: u32, value: u64) -> Label {
        self.dag.constant(bits, u128::from(value))
    }

    fn read(&mut self, bits: u8, table: u32, index: Label) -> Label {
        let offset = self.dag.add(Node::unary(Op::ZExt, 64, index));
        let scale = self.constant(64, u64::from(bits / 8));
        let offset = self.binary(Op::Mul, offset, scale);
        self.dag.add(Node { op: Op::Read as u8, bits, aux: 0, a: offset, b: table, c: 0 })
    }
}

/// What a hand-written parser asks about each byte.
fn single_bytes(input: &[u8]) -> Case {
    let mut case = Case::new();
    for index in 0..input.len() as u32 {
        let byte = case.dag.input(index);
        let wide = case.dag.add(Node::unary(Op::SExt, 32, byte));
        for character in [b' ', b'\n', b'{', b'}', b'[', b'"'] {
            let character = case.constant(32, u64::from(character));
            let equal = case.binary(Op::Eq, wide, character);
            case.branch(equal, input);
        }
        let zero = case.constant(32, u64::from(b'0'));
        let (digit, ten) = (case.binary(Op::Sub, wide, zero), case.constant(32, 10));
        let is_digit = case.binary(Op::Ult, digit, ten);
        case.branch(is_digit, input);
    }
    case
}

/// One question for each byte: does it exist?
fn ends(len: usize) -> Case {
    let mut case = Case::new();
    for index in 0..len as u64 {
        let (index, length) = (case.constant(64, index), case.dag.input_length());
        let exists = case.binary(Op::Ult, index, length);
        case.path.push(Lit::new(exists, true));
    }
    case
}

/// Tokens of `period` bytes, each scanned by a chain of table reads, with a branch after each byte.
fn scanner(input: &[u8], period: usize) -> Case {
    let mut case = Case::new();
    let classes: Vec<u8> =
        (0..=255u8).map(|byte| if byte.is_ascii_alphabetic() { byte & 15 } else { 0 }).collect();
    let next: Vec<u8> = (0..64u16 * 16)
        .flat_map(|cell| (cell.wrapping_mul(40_503) >> 3 & 63).to_le_bytes())
        .collect();
    let classes = case.dag.add_table(TableData::concrete(classes)).expect("a table");
    let next = case.dag.add_table(TableData::concrete(next)).expect("a table");
    let mut state = case.constant(16, 0);
    for index in 0..input.len() {
        if index % period == 0 {
            state = case.constant(16, 0);
        }
        let byte = case.dag.input(index as u32);
        let class = case.read(8, classes, byte);
        let class = case.dag.add(Node::unary(Op::ZExt, 16, class));
        let count = case.constant(16, 16);
        let row = case.binary(Op::Mul, state, count);
        let cell = case.binary(Op::Add, row, class);
        state = case.read(16, next, cell);
        let wanted = case.constant(16, 17);
        let jammed = case.binary(Op::Eq, state, wanted);
        case.path.push(Lit::new(jammed, false));
    }
    // The path must hold on the input.
    let mut evaluator = expr::Evaluator::new();
    let mut evaluation = evaluator.under(&case.dag, input);
    for lit in &mut case.path {
        lit.value = evaluation.holds(lit.label);
    }
    case
}

/// Four-byte numbers, each compared after some arithmetic.
fn fields(len: usize) -> Case {
    let mut case = Case::new();
    for first in (0..len as u32 - 3).step_by(4) {
        let mut value = case.dag.input(first);
        for index in 1..4 {
            let byte = case.dag.input(first + index);
            value = case.dag.add(Node::binary(Op::Concat, 8 * (index as u8 + 1), byte, value));
        }
        let (key, wanted) =
            (case.constant(32, 0x55aa_1234), case.constant(32, u64::from(first) * 7919));
        let mixed = case.binary(Op::Xor, value, key);
        let factor = case.constant(32, 0x0100_0193);
        let mixed = case.binary(Op::Mul, mixed, factor);
        let equal = case.binary(Op::Eq, mixed, wanted);
        case.path.push(Lit::new(equal, false));
    }
    case
}
