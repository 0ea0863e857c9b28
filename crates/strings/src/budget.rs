//! How much time and memory a question may take. Running out is an answer (`Unknown`), never an
//! error.

use std::time::Instant;

use thiserror::Error;

/// Why a question was given up.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Stop {
    #[error("the time limit was reached")]
    Time,
    #[error("the limit of {0} states was reached")]
    Memory(usize),
    #[error("{0}")]
    Unsupported(String),
}

/// Counts the states that were built and looks at the clock now and then.
#[derive(Clone, Debug)]
pub struct Budget {
    deadline: Option<Instant>,
    limit: usize,
    used: usize,
    since_look: usize,
}

/// Each state costs about a hundred bytes, so this is about a gigabyte.
const STATES: usize = 8_000_000;
const BETWEEN_LOOKS: usize = 32;

impl Default for Budget {
    fn default() -> Self {
        Budget { deadline: None, limit: STATES, used: 0, since_look: 0 }
    }
}

impl Budget {
    pub fn until(deadline: Option<Instant>) -> Self {
        Budget { deadline, ..Self::default() }
    }

    /// The same deadline, but no more than `limit` states from now on.
    pub fn with_limit(&self, limit: usize) -> Self {
        Budget { deadline: self.deadline, limit, used: 0, since_look: 0 }
    }

    /// How many states may still be built.
    pub fn left(&self) -> usize {
        self.limit.saturating_sub(self.used)
    }

    /// The same deadline and a fresh account.
    pub(crate) fn renewed(&self) -> Self {
        self.with_limit(STATES)
    }

    /// Accounts for one state.
    #[inline]
    pub fn spend(&mut self) -> Result<(), Stop> {
        self.spend_many(1)
    }

    /// Accounts for what is as large as `states` states.
    #[inline]
    pub fn spend_many(&mut self, states: usize) -> Result<(), Stop> {
        self.used = self.used.saturating_add(states);
        if self.used > self.limit {
            return Err(Stop::Memory(self.limit));
        }
        self.work(states)
    }

    /// Accounts for work that leaves nothing behind.
    #[inline]
    pub fn work(&mut self, amount: usize) -> Result<(), Stop> {
        self.since_look = self.since_look.saturating_add(amount);
        if self.since_look < BETWEEN_LOOKS {
            return Ok(());
        }
        self.since_look = 0;
        self.check_time()
    }

    pub fn check_time(&self) -> Result<(), Stop> {
        match self.deadline {
            Some(deadline) if Instant::now() >= deadline => Err(Stop::Time),
            _ => Ok(()),
        }
    }
}
