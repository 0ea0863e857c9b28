//! From a grammar to its symbolic grammar.

use super::{Choice, Fate, Filling, Hole, Lexemes, Options, Repeat, Symbolic};
use crate::automata::automaton::Automaton;
use crate::counting::count::lexeme_counts;
use crate::model::analysis::{Analysis, INFINITE};
use crate::model::core::{Core, NtId, RawNt, RawProd, Sym};
use crate::model::language::Language;
use crate::model::pattern::Pattern;
use crate::model::{Alternative, Expr, Grammar, Lexing, Rule, RuleId, Terminal, TerminalId};
use num_bigint::BigUint;
use rustc_hash::FxHashMap;

#[derive(Debug, Clone, thiserror::Error, PartialEq, Eq)]
pub enum SymbolicError {
    #[error("terminal `{0}` has lexemes of up to {1} bytes; give it a bound, or keep it")]
    TooLong(String, usize),
    #[error("no lexeme of terminal `{0}` has {1} bytes or less")]
    BoundTooSmall(String, usize),
}

/// Finite terminals with longer lexemes need a bound.
const LONGEST: usize = 4096;

/// The symbolic grammar of a language.
pub fn symbolic(language: &Language, options: &Options) -> Result<Symbolic, SymbolicError> {
    let mut builder = Builder { language, options, holes: Vec::new(), known: FxHashMap::default() };
    let fates = builder.fates()?;
    let raw = if options.coarsest { builder.coarsest() } else { builder.replaced(&fates) };
    let start = if options.coarsest { NtId(0) } else { language.core.start };
    let (raw, start) = merged(raw, start);
    Ok(Symbolic {
        filling: options.filling,
        language: builder.language_of(raw, start),
        grammar: language.grammar.clone(),
        lexemes: language.lexemes.clone(),
        repeats: builder.repeats(&fates),
        fates,
        first: language.grammar.terminals.len(),
        holes: builder.holes,
    })
}

struct Builder<'l> {
    language: &'l Language,
    options: &'l Options,
    holes: Vec<Hole>,
    /// Holes by terminal, if they are told apart by that, and length.
    known: FxHashMap<(Option<TerminalId>, usize), Sym>,
}

