//! Output of a target, kept in memory that the file size limit bounds.

use crate::error::RunnerError;
use rustix::fs::{MemfdFlags, OFlags, fcntl_setfl, fstat, ftruncate, memfd_create};
use rustix::io::{Errno, pread, retry_on_intr};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// How much of the end of an output can be fetched.
pub const TAIL_LEN: u64 = 64 << 10;

/// A memory file that a target prints to. It appends, so that emptying the file is all that a new run needs.
pub(crate) struct Capture {
    file: OwnedFd,
}

impl Capture {
    pub fn new() -> Result<Capture, RunnerError> {
        Capture::create().map_err(RunnerError::system("create memory for the target's output"))
    }

    fn create() -> Result<Capture, Errno> {
        let file = memfd_create(c"tarragon-output", MemfdFlags::CLOEXEC)?;
        fcntl_setfl(&file, OFlags::APPEND)?;
        Ok(Capture { file })
    }

    pub fn reset(&self) -> Result<(), RunnerError> {
        if self.len() == 0 {
            return Ok(());
        }
        ftruncate(&self.file, 0).map_err(RunnerError::system("empty the target's output"))
    }

    /// The last [`TAIL_LEN`] bytes that were printed.
    pub fn tail(&self) -> Vec<u8> {
        let len = self.len();
        self.read_from(len.saturating_sub(TAIL_LEN))
    }

    /// All that was printed, up to the file size limit.
    pub fn all(&self) -> Vec<u8> {
        self.read_from(0)
    }

    pub fn tail_text(&self) -> String {
        String::from_utf8_lossy(&self.tail()).into_owned()
    }

    fn len(&self) -> u64 {
        fstat(&self.file).map_or(0, |stat| stat.st_size as u64)
    }

    fn read_from(&self, start: u64) -> Vec<u8> {
        let mut bytes = vec![0; self.len().saturating_sub(start) as usize];
        let mut filled = 0;
        while filled < bytes.len() {
            let at = start + filled as u64;
            match retry_on_intr(|| pread(&self.file, &mut bytes[filled..], at)) {
                Ok(0) | Err(_) => break,
                Ok(got) => filled += got,
            }
        }
        bytes.truncate(filled);
        bytes
    }
}

impl AsFd for Capture {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}
