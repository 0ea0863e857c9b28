//! The lexemes of a terminal as a small, trimmed, minimal automaton: what generation works with.
//!
//! With a lexer, the lexemes of a terminal are only those that the lexer reads as that terminal:
//! `if` is no identifier where it is a keyword.

use crate::automata::dfa::{Compiler, Dfa, DfaError};
pub use crate::automata::edges::{Edge, Edges};
use crate::automata::minimise::Raw;
use crate::model::pattern::{ByteSet, Pattern, one_byte};
use crate::model::{END_MARKER, Emit, Grammar, Lexing, ModeId, ModeOp, TerminalId};

/// Patterns whose automaton is larger cannot be used for generation.
pub const STATE_LIMIT: usize = 20_000;

/// State 0 is the start; every state can reach acceptance. Without states there is no lexeme at
/// all.
#[derive(Clone, Debug, Default)]
pub struct Automaton {
    pub edges: Edges,
    pub accepts: Vec<bool>,
}

impl Automaton {
    pub fn is_empty(&self) -> bool {
        self.edges.is_empty()
    }

    /// The automaton of one lexeme; of none, if that is empty.
    pub(crate) fn literal(text: &[u8]) -> Automaton {
        Automaton::chain(text.iter().map(|b| one_byte(*b)).collect())
    }

    /// The automaton of the lexemes with one of these bytes at each place; of none, if there is no
    /// place.
    fn chain(places: Vec<ByteSet>) -> Automaton {
        if places.is_empty() {
            return Automaton::default();
        }
        let accepts = (0..=places.len()).map(|i| i == places.len()).collect();
        let edge = |(i, bytes)| Some(Edge { bytes, to: i as u32 + 1 });
        let edges = places.into_iter().enumerate().map(edge).chain([None]).collect();
        Automaton { edges, accepts }
    }

    /// A single lexeme, if there is only one.
    pub fn single(&self) -> Option<Vec<u8>> {
        let mut lexeme = Vec::new();
        let mut state = 0;
        loop {
            match self.edges.get(state)? {
                [] => return Some(lexeme),
                [edge] if edge.bytes.len() == 1 && !self.accepts[state] => {
                    lexeme.push(edge.bytes[0]);
                    state = edge.to as usize;
                }
                _ => return None,
            }
        }
    }

    /// The only lexeme, if that is one byte.
    pub fn single_byte(&self) -> Option<u8> {
        match (self.edges.all(), &self.accepts[..]) {
            ([edge], [_, true]) if edge.bytes.len() == 1 => Some(edge.bytes[0]),
            _ => None,
        }
    }

    /// Least number of bytes from each state to acceptance.
    pub fn distances(&self) -> Vec<u32> {
        let mut distance: Vec<u32> =
            self.accepts.iter().map(|a| if *a { 0 } else { u32::MAX }).collect();
        loop {
            let mut changed = false;
            for state in (0..self.edges.len()).rev() {
                let best = self.edges[state]
                    .iter()
                    .map(|e| distance[e.to as usize].saturating_add(1))
                    .min();
                if best.is_some_and(|b| b < distance[state]) {
                    distance[state] = best.expect("checked");
                    changed = true;
                }
            }
            if !changed {
                return distance;
            }
        }
    }

    pub fn min_len(&self) -> Option<u32> {
        self.distances().first().copied()
    }

    /// Is the number of lexemes finite? Then the longest one's length.
    pub fn max_len(&self) -> Option<u32> {
        let order = self.topological()?;
        let mut longest = vec![0u32; self.edges.len()];
        for &state in order.iter().rev() {
            let next = self.edges[state].iter().map(|e| longest[e.to as usize] + 1).max();
            longest[state] = next.unwrap_or(0);
        }
        longest.first().copied().or(Some(0))
    }

