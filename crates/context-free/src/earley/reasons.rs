//! Why an item is in a configuration: what was completed in each step of a recogniser, and the walk
//! back along it.
//!
//! The walk needs no places. An item that began in configuration c is traced back to a place whose
//! configuration is c; which items wait there, and why, depends on that configuration and on the
//! step into it only. So the reasons of a step are kept once, however many prefixes take it.
//!
//! A step lists its completions in the order in which they were found. What is complete there had
//! its reason listed before, so a walk that takes the first reason and then looks only before it
//! ends, in cyclic rules too.

use crate::earley::Sets;
use crate::earley::recognize::{Config, Item, Letter, Recognizer};
use crate::earley::tables::{Next, Slot};
use crate::ids::NtId;
use crate::ids::TerminalId;
use rustc_hash::FxHashMap;

/// A complete item, the first of its left-hand side and origin, and the end of the chain of
/// completions that it starts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Completed {
    pub item: Item,
    pub top: (NtId, Config),
}

/// Completions by step, of all steps taken so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reasons {
    completed: Vec<Completed>,
    steps: FxHashMap<(Config, Letter), (u32, u32)>,
}

impl Reasons {
    pub fn add(&mut self, item: Item, top: (NtId, Config)) {
        self.completed.push(Completed { item, top });
    }

    /// The completions from the `first` on belong to this step.
    pub fn end_step(&mut self, config: Config, letter: Letter, first: usize) {
        self.steps.insert((config, letter), (first as u32, self.completed.len() as u32));
    }

    pub fn len(&self) -> usize {
        self.completed.len()
    }

    fn of_step(&self, config: Config, letter: Letter) -> &[Completed] {
        let range = self.steps.get(&(config, letter));
        range.map_or(&[], |(from, to)| &self.completed[*from as usize..*to as usize])
    }
}

/// A walk from an item at some place of a prefix to the left.
pub struct Walk<'a> {
    recognizer: &'a Recognizer,
    reasons: &'a Reasons,
    /// The configuration at each place, and what was read between them.
    configs: &'a [Config],
    letters: &'a [Letter],
    /// The tokens of the prefix: those that are passed get the terminal that the walk goes over.
    tokens: &'a mut [TerminalId],
    /// Places up to here are not looked at.
    until: usize,
    place: usize,
    /// Items to go on with, each where the one above it began.
    waiting: Vec<Item>,
    /// How many of the completions of this place may be used.
    limit: usize,
}

impl<'a> Walk<'a> {
    /// Begins after all `tokens`. The recogniser has to be one that keeps reasons.
    pub fn new(
        recognizer: &'a Recognizer,
        (configs, letters): (&'a [Config], &'a [Letter]),
        tokens: &'a mut [TerminalId],
        until: usize,
    ) -> Option<Walk<'a>> {
        let (reasons, place) = (recognizer.reasons()?, tokens.len());
        let (waiting, limit) = (Vec::new(), usize::MAX);
        Some(Walk { recognizer, reasons, configs, letters, tokens, until, place, waiting, limit })
    }

    pub fn config(&self) -> Config {
        self.configs[self.place]
    }

    pub fn is_done(&self) -> bool {
        self.place <= self.until
    }

    /// Goes to where an item of this place began, or at least to the place to stop at. `None`: the
    /// item has no reason.
    pub fn item(&mut self, item: Item) -> Option<()> {
        self.limit = usize::MAX;
        self.waiting.push(item);
        self.run()
    }

    /// Goes to the beginning of a sentence that ends here.
    pub fn sentence(&mut self) -> Option<()> {
        let is_sentence = |(nt, origin)| self.recognizer.is_sentence(nt, origin);
        let index = self.completed().iter().position(|c| is_sentence(c.top))?;
        self.enter(index);
        self.run()
    }

    fn run(&mut self) -> Option<()> {
        while let Some(item) = self.waiting.pop() {
            self.back(item)?;
            if self.is_done() {
                break;
            }
        }
        Some(())
    }

    /// Over what stands before the dot, until a child is entered or the beginning reached.
    fn back(&mut self, mut item: Item) -> Option<()> {
        let tables = self.recognizer.tables();
        while !self.is_done() && !self.begins(item) {
            item.slot -= 1;
            let before = tables.next[item.slot as usize];
            if let Some(terminal) = before.as_terminal() {
                self.token(terminal);
            } else if let Some(index) = self.child(before.as_nonterminal()?, item) {
                self.waiting.push(item);
                self.enter(index);
                return Some(());
            } else if !tables.is_nullable(before) {
                return None;
            }
        }
        self.limit = usize::MAX;
        Some(())
    }

    /// Does an item begin here? One that is complete does not: it has read something, even if that
    /// led back to the configuration in which it began, as an element of a list does. One that is
    /// not complete is no part of the configuration in which it began.
    fn begins(&self, item: Item) -> bool {
        item.origin == self.config() && !self.recognizer.tables().next[item.slot as usize].is_end()
    }

    fn token(&mut self, terminal: TerminalId) {
        self.place -= 1;
        self.tokens[self.place] = terminal;
        self.limit = usize::MAX;
    }

    fn completed(&self) -> &'a [Completed] {
        match self.place.checked_sub(1) {
            Some(before) => self.reasons.of_step(self.configs[before], self.letters[before]),
            None => &[],
        }
    }

    /// The first completion of `nt` here that began where `item` waited for it.
    fn child(&self, nt: NtId, item: Item) -> Option<usize> {
        let list = self.completed();
        let list = &list[..list.len().min(self.limit)];
        list.iter().position(|c| c.top.0 == nt && self.waits(c.top.1, nt, item))
    }

    fn waits(&self, config: Config, nt: NtId, item: Item) -> bool {
        let (waiting, predicted) = self.recognizer.parents(config, Next::nonterminal(nt));
        if item.origin == config {
            return predicted.contains(&(item.slot + 1));
        }
        waiting.binary_search_by_key(&(item.slot, item.origin), |i| (i.slot, i.origin)).is_ok()
    }

    /// Goes on with a completion, and after it with the items of the chain that it started.
    fn enter(&mut self, index: usize) {
        let completed = self.completed()[index];
        let lhs = |slot: Slot| self.recognizer.tables().lhs[slot as usize];
        let before = self.waiting.len();
        let mut at = (lhs(completed.item.slot), completed.item.origin);
        while at != completed.top {
            let Some(link) = self.recognizer.only_parent(at.0, at.1) else { break };
            self.waiting.push(Item { slot: link.slot - 1, origin: link.origin });
            at = (lhs(link.slot), link.origin);
        }
        self.waiting[before..].reverse();
        self.waiting.push(completed.item);
        self.limit = index;
    }
}
