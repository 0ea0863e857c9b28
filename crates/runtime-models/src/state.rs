//! What the models know of the current run.
//!
//! There is one [`ModelState`] a process, beside the core's [`Run`](runtime_core::state::Run). Its
//! parts are cells for the same reason: models call each other, and none may hold a part to itself.

use crate::outside::Outside;
use crate::words::Words;

pub struct ModelState {
    pub outside: Outside,
    pub words: Words,
}

/// The models' state of this process.
struct OfProcess(ModelState);

// SAFETY: the guard lets one thread in at a time. What is read and written without it is whole at
// any moment: numbers and pointers, which other threads do not change while they matter.
unsafe impl Sync for OfProcess {}

static MODELS: OfProcess = OfProcess(ModelState { outside: Outside::NEW, words: Words::NEW });

#[inline(always)]
pub fn models() -> &'static ModelState {
    &MODELS.0
}

impl ModelState {
    /// A run ends. The program's words stay: there are new ones only in a new process.
    pub fn reset(&self) {
        self.outside.reset();
    }
}
