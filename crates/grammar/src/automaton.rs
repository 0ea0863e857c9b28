//! The lexemes of a terminal as a small, trimmed, minimal automaton: what generation works with.
//!
//! With a lexer, the lexemes of a terminal are only those that the lexer reads as that terminal: `if` is no
//! identifier where it is a keyword.

use crate::dfa::{Compiler, DEAD, Dfa, DfaError};
use crate::model::{END_MARKER, Emit, Grammar, Lexing, ModeId, ModeOp, TerminalId};
use crate::pattern::{ByteSet, Pattern, byte_set, one_byte};
use rustc_hash::FxHashMap;

/// Patterns whose automaton is larger cannot be used for generation.
pub const STATE_LIMIT: usize = 20_000;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Edge {
    /// In increasing order, never empty.
    pub bytes: ByteSet,
    pub to: u32,
}

/// State 0 is the start; every state can reach acceptance. Without states there is no lexeme at all.
#[derive(Clone, Debug, Default)]
pub struct Automaton {
    pub edges: Vec<Vec<Edge>>,
    pub accepts: Vec<bool>,
}

impl Automaton {
    pub fn is_empty(&self) -> bool {
        self.edges.is_empty()
    }

    /// The automaton of one lexeme; of none, if that is empty.
    fn literal(text: &[u8]) -> Automaton {
        Automaton::chain(text.iter().map(|b| one_byte(*b)).collect())
    }

    /// The automaton of the lexemes with one of these bytes at each place; of none, if there is no place.
    fn chain(places: Vec<ByteSet>) -> Automaton {
        if places.is_empty() {
            return Automaton::default();
        }
        let accepts = (0..=places.len()).map(|i| i == places.len()).collect();
        let edge = |(i, bytes)| vec![Edge { bytes, to: i as u32 + 1 }];
        let edges = places.into_iter().enumerate().map(edge).chain([Vec::new()]).collect();
        Automaton { edges, accepts }
    }

    /// A single lexeme, if there is only one.
    pub fn single(&self) -> Option<Vec<u8>> {
        let mut lexeme = Vec::new();
        let mut state = 0;
        loop {
            match self.edges.get(state)?.as_slice() {
                [] => return Some(lexeme),
                [edge] if edge.bytes.len() == 1 && !self.accepts[state] => {
                    lexeme.push(edge.bytes[0]);
                    state = edge.to as usize;
                }
                _ => return None,
            }
        }
    }

