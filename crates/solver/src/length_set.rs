//! Sets of input lengths.

/// A set of lengths as inclusive, disjoint intervals in increasing order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LengthSet(Vec<(u64, u64)>);

impl LengthSet {
    pub fn up_to(largest: u64) -> LengthSet {
        LengthSet(vec![(0, largest)])
    }

    /// The lengths up to `largest` for which `holds` is true.
    pub fn where_true(largest: u64, mut holds: impl FnMut(u64) -> bool) -> LengthSet {
        let mut intervals: Vec<(u64, u64)> = Vec::new();
        for len in (0..=largest).filter(|&len| holds(len)) {
            match intervals.last_mut() {
                Some(last) if last.1 + 1 == len => last.1 = len,
                _ => intervals.push((len, len)),
            }
        }
        LengthSet(intervals)
    }

    pub fn interval(first: u64, last: u64) -> LengthSet {
        LengthSet(if first <= last { vec![(first, last)] } else { Vec::new() })
    }

    pub fn intervals(&self) -> &[(u64, u64)] {
        &self.0
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn intersection(&self, other: &LengthSet) -> LengthSet {
        let (mut a, mut b) = (self.0.iter().peekable(), other.0.iter().peekable());
        let mut both = Vec::new();
        while let (Some(&&x), Some(&&y)) = (a.peek(), b.peek()) {
            let (first, last) = (x.0.max(y.0), x.1.min(y.1));
            if first <= last {
                both.push((first, last));
            }
            if x.1 < y.1 {
                a.next()
            } else {
                b.next()
            };
        }
        LengthSet(both)
    }

    /// The members that are not below `least`.
    pub fn at_least(&self, least: u64) -> LengthSet {
        self.intersection(&LengthSet::interval(least, u64::MAX))
    }

    /// The lengths up to `largest` that are not in the set.
    pub fn complement(&self, largest: u64) -> LengthSet {
        let mut outside = Vec::new();
        let mut next = 0;
        for &(first, last) in &self.0 {
            if first > next && next <= largest {
                outside.push((next, largest.min(first - 1)));
            }
            next = last.saturating_add(1);
        }
        if next <= largest {
            outside.push((next, largest));
        }
        LengthSet(outside)
    }

    /// The member nearest to `current`; of two, the longer.
    pub fn nearest(&self, current: u64) -> Option<u64> {
        let candidates = self.0.iter().map(|&(first, last)| current.clamp(first, last));
        candidates.min_by_key(|&len| (len.abs_diff(current), std::cmp::Reverse(len)))
    }

    /// The members, those nearest to `current` first.
    pub fn preferred(&self, current: u64) -> impl Iterator<Item = u64> + '_ {
        let largest = self.0.last().map_or(0, |&(_, last)| last).max(current);
        let distances = 0..=largest;
        distances
            .flat_map(move |distance| {
                let below = if distance == 0 { None } else { current.checked_sub(distance) };
                [Some(current + distance), below]
            })
            .flatten()
            .filter(|&len| self.contains(len))
    }

    pub fn contains(&self, len: u64) -> bool {
        let after = self.0.partition_point(|&(first, _)| first <= len);
        after > 0 && len <= self.0[after - 1].1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn set() -> impl Strategy<Value = LengthSet> {
        any::<u32>().prop_map(|bits| LengthSet::where_true(20, |len| bits >> len & 1 == 1))
    }

    proptest! {
        #[test]
        fn operations_are_those_of_sets(a in set(), b in set(), len in 0u64..=20) {
            prop_assert_eq!(a.intersection(&b).contains(len), a.contains(len) && b.contains(len));
            prop_assert_eq!(a.complement(20).contains(len), !a.contains(len));
            prop_assert_eq!(a.nearest(len), a.preferred(len).next());
            prop_assert!(a.preferred(len).all(|member| a.contains(member)));
            prop_assert_eq!(a.preferred(len).count(), (0..=20).filter(|&len| a.contains(len)).count());
        }
    }
}
