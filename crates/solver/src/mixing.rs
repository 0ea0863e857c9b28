//! Slices that run through a hash: additions and exclusive ors of words, in turns. Nobody turns
//! them round, and trying costs whole time limits, so they get quick attempts only: most inputs
//! pass a condition on a hash that is on the way to something else. That a word was hashed before
//! is a condition of its own, which needs no formula of the hash.

use crate::query::Query;
use expr::{Dag, Op};

/// Sums and products, and exclusive ors, that a slice may have of each kind. A checksum has one
/// kind only, and a number in text has sums only; SipHash of one short word has 24 of each.
const MAX_MIXED: usize = 16;
/// Narrower words are characters.
const MIN_BITS: u32 = 32;

pub(crate) fn is_hashed(query: &Query) -> bool {
    let (mut sums, mut differences) = (0, 0);
    for label in 1..query.dag.len() as u32 {
        match query.dag.op(label) {
            Op::Add | Op::Sub | Op::Mul if mixes(query.dag, label) => sums += 1,
            Op::Xor if mixes(query.dag, label) => differences += 1,
            _ => {}
        }
    }
    sums.min(differences) > MAX_MIXED
}

/// Whether the node joins two words that depend on the input; a product does with one.
fn mixes(dag: &Dag, label: u32) -> bool {
    let [a, b, _] = dag.operands(label);
    let symbolic = |operand| dag.as_constant(operand).is_none();
    dag.bits(label) >= MIN_BITS && symbolic(a) && (symbolic(b) || dag.op(label) == Op::Mul)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::query::Lit;
    use trace::Label;

    fn word(dag: &mut Dag, byte: u32) -> Label {
        let byte = dag.input(byte);
        dag.make_unary(Op::ZExt, 32, byte)
    }

    fn is_hashed_after(rounds: u32, step: fn(&mut Dag, Label, Label) -> Label) -> bool {
        let mut dag = Dag::new();
        let start = word(&mut dag, 0);
        let hash = (1..=rounds).fold(start, |hash, byte| {
            let next = word(&mut dag, byte);
            step(&mut dag, hash, next)
        });
        let wanted = dag.constant(32, 0x1234_5678);
        let goal = dag.make_binary(Op::Eq, 1, hash, wanted);
        is_hashed(&Query::new(&dag, &[], Lit::new(goal, true), &[], 64))
    }

    #[test]
    fn hashes_are_told_from_numbers_and_checksums() {
        let hash: fn(&mut Dag, Label, Label) -> Label = |dag, hash, next| {
            let factor = dag.constant(32, 0x0100_0193);
            let mixed = dag.make_binary(Op::Xor, 32, hash, next);
            dag.make_binary(Op::Mul, 32, mixed, factor)
        };
        let number: fn(&mut Dag, Label, Label) -> Label = |dag, sum, next| {
            let ten = dag.constant(32, 10);
            let scaled = dag.make_binary(Op::Mul, 32, sum, ten);
            dag.make_binary(Op::Add, 32, scaled, next)
        };
        let checksum: fn(&mut Dag, Label, Label) -> Label =
            |dag, sum, next| dag.make_binary(Op::Xor, 32, sum, next);
        assert!(is_hashed_after(40, hash));
        assert!(!is_hashed_after(8, hash));
        assert!(!is_hashed_after(40, number));
        assert!(!is_hashed_after(40, checksum));
    }
}
