//! Facts about a core that hold for every sentence: what is productive, reachable, nullable; the least length
//! and height of each nonterminal; which nonterminals are left-recursive or cyclic.

use crate::model::core::{Core, NtId, ProdId, Sym};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Larger than the length of any sentence.
pub const INFINITE: u64 = u64::MAX / 4;

#[derive(Clone, Debug)]
pub struct Analysis {
    pub reachable: Vec<bool>,
    pub productive: Vec<bool>,
    pub nullable: Vec<bool>,
    /// Least number of bytes of a derived string.
    pub min_len: Vec<u64>,
    /// Least height of a derivation; a production of terminals only has height 1.
    pub min_height: Vec<u64>,
    pub left_recursive: Vec<bool>,
    /// `A ⇒+ A`: infinitely many derivations of the same string.
    pub cyclic: Vec<bool>,
}

impl Analysis {
    /// `lexeme_len` is the least length of each terminal (`INFINITE` if it has no lexeme).
    pub fn new(core: &Core, lexeme_len: &[u64]) -> Analysis {
        let min_len = cheapest(core, lexeme_len, Combine::Sum);
        let productive: Vec<bool> = min_len.iter().map(|l| *l < INFINITE).collect();
        let nullable = nullable(core);
        let unit = |t: usize| if lexeme_len[t] >= INFINITE { INFINITE } else { 0 };
        let zero: Vec<u64> = (0..core.terminals).map(unit).collect();
        let min_height = cheapest(core, &zero, Combine::HeightAbove);
        Analysis {
            reachable: reachable(core),
            left_recursive: on_cycle(core, &edges(core, &nullable, Edge::Left)),
            cyclic: on_cycle(core, &edges(core, &nullable, Edge::Alone)),
            productive,
            nullable,
            min_len,
            min_height,
        }
    }
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
            Combine::Sum => costs.fold(0, |a, b| (a + b).min(INFINITE)),
            Combine::HeightAbove => (costs.fold(0, u64::max) + 1).min(INFINITE),
        }
    }
}

/// Knuth's generalisation of Dijkstra's algorithm: the least cost of a derivation of each nonterminal.
pub fn cheapest(core: &Core, terminal: &[u64], combine: Combine) -> Vec<u64> {
    cheapest_productions(core, terminal, combine).into_iter().map(|(cost, _)| cost).collect()
}

/// As `cheapest`, with the production to begin with. Following these always ends.
pub fn cheapest_productions(core: &Core, terminal: &[u64], combine: Combine) -> Vec<(u64, Option<ProdId>)> {
    let mut best = vec![(INFINITE, None); core.nts.len()];
    let uses = occurrences(core);
    let mut open: Vec<u32> = core.prod_ids().map(|p| open_symbols(core, p, terminal)).collect();
    let mut heap: BinaryHeap<Reverse<(u64, ProdId)>> = BinaryHeap::new();
    let value = |p: ProdId, best: &[(u64, Option<ProdId>)]| {
        combine.of(core.rhs(p).iter().map(|s| match s.as_terminal() {
            Some(t) => terminal[t.index()],
            None => best[s.as_nonterminal().expect("not a terminal").index()].0,
        }))
    };
    for p in core.prod_ids().filter(|p| open[p.index()] == 0) {
        heap.push(Reverse((value(p, &best), p)));
    }
    while let Some(Reverse((cost, p))) = heap.pop() {
        let nt = core.prod(p).lhs.index();
        if cost >= INFINITE || best[nt].1.is_some() {
            continue;
        }
        best[nt] = (cost, Some(p));
        for &p in &uses[nt] {
            open[p.index()] -= 1;
            if open[p.index()] == 0 {
                heap.push(Reverse((value(p, &best), p)));
            }
        }
    }
    best
}

/// Nonterminals on the right-hand side, one more if a terminal there has no lexeme.
fn open_symbols(core: &Core, p: ProdId, terminal: &[u64]) -> u32 {
    let open = |s: &&Sym| s.as_terminal().is_none_or(|t| terminal[t.index()] >= INFINITE);
    core.rhs(p).iter().filter(open).count() as u32
}