impl Builder<'_> {
    fn fates(&self) -> Result<Vec<(Lexemes, Fate)>, SymbolicError> {
        let core = &self.language.core;
        let mut used = vec![false; core.terminals()];
        for terminal in core.prod_ids().flat_map(|p| core.rhs(p)).filter_map(|s| s.as_terminal()) {
            used[terminal.index()] = true;
        }
        let fate = |t: usize| {
            let lexemes = count(&self.language.lexemes[t]);
            let fate =
                if used[t] { self.fate(TerminalId::from(t), lexemes)? } else { Fate::Unused };
            Ok((lexemes, fate))
        };
        (0..core.terminals()).map(fate).collect()
    }

    fn fate(&self, terminal: TerminalId, lexemes: Lexemes) -> Result<Fate, SymbolicError> {
        let chosen = self
            .options
            .choices
            .iter()
            .rev()
            .find(|(t, _)| *t == terminal)
            .map(|(_, choice)| *choice);
        let automaton = &self.language.lexemes[terminal.index()];
        let name = || self.language.grammar.terminal(terminal).name.clone();
        let shortest = automaton.min_len().unwrap_or(0) as usize;
        let bound = match (chosen, automaton.max_len()) {
            (Some(Choice::Keep), _) => return Ok(Fate::Kept),
            (None, _) if matches!(lexemes, Lexemes::None | Lexemes::One) => return Ok(Fate::Kept),
            (Some(Choice::Bound(bound)), _) if bound < shortest => {
                return Err(SymbolicError::BoundTooSmall(name(), bound));
            }
            (Some(Choice::Bound(bound)), _) => bound,
            (_, Some(longest)) if longest as usize > LONGEST => {
                return Err(SymbolicError::TooLong(name(), longest as usize));
            }
            (_, Some(longest)) => longest as usize,
            (_, None) => self.options.bound.max(shortest),
        };
        let counts = lexeme_counts(automaton, bound);
        Ok(Fate::Holes((1..=bound).filter(|n| counts[*n] != BigUint::ZERO).collect()))
    }

    /// The core with holes in place of terminals. A terminal that becomes holes of several lengths
    /// is a nonterminal.
    fn replaced(&mut self, fates: &[(Lexemes, Fate)]) -> Vec<RawNt> {
        let mut raw = self.language.core.to_raw();
        let mut symbols = Vec::new();
        for (t, (_, fate)) in fates.iter().enumerate() {
            let terminal = TerminalId::from(t);
            let Fate::Holes(lengths) = fate else {
                symbols.push(Sym::terminal(terminal));
                continue;
            };
            let holes: Vec<Sym> = lengths.iter().map(|len| self.hole(terminal, *len)).collect();
            symbols.push(match holes[..] {
                [only] => only,
                _ => {
                    let prods =
                        (0..).zip(holes).map(|(alt, hole)| production(vec![hole], alt)).collect();
                    let name = self.language.grammar.terminal(terminal).name.clone();
                    raw.push(RawNt { name, rule: None, prods });
                    Sym::nonterminal(NtId::from(raw.len() - 1))
                }
            });
        }
        for symbol in raw
            .iter_mut()
            .take(self.language.core.nts.len())
            .flat_map(|nt| &mut nt.prods)
            .flat_map(|p| &mut p.rhs)
        {
            if let Some(terminal) = symbol.as_terminal() {
                *symbol = symbols[terminal.index()];
            }
        }
        raw
    }

    /// `input ::= hole | input hole`, or `input ::= | input hole` if the empty string is a
    /// sentence.
    fn coarsest(&mut self) -> Vec<RawNt> {
        let hole = self.add_hole(Hole { terminal: None, len: 1, repeat: None });
        let nullable = self.language.analysis.nullable[self.language.core.start.index()];
        let first = if nullable { Vec::new() } else { vec![hole] };
        let more = vec![Sym::nonterminal(NtId(0)), hole];
        vec![RawNt {
            name: "input".to_owned(),
            rule: None,
            prods: vec![production(first, 0), production(more, 1)],
        }]
    }

    fn hole(&mut self, terminal: TerminalId, len: usize) -> Sym {
        let key = ((self.options.filling == Filling::Valid).then_some(terminal), len);
        let repeat = self.repeat(terminal, len);
        if let Some(&known) = self.known.get(&key) {
            let first = self.language.grammar.terminals.len();
            let hole = known
                .as_terminal()
                .and_then(|terminal| self.holes.get_mut(terminal.index() - first));
            if let Some(hole) = hole {
                hole.repeat = hole.repeat.take().or(repeat);
            }
            return known;
        }
        let hole = self.add_hole(Hole { terminal: Some(terminal), len, repeat });
        self.known.insert(key, hole);
        hole
    }

    /// How the lexemes of a terminal can be made longer, if no bound was asked for.
    fn repeat(&self, terminal: TerminalId, len: usize) -> Option<Repeat> {
        let is_bounded = |(t, choice): &(TerminalId, Choice)| {
            *t == terminal && matches!(choice, Choice::Bound(_))
        };
        if self.options.choices.iter().any(is_bounded) {
            return None;
        }
        let lexemes = &self.language.lexemes[terminal.index()];
        Repeat::of(lexemes, lexemes.of_length(len)?)
    }

    fn repeats(&self, fates: &[(Lexemes, Fate)]) -> Vec<Option<Repeat>> {
        let terminals = (0..fates.len()).map(TerminalId::from).zip(fates);
        let repeat = |(terminal, (_, fate)): (TerminalId, &(Lexemes, Fate))| match fate {
            Fate::Holes(lengths) => self.repeat(terminal, *lengths.first()?),
            Fate::Unused | Fate::Kept => None,
        };
        terminals.map(repeat).collect()
    }

    fn add_hole(&mut self, hole: Hole) -> Sym {
        self.holes.push(hole);
        Sym::terminal(TerminalId::from(
            self.language.grammar.terminals.len() + self.holes.len() - 1,
        ))
    }

    fn language_of(&self, raw: Vec<RawNt>, start: NtId) -> Language {
        let mut grammar = Grammar::new(self.language.grammar.name.clone());
        grammar.terminals.clone_from(&self.language.grammar.terminals);
        grammar.terminals.extend(self.holes.iter().map(|hole| self.terminal(hole)));
        grammar.rules = rules(&raw);
        grammar.start = RuleId(start.0);
        // Spaces of languages with a lexer say which token begins where.
        grammar.lexing = Lexing::Longest;
        let mut lexemes = self.language.lexemes.clone();
        lexemes.extend(self.holes.iter().map(|hole| Automaton::literal(&self.example(hole))));
        let lengths: Vec<u64> =
            lexemes.iter().map(|a| a.min_len().map_or(INFINITE, u64::from)).collect();
        let core = Core::from_raw(raw, start, grammar.terminals.len());
        let analysis = Analysis::new(&core, &lengths);
        Language { grammar, core, lexemes, analysis }
    }

    fn terminal(&self, hole: &Hole) -> Terminal {
        let any = "(?s-u:.)".repeat(hole.len);
        let pattern = Pattern::parse(&any).unwrap_or_else(|_| Pattern::never());
        let of = hole.terminal.filter(|_| self.options.filling == Filling::Valid);
        let of =
            of.map(|t| format!("{}:", self.language.grammar.terminal(t).name)).unwrap_or_default();
        Terminal::new(format!("{of}hole{}", hole.len), pattern)
    }

    fn example(&self, hole: &Hole) -> Vec<u8> {
        let lexemes = hole.terminal.map(|t| &self.language.lexemes[t.index()]);
        lexemes
            .and_then(|lexemes| lexemes.of_length(hole.len))
            .unwrap_or_else(|| vec![b'a'; hole.len])
    }
}

