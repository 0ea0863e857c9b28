//! Which literals of a path hang together: two do if they share an input byte, or each shares one
//! with a third.
//!
//! A union-find structure that remembers when each union was made (at which literal), so that it
//! answers for every prefix of the path. The length of the input is a variable like the bytes.

use expr::Support;

/// Place of a variable: the length, or an input byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Slot(u32);

impl Slot {
    pub(crate) const LENGTH: Slot = Slot(0);

    pub(crate) fn byte(index: u32) -> Slot {
        Slot(index + 1)
    }

    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }

    pub(crate) fn is_in(self, support: &Support) -> bool {
        if self == Slot::LENGTH { support.uses_len() } else { support.contains(self.0 - 1) }
    }
}

#[derive(Clone, Debug)]
struct Entry {
    parent: Slot,
    /// The literal that joined this variable to its parent.
    joined_at: u32,
    size: u32,
    /// Literals that came while this was a root.
    literals: Vec<u32>,
    children: Vec<(Slot, u32)>,
    /// All variables from this one to `run_end` are in one component now; a hint that is followed
    /// transitively.
    run_end: u32,
}

/// Components of all prefixes of a path.
#[derive(Clone, Debug, Default)]
pub(crate) struct Components {
    entries: Vec<Entry>,
}

const NOW: u32 = u32::MAX;

impl Components {
    /// Adds literal number `literal`; numbers increase from call to call.
    pub(crate) fn add(&mut self, literal: u32, support: &Support) {
        let mut representative = None;
        if support.uses_len() {
            self.grow(Slot::LENGTH);
            representative = Some(Slot::LENGTH);
        }
        for &(first, last) in support.intervals() {
            self.grow(Slot::byte(last));
            self.join_run(Slot::byte(first), Slot::byte(last), literal);
            if let Some(other) = representative {
                self.join(other, Slot::byte(first), literal);
            }
            representative = Some(Slot::byte(first));
        }
        if let Some(variable) = representative {
            let root = self.root(variable, NOW);
            self.entries[root.index()].literals.push(literal);
        }
    }

    fn grow(&mut self, variable: Slot) {
        for index in self.entries.len() as u32..=variable.0 {
            self.entries.push(Entry {
                parent: Slot(index),
                joined_at: NOW,
                size: 1,
                literals: Vec::new(),
                children: Vec::new(),
                run_end: index,
            });
        }
    }

    fn join_run(&mut self, first: Slot, last: Slot, literal: u32) {
        let mut at = self.end_of_run(first.0);
        while at < last.0 {
            self.join(Slot(at), Slot(at + 1), literal);
            self.entries[at as usize].run_end = at + 1;
            at = self.end_of_run(at);
        }
    }

    fn end_of_run(&mut self, start: u32) -> u32 {
        let mut end = start;
        while self.entries[end as usize].run_end != end {
            end = self.entries[end as usize].run_end;
        }
        let mut at = start;
        while at != end {
            at = std::mem::replace(&mut self.entries[at as usize].run_end, end);
        }
        end
    }

    fn join(&mut self, a: Slot, b: Slot, literal: u32) {
        let (a, b) = (self.root(a, NOW), self.root(b, NOW));
        if a == b {
            return;
        }
        let a_is_larger = self.entries[a.index()].size >= self.entries[b.index()].size;
        let (large, small) = if a_is_larger { (a, b) } else { (b, a) };
        self.entries[large.index()].size += self.entries[small.index()].size;
        self.entries[large.index()].children.push((small, literal));
        self.entries[small.index()].parent = large;
        self.entries[small.index()].joined_at = literal;
    }

    /// Representative of the component of `variable` after the first `prefix` literals.
    pub(crate) fn root(&self, mut variable: Slot, prefix: u32) -> Slot {
        while let Some(entry) = self.entries.get(variable.index()) {
            if entry.joined_at >= prefix {
                break;
            }
            variable = entry.parent;
        }
        variable
    }

    /// True if `variable` is a component of its own after the first `prefix` literals.
    pub(crate) fn is_alone(&self, variable: Slot, prefix: u32) -> bool {
        self.root(variable, prefix) == variable
            && self.entries.get(variable.index()).is_none_or(|entry| {
                entry.children.first().is_none_or(|&(_, joined_at)| joined_at >= prefix)
            })
    }

    /// Adds to `literals` those of the component with this root.
    pub(crate) fn collect(&self, root: Slot, prefix: u32, literals: &mut Vec<u32>) {
        let mut stack = vec![root];
        while let Some(variable) = stack.pop() {
            let Some(entry) = self.entries.get(variable.index()) else { continue };
            let own = entry.literals.partition_point(|&literal| literal < prefix);
            literals.extend_from_slice(&entry.literals[..own]);
            let children = entry.children.partition_point(|&(_, joined_at)| joined_at < prefix);
            stack.extend(entry.children[..children].iter().map(|&(child, _)| child));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn support(bytes: &[u32], length: bool) -> Support {
        let empty = if length { Support::length() } else { Support::default() };
        bytes.iter().fold(empty, |all, &byte| all.union(&Support::byte(byte)))
    }

    /// Literals reached from `start` by sharing variables, the slow way.
    fn oracle(path: &[Support], start: &Support) -> Vec<u32> {
        let mut reached = start.clone();
        let mut literals = Vec::new();
        loop {
            let before = literals.len();
            for (number, support) in path.iter().enumerate() {
                if !literals.contains(&(number as u32)) && support.intersects(&reached) {
                    reached = reached.union(support);
                    literals.push(number as u32);
                }
            }
            if literals.len() == before {
                literals.sort_unstable();
                return literals;
            }
        }
    }

    proptest! {
        #[test]
        fn every_prefix_is_answered(
            path in prop::collection::vec((prop::collection::vec(0u32..12, 0..4), prop::bool::weighted(0.1)), 0..20),
            goal in 0u32..12,
        ) {
            let path: Vec<Support> = path.iter().map(|(bytes, length)| support(bytes, *length)).collect();
            let mut components = Components::default();
            for (number, support) in path.iter().enumerate() {
                components.add(number as u32, support);
            }
            for prefix in 0..=path.len() {
                let variable = Slot::byte(goal);
                let mut literals = Vec::new();
                components.collect(components.root(variable, prefix as u32), prefix as u32, &mut literals);
                literals.sort_unstable();
                let expected = oracle(&path[..prefix], &Support::byte(goal));
                let alone = expected.iter().all(|&literal| path[literal as usize] == Support::byte(goal));
                prop_assert_eq!(components.is_alone(variable, prefix as u32), alone);
                prop_assert_eq!(literals, expected);
            }
        }
    }
}
