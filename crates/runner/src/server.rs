//! The driver's side of a fork server.

use crate::error::RunnerError;
use crate::launch::{Launched, Process, Supervision};
use crate::line::{Line, Lost, Received};
use crate::outcome::{KernelKills, outcome};
use crate::plain::supervise;
use crate::sandbox::SandboxReport;
use crate::scratch::Scratch;
use crate::segment::Segment;
use crate::stage::Stage;
use run::Outcome;
use runtime_process::supervise::STRETCH;
use std::os::fd::AsFd;
use std::time::{Duration, Instant};
use trace::Header;
use trace::server::{Command, DONE, ENDED, HELLO, Report};

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

/// The same in a process that inputs share, where the program may have written over what the server
/// goes by. The run is made again in a process of its own then.
const SHARED_GRACE: Duration = Duration::from_secs(2);

/// Messages beside the report that are read in one run; more than these are sent to keep the driver
/// busy.
const MAX_STRAY: u32 = 10_000;

/// Why a command has no report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trouble {
    /// The server is gone, or nobody says how the run ended.
    Lost,
    /// There is a report on another run, perhaps a second one on the run before: the program wrote
    /// it.
    Forged,
}

impl From<Lost> for Trouble {
    fn from(_: Lost) -> Trouble {
        Trouble::Lost
    }
}

impl Server {
    pub fn start(stage: &Stage, segment: &Segment) -> Result<Server, RunnerError> {
        let (line, far) = Line::new(stage.options.stop)?;
        let supervision = Supervision::ByTarget { segment: segment.as_fd(), size: segment.size() };
        let Launched { process, scratch, sandbox } = stage.launch(far.pipes(), supervision)?;
        drop(far);
        let mut server = Server { line, process, commands: 0, scratch, sandbox };
        server.await_greeting(stage)?;
        segment.check_coverage()?;
        Ok(server)
    }

    fn await_greeting(&mut self, stage: &Stage) -> Result<(), RunnerError> {
        let limit = stage.options.start_timeout;
        let program = stage.program.clone();
        let stderr = || stage.stderr.tail_text();
        let greeting = self.line.receive(limit);
        stage.options.check_stop()?;
        match greeting {
            Ok(Some(Received { report, .. }))
                if report.kind == HELLO && report.detail == Header::VERSION =>
            {
                Ok(())
            }
            Ok(Some(Received { report, .. })) => Err(RunnerError::VersionMismatch {
                program,
                found: report.detail,
                expected: Header::VERSION,
            }),
            Ok(None) => Err(RunnerError::HangsAtStart { program, limit, stderr: stderr() }),
            Err(Lost) => match self.process.wait_for(limit) {
                Some(outcome) => {
                    let stderr = stderr();
                    Err(RunnerError::EndsAtStart {
                        program,
                        outcome: true_signal(outcome, stage),
                        stderr,
                    })
                }
                // It closed the pipe and goes on without us.
                None => Err(RunnerError::HangsAtStart { program, limit, stderr: stderr() }),
            },
        }
    }

    /// One run on the input that lies ready.
    pub fn run(&mut self, command: &Command) -> Result<Report, Trouble> {
        let before = self.commands;
        self.commands = before.wrapping_add(1);
        let command = Command { number: self.commands, ..*command };
        self.line.command(&command)?;
        let grace = if command.may_share == 1 { SHARED_GRACE } else { GRACE };
        let limit = Duration::from_millis(u64::from(command.timeout_ms)) * STRETCH + grace;
        let start = Instant::now();
        for stray in 0..MAX_STRAY {
            let left = if stray == 0 { limit } else { limit.saturating_sub(start.elapsed()) };
            // Without any time left the socket would wait for ever.
            let Received { report, is_whole } =
                self.line.receive(left.max(Duration::from_millis(1)))?.ok_or(Trouble::Lost)?;
            match report.kind {
                DONE if is_whole && report.number == command.number => return Ok(report),
                DONE if is_whole => return Err(Trouble::Forged),
                // It was done with the run before; the server takes the command.
                ENDED if is_whole && report.number == before && before != 0 => {}
                ENDED if is_whole => return Err(Trouble::Lost),
                // Anything else was written by the program.
                _ => {}
            }
        }
        Err(Trouble::Lost)
    }
}

/// The first process of a namespace cannot die of every signal: `abort` there ends as a bad memory
/// access. So the program is started once more as an ordinary process.
fn true_signal(seen: Outcome, stage: &Stage) -> Outcome {
    if !seen.is_crash() {
        return seen;
    }
    let limits = &stage.options.limits;
    let ended = |report| outcome(&report, limits, &mut KernelKills::up_to_now());
    let again = supervise(stage).map(|run| ended(run.report));
    again.ok().filter(|outcome| outcome.is_crash()).unwrap_or(seen)
}

impl Drop for Server {
    fn drop(&mut self) {
        self.line.hang_up();
        self.process.end();
    }
}