fn production(rhs: Vec<Sym>, alt: u32) -> RawProd {
    RawProd { rhs, alt, weight: 1.0 }
}

fn count(automaton: &Automaton) -> Lexemes {
    match automaton.max_len() {
        _ if automaton.is_empty() => Lexemes::None,
        _ if automaton.single().is_some() => Lexemes::One,
        Some(_) => Lexemes::Finite,
        None => Lexemes::Infinite,
    }
}

/// Drops productions that are there twice, then puts the first of nonterminals with equal
/// productions in place of the others, until nothing changes.
fn merged(mut raw: Vec<RawNt>, mut start: NtId) -> (Vec<RawNt>, NtId) {
    loop {
        let mut first: FxHashMap<Vec<Vec<Sym>>, NtId> = FxHashMap::default();
        let mut stands_for = Vec::new();
        for (i, nt) in raw.iter_mut().enumerate() {
            let mut bodies: Vec<Vec<Sym>> = Vec::new();
            nt.prods.retain(|prod| {
                let is_new = !bodies.contains(&prod.rhs);
                if is_new {
                    bodies.push(prod.rhs.clone());
                }
                is_new
            });
            stands_for.push(*first.entry(bodies).or_insert(NtId::from(i)));
        }
        let changed = |nt: &NtId| stands_for[nt.index()] != *nt;
        let symbols = raw.iter_mut().flat_map(|nt| &mut nt.prods).flat_map(|prod| &mut prod.rhs);
        let mut any = false;
        for symbol in symbols {
            if let Some(nt) = symbol.as_nonterminal().filter(changed) {
                *symbol = Sym::nonterminal(stands_for[nt.index()]);
                any = true;
            }
        }
        start = stands_for[start.index()];
        if !any {
            return (raw, start);
        }
    }
}

/// The productions as rules, for those who want to read the grammar.
fn rules(raw: &[RawNt]) -> Vec<Rule> {
    let mut names: FxHashMap<&str, usize> = FxHashMap::default();
    let unique = |name: &str, seen: usize| {
        if seen == 0 { name.to_owned() } else { format!("{name}{}", seen + 1) }
    };
    let expr = |symbol: &Sym| match (symbol.as_terminal(), symbol.as_nonterminal()) {
        (Some(terminal), _) => Expr::Terminal(terminal),
        (None, nt) => Expr::Rule(RuleId(nt.map_or(0, |nt| nt.0))),
    };
    let mut rules = Vec::new();
    for nt in raw {
        let seen = names.entry(&nt.name).or_default();
        let name = unique(&nt.name, *seen);
        *seen += 1;
        let body =
            |prod: &RawProd| Alternative::new(Expr::seq(prod.rhs.iter().map(expr).collect()));
        rules.push(Rule { name, alternatives: nt.prods.iter().map(body).collect() });
    }
    rules
}
