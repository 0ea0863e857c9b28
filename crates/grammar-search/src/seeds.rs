//! Seeds from a grammar: one sentence of each of a few sizes, from the shortest on.

use grammar::dfa::DfaError;
use grammar::language::Language;
use grammar::rng::Rng;
use grammar::sample::Sampler;
use search::Seed;

/// Sizes in bytes, as the grammar counts them.
const SIZES: [usize; 8] = [0, 4, 8, 12, 16, 24, 32, 48];
/// Attempts to find a sentence of a size that no other seed is equal to.
const ATTEMPTS: u32 = 8;

/// Sentences to start from, all different.
pub fn seeds(language: &Language, max_len: usize, seed: u64) -> Result<Vec<Seed>, DfaError> {
    let mut sampler = Sampler::new(language)?;
    let mut rng = Rng::new(seed);
    let mut seeds: Vec<Seed> = Vec::new();
    for size in SIZES {
        for _ in 0..ATTEMPTS {
            let mut input = Vec::new();
            sampler.sample(&mut rng, size, &mut input);
            if input.len() <= max_len && seeds.iter().all(|seed| seed.input != input) {
                seeds.push(Seed { name: format!("sentence-{}", seeds.len() + 1), input });
                break;
            }
        }
    }
    Ok(seeds)
}
