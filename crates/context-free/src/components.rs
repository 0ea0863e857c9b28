//! Strongly connected components, by Tarjan's algorithm without recursion.

use crate::ids::NtId;

const NONE: u32 = u32::MAX;

/// The component of each node. They are numbered so that an edge never leads to a higher number.
pub fn components(edges: &[Vec<NtId>]) -> Vec<u32> {
    let mut tarjan = Tarjan::new(edges);
    for root in 0..edges.len() {
        if tarjan.order[root] == NONE {
            tarjan.explore(root);
        }
    }
    tarjan.component
}

struct Tarjan<'e> {
    edges: &'e [Vec<NtId>],
    /// When each node was met.
    order: Vec<u32>,
    /// The earliest node of its component that a node is known to reach.
    low: Vec<u32>,
    component: Vec<u32>,
    /// Nodes without a component yet.
    stack: Vec<usize>,
    met: u32,
    found: u32,
}

impl<'e> Tarjan<'e> {
    fn new(edges: &'e [Vec<NtId>]) -> Tarjan<'e> {
        let none = vec![NONE; edges.len()];
        let (order, low, component) = (none.clone(), none.clone(), none);
        Tarjan { edges, order, low, component, stack: Vec::new(), met: 0, found: 0 }
    }

    fn explore(&mut self, root: usize) {
        self.meet(root);
        // Nodes on the way, each with the number of edges that were followed.
        let mut way = vec![(root, 0)];
        while let Some((node, next)) = way.pop() {
            if let Some(to) = self.edges[node].get(next) {
                way.push((node, next + 1));
                if self.follow(node, to.index()) {
                    way.push((to.index(), 0));
                }
            } else {
                self.leave(node);
                if let Some((parent, _)) = way.last() {
                    self.low[*parent] = self.low[*parent].min(self.low[node]);
                }
            }
        }
    }

    fn meet(&mut self, node: usize) {
        (self.order[node], self.low[node]) = (self.met, self.met);
        self.met += 1;
        self.stack.push(node);
    }

    /// True if the edge leads to a new node.
    fn follow(&mut self, node: usize, to: usize) -> bool {
        if self.order[to] == NONE {
            self.meet(to);
            return true;
        }
        if self.component[to] == NONE {
            self.low[node] = self.low[node].min(self.order[to]);
        }
        false
    }

    /// The node that was met first takes its component off the stack.
    fn leave(&mut self, node: usize) {
        if self.low[node] != self.order[node] {
            return;
        }
        while let Some(member) = self.stack.pop() {
            self.component[member] = self.found;
            if member == node {
                break;
            }
        }
        self.found += 1;
    }
}
