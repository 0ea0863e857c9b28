//! What the program compares its input with: the cases of its switches, and the numbers in its
//! conditions. Random bytes hardly ever meet them, but for those of one byte, of which more would
//! only crowd out others.

use std::collections::BTreeSet;

use fastrand::Rng;
use sites::{SiteKind, SiteTable};

#[derive(Debug, Default)]
pub(super) struct Dictionary {
    numbers: Vec<u64>,
}

impl Dictionary {
    /// Of the program that has these sites.
    pub(super) fn of(sites: &SiteTable) -> Dictionary {
        let cases = sites.sites.iter().flat_map(|site| match &site.kind {
            SiteKind::Switch { cases, .. } => &cases[..],
            SiteKind::Plain | SiteKind::Branch { .. } => &[],
        });
        let numbers = cases.chain(sites.compared.values()).copied();
        let numbers: BTreeSet<u64> = numbers.filter(|number| width(*number) > 1).collect();
        Dictionary { numbers: numbers.into_iter().collect() }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.numbers.is_empty()
    }

    /// Writes a number over bytes of an input, or between them, in as few bytes as it needs, in
    /// either byte order; sometimes its neighbour, where limits lie.
    pub(super) fn apply(&self, input: &mut Vec<u8>, rng: &mut Rng) {
        if self.numbers.is_empty() {
            return;
        }
        let number = self.numbers[rng.usize(0..self.numbers.len())];
        let near = match rng.u32(0..8) {
            0 => number.wrapping_add(1),
            1 => number.wrapping_sub(1),
            _ => number,
        };
        let mut bytes = near.to_le_bytes()[..width(near)].to_vec();
        if rng.bool() {
            bytes.reverse();
        }
        let start = rng.usize(0..=input.len());
        let end = if rng.bool() { start } else { (start + bytes.len()).min(input.len()) };
        input.splice(start..end, bytes);
    }
}

/// 1, 2, 4 or 8 bytes; a small negative number has the width of its amount.
fn width(number: u64) -> usize {
    let amount = number.min((!number).saturating_add(1));
    match amount {
        0..=0xFF => 1,
        0x100..=0xFFFF => 2,
        0x1_0000..=0xFFFF_FFFF => 4,
        _ => 8,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sites::Site;

    #[test]
    fn cases_and_compared_numbers_get_into_the_input() {
        let kind = SiteKind::Switch { coverage: 0, cases: vec![0x4142, 0x707] };
        let mut sites = SiteTable {
            sites: vec![Site::default(), Site { kind, ..Site::default() }],
            ..SiteTable::default()
        };
        sites.compared.insert(1, 0xDEAD_BEEF);
        let dictionary = Dictionary::of(&sites);
        let mut rng = Rng::with_seed(1);
        let inputs: Vec<Vec<u8>> = (0..500)
            .map(|_| {
                let mut input = b"....".to_vec();
                dictionary.apply(&mut input, &mut rng);
                input
            })
            .collect();
        let numbers: [&[u8]; 5] = [b"AB", b"BA", b"\x07\x07", b"\x07\x06", b"\xDE\xAD\xBE\xEF"];
        for number in numbers {
            let has = |input: &&Vec<u8>| input.windows(number.len()).any(|at| at == number);
            assert!(inputs.iter().any(|input| has(&input)), "{number:?}");
        }
        assert!(inputs.iter().any(|input| input.len() == 4), "written over");
        assert!(inputs.iter().any(|input| input.len() == 6), "written between");
    }
}
