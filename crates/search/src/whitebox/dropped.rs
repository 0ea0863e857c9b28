//! Flips that were dropped have their turn after all when nothing else is left to do: their runs
//! are traced once more. What was solved for in the meantime is known by its prefix, so that the
//! flips which are left are those that were dropped.

use std::collections::{HashSet, VecDeque};

use super::{Expected, Whitebox, hash_of};
use crate::{Context, Next, Origin, Proposal};

/// Inputs that are remembered. A search with more of them hardly ever comes to an end.
const INPUTS: usize = 4096;
/// Bytes that they have together.
const BYTES: usize = 16 << 20;

/// Inputs of runs some of whose flips were dropped.
#[derive(Default)]
pub(super) struct Dropped {
    waiting: VecDeque<Vec<u8>>,
    known: HashSet<u64>,
    bytes: usize,
}

impl Dropped {
    pub(super) fn note(&mut self, input: &[u8]) {
        let has_room = self.waiting.len() < INPUTS && self.bytes + input.len() <= BYTES;
        if has_room && self.known.insert(hash_of(input)) {
            self.bytes += input.len();
            self.waiting.push_back(input.to_vec());
        }
    }

    fn pop(&mut self) -> Option<Vec<u8>> {
        let input = self.waiting.pop_front()?;
        self.bytes -= input.len();
        self.known.remove(&hash_of(&input));
        Some(input)
    }
}

impl Whitebox<'_> {
    /// Without a limit the search would not end in any time worth waiting for.
    pub(super) fn take_up_dropped(&mut self, context: &mut Context<'_>) -> Option<Next> {
        let input = self.dropped.pop().filter(|_| context.has_end)?;
        context.stats.taken_up += 1;
        self.expected = Some(Expected::Dropped);
        Some(Next::Run(Proposal { input, symbolic: true, origin: Origin::Retrace }))
    }
}
