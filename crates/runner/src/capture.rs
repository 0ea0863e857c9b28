//! Output of a target, kept in memory that the file size limit bounds.

use crate::error::RunnerError;
use rustix::fs::{MemfdFlags, OFlags, fcntl_setfl, fstat, ftruncate, memfd_create};
use rustix::io::{Errno, pread, retry_on_intr};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// How much of the end of an output can be fetched.
pub const TAIL_LEN: u64 = 64 << 10;

/// Output of earlier runs that may stay in a file: to give a page back and to get it again costs as
/// much as to print on it.
const MAX_KEPT: u64 = 32 << 10;

/// A memory file that a target prints to. It appends, so that a new run needs no more than to know
/// where its output starts.
pub(crate) struct Capture {
    file: OwnedFd,
    /// Where the output of the last run starts.
    start: u64,
    /// Bytes of earlier runs that may come before it.
    most_kept: u64,
}

impl Capture {
    /// For output that programs look at themselves: its file is empty when a run begins.
    pub fn of_stdout() -> Result<Capture, RunnerError> {
        Capture::new(0)
    }

    /// For messages, which are few.
    pub fn of_stderr() -> Result<Capture, RunnerError> {
        Capture::new(MAX_KEPT)
    }

    fn new(most_kept: u64) -> Result<Capture, RunnerError> {
        let file = Capture::create()
            .map_err(RunnerError::system("create memory for the target's output"))?;
        Ok(Capture { file, start: 0, most_kept })
    }

    fn create() -> Result<OwnedFd, Errno> {
        let file = memfd_create(c"tarragon-output", MemfdFlags::CLOEXEC)?;
        fcntl_setfl(&file, OFlags::APPEND)?;
        Ok(file)
    }

    /// A new run begins.
    pub fn reset(&mut self) -> Result<(), RunnerError> {
        self.start = self.len();
        if self.start > self.most_kept {
            ftruncate(&self.file, 0).map_err(RunnerError::system("empty the target's output"))?;
            self.start = 0;
        }
        Ok(())
    }

    /// The last [`TAIL_LEN`] bytes that were printed.
    pub fn tail(&self) -> Vec<u8> {
        self.read_from(self.len().saturating_sub(TAIL_LEN).max(self.start))
    }

    /// All that was printed, up to the file size limit.
    pub fn all(&self) -> Vec<u8> {
        self.read_from(self.start)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_run_has_its_own_output() {
        for (mut capture, empty) in
            [(Capture::of_stdout().unwrap(), true), (Capture::of_stderr().unwrap(), false)]
        {
            let mut longest = 0;
            for len in [3, 0, 100, 20_000, 30_000, 100_000, 1] {
                capture.reset().unwrap();
                assert!(!empty || capture.len() == 0);
                let text = vec![b'a' + len as u8 % 20; len];
                assert_eq!(rustix::io::write(&capture.file, &text).unwrap(), len);
                assert_eq!(capture.all(), text);
                assert_eq!(capture.tail(), text[len.saturating_sub(TAIL_LEN as usize)..]);
                longest = longest.max(capture.len() - len as u64);
            }
            assert!(longest <= MAX_KEPT && (longest > 0) != empty);
        }
    }
}
