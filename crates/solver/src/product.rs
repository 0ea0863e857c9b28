//! Goals whose bytes have few values left: all of their combinations are tried.
//!
//! Conditions on one byte alone leave parsers and command processors a handful of values for each byte, so that the product of a few
//! bytes' domains is smaller than any other way to look at the conditions that tie them together. What such a condition takes from one byte is a
//! function of it; values of a byte for which all of these functions agree cannot be told apart, and one of them is tried. Only what lies
//! above the functions is computed. The answer is exact.

use crate::byte_set::ByteSet;
use crate::query::Lit;
use expr::{Dag, Label, Program, Registers, Values};
use rustc_hash::{FxHashMap, FxHashSet};

/// Combinations that the goal is tried on, and instructions that one question may take.
const MOST_COMBINATIONS: usize = 1 << 14;
const MOST_INSTRUCTIONS: usize = 1 << 21;

/// A byte of the input, the values that it may have, those to try first first, and what conditions take from it.
pub(crate) struct Choice {
    byte: u32,
    /// In groups of values that the goal does not tell apart; within a group the other conditions do.
    groups: Vec<Vec<u8>>,
    functions: Vec<Function>,
}

/// What conditions take from a byte: the value of an expression for each value of the byte.
pub(crate) struct Function {
    pub label: Label,
    pub values: Values,
    /// The goal takes it, too.
    pub of_goal: bool,
}

impl Choice {
    pub(crate) fn new(byte: u32, domain: ByteSet, current: Option<u8>, functions: Vec<Function>) -> Choice {
        let (mut seen, mut numbers) = (FxHashSet::default(), FxHashMap::default());
        let mut groups: Vec<Vec<u8>> = Vec::new();
        for value in domain.preferred(current) {
            let row = |goal_only: bool| -> Vec<u64> {
                let taken = functions.iter().filter(|function| function.of_goal || !goal_only);
                taken.map(|function| function.values[usize::from(value)]).collect()
            };
            if !seen.insert(row(false)) {
                continue;
            }
            let group = *numbers.entry(row(true)).or_insert(groups.len());
            match groups.get_mut(group) {
                Some(group) => group.push(value),
                None => groups.push(vec![value]),
            }
        }
        Choice { byte, groups, functions }
    }
}

/// Values that make the goal and all literals true, which depend on nothing but the choices' functions: `Some(None)` if there are none,
/// `None` if that takes too long to find out.
pub(crate) fn solve(
    dag: &Dag,
    goal: Lit,
    lits: &[Lit],
    choices: &[Choice],
) -> Option<Option<Vec<(u32, u8)>>> {
    let groups: Vec<usize> = choices.iter().map(|choice| choice.groups.len()).collect();
    let count = groups.iter().try_fold(1usize, |product, size| product.checked_mul(*size))?;
    if count > MOST_COMBINATIONS {
        return None;
    }
    let mut budget = MOST_INSTRUCTIONS;
    let goals = [goal];
    let mut goal = Test::new(dag, &goals, choices)?;
    let mut rest = Test::new(dag, lits, choices)?;
    for chosen in combinations(&groups) {
        let group = |(choice, number): (&Choice, &usize)| choice.groups[*number].clone();
        let members: Vec<Vec<u8>> = choices.iter().zip(&chosen).map(group).collect();
        let first: Vec<u8> = members.iter().map(|values| values[0]).collect();
        if !goal.holds(&first, choices, &mut budget)? {
            continue;
        }
        let sizes: Vec<usize> = members.iter().map(Vec::len).collect();
        for chosen in combinations(&sizes) {
            let values: Vec<u8> =
                members.iter().zip(&chosen).map(|(values, number)| values[*number]).collect();
            if rest.holds(&values, choices, &mut budget)? {
                return Some(Some(choices.iter().map(|choice| choice.byte).zip(values).collect()));
            }
        }
    }
    Some(None)
}

/// Literals, ready to be evaluated.
struct Test<'d, 'l> {
    lits: &'l [Lit],
    program: Program<'d>,
    registers: Registers,
}

impl<'d, 'l> Test<'d, 'l> {
    fn new(dag: &'d Dag, lits: &'l [Lit], choices: &[Choice]) -> Option<Test<'d, 'l>> {
        let roots: Vec<Label> = lits.iter().map(|lit| lit.label).collect();
        let functions = choices.iter().flat_map(|choice| &choice.functions);
        let parameters: Vec<Label> = functions.map(|function| function.label).collect();
        let program = Program::compile(dag, &roots, &parameters)?;
        let mut registers = Registers::default();
        program.load(&mut registers);
        Some(Test { lits, program, registers })
    }

