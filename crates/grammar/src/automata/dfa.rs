//! Deterministic automata over bytes for one or many patterns, built state by state when first
//! needed.
//!
//! A state is a list of NFA states. For a pattern with a non-greedy loop the list is in order of
//! priority and ends where the pattern accepts, as in ANTLR's lexer: `'/*' .*? '*/'` stops at the
//! first `*/`.

use crate::model::pattern::Pattern;
use regex_automata::nfa::thompson::{self, NFA, State};
use regex_automata::util::primitives::{PatternID, StateID};
use rustc_hash::FxHashMap;

pub const DEAD: u32 = 0;
const UNKNOWN: u32 = u32::MAX;
/// Larger patterns are refused: they would need gigabytes. The first limit is for one terminal, the
/// second for a whole lexer.
const TERMINAL_LIMIT: usize = 64 << 20;
const LEXER_LIMIT: usize = 384 << 20;
/// Bytes and classes of one pattern, those inside bounded repetitions as often as they are
/// repeated.
const REPEATED_LIMIT: usize = 500_000;
/// The cache is emptied when it has more states than this.
const STATE_LIMIT: usize = 40_000;

#[derive(Debug, Clone, thiserror::Error)]
pub enum DfaError {
    #[error(
        "the regular expressions are too large: their automaton needs more than {0} MB; \
        make bounds of repetitions smaller, or split the grammar"
    )]
    TooLarge(usize),
    #[error("the regular expression needs more than {0} automaton states")]
    TooManyStates(usize),
}

#[derive(Clone)]
pub struct Dfa {
    nfa: NFA,
    /// The pattern of each NFA state.
    owner: Vec<u32>,
    lazy: Vec<bool>,
    class_of: [u8; 256],
    /// A byte of each class.
    representative: Vec<u8>,
    start_key: Vec<StateID>,
    start: u32,
    cache: Cache,
    seen: Vec<u32>,
    stamp: u32,
}

#[derive(Clone, Default)]
struct Cache {
    table: Vec<u32>,
    /// Patterns that accept, best first; index ranges into `accepting`.
    accepts: Vec<(u32, u32)>,
    accepting: Vec<u32>,
    keys: Vec<Vec<StateID>>,
    ids: FxHashMap<Vec<StateID>, u32>,
    /// Bumped when the cache is emptied: ids from before are void.
    generation: u32,
}

/// Makes automata; one for many patterns keeps its tables.
pub struct Compiler {
    compiler: thompson::Compiler,
    limit: usize,
}

impl Compiler {
    /// For the patterns of single terminals.
    pub fn for_terminals() -> Compiler {
        Compiler::with_limit(TERMINAL_LIMIT)
    }

    fn with_limit(limit: usize) -> Compiler {
        let config = thompson::Config::new()
            .utf8(false)
            .nfa_size_limit(Some(limit))
            .which_captures(thompson::WhichCaptures::None);
        let mut compiler = thompson::Compiler::new();
        compiler.configure(config);
        Compiler { compiler, limit }
    }

    /// Pattern numbers are positions in `patterns`; a smaller number has priority.
    pub fn dfa(&self, patterns: &[Pattern]) -> Result<Dfa, DfaError> {
        let hirs: Vec<_> = patterns.iter().map(Pattern::hir).collect();
        let too_large = |_| DfaError::TooLarge(self.limit >> 20);
        let nfa = self.compiler.build_many_from_hir(&hirs).map_err(too_large)?;
        let lazy = patterns.iter().map(Pattern::has_lazy_loop).collect();
        Ok(Dfa::from_nfa(nfa, lazy, patterns.len()))
    }
}

impl Dfa {
    /// The automaton of a whole lexer. Much text is fine there, repetitions that explode are not.
    pub fn new(patterns: &[Pattern]) -> Result<Dfa, DfaError> {
        if patterns.iter().any(|p| p.repeated_size() > REPEATED_LIMIT) {
            return Err(DfaError::TooLarge(TERMINAL_LIMIT >> 20));
        }
        Compiler::with_limit(LEXER_LIMIT).dfa(patterns)
    }

