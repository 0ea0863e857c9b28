//! One mode of a lexer: its rules as one automaton, and what that finds at a place of an input.

use crate::automata::dfa::{DEAD, Dfa, DfaError};
use crate::model::{END_MARKER, Grammar, LexRule, ModeId};
use rustc_hash::FxHashMap;

/// Automata for generation look no further than this many states for the rest of a lexeme.
const REST_STATES: usize = 2_000;

#[derive(Clone)]
pub(crate) struct Mode {
    pub dfa: Dfa,
    /// The lexer rule of each pattern of the automaton.
    rule: Vec<u32>,
    pub predicates: bool,
    end_marker: bool,
    /// A rule that matches nothing but changes the mode: taken where no other rule matches.
    pub on_nothing: Option<u32>,
}

/// What one run of a mode's automaton found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Hit {
    pub rule: u32,
    pub end: usize,
}

impl Mode {
    pub fn new(grammar: &Grammar, mode: ModeId) -> Result<Mode, DfaError> {
        let (mut patterns, mut rule) = (Vec::new(), Vec::new());
        let mut predicates = false;
        for (i, lex) in grammar.lex_rules.iter().enumerate().filter(|(_, r)| r.mode == mode) {
            for branch in lex.pattern.branches() {
                patterns.push(branch);
                rule.push(i as u32);
            }
            predicates |= lex.predicated;
        }
        let idle = |(_, r): &(usize, &LexRule)| {
            r.mode == mode && r.pattern.matches_empty() && !r.ops.is_empty()
        };
        let on_nothing = grammar.lex_rules.iter().enumerate().find(idle).map(|(i, _)| i as u32);
        let dfa = Dfa::new(&patterns)?;
        Ok(Mode { dfa, rule, predicates, end_marker: grammar.end_marker, on_nothing })
    }

    pub fn scannerless(grammar: &Grammar) -> Result<Mode, DfaError> {
        let patterns: Vec<_> = grammar.terminals.iter().map(|t| t.pattern.clone()).collect();
        let rule = (0..patterns.len() as u32).collect();
        let dfa = Dfa::new(&patterns)?;
        Ok(Mode { dfa, rule, predicates: false, end_marker: false, on_nothing: None })
    }

    #[inline]
    pub fn longest(&mut self, input: &[u8], from: usize) -> Option<Hit> {
        let mut state = self.dfa.start();
        let mut best = None;
        for (i, &byte) in input[from..].iter().enumerate() {
            state = self.dfa.step(state, byte);
            if state == DEAD {
                break;
            }
            if let Some(&pattern) = self.dfa.accepts(state).first() {
                best = Some(Hit { rule: self.rule[pattern as usize], end: from + i + 1 });
            }
        }
        if self.end_marker && state != DEAD {
            let last = self.dfa.step(state, END_MARKER);
            let at_end = self.dfa.accepts(last).first();
            best = at_end.map(|p| Hit { rule: self.rule[*p as usize], end: input.len() }).or(best);
        }
        best
    }

    /// The winner without predicates, and every predicated rule that would have won.
    pub fn with_predicates(
        &mut self,
        input: &[u8],
        from: usize,
        predicated: &[bool],
        hits: &mut Vec<Hit>,
    ) {
        let mut state = self.dfa.start();
        let mut sure: Option<Hit> = None;
        let mut maybe: Vec<Hit> = Vec::new();
        for (i, &byte) in input[from..].iter().enumerate() {
            state = self.dfa.step(state, byte);
            if state == DEAD {
                break;
            }
            let end = from + i + 1;
            for &pattern in self.dfa.accepts(state) {
                let rule = self.rule[pattern as usize];
                if !predicated[rule as usize] {
                    sure = Some(Hit { rule, end });
                    break;
                }
                maybe.retain(|h| h.rule != rule);
                maybe.push(Hit { rule, end });
            }
        }
        if self.end_marker && state != DEAD {
            let last = self.dfa.step(state, END_MARKER);
            let rules = self.dfa.accepts(last).iter().map(|p| self.rule[*p as usize]);
            if let Some(rule) = rules.into_iter().find(|r| !predicated[*r as usize]) {
                sure = Some(Hit { rule, end: input.len() });
            }
        }
        let wins =
            |h: &Hit| sure.is_none_or(|s| h.end > s.end || (h.end == s.end && h.rule < s.rule));
        maybe.retain(wins);
        hits.extend(sure);
        hits.extend(maybe);
    }

    pub fn longest_allowed(
        &mut self,
        input: &[u8],
        from: usize,
        allows: impl Fn(u32) -> bool,
    ) -> Option<Hit> {
        let mut state = self.dfa.start();
        let mut best = None;
        for (i, &byte) in input[from..].iter().enumerate() {
            state = self.dfa.step(state, byte);
            if state == DEAD {
                break;
            }
            let rules = self.dfa.accepts(state).iter().map(|p| self.rule[*p as usize]);
            if let Some(rule) = rules.into_iter().find(|r| allows(*r)) {
                best = Some(Hit { rule, end: from + i + 1 });
            }
        }
        best
    }

    /// All lengths of all allowed terminals.
    pub fn every(
        &mut self,
        input: &[u8],
        from: usize,
        allows: impl Fn(u32) -> bool,
        hits: &mut Vec<Hit>,
    ) {
        let mut state = self.dfa.start();
        for (i, &byte) in input[from..].iter().enumerate() {
            state = self.dfa.step(state, byte);
            // Without the second test a terminal that is not wanted here could be followed to the
            // end.
            if state == DEAD || (i % 16 == 15 && !self.dfa.live_patterns(state).any(&allows)) {
                break;
            }
            for &rule in self.dfa.accepts(state) {
                if allows(rule) {
                    hits.push(Hit { rule, end: from + i + 1 });
                }
            }
        }
    }

    /// Breadth-first: the shortest way from `state` to a state where each rule wins.
    pub fn shortest_rests(&mut self, state: u32) -> Vec<(u32, Vec<u8>)> {
        let bytes: Vec<u8> = self.dfa.class_bytes().iter().map(|b| friendliest(b)).collect();
        let mut seen: FxHashMap<u32, Vec<u8>> = FxHashMap::default();
        seen.insert(state, Vec::new());
        let mut queue = std::collections::VecDeque::from([state]);
        let mut found: FxHashMap<u32, Vec<u8>> = FxHashMap::default();
        while let Some(from) = queue.pop_front() {
            for (class, &byte) in bytes.iter().enumerate() {
                let to = self.dfa.step_class(from, class);
                if to == DEAD || seen.contains_key(&to) || seen.len() > REST_STATES {
                    continue;
                }
                let mut path = seen[&from].clone();
                path.push(byte);
                if let Some(&pattern) = self.dfa.accepts(to).first() {
                    found.entry(self.rule[pattern as usize]).or_insert_with(|| path.clone());
                }
                seen.insert(to, path);
                queue.push_back(to);
            }
        }
        let mut found: Vec<_> = found.into_iter().collect();
        found.sort();
        found
    }
}

/// The byte of a class that people like to read most.
pub(crate) fn friendliest(bytes: &[u8]) -> u8 {
    let rank = |b: &u8| match b {
        b'a'..=b'z' => (0, *b),
        b'0'..=b'9' => (1, *b),
        b'A'..=b'Z' => (2, *b),
        b' '..=b'~' => (3, *b),
        b'\n' | b'\t' => (4, *b),
        _ => (5, *b),
    };
    *bytes.iter().min_by_key(|b| rank(b)).expect("a class has a byte")
}
