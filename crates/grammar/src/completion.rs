//! Cheapest completions of configurations, from tables that do not depend on the input.
//!
//! Finishing an item costs the cheapest derivations of what follows its dot, and then what its left-hand side
//! is waited for: `return(c, A)` is the least cost to finish after an `A` that began in configuration c. An A
//! is waited for by an item of c, directly or through predictions; the cost along predictions, from a
//! nonterminal r to an A that begins it, is the same everywhere and kept per r (`Row`).

use crate::analysis::{Combine, INFINITE, cheapest_productions};
use crate::core::{Core, NtId, ProdId, Sym};
use crate::model::TerminalId;
use crate::recognize::{Config, Item, Recognizer};
use crate::tables::Slot;
use rustc_hash::FxHashMap;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

pub struct Completion {
    core: Core,
    /// Cost of the symbols from each slot to the end of its production.
    suffix: Vec<u64>,
    /// The production that begins a cheapest derivation.
    best: Vec<Option<ProdId>>,
    rows: FxHashMap<NtId, Row>,
    returns: FxHashMap<Config, Box<[Root]>>,
}

/// For a nonterminal r: the cost of everything to the right of an A that begins an r, and the slot after that
/// A in the production to climb first.
struct Row(FxHashMap<NtId, (u64, Slot)>);

/// A nonterminal that items of a configuration wait for, the cheapest such item, and its cost to the end.
#[derive(Clone, Copy, Debug)]
struct Root {
    nt: NtId,
    cost: u64,
    /// `None`: the start rule at the beginning of the input.
    item: Option<Item>,
}

impl Completion {
    pub fn new(core: &Core, recognizer: &Recognizer, terminal_cost: &[u64]) -> Completion {
        let best = cheapest_productions(core, terminal_cost, Combine::Sum);
        let mut suffix = vec![0; recognizer.tables().next.len()];
        for p in core.prod_ids() {
            let first = recognizer.tables().first[p.index()] as usize;
            for (i, sym) in core.rhs(p).iter().enumerate().rev() {
                let own = match sym.as_terminal() {
                    Some(t) => terminal_cost[t.index()],
                    None => best[sym.as_nonterminal().expect("not a terminal").index()].0,
                };
                suffix[first + i] = (suffix[first + i + 1] + own).min(INFINITE);
            }
        }
        let best = best.into_iter().map(|(_, p)| p).collect();
        Completion {
            core: core.clone(),
            suffix,
            best,
            rows: FxHashMap::default(),
            returns: FxHashMap::default(),
        }
    }

    /// Least cost to make a sentence of a configuration; `None` if it cannot be done.
    pub fn cost(&mut self, recognizer: &Recognizer, config: Config) -> Option<u64> {
        self.best_item(recognizer, config).map(|(cost, _)| cost)
    }

    /// A cheapest completion, as terminals.
    pub fn terminals(&mut self, recognizer: &Recognizer, config: Config) -> Option<Vec<TerminalId>> {
        let (_, mut at) = self.best_item(recognizer, config)?;
        let mut out = Vec::new();
        while let Some(item) = at {
            self.emit_rest(recognizer, item.slot, &mut out);
            at = self.climb(recognizer, item, &mut out);
        }
        Some(out)
    }

    /// The item to finish; `None` as item: the prefix is a sentence already.
    fn best_item(&mut self, recognizer: &Recognizer, config: Config) -> Option<(u64, Option<Item>)> {
        if recognizer.accepts(config) {
            return Some((0, None));
        }
        if config == recognizer.begin() {
            // Nothing was read yet: the start rule is all that is waited for.
            let start = self.core.start;
            let p = self.best[start.index()]?;
            let slot = recognizer.tables().first[p.index()];
            let item = Item { slot, origin: config };
            return Some((self.suffix[slot as usize], Some(item)));
        }
        let mut best: Option<(u64, Item)> = None;
        for i in 0..recognizer.items(config).len() {
            let item = recognizer.items(config)[i];
            let nt = recognizer.tables().lhs[item.slot as usize];
            let Some((up, _)) = self.return_cost(recognizer, item.origin, nt) else { continue };
            let cost = self.suffix[item.slot as usize] + up;
            if cost < INFINITE && best.is_none_or(|(c, _)| cost < c) {
                best = Some((cost, item));
            }
        }
        best.map(|(cost, item)| (cost, Some(item)))
    }

    /// Makes sure that `cost` is a few lookups: for parsers that go on token by token.
    pub fn prepare(&mut self, recognizer: &Recognizer, config: Config) {
        self.roots(recognizer, config);
    }

