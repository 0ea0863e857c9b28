//! Derivatives: one step of the automaton whose states are languages.
//!
//! Derivatives watch a budget of their own. Once it is spent they are empty, which proves nothing:
//! whoever believes an answer asks [`Languages::stopped`] first.

use super::{Language, Languages, Node};
use crate::budget::{Budget, Stop};

/// A derivative of so many parts costs as much as one more state.
const WIDE: usize = 16;

impl Languages {
    /// Gives derivatives a new budget with the same deadline.
    pub(crate) fn watch(&mut self, budget: &Budget) {
        self.budget = budget.renewed();
        self.stopped = None;
    }

    /// The same, with room for no more than `limit` states.
    pub(crate) fn watch_up_to(&mut self, budget: &Budget, limit: usize) {
        self.budget = budget.with_limit(limit);
        self.stopped = None;
    }

    /// An error if derivatives ran out of their budget since `watch`.
    pub(crate) fn stopped(&self) -> Result<(), Stop> {
        self.stopped.clone().map_or(Ok(()), Err)
    }

    /// How many parts a derivative looks at.
    fn width(&self, language: Language) -> usize {
        match self.node(language) {
            Node::Or(parts) | Node::And(parts) => parts.len(),
            Node::Grammar(grammar, state) => self.recognizer(*grammar).size(*state),
            Node::Nfa(_, states) => states.len(),
            _ => 0,
        }
    }

    pub fn contains(&mut self, language: Language, word: &[u8]) -> bool {
        let end = word.iter().fold(language, |language, &byte| self.derivative(language, byte));
        self.nullable(end)
    }

    /// The words `w` such that `byte w` is in the language.
    pub fn derivative(&mut self, language: Language, byte: u8) -> Language {
        if let Some(&known) = self.derivatives.get(&(language, byte)) {
            return known;
        }
        if self.stopped.is_none() {
            self.stopped = self.budget.spend_many(1 + self.width(language) / WIDE).err();
        }
        if self.stopped.is_some() {
            return Self::EMPTY;
        }
        let result = self.derive(language, byte);
        if self.stopped.is_none() {
            self.derivatives.insert((language, byte), result);
        }
        result
    }

    fn derive(&mut self, language: Language, byte: u8) -> Language {
        match self.nodes[language.0 as usize].clone() {
            Node::Epsilon => Self::EMPTY,
            Node::Bytes(set) => {
                if set.contains(byte) {
                    Self::EPSILON
                } else {
                    Self::EMPTY
                }
            }
            Node::Concat(first, second) => {
                let head = self.derivative(first, byte);
                let mut result = self.concat(head, second);
                if self.nullable(first) {
                    let tail = self.derivative(second, byte);
                    result = self.or([result, tail]);
                }
                result
            }
            Node::Or(parts) => {
                let parts: Vec<_> = parts.iter().map(|&part| self.derivative(part, byte)).collect();
                self.or(parts)
            }
            Node::And(parts) => {
                let mut derivatives = Vec::with_capacity(parts.len());
                for &part in &parts {
                    match self.derivative(part, byte) {
                        Self::EMPTY => return Self::EMPTY,
                        derivative => derivatives.push(derivative),
                    }
                }
                self.and(derivatives)
            }
            Node::Not(inner) => {
                let inner = self.derivative(inner, byte);
                self.not(inner)
            }
            Node::Star(inner) => {
                let first = self.derivative(inner, byte);
                self.concat(first, language)
            }
            Node::Repeat(inner, least, most) => {
                let first = self.derivative(inner, byte);
                let rest = self.repeat(inner, least.saturating_sub(1), most - 1);
                self.concat(first, rest)
            }
            Node::Grammar(grammar, state) => {
                match self.recognizers[grammar.0 as usize].step(state, byte) {
                    Some(state) => self.intern(Node::Grammar(grammar, state)),
                    None => Self::EMPTY,
                }
            }
            Node::Nfa(nfa, states) => {
                let states = self.nfas[nfa as usize].step(&states, byte);
                self.nfa(nfa, states)
            }
        }
    }
}
