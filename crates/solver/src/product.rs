//! Goals whose bytes have few values left: all of their combinations are tried.
//!
//! Conditions on one byte alone leave parsers and command processors a handful of values for each byte, so that the product of a few
//! bytes' domains is smaller than any other way to look at the conditions that tie them together. The answer is exact.

use crate::byte_set::ByteSet;
use crate::query::Lit;
use expr::{Dag, Label, Op, Program, Registers};

/// Combinations that are tried, and instructions that this may take.
const MOST_COMBINATIONS: usize = 1 << 14;
const MOST_INSTRUCTIONS: usize = 1 << 21;

/// A byte of the input and the values that it may have, those to try first first.
pub(crate) struct Choice {
    pub byte: u32,
    pub values: Vec<u8>,
}

impl Choice {
    pub(crate) fn new(byte: u32, domain: ByteSet, current: Option<u8>) -> Choice {
        Choice { byte, values: domain.preferred(current).collect() }
    }
}

/// Values that make all literals true, whose bytes are all among the choices: `Some(None)` if there are none, `None` if there are
/// too many combinations.
pub(crate) fn solve(dag: &Dag, lits: &[Lit], choices: &[Choice]) -> Option<Option<Vec<(u32, u8)>>> {
    let combinations =
        choices.iter().try_fold(1usize, |product, choice| product.checked_mul(choice.values.len()))?;
    if combinations > MOST_COMBINATIONS {
        return None;
    }
    let roots: Vec<Label> = lits.iter().map(|lit| lit.label).collect();
    let bytes: Option<Vec<Label>> = choices.iter().map(|choice| input(dag, choice.byte)).collect();
    let program = Program::compile(dag, &roots, &bytes?)?;
    if combinations.checked_mul(program.len())? > MOST_INSTRUCTIONS {
        return None;
    }
    let mut registers = Registers::default();
    program.load(&mut registers);
    Some((0..combinations).map(|number| combination(choices, number)).find(|values| {
        values
            .iter()
            .enumerate()
            .for_each(|(place, (_, value))| program.set(&mut registers, place, u128::from(*value)));
        program.run(&mut registers);
        lits.iter().enumerate().all(|(root, lit)| (program.get(&registers, root) == 1) == lit.value)
    }))
}

/// The label of a byte of the recorded input.
fn input(dag: &Dag, byte: u32) -> Option<Label> {
    let label = byte + 1;
    (byte < dag.input_len() && dag.op(label) == Op::Input).then_some(label)
}

/// The last choice changes fastest.
fn combination(choices: &[Choice], mut number: usize) -> Vec<(u32, u8)> {
    let mut values: Vec<(u32, u8)> = Vec::with_capacity(choices.len());
    for choice in choices.iter().rev() {
        values.push((choice.byte, choice.values[number % choice.values.len()]));
        number /= choice.values.len();
    }
    values.reverse();
    values
}

#[cfg(test)]
mod tests {
    use super::*;
    use expr::Node;

    /// a * b = `product`, for two bytes of an input.
    fn product(product: u64) -> (Dag, Lit) {
        let nodes = vec![Node::default(); 4];
        let mut dag = Dag::from_raw(nodes, vec![0; 4], Vec::new(), 2).expect("a Dag of two bytes");
        let label = dag.add(Node::binary(Op::Mul, 8, 1, 2));
        let constant = dag.add(Node::constant(8, product));
        let label = dag.add(Node::binary(Op::Eq, 1, label, constant));
        (dag, Lit::new(label, true))
    }

    fn digits(byte: u32, current: u8) -> Choice {
        Choice::new(byte, (2..10).collect(), Some(current))
    }

    #[test]
    fn finds_a_combination_near_the_current_one() {
        let (dag, lit) = product(24);
        assert_eq!(solve(&dag, &[lit], &[digits(0, 6), digits(1, 7)]), Some(Some(vec![(0, 6), (1, 4)])));
        assert_eq!(
            solve(&dag, &[lit.negated()], &[digits(0, 6), digits(1, 7)]),
            Some(Some(vec![(0, 6), (1, 7)]))
        );
    }

    #[test]
    fn says_that_there_is_none() {
        let (dag, lit) = product(11);
        assert_eq!(solve(&dag, &[lit], &[digits(0, 6), digits(1, 7)]), Some(None));
        let none = Choice::new(1, ByteSet::EMPTY, None);
        assert_eq!(solve(&dag, &[lit], &[digits(0, 6), none]), Some(None));
    }

    #[test]
    fn does_not_try_too_many() {
        let (dag, lit) = product(11);
        let all = |byte| Choice::new(byte, ByteSet::ALL, None);
        assert_eq!(solve(&dag, &[lit], &[all(0), all(1)]), None);
    }
}
