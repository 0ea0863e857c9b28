//! Seeds from a grammar: sentences that together take every pair of a rule within a rule, and one
//! of each of a few sizes.

use std::collections::HashSet;

use fastrand::Rng;
use grammar::cover::sample_paths;
use grammar::dfa::DfaError;
use grammar::edit;
use grammar::language::Language;
use grammar::sample::Sampler;
use grammar::spell::Speller;
use search::Seed;

/// Sizes in bytes, as the grammar counts them.
const SIZES: [usize; 8] = [0, 4, 8, 12, 16, 24, 32, 48];
/// Attempts to find a sentence of a size that no other seed is equal to.
const ATTEMPTS: u32 = 8;
/// Rules in each other that are covered, the size of what stands beside them, and the most
/// sentences for that.
const DEPTH: usize = 2;
const BESIDE: usize = 16;
const MOST: usize = 100;

/// Sentences to start from, all different, short ones first.
pub fn seeds(language: &Language, max_len: usize, seed: u64) -> Result<Vec<Seed>, DfaError> {
    let mut sampler = Sampler::new(language)?;
    let mut speller = Speller::new(&language.grammar)?;
    let mut rng = Rng::with_seed(seed);
    let mut sentences: Vec<Vec<u8>> = Vec::new();
    sample_paths(language, &mut sampler, DEPTH, BESIDE, &mut rng, |tree| {
        add(&mut sentences, edit::spell(&tree, &mut speller), max_len);
        sentences.len() < MOST
    });
    for size in SIZES {
        let mut sample = |rng: &mut Rng| {
            let mut sentence = Vec::new();
            sampler.sample(rng, size, &mut sentence);
            sentence
        };
        let _ = (0..ATTEMPTS).any(|_| add(&mut sentences, sample(&mut rng), max_len));
    }
    sentences.sort_by_key(Vec::len);
    let seed = |(number, input)| Seed { name: format!("sentence-{number}"), input };
    Ok((1..).zip(sentences).map(seed).collect())
}

/// Given seeds, and the sentences that are not among them.
pub fn joined(given: Vec<Seed>, sentences: Vec<Seed>) -> Vec<Seed> {
    let known: HashSet<Vec<u8>> = given.iter().map(|seed| seed.input.clone()).collect();
    let new = sentences.into_iter().filter(|seed| !known.contains(&seed.input));
    given.into_iter().chain(new).collect()
}

/// False if the sentence is too long or there already.
fn add(sentences: &mut Vec<Vec<u8>>, sentence: Vec<u8>, max_len: usize) -> bool {
    let is_new = sentence.len() <= max_len && !sentences.contains(&sentence);
    if is_new {
        sentences.push(sentence);
    }
    is_new
}
