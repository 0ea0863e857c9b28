//! Random bytes: the baseline that knows nothing.

use crate::{Context, Next, Origin, Proposal, Ran, Strategy};

/// Proposes uniformly random bytes; short lengths are as likely as long ones by order of magnitude.
#[derive(Debug, Default)]
pub struct Random;

impl Random {
    pub const NAME: &str = "random";

    pub(crate) fn once(context: &mut Context<'_>) -> Proposal {
        let len = length(context.rng, context.max_len);
        let input = (0..len).map(|_| context.rng.u8(..)).collect();
        Proposal { input, symbolic: false, origin: Origin::Random }
    }
}

impl Strategy for Random {
    fn name(&self) -> &'static str {
        Random::NAME
    }

    fn next(&mut self, context: &mut Context<'_>) -> Next {
        Next::Run(Random::once(context))
    }

    fn learn(&mut self, _ran: Ran<'_>, _context: &mut Context<'_>) {}
}

fn length(rng: &mut fastrand::Rng, max_len: usize) -> usize {
    let magnitude = rng.u32(0..=max_len.max(1).ilog2() + 1);
    let top = 1_usize.checked_shl(magnitude).unwrap_or(usize::MAX);
    rng.usize(0..=top.min(max_len))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_stay_within_the_limit_and_reach_it() {
        let mut rng = fastrand::Rng::with_seed(1);
        for max_len in [0, 1, 2, 7, 64] {
            let lengths: Vec<usize> = (0..2000).map(|_| length(&mut rng, max_len)).collect();
            assert_eq!(lengths.iter().max(), Some(&max_len));
            assert!(lengths.contains(&0));
        }
    }
}