    fn from_nfa(nfa: NFA, lazy: Vec<bool>, patterns: usize) -> Dfa {
        let classes = nfa.byte_classes();
        let mut class_of = [0u8; 256];
        let mut representative = Vec::new();
        for byte in 0..=255u8 {
            let class = classes.get(byte);
            class_of[byte as usize] = class;
            if class as usize == representative.len() {
                representative.push(byte);
            }
        }
        let owner = owners(&nfa, patterns);
        let seen = vec![0; nfa.states().len()];
        let mut dfa = Dfa {
            nfa,
            owner,
            lazy,
            class_of,
            representative,
            start_key: Vec::new(),
            start: DEAD,
            cache: Cache::default(),
            seen,
            stamp: 0,
        };
        dfa.start_key = dfa.initial(patterns);
        dfa.reset();
        dfa
    }

    fn initial(&mut self, patterns: usize) -> Vec<StateID> {
        self.stamp += 1;
        let mut key = Vec::new();
        for p in 0..patterns {
            let start = self.nfa.start_pattern(PatternID::must(p)).expect("pattern exists");
            self.close(start, &mut key);
        }
        self.normalise(key)
    }

    fn reset(&mut self) {
        let generation = self.cache.generation + 1;
        self.cache = Cache { generation, ..Cache::default() };
        self.intern(Vec::new());
        self.start = self.intern(self.start_key.clone());
    }

    /// `DEAD` if nothing can match.
    pub fn start(&self) -> u32 {
        self.start
    }

    pub fn classes(&self) -> usize {
        self.representative.len()
    }

    pub fn class_of(&self, byte: u8) -> u8 {
        self.class_of[byte as usize]
    }

    pub fn states(&self) -> usize {
        self.cache.keys.len()
    }

    /// Patterns that accept in `state`, best first.
    #[inline]
    pub fn accepts(&self, state: u32) -> &[u32] {
        let (from, to) = self.cache.accepts[state as usize];
        &self.cache.accepting[from as usize..to as usize]
    }

    /// The cache never drops a state inside one call, but it may between two: `state` must come
    /// from the current generation. Callers that walk long inputs use `step` only and start anew at
    /// each token.
    #[inline]
    pub fn step(&mut self, state: u32, byte: u8) -> u32 {
        let class = self.class_of[byte as usize] as usize;
        let next = self.cache.table[state as usize * self.representative.len() + class];
        if next != UNKNOWN { next } else { self.compute(state, class) }
    }

    /// The state after a whole text.
    pub fn walk(&mut self, text: &[u8]) -> u32 {
        text.iter().fold(self.start, |state, byte| self.step(state, *byte))
    }

    /// The automaton after `state` on any byte of `class`.
    pub fn step_class(&mut self, state: u32, class: usize) -> u32 {
        let next = self.cache.table[state as usize * self.representative.len() + class];
        if next != UNKNOWN { next } else { self.compute(state, class) }
    }

    #[cold]
    fn compute(&mut self, state: u32, class: usize) -> u32 {
        let key = self.cache.keys[state as usize].clone();
        let byte = self.representative[class];
        self.stamp += 1;
        let mut next = Vec::new();
        for id in key {
            if let Some(target) = self.target(id, byte) {
                self.close(target, &mut next);
            }
        }
        let next = self.normalise(next);
        if self.cache.keys.len() >= STATE_LIMIT && !self.cache.ids.contains_key(&next) {
            self.reset();
            return self.intern(next);
        }
        let id = self.intern(next);
        self.cache.table[state as usize * self.representative.len() + class] = id;
        id
    }

    fn target(&self, id: StateID, byte: u8) -> Option<StateID> {
        match self.nfa.state(id) {
            State::ByteRange { trans } => trans.matches_byte(byte).then_some(trans.next),
            State::Sparse(sparse) => sparse.matches_byte(byte),
            State::Dense(dense) => dense.matches_byte(byte),
            _ => None,
        }
    }

    /// Appends the closure of `from` in order of priority, without what was seen in this step.
    fn close(&mut self, from: StateID, out: &mut Vec<StateID>) {
        let mut stack = vec![from];
        while let Some(id) = stack.pop() {
            if std::mem::replace(&mut self.seen[id.as_usize()], self.stamp) == self.stamp {
                continue;
            }
            match self.nfa.state(id) {
                State::Union { alternates } => stack.extend(alternates.iter().rev()),
                State::BinaryUnion { alt1, alt2 } => stack.extend([*alt2, *alt1]),
                State::Capture { next, .. } => stack.push(*next),
                State::Look { .. } | State::Fail => {}
                _ => out.push(id),
            }
        }
    }

