//! ANTLR's `EOF` inside rules, made context-free.
//!
//! A sentence may only have `EOF` at its very end (any number of times). For a nonterminal `A` that
//! can reach `EOF` there are three variants, and afterwards `EOF` itself is the empty string:
//!
//! * `A`: the derivations without `EOF`;
//! * `A$`: those with text followed by at least one `EOF`, and nothing but `EOF` after it;
//! * `A$$`: those that are nothing but `EOF`s, possibly none.
//!
//! `A$ ::= X1 … X(i-1) Xi$ X(i+1)$$ … Xn$$` for every i, where `Xi` is the first child that
//! contains `EOF`.

use crate::model::core::{Core, NtId, ProdId, RawNt, RawProd, Sym};

pub fn eliminate(core: &Core, ends: &[bool]) -> Core {
    let n = core.nts.len();
    let reach = reaches_end(core, ends);
    let variants = Variants { core, ends, reach: &reach, n };
    let mut raw: Vec<RawNt> = Vec::with_capacity(3 * n + 1);
    raw.extend(core.nt_ids().map(|nt| variants.make(nt, Variants::without)));
    raw.extend(core.nt_ids().map(|nt| variants.make(nt, Variants::ending)));
    raw.extend(core.nt_ids().map(|nt| variants.make(nt, Variants::only)));
    let start = NtId::from(raw.len());
    let plain = Sym::nonterminal(core.start);
    let ended = Sym::nonterminal(NtId::from(core.start.index() + n));
    let prod = |rhs: Sym, alt| RawProd { rhs: vec![rhs], alt, weight: 1.0 };
    raw.push(RawNt { name: "$".into(), rule: None, prods: vec![prod(ended, 0), prod(plain, 1)] });
    Core::from_raw(raw, start, core.terminals())
}

fn is_end(sym: Sym, ends: &[bool]) -> bool {
    sym.as_terminal().is_some_and(|t| ends[t.index()])
}

/// Which nonterminals have a derivation that contains the end of the input?
fn reaches_end(core: &Core, ends: &[bool]) -> Vec<bool> {
    let mut reach = vec![false; core.nts.len()];
    loop {
        let before = reach.iter().filter(|r| **r).count();
        for p in core.prod_ids() {
            let hit = |s: &Sym| {
                is_end(*s, ends) || s.as_nonterminal().is_some_and(|nt| reach[nt.index()])
            };
            if core.rhs(p).iter().any(hit) {
                reach[core.lhs(p).index()] = true;
            }
        }
        if reach.iter().filter(|r| **r).count() == before {
            return reach;
        }
    }
}

struct Variants<'a> {
    core: &'a Core,
    ends: &'a [bool],
    reach: &'a [bool],
    n: usize,
}

impl Variants<'_> {
    fn make(&self, nt: NtId, rhs: fn(&Self, ProdId) -> Vec<Vec<Sym>>) -> RawNt {
        let info = self.core.nt(nt);
        let mut prods = Vec::new();
        for p in self.core.prods_of(nt) {
            let (alt, weight) = (self.core.prod(p).alt, self.core.prod(p).weight);
            prods.extend(rhs(self, p).into_iter().map(|rhs| RawProd { rhs, alt, weight }));
        }
        RawNt { name: info.name.clone(), rule: info.rule, prods }
    }

    fn without(&self, p: ProdId) -> Vec<Vec<Sym>> {
        let rhs = self.core.rhs(p);
        if rhs.iter().any(|s| is_end(*s, self.ends)) { Vec::new() } else { vec![rhs.to_vec()] }
    }

    fn ending(&self, p: ProdId) -> Vec<Vec<Sym>> {
        let rhs = self.core.rhs(p);
        let mut all = Vec::new();
        for (i, &sym) in rhs.iter().enumerate() {
            let first =
                if is_end(sym, self.ends) { Some(None) } else { self.variant(sym, 1).map(Some) };
            let rest: Option<Vec<Sym>> = self.only_end(&rhs[i + 1..]);
            if let (Some(first), Some(rest)) = (first, rest) {
                all.push(rhs[..i].iter().copied().chain(first).chain(rest).collect());
            }
            if is_end(sym, self.ends) {
                break;
            }
        }
        all
    }

    fn only(&self, p: ProdId) -> Vec<Vec<Sym>> {
        self.only_end(self.core.rhs(p)).into_iter().collect()
    }

    /// `X1$$ … Xn$$`, or nothing if a terminal other than the end occurs.
    fn only_end(&self, rhs: &[Sym]) -> Option<Vec<Sym>> {
        let mut all = Vec::new();
        for &sym in rhs {
            if is_end(sym, self.ends) {
                continue;
            }
            let nt = sym.as_nonterminal()?;
            all.push(Sym::nonterminal(NtId::from(nt.index() + 2 * self.n)));
        }
        Some(all)
    }

    fn variant(&self, sym: Sym, which: usize) -> Option<Sym> {
        let nt = sym.as_nonterminal().filter(|nt| self.reach[nt.index()])?;
        Some(Sym::nonterminal(NtId::from(nt.index() + which * self.n)))
    }
}
