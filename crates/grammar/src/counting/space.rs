//! A finite set of strings, laid out as an acyclic graph of choices.
//!
//! Every enumeration is a walk through such a graph: derivations of a length or a height, and
//! distinct strings of a length, differ only in how the graph is made. A node is a set of bytes, or
//! a choice between sequences of nodes; it stands for as many strings as it counts, in a fixed
//! order (options in order, the last part changing fastest), so that the i-th string can be found
//! directly.

use crate::model::TerminalId;
use num_bigint::BigUint;

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct NodeId(pub u32);

#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// One of `Space::pool[from..to]`.
    Bytes { from: u32, to: u32 },
    /// Writes nothing; the token that begins here.
    Mark(TerminalId),
    /// One of `Space::options[from..to]`.
    Choice { from: u32, to: u32 },
}

#[derive(Clone, Default)]
pub struct Space {
    pub kinds: Vec<Kind>,
    pub counts: Vec<BigUint>,
    /// Bytes of every string of the node, where all have the same number.
    pub width: Vec<Option<u32>>,
    pub pool: Vec<u8>,
    /// Ranges of `parts`.
    pub options: Vec<(u32, u32)>,
    pub parts: Vec<NodeId>,
    /// Strings in order of size; the graphs of the sizes one after the other.
    pub roots: Vec<NodeId>,
    /// The size that each root stands for.
    pub sizes: Vec<usize>,
}

impl Space {
    pub fn bytes(&mut self, bytes: &[u8]) -> NodeId {
        let from = self.pool.len() as u32;
        self.pool.extend_from_slice(bytes);
        let kind = Kind::Bytes { from, to: self.pool.len() as u32 };
        self.push(kind, BigUint::from(bytes.len()), Some(1))
    }

    pub fn mark(&mut self, terminal: TerminalId) -> NodeId {
        self.push(Kind::Mark(terminal), BigUint::from(1u32), Some(0))
    }

    /// A node whose options come later, with `set_options`.
    pub fn reserve(&mut self) -> NodeId {
        self.push(Kind::Choice { from: 0, to: 0 }, BigUint::ZERO, None)
    }

    pub fn push_root(&mut self, root: NodeId, size: usize) {
        self.roots.push(root);
        self.sizes.push(size);
    }

    fn push(&mut self, kind: Kind, count: BigUint, width: Option<u32>) -> NodeId {
        let id = NodeId(self.kinds.len() as u32);
        self.kinds.push(kind);
        self.counts.push(count);
        self.width.push(width);
        id
    }

    pub fn set_options(&mut self, node: NodeId, options: &[Vec<NodeId>]) {
        let from = self.options.len() as u32;
        for option in options {
            let start = self.parts.len() as u32;
            self.parts.extend_from_slice(option);
            self.options.push((start, self.parts.len() as u32));
        }
        self.kinds[node.0 as usize] = Kind::Choice { from, to: self.options.len() as u32 };
    }

    pub fn option(&self, option: u32) -> &[NodeId] {
        let (from, to) = self.options[option as usize];
        &self.parts[from as usize..to as usize]
    }

    /// Counts and widths of all nodes below `root`, children first.
    pub fn finish(&mut self, root: NodeId) {
        let mut open = vec![false; self.kinds.len()];
        let mut todo = vec![root];
        while let Some(&node) = todo.last() {
            let i = node.0 as usize;
            let Kind::Choice { from, to } = self.kinds[i] else {
                todo.pop();
                continue;
            };
            if self.counts[i] != BigUint::ZERO {
                todo.pop();
                continue;
            }
            if !std::mem::replace(&mut open[i], true) {
                for option in from..to {
                    let (a, b) = self.options[option as usize];
                    todo.extend_from_slice(&self.parts[a as usize..b as usize]);
                }
                continue;
            }
            todo.pop();
            self.counts[i] = (from..to).map(|o| self.option_count(o)).sum();
            self.width[i] = self.common_width(from, to);
        }
    }

    pub fn option_count(&self, option: u32) -> BigUint {
        self.option(option).iter().fold(BigUint::from(1u32), |c, n| c * &self.counts[n.0 as usize])
    }

    fn common_width(&self, from: u32, to: u32) -> Option<u32> {
        let width =
            |o: u32| self.option(o).iter().map(|n| self.width[n.0 as usize]).sum::<Option<u32>>();
        let first = (from < to).then(|| width(from))??;
        (from..to).all(|o| width(o) == Some(first)).then_some(first)
    }

    pub fn count(&self, node: NodeId) -> &BigUint {
        &self.counts[node.0 as usize]
    }

    pub fn total(&self) -> BigUint {
        self.roots.iter().map(|r| self.count(*r)).sum()
    }
}
