//! The largest string of a symbolic grammar, where there is one.

use super::{Measure, Sizes, Symbolic};
use crate::model::core::{NtId, ProdId};

impl Symbolic {
    /// No string is larger; `None` if rules that are needed contain themselves, or lexemes may be
    /// of any length.
    pub(super) fn largest(&self, sizes: Sizes) -> Option<usize> {
        let core = &self.language.core;
        let analysis = &self.language.analysis;
        let needed = |nt: &NtId| analysis.reachable[nt.index()] && analysis.productive[nt.index()];
        let mut largest: Vec<Option<usize>> = vec![None; core.nts.len()];
        // Children before parents: each round settles those whose children are settled.
        loop {
            let open = core.nt_ids().filter(needed).filter(|nt| largest[nt.index()].is_none());
            let settled: Vec<(NtId, usize)> =
                open.filter_map(|nt| Some((nt, self.largest_of(nt, sizes, &largest)?))).collect();
            if settled.is_empty() {
                return largest[core.start.index()];
            }
            settled.into_iter().for_each(|(nt, size)| largest[nt.index()] = Some(size));
        }
    }

    fn largest_of(&self, nt: NtId, sizes: Sizes, largest: &[Option<usize>]) -> Option<usize> {
        let core = &self.language.core;
        let productive = |p: &ProdId| {
            core.rhs(*p).iter().all(|symbol| {
                match (symbol.as_terminal(), symbol.as_nonterminal()) {
                    (Some(terminal), _) => !self.language.lexemes[terminal.index()].is_empty(),
                    (None, Some(nt)) => self.language.analysis.productive[nt.index()],
                    (None, None) => false,
                }
            })
        };
        let of = |p: ProdId| {
            let parts =
                core.rhs(p).iter().map(|symbol| match (symbol.as_terminal(), sizes.measure) {
                    (Some(_), Measure::Height) => Some(0),
                    (Some(terminal), Measure::Length) => {
                        self.language.lexemes[terminal.index()].max_len().map(|len| len as usize)
                    }
                    (None, _) => largest[symbol.as_nonterminal()?.index()],
                });
            match sizes.measure {
                Measure::Height => {
                    Some(1 + parts.collect::<Option<Vec<_>>>()?.into_iter().max().unwrap_or(0))
                }
                Measure::Length => parts.sum(),
            }
        };
        let all = core.prods_of(nt).filter(productive).map(of).collect::<Option<Vec<usize>>>()?;
        all.into_iter().max()
    }
}
