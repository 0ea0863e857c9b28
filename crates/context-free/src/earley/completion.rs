//! Cheapest completions of configurations, from tables that do not depend on the input.
//!
//! Finishing an item costs the cheapest derivations of what follows its dot, and then what its
//! left-hand side is waited for: `return(c, A)` is the least cost to finish after an `A` that began
//! in configuration c. An A is waited for by an item of c, directly or through predictions; the
//! cost along predictions, from a nonterminal r to an A that begins it, is the same everywhere and
//! kept per r (`Row`).

use crate::cheapest::{Combine, INFINITE, cheapest_productions, plus};
use crate::earley::recognize::{Config, Item, Recognizer};
use crate::earley::tables::{Slot, Tables};
use crate::ids::TerminalId;
use crate::ids::{NtId, ProdId, Sym};
use crate::productions::Productions;
use rustc_hash::FxHashMap;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

#[derive(Debug)]
pub struct Completion {
    productions: Productions,
    /// Cost of the symbols from each slot to the end of its production.
    suffix: Vec<u64>,
    /// The production that begins a cheapest derivation.
    best: Vec<Option<ProdId>>,
    /// By nonterminal, as far as they are needed.
    rows: Vec<Option<Box<Row>>>,
    /// By configuration, as far as they are needed.
    returns: Vec<Option<Box<[Root]>>>,
}

#[derive(Debug)]
struct Row {
    /// For a nonterminal r: the cost of everything to the right of an A that begins an r, and the
    /// slot after that A in the production to climb first.
    above: FxHashMap<NtId, (u64, Slot)>,
    /// The terminals that can begin an r, cheapest first: the cost of finishing the r, and the slot
    /// after the terminal.
    firsts: Box<[(u64, TerminalId, Slot)]>,
}

/// A next token, the item whose dot stands after it, and the cost of finishing that.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NextToken {
    pub cost: u64,
    pub terminal: TerminalId,
    pub item: Item,
}

/// A nonterminal that items of a configuration wait for, the cheapest such item, and its cost to
/// the end.
#[derive(Clone, Copy, Debug)]
struct Root {
    nt: NtId,
    cost: u64,
    /// `None`: the goal at the beginning of the input.
    item: Option<Item>,
}

impl Completion {
    /// `recognizer` is one of these productions.
    pub fn new(
        productions: &Productions,
        recognizer: &Recognizer,
        terminal_cost: &[u64],
    ) -> Completion {
        let best = if terminal_cost.iter().all(|cost| *cost == 1) {
            recognizer.tables().shortest.clone()
        } else {
            cheapest_productions(productions, terminal_cost, Combine::Sum)
        };
        let mut suffix = vec![0; recognizer.tables().next.len()];
        for p in productions.prod_ids() {
            let first = recognizer.tables().first[p.index()] as usize;
            for (i, sym) in productions.rhs(p).iter().enumerate().rev() {
                let own = match sym.as_terminal() {
                    Some(t) => terminal_cost[t.index()],
                    None => best[sym.as_nonterminal().expect("not a terminal").index()].0,
                };
                suffix[first + i] = plus(suffix[first + i + 1], own);
            }
        }
        let best = best.into_iter().map(|(_, p)| p).collect();
        Completion {
            productions: productions.clone(),
            suffix,
            best,
            rows: productions.nt_ids().map(|_| None).collect(),
            returns: Vec::new(),
        }
    }

    /// Does a nonterminal derive anything whose cost is finite?
    pub fn is_productive(&self, nt: NtId) -> bool {
        self.best[nt.index()].is_some()
    }

    /// Least cost to make a sentence of a configuration; `None` if it cannot be done.
    pub fn cost(&mut self, recognizer: &Recognizer, config: Config) -> Option<u64> {
        self.best_item(recognizer, config).map(|(cost, _)| cost)
    }

    /// The item of a configuration over which a nonterminal that began there is finished. `None`:
    /// the nonterminal is in the start rule at the beginning of the input.
    pub fn parent(&mut self, recognizer: &Recognizer, config: Config, nt: NtId) -> Option<Item> {
        self.return_cost(recognizer, config, nt).and_then(|(_, root)| root.item)
    }

    /// A cheapest completion, as terminals.
    pub fn terminals(
        &mut self,
        recognizer: &Recognizer,
        config: Config,
    ) -> Option<Vec<TerminalId>> {
        let (_, at) = self.best_item(recognizer, config)?;
        let mut out = Vec::new();
        self.finish(recognizer, at, &mut out);
        Some(out)
    }

