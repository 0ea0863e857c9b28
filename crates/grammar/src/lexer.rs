//! Text into tokens: longest match, then the earliest rule, with modes, skipped text and `more`.
//!
//! A rule behind a predicate that the reader did not understand may or may not count. Both outcomes are
//! offered, so a lexer delivers *candidates*, and the parser keeps those that can stand there.

use crate::automaton::Automaton;
use crate::dfa::{DEAD, Dfa, DfaError};
use crate::model::{END_MARKER, Emit, Grammar, LexRule, Lexing, ModeId, ModeOp, TerminalId};
use rustc_hash::{FxHashMap, FxHashSet};

/// A place in the input together with the stack of lexer modes there.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Place {
    pub pos: u32,
    pub stack: StackId,
}

/// A stack of modes, shared with its parents.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct StackId(pub u32);

/// A token that may stand at a place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Candidate {
    pub terminal: TerminalId,
    pub start: u32,
    pub next: Place,
}

/// Which terminals the parser can use here.
pub trait Expected {
    fn allows(&self, terminal: TerminalId) -> bool;
}

/// Every terminal is welcome.
pub struct Anything;

impl Expected for Anything {
    fn allows(&self, _: TerminalId) -> bool {
        true
    }
}

/// No terminal is.
struct Nothing;

impl Expected for Nothing {
    fn allows(&self, _: TerminalId) -> bool {
        false
    }
}

#[derive(Clone)]
pub struct Lexer {
    modes: Vec<Mode>,
    emits: Vec<Emit>,
    ops: Vec<Vec<ModeOp>>,
    predicated: Vec<bool>,
    lexing: Lexing,
    /// Hash-consed mode stacks: (mode, parent).
    stacks: Vec<(ModeId, u32)>,
    stack_ids: FxHashMap<(u32, u32), u32>,
    /// Lists of `candidates`, kept between calls.
    scratch: (Vec<Run>, Vec<Hit>),
}

/// Where the automaton runs, and where the token began.
type Run = (Place, u32);

#[derive(Clone)]
struct Mode {
    dfa: Dfa,
    /// The lexer rule of each pattern of the automaton.
    rule: Vec<u32>,
    predicates: bool,
    end_marker: bool,
    /// A rule that matches nothing but changes the mode: taken where no other rule matches.
    on_nothing: Option<u32>,
}

/// What one run of a mode's automaton found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Hit {
    rule: u32,
    end: usize,
}

impl Lexer {
    pub fn new(grammar: &Grammar) -> Result<Lexer, DfaError> {
        let mut modes = Vec::new();
        for mode in 0..grammar.modes.len() {
            modes.push(if grammar.lexing == Lexing::Scannerless {
                Mode::scannerless(grammar)?
            } else {
                Mode::new(grammar, ModeId::from(mode))?
            });
        }
        let scannerless = grammar.lexing == Lexing::Scannerless;
        let rules = &grammar.lex_rules;
        let emits = if scannerless {
            (0..grammar.terminals.len()).map(|t| Emit::Token(TerminalId::from(t))).collect()
        } else {
            rules.iter().map(|r| r.emit).collect::<Vec<_>>()
        };
        let ops = if scannerless {
            vec![Vec::new(); emits.len()]
        } else {
            rules.iter().map(|r| r.ops.clone()).collect()
        };
        let predicated =
            if scannerless { vec![false; emits.len()] } else { rules.iter().map(|r| r.predicated).collect() };
        let mut lexer = Lexer {
            modes,
            emits,
            ops,
            predicated,
            lexing: grammar.lexing,
            stacks: Vec::new(),
            stack_ids: FxHashMap::default(),
            scratch: Default::default(),
        };
        lexer.push(ModeId(0), u32::MAX);
        Ok(lexer)
    }

    /// The beginning of an input.
    pub fn begin(&self) -> Place {
        Place { pos: 0, stack: StackId(0) }
    }

    /// Appends the tokens that may follow `from`. Returns true if the input may end here.
    pub fn candidates(
        &mut self,
        input: &[u8],
        from: Place,
        expected: &impl Expected,
        out: &mut Vec<Candidate>,
    ) -> bool {
        let mut end_reached = false;
        let (mut todo, mut hits) = std::mem::take(&mut self.scratch);
        todo.push((from, from.pos));
        let mut idle = 0;
        while let Some((place, start)) = todo.pop() {
            if place.pos as usize == input.len() {
                end_reached |= start == place.pos;
                continue;
            }
            hits.clear();
            self.run(input, place, expected, &mut hits);
            for hit in &hits {
                idle += u32::from(hit.end == place.pos as usize);
                if idle <= MAX_IDLE {
                    self.follow(place, start, *hit, &mut todo, out);
                }
            }
        }
        self.scratch = (todo, hits);
        end_reached
    }

