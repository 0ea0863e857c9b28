//! A grammar in plain BNF, as flat tables. It has no start symbol: algorithms get one.

use crate::ids::{NtId, ProdId, Sym};

#[derive(Clone, Debug, Default)]
pub struct Productions {
    /// Number of terminals.
    terminals: usize,
    lhs: Vec<NtId>,
    /// From where to where the right-hand side of each production lies in `symbols`.
    spans: Vec<(u32, u32)>,
    symbols: Vec<Sym>,
    /// The productions of each nonterminal.
    ranges: Vec<(u32, u32)>,
}

impl Productions {
    pub fn new(terminals: usize) -> Productions {
        Productions { terminals, ..Productions::default() }
    }

    /// The productions that are added next are those of the new nonterminal.
    pub fn add_nonterminal(&mut self) -> NtId {
        let end = self.lhs.len() as u32;
        self.ranges.push((end, end));
        NtId::from(self.ranges.len() - 1)
    }

    /// Adds a production of the last nonterminal.
    ///
    /// # Panics
    /// If there is no nonterminal yet.
    pub fn add_production(&mut self, rhs: impl IntoIterator<Item = Sym>) -> ProdId {
        let range = self.ranges.last_mut().expect("a production has a left-hand side");
        range.1 += 1;
        self.lhs.push(NtId::from(self.ranges.len() - 1));
        let start = self.symbols.len() as u32;
        self.symbols.extend(rhs);
        self.spans.push((start, self.symbols.len() as u32));
        ProdId::from(self.lhs.len() - 1)
    }

    #[inline]
    pub fn lhs(&self, id: ProdId) -> NtId {
        self.lhs[id.index()]
    }

    #[inline]
    pub fn rhs(&self, id: ProdId) -> &[Sym] {
        let (start, end) = self.spans[id.index()];
        &self.symbols[start as usize..end as usize]
    }

    #[inline]
    pub fn prods_of(&self, nt: NtId) -> impl DoubleEndedIterator<Item = ProdId> + use<> {
        let (from, to) = self.ranges[nt.index()];
        (from..to).map(ProdId)
    }

    pub fn nt_ids(&self) -> impl DoubleEndedIterator<Item = NtId> + use<> {
        (0..self.ranges.len()).map(NtId::from)
    }

    pub fn prod_ids(&self) -> impl DoubleEndedIterator<Item = ProdId> + use<> {
        (0..self.lhs.len()).map(ProdId::from)
    }

    /// Number of terminals.
    pub fn terminals(&self) -> usize {
        self.terminals
    }

    /// Number of nonterminals.
    pub fn nonterminals(&self) -> usize {
        self.ranges.len()
    }

    /// Total number of symbols on right-hand sides.
    pub fn size(&self) -> usize {
        self.symbols.len()
    }
}
