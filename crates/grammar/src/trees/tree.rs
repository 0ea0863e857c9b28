//! Derivation trees as flat arrays in preorder. No pointers, no recursion: a subtree is a slice.

use crate::model::core::{Core, ProdId};
use crate::model::{Grammar, TerminalId};
use std::fmt::Write;

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Label {
    Prod(ProdId),
    Token(TerminalId),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Node {
    pub label: Label,
    /// Nodes of the subtree, this one included.
    pub size: u32,
    /// Bytes of `Tree::text` that it spans, from its first to its last token.
    pub start: u32,
    pub end: u32,
}

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Tree {
    pub nodes: Vec<Node>,
    /// The input, or the lexemes one after the other.
    pub text: Vec<u8>,
}

impl Tree {
    pub fn children(&self, node: usize) -> Children<'_> {
        let size = self.nodes[node].size as usize;
        Children { tree: self, at: node + 1, end: node + size }
    }

    pub fn lexeme(&self, node: usize) -> &[u8] {
        let node = &self.nodes[node];
        &self.text[node.start as usize..node.end as usize]
    }

    /// Tokens in order, as node numbers.
    pub fn tokens(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.nodes.len()).filter(|n| matches!(self.nodes[*n].label, Label::Token(_)))
    }

    /// Depth of the deepest node; a production of terminals has height 1.
    pub fn height(&self) -> usize {
        let mut open: Vec<usize> = Vec::new();
        let mut highest = 0;
        for (i, node) in self.nodes.iter().enumerate() {
            while open.last().is_some_and(|end| *end <= i) {
                open.pop();
            }
            if let Label::Prod(_) = node.label {
                open.push(i + node.size as usize);
                highest = highest.max(open.len());
            }
        }
        highest
    }

    /// Sets the spans of inner nodes from those of the tokens.
    pub fn set_spans(&mut self) {
        let mut last = self.text.len() as u32;
        let mut spans: Vec<(u32, u32)> = vec![(0, 0); self.nodes.len()];
        for i in (0..self.nodes.len()).rev() {
            let node = self.nodes[i];
            spans[i] = match node.label {
                Label::Token(_) => (node.start, node.end),
                Label::Prod(_) => {
                    let mut kids = self.children(i).map(|c| spans[c]).filter(|s| s.0 < s.1);
                    let first = kids.next();
                    let end = kids.last().or(first);
                    first.zip(end).map_or((last, last), |(a, b)| (a.0, b.1))
                }
            };
            last = spans[i].0;
        }
        for (node, span) in self.nodes.iter_mut().zip(spans) {
            (node.start, node.end) = span;
        }
    }

    /// One node a line, indented; nodes of EBNF operators are left out.
    pub fn render(&self, grammar: &Grammar, core: &Core) -> String {
        let mut out = String::new();
        let mut open: Vec<(usize, bool)> = Vec::new();
        for (i, node) in self.nodes.iter().enumerate() {
            while open.last().is_some_and(|(end, _)| *end <= i) {
                open.pop();
            }
            let depth = open.iter().filter(|(_, shown)| *shown).count();
            let indent = "  ".repeat(depth);
            match node.label {
                Label::Token(t) => {
                    let lexeme = String::from_utf8_lossy(self.lexeme(i)).escape_debug().to_string();
                    let _ = writeln!(out, "{indent}{} \"{lexeme}\"", grammar.terminal(t).name);
                }
                Label::Prod(p) => {
                    let rule = core.nt(core.lhs(p)).rule;
                    if let Some(rule) = rule {
                        let alternative = core.prod(p).alt + 1;
                        let _ = writeln!(out, "{indent}{} #{alternative}", grammar.rule(rule).name);
                    }
                    open.push((i + node.size as usize, rule.is_some()));
                }
            }
        }
        out
    }
}

pub struct Children<'t> {
    tree: &'t Tree,
    at: usize,
    end: usize,
}

impl Iterator for Children<'_> {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        let child = self.at;
        if child >= self.end {
            return None;
        }
        self.at += self.tree.nodes[child].size as usize;
        Some(child)
    }
}

/// Nodes in the reverse of preorder: children from right to left, then their parent. Reversed in
/// place they are a tree, so nothing else is kept of them.
pub(crate) struct Reversed {
    pub nodes: Vec<Node>,
    /// Where the leftmost token so far begins: the place of what is empty.
    pub leftmost: u32,
}

impl Reversed {
    pub fn new(end: u32) -> Reversed {
        Reversed { nodes: Vec::new(), leftmost: end }
    }

    pub fn token(&mut self, terminal: TerminalId, start: u32, end: u32) {
        self.nodes.push(Node { label: Label::Token(terminal), size: 1, start, end });
        if start < end {
            self.leftmost = start;
        }
    }

    pub fn close(&mut self, prod: ProdId, after: u32, end: u32) {
        let size = self.nodes.len() as u32 - after + 1;
        let (start, end) = (self.leftmost, end.max(self.leftmost));
        self.nodes.push(Node { label: Label::Prod(prod), size, start, end });
    }

    pub fn into_tree(mut self, text: &[u8]) -> Tree {
        self.nodes.reverse();
        self.nodes.shrink_to_fit();
        Tree { nodes: self.nodes, text: text.to_vec() }
    }
}
