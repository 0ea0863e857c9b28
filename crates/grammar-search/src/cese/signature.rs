//! What all runs of a symbolic string did, as one number, by which strings that do the same are
//! recognised.
//!
//! A run is its path condition, in which bytes are named by their hole and not by their place,
//! together with the branches that it took and how it ended. Two strings with the same runs, in any
//! order, cannot be told apart by the program.

use std::hash::{DefaultHasher, Hash, Hasher};

use grammar::symbolic::HoleAt;
use rustc_hash::FxHasher;
use search::{Outcome, TracedPath};
use trace::{Label, Op};

/// Sums do not depend on the order of the runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Signature {
    runs: u64,
    sum: u64,
    products: u64,
}

impl Signature {
    pub(crate) fn add(
        &mut self,
        path: &TracedPath,
        holes: &[HoleAt],
        (covered, outcome): (u64, Outcome),
    ) {
        let names = Names::of(path, holes);
        let mut hasher = FxHasher::default();
        (covered, outcome).hash(&mut hasher);
        for constraint in &path.condition.constraints {
            (constraint.step(), names.0[constraint.label as usize]).hash(&mut hasher);
        }
        let run = mixed(hasher.finish());
        self.runs += 1;
        self.sum = self.sum.wrapping_add(run);
        self.products = self.products.wrapping_add(run.wrapping_mul(run | 1));
    }
}

/// Hashes of the expressions that the constraints of a run are made of, with bytes named by hole.
struct Names(Vec<u64>);

impl Names {
    fn of(path: &TracedPath, holes: &[HoleAt]) -> Names {
        let (dag, used) = (&path.trace.dag, used(path));
        let mut tables: Vec<Option<u64>> = vec![None; dag.tables().len()];
        let mut names: Vec<u64> = vec![0; dag.len()];
        for label in (1..dag.len() as Label).filter(|label| used[*label as usize]) {
            let node = dag.node(label);
            let [a, b, c] = dag.operands(label).map(|operand| names[operand as usize]);
            let own = match dag.op(label) {
                Op::Input => hole_of(node.a as usize, holes),
                Op::Const => node.const_value(),
                Op::Read => *tables[node.b as usize]
                    .get_or_insert_with(|| fast_hash(&dag.table(node.b).bytes)),
                _ => 0,
            };
            names[label as usize] = fast_hash(&(node.op, node.bits, node.aux, own, a, b, c));
        }
        Names(names)
    }
}

/// The expressions that a name of a constraint depends on. Most others are cells of tables.
fn used(path: &TracedPath) -> Vec<bool> {
    let mut used = vec![false; path.trace.dag.len()];
    path.condition.constraints.iter().for_each(|constraint| used[constraint.label as usize] = true);
    for label in (1..path.trace.dag.len()).rev() {
        if used[label] {
            path.trace
                .dag
                .operands(label as Label)
                .iter()
                .for_each(|operand| used[*operand as usize] = true);
        }
    }
    used
}

/// The number of the hole byte that a byte is; bytes outside of holes are in no expression.
fn hole_of(byte: usize, holes: &[HoleAt]) -> u64 {
    let mut before = 0;
    for hole in holes {
        if (hole.start..hole.start + hole.len).contains(&byte) {
            return (before + byte - hole.start + 1) as u64;
        }
        before += hole.len;
    }
    0
}

fn fast_hash(value: &impl Hash) -> u64 {
    let mut hasher = FxHasher::default();
    value.hash(&mut hasher);
    hasher.finish()
}

fn mixed(hash: u64) -> u64 {
    (hash ^ hash >> 32).wrapping_mul(0xD6E8_FEB8_6659_FD93)
}

pub(crate) fn hash_of(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}