    fn follow(&mut self, place: Place, start: u32, hit: Hit, todo: &mut Vec<Run>, out: &mut Vec<Candidate>) {
        let stack = self.apply(place.stack, hit.rule as usize);
        let next = Place { pos: hit.end as u32, stack };
        match self.emits[hit.rule as usize] {
            Emit::Skip => todo.push((next, next.pos)),
            Emit::More => todo.push((next, start)),
            Emit::Token(terminal) => out.push(Candidate { terminal, start, next }),
        }
    }

    /// What the automaton of the mode finds. A rule that matches nothing ends here without progress, which
    /// `candidates` allows a few times in a row.
    fn run(&mut self, input: &[u8], place: Place, expected: &impl Expected, hits: &mut Vec<Hit>) {
        self.run_automaton(input, place, expected, hits);
        if hits.is_empty() {
            let mode = &self.modes[self.stacks[place.stack.0 as usize].0.index()];
            hits.extend(mode.on_nothing.map(|rule| Hit { rule, end: place.pos as usize }));
        }
    }

    fn run_automaton(&mut self, input: &[u8], place: Place, expected: &impl Expected, hits: &mut Vec<Hit>) {
        let mode = self.stacks[place.stack.0 as usize].0.index();
        let mode = &mut self.modes[mode];
        match self.lexing {
            Lexing::Longest if !mode.predicates => hits.extend(mode.longest(input, place.pos as usize)),
            Lexing::Longest => mode.with_predicates(input, place.pos as usize, &self.predicated, hits),
            Lexing::Contextual => {
                let allows = |rule: u32| match self.emits[rule as usize] {
                    Emit::Token(t) => expected.allows(t),
                    _ => true,
                };
                hits.extend(mode.longest_allowed(input, place.pos as usize, allows));
            }
            Lexing::Scannerless => {
                let allows = |rule: u32| expected.allows(TerminalId(rule));
                mode.every(input, place.pos as usize, allows, hits);
            }
        }
    }

    /// Where the next token would begin: after skipped text.
    pub(crate) fn after_skipped(&mut self, input: &[u8], from: Place) -> usize {
        let mut place = from;
        let mut hits = Vec::new();
        while (place.pos as usize) < input.len() && self.lexing != Lexing::Scannerless {
            hits.clear();
            self.run(input, place, &Nothing, &mut hits);
            match hits.first() {
                Some(hit) if self.emits[hit.rule as usize] == Emit::Skip && hit.end > place.pos as usize => {
                    let stack = self.apply(place.stack, hit.rule as usize);
                    place = Place { pos: hit.end as u32, stack };
                }
                _ => break,
            }
        }
        place.pos as usize
    }

    /// The stack after a rule's mode operations.
    fn apply(&mut self, stack: StackId, rule: usize) -> StackId {
        let mut top = stack.0;
        for i in 0..self.ops[rule].len() {
            let (_, parent) = self.stacks[top as usize];
            top = match self.ops[rule][i] {
                ModeOp::Push(mode) => self.push(mode, top),
                ModeOp::Set(mode) => self.push(mode, parent),
                ModeOp::Pop if parent == u32::MAX => top,
                ModeOp::Pop => parent,
            };
        }
        StackId(top)
    }

    fn push(&mut self, mode: ModeId, parent: u32) -> u32 {
        let next = self.stacks.len() as u32;
        let id = *self.stack_ids.entry((mode.0, parent)).or_insert(next);
        if id == next {
            self.stacks.push((mode, parent));
        }
        id
    }

    pub(crate) fn mode_of(&self, stack: StackId) -> ModeId {
        self.stacks[stack.0 as usize].0
    }

    /// The stack after writing a token of `terminal`: the operations of the rule that emits it in this mode.
    pub(crate) fn after_token(
        &mut self,
        stack: StackId,
        terminal: TerminalId,
        rules: &[(ModeId, Emit)],
    ) -> StackId {
        let mode = self.mode_of(stack);
        match rules.iter().position(|(m, e)| *m == mode && *e == Emit::Token(terminal)) {
            Some(rule) => self.apply(stack, rule),
            None => stack,
        }
    }

    /// Would `left`, followed by `right`, be cut somewhere else than between the two?
    pub(crate) fn merges(&mut self, mode: ModeId, left: &[u8], right: &[u8]) -> bool {
        let dfa = &mut self.modes[mode.index()].dfa;
        let mut state = dfa.start();
        for &byte in left {
            state = dfa.step(state, byte);
            if state == DEAD {
                return false;
            }
        }
        for &byte in right {
            state = dfa.step(state, byte);
            if state == DEAD {
                return false;
            }
            if !dfa.accepts(state).is_empty() {
                return true;
            }
        }
        true
    }

