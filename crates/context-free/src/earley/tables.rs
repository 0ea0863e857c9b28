//! What the engines precompute from productions: slots and states of predictions.
//!
//! A *slot* is a production with a dot. The items that a set of nonterminals predicts (with
//! everything that starts in them, nullable prefixes skipped) depend on those nonterminals only;
//! they are computed once per set of nonterminals and shared as a `PredId`.

use crate::cheapest::{Combine, INFINITE, cheapest_productions};
use crate::ids::TerminalId;
use crate::ids::{NtId, ProdId, Sym};
use crate::productions::Productions;
use rustc_hash::FxHashMap;

pub type Slot = u32;

/// What follows the dot.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Next(u32);

const END: u32 = u32::MAX;

impl Next {
    pub const END: Next = Next(END);

    pub fn terminal(t: TerminalId) -> Next {
        Next(t.0 << 1 | 1)
    }

    pub fn nonterminal(nt: NtId) -> Next {
        Next(nt.0 << 1)
    }

    fn of(sym: Sym) -> Next {
        match sym.as_terminal() {
            Some(t) => Next::terminal(t),
            None => Next::nonterminal(sym.as_nonterminal().expect("not a terminal")),
        }
    }

    pub fn is_end(self) -> bool {
        self.0 == END
    }

    pub fn as_terminal(self) -> Option<TerminalId> {
        (self.0 != END && self.0 & 1 == 1).then_some(TerminalId(self.0 >> 1))
    }

    pub fn as_nonterminal(self) -> Option<NtId> {
        (self.0 & 1 == 0).then_some(NtId(self.0 >> 1))
    }
}

/// Index of a state of predictions.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct PredId(pub u32);

#[derive(Clone, Debug)]
pub struct Tables {
    pub next: Vec<Next>,
    pub lhs: Vec<NtId>,
    pub prod: Vec<ProdId>,
    /// First slot of each production.
    pub first: Vec<Slot>,
    pub nullable: Vec<bool>,
    /// The fewest terminals that each nonterminal derives, and the production to begin with.
    pub shortest: Vec<(u64, Option<ProdId>)>,
    /// Where each slot stands when they are sorted by what follows the dot, and the slots in that
    /// order.
    rank: Vec<u32>,
    ranked: Vec<Slot>,
    /// One symbol before the dot, and after it one that is not nullable.
    plain: Vec<bool>,
    /// Productions that can be completed, by left-hand side.
    useful: Vec<Vec<ProdId>>,
    preds: Vec<Pred>,
    ids: FxHashMap<Vec<NtId>, PredId>,
}

/// Predicted items, advanced over the symbol after the dot: sorted by symbol.
#[derive(Clone, Debug, Default)]
struct Pred {
    symbols: Vec<Next>,
    ranges: Vec<(u32, u32)>,
    slots: Vec<Slot>,
}

impl Tables {
    pub fn new(productions: &Productions) -> Tables {
        let letter = vec![1; productions.terminals()];
        let shortest = cheapest_productions(productions, &letter, Combine::Sum);
        let alive = |s: &Sym| s.as_nonterminal().is_none_or(|nt| shortest[nt.index()].0 < INFINITE);
        let mut tables = Tables {
            next: Vec::new(),
            lhs: Vec::new(),
            prod: Vec::new(),
            first: Vec::new(),
            nullable: shortest.iter().map(|(length, _)| *length == 0).collect(),
            rank: Vec::new(),
            ranked: Vec::new(),
            plain: Vec::new(),
            shortest: Vec::new(),
            useful: vec![Vec::new(); productions.nonterminals()],
            preds: Vec::new(),
            ids: FxHashMap::default(),
        };
        for p in productions.prod_ids() {
            tables.first.push(tables.next.len() as Slot);
            let lhs = productions.lhs(p);
            let ends = std::iter::once(Next::END);
            for next in productions.rhs(p).iter().map(|s| Next::of(*s)).chain(ends) {
                tables.next.push(next);
                tables.lhs.push(lhs);
                tables.prod.push(p);
            }
            if productions.rhs(p).iter().all(alive) {
                tables.useful[lhs.index()].push(p);
            }
        }
        tables.rank_slots();
        tables.shortest = shortest;
        tables
    }

