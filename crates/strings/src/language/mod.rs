//! Languages as hash-consed expressions, and their derivatives.
//!
//! A language is a state of a lazily built deterministic automaton: `derivative` steps it by one
//! byte, `nullable` says whether it accepts. Intersection and complement cost nothing, a
//! context-free language is a leaf whose derivative is a step of its recognizer, and an automaton
//! is a leaf whose derivative is the next set of states. Constructors keep a normal form (sums and
//! intersections are sorted sets, neutral and absorbing elements vanish), so that a regular
//! expression has finitely many derivatives.

mod byte_sets;
mod derivative;
mod facts;

use rustc_hash::FxHashMap;

use crate::budget::{Budget, Stop};
use crate::bytes::ByteSet;
use crate::grammar::{Grammar, Nonterminal};
use crate::nfa::Nfa;
use crate::recognizer::{Recognizer, StateId};
use facts::Facts;

/// Index of a language.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Language(pub(crate) u32);

/// Index of a grammar.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct GrammarId(pub(crate) u32);

/// An upper bound of a length: none is infinite.
pub const UNBOUNDED: u64 = u64::MAX;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Node {
    Epsilon,
    Bytes(ByteSet),
    /// The first factor is no concatenation itself.
    Concat(Language, Language),
    /// Sorted; no sums inside; the empty sum is the empty language.
    Or(Box<[Language]>),
    And(Box<[Language]>),
    Not(Language),
    Star(Language),
    Repeat(Language, u64, u64),
    Grammar(GrammarId, StateId),
    Nfa(u32, Box<[u32]>),
}

/// All languages of a problem.
#[derive(Debug)]
pub struct Languages {
    nodes: Vec<Node>,
    facts: Vec<Facts>,
    known: FxHashMap<Node, Language>,
    derivatives: FxHashMap<(Language, u8), Language>,
    recognizers: Vec<Recognizer>,
    nfas: Vec<Nfa>,
    pub(crate) context_free_forms: FxHashMap<Language, Option<(GrammarId, Nonterminal)>>,
    /// Regular supersets of context-free leaves, and whether they are exact.
    pub(crate) approximations: FxHashMap<Language, Option<(Language, bool)>>,
    /// What derivatives may cost.
    budget: Budget,
    /// Why derivatives are no longer computed.
    stopped: Option<Stop>,
}

impl Languages {
    pub const EMPTY: Language = Language(0);
    pub const EPSILON: Language = Language(1);
    pub const ALL: Language = Language(2);
}

impl Default for Languages {
    fn default() -> Self {
        let mut languages = Languages {
            nodes: Vec::new(),
            facts: Vec::new(),
            known: FxHashMap::default(),
            derivatives: FxHashMap::default(),
            recognizers: Vec::new(),
            nfas: Vec::new(),
            context_free_forms: FxHashMap::default(),
            approximations: FxHashMap::default(),
            budget: Budget::default(),
            stopped: None,
        };
        languages.intern(Node::Or(Box::new([])));
        languages.intern(Node::Epsilon);
        languages.intern(Node::Not(Self::EMPTY));
        languages
    }
}

/// Building languages.
impl Languages {
    pub fn bytes(&mut self, set: ByteSet) -> Language {
        if set.is_empty() { Self::EMPTY } else { self.intern(Node::Bytes(set)) }
    }

    pub fn literal(&mut self, text: &[u8]) -> Language {
        text.iter().rev().fold(Self::EPSILON, |rest, &byte| {
            let first = self.bytes(ByteSet::single(byte));
            self.concat(first, rest)
        })
    }

    pub fn concat(&mut self, first: Language, second: Language) -> Language {
        if first == Self::EMPTY || second == Self::EMPTY {
            return Self::EMPTY;
        }
        if first == Self::EPSILON {
            return second;
        }
        if second == Self::EPSILON || (first == Self::ALL && second == Self::ALL) {
            return first;
        }
        let mut factors = Vec::new();
        let mut last = first;
        while let Node::Concat(a, b) = self.nodes[last.0 as usize] {
            factors.push(a);
            last = b;
        }
        let mut result = self.intern(Node::Concat(last, second));
        while let Some(factor) = factors.pop() {
            result = self.intern(Node::Concat(factor, result));
        }
        result
    }

