//! The context-free constraint solver: a cheapest sentence whose first tokens lie in given sets, or
//! none.
//!
//! Godefroid, Kiezun and Levin unroll the grammar to its first n tokens and prune. Here, a step of
//! Earley's algorithm over a set of terminals is the union of the steps over its members: an item
//! of the union says that some choice of tokens leads to it, and choices before and after the place
//! where it began do not depend on each other. So the configuration after n sets has a completion
//! if and only if a sentence begins so, and as n is fixed, the cheapest completion makes a cheapest
//! sentence. Polynomial for any grammar.
//!
//! A `Prefix` keeps the configuration after each token; solving for another set at token i starts
//! there. Beside the union it follows one choice, that of the running input. Where this choice has
//! a completion as cheap as the union's, it is the answer; only otherwise the tokens of the prefix
//! are chosen anew, by walking back from the item that the completion finishes, along what each
//! step completed (`reasons`).

use crate::model::TerminalId;
use crate::model::analysis::INFINITE;
use crate::model::language::Language;
use crate::solving::constraint::TerminalSet;
use context_free::earley::completion::Completion;
use context_free::earley::reasons::Walk;
use context_free::earley::recognize::{Config, Item, Letter, Recognizer};

/// A solver with its caches, which grow with every new prefix: see `configs`.
pub struct TokenSolver {
    recognizer: Recognizer,
    completion: Completion,
    /// Terminals that have a lexeme: a token is never any of the others.
    possible: TerminalSet,
}

/// The state after the first tokens of a sentence. Belongs to the solver that made it.
#[derive(Clone, Debug)]
pub struct Prefix {
    /// After each token, from none on: the configuration of all choices of terminals.
    all: Vec<Config>,
    /// The configuration of the choice in `run`, as long as a sentence begins so.
    chosen: Vec<Option<Config>>,
    run: Vec<TerminalId>,
    /// What each token may be, one list after the other; `ends` has where each list ends.
    viable: Vec<TerminalId>,
    ends: Vec<u32>,
    /// What each token may be, as one letter.
    letters: Vec<Letter>,
}

impl Prefix {
    /// Number of tokens.
    pub fn len(&self) -> usize {
        self.run.len()
    }

    pub fn is_empty(&self) -> bool {
        self.run.is_empty()
    }

    /// Back to the first `len` tokens.
    pub fn truncate(&mut self, len: usize) {
        self.all.truncate(len + 1);
        self.chosen.truncate(len + 1);
        self.run.truncate(len);
        self.ends.truncate(len);
        self.letters.truncate(len);
        self.viable.truncate(self.ends.last().map_or(0, |end| *end as usize));
    }

    fn viable(&self, position: usize) -> &[TerminalId] {
        let from = position.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.viable[from as usize..self.ends[position] as usize]
    }
}

impl TokenSolver {
    pub fn new(language: &Language) -> TokenSolver {
        let core = &language.core;
        let recognizer = Recognizer::with_reasons(&core.productions, core.start);
        let has_lexeme = |t: &TerminalId| !language.lexemes[t.index()].is_empty();
        let possible = TerminalSet::of(
            core.terminals(),
            (0..core.terminals()).map(TerminalId::from).filter(has_lexeme),
        );
        let price = |t: usize| if possible.contains(TerminalId::from(t)) { 1 } else { INFINITE };
        let cost: Vec<u64> = (0..core.terminals()).map(price).collect();
        TokenSolver {
            completion: Completion::new(&core.productions, &recognizer, &cost),
            recognizer,
            possible,
        }
    }

    /// The prefix without tokens.
    pub fn begin(&mut self) -> Prefix {
        let config = self.recognizer.begin();
        let (run, viable, ends, letters) = Default::default();
        Prefix { all: vec![config], chosen: vec![Some(config)], run, viable, ends, letters }
    }

    /// Number of configurations so far, a measure of memory. To forget them, make a new solver.
    pub fn configs(&self) -> usize {
        self.recognizer.configs()
    }

    /// Adds a token. False, and nothing is added, if no sentence begins so.
    pub fn push(&mut self, prefix: &mut Prefix, set: &TerminalSet) -> bool {
        self.push_run(prefix, set, None)
    }

