//! The sockets between the driver and whoever supervises runs.

use crate::error::RunnerError;
use crate::launch::Pipes;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{Errno, read};
use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::net::{AddressFamily, SendFlags, SocketFlags, SocketType, send, socketpair};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use trace::server::{Command, Report};

/// How long is waited between two looks at whether to wait any longer.
const LOOK: Duration = Duration::from_millis(100);

/// The other side died or fell silent, or nobody wants to hear it any more.
#[derive(Debug)]
pub(crate) struct Lost;

/// A message that the server sent, or the program.
pub(crate) struct Received {
    pub report: Report,
    /// It has the length of a report. A greeting of another version may have another.
    pub is_whole: bool,
}

/// The driver's ends. Sockets rather than pipes: writing to a dead server must not raise `SIGPIPE`
/// in the driver, and what a program writes to its server's descriptor must not run into a report.
pub(crate) struct Line {
    commands: Option<OwnedFd>,
    reports: OwnedFd,
    /// How long the socket waits.
    limit: Duration,
    stop: Option<&'static AtomicBool>,
}

/// The ends that go to the child.
pub(crate) struct FarEnd {
    commands: OwnedFd,
    reports: OwnedFd,
}

impl FarEnd {
    pub fn pipes(&self) -> Pipes<'_> {
        Pipes { commands: self.commands.as_fd(), reports: self.reports.as_fd() }
    }
}

impl Line {
    /// Waits no longer once `stop` is set.
    pub fn new(stop: Option<&'static AtomicBool>) -> Result<(Line, FarEnd), RunnerError> {
        let pair = || {
            socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)
                .map_err(RunnerError::system("create a socket"))
        };
        let ((ours, theirs), (reports, report_end)) = (pair()?, pair()?);
        let line = Line { commands: Some(ours), reports, limit: Duration::ZERO, stop };
        Ok((line, FarEnd { commands: theirs, reports: report_end }))
    }

    pub fn hang_up(&mut self) {
        self.commands = None;
    }

    pub fn command(&self, command: &Command) -> Result<(), Lost> {
        let socket = self.commands.as_ref().ok_or(Lost)?;
        let Command { timeout_ms, cpu_us, may_share, number } = *command;
        let words = [timeout_ms, cpu_us, may_share, number].map(u32::to_ne_bytes);
        let bytes: &[u8; size_of::<Command>()] =
            words.as_flattened().try_into().map_err(|_| Lost)?;
        loop {
            match send(socket, bytes, SendFlags::NOSIGNAL) {
                Ok(sent) if sent == bytes.len() => return Ok(()),
                Err(Errno::INTR) => {}
                _ => return Err(Lost),
            }
        }
    }

    /// The next message; `None` if there is none within the limit.
    pub fn receive(&mut self, limit: Duration) -> Result<Option<Received>, Lost> {
        let mut bytes = [0; size_of::<Report>()];
        match self.read(&mut bytes, limit)? {
            None => Ok(None),
            Some(0) if self.is_closed() => Err(Lost),
            Some(len) => {
                Ok(Some(Received { report: decode(&bytes), is_whole: len == bytes.len() }))
            }
        }
    }

    /// The next message of `N` bytes; `None` if none comes within the limit, or another.
    pub fn receive_bytes<const N: usize>(&mut self, limit: Duration) -> Option<[u8; N]> {
        let mut bytes = [0; N];
        (self.read(&mut bytes, limit).ok()? == Some(N)).then_some(bytes)
    }

    /// The length of the next message; `None` if none comes within the limit.
    fn read(&mut self, bytes: &mut [u8], limit: Duration) -> Result<Option<usize>, Lost> {
        let end = Instant::now() + limit;
        let mut left = limit;
        loop {
            self.set_limit(left.clamp(Duration::from_millis(1), LOOK))?;
            match read(&self.reports, &mut *bytes) {
                Ok(len) => return Ok(Some(len)),
                Err(Errno::AGAIN | Errno::INTR) if self.is_stopped() => return Err(Lost),
                Err(Errno::AGAIN | Errno::INTR) => {}
                Err(_) => return Err(Lost),
            }
            left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(None);
            }
        }
    }

    fn is_stopped(&self) -> bool {
        self.stop.is_some_and(|stop| stop.load(Ordering::Relaxed))
    }

    /// Whether the other side hung up: a message without a byte reads the same.
    fn is_closed(&self) -> bool {
        let mut reports = [PollFd::new(&self.reports, PollFlags::RDHUP)];
        let polled = poll(&mut reports, Some(&Timespec::default()));
        let gone = PollFlags::HUP | PollFlags::RDHUP | PollFlags::ERR;
        polled.is_err() || reports[0].revents().intersects(gone)
    }

    /// The socket itself keeps the time limit: asking for it with each report would cost a call
    /// more for each run.
    fn set_limit(&mut self, limit: Duration) -> Result<(), Lost> {
        if self.limit != limit {
            set_socket_timeout(&self.reports, Timeout::Recv, Some(limit)).map_err(|_| Lost)?;
            self.limit = limit;
        }
        Ok(())
    }
}

fn decode(bytes: &[u8; size_of::<Report>()]) -> Report {
    // SAFETY: a `Report` consists of integers, for which all bytes are valid, and has this size.
    unsafe { bytes.as_ptr().cast::<Report>().read_unaligned() }
}
