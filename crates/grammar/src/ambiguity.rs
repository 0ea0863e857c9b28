//! How many derivations a string has, and a search for one that has several.

use crate::automaton::Automaton;
use crate::bytes::ByteCore;
use crate::chart::{Chart, Stuck};
use crate::core::{Core, NtId, Sym};
use crate::count::{Count, LengthTable, Unit};
use crate::dfa::DfaError;
use crate::language::Language;
use crate::lexer::Lexer;
use crate::model::{Grammar, TerminalId};
use crate::recognize::{Config, Recognizer};
use crate::tables::{Slot, Tables};
use rustc_hash::FxHashMap;

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Key {
    /// Derivations of a nonterminal between two sets.
    Whole(NtId, u32, u32),
    /// Derivations of what stands before a dot.
    Before(Slot, u32, u32),
}

/// Number of derivation trees of an input.
pub fn count_trees(grammar: &Grammar, input: &[u8]) -> Result<Result<Count, Stuck>, DfaError> {
    let core = Core::new(grammar);
    let mut tables = Tables::new(&core);
    let mut lexer = Lexer::new(grammar)?;
    Ok(Chart::build(&mut tables, &mut lexer, input, false).map(|chart| {
        let end = chart.accepted.expect("the chart was accepted");
        let mut counter = Counter { chart: &chart, core: &core, known: FxHashMap::default() };
        counter.count(Key::Whole(core.start, 0, end))
    }))
}

struct Counter<'c, 't> {
    chart: &'c Chart<'t>,
    core: &'c Core,
    /// `None` while it is being worked on: coming across it again means a cycle.
    known: FxHashMap<Key, Option<Count>>,
}

impl Counter<'_, '_> {
    fn count(&mut self, root: Key) -> Count {
        let mut todo = vec![root];
        while let Some(&key) = todo.last() {
            match self.known.get(&key) {
                Some(Some(_)) => {
                    todo.pop();
                    continue;
                }
                Some(None) => {
                    let value = self.evaluate(key);
                    self.known.insert(key, Some(value));
                    todo.pop();
                }
                None => {
                    self.known.insert(key, None);
                    let terms = self.terms(key);
                    todo.extend(terms.into_iter().flatten().filter(|k| !self.known.contains_key(k)));
                }
            }
        }
        self.known[&root].clone().expect("just computed")
    }

    fn evaluate(&self, key: Key) -> Count {
        let mut sum = Count::zero();
        for term in self.terms(key) {
            let value = |k: &Key| self.known.get(k).cloned().flatten().unwrap_or(Count::Infinite);
            let product = term.iter().fold(Count::one(), |acc, k| acc.times(&value(k)));
            sum.add(&product);
        }
        sum
    }

    /// The value of a key is the sum over these of their product.
    fn terms(&self, key: Key) -> Vec<Vec<Key>> {
        let tables = &*self.chart.tables;
        match key {
            Key::Whole(nt, from, to) if from == to => {
                let empty = |s: &Sym| s.as_nonterminal().is_some_and(|nt| tables.nullable[nt.index()]);
                let prods = self.core.prods_of(nt).filter(|p| self.core.rhs(*p).iter().all(empty));
                let parts = |p| self.core.rhs(p).iter().filter_map(|s| s.as_nonterminal());
                prods.map(|p| parts(p).map(|nt| Key::Whole(nt, from, to)).collect()).collect()
            }
            Key::Whole(nt, from, to) => {
                let mine = self.chart.completed(to).iter();
                let mine = mine.filter(|i| tables.lhs[i.slot as usize] == nt && i.origin == from);
                mine.map(|i| vec![Key::Before(i.slot, from, to)]).collect()
            }
            Key::Before(slot, from, to) => self.before(slot, from, to),
        }
    }

    fn before(&self, slot: Slot, from: u32, to: u32) -> Vec<Vec<Key>> {
        let tables = &*self.chart.tables;
        let first = tables.first[tables.prod[slot as usize].index()];
        if slot == first {
            return if from == to { vec![Vec::new()] } else { Vec::new() };
        }
        let (slot, next) = (slot - 1, tables.next[slot as usize - 1]);
        let Some(nt) = next.as_nonterminal() else {
            let tokens = self.chart.incoming(to).iter();
            let fitting = tokens.filter(|t| {
                Some(t.terminal) == next.as_terminal() && self.chart.contains(t.from, slot, from)
            });
            return fitting.map(|t| vec![Key::Before(slot, from, t.from)]).collect();
        };
        let mut terms = Vec::new();
        if tables.nullable[nt.index()] && self.chart.contains(to, slot, from) {
            terms.push(vec![Key::Whole(nt, to, to), Key::Before(slot, from, to)]);
        }
        let done = self.chart.completed(to).iter().filter(|i| tables.lhs[i.slot as usize] == nt);
        let mut origins: Vec<u32> = done.map(|i| i.origin).collect();
        origins.sort_unstable();
        origins.dedup();
        for at in origins.into_iter().filter(|at| *at >= from && self.chart.contains(*at, slot, from)) {
            terms.push(vec![Key::Whole(nt, at, to), Key::Before(slot, from, at)]);
        }
        terms
    }
}