    /// Least number of bytes from each state to acceptance.
    pub fn distances(&self) -> Vec<u32> {
        let mut distance: Vec<u32> = self.accepts.iter().map(|a| if *a { 0 } else { u32::MAX }).collect();
        loop {
            let mut changed = false;
            for state in (0..self.edges.len()).rev() {
                let best = self.edges[state].iter().map(|e| distance[e.to as usize].saturating_add(1)).min();
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
        self.edges.iter().flatten().for_each(|e| incoming[e.to as usize] += 1);
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
            let good = self.edges[state].iter().filter(|e| distance[e.to as usize] + 1 == distance[state]);
            let pick =
                good.map(|e| (crate::lexer::friendliest(&e.bytes), e.to)).min_by_key(|(b, _)| rank(*b))?;
            lexeme.push(pick.0);
            state = pick.1 as usize;
        }
        Some(lexeme)
    }

    pub fn matches(&self, text: &[u8]) -> bool {
        let mut state = 0usize;
        for byte in text {
            let edge = self.edges.get(state).and_then(|es| es.iter().find(|e| e.bytes.contains(byte)));
            match edge {
                Some(edge) => state = edge.to as usize,
                None => return false,
            }
        }
        self.accepts.get(state).copied().unwrap_or(false)
    }

    /// Of all states of `dfa`, those between the start and a state that `accepts`; minimal. The empty string
    /// is left out.
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
    grammar
        .lex_rules
        .iter()
        .any(|r| r.emit == Emit::More && (r.ops.iter().any(enters) || r.mode == mode && r.ops.is_empty()))
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
        let sure = |pattern: &&u32| !rules[self.rule[**pattern as usize]].predicated || mine(pattern);
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

/// States as they come from the subset construction.
struct Raw {
    edges: Vec<Vec<Edge>>,
    accepts: Vec<bool>,
}

impl Raw {
    fn read(dfa: &mut Dfa, accepts: impl Fn(&Dfa, u32) -> bool) -> Raw {
        let bytes = dfa.class_bytes();
        let mut raw = Raw { edges: vec![Vec::new()], accepts: vec![false] };
        let mut ids: FxHashMap<u32, u32> = FxHashMap::default();
        let mut todo = vec![(dfa.start(), 0u32)];
        // The start is copied as state 0 and does not accept, so that the empty string is left out.
        while let Some((state, id)) = todo.pop() {
            let mut by_target: Vec<(u32, Vec<u8>)> = Vec::new();
            for (class, class_bytes) in bytes.iter().enumerate() {
                let next = dfa.step_class(state, class);
                if next == DEAD {
                    continue;
                }
                match by_target.iter_mut().find(|(t, _)| *t == next) {
                    Some((_, all)) => all.extend(class_bytes),
                    None => by_target.push((next, class_bytes.clone())),
                }
            }
            for (target, mut bytes) in by_target {
                bytes.sort_unstable();
                let to = *ids.entry(target).or_insert_with(|| {
                    raw.edges.push(Vec::new());
                    raw.accepts.push(accepts(dfa, target));
                    todo.push((target, raw.edges.len() as u32 - 1));
                    raw.edges.len() as u32 - 1
                });
                raw.edges[id as usize].push(Edge { bytes: byte_set(bytes), to });
            }
        }
        raw
    }

    fn remove_byte(&mut self, byte: u8) {
        for edges in &mut self.edges {
            for edge in edges.iter_mut().filter(|e| e.bytes.contains(&byte)) {
                edge.bytes = byte_set(edge.bytes.iter().copied().filter(|b| *b != byte).collect());
            }
            edges.retain(|e| !e.bytes.is_empty());
        }
    }

    /// Keeps the states from which acceptance can be reached.
    fn trim(self) -> Raw {
        let n = self.edges.len();
        let mut back = vec![Vec::new(); n];
        for (from, edges) in self.edges.iter().enumerate() {
            edges.iter().for_each(|e| back[e.to as usize].push(from));
        }
        let mut alive = self.accepts.clone();
        let mut todo: Vec<usize> = (0..n).filter(|s| alive[*s]).collect();
        while let Some(state) = todo.pop() {
            for &from in &back[state] {
                if !std::mem::replace(&mut alive[from], true) {
                    todo.push(from);
                }
            }
        }
        if !alive[0] {
            return Raw { edges: Vec::new(), accepts: Vec::new() };
        }
        let mut id = vec![0u32; n];
        for (next, state) in (0..n).filter(|s| alive[*s]).enumerate() {
            id[state] = next as u32;
        }
        let keep = |edges: Vec<Edge>| {
            let kept = edges.into_iter().filter(|e| alive[e.to as usize]);
            kept.map(|e| Edge { to: id[e.to as usize], ..e }).collect::<Vec<_>>()
        };
        let states = self.edges.into_iter().zip(self.accepts).enumerate().filter(|(s, _)| alive[*s]);
        let (edges, accepts) = states.map(|(_, (e, a))| (keep(e), a)).unzip();
        Raw { edges, accepts }
    }

    /// Moore's partition refinement.
    fn minimise(self) -> Automaton {
        let n = self.edges.len();
        let mut block: Vec<u32> = self.accepts.iter().map(|a| u32::from(*a)).collect();
        let mut count = 0;
        loop {
            let mut ids: FxHashMap<(u32, Vec<(u8, u32)>), u32> = FxHashMap::default();
            let mut refined = Vec::with_capacity(n);
            for state in 0..n {
                let mut signature: Vec<(u8, u32)> = Vec::new();
                for edge in &self.edges[state] {
                    signature.extend(edge.bytes.iter().map(|b| (*b, block[edge.to as usize])));
                }
                signature.sort_unstable();
                let next = ids.len() as u32;
                refined.push(*ids.entry((block[state], signature)).or_insert(next));
            }
            let blocks = ids.len();
            block = refined;
            if blocks == count {
                return self.quotient(&block, blocks);
            }
            count = blocks;
        }
    }

    fn quotient(self, block: &[u32], blocks: usize) -> Automaton {
        let mut automaton = Automaton { edges: vec![Vec::new(); blocks], accepts: vec![false; blocks] };
        let mut done = vec![false; blocks];
        for (state, edges) in self.edges.into_iter().enumerate() {
            let b = block[state] as usize;
            automaton.accepts[b] = self.accepts[state];
            if std::mem::replace(&mut done[b], true) {
                continue;
            }
            for edge in edges {
                let to = block[edge.to as usize];
                match automaton.edges[b].iter_mut().find(|e| e.to == to) {
                    Some(same) => {
                        let mut bytes = [&*same.bytes, &*edge.bytes].concat();
                        bytes.sort_unstable();
                        same.bytes = byte_set(bytes);
                    }
                    None => automaton.edges[b].push(Edge { to, bytes: edge.bytes }),
                }
            }
            automaton.edges[b].sort_by(|x, y| x.bytes.cmp(&y.bytes));
        }
        automaton
    }
}
