//! `mutate`: small changes to trees. Every result is in the language.

use crate::automata::dfa::DfaError;
use crate::model::core::NtId;
use crate::model::language::Language;
use crate::sampling::sample::Sampler;
use crate::trees::edit;
use crate::trees::tree::{Label, Tree};
use fastrand::Rng;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mutation {
    /// A subtree is generated anew.
    Regenerate,
    /// A subtree is taken from another tree.
    Splice,
    /// A recursive part is nested into itself several times.
    Repeat,
    /// An element of a list is doubled.
    Duplicate,
    /// An element of a list is removed.
    Delete,
    /// A lexeme becomes another lexeme of its terminal.
    Lexeme,
}

impl Mutation {
    pub const ALL: [(&'static str, Mutation); 6] = [
        ("regenerate", Mutation::Regenerate),
        ("splice", Mutation::Splice),
        ("repeat", Mutation::Repeat),
        ("duplicate", Mutation::Duplicate),
        ("delete", Mutation::Delete),
        ("lexeme", Mutation::Lexeme),
    ];
}

pub struct Mutator<'l> {
    language: &'l Language,
    sampler: Sampler<'l>,
    /// Bytes of what is generated anew.
    pub size: usize,
}

/// Results with more nodes are not made.
const MAX_NODES: usize = 1 << 20;

impl<'l> Mutator<'l> {
    pub fn new(language: &'l Language, size: usize) -> Result<Mutator<'l>, DfaError> {
        Ok(Mutator { language, sampler: Sampler::new(language)?, size })
    }

    pub fn sampler(&mut self) -> &mut Sampler<'l> {
        &mut self.sampler
    }

    /// A mutant of `tree`, of a random kind that applies. `pool` is where splices come from.
    pub fn mutate(&mut self, tree: &Tree, pool: &[Tree], rng: &mut Rng) -> Tree {
        for _ in 0..20 {
            let (_, kind) = Mutation::ALL[rng.usize(..Mutation::ALL.len())];
            if let Some(mutant) = self.apply(kind, tree, pool, rng) {
                return mutant;
            }
        }
        self.apply(Mutation::Regenerate, tree, pool, rng).unwrap_or_else(|| tree.clone())
    }

    pub fn apply(
        &mut self,
        kind: Mutation,
        tree: &Tree,
        pool: &[Tree],
        rng: &mut Rng,
    ) -> Option<Tree> {
        match kind {
            Mutation::Regenerate => self.regenerate(tree, rng),
            Mutation::Splice => self.splice(tree, pool, rng),
            Mutation::Repeat => self.repeat(tree, rng),
            Mutation::Duplicate => self.duplicate(tree, rng),
            Mutation::Delete => self.delete(tree, rng),
            Mutation::Lexeme => self.lexeme(tree, rng),
        }
    }

    pub fn spell(&mut self, tree: &Tree) -> Vec<u8> {
        edit::spell(tree, self.sampler.speller())
    }

    fn nt(&self, tree: &Tree, node: usize) -> Option<NtId> {
        edit::nonterminal(&self.language.core, tree, node)
    }

    fn inner(&self, tree: &Tree, rng: &mut Rng) -> Option<usize> {
        let inner: Vec<usize> =
            (0..tree.nodes.len()).filter(|n| self.nt(tree, *n).is_some()).collect();
        (!inner.is_empty()).then(|| inner[rng.usize(..inner.len())])
    }

    fn regenerate(&mut self, tree: &Tree, rng: &mut Rng) -> Option<Tree> {
        let at = self.inner(tree, rng)?;
        let nt = self.nt(tree, at)?;
        let fresh = self.sampler.tree(nt, rng, self.size);
        Some(edit::replace(tree, at, &fresh, 0))
    }

    fn splice(&mut self, tree: &Tree, pool: &[Tree], rng: &mut Rng) -> Option<Tree> {
        let other = pool.get(rng.usize(..pool.len().max(1)))?;
        let at = self.inner(tree, rng)?;
        let nt = self.nt(tree, at);
        let fitting: Vec<usize> =
            (0..other.nodes.len()).filter(|n| self.nt(other, *n) == nt).collect();
        let from = *fitting.get(rng.usize(..fitting.len().max(1)))?;
        (tree.nodes.len() + other.nodes.len() < MAX_NODES)
            .then(|| edit::replace(tree, at, other, from))
    }

    fn repeat(&mut self, tree: &Tree, rng: &mut Rng) -> Option<Tree> {
        let (outer, inner) = self.recursive_pair(tree, rng)?;
        let context = edit::subtree(tree, outer);
        let mut nested = context.clone();
        for _ in 0..1 + rng.u32(..4) {
            let hole = inner - outer;
            nested = edit::replace(&context, hole, &nested, 0);
            if tree.nodes.len() + nested.nodes.len() > MAX_NODES {
                break;
            }
        }
        Some(edit::replace(tree, outer, &nested, 0))
    }

    /// A node and a node below it with the same nonterminal.
    fn recursive_pair(&self, tree: &Tree, rng: &mut Rng) -> Option<(usize, usize)> {
        let n = tree.nodes.len();
        let offset = rng.usize(..n.max(1));
        for i in 0..n {
            let outer = (i + offset) % n;
            let Some(nt) = self.nt(tree, outer) else { continue };
            let end = outer + tree.nodes[outer].size as usize;
            let below: Vec<usize> =
                (outer + 1..end).filter(|m| self.nt(tree, *m) == Some(nt)).collect();
            if !below.is_empty() {
                return Some((outer, below[rng.usize(..below.len())]));
            }
        }
        None
    }

    /// A random node of the form `L ::= L x`.
    fn list_node(&self, tree: &Tree, rng: &mut Rng) -> Option<usize> {
        let is_list = |n: &usize| {
            let Some(nt) = self.nt(tree, *n) else { return false };
            self.language.core.nt(nt).rule.is_none()
                && tree.children(*n).next().is_some_and(|c| self.nt(tree, c) == Some(nt))
        };
        let lists: Vec<usize> = (0..tree.nodes.len()).filter(is_list).collect();
        (!lists.is_empty()).then(|| lists[rng.usize(..lists.len())])
    }

    /// `L x` becomes `(L x) x`.
    fn duplicate(&mut self, tree: &Tree, rng: &mut Rng) -> Option<Tree> {
        let at = self.list_node(tree, rng)?;
        let front = tree.children(at).next()?;
        (tree.nodes.len() * 2 < MAX_NODES).then(|| edit::replace(tree, front, tree, at))
    }

    /// `L x` becomes `L`.
    fn delete(&mut self, tree: &Tree, rng: &mut Rng) -> Option<Tree> {
        let at = self.list_node(tree, rng)?;
        let front = tree.children(at).next()?;
        Some(edit::replace(tree, at, tree, front))
    }

    fn lexeme(&mut self, tree: &Tree, rng: &mut Rng) -> Option<Tree> {
        let open = |n: &usize| match tree.nodes[*n].label {
            Label::Token(t) => self.language.lexemes[t.index()].single().is_none(),
            Label::Prod(_) => false,
        };
        let tokens: Vec<usize> = (0..tree.nodes.len()).filter(open).collect();
        let at = *tokens.get(rng.usize(..tokens.len().max(1)))?;
        let Label::Token(t) = tree.nodes[at].label else { return None };
        let mut lexeme = Vec::new();
        self.sampler.lexeme(t, rng, 8, &mut lexeme);
        Some(edit::replace_lexeme(tree, at, &lexeme))
    }
}
