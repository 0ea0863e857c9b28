//! A tree out of a chart, chosen the same way every time.
//!
//! From the right: of all splits the one that makes the last child shortest (so lists and operands
//! on the left are as long as they can be), then the earliest alternative. A child with the same
//! span as its parent must have been found before it, so that cyclic rules end.

use crate::model::TerminalId;
use crate::model::analysis::{self, Combine, INFINITE};
use crate::model::core::{Core, NtId, ProdId};
use crate::parse::chart::{Chart, Item};
use crate::trees::tree::{Reversed, Tree};
use context_free::earley::Sets;
use context_free::earley::tables::{Next, Slot};
use std::ops::Range;

/// When a completed item was found in its set: index, and step of the chain that starts there.
type Rank = (u32, u32);

#[derive(Clone, Copy, Debug)]
struct Found {
    item: Item,
    rank: Rank,
}

enum Task {
    Item {
        found: Found,
        end: u32,
    },
    Token {
        terminal: TerminalId,
        start: u32,
        end: u32,
    },
    Empty {
        nt: NtId,
    },
    /// The children of a node are there: those after the first `after` nodes. It ends at `end`.
    Close {
        prod: ProdId,
        after: u32,
        end: u32,
    },
}

/// For each nullable nonterminal the production of a flattest empty derivation.
pub fn empty_productions(core: &Core) -> Vec<Option<ProdId>> {
    let never = vec![INFINITE; core.terminals()];
    let height = analysis::cheapest(&core.productions, &never, Combine::HeightAbove);
    let of = |p: ProdId| {
        let above = core
            .rhs(p)
            .iter()
            .map(|s| s.as_nonterminal().map_or(INFINITE, |nt| height[nt.index()]));
        above.max().unwrap_or(0)
    };
    let best = |nt: NtId| core.prods_of(nt).min_by_key(|p| of(*p)).filter(|p| of(*p) < INFINITE);
    core.nt_ids().map(best).collect()
}

pub(crate) struct Extractor<'c, 't> {
    pub chart: &'c Chart<'t>,
    pub core: &'c Core,
    /// The production to show for each of the parsing core's; `None`: leave it out.
    pub original: &'c [Option<ProdId>],
    pub empty: &'c [Option<ProdId>],
    /// For each set the expansion of its chains, if there is one.
    expanded: Vec<Option<u32>>,
    expansions: Vec<Expansion>,
    /// Links of chains that were jumped over.
    links: Vec<Found>,
    /// The item that starts a chain, and where its links begin.
    begins: Vec<(u32, usize)>,
}

/// The links of a set's chains down to some origin: ranges in `links` and in `begins`.
struct Expansion {
    down_to: u32,
    links: Range<usize>,
    begins: Range<usize>,
}

impl<'c, 't> Extractor<'c, 't> {
    pub fn new(
        chart: &'c Chart<'t>,
        core: &'c Core,
        original: &'c [Option<ProdId>],
        empty: &'c [Option<ProdId>],
    ) -> Self {
        let expanded = vec![None; chart.sets()];
        let (expansions, links, begins) = Default::default();
        Extractor { chart, core, original, empty, expanded, expansions, links, begins }
    }

    pub fn tree(&mut self, text: &[u8]) -> Option<Tree> {
        let end = self.chart.accepted?;
        let start = self.chart.start;
        let mut todo = match self.best(start, 0, end, (u32::MAX, 0), |k| k == 0) {
            Some(found) if end > 0 => vec![Task::Item { found, end }],
            _ => vec![Task::Empty { nt: start }],
        };
        let mut done = Reversed::new(text.len() as u32);
        while let Some(task) = todo.pop() {
            self.visit(task, &mut todo, &mut done)?;
        }
        Some(done.into_tree(text))
    }

