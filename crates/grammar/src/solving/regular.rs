//! The context-free constraint solver for regular expressions over terminals: a cheapest sentence
//! of the grammar that the expression matches as a whole, or none.
//!
//! `strings::saturate` follows the same idea over bytes. They are apart because what differs is in
//! the inner loop: there, an item carries its length where that is bounded, every item is paid from
//! a budget, what has to follow elsewhere counts, and the agenda is a list for each length.
//!
//! Earley's algorithm over the states of an automaton in place of positions: an item says that the
//! beginning of a production leads from one state to another. Items are taken cheapest first
//! (Knuth's generalisation of Dijkstra), so each is first met with its fewest tokens, and the first
//! whole sentence is a cheapest one. There are at most as many items as productions have places,
//! times pairs of states: polynomial for any grammar, and it always ends.

use crate::model::TerminalId;
use crate::model::core::{Core, NtId, ProdId};
use crate::model::language::Language;
use crate::solving::constraint::TerminalSet;
use rustc_hash::FxHashMap;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A regular expression over terminals.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expression {
    /// One token of a set.
    Token(TerminalSet),
    Sequence(Vec<Expression>),
    Choice(Vec<Expression>),
    /// Any number of times, none included.
    Star(Box<Expression>),
}

/// Transitions without a token are taken out when an automaton is done.
#[derive(Clone, Debug, Default)]
struct Automaton {
    /// From each state.
    silent: Vec<Vec<u32>>,
    moves: Vec<Vec<(TerminalSet, u32)>>,
}

impl Automaton {
    fn state(&mut self) -> u32 {
        self.silent.push(Vec::new());
        self.moves.push(Vec::new());
        self.silent.len() as u32 - 1
    }

    /// The state after an expression that begins in a state.
    fn add(&mut self, expression: &Expression, from: u32) -> u32 {
        match expression {
            Expression::Token(set) => {
                let to = self.state();
                self.moves[from as usize].push((set.clone(), to));
                to
            }
            Expression::Sequence(parts) => {
                parts.iter().fold(from, |from, part| self.add(part, from))
            }
            Expression::Choice(parts) => {
                let to = self.state();
                for part in parts {
                    let begin = self.state();
                    self.silent[from as usize].push(begin);
                    let end = self.add(part, begin);
                    self.silent[end as usize].push(to);
                }
                to
            }
            Expression::Star(part) => {
                let around = self.state();
                self.silent[from as usize].push(around);
                let end = self.add(part, around);
                self.silent[end as usize].push(around);
                around
            }
        }
    }

    /// A state and those that it leads to without a token.
    fn closure(&self, state: u32) -> Vec<u32> {
        let mut reached = vec![state];
        let mut next = 0;
        while let Some(&state) = reached.get(next) {
            next += 1;
            for &to in &self.silent[state as usize] {
                if !reached.contains(&to) {
                    reached.push(to);
                }
            }
        }
        reached
    }

    /// The moves of a state, those after silent ones included.
    fn all_moves(&self, state: u32) -> Vec<(TerminalSet, u32)> {
        self.closure(state)
            .iter()
            .flat_map(|state| self.moves[*state as usize].iter().cloned())
            .collect()
    }
}

/// The first `dot` symbols of a production lead from one state to another.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Item {
    production: ProdId,
    dot: u32,
    from: u32,
    to: u32,
}

/// How an item came to be: from one with a symbol less, by a token or by a whole production.
#[derive(Clone, Copy)]
enum Origin {
    Begin,
    Token(Item, TerminalId),
    Whole(Item, Item),
}

struct Search<'l> {
    core: &'l Core,
    possible: TerminalSet,
    moves: Vec<Vec<(TerminalSet, u32)>>,
    /// Fewest tokens first; then the item that came first.
    agenda: BinaryHeap<Reverse<(u64, u64, Item)>>,
    best: FxHashMap<Item, (u64, Origin)>,
    done: FxHashMap<Item, u64>,
    /// Items that wait for a nonterminal from a state on, and what was found of it.
    waiting: FxHashMap<(NtId, u32), Vec<Item>>,
    found: FxHashMap<(NtId, u32), Vec<Item>>,
    pushed: u64,
}

