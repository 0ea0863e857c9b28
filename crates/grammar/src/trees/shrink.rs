//! `shrink`: the smallest input that is still interesting, on the tree first and on bytes last.
//!
//! Candidates are tested in batches, side by side, and the first interesting one of a batch is
//! taken, so the result does not depend on how many are tested at once. No text is tested twice.

use crate::automata::automaton::Automaton;
use crate::automata::dfa::DfaError;
use crate::lexing::spell::Speller;
use crate::model::analysis::{Combine, INFINITE, cheapest_productions};
use crate::model::core::{Core, NtId, ProdId};
use crate::model::language::Language;
use crate::trees::edit;
use crate::trees::tree::{Label, Node, Tree};
use rustc_hash::FxHashMap;
use std::hash::{BuildHasher, Hasher};

/// Says whether texts are still interesting.
pub trait Interesting {
    /// How many texts may be asked about at once.
    fn at_once(&self) -> usize;

    fn hold(&mut self, texts: &[&[u8]]) -> Vec<bool>;

    /// Whether no more is to be asked.
    fn is_over(&self) -> bool {
        false
    }
}

/// Asks about one text after the other, until there is no answer.
pub struct OneByOne<F> {
    holds: F,
    is_over: bool,
}

impl<F: FnMut(&[u8]) -> Option<bool>> OneByOne<F> {
    pub fn new(holds: F) -> OneByOne<F> {
        OneByOne { holds, is_over: false }
    }

    fn ask(&mut self, text: &[u8]) -> bool {
        let answer = if self.is_over { None } else { (self.holds)(text) };
        self.is_over = answer.is_none();
        answer.unwrap_or(false)
    }
}

impl<F: FnMut(&[u8]) -> Option<bool>> Interesting for OneByOne<F> {
    fn at_once(&self) -> usize {
        1
    }

    fn hold(&mut self, texts: &[&[u8]]) -> Vec<bool> {
        texts.iter().map(|text| self.ask(text)).collect()
    }

    fn is_over(&self) -> bool {
        self.is_over
    }
}

/// Asks about several texts side by side, each in a thread.
pub struct SideBySide<F> {
    pub holds: F,
    pub jobs: usize,
}

impl<F: Fn(&[u8]) -> bool + Sync> Interesting for SideBySide<F> {
    fn at_once(&self) -> usize {
        self.jobs.max(1)
    }

    fn hold(&mut self, texts: &[&[u8]]) -> Vec<bool> {
        let holds = &self.holds;
        std::thread::scope(|scope| {
            let threads: Vec<_> =
                texts.iter().map(|text| scope.spawn(move || holds(text))).collect();
            threads.into_iter().map(|thread| thread.join().unwrap_or(false)).collect()
        })
    }
}

pub struct Shrinker<'a> {
    interesting: &'a mut dyn Interesting,
    jobs: usize,
    known: FxHashMap<u64, bool>,
    pub tests: usize,
}

