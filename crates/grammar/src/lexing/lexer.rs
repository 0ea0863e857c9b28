//! Text into tokens: longest match, then the earliest rule, with modes, skipped text and `more`.
//!
//! A rule behind a predicate that the reader did not understand may or may not count. Both outcomes
//! are offered, so a lexer delivers *candidates*, and the parser keeps those that can stand there.

use crate::automata::automaton::Automaton;
use crate::automata::dfa::{DEAD, DfaError};
use crate::lexing::mode::{Hit, Mode};
use crate::model::{Emit, Grammar, Lexing, ModeId, ModeOp, TerminalId};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

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
        let predicated = if scannerless {
            vec![false; emits.len()]
        } else {
            rules.iter().map(|r| r.predicated).collect()
        };
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

    fn follow(
        &mut self,
        place: Place,
        start: u32,
        hit: Hit,
        todo: &mut Vec<Run>,
        out: &mut Vec<Candidate>,
    ) {
        let stack = self.apply(place.stack, hit.rule as usize);
        let next = Place { pos: hit.end as u32, stack };
        match self.emits[hit.rule as usize] {
            Emit::Skip => todo.push((next, next.pos)),
            Emit::More => todo.push((next, start)),
            Emit::Token(terminal) => out.push(Candidate { terminal, start, next }),
        }
    }

    /// What the automaton of the mode finds. A rule that matches nothing ends here without
    /// progress, which `candidates` allows a few times in a row.
    fn run(&mut self, input: &[u8], place: Place, expected: &impl Expected, hits: &mut Vec<Hit>) {
        self.run_automaton(input, place, expected, hits);
        if hits.is_empty() {
            let mode = &self.modes[self.stacks[place.stack.0 as usize].0.index()];
            hits.extend(mode.on_nothing.map(|rule| Hit { rule, end: place.pos as usize }));
        }
    }

    fn run_automaton(
        &mut self,
        input: &[u8],
        place: Place,
        expected: &impl Expected,
        hits: &mut Vec<Hit>,
    ) {
        let mode = self.stacks[place.stack.0 as usize].0.index();
        let mode = &mut self.modes[mode];
        match self.lexing {
            Lexing::Longest if !mode.predicates => {
                hits.extend(mode.longest(input, place.pos as usize))
            }
            Lexing::Longest => {
                mode.with_predicates(input, place.pos as usize, &self.predicated, hits)
            }
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
                Some(hit)
                    if self.emits[hit.rule as usize] == Emit::Skip
                        && hit.end > place.pos as usize =>
                {
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

    /// The stack after writing a token of `terminal`: the operations of the rule that emits it in
    /// this mode.
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

    /// Does a lexeme of `left` merge with one of `right`, in the first mode? Says yes when in
    /// doubt.
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
                    if second && (!dfa.accepts(next).is_empty() || right.accepts[edge.to as usize])
                    {
                        return true;
                    }
                    todo.push((next, edge.to, second));
                }
            }
        }
        false
    }

    /// Terminals of which `text` is a proper prefix of a lexeme, with the shortest rest of such a
    /// lexeme. What `more` has read belongs to it.
    pub(crate) fn unfinished(&mut self, stack: StackId, text: &[u8]) -> Vec<(TerminalId, Vec<u8>)> {
        let mut found: Vec<(TerminalId, Vec<u8>)> = Vec::new();
        let mut seen = FxHashSet::default();
        // In order of length, so that the first rest of a terminal is its shortest.
        let mut todo = BinaryHeap::from([Reverse((0, 0usize, stack.0, Vec::new()))]);
        while let Some(Reverse((_, pos, stack, rest))) = todo.pop() {
            if seen.len() > OPEN_PLACES || !seen.insert((pos, stack)) {
                continue;
            }
            for (rule, end, more) in self.next_rules(StackId(stack), text, pos) {
                let whole = [&rest[..], &more].concat();
                match self.emits[rule as usize] {
                    Emit::Token(t) if !more.is_empty() => found.push((t, whole)),
                    Emit::More => {
                        let stack = self.apply(StackId(stack), rule as usize).0;
                        todo.push(Reverse((whole.len(), end, stack, whole)));
                    }
                    _ => {}
                }
            }
        }
        found.sort_by_key(|(terminal, rest)| (*terminal, rest.len()));
        found.dedup_by_key(|(terminal, _)| *terminal);
        found
    }

    /// The stack after `lexeme`, a whole token of `terminal`.
    pub(crate) fn after_lexeme(
        &mut self,
        stack: StackId,
        terminal: TerminalId,
        lexeme: &[u8],
    ) -> StackId {
        let mut found = Vec::new();
        self.candidates(lexeme, Place { pos: 0, stack }, &Anything, &mut found);
        let whole = |c: &&Candidate| c.terminal == terminal && c.next.pos as usize == lexeme.len();
        found.iter().find(whole).map_or(stack, |c| c.next.stack)
    }

    /// Rules that may match next: what the mode finds in the text, and what it would find if the
    /// text went on. With where the match ends in the text, and what it needs beyond the end.
    fn next_rules(
        &mut self,
        stack: StackId,
        text: &[u8],
        pos: usize,
    ) -> Vec<(u32, usize, Vec<u8>)> {
        let mode = &mut self.modes[self.stacks[stack.0 as usize].0.index()];
        let matched = mode.longest(text, pos).map(|hit| (hit.rule, hit.end, Vec::new()));
        let open = text[pos..].iter().fold(mode.dfa.start(), |state, byte| match state {
            DEAD => DEAD,
            _ => mode.dfa.step(state, *byte),
        });
        let rests = if open == DEAD { Vec::new() } else { mode.shortest_rests(open) };
        let further = rests.into_iter().map(|(rule, rest)| (rule, text.len(), rest));
        matched.into_iter().chain(further).collect()
    }
}

/// Places inside a lexeme, with the modes there, from which its rest is looked for.
const OPEN_PLACES: usize = 10_000;
/// States of two automata that are compared before lexemes are said to merge.
const MERGE_STATES: usize = 20_000;
/// Rules that match nothing may change the mode this many times before one matches something.
const MAX_IDLE: u32 = 32;
