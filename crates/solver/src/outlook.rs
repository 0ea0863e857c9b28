//! What the bytes still to be chosen can make of the sums in linear literals: a prefix from which
//! no choice leads into the wanted interval need not be continued. In a decimal number this leaves
//! one or two digits a place.

use crate::byte_set::ByteSet;
use crate::levels::Variable;
use crate::linear::{LinearLit, Part};
use crate::query::Lit;
use expr::{Dag, Supports};

/// The linear ones among a problem's joint literals.
pub(crate) struct Outlook {
    sums: Vec<Tracked>,
}

struct Tracked {
    lit: LinearLit,
    /// By level.
    parts: Vec<Option<Box<Part>>>,
    /// After each level: the least that later levels add, and how much more they may add.
    rest: Vec<(i128, i128)>,
}

impl Outlook {
    pub(crate) fn new(
        dag: &Dag,
        lits: &[Lit],
        variables: &[Variable],
        domains: &[(u32, ByteSet)],
    ) -> Outlook {
        let mut supports = Supports::new();
        let mut byte_of = |label| {
            let id = supports.of(dag, label);
            supports.get(id).single_byte()
        };
        let linear = lits.iter().filter_map(|&lit| LinearLit::new(dag, lit, &mut byte_of));
        Outlook { sums: linear.filter_map(|lit| Tracked::new(lit, variables, domains)).collect() }
    }

    /// The sums before anything is chosen.
    pub(crate) fn start(&self) -> Box<[i128]> {
        self.sums.iter().map(|tracked| tracked.lit.constant).collect()
    }

    pub(crate) fn cost(&self) -> u64 {
        self.sums.len() as u64
    }

    /// The sums after a choice at `level`; `None` if a literal can no longer become true.
    pub(crate) fn choose(&self, level: usize, value: u64, sums: &[i128]) -> Option<Box<[i128]>> {
        let next = |(tracked, &sum): (&Tracked, &i128)| tracked.choose(level, value, sum);
        self.sums.iter().zip(sums).map(next).collect()
    }
}

impl Tracked {
    /// `None` if the numbers get too large.
    fn new(
        mut lit: LinearLit,
        variables: &[Variable],
        domains: &[(u32, ByteSet)],
    ) -> Option<Tracked> {
        let mut parts = Vec::with_capacity(variables.len());
        let mut ranges = Vec::with_capacity(variables.len());
        for (level, &variable) in variables.iter().enumerate() {
            let part = match variable {
                Variable::Byte(byte) => lit.parts.remove(&byte),
                Variable::Length => None,
            };
            ranges.push(part.as_ref().map_or((0, 0), |part| range(part, domains[level].1)));
            parts.push(part.map(Box::new));
        }
        let mut rest = vec![(0i128, 0i128); variables.len()];
        for level in (1..variables.len()).rev() {
            let (least, most) = ranges[level];
            let (low, width) = rest[level];
            rest[level - 1] =
                (low.checked_add(least)?, width.checked_add(most.checked_sub(least)?)?);
        }
        Some(Tracked { lit, parts, rest })
    }

    fn choose(&self, level: usize, value: u64, sum: i128) -> Option<i128> {
        let part = self.parts[level].as_ref();
        let sum = sum.checked_add(part.map_or(0, |part| part[value as usize]))?;
        let (least, width) = self.rest[level];
        self.lit.allows(sum.checked_add(least)?, width).then_some(sum)
    }
}

/// Least and greatest value over a domain, which is not empty.
fn range(part: &Part, domain: ByteSet) -> (i128, i128) {
    let values =
        || (0..=255u8).filter(|&byte| domain.contains(byte)).map(|byte| part[usize::from(byte)]);
    (values().min().unwrap_or(0), values().max().unwrap_or(0))
}
