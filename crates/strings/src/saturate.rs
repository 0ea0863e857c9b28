//! A shortest word of a context-free language that an automaton accepts.
//!
//! Items are (nonterminal, state, state): the nonterminal derives a word that leads from one state
//! to the other. They are built lazily, only for (nonterminal, state) pairs that something asks
//! for, and in Knuth's order: always the shortest word first. So the first item for the start
//! symbol that ends in an accepting state is a shortest word; a later one is better only if less
//! must follow it elsewhere. Running out of items proves that there is none, without any bound.
//! When the length of the word is bounded, items carry their length too.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::budget::{Budget, Stop};
use crate::grammar::{Grammar, Nonterminal, SetId, Symbol};
use crate::search::MAX_DISTANCE;

/// An automaton over bytes without empty moves. Each byte stands for its class.
#[derive(Debug, Default)]
pub struct Machine {
    pub start: u32,
    /// How many bytes must follow elsewhere if a word ends in a state; `None` where none may end.
    pub rest: Vec<Option<usize>>,
    pub moves: Vec<Vec<(u8, u32)>>,
}

/// Lengths that count as a solution.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    pub least: u64,
    /// If given, words of different lengths are different items.
    pub most: Option<u64>,
}

/// How an item came about.
#[derive(Clone, Copy, Debug)]
enum Origin {
    Byte(u8),
    /// The last dotted item of the production.
    Production(u32),
}

#[derive(Clone, Copy, Debug)]
struct Complete {
    asked: u32,
    to: u32,
    length: u64,
    origin: Origin,
}

/// The symbols before the dot derive a word from the state of `asked` to `at`.
#[derive(Clone, Copy, Debug)]
struct Dotted {
    asked: u32,
    production: u32,
    dot: u32,
    at: u32,
    length: u64,
    /// The dotted item before the last symbol, and that symbol's item or byte.
    previous: u32,
    child: Child,
}

#[derive(Clone, Copy, Debug)]
enum Child {
    None,
    Byte(u8),
    Item(u32),
}

enum Fact {
    Complete(Complete),
    Dotted(Dotted),
}

/// What is known about one (nonterminal, state) pair.
#[derive(Debug)]
struct Asked {
    nonterminal: Nonterminal,
    complete: Vec<u32>,
    waiting: Vec<u32>,
}

/// A byte and where it leads.
type Targets = std::rc::Rc<[(u8, u32)]>;

pub struct Saturation<'a> {
    grammar: &'a Grammar,
    machine: &'a Machine,
    bounds: Bounds,
    asked: Vec<Asked>,
    asked_ids: FxHashMap<(u32, u32), u32>,
    complete: Vec<Complete>,
    dotted: Vec<Dotted>,
    seen_complete: FxHashSet<(u32, u32, u64)>,
    seen_dotted: FxHashSet<(u32, u32, u32, u32, u64)>,
    /// Facts by length.
    agenda: Vec<Vec<Fact>>,
    lowest: usize,
    targets: FxHashMap<(SetId, u32), Targets>,
    /// Facts that were put on the agenda and are not accounted for yet.
    pushed: usize,
    /// Whether words were left out because they are too long.
    too_long: bool,
}

const NONE: u32 = u32::MAX;

impl<'a> Saturation<'a> {
    pub fn new(grammar: &'a Grammar, machine: &'a Machine, bounds: Bounds) -> Self {
        Saturation {
            grammar,
            machine,
            bounds,
            asked: Vec::new(),
            asked_ids: FxHashMap::default(),
            complete: Vec::new(),
            dotted: Vec::new(),
            seen_complete: FxHashSet::default(),
            seen_dotted: FxHashSet::default(),
            agenda: Vec::new(),
            lowest: 0,
            targets: FxHashMap::default(),
            pushed: 0,
            too_long: false,
        }
    }

