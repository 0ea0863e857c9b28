//! Mutation of derivation trees, with coverage as feedback.

use grammar::dfa::DfaError;
use grammar::language::Language;
use grammar::mutate::Mutator;
use grammar::parse::Parser;
use grammar::rng::Rng;
use grammar::tree::Tree;
use search::{Context, Ending, Next, Origin, Proposal, Ran, Strategy};

/// Mutates the trees of seeds and of every sentence that added coverage.
pub struct TreeMutate<'l> {
    parser: Parser,
    mutator: Mutator<'l>,
    trees: Vec<Tree>,
}

/// Bytes of subtrees that are generated anew.
const FRESH: usize = 32;
/// Mutations one after the other, at most.
const ROUNDS: u32 = 4;

impl<'l> TreeMutate<'l> {
    pub fn new(language: &'l Language) -> Result<TreeMutate<'l>, DfaError> {
        let (parser, mutator) = (Parser::new(&language.grammar)?, Mutator::new(language, FRESH)?);
        Ok(TreeMutate { parser, mutator, trees: Vec::new() })
    }
}

impl Strategy for TreeMutate<'_> {
    fn name(&self) -> &'static str {
        "tree-mutate"
    }

    fn next(&mut self, context: &mut Context<'_>) -> Next {
        let mut rng = Rng::new(context.rng.u64(..));
        let input = match self.trees.len() {
            0 => {
                let mut input = Vec::new();
                self.mutator.sampler().sample(&mut rng, FRESH, &mut input);
                input
            }
            count => {
                let mut tree = self.trees[rng.index(count)].clone();
                for _ in 0..=rng.below(ROUNDS) {
                    tree = self.mutator.mutate(&tree, &self.trees, &mut rng);
                }
                self.mutator.spell(&tree)
            }
        };
        match input.len() <= context.max_len {
            true => Next::Run(Proposal { input, symbolic: false, origin: Origin::Mutation }),
            false => Next::Busy,
        }
    }

    fn learn(&mut self, ran: Ran<'_>, _context: &mut Context<'_>) {
        // Children of what hangs tend to hang.
        let is_new = ran.new_outcomes > 0 || matches!(ran.origin, Origin::Seed(_));
        if is_new && ran.ending != Ending::Timeout {
            self.trees.extend(self.parser.parse(ran.input));
        }
    }
}