/// A string with several derivations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Witness {
    pub length: usize,
    /// How many derivations and how many distinct strings there are of that length.
    pub derivations: Count,
    pub strings: Count,
}

/// A configuration may have an item for every place in the grammar; no more items than this are made.
const ITEMS: usize = 50_000_000;
/// Grammars with more symbols are not searched: their tables alone would take minutes.
const LARGEST: usize = 100_000;

/// Looks for ambiguity among the strings of up to `max` tokens (bytes, if there is no lexer): there, a length
/// with more derivations than strings proves it. Stops when more than `states` configurations are needed.
pub fn search(language: &Language, max: usize, states: usize) -> (Option<Witness>, usize) {
    if size(language) > LARGEST {
        return (None, 0);
    }
    let bytes = language.is_scannerless().then(|| ByteCore::new(&language.core, &language.lexemes));
    let core = bytes.as_ref().map_or(&language.core, |b| &b.core);
    let weight = |t: usize| match &bytes {
        Some(b) => b.classes[t].len(),
        None => usize::from(!language.lexemes[t].is_empty()),
    };
    let weights: Vec<usize> = (0..core.terminals).map(weight).collect();
    let states = states.min(ITEMS / (core.size() + 1)).max(1);
    let mut strings =
        Strings { recognizer: Recognizer::new(core), weights: &weights, known: FxHashMap::default(), states };
    for length in 0..=max {
        let Some(distinct) = strings.count(length) else { return (None, length.saturating_sub(1)) };
        let derivations = match &bytes {
            Some(_) => derivations(core, &weights, length),
            None => LengthTable::new(language, length, Unit::Tokens).nt[core.start.index()][length].clone(),
        };
        if derivations != distinct {
            return (Some(Witness { length, derivations, strings: distinct }), length);
        }
    }
    (None, max)
}

/// About as many symbols as the grammar that is searched will have.
fn size(language: &Language) -> usize {
    let edges = |a: &Automaton| a.edges.iter().map(Vec::len).sum::<usize>();
    let lexemes = if language.is_scannerless() { language.lexemes.iter().map(edges).sum() } else { 0 };
    language.core.size() + 2 * lexemes
}

fn derivations(core: &Core, weights: &[usize], length: usize) -> Count {
    let row = |w: &usize| {
        (0..=length).map(|n| if n == 1 { Count::Finite((*w).into()) } else { Count::zero() }).collect()
    };
    let table = LengthTable::with_terminals(core, weights.iter().map(row).collect(), length);
    table.nt[core.start.index()][length].clone()
}

struct Strings<'w> {
    recognizer: Recognizer,
    weights: &'w [usize],
    known: FxHashMap<(Config, usize), Count>,
    states: usize,
}

impl Strings<'_> {
    /// Distinct strings of a length, or nothing if there are too many configurations.
    fn count(&mut self, length: usize) -> Option<Count> {
        let root = (self.recognizer.begin(), length);
        let mut todo = vec![root];
        while let Some(&(config, n)) = todo.last() {
            if self.known.contains_key(&(config, n)) {
                todo.pop();
                continue;
            }
            if self.known.len() > self.states || self.recognizer.configs() > self.states {
                return None;
            }
            if n == 0 {
                let one = if self.recognizer.accepts(config) { Count::one() } else { Count::zero() };
                self.known.insert((config, n), one);
                continue;
            }
            let steps = self.steps(config, n);
            let before = todo.len();
            todo.extend(steps.iter().map(|(_, to)| *to).filter(|to| !self.known.contains_key(to)));
            if todo.len() == before {
                let mut sum = Count::zero();
                for (t, to) in steps {
                    let weight = Count::Finite(self.weights[t.index()].into());
                    sum.add(&weight.times(&self.known[&to]));
                }
                self.known.insert((config, n), sum);
            }
        }
        self.known.get(&root).cloned()
    }

    fn steps(&mut self, config: Config, n: usize) -> Vec<(TerminalId, (Config, usize))> {
        let mut steps = Vec::new();
        for t in self.recognizer.expected(config) {
            if self.weights[t.index()] > 0
                && let Some(to) = self.recognizer.advance(config, t)
            {
                steps.push((t, (to, n - 1)));
            }
        }
        steps
    }
}
