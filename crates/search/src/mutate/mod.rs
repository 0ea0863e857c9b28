//! Random stacked changes of the corpus, with coverage as feedback: which input is changed
//! (`schedule`), how (`havoc`), and with what the program compares (`dictionary`).

mod dictionary;
mod havoc;
mod schedule;

use fastrand::Rng;
use sources::Layout;

use crate::{Context, Corpus, Next, Origin, Proposal, Ran, Strategy};
use dictionary::Dictionary;
use havoc::mutate;
use schedule::Schedule;

/// Mutates seeds and every input that added coverage.
#[derive(Debug, Default)]
pub struct Mutate {
    /// Seeds stay in the pool even if they added no coverage.
    seeds: Vec<Vec<u8>>,
    dictionary: Option<Dictionary>,
    schedule: Schedule,
}

impl Mutate {
    pub const NAME: &str = "mutate";

    /// For a single change, which is not worth a look at the whole program.
    pub(crate) fn once() -> Mutate {
        Mutate { dictionary: Some(Dictionary::default()), ..Mutate::default() }
    }
}

impl Strategy for Mutate {
    fn name(&self) -> &'static str {
        Mutate::NAME
    }

    fn next(&mut self, context: &mut Context<'_>) -> Next {
        let mut input = self.pick(context.corpus, context.rng).to_vec();
        let other = self.pick(context.corpus, context.rng).to_vec();
        let dictionary = self.dictionary.get_or_insert_with(|| Dictionary::of(context.sites));
        let rounds = 1 << context.rng.u32(0..=6);
        match Layout::of(&input) {
            Some(layout) => {
                let inputs = (&input[..], &other[..]);
                input = mutate_parts(&layout, inputs, rounds, dictionary, context.rng);
            }
            None => {
                for _ in 0..rounds {
                    mutate(&mut input, &other, dictionary, context.rng);
                    input.truncate(context.max_len);
                }
            }
        }
        Next::Run(Proposal { input, symbolic: false, origin: Origin::Mutation })
    }

    fn learn(&mut self, ran: Ran<'_>, _context: &mut Context<'_>) {
        if matches!(ran.origin, Origin::Seed(_)) && ran.new_outcomes == 0 {
            self.seeds.push(ran.input.to_vec());
        }
    }
}

impl Mutate {
    fn pick<'a>(&'a mut self, corpus: &'a Corpus, rng: &mut Rng) -> &'a [u8] {
        let found = corpus.entries();
        let index = self.schedule.pick(found, self.seeds.len(), rng);
        match found.get(index) {
            Some(entry) => &entry.input,
            None => self.seeds.get(index - found.len()).map_or(&[], Vec::as_slice),
        }
    }
}

/// The parts of a container change each by itself, mostly few of them.
fn mutate_parts(
    layout: &Layout,
    (input, other): (&[u8], &[u8]),
    rounds: u32,
    dictionary: &Dictionary,
    rng: &mut Rng,
) -> Vec<u8> {
    let mut parts = layout.split(input).unwrap_or_default();
    let others = layout.split(other).unwrap_or_else(|_| vec![Vec::new(); parts.len()]);
    let mut number = 0;
    for round in 0..rounds {
        if round == 0 || rng.u32(0..4) == 0 {
            number = rng.usize(0..parts.len().max(1));
        }
        let (Some(bytes), Some(part)) = (parts.get_mut(number), layout.parts().get(number)) else {
            break;
        };
        mutate(bytes, &others[number], dictionary, rng);
        bytes.truncate(part.capacity);
    }
    layout.join(&parts)
}
