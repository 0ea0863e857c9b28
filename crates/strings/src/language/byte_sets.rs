//! Which bytes a language tells apart.

use rustc_hash::FxHashSet;

use super::{Language, Languages, Node};
use crate::bytes::ByteSet;

impl Languages {
    /// All sets of bytes that any of the given languages mentions.
    pub(crate) fn byte_sets(&self, roots: &[Language]) -> Vec<ByteSet> {
        let mut collector =
            ByteSets { languages: self, seen: Default::default(), sets: Vec::new() };
        for &root in roots {
            collector.visit(root);
        }
        collector.sets.sort_unstable();
        collector.sets.dedup();
        collector.sets
    }
}

/// Collects byte sets of expressions; each expression, grammar and automaton once.
struct ByteSets<'a> {
    languages: &'a Languages,
    seen: FxHashSet<Language>,
    sets: Vec<ByteSet>,
}

impl ByteSets<'_> {
    fn visit(&mut self, root: Language) {
        let mut open = vec![root];
        while let Some(language) = open.pop() {
            if !self.seen.insert(language) {
                continue;
            }
            match self.languages.node(language) {
                Node::Epsilon => {}
                Node::Bytes(set) => self.sets.push(*set),
                Node::Concat(a, b) => open.extend([*a, *b]),
                Node::Or(parts) | Node::And(parts) => open.extend(parts.iter()),
                Node::Not(inner) | Node::Star(inner) | Node::Repeat(inner, ..) => open.push(*inner),
                Node::Grammar(grammar, _) => {
                    self.sets.extend(self.languages.grammar(*grammar).byte_sets())
                }
                Node::Nfa(nfa, _) => {
                    self.sets.extend(self.languages.nfas[*nfa as usize].byte_sets())
                }
            }
        }
    }
}
