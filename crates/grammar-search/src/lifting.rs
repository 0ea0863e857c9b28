//! The sentences of a grammar, for whitebox search.

use grammar::TerminalId;
use grammar::core::NtId;
use grammar::dfa::DfaError;
use grammar::language::Language;
use grammar::lift::{Lifted, Lifter, TokenChange};
use grammar::mutate::Mutator;
use grammar::parse::Parser;
use grammar::rng::Rng;
use grammar::tree::{Label, Tree};
use path::Word;
use search::{Change, Scope, Sentences};
use solver::Restrictions;

use crate::dictionary::{Dictionary, Spelt};
use crate::words::Words;

/// Lifts constraints on bytes to tokens of the grammar.
pub struct Lifting<'l> {
    pub(crate) lifter: Lifter<'l>,
    parser: Parser,
    mutator: Mutator<'l>,
    /// Of sentences that did something new.
    trees: Vec<Tree>,
    words: Words<'l>,
    dictionary: Dictionary<'l>,
    start: NtId,
}

/// Sizes of fresh sentences, as powers of two.
const MAGNITUDES: u32 = 9;
/// Bytes of subtrees that are generated anew.
const FRESH: usize = 32;
/// Of the fresh sentences, one in so many has no part of others: what was kept leads further in most programs, but not everywhere.
const RANDOM_ONE_IN: u32 = 3;
/// Mutations one after the other, at most.
const ROUNDS: u32 = 4;
/// One in so many names of a random sentence is one that means something; in one that has parts of others, fewer: what others
/// did needs their names.
const ENRICHED: u32 = 2;
const ENRICHED_PARTS: u32 = 8;

impl<'l> Lifting<'l> {
    pub fn new(language: &'l Language) -> Result<Lifting<'l>, DfaError> {
        let (parser, mutator) = (Parser::new(&language.grammar)?, Mutator::new(language, FRESH)?);
        let (lifter, words) = (Lifter::new(language)?, Words::new(language));
        let (dictionary, start) = (Dictionary::new(&language.lexemes), language.core.start);
        Ok(Lifting { lifter, parser, mutator, trees: Vec::new(), words, dictionary, start })
    }

    /// A tree with parts of those kept.
    fn mutated(&mut self, rng: &mut Rng) -> Tree {
        let mut tree = self.trees[rng.index(self.trees.len())].clone();
        for _ in 0..=rng.below(ROUNDS) {
            tree = self.mutator.mutate(&tree, &self.trees, rng);
        }
        tree
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

impl Sentences for Lifting<'_> {
    fn contains(&mut self, input: &[u8]) -> bool {
        self.lifter.is_sentence(input)
    }

    fn fresh(&mut self, random: u64) -> Option<Vec<u8>> {
        let mut rng = Rng::new(random);
        if !self.trees.is_empty() && rng.below(RANDOM_ONE_IN) != 0 {
            let tree = self.mutated(&mut rng);
            return Some(self.enriched(&tree, ENRICHED_PARTS, &mut rng));
        }
        let size = 2 << rng.below(MAGNITUDES);
        let tree = self.mutator.sampler().tree(self.start, &mut rng, size);
        Some(self.enriched(&tree, ENRICHED, &mut rng))
    }

    fn learn_words(&mut self, input: &[u8], words: &[Word]) {
        // What is no sentence tells words all the same.
        let lifted = self.lifter.lift(input);
        self.dictionary.learn(input, lifted.as_deref().map_or(&[], Lifted::tokens), words);
    }

    fn ended_well(&mut self, input: &[u8]) {
        if let Some(lifted) = self.lifter.lift(input) {
            self.dictionary.serve(input, lifted.tokens());
        }
    }

    fn keep(&mut self, input: &[u8]) {
        self.trees.extend(self.parser.parse(input));
    }

    fn keys(&mut self, input: &[u8]) -> Vec<u64> {
        self.lifter.keys(input)
    }

    fn changes(&mut self, input: &[u8]) -> Vec<Change> {
        let changes = self.lifter.changes(input).into_iter();
        changes
            .map(|change| Change { key: change.key, token: change.token, choice: change.terminal.0 })
            .collect()
    }

    fn change(&mut self, input: &[u8], change: Change) -> Option<Vec<u8>> {
        let terminal = TerminalId(change.choice);
        self.lifter.change(input, TokenChange { key: change.key, token: change.token, terminal })
    }

    fn token_at(&mut self, input: &[u8], byte: usize) -> Option<usize> {
        self.lifter.token_at(input, byte)
    }

    fn neighbours(&mut self, input: &[u8], token: usize) -> Vec<Vec<u8>> {
        self.lifter.neighbours(input, token).into_iter().map(|neighbour| neighbour.text).collect()
    }

    fn restrictions(&mut self, input: &[u8], scope: Scope) -> Option<Restrictions<'_>> {
        let lifted = self.lifter.lift(input)?;
        match scope {
            Scope::Lexemes => Some(self.words.lexemes(input, lifted.tokens())),
            Scope::Sentence => self.words.sentence(input),
        }
    }

    fn with_proposal(&mut self, input: &[u8], proposal: &[u8]) -> Vec<Vec<u8>> {
        self.lifter.with_proposal(input, proposal)
    }
}
