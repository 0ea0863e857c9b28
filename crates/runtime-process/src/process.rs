//! What a target's process knows about itself, in one place.

use crate::{batch, snapshot};

/// Each part is written by its own module only.
pub(crate) struct Process {
    pub batch: batch::State,
    pub snapshot: snapshot::State,
}

// SAFETY: the cells in it are written where no second thread can look at them: before the program's
// own code runs (`batch::watch_exit`), before the first run (`snapshot::survey`; what it writes is
// only read by runs), and where a run begins, in a process that `fork` has just made, which has one
// thread. What is written later is atomic.
unsafe impl Sync for Process {}

static PROCESS: Process = Process { batch: batch::State::new(), snapshot: snapshot::State::new() };

pub(crate) fn process() -> &'static Process {
    &PROCESS
}
