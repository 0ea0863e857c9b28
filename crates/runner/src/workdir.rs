//! A runner's own directory, removed with it, also when the driver is killed.

use crate::error::RunnerError;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use tempfile::TempDir;

/// Directory with the input (which targets can read) and the scratch directory (which they can
/// write).
pub(crate) struct Workdir {
    directory: TempDir,
    janitor: Janitor,
}

impl Workdir {
    pub fn create() -> Result<Workdir, RunnerError> {
        Workdir::build().map_err(RunnerError::system("create a working directory"))
    }

    fn build() -> io::Result<Workdir> {
        let directory = create_in_memory()
            .or_else(|_| tempfile::Builder::new().prefix("tarragon-").tempdir())?;
        let janitor = Janitor::start(directory.path())?;
        let workdir = Workdir { directory, janitor };
        std::fs::create_dir(workdir.input())?;
        std::fs::create_dir(workdir.scratch())?;
        Ok(workdir)
    }

    pub fn input(&self) -> PathBuf {
        self.directory.path().join("input")
    }

    pub fn scratch(&self) -> PathBuf {
        self.directory.path().join("scratch")
    }
}

impl Drop for Workdir {
    fn drop(&mut self) {
        // What cannot be removed now, the janitor cannot remove either.
        let _ = std::fs::remove_dir_all(self.directory.path());
        self.janitor.dismiss();
    }
}

/// Prefers memory to disk: the input is rewritten thousands of times a second.
fn create_in_memory() -> io::Result<TempDir> {
    tempfile::Builder::new().prefix("tarragon-").tempdir_in("/dev/shm")
}

/// A process that outlives a killed driver just long enough to remove its directory.
struct Janitor {
    process: Child,
    lifeline: Option<ChildStdin>,
}

impl Janitor {
    fn start(directory: &Path) -> io::Result<Janitor> {
        let mut process = Command::new("/bin/sh")
            .args([
                "-c",
                r#"trap '' HUP INT QUIT TERM; read -r _; exec rm -rf -- "$1""#,
                "tarragon-janitor",
            ])
            .arg(directory)
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()?;
        let lifeline = process.stdin.take();
        Ok(Janitor { process, lifeline })
    }

    /// Closing the pipe is what the driver's death does, too.
    fn dismiss(&mut self) {
        drop(self.lifeline.take());
        let _ = self.process.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_left_after_drop() {
        let workdir = Workdir::create().unwrap();
        let path = workdir.directory.path().to_owned();
        std::fs::write(workdir.scratch().join("left"), "over").unwrap();
        assert!(path.exists());
        drop(workdir);
        assert!(!path.exists());
    }

    #[test]
    fn the_janitor_removes_what_a_killed_driver_leaves() {
        let directory = tempfile::tempdir().unwrap().keep();
        std::fs::write(directory.join("left"), "over").unwrap();
        let mut janitor = Janitor::start(&directory).unwrap();
        janitor.dismiss();
        assert!(!directory.exists());
    }
}