    fn rank_slots(&mut self) {
        self.ranked = (0..self.next.len() as Slot).collect();
        self.ranked.sort_unstable_by_key(|slot| (self.next[*slot as usize], *slot));
        self.rank = vec![0; self.ranked.len()];
        for (rank, slot) in self.ranked.iter().enumerate() {
            self.rank[*slot as usize] = rank as u32;
        }
        let is_plain = |slot: Slot| {
            let next = self.next[slot as usize];
            slot == self.first[self.prod[slot as usize].index()] + 1
                && !next.is_end()
                && !self.is_nullable(next)
        };
        self.plain = (0..self.next.len() as Slot).map(is_plain).collect();
    }

    /// Items with such a slot come from completing the symbol before the dot where they began, and
    /// from nothing else; and nothing but what follows the dot takes them further.
    #[inline]
    pub fn is_plain(&self, slot: Slot) -> bool {
        self.plain[slot as usize]
    }

    /// The order of items in a set, as one number: by what follows the dot, then by slot, then by
    /// where they began.
    #[inline]
    pub fn key(&self, slot: Slot, origin: u32) -> u64 {
        u64::from(self.rank[slot as usize]) << 32 | u64::from(origin)
    }

    /// The slot and the origin of a key.
    #[inline]
    pub fn of_key(&self, key: u64) -> (Slot, u32) {
        (self.ranked[(key >> 32) as usize], key as u32)
    }

    pub fn is_nullable(&self, next: Next) -> bool {
        next.as_nonterminal().is_some_and(|nt| self.nullable[nt.index()])
    }

    /// The predictions of some nonterminals; `roots` is sorted and without duplicates.
    pub fn predict(&mut self, roots: &[NtId]) -> PredId {
        if let Some(&id) = self.ids.get(roots) {
            return id;
        }
        let pred = self.closure(roots);
        let id = PredId(self.preds.len() as u32);
        self.preds.push(pred);
        self.ids.insert(roots.to_vec(), id);
        id
    }

    fn closure(&self, roots: &[NtId]) -> Pred {
        let mut seen = vec![false; self.nullable.len()];
        let mut todo: Vec<NtId> = Vec::new();
        let visit = |nt: NtId, seen: &mut Vec<bool>, todo: &mut Vec<NtId>| {
            if !std::mem::replace(&mut seen[nt.index()], true) {
                todo.push(nt);
            }
        };
        roots.iter().for_each(|nt| visit(*nt, &mut seen, &mut todo));
        let mut advanced: Vec<(Next, Slot)> = Vec::new();
        while let Some(nt) = todo.pop() {
            for p in &self.useful[nt.index()] {
                let mut slot = self.first[p.index()];
                loop {
                    let next = self.next[slot as usize];
                    if next.is_end() {
                        break;
                    }
                    advanced.push((next, slot + 1));
                    if let Some(nt) = next.as_nonterminal() {
                        visit(nt, &mut seen, &mut todo);
                    }
                    if !self.is_nullable(next) {
                        break;
                    }
                    slot += 1;
                }
            }
        }
        advanced.sort_unstable_by_key(|(next, slot)| (*next, self.rank[*slot as usize]));
        Pred::group(&advanced)
    }

    /// Items that begin here, after reading `next`: in the order of `key`.
    #[inline]
    pub fn predicted(&self, pred: PredId, next: Next) -> &[Slot] {
        let pred = &self.preds[pred.0 as usize];
        match pred.symbols.binary_search(&next) {
            Ok(i) => {
                let (from, to) = pred.ranges[i];
                &pred.slots[from as usize..to as usize]
            }
            Err(_) => &[],
        }
    }

    /// Productions of a nonterminal that can be completed.
    pub fn productions(&self, nt: NtId) -> &[ProdId] {
        &self.useful[nt.index()]
    }

    /// Number of predicted items.
    pub fn predicted_len(&self, pred: PredId) -> usize {
        self.preds[pred.0 as usize].slots.len()
    }

    pub fn predicted_terminals(&self, pred: PredId) -> impl Iterator<Item = TerminalId> {
        self.preds[pred.0 as usize].symbols.iter().filter_map(|s| s.as_terminal())
    }
}

impl Pred {
    fn group(advanced: &[(Next, Slot)]) -> Pred {
        let mut pred = Pred::default();
        for &(next, slot) in advanced {
            if pred.symbols.last() != Some(&next) {
                pred.symbols.push(next);
                pred.ranges.push((pred.slots.len() as u32, 0));
            }
            pred.slots.push(slot);
            pred.ranges.last_mut().expect("just pushed").1 = pred.slots.len() as u32;
        }
        pred
    }
}

/// Chains of completions up to this length are walked again rather than remembered.
pub const SHORT_CHAIN: usize = 8;
