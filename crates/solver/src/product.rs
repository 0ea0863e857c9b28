//! Goals whose bytes have few values left: all of their combinations are tried.
//!
//! Conditions on one byte alone leave parsers and command processors a handful of values for each byte, so that the product of a few
//! bytes' domains is smaller than any other way to look at the conditions that tie them together. What such a condition takes from one byte is a
//! function of it; values of a byte for which all of these functions agree cannot be told apart, and one of them is tried. Only what lies
//! above the functions is computed. The answer is exact.

use crate::byte_set::ByteSet;
use crate::query::Lit;
use expr::{Dag, Label, Program, Registers, Values};
use rustc_hash::FxHashSet;

/// Combinations that are tried, and instructions that this may take.
const MOST_COMBINATIONS: usize = 1 << 14;
const MOST_INSTRUCTIONS: usize = 1 << 21;

/// A byte of the input, the values that it may have, those to try first first, and what conditions take from it.
pub(crate) struct Choice {
    byte: u32,
    values: Vec<u8>,
    functions: Vec<(Label, Values)>,
}

impl Choice {
    pub(crate) fn new(
        byte: u32,
        domain: ByteSet,
        current: Option<u8>,
        functions: Vec<(Label, Values)>,
    ) -> Choice {
        let mut seen = FxHashSet::default();
        let row = |value: &u8| functions.iter().map(|(_, of)| of[usize::from(*value)]).collect::<Vec<u64>>();
        let values = domain.preferred(current).filter(|value| seen.insert(row(value))).collect();
        Choice { byte, values, functions }
    }
}

/// Values that make all literals true, which depend on nothing but the choices' functions: `Some(None)` if there are none, `None` if
/// there are too many combinations.
pub(crate) fn solve(dag: &Dag, lits: &[Lit], choices: &[Choice]) -> Option<Option<Vec<(u32, u8)>>> {
    let combinations =
        choices.iter().try_fold(1usize, |product, choice| product.checked_mul(choice.values.len()))?;
    if combinations > MOST_COMBINATIONS {
        return None;
    }
    let roots: Vec<Label> = lits.iter().map(|lit| lit.label).collect();
    let parameters: Vec<Label> =
        choices.iter().flat_map(|choice| choice.functions.iter().map(|(label, _)| *label)).collect();
    let program = Program::compile(dag, &roots, &parameters)?;
    if combinations.checked_mul(program.len())? > MOST_INSTRUCTIONS {
        return None;
    }
    let mut registers = Registers::default();
    program.load(&mut registers);
    let found = (0..combinations).map(|number| combination(choices, number)).find(|values| {
        let functions = choices
            .iter()
            .zip(values)
            .flat_map(|(choice, value)| choice.functions.iter().map(|(_, of)| of[usize::from(*value)]));
        for (place, value) in functions.enumerate() {
            program.set(&mut registers, place, u128::from(value));
        }
        program.run(&mut registers);
        lits.iter().enumerate().all(|(root, lit)| (program.get(&registers, root) == 1) == lit.value)
    });
    Some(found.map(|values| choices.iter().map(|choice| choice.byte).zip(values).collect()))
}

/// The last choice changes fastest.
fn combination(choices: &[Choice], mut number: usize) -> Vec<u8> {
    let mut values: Vec<u8> = Vec::with_capacity(choices.len());
    for choice in choices.iter().rev() {
        values.push(choice.values[number % choice.values.len()]);
        number /= choice.values.len();
    }
    values.reverse();
    values
}

#[cfg(test)]
mod tests {
    use super::*;
    use expr::{Node, Op};

    /// a * b = `product`, for two bytes of an input.
    fn product(product: u64) -> (Dag, Lit) {
        let nodes = vec![Node::default(); 4];
        let mut dag = Dag::from_raw(nodes, vec![0; 4], Vec::new(), 2).expect("a Dag of two bytes");
        let label = dag.add(Node::binary(Op::Mul, 8, 1, 2));
        let constant = dag.add(Node::constant(8, product));
        let label = dag.add(Node::binary(Op::Eq, 1, label, constant));
        (dag, Lit::new(label, true))
    }

    fn choice(byte: u32, domain: ByteSet, current: Option<u8>) -> Choice {
        Choice::new(byte, domain, current, vec![(byte + 1, std::array::from_fn(|value| value as u64))])
    }

    fn digits(byte: u32, current: u8) -> Choice {
        choice(byte, (2..10).collect(), Some(current))
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
        let none = choice(1, ByteSet::EMPTY, None);
        assert_eq!(solve(&dag, &[lit], &[digits(0, 6), none]), Some(None));
    }

    #[test]
    fn values_that_no_function_tells_apart_are_one() {
        let parity = vec![(1, std::array::from_fn(|value| value as u64 & 1))];
        assert_eq!(Choice::new(0, ByteSet::ALL, Some(b'b'), parity).values, b"ba");
        assert_eq!(Choice::new(0, ByteSet::ALL, Some(b'x'), Vec::new()).values, b"x");
    }

    #[test]
    fn does_not_try_too_many() {
        let (dag, lit) = product(11);
        let all = |byte| choice(byte, ByteSet::ALL, None);
        assert_eq!(solve(&dag, &[lit], &[all(0), all(1)]), None);
    }
}
