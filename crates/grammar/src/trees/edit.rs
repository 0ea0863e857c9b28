//! Changing trees: a new tree with one subtree replaced. The text of the result is its lexemes
//! only; spelling puts back what has to stand between them.

use crate::lexing::spell::Speller;
use crate::model::core::{Core, NtId};
use crate::trees::tree::{Label, Node, Tree};

/// The nonterminal at a node; `None` for a token.
pub fn nonterminal(core: &Core, tree: &Tree, node: usize) -> Option<NtId> {
    match tree.nodes[node].label {
        Label::Prod(p) => Some(core.lhs(p)),
        Label::Token(_) => None,
    }
}

/// `tree` with the subtree at `at` replaced by the subtree of `other` at `from`.
pub fn replace(tree: &Tree, at: usize, other: &Tree, from: usize) -> Tree {
    let (old, new) = (tree.nodes[at].size as usize, other.nodes[from].size as usize);
    let mut out = Tree::default();
    copy(tree, 0, at, &mut out);
    copy(other, from, from + new, &mut out);
    copy(tree, at + old, tree.nodes.len(), &mut out);
    for i in 0..at {
        // Ancestors span the replaced node.
        if i + tree.nodes[i].size as usize > at {
            out.nodes[i].size = (out.nodes[i].size as usize - old + new) as u32;
        }
    }
    out.set_spans();
    out
}

/// `tree` with the lexeme of a token replaced.
pub fn replace_lexeme(tree: &Tree, at: usize, lexeme: &[u8]) -> Tree {
    let mut out = Tree::default();
    copy(tree, 0, at, &mut out);
    let start = out.text.len() as u32;
    out.text.extend_from_slice(lexeme);
    out.nodes.push(Node { start, end: out.text.len() as u32, ..tree.nodes[at] });
    copy(tree, at + 1, tree.nodes.len(), &mut out);
    out.set_spans();
    out
}

fn copy(tree: &Tree, from: usize, to: usize, out: &mut Tree) {
    for i in from..to {
        let mut node = tree.nodes[i];
        if let Label::Token(_) = node.label {
            let start = out.text.len() as u32;
            out.text.extend_from_slice(tree.lexeme(i));
            (node.start, node.end) = (start, out.text.len() as u32);
        }
        out.nodes.push(node);
    }
}

/// The subtree at a node as a tree.
pub fn subtree(tree: &Tree, at: usize) -> Tree {
    let mut out = Tree::default();
    copy(tree, at, at + tree.nodes[at].size as usize, &mut out);
    out.set_spans();
    out
}

/// The text of a tree.
pub fn spell(tree: &Tree, speller: &mut Speller) -> Vec<u8> {
    let token = |n: usize| match tree.nodes[n].label {
        Label::Token(t) => Some((t, tree.lexeme(n))),
        Label::Prod(_) => None,
    };
    speller.spell((0..tree.nodes.len()).filter_map(token))
}
