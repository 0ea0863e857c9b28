//! Random programs: decision trees over the bytes of the input.

use proptest::prelude::*;
use search::Outcome;

use crate::harness::CONSTANTS;
use crate::program::{Fake, Machine};

/// One step of a random program.
#[derive(Clone, Debug)]
pub enum Op {
    /// Look at the next byte; stop at the end of the input.
    Next,
    Equal(u8),
    Less(u8),
    /// Is the byte equal to the one before?
    Repeated,
    Switch,
    Exit,
}

/// A decision tree in an array: operation `i` goes on at `2i + 1` if false and `2i + 2` if true.
fn interpret(program: &[Op], machine: &mut Machine<'_>) -> Outcome {
    let (mut at, mut place) = (0, 0);
    let mut last = None;
    let mut byte = None;
    while let Some(op) = program.get(at) {
        let site = 2 + 2 * at as u32;
        let side = match (op, byte) {
            (Op::Exit, _) => return Outcome::Exit(at as i32),
            (Op::Next, _) | (_, None) => {
                last = byte.or(last);
                byte = machine.byte(place);
                place += 1;
                if byte.is_none() {
                    return Outcome::Exit(-1);
                }
                false
            }
            (Op::Equal(value), Some(byte)) => {
                let equal = machine.eq(byte, *value);
                machine.branch(site, equal)
            }
            (Op::Less(value), Some(byte)) => {
                let less = machine.less(byte, *value);
                machine.branch(site, less)
            }
            (Op::Repeated, Some(byte)) => {
                let same = machine.same(byte, last.unwrap_or(byte));
                machine.branch(site, same)
            }
            (Op::Switch, Some(byte)) => machine.switch(site + 1, byte) == 1,
        };
        at = 2 * at + 1 + usize::from(side);
    }
    Outcome::Exit(0)
}

pub fn program() -> impl Strategy<Value = Vec<Op>> {
    let byte = prop::sample::select(CONSTANTS.to_vec());
    let op = prop_oneof![
        4 => Just(Op::Next),
        3 => byte.clone().prop_map(Op::Equal),
        2 => byte.prop_map(Op::Less),
        1 => Just(Op::Repeated),
        2 => Just(Op::Switch),
        1 => Just(Op::Exit),
    ];
    prop::collection::vec(op, 1..64)
}

/// Site `2 + 2i` is a branch and site `3 + 2i` a switch, for operation `i`.
pub fn fake(program: &[Op]) -> Fake<'_> {
    let branch: &[u64] = &[];
    let switch: &[u64] = &[0, b'a' as u64, b'x' as u64];
    let sites: Vec<&[u64]> = program.iter().flat_map(|_| [branch, switch]).collect();
    Fake::new(&sites, |machine| interpret(program, machine))
}
