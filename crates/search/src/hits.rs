//! How often a run took branch outcomes.

/// Branch outcomes of a run, and how often it took each.
#[derive(Clone, Copy, Debug, Default)]
pub struct Hits<'a> {
    pub outcomes: &'a [u32],
    /// In the same order; 255 is that or more.
    pub counts: &'a [u8],
}

impl<'a> Hits<'a> {
    /// Each outcome with the bucket of its count.
    pub fn buckets(&self) -> impl Iterator<Item = (u32, u8)> + use<'a> {
        let counts = self.counts.iter().map(|count| BUCKETS[*count as usize]);
        self.outcomes.iter().copied().zip(counts)
    }
}

/// Counts that are told apart, a bit for each: 1, 2, 3, up to 7, 15, 31, 127, and more. A loop with
/// one more round is nothing new, one with twice as many is.
const BUCKETS: [u8; 256] = {
    const LAST: [usize; 8] = [1, 2, 3, 7, 15, 31, 127, 255];
    let mut buckets = [1; 256];
    let (mut count, mut bucket) = (1, 0);
    while count < buckets.len() {
        if count > LAST[bucket] {
            bucket += 1;
        }
        buckets[count] = 1 << bucket;
        count += 1;
    }
    buckets
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_of_one_magnitude_are_one_bucket() {
        let counts = [1, 2, 3, 4, 7, 8, 15, 16, 31, 32, 127, 128, 255];
        let outcomes: Vec<u32> = (10..10 + counts.len() as u32).collect();
        let hits = Hits { outcomes: &outcomes, counts: &counts };
        let (places, buckets): (Vec<u32>, Vec<u8>) = hits.buckets().unzip();
        assert_eq!(places, outcomes);
        assert_eq!(buckets, [1, 2, 4, 8, 8, 16, 16, 32, 32, 64, 64, 128, 128]);
    }
}
