//! A grammar as languages of the string solver: of the lexemes of a terminal, and of whole
//! sentences.

use std::ops::Range;

use grammar::automaton::{Automaton, own_lexemes};
use grammar::core::Sym;
use grammar::language::Language as Sentences;
use grammar::lift::Token;
use grammar::model::Emit;
use solver::Restrictions;
use strings::{ByteSet, Grammar, Language, Languages, Nonterminal, Symbol};

/// Makes languages when they are asked for.
pub(crate) struct Words<'l> {
    grammar: &'l Sentences,
    languages: Languages,
    /// Of each terminal.
    lexemes: Vec<Option<Language>>,
    /// `None` before it is asked for, then `Some(None)` if the grammar is too large.
    sentence: Option<Option<Language>>,
    windows: Vec<(Range<u32>, Language)>,
}

/// Languages and their derivatives beyond this number are forgotten.
const MAX_LANGUAGES: usize = 1 << 19;
/// Grammars with more symbols and edges of automata are not made a language.
const LARGEST_GRAMMAR: usize = 1 << 13;
/// Nor are longer inputs asked about it.
const LONGEST_SENTENCE: usize = 256;

impl<'l> Words<'l> {
    pub(crate) fn new(grammar: &'l Sentences) -> Words<'l> {
        let lexemes = vec![None; grammar.lexemes.len()];
        Words {
            grammar,
            languages: Languages::default(),
            lexemes,
            sentence: None,
            windows: Vec::new(),
        }
    }

    fn forget_much(&mut self) {
        if self.languages.len() > MAX_LANGUAGES {
            *self = Words::new(self.grammar);
        }
    }

    /// Each token stays a lexeme of its terminal, and what is between them stays.
    pub(crate) fn lexemes(&mut self, input: &[u8], tokens: &[Token]) -> Restrictions<'_> {
        self.forget_much();
        self.windows.clear();
        let mut end = 0;
        for token in tokens {
            self.keep(input, end, token.start);
            let Words { grammar, languages, lexemes, .. } = self;
            let known = &mut lexemes[token.terminal.index()];
            let make = || of_automaton(languages, &grammar.lexemes[token.terminal.index()]);
            let language = *known.get_or_insert_with(make);
            self.windows.push((token.start as u32..token.end as u32, language));
            end = token.end;
        }
        self.keep(input, end, input.len());
        Restrictions { languages: &mut self.languages, windows: &self.windows }
    }

    fn keep(&mut self, input: &[u8], start: usize, end: usize) {
        if start < end {
            let language = self.languages.literal(&input[start..end]);
            self.windows.push((start as u32..end as u32, language));
        }
    }

    /// The whole stays a sentence, longest match and modes of the lexer left aside.
    pub(crate) fn sentence(&mut self, input: &[u8]) -> Option<Restrictions<'_>> {
        self.forget_much();
        if input.len() > LONGEST_SENTENCE {
            return None;
        }
        let Words { grammar, languages, .. } = self;
        let language = (*self.sentence.get_or_insert_with(|| context_free(grammar, languages)))?;
        self.windows.clear();
        self.windows.push((0..input.len() as u32, language));
        Some(Restrictions { languages: &mut self.languages, windows: &self.windows })
    }
}

fn of_automaton(languages: &mut Languages, automaton: &Automaton) -> Language {
    let moves = automaton.edges.iter().map(|edges| {
        edges
            .iter()
            .map(|edge| (edge.bytes.iter().copied().collect::<ByteSet>(), edge.to))
            .collect()
    });
    let accepting =
        (0..).zip(&automaton.accepts).filter(|(_, accepts)| **accepts).map(|(state, _)| state);
    languages.automaton(moves.collect(), accepting, 0)
}

/// The sentences of a grammar, with anything that the lexer skips between tokens.
fn context_free(sentences: &Sentences, languages: &mut Languages) -> Option<Language> {
    let edges: usize = sentences.lexemes.iter().map(|lexemes| lexemes.edges.all().len()).sum();
    if edges + sentences.core.size() > LARGEST_GRAMMAR {
        return None;
    }
    let core = &sentences.core;
    let mut grammar = Grammar::default();
    let rules: Vec<Nonterminal> = core.nt_ids().map(|_| grammar.add_nonterminal()).collect();
    let skipped = skipped(sentences, &mut grammar)?;
    let terminals: Vec<Nonterminal> =
        sentences.lexemes.iter().map(|lexemes| token(&mut grammar, lexemes, skipped)).collect();
    let symbol = |symbol: &Sym| match (symbol.as_terminal(), symbol.as_nonterminal()) {
        (Some(terminal), _) => Symbol::Nonterminal(terminals[terminal.index()]),
        (_, Some(rule)) => Symbol::Nonterminal(rules[rule.index()]),
        _ => Symbol::Nonterminal(skipped),
    };
    for production in core.prod_ids() {
        let right = core.rhs(production).iter().map(symbol).collect();
        grammar.add_production(rules[core.lhs(production).index()], right);
    }
    let start = grammar.add_nonterminal();
    let right = [skipped, rules[core.start.index()]].map(Symbol::Nonterminal).to_vec();
    grammar.add_production(start, right);
    let grammar = languages.add_grammar(grammar);
    Some(languages.context_free(grammar, start))
}

/// `S = | lexeme S` for what is skipped.
fn skipped(sentences: &Sentences, grammar: &mut Grammar) -> Option<Nonterminal> {
    let skipped = grammar.add_nonterminal();
    grammar.add_production(skipped, Vec::new());
    for rule in sentences.grammar.lex_rules.iter().filter(|rule| rule.emit == Emit::Skip) {
        let lexemes = own_lexemes(&rule.pattern).ok()?;
        let lexeme = token(grammar, &lexemes, skipped);
        grammar.add_production(skipped, vec![Symbol::Nonterminal(lexeme)]);
    }
    Some(skipped)
}

/// A lexeme and then what is skipped: a nonterminal for each state of the automaton.
fn token(grammar: &mut Grammar, lexemes: &Automaton, skipped: Nonterminal) -> Nonterminal {
    let states: Vec<Nonterminal> =
        lexemes.edges.iter().map(|_| grammar.add_nonterminal()).collect();
    for ((&state, edges), accepts) in states.iter().zip(lexemes.edges.iter()).zip(&lexemes.accepts)
    {
        for edge in edges {
            let bytes = grammar.symbol(edge.bytes.iter().copied().collect());
            grammar
                .add_production(state, vec![bytes, Symbol::Nonterminal(states[edge.to as usize])]);
        }
        if *accepts {
            grammar.add_production(state, vec![Symbol::Nonterminal(skipped)]);
        }
    }
    // Without lexemes there is no state, and no token.
    states.first().copied().unwrap_or_else(|| grammar.add_nonterminal())
}