    /// Greedy patterns: order does not matter, so sort. Lazy ones: cut after the first accepting
    /// state.
    fn normalise(&self, states: Vec<StateID>) -> Vec<StateID> {
        let owner = |id: &StateID| self.owner[id.as_usize()] as usize;
        let (mut lazy, mut greedy): (Vec<_>, Vec<_>) =
            states.into_iter().partition(|s| self.lazy[owner(s)]);
        greedy.sort_unstable();
        lazy.sort_by_key(|s| owner(s));
        let mut cut = usize::MAX;
        for id in lazy {
            if owner(&id) == cut {
                continue;
            }
            if matches!(self.nfa.state(id), State::Match { .. }) {
                cut = owner(&id);
            }
            greedy.push(id);
        }
        greedy
    }

    fn intern(&mut self, key: Vec<StateID>) -> u32 {
        if let Some(&id) = self.cache.ids.get(&key) {
            return id;
        }
        let id = self.cache.keys.len() as u32;
        let from = self.cache.accepting.len() as u32;
        let matched = key.iter().filter_map(|s| match self.nfa.state(*s) {
            State::Match { pattern_id } => Some(pattern_id.as_u32()),
            _ => None,
        });
        let mut matched: Vec<u32> = matched.collect();
        matched.sort_unstable();
        self.cache.accepting.extend(matched);
        self.cache.accepts.push((from, self.cache.accepting.len() as u32));
        let fill = if key.is_empty() { DEAD } else { UNKNOWN };
        self.cache.table.extend(std::iter::repeat_n(fill, self.representative.len()));
        self.cache.keys.push(key.clone());
        self.cache.ids.insert(key, id);
        id
    }

    /// Patterns that can still match from `state`, possibly several times.
    pub fn live_patterns(&self, state: u32) -> impl Iterator<Item = u32> {
        self.cache.keys[state as usize].iter().map(|s| self.owner[s.as_usize()])
    }

    /// Builds every state. Fails if there are more than `limit`.
    pub fn complete(&mut self, limit: usize) -> Result<(), DfaError> {
        let mut state = 0;
        while state < self.states() {
            for class in 0..self.classes() {
                self.step_class(state as u32, class);
                if self.states() > limit.min(STATE_LIMIT - 1) {
                    return Err(DfaError::TooManyStates(limit));
                }
            }
            state += 1;
        }
        Ok(())
    }

    /// Bytes of each class, in increasing order.
    pub fn class_bytes(&self) -> Vec<Vec<u8>> {
        let mut all = vec![Vec::new(); self.classes()];
        for byte in 0..=255u8 {
            all[self.class_of[byte as usize] as usize].push(byte);
        }
        all
    }
}

fn owners(nfa: &NFA, patterns: usize) -> Vec<u32> {
    let mut owner = vec![0; nfa.states().len()];
    let mut seen = vec![false; nfa.states().len()];
    for p in 0..patterns {
        let mut todo = vec![nfa.start_pattern(PatternID::must(p)).expect("pattern exists")];
        while let Some(id) = todo.pop() {
            if std::mem::replace(&mut seen[id.as_usize()], true) {
                continue;
            }
            owner[id.as_usize()] = p as u32;
            successors(nfa.state(id), &mut todo);
        }
    }
    owner
}

fn successors(state: &State, out: &mut Vec<StateID>) {
    match state {
        State::ByteRange { trans } => out.push(trans.next),
        State::Sparse(sparse) => out.extend(sparse.transitions.iter().map(|t| t.next)),
        State::Dense(dense) => {
            out.extend(dense.transitions.iter().copied().filter(|s| *s != StateID::ZERO))
        }
        State::Union { alternates } => out.extend(alternates.iter()),
        State::BinaryUnion { alt1, alt2 } => out.extend([*alt1, *alt2]),
        State::Capture { next, .. } | State::Look { next, .. } => out.push(*next),
        State::Fail | State::Match { .. } => {}
    }
}
