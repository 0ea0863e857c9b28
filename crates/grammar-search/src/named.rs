//! The sentences of a grammar over the tokens of named lexers.
//!
//! The grammar's tokens and those that the program's lexer delivers are two views of one text.
//! Which terminal has which code is learnt from the runs: the grammar says where its tokens are,
//! and the trace where the lexer's are. So the tokens of a sentence that was not run can be told
//! before it runs, and evaluating the path condition over them says where it leaves the path: in
//! the parser, not in the scanner.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use grammar::TerminalId;
use grammar::language::Language;
use grammar::lift::{Lifted, Neighbour, Token};
use rustc_hash::FxHashMap;
use search::{Change, Codes, Run, Sentences, TokenInputs};

use crate::Lifting;

pub struct NamedLifting<'l> {
    lifting: Lifting<'l>,
    inputs: Rc<RefCell<TokenInputs>>,
    learnt: Learnt,
}

/// Which tokens the lexer delivers for a terminal.
#[derive(Default)]
struct Learnt {
    /// How often each terminal came with each index of a code.
    seen: FxHashMap<TerminalId, FxHashMap<u8, u32>>,
    /// What is said about terminals that were not seen.
    told: FxHashMap<TerminalId, u8>,
    /// What the lexer delivers at the end of the input.
    end: Option<u8>,
    /// Runs that were looked at.
    runs: usize,
}

/// The terminal's token is told only if it is what came mostly.
impl Learnt {
    fn learn(&mut self, run: &Run, tokens: &[Token]) {
        for (number, token) in run.tokens.iter().enumerate() {
            let piece = run.piece(number);
            let mut inside =
                tokens.iter().filter(|token| piece.start <= token.start && token.end <= piece.end);
            match (inside.next(), inside.next()) {
                (Some(only), None) => {
                    *self.seen.entry(only.terminal).or_default().entry(token.index).or_default() +=
                        1;
                }
                (None, _) if number + 1 == run.tokens.len() => self.end = Some(token.index),
                _ => {}
            }
        }
    }

    fn index(&self, terminal: TerminalId) -> u8 {
        let seen = self.seen.get(&terminal).into_iter().flatten();
        let mostly = seen.max_by_key(|(index, count)| (**count, u8::MAX - **index));
        let mostly = mostly.map(|(index, _)| *index);
        mostly.or_else(|| self.told.get(&terminal).copied()).unwrap_or(Codes::UNKNOWN)
    }

    /// Terminals for which the lexer delivers this token.
    fn terminals(&self, index: u8) -> Vec<TerminalId> {
        let told = self
            .told
            .iter()
            .filter(|(terminal, told)| **told == index && !self.seen.contains_key(terminal));
        let seen = self.seen.iter().filter(|(_, seen)| seen.contains_key(&index));
        let mut found: Vec<TerminalId> = seen
            .map(|(terminal, _)| *terminal)
            .chain(told.map(|(terminal, _)| *terminal))
            .collect();
        found.sort_unstable();
        found
    }
}

impl<'l> NamedLifting<'l> {
    /// `codes` are those of tokens by name, where the grammar does not tell them itself.
    pub fn new(
        language: &Language,
        lifting: Lifting<'l>,
        codes: &BTreeMap<String, i64>,
        inputs: Rc<RefCell<TokenInputs>>,
    ) -> NamedLifting<'l> {
        let mut learnt = Learnt::default();
        for (number, terminal) in language.grammar.terminals.iter().enumerate() {
            let code = codes.get(&terminal.name).copied().or(terminal.code);
            // Negative codes are those of a 32-bit number, as lexers deliver them.
            let code = code.map(|code| if code < 0 { u64::from(code as u32) } else { code as u64 });
            let index = code.and_then(|code| inputs.borrow_mut().codes.index(code));
            learnt.told.extend(index.map(|index| (TerminalId::from(number), index)));
        }
        NamedLifting { lifting, inputs, learnt }
    }

    fn text(&self, input: &[u8]) -> Vec<u8> {
        self.inputs.borrow().view(input).text.to_vec()
    }

    /// Looks at runs that came since the last time.
    fn learn(&mut self) {
        let inputs = self.inputs.borrow();
        for run in inputs.runs().iter().skip(self.learnt.runs) {
            if let Some(lifted) = self.lifting.lifter.lift(&run.text) {
                self.learnt.learn(run, lifted.tokens());
            }
        }
        self.learnt.runs = inputs.runs().len();
    }

    /// Token inputs of texts that are like a run's.
    fn like(
        &mut self,
        input: &[u8],
        neighbours: impl IntoIterator<Item = Neighbour>,
    ) -> Vec<Vec<u8>> {
        let inputs = Rc::clone(&self.inputs);
        let inputs = inputs.borrow();
        let Some((number, run)) = inputs.view(input).run else {
            return neighbours
                .into_iter()
                .map(|neighbour| TokenInputs::fresh(&neighbour.text))
                .collect();
        };
        let old = self.lifting.lifter.lift(&run.text);
        let old = old.as_deref().map_or(&[][..], Lifted::tokens);
        let like = |neighbour: Neighbour| {
            let parting = old.get(neighbour.kept).map_or(run.text.len(), |token| token.start);
            let kept = (0..run.tokens.len()).take_while(|token| run.piece(*token).end <= parting);
            let kept = kept.map(|token| run.tokens[token].index);
            let new = neighbour.terminals.iter().map(|terminal| self.learnt.index(*terminal));
            inputs.like(number, kept.chain(new).chain(self.learnt.end), &neighbour.text)
        };
        neighbours.into_iter().map(like).collect()
    }

    /// The same of texts of which no more is known.
    fn like_texts(&mut self, input: &[u8], texts: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
        let own = self.text(input);
        let neighbours: Vec<Neighbour> = texts
            .into_iter()
            .filter_map(|text| self.lifting.lifter.as_neighbour(&own, text))
            .collect();
        self.like(input, neighbours)
    }
}

