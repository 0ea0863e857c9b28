//! A space in another order: strings of the same size by the sum of the weights of their tokens,
//! lightest first.
//!
//! Node (x, w) of the new space has the strings of node x whose tokens weigh w in all. Sequences
//! are taken apart from left to right: the first part weighs v and the rest w - v, so that an
//! option of n parts needs no more than n · w² new ones.

use crate::counting::space::{Kind, NodeId, Space};
use crate::model::TerminalId;
use rustc_hash::FxHashMap;

/// The strings of `space`; each root becomes one for each weight, in increasing order.
pub fn lightest_first(space: &Space, weight: impl Fn(TerminalId) -> usize) -> Space {
    let weights = Weights::new(space, &weight);
    let mut builder = Builder {
        old: space,
        weights,
        new: Space::default(),
        known: FxHashMap::default(),
        todo: Vec::new(),
    };
    for (&root, &size) in space.roots.iter().zip(&space.sizes) {
        for at in 0..builder.weights.of_node[root.0 as usize].len() {
            let weight = builder.weights.of_node[root.0 as usize][at];
            let new = builder.part(Part::Node(root), weight);
            builder.drain();
            builder.new.finish(new);
            builder.new.push_root(new, size);
        }
    }
    builder.new
}

/// Something that has strings in the old space.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Part {
    Node(NodeId),
    /// The parts of an option from the given one (counted from the start of all parts) on.
    Rest {
        from: u32,
        to: u32,
    },
}

/// The weights that occur, in increasing order.
struct Weights {
    of_node: Vec<Vec<usize>>,
    /// Of the rest of each option from each of its parts on; by number of the part.
    of_rest: FxHashMap<(u32, u32), Vec<usize>>,
}

impl Weights {
    fn new(space: &Space, weight: &impl Fn(TerminalId) -> usize) -> Weights {
        let mut weights =
            Weights { of_node: vec![Vec::new(); space.kinds.len()], of_rest: FxHashMap::default() };
        for node in children_first(space) {
            weights.of_node[node.0 as usize] = match space.kinds[node.0 as usize] {
                Kind::Bytes { .. } => vec![0],
                Kind::Mark(terminal) => vec![weight(terminal)],
                Kind::Choice { from, to } => {
                    let mut all: Vec<usize> =
                        (from..to).flat_map(|option| weights.option(space, option)).collect();
                    sort(&mut all);
                    all
                }
            };
        }
        weights
    }

    fn option(&mut self, space: &Space, option: u32) -> Vec<usize> {
        let (from, to) = space.options[option as usize];
        let mut rest = vec![0];
        for part in (from..to).rev() {
            let own = &self.of_node[space.parts[part as usize].0 as usize];
            let mut sums: Vec<usize> =
                own.iter().flat_map(|a| rest.iter().map(move |b| a + b)).collect();
            sort(&mut sums);
            rest = sums;
            self.of_rest.insert((part, to), rest.clone());
        }
        rest
    }

    fn of(&self, part: Part) -> &[usize] {
        match part {
            Part::Node(node) => &self.of_node[node.0 as usize],
            Part::Rest { from, to } if from == to => &[0],
            Part::Rest { from, to } => self.of_rest.get(&(from, to)).map_or(&[], |weights| weights),
        }
    }
}

fn sort(weights: &mut Vec<usize>) {
    weights.sort_unstable();
    weights.dedup();
}

fn children_first(space: &Space) -> Vec<NodeId> {
    let mut order = Vec::new();
    let mut state = vec![0u8; space.kinds.len()];
    let mut todo: Vec<NodeId> = space.roots.clone();
    while let Some(&node) = todo.last() {
        let seen = &mut state[node.0 as usize];
        *seen = seen.saturating_add(1);
        if *seen == 1
            && let Kind::Choice { from, to } = space.kinds[node.0 as usize]
        {
            (from..to).for_each(|option| todo.extend_from_slice(space.option(option)));
            continue;
        }
        if *seen <= 2 {
            order.push(node);
            *seen = 3;
        }
        todo.pop();
    }
    order
}

struct Builder<'s> {
    old: &'s Space,
    weights: Weights,
    new: Space,
    known: FxHashMap<(Part, usize), NodeId>,
    todo: Vec<(Part, usize, NodeId)>,
}

impl Builder<'_> {
    fn drain(&mut self) {
        while let Some((part, weight, node)) = self.todo.pop() {
            let options = match part {
                Part::Node(old) => self.options_of(old, weight),
                Part::Rest { from, to } => self.splits(from, to, weight),
            };
            self.new.set_options(node, &options);
        }
    }

    /// The node of the strings of `part` with that weight, of which there are some.
    fn part(&mut self, part: Part, weight: usize) -> NodeId {
        if let Some(&node) = self.known.get(&(part, weight)) {
            return node;
        }
        let leaf = match part {
            Part::Node(node) => match self.old.kinds[node.0 as usize] {
                Kind::Bytes { from, to } => {
                    Some(self.new.bytes(&self.old.pool[from as usize..to as usize]))
                }
                Kind::Mark(terminal) => Some(self.new.mark(terminal)),
                Kind::Choice { .. } => None,
            },
            Part::Rest { .. } => None,
        };
        let node = leaf.unwrap_or_else(|| {
            let node = self.new.reserve();
            self.todo.push((part, weight, node));
            node
        });
        self.known.insert((part, weight), node);
        node
    }

    fn options_of(&mut self, old: NodeId, weight: usize) -> Vec<Vec<NodeId>> {
        let Kind::Choice { from, to } = self.old.kinds[old.0 as usize] else { return Vec::new() };
        let mut options = Vec::new();
        for option in from..to {
            let (from, to) = self.old.options[option as usize];
            options.extend(self.splits(from, to, weight));
        }
        options
    }

    /// The ways to share a weight between the first part and the rest.
    fn splits(&mut self, from: u32, to: u32, weight: usize) -> Vec<Vec<NodeId>> {
        if from == to {
            return if weight == 0 { vec![Vec::new()] } else { Vec::new() };
        }
        let (first, rest) =
            (Part::Node(self.old.parts[from as usize]), Part::Rest { from: from + 1, to });
        let fits = |w: &usize| {
            weight.checked_sub(*w).is_some_and(|left| self.weights.of(rest).contains(&left))
        };
        let own: Vec<usize> = self.weights.of(first).iter().copied().filter(fits).collect();
        own.into_iter().map(|w| self.sequence(first, w, rest, weight - w)).collect()
    }

    fn sequence(&mut self, first: Part, own: usize, rest: Part, left: usize) -> Vec<NodeId> {
        let mut sequence = vec![self.part(first, own)];
        match rest {
            Part::Rest { from, to } if from == to => {}
            Part::Rest { from, to } if from + 1 == to => {
                sequence.push(self.part(Part::Node(self.old.parts[from as usize]), left));
            }
            _ => sequence.push(self.part(rest, left)),
        }
        sequence
    }
}
