//! The driver's side of a fork server.

use crate::error::RunnerError;
use crate::launch::{Launched, Process, Supervision};
use crate::line::{Line, Lost};
use crate::outcome::Outcome;
use crate::plain::supervise;
use crate::sandbox::SandboxReport;
use crate::scratch::Scratch;
use crate::segment::Segment;
use crate::stage::Stage;
use std::os::fd::AsFd;
use std::time::Duration;
use trace::Header;
use trace::server::{Command, DONE, HELLO, Report};

/// A target that waits at the start of `main`. Dropping it hangs up, then ends the process.
pub(crate) struct Server {
    line: Line,
    process: Process,
    /// Commands so far.
    commands: u32,
    pub scratch: Scratch,
    pub sandbox: SandboxReport,
}

/// How much longer than a run's time limit its report may take: the machine may be busy.
const GRACE: Duration = Duration::from_secs(10);

impl Server {
    pub fn start(stage: &Stage, segment: &Segment) -> Result<Server, RunnerError> {
        let (line, far) = Line::new()?;
        let supervision = Supervision::ByTarget { segment: segment.as_fd(), size: segment.size() };
        let Launched { process, scratch, sandbox } = stage.launch(far.pipes(), supervision)?;
        drop(far);
        let mut server = Server { line, process, commands: 0, scratch, sandbox };
        server.await_greeting(stage)?;
        Ok(server)
    }

    fn await_greeting(&mut self, stage: &Stage) -> Result<(), RunnerError> {
        let limit = stage.options.start_timeout;
        let program = stage.program.clone();
        let stderr = || stage.stderr.tail_text();
        match self.line.receive(limit) {
            Ok(Some(report)) if report.kind == HELLO && report.detail == Header::VERSION => Ok(()),
            Ok(Some(report)) => {
                Err(RunnerError::VersionMismatch { program, found: report.detail, expected: Header::VERSION })
            }
            Ok(None) => Err(RunnerError::HangsAtStart { program, limit, stderr: stderr() }),
            Err(Lost) => match self.process.wait_for(limit) {
                Some(outcome) => {
                    let stderr = stderr();
                    Err(RunnerError::EndsAtStart { program, outcome: true_signal(outcome, stage), stderr })
                }
                // It closed the pipe and goes on without us.
                None => Err(RunnerError::HangsAtStart { program, limit, stderr: stderr() }),
            },
        }
    }

    /// One run on the input that lies ready.
    pub fn run(&mut self, command: &Command) -> Result<Report, Lost> {
        self.commands = self.commands.wrapping_add(1);
        let command = Command { number: self.commands, ..*command };
        self.line.command(&command)?;
        let limit = Duration::from_millis(u64::from(command.timeout_ms)) + GRACE;
        loop {
            let report = self.line.receive(limit)?.ok_or(Lost)?;
            // Anything else was written by the program.
            if report.kind == DONE && report.number == command.number {
                return Ok(report);
            }
        }
    }
}

/// The first process of a namespace cannot die of every signal: `abort` there ends as a bad memory access. So
/// the program is started once more as an ordinary process.
fn true_signal(seen: Outcome, stage: &Stage) -> Outcome {
    if !seen.is_crash() {
        return seen;
    }
    let again = supervise(stage).map(|(report, _)| Outcome::of(&report, &stage.options.limits));
    again.ok().filter(|outcome| outcome.is_crash()).unwrap_or(seen)
}

impl Drop for Server {
    fn drop(&mut self) {
        self.line.hang_up();
        self.process.end();
    }
}