    pub fn concat_all(
        &mut self,
        parts: impl IntoIterator<Item = Language, IntoIter: DoubleEndedIterator>,
    ) -> Language {
        parts.into_iter().rev().fold(Self::EPSILON, |rest, part| self.concat(part, rest))
    }

    pub fn or(&mut self, parts: impl IntoIterator<Item = Language>) -> Language {
        let mut all = Vec::new();
        let mut bytes = ByteSet::EMPTY;
        for part in parts {
            match &self.nodes[part.0 as usize] {
                Node::Or(inner) => all.extend_from_slice(inner),
                _ => all.push(part),
            }
        }
        all.retain(|part| match self.nodes[part.0 as usize] {
            Node::Bytes(set) => {
                bytes = bytes.union(set);
                false
            }
            _ => true,
        });
        if !bytes.is_empty() {
            all.push(self.bytes(bytes));
        }
        all.sort_unstable();
        all.dedup();
        if all.contains(&Self::ALL) {
            return Self::ALL;
        }
        if all.contains(&Self::EPSILON)
            && all.iter().any(|&part| part != Self::EPSILON && self.facts[part.0 as usize].nullable)
        {
            all.retain(|&part| part != Self::EPSILON);
        }
        if all.len() == 1 { all[0] } else { self.intern(Node::Or(all.into())) }
    }

    pub fn and(&mut self, parts: impl IntoIterator<Item = Language>) -> Language {
        let mut all = Vec::new();
        for part in parts {
            match &self.nodes[part.0 as usize] {
                Node::And(inner) => all.extend_from_slice(inner),
                _ => all.push(part),
            }
        }
        let mut bytes: Option<ByteSet> = None;
        all.retain(|part| match self.nodes[part.0 as usize] {
            Node::Bytes(set) => {
                bytes = Some(bytes.map_or(set, |known| known.intersection(set)));
                false
            }
            _ => *part != Self::ALL,
        });
        if let Some(bytes) = bytes {
            all.push(self.bytes(bytes));
        }
        all.sort_unstable();
        all.dedup();
        let shortest =
            all.iter().map(|part| self.facts[part.0 as usize].shortest).max().unwrap_or(0);
        let longest =
            all.iter().map(|part| self.facts[part.0 as usize].longest).min().unwrap_or(UNBOUNDED);
        if shortest > longest || all.contains(&Self::EMPTY) {
            return Self::EMPTY;
        }
        match all[..] {
            [] => Self::ALL,
            [one] => one,
            _ if all.contains(&Self::EPSILON) => self.only_epsilon(&all),
            _ => self.intern(Node::And(all.into())),
        }
    }

    /// The intersection of `parts`, one of which is the empty string.
    fn only_epsilon(&self, parts: &[Language]) -> Language {
        let all_nullable = parts.iter().all(|part| self.facts[part.0 as usize].nullable);
        if all_nullable { Self::EPSILON } else { Self::EMPTY }
    }

    pub fn not(&mut self, language: Language) -> Language {
        match self.nodes[language.0 as usize] {
            Node::Not(inner) => inner,
            Node::Concat(first, Self::ALL)
                if self.only_length(first).is_some_and(|length| length > 0) =>
            {
                let longest = self.only_length(first).unwrap_or(1) - 1;
                self.lengths(0, longest)
            }
            _ => self.intern(Node::Not(language)),
        }
    }

    /// The length of its words, if the language is all strings of one length.
    fn only_length(&self, language: Language) -> Option<u64> {
        let is_any = |language: Language| {
            matches!(self.nodes[language.0 as usize], Node::Bytes(ByteSet::FULL))
        };
        match self.nodes[language.0 as usize] {
            Node::Repeat(inner, least, most) if least == most && is_any(inner) => Some(least),
            _ => is_any(language).then_some(1),
        }
    }

    pub fn star(&mut self, language: Language) -> Language {
        match self.nodes[language.0 as usize] {
            Node::Star(_) | Node::Epsilon => language,
            Node::Bytes(ByteSet::FULL) => Self::ALL,
            _ if language == Self::EMPTY => Self::EPSILON,
            _ if language == Self::ALL => Self::ALL,
            _ => self.intern(Node::Star(language)),
        }
    }

