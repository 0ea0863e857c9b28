//! Trees of the sentences that did something new, and new sentences that are made of them.
//!
//! Strategies that take turns share them: what one has found, and which words the program knows,
//! serves all.

use std::cell::RefCell;
use std::hash::{BuildHasher, BuildHasherDefault};
use std::rc::Rc;

use fastrand::Rng;
use grammar::core::NtId;
use grammar::dfa::DfaError;
use grammar::language::Language;
use grammar::mutate::Mutator;
use grammar::parse::Parser;
use grammar::tree::{Label, Tree};
use rustc_hash::{FxHashSet, FxHasher};

use crate::dictionary::{Dictionary, Spelt};

/// A corpus that several strategies add to and take from.
pub type SharedCorpus<'l> = Rc<RefCell<TreeCorpus<'l>>>;

pub struct TreeCorpus<'l> {
    parser: Parser,
    mutator: Mutator<'l>,
    trees: Vec<Tree>,
    /// Hashes of the inputs whose trees are here.
    kept: FxHashSet<u64>,
    pub(crate) dictionary: Dictionary<'l>,
    start: NtId,
}

/// Bytes of subtrees that are generated anew.
const FRESH: usize = 32;
/// Mutations one after the other, at most.
const ROUNDS: u32 = 4;
/// One in so many names of a random sentence is one that means something; in one that has parts of
/// others, fewer: what others did needs their names.
const ENRICHED: u32 = 2;
const ENRICHED_PARTS: u32 = 8;

impl<'l> TreeCorpus<'l> {
    pub fn new(language: &'l Language) -> Result<TreeCorpus<'l>, DfaError> {
        Ok(TreeCorpus {
            parser: Parser::new(&language.grammar)?,
            mutator: Mutator::new(language, FRESH)?,
            trees: Vec::new(),
            kept: FxHashSet::default(),
            dictionary: Dictionary::new(&language.lexemes),
            start: language.core.start,
        })
    }

    /// A corpus to share.
    pub fn shared(language: &'l Language) -> Result<SharedCorpus<'l>, DfaError> {
        Ok(Rc::new(RefCell::new(TreeCorpus::new(language)?)))
    }

    /// Adds the trees of a sentence; what is none has none.
    pub(crate) fn keep(&mut self, input: &[u8]) {
        if self.kept.insert(BuildHasherDefault::<FxHasher>::default().hash_one(input)) {
            self.trees.extend(self.parser.parse(input));
        }
    }

    /// A sentence with parts of those kept, if there are any.
    pub(crate) fn mutated(&mut self, rng: &mut Rng) -> Option<Vec<u8>> {
        let mut tree = self.trees.get(rng.usize(..self.trees.len().max(1)))?.clone();
        for _ in 0..=rng.u32(..ROUNDS) {
            tree = self.mutator.mutate(&tree, &self.trees, rng);
        }
        Some(self.enriched(&tree, ENRICHED_PARTS, rng))
    }

    /// A random sentence of about so many bytes.
    pub(crate) fn random(&mut self, size: usize, rng: &mut Rng) -> Vec<u8> {
        let tree = self.mutator.sampler().tree(self.start, rng, size);
        self.enriched(&tree, ENRICHED, rng)
    }

    /// The text of a tree, some of its tokens spelt anew.
    fn enriched(&mut self, tree: &Tree, one_in: u32, rng: &mut Rng) -> Vec<u8> {
        let mut tokens = spelt(tree);
        self.dictionary.enrich(&mut tokens, one_in, rng);
        let tokens = tokens.iter().map(|(terminal, lexeme)| (*terminal, &lexeme[..]));
        self.mutator.sampler().speller().spell(tokens)
    }
}

fn spelt(tree: &Tree) -> Vec<Spelt> {
    let token = |node: usize| match tree.nodes[node].label {
        Label::Token(terminal) => Some((terminal, tree.lexeme(node).to_vec())),
        Label::Prod(_) => None,
    };
    (0..tree.nodes.len()).filter_map(token).collect()
}
