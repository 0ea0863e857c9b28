//! Reads from tables: a balanced tree of comparisons of the offset. Z3's arrays are no match for
//! it: a table of 5000 bytes as an array takes it more than 20 s, as a tree less than one.

use crate::term::constant;
use expr::{Dag, Label, Op, TableData};
use z3::ast::BV;

/// Tables with more different values in a row than this are not translated.
const MAX_LEAVES: usize = 1 << 15;

/// A table whose symbolic bytes are translated already.
pub(crate) struct Cells<'a> {
    pub table: &'a TableData,
    pub byte: &'a dyn Fn(Label) -> BV,
}

impl Cells<'_> {
    /// Little-endian read of `count` bytes at `offset`; `None` if the table is too large.
    pub(crate) fn read(
        &self,
        dag: &Dag,
        offset_label: Label,
        offset: &BV,
        count: u32,
    ) -> Option<BV> {
        let leaves = self.leaves(stride(dag, offset_label, 4), count);
        (leaves.len() <= MAX_LEAVES).then(|| tree(&leaves, offset))
    }

    fn cell(&self, at: u64) -> BV {
        match self.table.label(at) {
            0 => constant(8, u128::from(self.table.byte(at))),
            label => (self.byte)(label),
        }
    }

    /// The values at the offsets that can occur, each with the first offset where it holds.
    fn leaves(&self, stride: Stride, count: u32) -> Vec<(u64, BV)> {
        let mut leaves: Vec<(u64, BV)> = Vec::new();
        let len = self.table.bytes.len() as u64;
        let first = stride.phase % stride.step;
        for start in (first..len).step_by(stride.step as usize) {
            let value = self.value(start, count);
            if leaves.last().is_none_or(|(_, last)| *last != value) {
                leaves.push((start, value));
            }
        }
        leaves.push((len, constant(8 * count, 0)));
        // A read that wraps around the address space sees nothing.
        leaves[0].0 = 0;
        leaves
    }

    fn value(&self, start: u64, count: u32) -> BV {
        if self.table.labels.is_none() {
            let bytes = (0..u64::from(count)).rev().map(|index| self.table.byte(start + index));
            return constant(8 * count, bytes.fold(0, |value, byte| value << 8 | u128::from(byte)));
        }
        let low = self.cell(start);
        (1..u64::from(count)).fold(low, |low, index| self.cell(start + index).concat(low))
    }
}

/// The offsets that can occur are `phase` plus multiples of `step`, a power of two.
#[derive(Clone, Copy)]
struct Stride {
    step: u64,
    phase: u64,
}

/// Sees through the scaling of an index and the addition of a constant.
fn stride(dag: &Dag, label: Label, depth: u32) -> Stride {
    let node = *dag.node(label);
    let any = Stride { step: 1, phase: 0 };
    match dag.op(label) {
        Op::Concat if dag.as_constant(node.b) == Some(0) && dag.bits(node.b) < 16 => {
            Stride { step: 1 << dag.bits(node.b), phase: 0 }
        }
        Op::ZExt | Op::SExt if depth > 0 => {
            // A sum may wrap at its own width, but not modulo a power of two.
            stride(dag, node.a, depth - 1)
        }
        Op::Add if depth > 0 => match dag.as_constant(node.b) {
            Some(c) => {
                let inner = stride(dag, node.a, depth - 1);
                Stride { phase: inner.phase.wrapping_add(c as u64) % inner.step, ..inner }
            }
            None => any,
        },
        _ => any,
    }
}

fn tree(leaves: &[(u64, BV)], offset: &BV) -> BV {
    match leaves {
        [] => constant(8, 0),
        [(_, value)] => value.clone(),
        _ => {
            let (low, high) = leaves.split_at(leaves.len() / 2);
            let in_low = offset.bvult(BV::from_u64(high[0].0, 64));
            in_low.ite(&tree(low, offset), &tree(high, offset))
        }
    }
}
