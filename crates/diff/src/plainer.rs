//! Smaller and plainer inputs for the same difference.

use shrink::Holds;

/// What bytes become that say nothing, the plainest first.
const PLAIN: [u8; 4] = [b'a', b'0', b' ', b'\n'];

/// Removes chunks of the input, large ones first, as long as `holds` says that the difference
/// stays, and then makes single bytes plainer, so that inputs with one origin come to look alike.
/// It asks at most `budget` times, never about the input itself.
pub fn shrink(input: &[u8], budget: usize, mut holds: impl FnMut(&[u8]) -> bool) -> Vec<u8> {
    let mut asked = 0;
    let mut holds = |candidate: &[u8]| {
        asked += 1;
        (asked <= budget).then(|| holds(candidate))
    };
    let smallest = shrink::chunks(input, &mut holds);
    let plainer = plainer(smallest, &mut holds);
    shrink::pairs(plainer, &mut holds)
}

fn plainer(mut input: Vec<u8>, holds: &mut Holds<'_>) -> Vec<u8> {
    for at in 0..input.len() {
        let old = input[at];
        for byte in PLAIN.into_iter().take_while(|byte| *byte != old) {
            input[at] = byte;
            match holds(&input) {
                Some(true) => break,
                Some(false) => input[at] = old,
                None => {
                    input[at] = old;
                    return input;
                }
            }
        }
    }
    input
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