    /// Appends the terminals that finish an item and all that waits for it.
    pub fn finish(
        &mut self,
        recognizer: &Recognizer,
        mut at: Option<Item>,
        out: &mut Vec<TerminalId>,
    ) {
        while let Some(item) = at {
            self.emit_rest(recognizer, item.slot, out);
            at = self.climb(recognizer, item, out);
        }
    }

    /// Of the tokens that `allowed` lets stand after a configuration: one with the cheapest
    /// completion, then the first terminal, then the first item. Where items began at different
    /// places of one prefix, the later configuration depends on the earlier one and so has a higher
    /// number: ties do not depend on what was asked before.
    pub fn cheapest_next(
        &mut self,
        recognizer: &Recognizer,
        config: Config,
        allowed: impl Fn(TerminalId) -> bool,
    ) -> Option<NextToken> {
        self.roots(recognizer, config);
        let mut best: Option<(u64, TerminalId, Item)> = None;
        let mut offer = |next: (u64, TerminalId, Item)| {
            if next.0 < INFINITE && best.is_none_or(|b| next < b) {
                best = Some(next);
            }
        };
        for root in self.known_roots(config) {
            let firsts = &self.known_row(root.nt).firsts;
            if let Some(&(cost, terminal, slot)) = firsts.iter().find(|f| allowed(f.1)) {
                offer((plus(cost, root.cost), terminal, Item { slot, origin: config }));
            }
        }
        let tables = recognizer.tables();
        for item in recognizer.items(config) {
            let next = tables.next[item.slot as usize].as_terminal();
            let Some(terminal) = next.filter(|t| allowed(*t)) else { continue };
            let after = Item { slot: item.slot + 1, origin: item.origin };
            let lhs = tables.lhs[item.slot as usize];
            let Some((up, _)) = self.known_return_cost(item.origin, lhs) else { continue };
            let cost = plus(self.suffix[after.slot as usize], up);
            offer((cost, terminal, after));
        }
        best.map(|(cost, terminal, item)| NextToken { cost, terminal, item })
    }