    /// As `push`, where the running input has the token `run`: answers keep it where that is not
    /// longer.
    pub fn push_run(
        &mut self,
        prefix: &mut Prefix,
        set: &TerminalSet,
        run: Option<TerminalId>,
    ) -> bool {
        let before = prefix.all[prefix.len()];
        let from = prefix.viable.len();
        let viable =
            |t: &TerminalId| self.possible.contains(*t) && self.recognizer.allows(before, *t);
        prefix.viable.extend(set.iter().filter(viable));
        let letter = self.recognizer.letter(&prefix.viable[from..]);
        let Some(config) = self.recognizer.step(before, letter, &prefix.viable[from..]) else {
            prefix.viable.truncate(from);
            return false;
        };
        let (token, chosen) = self.choice(prefix.chosen[prefix.len()], &prefix.viable[from..], run);
        prefix.all.push(config);
        prefix.chosen.push(chosen);
        prefix.run.push(token);
        prefix.letters.push(letter);
        prefix.ends.push(prefix.viable.len() as u32);
        true
    }

    /// The wanted one of the viable terminals if it can stand after a configuration, else the first
    /// that can.
    fn choice(
        &mut self,
        before: Option<Config>,
        viable: &[TerminalId],
        wanted: Option<TerminalId>,
    ) -> (TerminalId, Option<Config>) {
        let wanted = wanted.filter(|t| viable.contains(t));
        for token in wanted.iter().chain(viable) {
            if let Some(config) = before.and_then(|before| self.recognizer.advance(before, *token))
            {
                return (*token, Some(config));
            }
        }
        (viable[0], None)
    }

    /// A cheapest sentence that begins with the prefix.
    pub fn solve(&mut self, prefix: &Prefix) -> Option<Vec<TerminalId>> {
        let len = prefix.len();
        let best = self.completion.best_item(&self.recognizer, prefix.all[len])?;
        let own = prefix.chosen[len].and_then(|c| self.completion.best_item(&self.recognizer, c));
        let own = own.filter(|own| own.0 == best.0);
        let mut out = prefix.run.clone();
        if own.is_none() {
            self.choose(prefix, best.1, &mut out)?;
        }
        self.completion.finish(&self.recognizer, own.unwrap_or(best).1, &mut out);
        Some(out)
    }

    /// A cheapest sentence that begins with the first `position` tokens of the prefix and then a
    /// token of `set`: with the complement of what the token was, this negates a constraint.
    ///
    /// # Panics
    /// If the prefix has fewer tokens.
    pub fn solve_with(
        &mut self,
        prefix: &Prefix,
        position: usize,
        set: &TerminalSet,
    ) -> Option<Vec<TerminalId>> {
        let (all, chosen) = (prefix.all[position], prefix.chosen[position]);
        let allowed = |t: TerminalId| set.contains(t) && self.possible.contains(t);
        let best = self.completion.cheapest_next(&self.recognizer, all, allowed)?;
        let own = match chosen {
            Some(config) if config == all => Some(best),
            Some(config) => self.completion.cheapest_next(&self.recognizer, config, allowed),
            None => None,
        };
        let own = own.filter(|own| own.cost == best.cost);
        let next = own.unwrap_or(best);
        let mut out = Vec::with_capacity(position + 1 + next.cost as usize);
        out.extend_from_slice(&prefix.run[..position]);
        if own.is_none() {
            let before = Item { slot: next.item.slot - 1, origin: next.item.origin };
            self.choose(prefix, Some(before), &mut out)?;
        }
        out.push(next.terminal);
        self.completion.finish(&self.recognizer, Some(next.item), &mut out);
        Some(out)
    }

    /// Changes the first tokens of the prefix to terminals of their sets that lead to `item`, and
    /// to those that the completion finishes after it; without an item, to a sentence.
    fn choose(
        &mut self,
        prefix: &Prefix,
        item: Option<Item>,
        tokens: &mut [TerminalId],
    ) -> Option<()> {
        let Some(until) = (0..tokens.len()).find(|i| prefix.viable(*i).len() > 1) else {
            return Some(());
        };
        let mut walk = Walk::new(&self.recognizer, (&prefix.all, &prefix.letters), tokens, until)?;
        let Some(mut item) = item else { return walk.sentence() };
        loop {
            walk.item(item)?;
            if walk.is_done() {
                return Some(());
            }
            let nt = self.recognizer.tables().lhs[item.slot as usize];
            item = self.completion.parent(&self.recognizer, walk.config(), nt)?;
        }
    }
}
