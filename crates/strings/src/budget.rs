//! How much time and memory a question may take. Running out is an answer (`Unknown`), never an error.

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
}

/// Each state costs about a hundred bytes, so this is about a gigabyte.
const STATES: usize = 8_000_000;
const BETWEEN_LOOKS: usize = 32;

impl Default for Budget {
    fn default() -> Self {
        Budget { deadline: None, limit: STATES, used: 0 }
    }
}

impl Budget {
    pub fn until(deadline: Option<Instant>) -> Self {
        Budget { deadline, ..Self::default() }
    }

    /// The same deadline, but no more than `limit` states from now on.
    pub fn with_limit(&self, limit: usize) -> Self {
        Budget { deadline: self.deadline, limit, used: 0 }
    }

    /// Accounts for one state.
    #[inline]
    pub fn spend(&mut self) -> Result<(), Stop> {
        self.used += 1;
        if self.used > self.limit {
            return Err(Stop::Memory(self.limit));
        }
        if self.used.is_multiple_of(BETWEEN_LOOKS) { self.check_time() } else { Ok(()) }
    }

    pub fn check_time(&self) -> Result<(), Stop> {
        match self.deadline {
            Some(deadline) if Instant::now() >= deadline => Err(Stop::Time),
            _ => Ok(()),
        }
    }
}
