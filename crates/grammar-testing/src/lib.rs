//! Random small grammars, and slow, obvious answers about them.
//!
//! Tests of several crates use it as a dev-dependency; nothing else may depend on it.

use grammar::core::{Core, Sym};
use grammar::model::{Alternative, Expr, Grammar, Rule, RuleId, Terminal, TerminalId};
use grammar::tree::{Label, Tree};
use grammar::{Pattern, language::Language};
use proptest::prelude::*;
use std::collections::BTreeMap;

pub const RULES: usize = 3;

/// Alternatives of rules; a symbol below `RULES` is a rule, the others are terminals of `letters`.
pub type Spec = Vec<Vec<Vec<usize>>>;

pub fn spec() -> impl Strategy<Value = Spec> {
    let symbol = prop_oneof![2 => 0..RULES, 3 => RULES..RULES + 3];
    let alternative = prop::collection::vec(symbol, 0..4);
    prop::collection::vec(prop::collection::vec(alternative, 1..4), RULES)
}

/// Terminals: `a`, `b`, and one that overlaps with them and has two lengths.
pub fn letters() -> [&'static str; 3] {
    ["a", "b", "[ab]b?"]
}

pub fn grammar(spec: &Spec) -> Grammar {
    let mut grammar = Grammar::new("random");
    for (i, text) in letters().iter().enumerate() {
        grammar.terminals.push(Terminal::new(format!("T{i}"), Pattern::parse(text).unwrap()));
    }
    for (i, alternatives) in spec.iter().enumerate() {
        let symbol = |s: &usize| match s.checked_sub(RULES) {
            Some(t) => Expr::Terminal(TerminalId::from(t)),
            None => Expr::Rule(RuleId::from(*s)),
        };
        let body = |a: &Vec<usize>| Alternative::new(Expr::seq(a.iter().map(symbol).collect()));
        grammar.rules.push(Rule {
            name: format!("r{i}"),
            alternatives: alternatives.iter().map(body).collect(),
        });
    }
    grammar
}

/// How often each string is derived; more than `MANY` counts as infinitely often.
pub type Derivations = BTreeMap<Vec<u8>, u64>;
pub const MANY: u64 = 1 << 40;

pub struct Oracle {
    /// By height: derivations of the start up to that height.
    pub by_height: Vec<Derivations>,
    /// Strings whose number of derivations still grows: there are infinitely many.
    pub growing: Vec<Vec<u8>>,
}

impl Oracle {
    pub fn derivations(&self) -> &Derivations {
        self.by_height.last().unwrap()
    }

    pub fn is_infinite(&self, text: &[u8]) -> bool {
        self.growing.iter().any(|t| t == text)
    }
}

fn lexemes(t: usize) -> Derivations {
    let all: &[&[u8]] = match t {
        0 => &[b"a"],
        1 => &[b"b"],
        _ => &[b"a", b"b", b"ab", b"bb"],
    };
    all.iter().map(|l| (l.to_vec(), 1)).collect()
}

/// All derivations of strings up to `max` bytes, height by height, until nothing new comes.
pub fn oracle(spec: &Spec, max: usize) -> Oracle {
    // No derivation without a cycle is higher than this.
    let limit = (max + 2) * (RULES + 1) + 2;
    let mut rules: Vec<Derivations> = vec![Derivations::new(); RULES];
    let mut by_height = vec![Derivations::new()];
    let mut before = Derivations::new();
    for _ in 0..limit {
        before = rules[0].clone();
        rules = spec.iter().map(|alternatives| expand(alternatives, &rules, max)).collect();
        by_height.push(rules[0].clone());
    }
    // What a cycle adds may come back after a few steps only: look at several heights.
    let mut growing: Vec<Vec<u8>> = Vec::new();
    for _ in 0..=RULES + 1 {
        let last = rules[0].clone();
        rules = spec.iter().map(|alternatives| expand(alternatives, &rules, max)).collect();
        growing.extend(
            rules[0]
                .iter()
                .filter(|(t, n)| last.get(*t) != Some(n) || **n >= MANY)
                .map(|(t, _)| t.clone()),
        );
    }
    growing.extend(
        by_height
            .last()
            .unwrap()
            .iter()
            .filter(|(t, n)| before.get(*t) != Some(n))
            .map(|(t, _)| t.clone()),
    );
    growing.sort();
    growing.dedup();
    Oracle { by_height, growing }
}

fn expand(alternatives: &[Vec<usize>], rules: &[Derivations], max: usize) -> Derivations {
    let mut all = Derivations::new();
    for alternative in alternatives {
        let mut partial: Derivations = [(Vec::new(), 1)].into();
        for symbol in alternative {
            let part = symbol.checked_sub(RULES).map_or_else(|| rules[*symbol].clone(), lexemes);
            let mut next = Derivations::new();
            for (left, n) in &partial {
                for (right, m) in part.iter().filter(|(r, _)| left.len() + r.len() <= max) {
                    let entry = next.entry([&left[..], right].concat()).or_default();
                    *entry = entry.saturating_add(n.saturating_mul(*m)).min(MANY);
                }
            }
            partial = next;
        }
        for (text, n) in partial {
            let entry = all.entry(text).or_default();
            *entry = entry.saturating_add(n).min(MANY);
        }
    }
    all
}

/// All strings over `ab` up to a length.
pub fn all_strings(max: usize) -> Vec<Vec<u8>> {
    let mut all = vec![Vec::new()];
    let mut last = vec![Vec::new()];
    for _ in 0..max {
        last = last
            .iter()
            .flat_map(|w: &Vec<u8>| [b'a', b'b'].map(|c| [&w[..], &[c]].concat()))
            .collect();
        all.extend(last.iter().cloned());
    }
    all
}

/// Checks that a tree is a derivation of its text.
pub fn assert_tree(core: &Core, language: &Language, tree: &Tree) {
    let Label::Prod(root) = tree.nodes[0].label else { panic!("the root is a token") };
    assert_eq!(core.lhs(root), core.start);
    assert_eq!(tree.nodes[0].size as usize, tree.nodes.len());
    for node in 0..tree.nodes.len() {
        match tree.nodes[node].label {
            Label::Token(t) => assert!(language.lexemes[t.index()].matches(tree.lexeme(node))),
            Label::Prod(p) => {
                let children: Vec<Sym> = tree
                    .children(node)
                    .map(|c| match tree.nodes[c].label {
                        Label::Token(t) => Sym::terminal(t),
                        Label::Prod(q) => Sym::nonterminal(core.lhs(q)),
                    })
                    .collect();
                assert_eq!(children, core.rhs(p));
            }
        }
    }
}

/// The lexemes of a tree in order.
pub fn text_of(tree: &Tree) -> Vec<u8> {
    tree.tokens().flat_map(|t| tree.lexeme(t).to_vec()).collect()
}
