//! The sockets between the driver and whoever supervises runs.

use crate::error::RunnerError;
use crate::launch::Pipes;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{Errno, read};
use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::net::{AddressFamily, SendFlags, SocketFlags, SocketType, send, socketpair};
use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;
use trace::server::{Command, Report};

/// The other side died or fell silent.
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
    /// How long reports are waited for.
    limit: Duration,
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
    pub fn new() -> Result<(Line, FarEnd), RunnerError> {
        let pair = || {
            socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)
                .map_err(RunnerError::system("create a socket"))
        };
        let ((ours, theirs), (reports, report_end)) = (pair()?, pair()?);
        let line = Line { commands: Some(ours), reports, limit: Duration::ZERO };
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
        self.set_limit(limit)?;
        let mut bytes = [0; size_of::<Report>()];
        match rustix::io::retry_on_intr(|| read(&self.reports, &mut bytes)) {
            Err(Errno::AGAIN) => Ok(None),
            Ok(0) if self.is_closed() => Err(Lost),
            Err(_) => Err(Lost),
            Ok(len) => Ok(Some(Received { report: decode(&bytes), is_whole: len == bytes.len() })),
        }
    }

    /// The next message of `N` bytes; `None` if none comes within the limit, or another.
    pub fn receive_bytes<const N: usize>(&mut self, limit: Duration) -> Option<[u8; N]> {
        self.set_limit(limit).ok()?;
        let mut bytes = [0; N];
        let read = rustix::io::retry_on_intr(|| read(&self.reports, &mut bytes));
        (read == Ok(N)).then_some(bytes)
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