    fn topological(&self) -> Option<Vec<usize>> {
        let mut incoming = vec![0; self.edges.len()];
        self.edges.all().iter().for_each(|e| incoming[e.to as usize] += 1);
        let mut ready: Vec<usize> = (0..self.edges.len()).filter(|s| incoming[*s] == 0).collect();
        let mut order = Vec::new();
        while let Some(state) = ready.pop() {
            order.push(state);
            for edge in &self.edges[state] {
                incoming[edge.to as usize] -= 1;
                if incoming[edge.to as usize] == 0 {
                    ready.push(edge.to as usize);
                }
            }
        }
        (order.len() == self.edges.len()).then_some(order)
    }

    /// A shortest lexeme, the friendliest of them.
    pub fn shortest(&self) -> Option<Vec<u8>> {
        let distance = self.distances();
        if self.is_empty() {
            return None;
        }
        let (mut state, mut lexeme) = (0usize, Vec::new());
        while !self.accepts[state] {
            let good =
                self.edges[state].iter().filter(|e| distance[e.to as usize] + 1 == distance[state]);
            let pick = good
                .map(|e| (crate::lexing::mode::friendliest(&e.bytes), e.to))
                .min_by_key(|(b, _)| rank(*b))?;
            lexeme.push(pick.0);
            state = pick.1 as usize;
        }
        Some(lexeme)
    }

    /// A lexeme of exactly `len` bytes, the friendliest of them.
    pub fn of_length(&self, len: usize) -> Option<Vec<u8>> {
        // ends[n][s]: acceptance can be reached from s in exactly n bytes.
        let mut ends = vec![self.accepts.clone()];
        for n in 0..len {
            let reaches = |s: usize| self.edges[s].iter().any(|e| ends[n][e.to as usize]);
            let next = (0..self.edges.len()).map(reaches).collect();
            ends.push(next);
        }
        let (mut state, mut lexeme) = (0usize, Vec::new());
        for rest in (0..len).rev() {
            let good = self.edges.get(state)?.iter().filter(|e| ends[rest][e.to as usize]);
            let pick = good
                .map(|e| (crate::lexing::mode::friendliest(&e.bytes), e.to))
                .min_by_key(|(b, _)| rank(*b))?;
            lexeme.push(pick.0);
            state = pick.1 as usize;
        }
        (*self.accepts.get(state)?).then_some(lexeme)
    }

    pub fn matches(&self, text: &[u8]) -> bool {
        let mut state = 0usize;
        for byte in text {
            let edge =
                self.edges.get(state).and_then(|es| es.iter().find(|e| e.bytes.contains(byte)));
            match edge {
                Some(edge) => state = edge.to as usize,
                None => return false,
            }
        }
        self.accepts.get(state).copied().unwrap_or(false)
    }

    /// Of all states of `dfa`, those between the start and a state that `accepts`; minimal. The
    /// empty string is left out.
    fn from_dfa(dfa: &mut Dfa, accepts: impl Fn(&Dfa, u32) -> bool, end_marker: bool) -> Automaton {
        let mut raw = Raw::read(dfa, accepts);
        if end_marker {
            raw.remove_byte(END_MARKER);
        }
        raw.trim().minimise()
    }
}

fn rank(byte: u8) -> (bool, u8) {
    (!byte.is_ascii_graphic(), byte)
}

/// The automata of all terminals.
pub fn lexemes(grammar: &Grammar) -> Vec<Result<Automaton, DfaError>> {
    lexemes_of(grammar, |_| true)
}

/// The automata of some terminals; those of others are empty.
pub fn lexemes_of(
    grammar: &Grammar,
    wanted: impl Fn(TerminalId) -> bool,
) -> Vec<Result<Automaton, DfaError>> {
    let ids = (0..grammar.terminals.len()).map(TerminalId::from);
    let compiler = Compiler::for_terminals();
    let own = |t: TerminalId| own(&grammar.terminal(t).pattern, &compiler);
    if grammar.lexing == Lexing::Scannerless {
        return ids.map(|t| if wanted(t) { own(t) } else { Ok(Automaton::default()) }).collect();
    }
    let mut modes: Vec<Option<ModeDfa>> = (0..grammar.modes.len()).map(|_| None).collect();
    let more: Vec<bool> =
        (0..grammar.modes.len()).map(|m| entered_by_more(grammar, ModeId::from(m))).collect();
    let emitting = emitting_modes(grammar);
    ids.map(|t| match emitting[t.index()] {
        _ if !wanted(t) => Ok(Automaton::default()),
        Some(mode) if !more[mode.index()] => {
            let slot = &mut modes[mode.index()];
            let dfa = slot.get_or_insert_with(|| ModeDfa::new(grammar, mode));
            dfa.lexemes(grammar, t, &compiler)
        }
        _ => own(t),
    })
    .collect()
}