impl<'a> Shrinker<'a> {
    pub fn new(interesting: &'a mut dyn Interesting) -> Shrinker<'a> {
        let jobs = interesting.at_once();
        Shrinker { interesting, jobs, known: FxHashMap::default(), tests: 0 }
    }

    /// Shrinks a text; with its tree if it is a sentence.
    pub fn shrink(
        &mut self,
        language: &Language,
        text: &[u8],
        tree: Option<Tree>,
    ) -> Result<Vec<u8>, DfaError> {
        let mut best = text.to_vec();
        if let Some(tree) = tree {
            let mut context = Context::new(language)?;
            let spelled = edit::spell(&tree, &mut context.speller);
            // Without the original white space it may be something else.
            if self.test(&spelled) {
                best = self.shrink_tree(tree, &mut context);
            }
        }
        Ok(self.shrink_bytes(best))
    }

    fn shrink_tree(&mut self, mut tree: Tree, context: &mut Context) -> Vec<u8> {
        loop {
            let before = (tree.nodes.len(), tree.text.len());
            tree = self.pass(tree, context, Context::smaller_trees);
            tree = self.pass(tree, context, Context::smaller_lexemes);
            if (tree.nodes.len(), tree.text.len()) == before || self.interesting.is_over() {
                return edit::spell(&tree, &mut context.speller);
            }
        }
    }

    /// Goes through the nodes, from the root, and takes every step that stays interesting.
    fn pass<'l>(
        &mut self,
        mut tree: Tree,
        context: &mut Context<'l>,
        steps: fn(&Context<'l>, &Tree, usize) -> Vec<Tree>,
    ) -> Tree {
        let mut node = 0;
        while node < tree.nodes.len() && !self.interesting.is_over() {
            let candidates = steps(context, &tree, node);
            let texts: Vec<Vec<u8>> =
                candidates.iter().map(|t| edit::spell(t, &mut context.speller)).collect();
            match self.first(&texts) {
                Some(i) => tree = candidates.into_iter().nth(i).expect("an index of the batch"),
                None => node += 1,
            }
        }
        tree
    }

    /// Delta debugging on bytes.
    fn shrink_bytes(&mut self, mut text: Vec<u8>) -> Vec<u8> {
        let mut chunk = text.len().div_ceil(2).max(1);
        loop {
            let mut at = 0;
            let mut removed = false;
            while at < text.len() && !self.interesting.is_over() {
                let batch: Vec<Vec<u8>> = (0..self.jobs)
                    .map(|i| at + i * chunk)
                    .filter(|from| *from < text.len())
                    .map(|from| [&text[..from], &text[(from + chunk).min(text.len())..]].concat())
                    .collect();
                let count = batch.len();
                match self.first(&batch) {
                    Some(i) => {
                        text = batch.into_iter().nth(i).expect("an index of the batch");
                        at += i * chunk;
                        removed = true;
                    }
                    None => at += count * chunk,
                }
            }
            if chunk == 1 && !removed || self.interesting.is_over() {
                return text;
            }
            chunk = if removed && chunk == 1 { 1 } else { chunk.div_ceil(2).max(1) };
        }
    }

    fn test(&mut self, text: &[u8]) -> bool {
        self.first(&[text.to_vec()]).is_some()
    }

    /// The first interesting text of a batch.
    fn first(&mut self, texts: &[Vec<u8>]) -> Option<usize> {
        for (c, batch) in texts.chunks(self.jobs).enumerate() {
            let answers = self.answers(batch);
            if let Some(i) = answers.iter().position(|a| *a) {
                return Some(c * self.jobs + i);
            }
        }
        None
    }

    fn answers(&mut self, batch: &[Vec<u8>]) -> Vec<bool> {
        let keys: Vec<u64> = batch.iter().map(|t| key(t)).collect();
        let new: Vec<usize> =
            (0..batch.len()).filter(|i| !self.known.contains_key(&keys[*i])).collect();
        let texts: Vec<&[u8]> = new.iter().map(|i| &*batch[*i]).collect();
        let results = self.interesting.hold(&texts);
        self.tests += new.len();
        for (i, result) in new.iter().zip(results) {
            self.known.insert(keys[*i], result);
        }
        keys.iter().map(|k| self.known[k]).collect()
    }
}

fn key(text: &[u8]) -> u64 {
    let mut hasher = rustc_hash::FxBuildHasher.build_hasher();
    hasher.write(text);
    hasher.write_usize(text.len());
    hasher.finish()
}

/// What smaller trees are made from.
struct Context<'l> {
    core: &'l Core,
    lexemes: &'l [Automaton],
    speller: Speller,
    best: Vec<Option<ProdId>>,
}