    /// From `least` to `most` words of `language` in a row.
    pub fn repeat(&mut self, language: Language, least: u64, most: u64) -> Language {
        if least > most {
            return Self::EMPTY;
        }
        match (least, most) {
            (0, 0) => Self::EPSILON,
            (0, UNBOUNDED) => self.star(language),
            (1, 1) => language,
            (_, UNBOUNDED) => {
                let first = self.repeat(language, least, least);
                let rest = self.star(language);
                self.concat(first, rest)
            }
            _ if language == Self::EPSILON => language,
            _ if language == Self::EMPTY => {
                if least == 0 {
                    Self::EPSILON
                } else {
                    Self::EMPTY
                }
            }
            _ => self.intern(Node::Repeat(language, least, most)),
        }
    }

    /// All strings of the given lengths.
    pub fn lengths(&mut self, least: u64, most: u64) -> Language {
        let any = self.bytes(ByteSet::FULL);
        self.repeat(any, least, most)
    }

    /// All strings that contain a word of `language`.
    pub fn containing(&mut self, language: Language) -> Language {
        self.concat_all([Self::ALL, language, Self::ALL])
    }

    pub fn add_grammar(&mut self, grammar: Grammar) -> GrammarId {
        self.recognizers.push(Recognizer::new(grammar));
        GrammarId(self.recognizers.len() as u32 - 1)
    }

    pub fn context_free(&mut self, grammar: GrammarId, start: Nonterminal) -> Language {
        let recognizer = &mut self.recognizers[grammar.0 as usize];
        if !recognizer.is_productive(start) {
            return Self::EMPTY;
        }
        let state = recognizer.start(start);
        self.intern(Node::Grammar(grammar, state))
    }

    /// The language of a finite automaton, deterministic or not: for each state its moves. Moves to
    /// states that are not listed are dropped.
    pub fn automaton(
        &mut self,
        moves: Vec<Vec<(ByteSet, u32)>>,
        accepting: impl IntoIterator<Item = u32>,
        start: u32,
    ) -> Language {
        let exists = |state: &u32| (*state as usize) < moves.len();
        if !exists(&start) {
            return Self::EMPTY;
        }
        let accepting: Vec<u32> = accepting.into_iter().filter(exists).collect();
        let known =
            moves.iter().map(|out| out.iter().copied().filter(|(_, to)| exists(to)).collect());
        let nfa = Nfa::new(known.collect(), accepting.into_iter(), start);
        self.add_nfa(nfa)
    }

    pub(crate) fn add_nfa(&mut self, nfa: Nfa) -> Language {
        let start = nfa.start();
        self.nfas.push(nfa);
        self.nfa(self.nfas.len() as u32 - 1, start)
    }

    fn nfa(&mut self, nfa: u32, states: Vec<u32>) -> Language {
        if states.is_empty() { Self::EMPTY } else { self.intern(Node::Nfa(nfa, states.into())) }
    }

    fn intern(&mut self, node: Node) -> Language {
        if let Some(&language) = self.known.get(&node) {
            return language;
        }
        let facts = self.compute_facts(&node);
        let language = Language(self.nodes.len() as u32);
        self.nodes.push(node.clone());
        self.facts.push(facts);
        self.known.insert(node, language);
        language
    }
}

/// Asking about languages.
impl Languages {
    pub fn nullable(&self, language: Language) -> bool {
        self.facts[language.0 as usize].nullable
    }

    /// No word is shorter than this.
    pub fn shortest(&self, language: Language) -> u64 {
        self.facts[language.0 as usize].shortest
    }

    /// No word is longer than this.
    pub fn longest(&self, language: Language) -> u64 {
        self.facts[language.0 as usize].longest
    }

    /// Whether a context-free leaf stands in the expression.
    pub fn has_grammar(&self, language: Language) -> bool {
        self.facts[language.0 as usize].has_grammar
    }

    pub fn grammar(&self, id: GrammarId) -> &Grammar {
        self.recognizers[id.0 as usize].grammar()
    }

    pub(crate) fn recognizer(&self, id: GrammarId) -> &Recognizer {
        &self.recognizers[id.0 as usize]
    }

    pub(crate) fn node(&self, language: Language) -> &Node {
        &self.nodes[language.0 as usize]
    }

    /// How many languages were built: a measure of the memory in use.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }
}
