//! Which branch outcomes were seen.

/// A set of branch outcomes out of a fixed number of them.
#[derive(Clone, Debug, Default)]
pub struct Coverage {
    seen: Vec<bool>,
    count: usize,
}

impl Coverage {
    pub fn new(outcomes: u32) -> Coverage {
        Coverage { seen: vec![false; outcomes as usize], count: 0 }
    }

    /// Adds outcomes and says how many of them are new. Indices beyond the table are ignored: they
    /// come from the target's memory.
    pub fn add(&mut self, outcomes: &[u32]) -> usize {
        let before = self.count;
        for &outcome in outcomes {
            if let Some(seen) = self.seen.get_mut(outcome as usize) {
                self.count += usize::from(!*seen);
                *seen = true;
            }
        }
        self.count - before
    }

    pub fn has(&self, outcome: u32) -> bool {
        self.seen.get(outcome as usize).copied().unwrap_or(false)
    }

    pub fn covered(&self) -> usize {
        self.count
    }

    pub fn total(&self) -> usize {
        self.seen.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_each_outcome_once() {
        let mut coverage = Coverage::new(4);
        assert_eq!(coverage.add(&[1, 3, 1, 99]), 2);
        assert_eq!(coverage.add(&[3, 0]), 1);
        assert_eq!((coverage.covered(), coverage.total()), (3, 4));
        assert!(coverage.has(3) && !coverage.has(2) && !coverage.has(99));
    }
}
