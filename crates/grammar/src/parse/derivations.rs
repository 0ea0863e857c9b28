//! The derivations of one input: how many there are, and the one of a given rank.

use crate::automata::dfa::DfaError;
use crate::counting::count::Count;
use crate::lexing::lexer::Lexer;
use crate::model::core::{Core, NtId, ProdId, Sym};
use crate::model::{Grammar, TerminalId};
use crate::parse::chart::{Chart, Incoming, Item, Stuck};
use crate::trees::tree::{Reversed, Tree};
use context_free::earley::tables::{Slot, Tables};
use num_bigint::BigUint;
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
    let mut tables = Tables::new(&core.productions);
    let mut lexer = Lexer::new(grammar)?;
    Ok(Chart::build((&mut tables, core.start), &mut lexer, input, false).map(|chart| {
        let mut counter = Counter { chart: &chart, core: &core, known: FxHashMap::default() };
        counter.count(counter.root())
    }))
}

/// How many trees an input has, and the first `limit` of them; cyclic ones are left out, as there
/// is no end of them.
pub fn some_trees(
    grammar: &Grammar,
    core: &Core,
    input: &[u8],
    limit: u32,
) -> Result<Result<(Count, Vec<Tree>), Stuck>, DfaError> {
    let mut tables = Tables::new(&core.productions);
    let mut lexer = Lexer::new(grammar)?;
    Ok(Chart::build((&mut tables, core.start), &mut lexer, input, false).map(|chart| {
        let mut counter = Counter { chart: &chart, core, known: FxHashMap::default() };
        let count = counter.count(counter.root());
        let first = (0..limit).map_while(|rank| counter.tree(rank.into(), input));
        let trees = first.collect();
        (count, trees)
    }))
}

/// One way to derive a key: all of these.
struct Term {
    keys: Vec<Key>,
    part: Part,
}

/// What a term adds to the tree.
#[derive(Clone, Copy)]
enum Part {
    Nothing,
    Token(TerminalId, u32, u32),
    Node(ProdId),
}

/// What is left to do for a tree.
enum Task {
    Derive(Key, BigUint),
    Close { prod: ProdId, after: u32, end: u32 },
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
                    let keys = terms.into_iter().flat_map(|t| t.keys);
                    todo.extend(keys.filter(|k| !self.known.contains_key(k)));
                }
            }
        }
        self.known[&root].clone().expect("just computed")
    }

    fn evaluate(&self, key: Key) -> Count {
        let mut sum = Count::zero();
        self.terms(key).iter().for_each(|term| sum.add(&self.product(term)));
        sum
    }

    fn product(&self, term: &Term) -> Count {
        term.keys.iter().fold(Count::one(), |acc, k| acc.times(&self.value(k)))
    }

    /// What is still being worked on leads back to itself, so there is no end of it.
    fn value(&self, key: &Key) -> Count {
        self.known.get(key).cloned().flatten().unwrap_or(Count::Infinite)
    }

    /// The value of a key is the sum over these of their product.
    fn terms(&self, key: Key) -> Vec<Term> {
        let tables = &*self.chart.tables;
        match key {
            Key::Whole(nt, from, to) if from == to => {
                let empty =
                    |s: &Sym| s.as_nonterminal().is_some_and(|nt| tables.nullable[nt.index()]);
                let prods = self.core.prods_of(nt).filter(|p| self.core.rhs(*p).iter().all(empty));
                let parts = |p| self.core.rhs(p).iter().filter_map(|s| s.as_nonterminal());
                let keys = |p| parts(p).map(|nt| Key::Whole(nt, from, to)).collect();
                prods.map(|p| Term { keys: keys(p), part: Part::Node(p) }).collect()
            }
            Key::Whole(nt, from, to) => {
                let mine = self.chart.completed(to).iter();
                let mine = mine.filter(|i| tables.lhs[i.slot as usize] == nt && i.origin == from);
                let prod = |i: &Item| tables.prod[i.slot as usize];
                mine.map(|i| Term {
                    keys: vec![Key::Before(i.slot, from, to)],
                    part: Part::Node(prod(i)),
                })
                .collect()
            }
            Key::Before(slot, from, to) => self.before(slot, from, to),
        }
    }

    fn before(&self, slot: Slot, from: u32, to: u32) -> Vec<Term> {
        let tables = &*self.chart.tables;
        let first = tables.first[tables.prod[slot as usize].index()];
        if slot == first {
            let nothing = Term { keys: Vec::new(), part: Part::Nothing };
            return if from == to { vec![nothing] } else { Vec::new() };
        }
        let (slot, next) = (slot - 1, tables.next[slot as usize - 1]);
        let Some(nt) = next.as_nonterminal() else {
            let tokens = self.chart.incoming(to).iter();
            let fitting = tokens.filter(|t| {
                Some(t.terminal) == next.as_terminal() && self.chart.contains(t.from, slot, from)
            });
            let end = self.chart.place(to).pos;
            let part = |t: &Incoming| Part::Token(t.terminal, t.start, end);
            return fitting
                .map(|t| Term { keys: vec![Key::Before(slot, from, t.from)], part: part(t) })
                .collect();
        };
        let mut splits = Vec::new();
        if tables.nullable[nt.index()] && self.chart.contains(to, slot, from) {
            splits.push(to);
        }
        let done = self.chart.completed(to).iter().filter(|i| tables.lhs[i.slot as usize] == nt);
        let mut origins: Vec<u32> = done.map(|i| i.origin).collect();
        origins.sort_unstable();
        origins.dedup();
        splits.extend(
            origins.into_iter().filter(|at| *at >= from && self.chart.contains(*at, slot, from)),
        );
        let keys = |at| vec![Key::Before(slot, from, at), Key::Whole(nt, at, to)];
        splits.into_iter().map(|at| Term { keys: keys(at), part: Part::Nothing }).collect()
    }

    fn root(&self) -> Key {
        Key::Whole(self.core.start, 0, self.chart.accepted.expect("the chart was accepted"))
    }

    /// The tree of a rank; `None` if there are not as many, or no end of them.
    fn tree(&self, rank: BigUint, text: &[u8]) -> Option<Tree> {
        let mut done = Reversed::new(text.len() as u32);
        let mut todo = vec![Task::Derive(self.root(), rank)];
        while let Some(task) = todo.pop() {
            match task {
                Task::Close { prod, after, end } => done.close(prod, after, end),
                Task::Derive(key, rank) => self.derive(key, rank, &mut todo, &mut done)?,
            }
        }
        Some(done.into_tree(text))
    }

    fn derive(
        &self,
        key: Key,
        mut rank: BigUint,
        todo: &mut Vec<Task>,
        done: &mut Reversed,
    ) -> Option<()> {
        let mut terms = self.terms(key).into_iter();
        let term = loop {
            let term = terms.next()?;
            let count = self.product(&term).finite()?.clone();
            if rank < count {
                break term;
            }
            rank -= count;
        };
        match (term.part, key) {
            (Part::Node(prod), Key::Whole(_, _, to)) => {
                let end = self.chart.place(to).pos;
                todo.push(Task::Close { prod, after: done.nodes.len() as u32, end });
            }
            (Part::Token(terminal, start, end), _) => done.token(terminal, start, end),
            _ => {}
        }
        let first = todo.len();
        for key in term.keys.iter().rev() {
            let count = self.value(key).finite()?.clone();
            todo.push(Task::Derive(*key, &rank % &count));
            rank /= count;
        }
        todo[first..].reverse();
        Some(())
    }
}
