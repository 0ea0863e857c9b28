//! The strategy of one side of a cross-check: it tells what was run, and takes the other side's
//! inputs as seeds.
//!
//! Two programs may part within a path of either, as with a limit that is off by one. No flip leads
//! there, so that changes of inputs that were kept come in between.

use std::collections::VecDeque;

use search::{Context, Mutate, Next, Origin, Proposal, Ran, Strategy};

/// An input that was run, for the comparison.
pub(crate) struct Generated {
    pub input: Vec<u8>,
    /// It covered what no input before it did.
    pub is_new: bool,
    /// It was not the other side's.
    pub is_own: bool,
}

pub(crate) struct Exchange<'l> {
    strategy: Box<dyn Strategy + 'l>,
    /// Inputs that are run next, with their names.
    waiting: VecDeque<(String, Vec<u8>)>,
    generated: Vec<Generated>,
    mutations: Mutations,
    mutate: Mutate,
    turns: u64,
}

/// Whether changes of inputs that were kept come in between.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mutations {
    Never,
    Between,
    /// And on and on once the strategy has nothing left to do.
    ToTheEnd,
}

/// One turn in so many is a mutation's.
const MUTATION_ONE_IN: u64 = 4;

/// The name of seeds that come from the other side.
const OTHER_SIDE: &str = "other side";

impl<'l> Exchange<'l> {
    pub(crate) fn new(
        strategy: Box<dyn Strategy + 'l>,
        seeds: impl IntoIterator<Item = (String, Vec<u8>)>,
        mutations: Mutations,
    ) -> Exchange<'l> {
        Exchange {
            strategy,
            waiting: seeds.into_iter().collect(),
            generated: Vec::new(),
            mutations,
            mutate: Mutate::without_traces(),
            turns: 0,
        }
    }

    /// Takes an input of the other side, unless the strategy goes through inputs of its own choice.
    pub(crate) fn offer(&mut self, input: Vec<u8>) {
        if !self.strategy.accounts_for_all() && self.strategy.holes().is_none() {
            self.waiting.push_back((OTHER_SIDE.to_owned(), input));
        }
    }

    pub(crate) fn has_offers(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// What was run since the last call.
    pub(crate) fn take_generated(&mut self) -> Vec<Generated> {
        std::mem::take(&mut self.generated)
    }

    fn note(&mut self, ran: &Ran<'_>) {
        self.generated.push(Generated {
            input: ran.input.to_vec(),
            is_new: ran.new_outcomes > 0,
            is_own: !matches!(ran.origin, Origin::Seed(name) if name == OTHER_SIDE),
        });
    }
}

impl Strategy for Exchange<'_> {
    fn name(&self) -> &'static str {
        self.strategy.name()
    }

    fn next(&mut self, context: &mut Context<'_>) -> Next {
        if let Some((name, input)) = self.waiting.pop_front() {
            return Next::Run(Proposal { input, symbolic: true, origin: Origin::Seed(name) });
        }
        self.turns += 1;
        if self.mutations != Mutations::Never && self.turns.is_multiple_of(MUTATION_ONE_IN) {
            return self.mutate.next(context);
        }
        match self.strategy.next(context) {
            Next::Finished if self.mutations == Mutations::ToTheEnd => self.mutate.next(context),
            next => next,
        }
    }

    fn learn(&mut self, ran: Ran<'_>, context: &mut Context<'_>) {
        self.note(&ran);
        self.mutate.learn(ran.untraced(), context);
        self.strategy.learn(ran, context);
    }

    fn queue(&self) -> usize {
        self.waiting.len() + self.strategy.queue()
    }

    fn wrapped(&self) -> Option<&dyn Strategy> {
        Some(&*self.strategy)
    }
}