/// For each nonterminal the productions it occurs in, once per occurrence.
pub fn occurrences(core: &Core) -> Vec<Vec<ProdId>> {
    let mut uses = vec![Vec::new(); core.nts.len()];
    for p in core.prod_ids() {
        for nt in core.rhs(p).iter().filter_map(|s| s.as_nonterminal()) {
            uses[nt.index()].push(p);
        }
    }
    uses
}

pub fn nullable(core: &Core) -> Vec<bool> {
    let never_empty = vec![INFINITE; core.terminals];
    cheapest(core, &never_empty, Combine::Sum).into_iter().map(|c| c < INFINITE).collect()
}

fn reachable(core: &Core) -> Vec<bool> {
    let mut seen = vec![false; core.nts.len()];
    let mut todo = vec![core.start];
    seen[core.start.index()] = true;
    while let Some(nt) = todo.pop() {
        for p in core.prods_of(nt) {
            for child in core.rhs(p).iter().filter_map(|s| s.as_nonterminal()) {
                if !std::mem::replace(&mut seen[child.index()], true) {
                    todo.push(child);
                }
            }
        }
    }
    seen
}

#[derive(Clone, Copy, PartialEq)]
pub enum Edge {
    /// A ::= α B β with α nullable.
    Left,
    /// A ::= α B β with α and β nullable.
    Alone,
}

pub fn edges(core: &Core, nullable: &[bool], kind: Edge) -> Vec<Vec<NtId>> {
    let mut out = vec![Vec::new(); core.nts.len()];
    let empty = |s: &Sym| s.as_nonterminal().is_some_and(|nt| nullable[nt.index()]);
    for p in core.prod_ids() {
        let rhs = core.rhs(p);
        let solid = rhs.iter().filter(|s| !empty(s)).count();
        for (i, sym) in rhs.iter().enumerate() {
            let others = solid - usize::from(!empty(sym));
            if let Some(nt) = sym.as_nonterminal().filter(|_| kind == Edge::Left || others == 0) {
                out[core.prod(p).lhs.index()].push(nt);
            }
            if kind == Edge::Left && !empty(&rhs[i]) {
                break;
            }
        }
    }
    out
}

fn on_cycle(core: &Core, edges: &[Vec<NtId>]) -> Vec<bool> {
    let component = components(edges);
    let mut size = vec![0u32; core.nts.len()];
    component.iter().for_each(|c| size[*c as usize] += 1);
    let own = |nt: NtId| edges[nt.index()].contains(&nt);
    core.nt_ids().map(|nt| size[component[nt.index()] as usize] > 1 || own(nt)).collect()
}

/// Strongly connected components, numbered so that an edge never leads to a higher number (Tarjan, without
/// recursion).
pub fn components(edges: &[Vec<NtId>]) -> Vec<u32> {
    const NONE: u32 = u32::MAX;
    let n = edges.len();
    let (mut low, mut order, mut comp) = (vec![0u32; n], vec![NONE; n], vec![NONE; n]);
    let (mut stack, mut calls) = (Vec::new(), Vec::<(usize, usize)>::new());
    let (mut clock, mut found) = (0, 0);
    for root in 0..n {
        if order[root] != NONE {
            continue;
        }
        calls.push((root, 0));
        while let Some((v, next)) = calls.pop() {
            if next == 0 {
                order[v] = clock;
                low[v] = clock;
                clock += 1;
                stack.push(v);
            } else {
                let child = edges[v][next - 1].index();
                low[v] = low[v].min(low[child]);
            }
            let rest = edges[v].iter().enumerate().skip(next);
            let mut descend = None;
            for (i, w) in rest {
                let w = w.index();
                if order[w] == NONE {
                    descend = Some((i + 1, w));
                    break;
                }
                if comp[w] == NONE {
                    low[v] = low[v].min(order[w]);
                }
            }
            if let Some((resume, w)) = descend {
                calls.push((v, resume));
                calls.push((w, 0));
                continue;
            }
            if low[v] == order[v] {
                while let Some(w) = stack.pop() {
                    comp[w] = found;
                    if w == v {
                        break;
                    }
                }
                found += 1;
            }
        }
    }
    comp
}