impl Sentences for NamedLifting<'_> {
    fn contains(&mut self, input: &[u8]) -> bool {
        let inputs = Rc::clone(&self.inputs);
        let inputs = inputs.borrow();
        let view = inputs.view(input);
        view.is_spelt && self.lifting.contains(view.text)
    }

    fn fresh(&mut self, random: u64) -> Option<Vec<u8>> {
        self.lifting.fresh(random).map(|text| TokenInputs::fresh(&text))
    }

    fn keep(&mut self, input: &[u8]) {
        self.lifting.keep(&self.text(input));
    }

    fn keys(&mut self, input: &[u8]) -> Vec<u64> {
        self.learn();
        self.lifting.keys(&self.text(input))
    }

    fn changes(&mut self, input: &[u8]) -> Vec<Change> {
        self.lifting.changes(&self.text(input))
    }

    fn change(&mut self, input: &[u8], change: Change) -> Option<Vec<u8>> {
        let text = self.lifting.change(&self.text(input), change)?;
        self.like_texts(input, vec![text]).pop()
    }

    fn token_at(&mut self, input: &[u8], byte: usize) -> Option<usize> {
        let inputs = Rc::clone(&self.inputs);
        let inputs = inputs.borrow();
        let view = inputs.view(input);
        self.lifting.token_at(view.text, view.place(byte)?)
    }

    fn neighbours(&mut self, input: &[u8], token: usize) -> Vec<Vec<u8>> {
        let neighbours = self.lifting.lifter.neighbours(&self.text(input), token);
        self.like(input, neighbours)
    }

    fn with_proposal(&mut self, input: &[u8], proposal: &[u8]) -> Vec<Vec<u8>> {
        let inputs = Rc::clone(&self.inputs);
        let inputs = inputs.borrow();
        let (own, wanted) = (inputs.view(input), inputs.view(proposal));
        let mut found = Vec::new();
        let differs = |(_, (a, b)): &(usize, (&u8, &u8))| a != b;
        let changed = own.indices.iter().zip(wanted.indices).enumerate().find(differs);
        if let Some((number, (_, index))) = changed
            && let Some((_, run)) = own.run
            && let Some(token) = self.lifting.token_at(own.text, run.piece(number).start)
        {
            for terminal in self.learnt.terminals(*index) {
                let alternatives = self.lifting.lifter.alternatives(own.text, token, terminal);
                found.extend(self.like(input, alternatives));
            }
        }
        if own.text != wanted.text {
            let texts = self.lifting.with_proposal(own.text, wanted.text);
            found.extend(self.like_texts(input, texts));
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_runs_show_counts_more_than_what_is_told() {
        let (first, second) = (TerminalId(0), TerminalId(1));
        let mut learnt =
            Learnt { told: [(first, 5), (second, 6)].into_iter().collect(), ..Learnt::default() };
        assert_eq!(
            [first, second, TerminalId(2)].map(|terminal| learnt.index(terminal)),
            [5, 6, Codes::UNKNOWN]
        );
        let token = |terminal, start, end| Token { terminal, start, end };
        let of = |index, start| search::TokenOf { index, start };
        let run = Run { text: b"ab c".to_vec(), tokens: vec![of(7, 0), of(8, 2), of(9, 4)] };
        learnt.learn(&run, &[token(first, 0, 2), token(second, 3, 4)]);
        assert_eq!([first, second].map(|terminal| learnt.index(terminal)), [7, 8]);
        assert_eq!(
            (learnt.terminals(7), learnt.terminals(5), learnt.end),
            (vec![first], vec![], Some(9))
        );
    }
}
