//! Smaller and plainer inputs for the same difference.

/// What bytes become that say nothing, the plainest first.
const PLAIN: [u8; 4] = [b'a', b'0', b' ', b'\n'];

/// Removes chunks of the input, large ones first, as long as `holds` says that the difference
/// stays, and then makes single bytes plainer, so that inputs with one origin come to look alike.
/// It asks at most `budget` times, never about the input itself.
pub fn shrink(input: &[u8], budget: usize, mut holds: impl FnMut(&[u8]) -> bool) -> Vec<u8> {
    let mut asked = 0;
    let mut holds = |candidate: &[u8]| {
        asked += 1;
        asked <= budget && holds(candidate)
    };
    let smallest = remove(input, &mut holds);
    let plainer = plainer(smallest, &mut holds);
    remove_pairs(plainer, &mut holds)
}

/// Brackets can go only together.
fn remove_pairs(mut input: Vec<u8>, holds: &mut impl FnMut(&[u8]) -> bool) -> Vec<u8> {
    let mut first = 0;
    while first < input.len() {
        let without =
            |last: usize| [&input[..first], &input[first + 1..last], &input[last + 1..]].concat();
        let found = (first + 1..input.len()).rev().map(without).find(|candidate| holds(candidate));
        match found {
            Some(smaller) => input = smaller,
            None => first += 1,
        }
    }
    input
}

fn plainer(mut input: Vec<u8>, holds: &mut impl FnMut(&[u8]) -> bool) -> Vec<u8> {
    for at in 0..input.len() {
        let old = input[at];
        for byte in PLAIN.into_iter().take_while(|byte| *byte != old) {
            input[at] = byte;
            if holds(&input) {
                break;
            }
            input[at] = old;
        }
    }
    input
}

fn remove(input: &[u8], holds: &mut impl FnMut(&[u8]) -> bool) -> Vec<u8> {
    let mut smallest = input.to_vec();
    let mut size = smallest.len().div_ceil(2);
    while size > 0 {
        let before = smallest.len();
        // From the end, where less depends on what is removed.
        let mut end = smallest.len();
        while end > 0 {
            let start = end.saturating_sub(size);
            let candidate = [&smallest[..start], &smallest[end..]].concat();
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
    fn brackets_go_together() {
        let is_nested = |input: &[u8]| {
            let depth = input.iter().take_while(|byte| **byte == b'[').count();
            depth > 1 && input == [b"[".repeat(depth), b"x".to_vec(), b"]".repeat(depth)].concat()
        };
        assert_eq!(shrink(b"[[[[x]]]]", 1000, is_nested), b"[[x]]");
    }

    #[test]
    fn what_says_nothing_becomes_plain() {
        let is_call = |input: &[u8]| input.len() == 5 && input.ends_with(b"()");
        assert_eq!(shrink(b"foo()", 1000, is_call), b"aaa()");
        let is_number = |input: &[u8]| input.len() == 2 && input.iter().all(u8::is_ascii_digit);
        assert_eq!(shrink(b"73", 1000, is_number), b"00");
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
