//! The page in which the server sees what a run that takes several inputs is doing.

use crate::sys::{self, Map};
use core::ptr::NonNull;
use trace::server::{Command, Progress};

/// A [`Progress`] that the server and its runs share.
///
/// Invariant: the memory stays mapped for as long as the process lives. Another process may write
/// to it at any time, so that it is never borrowed, and every access is volatile.
#[derive(Clone, Copy)]
pub(crate) struct SharedProgress(NonNull<Progress>);

impl SharedProgress {
    /// `None` if there is no memory.
    pub fn new() -> Option<SharedProgress> {
        NonNull::new(sys::map(Map::Shared, size_of::<Progress>()).cast()).map(SharedProgress)
    }

    pub fn read(self) -> Progress {
        // SAFETY: the page is mapped; it consists of numbers, for which any bytes will do.
        unsafe { self.0.read_volatile() }
    }

    pub fn write(self, progress: &Progress) {
        // SAFETY: the page is mapped for writing, and nobody borrows from it.
        unsafe { self.0.write_volatile(*progress) }
    }

    fn set_state(self, state: u32) {
        // SAFETY: as for `write`; the field lies in the page.
        unsafe { (&raw mut (*self.0.as_ptr()).state).write_volatile(state) }
    }

    /// The run waits for another command, whose limits do not yet hold.
    pub fn wait(self) {
        self.set_state(Progress::WAITS);
    }

    /// The run goes on with the command that it has.
    pub fn resume(self) {
        self.set_state(Progress::RUNS);
    }

    /// The command of the last run is done, after `cpu_time_us` of the process.
    pub fn finish(self, cpu_time_us: u64) {
        let progress = self.read();
        let inputs = progress.inputs.wrapping_add(1);
        self.write(&Progress { inputs, cpu_before_us: cpu_time_us, ..progress });
    }

    /// The run begins another command. The server looks at the limits only once all are there.
    pub fn begin(self, command: Command, started_us: u64) {
        self.write(&Progress { command, started_us, ..self.read() });
        self.resume();
    }
}
