//! Components that are too large for a slice. They only grow along a path, so that one attempt to
//! cut them out is enough.

use crate::components::{Components, Slot};

#[derive(Clone, Debug, Default)]
pub(crate) struct Oversize {
    /// Root and prefix of a component, and how many nodes were too few.
    seen: Vec<(Slot, u32, usize)>,
}

impl Oversize {
    /// A goal with these roots after `prefix` literals does not fit into `nodes` nodes.
    pub(crate) fn note(&mut self, roots: &[Slot], prefix: u32, nodes: usize) {
        // Of several, any may be to blame.
        if let [root] = roots {
            self.seen.push((*root, prefix, nodes));
        }
    }

    /// Whether a part of the goal's components was too large before.
    pub(crate) fn holds(
        &self,
        components: &Components,
        roots: &[Slot],
        prefix: u32,
        nodes: usize,
    ) -> bool {
        self.seen.iter().any(|&(root, before, allowed)| {
            before <= prefix && nodes <= allowed && roots.contains(&components.root(root, prefix))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expr::Support;

    #[test]
    fn a_component_stays_too_large_while_it_grows() {
        let mut components = Components::default();
        components.add(0, &Support::byte(1).union(&Support::byte(2)));
        components.add(1, &Support::byte(5));
        components.add(2, &Support::byte(2).union(&Support::byte(3)));
        let mut oversize = Oversize::default();
        let roots = |byte: u32, prefix: u32| [components.root(Slot::byte(byte), prefix)];
        oversize.note(&roots(1, 1), 1, 100);
        let holds =
            |byte, prefix, nodes| oversize.holds(&components, &roots(byte, prefix), prefix, nodes);
        assert!(holds(2, 1, 100) && holds(3, 3, 100) && holds(3, 3, 50));
        assert!(!holds(1, 0, 100), "before it grew");
        assert!(!holds(5, 3, 100), "another component");
        assert!(!holds(3, 3, 200), "more nodes are allowed");
    }
}
