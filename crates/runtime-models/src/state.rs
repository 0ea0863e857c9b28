//! What the models know of the current run.
//!
//! There is one [`ModelState`] a process, beside the core's [`Run`](runtime_core::state::Run). Its
//! parts are cells for the same reason: models call each other, and none may hold a part to itself.

use crate::outside::Outside;
use crate::sources::Sources;
use crate::stdio::Streams;
use crate::words::Words;
use core::cell::Cell;
use core::ffi::c_int;
use core::ptr::null_mut;
use trace::Label;

pub struct ModelState {
    pub outside: Outside,
    pub words: Words,
    /// The socket through which the input comes, if it does: its device and inode.
    pub(crate) connection: Cell<Option<(u64, u64)>>,
    /// A file that a model read before the first run began: its device and inode.
    pub(crate) read_before: Cell<Option<(u64, u64)>>,
    pub(crate) sources: Sources,
    /// The descriptor of the input whose position hangs on where the input ends, if there is one.
    pub(crate) at_end: Cell<Option<c_int>>,
    pub(crate) streams: Streams,
    /// The rest that `strtok` keeps between calls.
    pub(crate) token_rest: Cell<*mut u8>,
    /// The label of the size that `operator new` is asked for, until the object is there.
    pub(crate) new_size: Cell<Label>,
}

/// The models' state of this process.
struct OfProcess(ModelState);

// SAFETY: the guard lets one thread in at a time. What is read and written without it is whole at
// any moment: numbers and pointers, which other threads do not change while they matter.
unsafe impl Sync for OfProcess {}

static MODELS: OfProcess = OfProcess(ModelState {
    outside: Outside::NEW,
    words: Words::NEW,
    connection: Cell::new(None),
    read_before: Cell::new(None),
    sources: Sources::NONE,
    at_end: Cell::new(None),
    streams: Streams::NONE,
    token_rest: Cell::new(null_mut()),
    new_size: Cell::new(0),
});

#[inline(always)]
pub fn models() -> &'static ModelState {
    &MODELS.0
}

impl ModelState {
    /// Makes ready for another run in this process. What the program itself goes on with stays: its
    /// words and connection, and what `strtok` has not cut yet.
    pub fn reset(&self) {
        self.outside.reset();
        self.sources.reset();
        self.at_end.set(None);
        self.streams.reset();
        self.new_size.set(0);
    }
}