    /// A word of `start` that the machine accepts and whose length is within the bounds, as short
    /// as possible together with what must follow it.
    pub fn run(mut self, start: Nonterminal, budget: &mut Budget) -> Result<Option<Vec<u8>>, Stop> {
        let goal = self.ask(start, self.machine.start);
        let least_rest = self.machine.rest.iter().flatten().min().copied().unwrap_or(0);
        let mut best: Option<(usize, u32)> = None;
        while let Some(fact) = self.pop() {
            if best.is_some_and(|(total, _)| self.lowest + least_rest >= total) {
                break;
            }
            match budget.spend_many(std::mem::take(&mut self.pushed)) {
                Err(stop) if best.is_none() => return Err(stop),
                Err(_) => break,
                Ok(()) => {}
            }
            match fact {
                Fact::Complete(item) => {
                    if let Some(id) = self.finish(item)
                        && let Some(total) = self.total(goal, &item)
                        && best.is_none_or(|(best, _)| total < best)
                    {
                        best = Some((total, id));
                    }
                }
                Fact::Dotted(item) => self.wait(item),
            }
        }
        match best {
            Some((_, id)) => Ok(Some(self.word(id))),
            None if self.too_long => Err(Stop::Memory(MAX_DISTANCE as usize)),
            None => Ok(None),
        }
    }

    /// The length of a solution with what must follow; `None` if the item is none.
    fn total(&self, goal: u32, item: &Complete) -> Option<usize> {
        let is_goal = item.asked == goal && item.length >= self.bounds.least;
        self.machine.rest[item.to as usize]
            .filter(|_| is_goal)
            .map(|rest| item.length as usize + rest)
    }

    fn pop(&mut self) -> Option<Fact> {
        while self.lowest < self.agenda.len() {
            if let Some(fact) = self.agenda[self.lowest].pop() {
                return Some(fact);
            }
            self.lowest += 1;
        }
        None
    }

    fn push(&mut self, length: u64, fact: Fact) {
        if self.bounds.most.is_some_and(|most| length > most) {
            return;
        }
        if length > MAX_DISTANCE {
            self.too_long = true;
            return;
        }
        self.pushed += 1;
        let length = length as usize;
        if length >= self.agenda.len() {
            self.agenda.resize_with(length + 1, Vec::new);
        }
        self.agenda[length].push(fact);
        self.lowest = self.lowest.min(length);
    }

    /// Items with the same key are the same; without a bound the first, which is the shortest,
    /// stands for all.
    fn length_key(&self, length: u64) -> u64 {
        if self.bounds.most.is_some() { length } else { 0 }
    }

    fn ask(&mut self, nonterminal: Nonterminal, from: u32) -> u32 {
        if let Some(&known) = self.asked_ids.get(&(nonterminal.0, from)) {
            return known;
        }
        let asked = self.asked.len() as u32;
        self.asked.push(Asked { nonterminal, complete: Vec::new(), waiting: Vec::new() });
        self.asked_ids.insert((nonterminal.0, from), asked);
        let rule = self.grammar.rule(nonterminal);
        if !rule.bytes.is_empty() {
            self.read_bytes(asked, rule.bytes, from);
        }
        for production in 0..rule.productions.len() as u32 {
            let item = Dotted {
                asked,
                production,
                dot: 0,
                at: from,
                length: 0,
                previous: NONE,
                child: Child::None,
            };
            self.push(0, Fact::Dotted(item));
        }
        asked
    }

    fn read_bytes(&mut self, asked: u32, bytes: crate::bytes::ByteSet, from: u32) {
        let mut reached = FxHashSet::default();
        for &(byte, to) in &self.machine.moves[from as usize] {
            if bytes.contains(byte) && reached.insert(to) {
                let item = Complete { asked, to, length: 1, origin: Origin::Byte(byte) };
                self.push(1, Fact::Complete(item));
            }
        }
    }

