//! Facts about a core that hold for every sentence: what is productive, reachable, nullable; the
//! least length and height of each nonterminal; which nonterminals are left-recursive or cyclic.

use crate::model::core::{Core, NtId, Sym};

pub use context_free::{Combine, INFINITE, cheapest, cheapest_productions, components, nullable};

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
        let min_len = cheapest(&core.productions, lexeme_len, Combine::Sum);
        let productive: Vec<bool> = min_len.iter().map(|l| *l < INFINITE).collect();
        let nullable = nullable(&core.productions);
        let unit = |t: usize| if lexeme_len[t] >= INFINITE { INFINITE } else { 0 };
        let zero: Vec<u64> = (0..core.terminals()).map(unit).collect();
        let min_height = cheapest(&core.productions, &zero, Combine::HeightAbove);
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
                out[core.lhs(p).index()].push(nt);
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