/// A cheapest sentence that the expression matches.
pub fn solve(language: &Language, expression: &Expression) -> Option<Vec<TerminalId>> {
    let mut automaton = Automaton::default();
    let begin = automaton.state();
    let end = automaton.add(expression, begin);
    let states = 0..automaton.silent.len() as u32;
    let accepting: Vec<bool> =
        states.clone().map(|state| automaton.closure(state).contains(&end)).collect();
    let core = &language.core;
    let has_lexeme = |t: &TerminalId| !language.lexemes[t.index()].is_empty();
    let mut search = Search {
        core,
        possible: TerminalSet::of(
            core.terminals(),
            (0..core.terminals()).map(TerminalId::from).filter(has_lexeme),
        ),
        moves: states.map(|state| automaton.all_moves(state)).collect(),
        agenda: BinaryHeap::new(),
        best: FxHashMap::default(),
        done: FxHashMap::default(),
        waiting: FxHashMap::default(),
        found: FxHashMap::default(),
        pushed: 0,
    };
    search.predict(core.start, begin);
    let whole = search.run(|item| {
        core.lhs(item.production) == core.start && item.from == begin && accepting[item.to as usize]
    })?;
    Some(search.sentence(whole))
}

impl Search<'_> {
    /// The first whole production that is wanted.
    fn run(&mut self, is_wanted: impl Fn(&Item) -> bool) -> Option<Item> {
        while let Some(Reverse((cost, _, item))) = self.agenda.pop() {
            if self.done.contains_key(&item) {
                continue;
            }
            self.done.insert(item, cost);
            let rhs = self.core.rhs(item.production);
            let Some(symbol) = rhs.get(item.dot as usize) else {
                if is_wanted(&item) {
                    return Some(item);
                }
                self.complete(item);
                continue;
            };
            match symbol.as_terminal() {
                Some(terminal) => self.read(item, terminal, cost),
                None => self.wait(item, symbol.as_nonterminal().unwrap_or(self.core.start), cost),
            }
        }
        None
    }

    fn push(&mut self, item: Item, cost: u64, origin: Origin) {
        if self.done.contains_key(&item)
            || self.best.get(&item).is_some_and(|(known, _)| *known <= cost)
        {
            return;
        }
        self.best.insert(item, (cost, origin));
        self.agenda.push(Reverse((cost, self.pushed, item)));
        self.pushed += 1;
    }

    fn predict(&mut self, nonterminal: NtId, state: u32) {
        for production in self.core.prods_of(nonterminal) {
            self.push(Item { production, dot: 0, from: state, to: state }, 0, Origin::Begin);
        }
    }

    fn read(&mut self, item: Item, terminal: TerminalId, cost: u64) {
        if !self.possible.contains(terminal) {
            return;
        }
        let moves = self.moves[item.to as usize].iter().filter(|(set, _)| set.contains(terminal));
        let states: Vec<u32> = moves.map(|(_, to)| *to).collect();
        for to in states {
            let next = Item { dot: item.dot + 1, to, ..item };
            self.push(next, cost + 1, Origin::Token(item, terminal));
        }
    }

    fn wait(&mut self, item: Item, nonterminal: NtId, cost: u64) {
        let key = (nonterminal, item.to);
        let others = self.waiting.entry(key).or_default();
        others.push(item);
        if others.len() == 1 {
            self.predict(nonterminal, item.to);
        }
        for whole in self.found.get(&key).cloned().unwrap_or_default() {
            self.advance(item, cost, whole);
        }
    }

    fn complete(&mut self, whole: Item) {
        let key = (self.core.lhs(whole.production), whole.from);
        let known = self.found.entry(key).or_default();
        // A nonterminal that leads to this state was found with as few tokens before.
        if known.iter().any(|other| other.to == whole.to) {
            return;
        }
        known.push(whole);
        for item in self.waiting.get(&key).cloned().unwrap_or_default() {
            let cost = self.done.get(&item).copied().unwrap_or(0);
            self.advance(item, cost, whole);
        }
    }

    fn advance(&mut self, item: Item, cost: u64, whole: Item) {
        let more = self.done.get(&whole).copied().unwrap_or(0);
        let next = Item { dot: item.dot + 1, to: whole.to, ..item };
        self.push(next, cost + more, Origin::Whole(item, whole));
    }

    /// The tokens of an item, from the last to the first.
    fn sentence(&self, whole: Item) -> Vec<TerminalId> {
        let mut tokens = Vec::new();
        let mut stack = vec![whole];
        while let Some(item) = stack.pop() {
            match self.best.get(&item).map(|(_, origin)| *origin) {
                Some(Origin::Token(before, terminal)) => {
                    tokens.push(terminal);
                    stack.push(before);
                }
                Some(Origin::Whole(before, part)) => stack.extend([before, part]),
                Some(Origin::Begin) | None => {}
            }
        }
        tokens.reverse();
        tokens
    }
}
