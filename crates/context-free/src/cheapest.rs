//! Knuth's generalisation of Dijkstra's algorithm: the least cost of a derivation of each
//! nonterminal.

use crate::ids::{NtId, ProdId, Sym};
use crate::productions::Productions;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The cost where there is no derivation at all. Two costs can be added without an overflow.
pub const INFINITE: u64 = u64::MAX / 4;

/// Costs that are larger count as this: short grammars have very long shortest strings, and a
/// nonterminal that derives one must not count as one that derives none.
const MAX_COST: u64 = INFINITE - 1;

/// The sum of two costs.
#[inline]
pub fn plus(a: u64, b: u64) -> u64 {
    if a >= INFINITE || b >= INFINITE { INFINITE } else { (a + b).min(MAX_COST) }
}

/// How the costs of a right-hand side make the cost of a derivation.
#[derive(Clone, Copy, PartialEq)]
pub enum Combine {
    /// Sum of the children.
    Sum,
    /// One more than the highest child.
    HeightAbove,
}

impl Combine {
    fn of(self, costs: impl Iterator<Item = u64>) -> u64 {
        match self {
            Combine::Sum => costs.fold(0, plus),
            Combine::HeightAbove => plus(costs.fold(0, u64::max), 1),
        }
    }
}

/// The least cost of a derivation of each nonterminal; `terminal` has the costs of terminals.
pub fn cheapest(productions: &Productions, terminal: &[u64], combine: Combine) -> Vec<u64> {
    let best = cheapest_productions(productions, terminal, combine);
    best.into_iter().map(|(cost, _)| cost).collect()
}

/// As `cheapest`, with the production to begin with. Following these always ends.
pub fn cheapest_productions(
    productions: &Productions,
    terminal: &[u64],
    combine: Combine,
) -> Vec<(u64, Option<ProdId>)> {
    Knuth::new(productions, terminal, combine).run()
}

/// Which nonterminals derive the empty string?
pub fn nullable(productions: &Productions) -> Vec<bool> {
    let never_empty = vec![INFINITE; productions.terminals()];
    cheapest(productions, &never_empty, Combine::Sum).into_iter().map(|c| c < INFINITE).collect()
}

struct Knuth<'p> {
    productions: &'p Productions,
    terminal: &'p [u64],
    combine: Combine,
    best: Vec<(u64, Option<ProdId>)>,
    /// How many symbols of a production still have no cost. Terminals without one never get it.
    open: Vec<u32>,
    /// For each nonterminal the productions that it occurs in, once for each occurrence.
    uses: Vec<Vec<ProdId>>,
    heap: BinaryHeap<Reverse<(u64, ProdId)>>,
}

impl<'p> Knuth<'p> {
    fn new(productions: &'p Productions, terminal: &'p [u64], combine: Combine) -> Knuth<'p> {
        let n = productions.nonterminals();
        let (best, uses) = (vec![(INFINITE, None); n], vec![Vec::new(); n]);
        let (open, heap) = Default::default();
        let mut knuth = Knuth { productions, terminal, combine, best, open, uses, heap };
        productions.prod_ids().for_each(|p| knuth.add(p));
        knuth
    }

    fn add(&mut self, p: ProdId) {
        let mut open = 0;
        for symbol in self.productions.rhs(p) {
            if let Some(nt) = symbol.as_nonterminal() {
                self.uses[nt.index()].push(p);
            }
            open += u32::from(self.cost(*symbol) >= INFINITE);
        }
        self.open.push(open);
        self.offer_if_known(p);
    }

    fn run(mut self) -> Vec<(u64, Option<ProdId>)> {
        while let Some(Reverse((cost, p))) = self.heap.pop() {
            let nt = self.productions.lhs(p).index();
            if self.best[nt].1.is_none() {
                self.best[nt] = (cost, Some(p));
                self.settle(NtId::from(nt));
            }
        }
        self.best
    }

    /// A nonterminal got its cost: so may productions that mention it.
    fn settle(&mut self, nt: NtId) {
        for p in std::mem::take(&mut self.uses[nt.index()]) {
            self.open[p.index()] -= 1;
            self.offer_if_known(p);
        }
    }

    fn offer_if_known(&mut self, p: ProdId) {
        if self.open[p.index()] == 0 {
            let costs = self.productions.rhs(p).iter().map(|symbol| self.cost(*symbol));
            self.heap.push(Reverse((self.combine.of(costs), p)));
        }
    }

    fn cost(&self, symbol: Sym) -> u64 {
        match (symbol.as_terminal(), symbol.as_nonterminal()) {
            (Some(t), _) => self.terminal[t.index()],
            (_, Some(nt)) => self.best[nt.index()].0,
            (None, None) => INFINITE,
        }
    }
}
