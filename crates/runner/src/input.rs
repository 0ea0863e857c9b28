//! The file that a target reads its input from, on stdin or by name.

use crate::error::RunnerError;
use rustix::fs::{Mode, OFlags, fstat, ftruncate, open};
use rustix::io::{Errno, pwrite};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

/// The input file. Targets open it themselves, read-only and with an offset of their own; only the
/// driver's descriptor can write.
pub(crate) struct InputFile {
    file: OwnedFd,
    path: PathBuf,
    len: usize,
}

impl InputFile {
    pub fn create(directory: &Path) -> Result<InputFile, RunnerError> {
        let path = directory.join("input");
        let flags = OFlags::CREATE | OFlags::EXCL | OFlags::RDWR | OFlags::CLOEXEC;
        let file = open(&path, flags, Mode::from(0o444))
            .map_err(RunnerError::system("create the input file"))?;
        Ok(InputFile { file, path, len: 0 })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Device and inode.
    pub fn identity(&self) -> Result<(u64, u64), RunnerError> {
        let stat = fstat(&self.file).map_err(RunnerError::system("look at the input file"))?;
        Ok((stat.st_dev, stat.st_ino))
    }

    pub fn replace(&mut self, input: &[u8]) -> Result<(), RunnerError> {
        self.overwrite(input).map_err(RunnerError::system("write the input file"))
    }

    fn overwrite(&mut self, input: &[u8]) -> Result<(), Errno> {
        let mut written = 0;
        while written < input.len() {
            match pwrite(&self.file, &input[written..], written as u64) {
                Ok(0) => return Err(Errno::NOSPC),
                Ok(count) => written += count,
                Err(Errno::INTR) => {}
                Err(error) => return Err(error),
            }
        }
        if input.len() < self.len {
            ftruncate(&self.file, input.len() as u64)?;
        }
        self.len = input.len();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_input_replaces_the_one_before() {
        let directory = tempfile::tempdir().unwrap();
        let mut file = InputFile::create(directory.path()).unwrap();
        for input in ["long input", "short", "", "again"] {
            file.replace(input.as_bytes()).unwrap();
            assert_eq!(std::fs::read_to_string(file.path()).unwrap(), input);
        }
    }
}