    /// return(c, A), and the root of c over which it is reached.
    fn return_cost(&mut self, recognizer: &Recognizer, config: Config, nt: NtId) -> Option<(u64, Root)> {
        self.roots(recognizer, config);
        let roots = &self.returns[&config];
        let mut best: Option<(u64, Root)> = None;
        for root in roots {
            let along =
                if root.nt == nt { 0 } else { self.rows[&root.nt].0.get(&nt).map_or(INFINITE, |e| e.0) };
            let cost = root.cost + along;
            if cost < INFINITE && best.is_none_or(|(c, _)| cost < c) {
                best = Some((cost, *root));
            }
        }
        best
    }

    /// Fills `returns` for a configuration and all it depends on, oldest first.
    fn roots(&mut self, recognizer: &Recognizer, config: Config) {
        if self.returns.contains_key(&config) {
            return;
        }
        let mut todo = vec![config];
        while let Some(&c) = todo.last() {
            if self.returns.contains_key(&c) {
                todo.pop();
                continue;
            }
            let items = recognizer.items(c);
            let before = todo.len();
            todo.extend(items.iter().map(|i| i.origin).filter(|o| !self.returns.contains_key(o)));
            if todo.len() == before {
                let roots = self.make_roots(recognizer, c);
                self.returns.insert(c, roots);
                todo.pop();
            }
        }
    }

    fn make_roots(&mut self, recognizer: &Recognizer, config: Config) -> Box<[Root]> {
        let mut roots: Vec<Root> = Vec::new();
        if config == recognizer.begin() {
            roots.push(Root { nt: self.core.start, cost: 0, item: None });
        }
        let tables = recognizer.tables();
        for i in 0..recognizer.items(config).len() {
            let item = recognizer.items(config)[i];
            let Some(nt) = tables.next[item.slot as usize].as_nonterminal() else { continue };
            let lhs = tables.lhs[item.slot as usize];
            let Some((up, _)) = self.return_cost(recognizer, item.origin, lhs) else { continue };
            let cost = self.suffix[item.slot as usize + 1] + up;
            match roots.iter_mut().find(|r| r.nt == nt) {
                Some(root) if root.cost <= cost => {}
                Some(root) => *root = Root { nt, cost, item: Some(item) },
                None => roots.push(Root { nt, cost, item: Some(item) }),
            }
        }
        roots.iter().for_each(|root| self.row(recognizer, root.nt));
        roots.into()
    }

    /// Dijkstra along predictions.
    fn row(&mut self, recognizer: &Recognizer, root: NtId) {
        if self.rows.contains_key(&root) {
            return;
        }
        let tables = recognizer.tables();
        let mut row: FxHashMap<NtId, (u64, Slot)> = FxHashMap::default();
        let mut done: FxHashMap<NtId, ()> = FxHashMap::default();
        let mut heap = BinaryHeap::from([Reverse((0u64, root))]);
        while let Some(Reverse((cost, nt))) = heap.pop() {
            if done.insert(nt, ()).is_some() {
                continue;
            }
            for p in tables.productions(nt) {
                let mut slot = tables.first[p.index()];
                while let Some(child) = tables.next[slot as usize].as_nonterminal() {
                    let total = cost + self.suffix[slot as usize + 1];
                    if total < INFINITE && row.get(&child).is_none_or(|e| total < e.0) {
                        row.insert(child, (total, slot + 1));
                        heap.push(Reverse((total, child)));
                    }
                    if !tables.nullable[child.index()] {
                        break;
                    }
                    slot += 1;
                }
            }
        }
        self.rows.insert(root, Row(row));
    }

    /// From a finished item up to the next item that waits for it, writing what the predictions between need.
    fn climb(&mut self, recognizer: &Recognizer, item: Item, out: &mut Vec<TerminalId>) -> Option<Item> {
        let tables = recognizer.tables();
        let mut nt = tables.lhs[item.slot as usize];
        let (_, root) = self.return_cost(recognizer, item.origin, nt)?;
        while nt != root.nt {
            let (_, slot) = self.rows[&root.nt].0[&nt];
            self.emit_rest(recognizer, slot, out);
            nt = tables.lhs[slot as usize];
        }
        root.item.map(|item| Item { slot: item.slot + 1, origin: item.origin })
    }

    /// The cheapest derivation of everything from a slot to the end of its production.
    fn emit_rest(&self, recognizer: &Recognizer, slot: Slot, out: &mut Vec<TerminalId>) {
        let tables = recognizer.tables();
        let p = tables.prod[slot as usize];
        let done = (slot - tables.first[p.index()]) as usize;
        let mut stack: Vec<Sym> = self.core.rhs(p)[done..].iter().rev().copied().collect();
        while let Some(sym) = stack.pop() {
            match sym.as_terminal() {
                Some(t) => out.push(t),
                None => {
                    let nt = sym.as_nonterminal().expect("not a terminal");
                    if let Some(p) = self.best[nt.index()] {
                        stack.extend(self.core.rhs(p).iter().rev());
                    }
                }
            }
        }
    }
}
