//! The driver's side of a fork server.

use crate::error::RunnerError;
use crate::launch::{Launched, Pipes, Process, Supervision};
use crate::sandbox::SandboxReport;
use crate::scratch::Scratch;
use crate::segment::Segment;
use crate::stage::Stage;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{Errno, read};
use rustix::net::{AddressFamily, SendFlags, SocketFlags, SocketType, send, socketpair};
use rustix::pipe::{PipeFlags, pipe_with};
use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, Instant};
use trace::Header;
use trace::server::{Command, DONE, HELLO, Report};

/// A target that waits at the start of `main`. Dropping it hangs up, then ends the process.
pub(crate) struct Server {
    line: Line,
    process: Process,
    pub scratch: Scratch,
    pub sandbox: SandboxReport,
}

/// The server died or fell silent.
#[derive(Debug)]
pub(crate) struct Lost;

/// How much longer than a run's time limit its report may take: the machine may be busy.
const GRACE: Duration = Duration::from_secs(10);

impl Server {
    pub fn start(stage: &Stage, segment: &Segment) -> Result<Server, RunnerError> {
        let (line, far) = Line::new()?;
        let supervision = Supervision::ByTarget { segment: segment.as_fd(), size: segment.size() };
        let Launched { process, scratch, sandbox } = stage.launch(far.pipes(), supervision)?;
        drop(far);
        let mut server = Server { line, process, scratch, sandbox };
        server.await_greeting(stage)?;
        Ok(server)
    }

    fn await_greeting(&mut self, stage: &Stage) -> Result<(), RunnerError> {
        let limit = stage.options.start_timeout;
        let program = stage.program.clone();
        let stderr = || stage.stderr.tail_text();
        match self.line.receive(limit) {
            Ok(Some(report)) if report.kind == HELLO && report.reserved == Header::VERSION => Ok(()),
            Ok(Some(report)) => Err(RunnerError::VersionMismatch {
                program,
                found: report.reserved,
                expected: Header::VERSION,
            }),
            Ok(None) => Err(RunnerError::HangsAtStart { program, limit, stderr: stderr() }),
            Err(Lost) => match self.process.wait_for(limit) {
                Some(outcome) => Err(RunnerError::EndsAtStart { program, outcome, stderr: stderr() }),
                // It closed the pipe and goes on without us.
                None => Err(RunnerError::HangsAtStart { program, limit, stderr: stderr() }),
            },
        }
    }

    /// One run on the input that lies ready.
    pub fn run(&mut self, timeout_ms: u32) -> Result<Report, Lost> {
        self.line.command(&Command { timeout_ms, reserved: 0 })?;
        let limit = Duration::from_millis(u64::from(timeout_ms)) + GRACE;
        self.line.receive(limit)?.filter(|report| report.kind == DONE).ok_or(Lost)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.line.hang_up();
        self.process.end();
    }
}

/// The driver's ends of the two pipes.
pub(crate) struct Line {
    /// A socket rather than a pipe: writing to a dead server must not raise `SIGPIPE` in the driver.
    commands: Option<OwnedFd>,
    reports: OwnedFd,
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
        let (ours, theirs) =
            socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)
                .map_err(RunnerError::system("create a socket"))?;
        let (reports, report_end) =
            pipe_with(PipeFlags::CLOEXEC).map_err(RunnerError::system("create a pipe"))?;
        Ok((Line { commands: Some(ours), reports }, FarEnd { commands: theirs, reports: report_end }))
    }

    pub fn hang_up(&mut self) {
        self.commands = None;
    }

    fn command(&self, command: &Command) -> Result<(), Lost> {
        let socket = self.commands.as_ref().ok_or(Lost)?;
        let mut bytes = [0; size_of::<Command>()];
        bytes[..4].copy_from_slice(&command.timeout_ms.to_ne_bytes());
        loop {
            match send(socket, &bytes, SendFlags::NOSIGNAL) {
                Ok(sent) if sent == bytes.len() => return Ok(()),
                Err(Errno::INTR) => {}
                _ => return Err(Lost),
            }
        }
    }

    /// The next report; `None` if there is none within the limit.
    pub fn receive(&self, limit: Duration) -> Result<Option<Report>, Lost> {
        if !self.wait(limit)? {
            return Ok(None);
        }
        let mut bytes = [0; size_of::<Report>()];
        match rustix::io::retry_on_intr(|| read(&self.reports, &mut bytes)) {
            Ok(got) if got == bytes.len() => Ok(Some(decode(&bytes))),
            _ => Err(Lost),
        }
    }

    /// Whether something, be it only the end, is there to be read.
    fn wait(&self, limit: Duration) -> Result<bool, Lost> {
        let deadline = Instant::now() + limit;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let left = Timespec { tv_sec: left.as_secs() as i64, tv_nsec: i64::from(left.subsec_nanos()) };
            match poll(&mut [PollFd::new(&self.reports, PollFlags::IN)], Some(&left)) {
                Ok(ready) => return Ok(ready > 0),
                Err(Errno::INTR) => {}
                Err(_) => return Err(Lost),
            }
        }
    }
}

fn decode(bytes: &[u8; size_of::<Report>()]) -> Report {
    // SAFETY: a `Report` consists of integers, for which all bytes are valid, and has this size.
    unsafe { bytes.as_ptr().cast::<Report>().read_unaligned() }
}
