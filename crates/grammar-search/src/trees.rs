//! Mutation of derivation trees, with coverage as feedback.

use fastrand::Rng;
use grammar::dfa::DfaError;
use grammar::language::Language;
use search::{Context, Next, Origin, Outcome, Proposal, Ran, Strategy};

use crate::corpus::{SharedCorpus, TreeCorpus};

/// Mutates the trees of seeds and of every sentence that added coverage.
pub struct TreeMutate<'l> {
    corpus: SharedCorpus<'l>,
    /// Sentences in a row that were too long.
    in_vain: u32,
}

/// After so many, there are none that fit.
const MOST_IN_VAIN: u32 = 10_000;

/// Bytes of sentences while there is no tree.
const FIRST: usize = 32;

impl<'l> TreeMutate<'l> {
    pub const NAME: &'static str = "tree-mutate";

    pub fn new(language: &'l Language) -> Result<TreeMutate<'l>, DfaError> {
        Ok(TreeMutate::sharing(TreeCorpus::shared(language)?))
    }

    /// With a corpus that others add to.
    pub fn sharing(corpus: SharedCorpus<'l>) -> TreeMutate<'l> {
        TreeMutate { corpus, in_vain: 0 }
    }
}

impl Strategy for TreeMutate<'_> {
    fn name(&self) -> &'static str {
        TreeMutate::NAME
    }

    fn next(&mut self, context: &mut Context<'_>) -> Next {
        let mut rng = Rng::with_seed(context.rng.u64(..));
        let mut corpus = self.corpus.borrow_mut();
        let input = corpus.mutated(&mut rng).unwrap_or_else(|| corpus.random(FIRST, &mut rng));
        if input.len() <= context.max_len {
            self.in_vain = 0;
            return Next::Run(Proposal { input, symbolic: false, origin: Origin::Mutation });
        }
        self.in_vain += 1;
        if self.in_vain < MOST_IN_VAIN { Next::Busy } else { Next::Finished }
    }

    fn learn(&mut self, ran: Ran<'_>, _context: &mut Context<'_>) {
        // Children of what hangs tend to hang.
        let is_new = ran.new_outcomes > 0 || matches!(ran.origin, Origin::Seed(_));
        if is_new && ran.outcome != Outcome::Timeout {
            self.corpus.borrow_mut().keep(ran.input);
        }
    }
}
