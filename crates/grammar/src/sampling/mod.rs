//! Random sentences: by size, and uniformly by length.

mod alias;
mod lexeme;
pub mod sample;
pub mod uniform;

/// A number below `n` out of the upper half of a random word, with a bias of n / 2^32. In the loops
/// of generation this is cheaper than a range of `fastrand`, which has no bias.
#[inline]
fn below(random: u64, n: u32) -> u32 {
    (((random >> 32) * u64::from(n)) >> 32) as u32
}
