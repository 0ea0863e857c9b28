//! Flips that were dropped have their turn after all when nothing else is left to do: their runs
//! are traced once more. What was solved for in the meantime is known by its prefix, so that the
//! flips which are left are those that were dropped. Most of them are of long loops, so that every
//! other run is a restart from somewhere else.

use std::collections::{HashSet, VecDeque};

use super::{Expected, Whitebox, hash_of};
use crate::{Context, Next, Origin, Proposal, restart};

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
    /// Some have had their turn.
    begun: bool,
    restarted_last: bool,
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
        self.dropped.begun = true;
        self.expected = Some(Expected::Dropped);
        Some(Next::Run(Proposal { input, symbolic: true, origin: Origin::Retrace }))
    }

    /// A restart, where it is time for one although flips wait.
    pub(super) fn restart_between(&mut self, context: &mut Context<'_>) -> Option<Next> {
        let dropped = &mut self.dropped;
        dropped.restarted_last = dropped.begun && !dropped.restarted_last;
        let is_due = dropped.restarted_last && self.ready.is_none();
        is_due.then(|| Next::Run(restart(self.options.holes.as_deref(), context)))
    }
}
