//! Expressions with grammars inside: as one grammar, or with the grammars replaced.

use rustc_hash::FxHashMap;

use crate::grammar::{Nonterminal, Repetition, Symbol};
use crate::language::{GrammarId, Language, Languages, Node, UNBOUNDED};

impl Languages {
    /// A grammar and start symbol for the language, if it is built from one grammar without
    /// intersection and complement.
    pub(crate) fn as_context_free(
        &mut self,
        language: Language,
    ) -> Option<(GrammarId, Nonterminal)> {
        if let Some(&known) = self.context_free_forms.get(&language) {
            return known;
        }
        let form = self.make_context_free(language);
        self.context_free_forms.insert(language, form);
        form
    }

    fn make_context_free(&mut self, language: Language) -> Option<(GrammarId, Nonterminal)> {
        if let Node::Grammar(grammar, state) = *self.node(language) {
            return Some((grammar, self.recognizer(grammar).goal(state)?));
        }
        let base = self.only_grammar(language)?;
        let grammar = self.grammar(base).clone();
        let mut embedding =
            Embedding { languages: self, base, grammar, done: FxHashMap::default() };
        let symbols = embedding.symbols(language)?;
        let mut grammar = embedding.grammar;
        let start = grammar.add_nonterminal();
        grammar.add_production(start, symbols);
        Some((self.add_grammar(grammar), start))
    }

    fn only_grammar(&self, language: Language) -> Option<GrammarId> {
        match self.node(language) {
            Node::Grammar(grammar, _) => Some(*grammar),
            Node::Concat(a, b) => self.only_grammar(*a).or_else(|| self.only_grammar(*b)),
            Node::Or(parts) | Node::And(parts) => {
                parts.iter().find_map(|&part| self.only_grammar(part))
            }
            Node::Not(inner) | Node::Star(inner) | Node::Repeat(inner, ..) => {
                self.only_grammar(*inner)
            }
            Node::Epsilon | Node::Bytes(_) | Node::Nfa(..) => None,
        }
    }

    /// The language with each context-free leaf replaced; `None` if one cannot be.
    pub(crate) fn map_grammars(
        &mut self,
        language: Language,
        replace: &mut impl FnMut(&mut Self, Language) -> Option<Language>,
    ) -> Option<Language> {
        if !self.has_grammar(language) {
            return Some(language);
        }
        Some(match self.node(language).clone() {
            Node::Grammar(..) => replace(self, language)?,
            Node::Concat(a, b) => {
                let (a, b) = (self.map_grammars(a, replace)?, self.map_grammars(b, replace)?);
                self.concat(a, b)
            }
            Node::Or(parts) => {
                let parts: Option<Vec<_>> =
                    parts.iter().map(|&part| self.map_grammars(part, replace)).collect();
                self.or(parts?)
            }
            Node::And(parts) => {
                let parts: Option<Vec<_>> =
                    parts.iter().map(|&part| self.map_grammars(part, replace)).collect();
                self.and(parts?)
            }
            Node::Not(inner) => {
                let inner = self.map_grammars(inner, replace)?;
                self.not(inner)
            }
            Node::Star(inner) => {
                let inner = self.map_grammars(inner, replace)?;
                self.star(inner)
            }
            Node::Repeat(inner, least, most) => {
                let inner = self.map_grammars(inner, replace)?;
                self.repeat(inner, least, most)
            }
            Node::Epsilon | Node::Bytes(_) | Node::Nfa(..) => language,
        })
    }
}

/// Repetitions with higher bounds are not written out.
const WRITTEN_OUT: u64 = 256;

struct Embedding<'l> {
    languages: &'l Languages,
    base: GrammarId,
    grammar: crate::grammar::Grammar,
    done: FxHashMap<Language, Vec<Symbol>>,
}

impl Embedding<'_> {
    fn symbols(&mut self, language: Language) -> Option<Vec<Symbol>> {
        if let Some(known) = self.done.get(&language) {
            return Some(known.clone());
        }
        let symbols = match self.languages.node(language).clone() {
            Node::Epsilon => vec![],
            Node::Bytes(set) => vec![self.grammar.symbol(set)],
            Node::Concat(a, b) => [self.symbols(a)?, self.symbols(b)?].concat(),
            Node::Or(parts) => {
                let left = self.grammar.add_nonterminal();
                for part in parts {
                    let right = self.symbols(part)?;
                    self.grammar.add_production(left, right);
                }
                vec![Symbol::Nonterminal(left)]
            }
            Node::Star(inner) => {
                let symbol = self.one(inner)?;
                vec![Symbol::Nonterminal(self.grammar.repeat(symbol, Repetition::Star))]
            }
            Node::Repeat(inner, least, most) if most != UNBOUNDED && most <= WRITTEN_OUT => {
                let symbol = self.one(inner)?;
                let optional =
                    Symbol::Nonterminal(self.grammar.repeat(symbol, Repetition::Optional));
                (0..most).map(|i| if i < least { symbol } else { optional }).collect()
            }
            Node::Grammar(grammar, state) if grammar == self.base => {
                vec![Symbol::Nonterminal(self.languages.recognizer(grammar).goal(state)?)]
            }
            _ if language == Languages::ALL => {
                let any = self.grammar.symbol(crate::bytes::ByteSet::FULL);
                vec![Symbol::Nonterminal(self.grammar.repeat(any, Repetition::Star))]
            }
            Node::And(_) | Node::Not(_) | Node::Repeat(..) | Node::Grammar(..) | Node::Nfa(..) => {
                return None;
            }
        };
        self.done.insert(language, symbols.clone());
        Some(symbols)
    }

    /// One symbol for a language.
    fn one(&mut self, language: Language) -> Option<Symbol> {
        let symbols = self.symbols(language)?;
        if let [symbol] = symbols[..] {
            return Some(symbol);
        }
        let left = self.grammar.add_nonterminal();
        self.grammar.add_production(left, symbols);
        Some(Symbol::Nonterminal(left))
    }
}