    fn visit(&mut self, task: Task, todo: &mut Vec<Task>, done: &mut Reversed) -> Option<()> {
        match task {
            Task::Token { terminal, start, end } => done.token(terminal, start, end),
            Task::Close { prod, after, end } => done.close(prod, after, end),
            Task::Empty { nt } => {
                let p = self.empty[nt.index()]?;
                self.open(p, done.leftmost, done, todo);
                let children = self.core.rhs(p).iter().filter_map(|s| s.as_nonterminal());
                todo.extend(children.map(|nt| Task::Empty { nt }));
            }
            Task::Item { found, end } => {
                let p = self.chart.tables.prod[found.item.slot as usize];
                self.open(p, self.chart.place(end).pos, done, todo);
                let before = todo.len();
                self.children(found, end, todo)?;
                todo[before..].reverse();
            }
        }
        Some(())
    }

    /// A production between levels of precedence has one child, which takes its place.
    fn open(&self, p: ProdId, end: u32, done: &Reversed, todo: &mut Vec<Task>) {
        if let Some(prod) = self.original[p.index()] {
            todo.push(Task::Close { prod, after: done.nodes.len() as u32, end });
        }
    }

    /// Appends the children of a completed item, from right to left: as many empty ones as possible
    /// at the end, then one that is not, which may be all of the parent and so has to be older than
    /// it; the rest is free.
    fn children(&mut self, parent: Found, end: u32, children: &mut Vec<Task>) -> Option<()> {
        let origin = parent.item.origin;
        let first =
            self.chart.tables.first[self.chart.tables.prod[parent.item.slot as usize].index()];
        let mut empties = 0;
        while parent.rank.1 == 0
            && self.may_be_empty(parent.item.slot - empties, first, end, origin)
        {
            empties += 1;
        }
        let before = children.len();
        loop {
            children.truncate(before);
            for slot in (0..empties).map(|i| parent.item.slot - i - 1) {
                let nt = self.chart.tables.next[slot as usize].as_nonterminal()?;
                children.push(Task::Empty { nt });
            }
            let mut at = (parent.item.slot - empties, end, parent.rank);
            if let Some(child) = self.link_below(parent, end) {
                at = (at.0 - 1, child.item.origin, (u32::MAX, 0));
                children.push(Task::Item { found: child, end });
            }
            if self.nonempty_children(at, first, origin, children).is_some() {
                return Some(());
            }
            empties = empties.checked_sub(1)?;
        }
    }

    /// The last child of a link of a chain: the link before it, or the item that the chain starts
    /// with.
    fn link_below(&self, parent: Found, end: u32) -> Option<Found> {
        let (index, step) = parent.rank;
        match step {
            0 => None,
            1 => Some(Found { item: self.chart.completed(end)[index as usize], rank: (index, 0) }),
            _ => {
                let begins = &self.begins[self.expansion(end)?.begins.clone()];
                let chain = begins.binary_search_by_key(&index, |b| b.0).ok()?;
                Some(self.links[begins[chain].1 + step as usize - 2])
            }
        }
    }

    /// Can the symbol before `slot` be empty, at the end of the parent?
    fn may_be_empty(&self, slot: Slot, first: Slot, end: u32, origin: u32) -> bool {
        slot > first
            && self.chart.tables.is_nullable(self.chart.tables.next[slot as usize - 1])
            && self.chart.contains(end, slot - 1, origin)
    }

    fn nonempty_children(
        &mut self,
        (mut slot, mut at, mut limit): (Slot, u32, Rank),
        first: Slot,
        origin: u32,
        children: &mut Vec<Task>,
    ) -> Option<()> {
        while slot > first {
            slot -= 1;
            let next = self.chart.tables.next[slot as usize];
            let task = match next.as_nonterminal() {
                None => self.token(next, slot, origin, &mut at)?,
                Some(nt) => self.nonterminal(nt, slot, origin, limit, &mut at)?,
            };
            limit = (u32::MAX, 0);
            children.push(task);
        }
        Some(())
    }

