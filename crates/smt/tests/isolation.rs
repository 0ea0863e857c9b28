//! What happens to Z3's process costs one query.

use expr::{Dag, Label, Node, Op};
use smt::{Limits, Z3Link};
use solver::{Answer, Link, Lit, Query, UnknownReason};
use std::time::Duration;

fn binary(dag: &mut Dag, op: Op, a: Label, b: Label) -> Label {
    let bits = if matches!(op, Op::Eq | Op::Ult | Op::FEq) { 1 } else { dag.bits(a) as u8 };
    dag.add(Node::binary(op, bits, a, b))
}

fn word(dag: &mut Dag, first: u32, bytes: u32) -> Label {
    let low = dag.input(first);
    (1..bytes).fold(low, |low, index| {
        let byte = dag.input(first + index);
        dag.add(Node::binary(Op::Concat, 8 * (index as u8 + 1), byte, low))
    })
}

/// x + 1 = 1000 for a word of two bytes.
fn easy(dag: &mut Dag) -> Lit {
    let (x, one, wanted) = (word(dag, 0, 2), dag.constant(16, 1), dag.constant(16, 1000));
    let sum = binary(dag, Op::Add, x, one);
    Lit::new(binary(dag, Op::Eq, sum, wanted), true)
}

fn limits(milliseconds: u64) -> Limits {
    Limits { time: Duration::from_millis(milliseconds), steps: 0, economical: false, stop: None }
}

#[test]
fn killed_process_is_replaced() {
    let mut dag = Dag::new();
    let goal = easy(&mut dag);
    let query = Query::new(&dag, &[], goal, &[0, 0], 2);
    let mut z3 = Z3Link::new(limits(600_000));
    let expected = Answer::Sat(999u16.to_le_bytes().to_vec());
    assert_eq!(z3.process(), None);
    assert_eq!(z3.solve(&query), expected);
    let process = z3.process().expect("it was asked");
    // SAFETY: the process is a child of this one, and it is not waited for before the next query.
    assert_eq!(unsafe { libc::kill(process as i32, libc::SIGKILL) }, 0);
    // It may take a moment to die; until then a query may be lost, but no more than one.
    let answers = [z3.solve(&query), z3.solve(&query)];
    assert!(matches!(&answers[0], Answer::Unknown(UnknownReason::Crash)) || answers[0] == expected);
    assert_eq!(answers[1], expected);
    assert_ne!(z3.process(), Some(process));
}

/// A product of two doubles from the input that is 1/3 of another one, which Z3 needs hours for.
#[test]
fn hard_query_ends_at_its_limit() {
    let mut dag = Dag::new();
    let [x, y, z] = [0, 8, 16].map(|first| word(&mut dag, first, 8));
    let product = binary(&mut dag, Op::FMul, x, y);
    let quotient = binary(&mut dag, Op::FDiv, z, product);
    let root = dag.add(Node::unary(Op::FSqrt, 64, quotient));
    let hard = binary(&mut dag, Op::FMul, root, quotient);
    let wanted = dag.constant(64, u128::from((1.0f64 / 3.0).to_bits()));
    let hard = Lit::new(binary(&mut dag, Op::FEq, hard, wanted), true);
    let goal = easy(&mut dag);
    let mut z3 = Z3Link::new(limits(100));
    let answer = z3.solve(&Query::new(&dag, &[], hard, &[1; 24], 24));
    assert!(
        matches!(answer, Answer::Unknown(UnknownReason::Timeout | UnknownReason::Overrun)),
        "{answer:?}"
    );
    let mut z3 = Z3Link::new(limits(600_000));
    assert!(matches!(z3.solve(&Query::new(&dag, &[], goal, &[1; 24], 24)), Answer::Sat(_)));
}

#[test]
fn unsat_comes_with_literals_that_contradict_each_other() {
    let mut dag = Dag::new();
    let goal = easy(&mut dag);
    let (other, seven) = (dag.input(5), dag.constant(8, 7));
    let unrelated = Lit::new(binary(&mut dag, Op::Ult, other, seven), true);
    let (x, limit) = (word(&mut dag, 0, 2), dag.constant(16, 99));
    let small = Lit::new(binary(&mut dag, Op::Ult, x, limit), true);
    let path = [unrelated, small];
    let mut z3 = Z3Link::new(limits(600_000));
    assert_eq!(z3.solve(&Query::new(&dag, &path, goal, &[0; 6], 6)), Answer::Unsat);
    assert_eq!(z3.core(), Some(&[1, 2][..]));
}
