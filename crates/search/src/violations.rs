//! Properties that a run violated without any other sign of it: no crash, and not necessarily a
//! report.

use path::{Constraint, ConstraintKind, PathCondition};
use sources::Layout;
use trace::CheckKind;

use crate::Sighting;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// Counts from 1 in the order of finding.
    pub id: u32,
    pub kind: CheckKind,
    pub site: u32,
    /// The smallest input that violates the property.
    pub input: Vec<u8>,
    /// How many traced runs did.
    pub hits: u64,
}

/// One for each property and place.
#[derive(Clone, Debug, Default)]
pub struct Violations {
    all: Vec<Violation>,
    first: u32,
}

impl Violations {
    /// A list whose first violation gets the id `taken + 1`.
    pub fn after(taken: u32) -> Violations {
        Violations { all: Vec::new(), first: taken }
    }

    pub fn all(&self) -> &[Violation] {
        &self.all
    }

    /// Takes note of what the path of a run violates. Returns what has to be written: violations at
    /// new places, and those with a smaller input than before.
    pub(crate) fn add(
        &mut self,
        input: &[u8],
        path: &PathCondition,
        layout: Option<&Layout>,
    ) -> Vec<(Violation, Sighting)> {
        let mut violated: Vec<(CheckKind, u32)> =
            path.constraints.iter().filter_map(violated).collect();
        violated.sort_by_key(|&(kind, site)| (site, kind as u16));
        violated.dedup();
        let seen = violated.into_iter().map(|(kind, site)| self.see(kind, site, input, layout));
        seen.filter(|(_, sighting)| *sighting != Sighting::Known).collect()
    }

    fn see(
        &mut self,
        kind: CheckKind,
        site: u32,
        input: &[u8],
        layout: Option<&Layout>,
    ) -> (Violation, Sighting) {
        let known = self.all.iter_mut().find(|known| known.kind == kind && known.site == site);
        let Some(known) = known else {
            let id = self.first + self.all.len() as u32 + 1;
            let new = Violation { id, kind, site, input: input.to_vec(), hits: 1 };
            self.all.push(new.clone());
            return (new, Sighting::New);
        };
        known.hits += 1;
        let is_smaller = crate::bugs::is_smaller(input, &known.input, layout);
        if is_smaller {
            known.input = input.to_vec();
        }
        (known.clone(), if is_smaller { Sighting::Smaller } else { Sighting::Known })
    }
}

fn violated(constraint: &Constraint) -> Option<(CheckKind, u32)> {
    match constraint.kind {
        ConstraintKind::Check(kind) if constraint.taken => Some((kind, constraint.site)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(violated: &[(CheckKind, u32, bool)]) -> PathCondition {
        let constraint = |&(kind, site, taken): &(CheckKind, u32, bool)| Constraint {
            label: 1,
            taken,
            site,
            kind: ConstraintKind::Check(kind),
            negated: false,
            outcome: None,
        };
        PathCondition {
            constraints: violated.iter().map(constraint).collect(),
            ..PathCondition::default()
        }
    }

    #[test]
    fn each_place_has_its_smallest_input() {
        let (overflow, shift) = (CheckKind::SignedOverflow, CheckKind::ShiftTooFar);
        let mut violations = Violations::after(4);
        let told = |seen: Vec<(Violation, Sighting)>| -> Vec<(u32, Sighting)> {
            seen.into_iter().map(|(violation, sighting)| (violation.id, sighting)).collect()
        };
        let both = path(&[
            (overflow, 7, true),
            (shift, 8, true),
            (overflow, 7, true),
            (overflow, 9, false),
        ]);
        assert_eq!(
            told(violations.add(b"ab", &both, None)),
            [(5, Sighting::New), (6, Sighting::New)]
        );
        assert_eq!(
            told(violations.add(b"b", &path(&[(shift, 8, true)]), None)),
            [(6, Sighting::Smaller)]
        );
        assert_eq!(told(violations.add(b"c", &both, None)), [(5, Sighting::Smaller)]);
        let inputs: Vec<_> = violations.all().iter().map(|v| (&v.input[..], v.hits)).collect();
        assert_eq!(inputs, [(&b"c"[..], 2), (b"b", 3)]);
    }
}
