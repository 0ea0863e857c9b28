//! Smaller inputs for the same difference.

/// Removes chunks of the input, large ones first, as long as `holds` says that the difference
/// stays, and asks at most `budget` times. `holds` is never asked about the input itself.
pub fn shrink(input: &[u8], budget: usize, mut holds: impl FnMut(&[u8]) -> bool) -> Vec<u8> {
    let mut smallest = input.to_vec();
    let mut asked = 0;
    let mut size = smallest.len().div_ceil(2);
    while size > 0 && asked < budget {
        let before = smallest.len();
        // From the end, where less depends on what is removed.
        let mut end = smallest.len();
        while end > 0 && asked < budget {
            let start = end.saturating_sub(size);
            let candidate = [&smallest[..start], &smallest[end..]].concat();
            asked += 1;
            if holds(&candidate) {
                smallest = candidate;
            }
            end = start;
        }
        // What was removed may have kept something else in its place.
        if smallest.len() == before || size > 1 {
            size /= 2;
        }
    }
    smallest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_matters_stays() {
        let has_both = |input: &[u8]| input.contains(&b'x') && input.contains(&b'y');
        assert_eq!(shrink(b"aaaxbbbbbbbyccc", 1000, has_both), b"xy");
        assert_eq!(shrink(b"", 1000, |_| true), b"");
        assert_eq!(shrink(b"abc", 1000, |_| true), b"");
        assert_eq!(shrink(b"abc", 1000, |_| false), b"abc");
    }

    #[test]
    fn the_budget_holds() {
        let mut asked = 0;
        let smallest = shrink(&[b'a'; 1000], 7, |_| {
            asked += 1;
            false
        });
        assert_eq!((smallest.len(), asked), (1000, 7));
    }

    /// The last byte can go only after the first one, which is tried later.
    #[test]
    fn single_bytes_are_tried_again() {
        assert_eq!(shrink(b"ab", 1000, |input| input != b"a"), b"");
    }
}
