//! The natural loops of a function: those that are entered at one block only. What a `goto` enters
//! elsewhere is none.

use crate::llvm::{self, Block, Value};
use std::collections::{HashMap, HashSet};

pub struct NaturalLoop {
    pub head: Block,
    /// Blocks from which control goes back to the head.
    pub latches: Vec<Block>,
    pub blocks: HashSet<Block>,
}

pub fn find(function: Value) -> Vec<NaturalLoop> {
    let flow = Flow::new(function);
    let dominators = flow.dominators();
    let mut loops: Vec<NaturalLoop> = Vec::new();
    for (from, successors) in flow.successors.iter().enumerate() {
        for &head in successors.iter().filter(|&&head| dominates(&dominators, head, from)) {
            let known = loops.iter().position(|known| known.head == flow.order[head]);
            let at = known.unwrap_or_else(|| {
                let (head, latches) = (flow.order[head], Vec::new());
                loops.push(NaturalLoop { head, latches, blocks: HashSet::from([head]) });
                loops.len() - 1
            });
            loops[at].latches.push(flow.order[from]);
            flow.add_body(&mut loops[at].blocks, from);
        }
    }
    loops
}

/// The blocks that can be reached, in reverse postorder, and the edges between them by number.
struct Flow {
    order: Vec<Block>,
    successors: Vec<Vec<usize>>,
    predecessors: Vec<Vec<usize>>,
}

impl Flow {
    fn new(function: Value) -> Flow {
        let order = reverse_postorder(llvm::entry_block(function));
        let numbers: HashMap<Block, usize> = order.iter().copied().zip(0..).collect();
        let successors: Vec<Vec<usize>> = order
            .iter()
            .map(|block| targets(*block).iter().map(|target| numbers[target]).collect())
            .collect();
        let mut predecessors = vec![Vec::new(); order.len()];
        for (from, to) in successors.iter().enumerate() {
            to.iter().for_each(|&to: &usize| predecessors[to].push(from));
        }
        Flow { order, successors, predecessors }
    }

    /// The immediate dominator of each block, which comes before it in the order; the entry's is
    /// itself (Cooper, Harvey, Kennedy).
    fn dominators(&self) -> Vec<usize> {
        let mut found: Vec<Option<usize>> = vec![None; self.order.len()];
        found[0] = Some(0);
        let mut is_stable = false;
        while !is_stable {
            is_stable = true;
            for block in 1..self.order.len() {
                let known =
                    self.predecessors[block].iter().copied().filter(|p| found[*p].is_some());
                let nearest = known.reduce(|a, b| common(&found, a, b));
                is_stable &= found[block] == nearest;
                found[block] = nearest;
            }
        }
        found.into_iter().map(|dominator| dominator.unwrap_or(0)).collect()
    }

    /// Adds what reaches `latch` without the blocks that are there.
    fn add_body(&self, blocks: &mut HashSet<Block>, latch: usize) {
        let mut open = vec![latch];
        while let Some(block) = open.pop() {
            if blocks.insert(self.order[block]) {
                open.extend(&self.predecessors[block]);
            }
        }
    }
}

fn targets(block: Block) -> Vec<Block> {
    llvm::terminator(block).map_or_else(Vec::new, llvm::successors)
}

/// Each block after those that lead to it, loops aside.
pub fn reverse_postorder(entry: Block) -> Vec<Block> {
    let mut seen = HashSet::from([entry]);
    let mut order = Vec::new();
    let mut stack = vec![(entry, targets(entry))];
    while let Some((block, open)) = stack.last_mut() {
        match open.pop() {
            Some(next) if seen.insert(next) => stack.push((next, targets(next))),
            Some(_) => {}
            None => {
                order.push(*block);
                stack.pop();
            }
        }
    }
    order.reverse();
    order
}

fn common(dominators: &[Option<usize>], mut a: usize, mut b: usize) -> usize {
    while a != b {
        let later = if a > b { &mut a } else { &mut b };
        *later = dominators[*later].unwrap_or(0);
    }
    a
}

fn dominates(dominators: &[usize], above: usize, mut below: usize) -> bool {
    while below > above {
        below = dominators[below];
    }
    below == above
}
