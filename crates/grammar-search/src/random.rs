//! Random sentences: the baseline that knows the grammar and nothing else.

use fastrand::Rng;
use grammar::dfa::DfaError;
use grammar::language::Language;
use grammar::sample::Sampler;
use search::{Context, Next, Origin, Proposal, Ran, Strategy};

/// Proposes random sentences; short ones are as likely as long ones by order of magnitude.
pub struct GrammarRandom<'l> {
    sampler: Sampler<'l>,
}

/// Sizes that are asked for, as powers of two.
const MAGNITUDES: std::ops::RangeInclusive<u32> = 1..=9;

impl<'l> GrammarRandom<'l> {
    pub const NAME: &'static str = "grammar-random";

    pub fn new(language: &'l Language) -> Result<GrammarRandom<'l>, DfaError> {
        Ok(GrammarRandom { sampler: Sampler::new(language)? })
    }
}

impl Strategy for GrammarRandom<'_> {
    fn name(&self) -> &'static str {
        GrammarRandom::NAME
    }

    fn next(&mut self, context: &mut Context<'_>) -> Next {
        let mut rng = Rng::with_seed(context.rng.u64(..));
        let mut input = Vec::new();
        self.sampler.sample(&mut rng, 1 << context.rng.u32(MAGNITUDES), &mut input);
        match input.len() <= context.max_len {
            true => Next::Run(Proposal { input, symbolic: false, origin: Origin::Random }),
            false => Next::Busy,
        }
    }

    fn learn(&mut self, _ran: Ran<'_>, _context: &mut Context<'_>) {}
}