impl<'l> Context<'l> {
    fn new(language: &'l Language) -> Result<Context<'l>, DfaError> {
        let cost: Vec<u64> =
            language.lexemes.iter().map(|a| a.min_len().map_or(INFINITE, u64::from)).collect();
        let best = cheapest_productions(&language.core.productions, &cost, Combine::Sum);
        Ok(Context {
            core: &language.core,
            lexemes: &language.lexemes,
            speller: Speller::new(&language.grammar)?,
            best: best.into_iter().map(|(_, p)| p).collect(),
        })
    }

    /// A node replaced by a smallest derivation, or by a descendant with the same nonterminal,
    /// smallest first.
    fn smaller_trees(&self, tree: &Tree, node: usize) -> Vec<Tree> {
        let Some(nt) = edit::nonterminal(self.core, tree, node) else { return Vec::new() };
        let size = tree.nodes[node].size as usize;
        let mut candidates = Vec::new();
        let smallest = self.smallest(nt);
        let (width, height) = (tree.lexeme_len(node), smallest.text.len());
        if (smallest.nodes.len(), height) < (size, width) || height < width {
            candidates.push(edit::replace(tree, node, &smallest, 0));
        }
        let below =
            (node + 1..node + size).filter(|n| edit::nonterminal(self.core, tree, *n) == Some(nt));
        let mut below: Vec<usize> = below.collect();
        below.sort_by_key(|n| tree.nodes[*n].size);
        candidates.extend(below.into_iter().take(8).map(|n| edit::replace(tree, node, tree, n)));
        candidates
    }

    fn smallest(&self, nt: NtId) -> Tree {
        let mut tree = Tree::default();
        // (symbol to expand) or (node to close)
        let mut stack: Vec<Result<crate::model::core::Sym, usize>> =
            vec![Ok(crate::model::core::Sym::nonterminal(nt))];
        while let Some(task) = stack.pop() {
            match task {
                Err(node) => tree.nodes[node].size = (tree.nodes.len() - node) as u32,
                Ok(sym) => match sym.as_terminal() {
                    Some(t) => {
                        let start = tree.text.len() as u32;
                        tree.text.extend(self.lexemes[t.index()].shortest().unwrap_or_default());
                        let end = tree.text.len() as u32;
                        tree.nodes.push(Node { label: Label::Token(t), size: 1, start, end });
                    }
                    None => {
                        let nt = sym.as_nonterminal().expect("not a terminal");
                        let Some(p) = self.best[nt.index()] else { continue };
                        stack.push(Err(tree.nodes.len()));
                        tree.nodes.push(Node { label: Label::Prod(p), size: 1, start: 0, end: 0 });
                        stack.extend(self.core.rhs(p).iter().rev().map(|s| Ok(*s)));
                    }
                },
            }
        }
        tree.set_spans();
        tree
    }

    fn smaller_lexemes(&self, tree: &Tree, node: usize) -> Vec<Tree> {
        let Label::Token(t) = tree.nodes[node].label else { return Vec::new() };
        let lexeme = tree.lexeme(node);
        let automaton = &self.lexemes[t.index()];
        let mut candidates = Vec::new();
        if let Some(short) = automaton.shortest().filter(|s| s.len() < lexeme.len()) {
            candidates.push(edit::replace_lexeme(tree, node, &short));
        }
        let len = lexeme.len();
        for chunk in [len / 2, len / 4, 1].into_iter().filter(|c| *c > 0) {
            for from in (0..len).step_by(chunk).take(16) {
                let shorter = [&lexeme[..from], &lexeme[(from + chunk).min(len)..]].concat();
                if automaton.matches(&shorter) {
                    candidates.push(edit::replace_lexeme(tree, node, &shorter));
                }
            }
        }
        candidates
    }
}

impl Tree {
    /// Bytes of the lexemes below a node.
    fn lexeme_len(&self, node: usize) -> usize {
        let end = node + self.nodes[node].size as usize;
        let token = |n: &Node| matches!(n.label, Label::Token(_));
        self.nodes[node..end].iter().filter(|n| token(n)).map(|n| (n.end - n.start) as usize).sum()
    }
}