    /// Records a complete item and moves everything that waits for it. `None` if it is not new.
    fn finish(&mut self, item: Complete) -> Option<u32> {
        if !self.seen_complete.insert((item.asked, item.to, self.length_key(item.length))) {
            return None;
        }
        let id = self.complete.len() as u32;
        self.complete.push(item);
        self.asked[item.asked as usize].complete.push(id);
        for i in 0..self.asked[item.asked as usize].waiting.len() {
            let waiting = self.asked[item.asked as usize].waiting[i];
            self.join(waiting, id);
        }
        Some(id)
    }

    fn join(&mut self, waiting: u32, child: u32) {
        let (before, complete) = (self.dotted[waiting as usize], self.complete[child as usize]);
        let length = before.length + complete.length;
        let item = Dotted {
            dot: before.dot + 1,
            at: complete.to,
            length,
            previous: waiting,
            child: Child::Item(child),
            ..before
        };
        self.push(length, Fact::Dotted(item));
    }

    /// Records a dotted item and asks for its next symbol.
    fn wait(&mut self, item: Dotted) {
        let left = self.asked[item.asked as usize].nonterminal;
        let production = &self.grammar.rule(left).productions[item.production as usize];
        let next = production.get(item.dot as usize).copied();
        let key = (item.asked, item.production, item.dot, item.at, self.length_key(item.length));
        if item.dot > 0 && !self.seen_dotted.insert(key) {
            return;
        }
        let id = self.dotted.len() as u32;
        self.dotted.push(item);
        match next {
            None => {
                let complete = Complete {
                    asked: item.asked,
                    to: item.at,
                    length: item.length,
                    origin: Origin::Production(id),
                };
                self.push(item.length, Fact::Complete(complete));
            }
            Some(Symbol::Bytes(set)) => self.read_set(id, item, set),
            Some(Symbol::Nonterminal(nonterminal)) => {
                let asked = self.ask(nonterminal, item.at);
                self.asked[asked as usize].waiting.push(id);
                for i in 0..self.asked[asked as usize].complete.len() {
                    self.join(id, self.asked[asked as usize].complete[i]);
                }
            }
        }
    }

    fn read_set(&mut self, id: u32, item: Dotted, set: SetId) {
        let targets = self.targets(set, item.at);
        for &(byte, to) in targets.iter() {
            let length = item.length + 1;
            let next = Dotted {
                dot: item.dot + 1,
                at: to,
                length,
                previous: id,
                child: Child::Byte(byte),
                ..item
            };
            self.push(length, Fact::Dotted(next));
        }
    }

    /// Where a byte of `set` leads from a state; one byte for each target.
    fn targets(&mut self, set: SetId, from: u32) -> Targets {
        if let Some(known) = self.targets.get(&(set, from)) {
            return known.clone();
        }
        let bytes = self.grammar.set(set);
        let mut reached = FxHashSet::default();
        let moves = self.machine.moves[from as usize].iter();
        let targets: Targets = moves
            .filter(|(byte, to)| bytes.contains(*byte) && reached.insert(*to))
            .copied()
            .collect();
        self.targets.insert((set, from), targets.clone());
        targets
    }

    /// The word of a complete item, read off from right to left.
    fn word(&self, item: u32) -> Vec<u8> {
        let mut word = Vec::new();
        let mut open = vec![Child::Item(item)];
        while let Some(child) = open.pop() {
            match child {
                Child::None => {}
                Child::Byte(byte) => word.push(byte),
                Child::Item(id) => match self.complete[id as usize].origin {
                    Origin::Byte(byte) => word.push(byte),
                    Origin::Production(last) => self.children(last, &mut open),
                },
            }
        }
        word.reverse();
        word
    }

    /// Pushes the children of a finished production so that the last one is popped first.
    fn children(&self, last: u32, open: &mut Vec<Child>) {
        let start = open.len();
        let mut at = last;
        while at != NONE {
            let item = &self.dotted[at as usize];
            open.push(item.child);
            at = item.previous;
        }
        open[start..].reverse();
    }
}
