//! A launched process, which never outlives its handle.

use run::Outcome;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::time::{Duration, Instant};

pub(crate) struct Process {
    pid: i32,
    /// First process of its own pid namespace: its death is the death of everything in there.
    owns_namespace: bool,
    status: Option<ExitStatus>,
}

impl Process {
    pub fn new(pid: i32, owns_namespace: bool) -> Process {
        Process { pid, owns_namespace, status: None }
    }

    pub fn pid(&self) -> i32 {
        self.pid
    }

    /// Waits until the process has ended by itself, `limit` at most.
    pub fn wait_for(&mut self, limit: Duration) -> Option<Outcome> {
        const PAUSE: Duration = Duration::from_millis(1);
        let deadline = Instant::now() + limit;
        loop {
            self.look(libc::WNOHANG);
            if self.status.is_some() || Instant::now() >= deadline {
                return self.outcome();
            }
            std::thread::sleep(PAUSE);
        }
    }

    fn outcome(&self) -> Option<Outcome> {
        let status = self.status?;
        Some(
            status
                .signal()
                .map_or_else(|| Outcome::Exit(status.code().unwrap_or(0)), Outcome::Signal),
        )
    }

    /// Ends the process and whatever it supervises. Its lifeline should be closed already: without
    /// a namespace it is the only one that can find all of its descendants, so it gets some time to
    /// do that.
    pub fn end(&mut self) {
        const GRACE: Duration = Duration::from_secs(2);
        if !self.owns_namespace {
            self.wait_for(GRACE);
        }
        if self.status.is_none() {
            // SAFETY: the process is our child and not yet reaped, so its number is still its own.
            unsafe {
                libc::kill(self.pid, libc::SIGKILL);
                libc::kill(-self.pid, libc::SIGKILL);
            }
            self.look(0);
        }
    }

    fn look(&mut self, options: i32) {
        let mut status = 0;
        while self.status.is_none() {
            // SAFETY: `status` is valid for writing.
            match unsafe { libc::waitpid(self.pid, &mut status, options) } {
                0 => return,
                pid if pid == self.pid => self.status = Some(ExitStatus::from_raw(status)),
                _ if std::io::Error::last_os_error().kind() == std::io::ErrorKind::Interrupted => {}
                // Somebody else in the driver waits for all children; the process is gone in any
                // case.
                _ => self.status = Some(ExitStatus::from_raw(0)),
            }
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.end();
    }
}