    fn token(&self, next: Next, slot: Slot, origin: u32, at: &mut u32) -> Option<Task> {
        let terminal = next.as_terminal()?;
        let fits = |t: &&crate::parse::chart::Incoming| {
            t.terminal == terminal && self.chart.contains(t.from, slot, origin)
        };
        let token = self.chart.incoming(*at).iter().find(fits)?;
        let end = self.chart.place(*at).pos;
        *at = token.from;
        Some(Task::Token { terminal, start: token.start, end })
    }

    fn nonterminal(
        &mut self,
        nt: NtId,
        slot: Slot,
        origin: u32,
        limit: Rank,
        at: &mut u32,
    ) -> Option<Task> {
        let unlimited = limit == (u32::MAX, 0);
        if unlimited
            && self.chart.tables.nullable[nt.index()]
            && self.chart.contains(*at, slot, origin)
        {
            return Some(Task::Empty { nt });
        }
        let (chart, here) = (self.chart, *at);
        let found = self.best(nt, origin, here, limit, |k| chart.contains(k, slot, origin))?;
        *at = found.item.origin;
        Some(Task::Item { found, end: here })
    }

    /// Of the completed `nt` in set `end` that began in `origin` or later, where `fits` holds: the
    /// shortest, then the earliest alternative. One that begins in `origin` itself has to rank
    /// below `limit`.
    fn best(
        &mut self,
        nt: NtId,
        origin: u32,
        end: u32,
        limit: Rank,
        fits: impl Fn(u32) -> bool,
    ) -> Option<Found> {
        self.expand(end, origin);
        let chart = self.chart;
        let lhs = &chart.tables.lhs;
        let good = |f: &Found| {
            lhs[f.item.slot as usize] == nt
                && f.item.origin >= origin
                && (f.item.origin > origin || f.rank < limit)
        };
        let explicit = chart.completed(end).iter().enumerate();
        let explicit = explicit.map(|(i, item)| Found { item: *item, rank: (i as u32, 0) });
        let hidden = self.expansion(end).map_or(&[][..], |e| &self.links[e.links.clone()]);
        let all = explicit.chain(hidden.iter().copied()).filter(good);
        let mut best: Option<Found> = None;
        for found in all {
            let better = best.is_none_or(|b| {
                (
                    found.item.origin,
                    std::cmp::Reverse(found.item.slot),
                    std::cmp::Reverse(found.rank),
                ) > (b.item.origin, std::cmp::Reverse(b.item.slot), std::cmp::Reverse(b.rank))
            });
            if better && fits(found.item.origin) {
                best = Some(found);
            }
        }
        best
    }

    /// Makes the links of the set's chains that begin in `origin` or later.
    fn expand(&mut self, set: u32, origin: u32) {
        let chart = self.chart;
        let done = |e: u32| self.expansions[e as usize].down_to <= origin;
        if chart.chains(set).len() == 0 || self.expanded[set as usize].is_some_and(done) {
            return;
        }
        let (first, begins) = (self.links.len(), self.begins.len());
        for index in chart.chains(set) {
            self.begins.push((index, self.links.len()));
            self.expand_chain(index, chart.completed(set)[index as usize], origin);
        }
        self.expanded[set as usize] = Some(self.expansions.len() as u32);
        let (links, begins) = (first..self.links.len(), begins..self.begins.len());
        self.expansions.push(Expansion { down_to: origin, links, begins });
    }

    fn expand_chain(&mut self, index: u32, item: Item, origin: u32) {
        let lhs = &self.chart.tables.lhs;
        let mut at = (lhs[item.slot as usize], item.origin);
        let mut step = 0;
        while let Some(item) = self.chart.only_parent(at.0, at.1).filter(|p| p.origin >= origin) {
            step += 1;
            self.links.push(Found { item, rank: (index, step) });
            at = (lhs[item.slot as usize], item.origin);
        }
    }

    fn expansion(&self, set: u32) -> Option<&Expansion> {
        self.expanded[set as usize].map(|e| &self.expansions[e as usize])
    }
}