    /// Does a lexeme of `left` merge with one of `right`, in the first mode? Says yes when in doubt.
    pub(crate) fn may_merge(&mut self, left: &Automaton, right: &Automaton) -> bool {
        let dfa = &mut self.modes[0].dfa;
        let (mut seen, mut todo) = (FxHashSet::default(), vec![(dfa.start(), 0u32, false)]);
        while let Some((state, at, second)) = todo.pop() {
            if seen.len() > MERGE_STATES {
                return true;
            }
            if !seen.insert((state, at, second)) {
                continue;
            }
            let automaton = if second { right } else { left };
            if automaton.is_empty() {
                continue;
            }
            if !second && left.accepts[at as usize] {
                todo.push((state, 0, true));
            }
            for edge in &automaton.edges[at as usize] {
                for &byte in edge.bytes.iter() {
                    let next = dfa.step(state, byte);
                    if next == DEAD {
                        continue;
                    }
                    // Longer than `left`, or all of `right` and still undecided.
                    if second && (!dfa.accepts(next).is_empty() || right.accepts[edge.to as usize]) {
                        return true;
                    }
                    todo.push((next, edge.to, second));
                }
            }
        }
        false
    }

    /// Terminals of which `text` is a proper prefix of a lexeme, with the shortest rest of such a lexeme.
    pub(crate) fn unfinished(&mut self, stack: StackId, text: &[u8]) -> Vec<(TerminalId, Vec<u8>)> {
        let mode = &mut self.modes[self.stacks[stack.0 as usize].0.index()];
        let mut state = mode.dfa.start();
        for &byte in text {
            state = mode.dfa.step(state, byte);
            if state == DEAD {
                return Vec::new();
            }
        }
        let mut found = Vec::new();
        for (rule, rest) in mode.shortest_rests(state) {
            if let Emit::Token(t) = self.emits[rule as usize] {
                found.push((t, rest));
            }
        }
        found
    }
}

/// States of two automata that are compared before lexemes are said to merge.
const MERGE_STATES: usize = 20_000;
/// Rules that match nothing may change the mode this many times before one matches something.
const MAX_IDLE: u32 = 32;
/// Automata for generation look no further than this many states for the rest of a lexeme.
const REST_STATES: usize = 2_000;

impl Mode {
    fn new(grammar: &Grammar, mode: ModeId) -> Result<Mode, DfaError> {
        let (mut patterns, mut rule) = (Vec::new(), Vec::new());
        let mut predicates = false;
        for (i, lex) in grammar.lex_rules.iter().enumerate().filter(|(_, r)| r.mode == mode) {
            for branch in lex.pattern.branches() {
                patterns.push(branch);
                rule.push(i as u32);
            }
            predicates |= lex.predicated;
        }
        let idle =
            |(_, r): &(usize, &LexRule)| r.mode == mode && r.pattern.matches_empty() && !r.ops.is_empty();
        let on_nothing = grammar.lex_rules.iter().enumerate().find(idle).map(|(i, _)| i as u32);
        let dfa = Dfa::new(&patterns)?;
        Ok(Mode { dfa, rule, predicates, end_marker: grammar.end_marker, on_nothing })
    }

    fn scannerless(grammar: &Grammar) -> Result<Mode, DfaError> {
        let patterns: Vec<_> = grammar.terminals.iter().map(|t| t.pattern.clone()).collect();
        let rule = (0..patterns.len() as u32).collect();
        let dfa = Dfa::new(&patterns)?;
        Ok(Mode { dfa, rule, predicates: false, end_marker: false, on_nothing: None })
    }

    #[inline]
    fn longest(&mut self, input: &[u8], from: usize) -> Option<Hit> {
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
    fn with_predicates(&mut self, input: &[u8], from: usize, predicated: &[bool], hits: &mut Vec<Hit>) {
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
        let wins = |h: &Hit| sure.is_none_or(|s| h.end > s.end || (h.end == s.end && h.rule < s.rule));
        maybe.retain(wins);
        hits.extend(sure);
        hits.extend(maybe);
    }

    fn longest_allowed(&mut self, input: &[u8], from: usize, allows: impl Fn(u32) -> bool) -> Option<Hit> {
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
    fn every(&mut self, input: &[u8], from: usize, allows: impl Fn(u32) -> bool, hits: &mut Vec<Hit>) {
        let mut state = self.dfa.start();
        for (i, &byte) in input[from..].iter().enumerate() {
            state = self.dfa.step(state, byte);
            // Without the second test a terminal that is not wanted here could be followed to the end.
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
    fn shortest_rests(&mut self, state: u32) -> Vec<(u32, Vec<u8>)> {
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