/// The lexemes of a pattern by itself.
pub fn own_lexemes(pattern: &Pattern) -> Result<Automaton, DfaError> {
    own(pattern, &Compiler::for_terminals())
}

fn own(pattern: &Pattern, compiler: &Compiler) -> Result<Automaton, DfaError> {
    if let Some(places) = pattern.as_places() {
        return Ok(Automaton::chain(places));
    }
    let mut dfa = compiler.dfa(&pattern.branches())?;
    dfa.complete(STATE_LIMIT)?;
    Ok(Automaton::from_dfa(&mut dfa, |dfa, state| !dfa.accepts(state).is_empty(), false))
}

/// For each terminal the mode of the first rule that emits it.
fn emitting_modes(grammar: &Grammar) -> Vec<Option<ModeId>> {
    let mut modes = vec![None; grammar.terminals.len()];
    for rule in grammar.lex_rules.iter().rev() {
        if let Emit::Token(t) = rule.emit {
            modes[t.index()] = Some(rule.mode);
        }
    }
    modes
}

fn entered_by_more(grammar: &Grammar, mode: ModeId) -> bool {
    let enters = |op: &ModeOp| matches!(op, ModeOp::Push(m) | ModeOp::Set(m) if *m == mode);
    grammar.lex_rules.iter().any(|r| {
        r.emit == Emit::More && (r.ops.iter().any(enters) || r.mode == mode && r.ops.is_empty())
    })
}

/// The automaton of a whole mode, if it is small enough.
struct ModeDfa {
    dfa: Option<Dfa>,
    rule: Vec<usize>,
}

impl ModeDfa {
    fn new(grammar: &Grammar, mode: ModeId) -> ModeDfa {
        let (mut patterns, mut rule) = (Vec::new(), Vec::new());
        for (i, lex) in grammar.lex_rules.iter().enumerate().filter(|(_, r)| r.mode == mode) {
            for branch in lex.pattern.branches() {
                patterns.push(branch);
                rule.push(i);
            }
        }
        let mut dfa = Dfa::new(&patterns).ok();
        if dfa.as_mut().is_some_and(|d| d.complete(STATE_LIMIT).is_err()) {
            dfa = None;
        }
        ModeDfa { dfa, rule }
    }

    fn lexemes(
        &mut self,
        grammar: &Grammar,
        t: TerminalId,
        compiler: &Compiler,
    ) -> Result<Automaton, DfaError> {
        let pattern = &grammar.terminal(t).pattern;
        let Some(dfa) = &mut self.dfa else { return own(pattern, compiler) };
        let rules = &grammar.lex_rules;
        let mine = |pattern: &u32| rules[self.rule[*pattern as usize]].emit == Emit::Token(t);
        let sure =
            |pattern: &&u32| !rules[self.rule[**pattern as usize]].predicated || mine(pattern);
        let wins = |dfa: &Dfa, state: u32| dfa.accepts(state).iter().find(sure).is_some_and(&mine);
        let found = match pattern.as_literal() {
            // Its only lexeme: no need to walk the whole automaton.
            Some(text) => {
                let end = dfa.walk(&text);
                Automaton::literal(if wins(dfa, end) { &text } else { &[] })
            }
            None => Automaton::from_dfa(dfa, wins, grammar.end_marker),
        };
        if found.is_empty() && grammar.lexing == Lexing::Contextual {
            own(pattern, compiler)
        } else {
            Ok(found)
        }
    }
}
