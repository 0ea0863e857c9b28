//! A context-free grammar as a deterministic automaton that is built as it is walked.
//!
//! A state is an Earley set. Sets are values (`context_free::earley`): two prefixes that reach
//! equal sets share everything that follows. This gives what saturation cannot: several
//! context-free languages at once, their complements, and exact counts. There are infinitely many
//! states unless something else bounds the length.
//!
//! The terminals of the productions are sets of bytes, which may overlap. So a byte is read as the
//! letter "one of the sets that contain it".

use context_free::TerminalId;
use context_free::earley::completion::Completion;
use context_free::earley::recognize::{self, Letter};

use crate::bytes::ByteSet;
use crate::grammar::{Grammar, Nonterminal};

/// Index of an Earley set.
pub use context_free::earley::recognize::Config as StateId;

#[derive(Debug)]
pub struct Recognizer {
    grammar: Grammar,
    /// The bytes that each terminal stands for.
    sets: Vec<ByteSet>,
    earley: recognize::Recognizer,
    completion: Completion,
    /// What each byte is read as, where that was needed.
    letters: Vec<Option<(Letter, Box<[TerminalId]>)>>,
    /// Of each state, the length of the shortest continuation.
    shortest: Vec<u64>,
}

impl Recognizer {
    pub fn new(grammar: Grammar) -> Self {
        let (productions, sets) = grammar.lower();
        let earley = recognize::Recognizer::new(&productions);
        let completion = Completion::new(&productions, &earley, &vec![1; sets.len()]);
        let letters = vec![None; 256];
        Recognizer { grammar, sets, earley, completion, letters, shortest: Vec::new() }
    }

    pub fn grammar(&self) -> &Grammar {
        &self.grammar
    }

    /// Whether a nonterminal derives a word at all.
    pub fn is_productive(&self, nonterminal: Nonterminal) -> bool {
        self.completion.is_productive(nonterminal)
    }

    /// The state before the first byte of a sentence of `goal`, which is productive.
    pub fn start(&mut self, goal: Nonterminal) -> StateId {
        let state = self.earley.start(goal);
        self.measure(state);
        state
    }

    /// The nonterminal that a start state is for.
    pub fn goal(&self, start: StateId) -> Option<Nonterminal> {
        self.earley.goal(start)
    }

    pub fn accepting(&self, state: StateId) -> bool {
        self.earley.accepts(state)
    }

    /// The number of items of a state.
    pub fn size(&self, state: StateId) -> usize {
        let predicted = self.earley.predictions(state);
        self.earley.items(state).len() + self.earley.tables().predicted_len(predicted)
    }

    /// The length of the shortest continuation. Every state has one.
    pub fn shortest(&self, state: StateId) -> u64 {
        self.shortest[state.0 as usize]
    }

    pub fn step(&mut self, from: StateId, byte: u8) -> Option<StateId> {
        let (letter, terminals) = self.letters[usize::from(byte)].get_or_insert_with(|| {
            let sets = (0..).map(TerminalId).zip(&self.sets);
            let terminals: Box<[TerminalId]> =
                sets.filter(|(_, set)| set.contains(byte)).map(|(terminal, _)| terminal).collect();
            (self.earley.letter(&terminals), terminals)
        });
        let state = self.earley.step(from, *letter, terminals)?;
        self.measure(state);
        Some(state)
    }

    /// States are numbered as they are found, and measured at once.
    fn measure(&mut self, state: StateId) {
        if state.0 as usize == self.shortest.len() {
            let cost = self.completion.cost(&self.earley, state);
            self.shortest.push(cost.unwrap_or(u64::MAX));
        }
    }
}