    /// `None` once the budget is spent.
    fn holds(&mut self, values: &[u8], choices: &[Choice], budget: &mut usize) -> Option<bool> {
        *budget = budget.checked_sub(self.program.len() + 1)?;
        let taken = choices.iter().zip(values).flat_map(|(choice, value)| {
            choice.functions.iter().map(|function| function.values[usize::from(*value)])
        });
        for (place, value) in taken.enumerate() {
            self.program.set(&mut self.registers, place, u128::from(value));
        }
        self.program.run(&mut self.registers);
        let is_met = |(root, lit): (usize, &Lit)| (self.program.get(&self.registers, root) == 1) == lit.value;
        Some(self.lits.iter().enumerate().all(is_met))
    }
}

/// All ways to choose a number below each size; the last one changes fastest.
fn combinations(sizes: &[usize]) -> impl Iterator<Item = Vec<usize>> {
    let possible = sizes.iter().all(|size| *size > 0);
    let first = possible.then(|| vec![0; sizes.len()]);
    let sizes = sizes.to_vec();
    std::iter::successors(first, move |last| {
        let mut next = last.clone();
        let place = (0..next.len()).rev().find(|place| next[*place] + 1 < sizes[*place])?;
        next[place] += 1;
        next[place + 1..].fill(0);
        Some(next)
    })
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

    fn function(label: Label, of: impl Fn(u64) -> u64, of_goal: bool) -> Function {
        Function { label, values: std::array::from_fn(|value| of(value as u64)), of_goal }
    }

    fn choice(byte: u32, domain: ByteSet, current: Option<u8>) -> Choice {
        Choice::new(byte, domain, current, vec![function(byte + 1, |value| value, true)])
    }

    fn digits(byte: u32, current: u8) -> Choice {
        choice(byte, (2..10).collect(), Some(current))
    }

    #[test]
    fn finds_a_combination_near_the_current_one() {
        let (dag, lit) = product(24);
        assert_eq!(solve(&dag, lit, &[], &[digits(0, 6), digits(1, 7)]), Some(Some(vec![(0, 6), (1, 4)])));
        assert_eq!(
            solve(&dag, lit.negated(), &[], &[digits(0, 6), digits(1, 7)]),
            Some(Some(vec![(0, 6), (1, 7)]))
        );
    }

    #[test]
    fn says_that_there_is_none() {
        let (dag, lit) = product(11);
        assert_eq!(solve(&dag, lit, &[], &[digits(0, 6), digits(1, 7)]), Some(None));
        let none = choice(1, ByteSet::EMPTY, None);
        assert_eq!(solve(&dag, lit, &[], &[digits(0, 6), none]), Some(None));
    }

    #[test]
    fn values_that_no_function_tells_apart_are_one() {
        let parity = || function(1, |value| value & 1, true);
        let half = function(2, |value| u64::from(value > 127), false);
        let groups = |functions| Choice::new(0, ByteSet::ALL, Some(b'b'), functions).groups;
        assert_eq!(groups(vec![parity()]), [b"b", b"a"]);
        assert_eq!(groups(vec![parity(), half]), [[b'b', 128], [b'a', 129]]);
        assert_eq!(groups(Vec::new()), [b"b"]);
    }

    #[test]
    fn literals_choose_among_what_the_goal_leaves() {
        let (mut dag, lit) = product(24);
        let constant = dag.add(Node::constant(8, 5));
        let small = dag.add(Node::binary(Op::Ult, 1, 1, constant));
        let choices = || [digits(0, 6), digits(1, 7)];
        assert_eq!(solve(&dag, lit, &[Lit::new(small, true)], &choices()), Some(Some(vec![(0, 3), (1, 8)])));
        assert_eq!(solve(&dag, lit, &[lit.negated()], &choices()), Some(None));
    }

    #[test]
    fn does_not_try_too_many() {
        let (mut dag, mut lit) = product(11);
        for _ in 0..300 {
            lit.label = dag.add(Node::binary(Op::And, 1, lit.label, lit.label));
        }
        let all = |byte| choice(byte, (0..=255).filter(|value| value % 2 == 0).collect(), None);
        assert_eq!(solve(&dag, lit, &[], &[all(0), all(1)]), None);
    }
}