    /// The item to finish and what that costs; `None` as item: the prefix is a sentence already.
    pub fn best_item(
        &mut self,
        recognizer: &Recognizer,
        config: Config,
    ) -> Option<(u64, Option<Item>)> {
        if recognizer.accepts(config) {
            return Some((0, None));
        }
        if let Some(goal) = recognizer.goal(config) {
            // Nothing was read yet: the goal is all that is waited for.
            let p = self.best[goal.index()]?;
            let slot = recognizer.tables().first[p.index()];
            let item = Item { slot, origin: config };
            return Some((self.suffix[slot as usize], Some(item)));
        }
        let mut best: Option<(u64, Item)> = None;
        for i in 0..recognizer.items(config).len() {
            let item = recognizer.items(config)[i];
            let nt = recognizer.tables().lhs[item.slot as usize];
            let Some((up, _)) = self.return_cost(recognizer, item.origin, nt) else { continue };
            let cost = plus(self.suffix[item.slot as usize], up);
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
    fn return_cost(
        &mut self,
        recognizer: &Recognizer,
        config: Config,
        nt: NtId,
    ) -> Option<(u64, Root)> {
        self.roots(recognizer, config);
        self.known_return_cost(config, nt)
    }

    /// As `return_cost`, of a configuration whose roots are there.
    fn known_return_cost(&self, config: Config, nt: NtId) -> Option<(u64, Root)> {
        let roots = self.known_roots(config);
        let mut best: Option<(u64, Root)> = None;
        for root in roots {
            let along = if root.nt == nt {
                0
            } else {
                self.known_row(root.nt).above.get(&nt).map_or(INFINITE, |e| e.0)
            };
            let cost = plus(root.cost, along);
            if cost < INFINITE && best.is_none_or(|(c, _)| cost < c) {
                best = Some((cost, *root));
            }
        }
        best
    }

    /// Fills `returns` for a configuration and all it depends on, oldest first.
    fn roots(&mut self, recognizer: &Recognizer, config: Config) {
        if self.has_roots(config) {
            return;
        }
        let mut todo = vec![config];
        while let Some(&c) = todo.last() {
            if self.has_roots(c) {
                todo.pop();
                continue;
            }
            let items = recognizer.items(c);
            let before = todo.len();
            todo.extend(items.iter().map(|i| i.origin).filter(|o| !self.has_roots(*o)));
            if todo.len() == before {
                let roots = self.make_roots(recognizer, c);
                self.keep_roots(c, roots);
                todo.pop();
            }
        }
    }

    fn has_roots(&self, config: Config) -> bool {
        self.returns.get(config.0 as usize).is_some_and(Option::is_some)
    }

    fn keep_roots(&mut self, config: Config, roots: Box<[Root]>) {
        let index = config.0 as usize;
        if self.returns.len() <= index {
            self.returns.resize(index + 1, None);
        }
        self.returns[index] = Some(roots);
    }

    /// The roots of a configuration for which `roots` was called.
    fn known_roots(&self, config: Config) -> &[Root] {
        self.returns[config.0 as usize].as_deref().expect("made before it is asked for")
    }

    /// The row of a root.
    fn known_row(&self, root: NtId) -> &Row {
        self.rows[root.index()].as_deref().expect("made with the root")
    }

    fn make_roots(&mut self, recognizer: &Recognizer, config: Config) -> Box<[Root]> {
        let mut roots: Vec<Root> = Vec::new();
        if let Some(goal) = recognizer.goal(config) {
            roots.push(Root { nt: goal, cost: 0, item: None });
        }
        let tables = recognizer.tables();
        for i in 0..recognizer.items(config).len() {
            let item = recognizer.items(config)[i];
            let Some(nt) = tables.next[item.slot as usize].as_nonterminal() else { continue };
            let lhs = tables.lhs[item.slot as usize];
            let Some((up, _)) = self.return_cost(recognizer, item.origin, lhs) else { continue };
            let cost = plus(self.suffix[item.slot as usize + 1], up);
            let new = Root { nt, cost, item: Some(item) };
            match roots.iter_mut().find(|r| r.nt == nt) {
                Some(root) if root.cost <= cost => {}
                Some(root) => *root = new,
                None => roots.push(new),
            }
        }
        roots.iter().for_each(|root| self.row(recognizer, root.nt));
        roots.into()
    }

    /// Dijkstra along predictions.
    fn row(&mut self, recognizer: &Recognizer, root: NtId) {
        if self.rows[root.index()].is_some() {
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
                    let total = plus(cost, self.suffix[slot as usize + 1]);
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
        let firsts = self.firsts(tables, root, &row);
        self.rows[root.index()] = Some(Box::new(Row { above: row, firsts }));
    }

    fn firsts(
        &self,
        tables: &Tables,
        root: NtId,
        above: &FxHashMap<NtId, (u64, Slot)>,
    ) -> Box<[(u64, TerminalId, Slot)]> {
        let others =
            above.iter().filter(|(nt, _)| **nt != root).map(|(nt, (cost, _))| (*nt, *cost));
        let mut all: Vec<(TerminalId, u64, Slot)> = Vec::new();
        for (nt, cost) in others.chain([(root, 0)]) {
            for p in tables.productions(nt) {
                let mut slot = tables.first[p.index()];
                while tables.is_nullable(tables.next[slot as usize]) {
                    slot += 1;
                }
                all.extend(self.first_at(tables, slot, cost));
            }
        }
        all.sort_unstable();
        all.dedup_by_key(|first| first.0);
        let mut firsts: Vec<(u64, TerminalId, Slot)> =
            all.into_iter().map(|(t, cost, slot)| (cost, t, slot)).collect();
        firsts.sort_unstable();
        firsts.into()
    }

    /// The terminal at a slot, and the cost of all that comes after it in a nonterminal that needs
    /// `above` more.
    fn first_at(&self, tables: &Tables, slot: Slot, above: u64) -> Option<(TerminalId, u64, Slot)> {
        let terminal = tables.next[slot as usize].as_terminal()?;
        let cost = plus(above, self.suffix[slot as usize + 1]);
        (cost < INFINITE).then_some((terminal, cost, slot + 1))
    }

    /// From a finished item up to the next item that waits for it, writing what the predictions
    /// between need.
    fn climb(
        &mut self,
        recognizer: &Recognizer,
        item: Item,
        out: &mut Vec<TerminalId>,
    ) -> Option<Item> {
        let tables = recognizer.tables();
        let mut nt = tables.lhs[item.slot as usize];
        let (_, root) = self.return_cost(recognizer, item.origin, nt)?;
        while nt != root.nt {
            let (_, slot) = self.known_row(root.nt).above[&nt];
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
        let mut stack: Vec<Sym> = self.productions.rhs(p)[done..].iter().rev().copied().collect();
        while let Some(sym) = stack.pop() {
            match sym.as_terminal() {
                Some(t) => out.push(t),
                None => {
                    let nt = sym.as_nonterminal().expect("not a terminal");
                    if let Some(p) = self.best[nt.index()] {
                        stack.extend(self.productions.rhs(p).iter().rev());
                    }
                }
            }
        }
    }
}
