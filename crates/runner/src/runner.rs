//! Runs a target that has a fork server inside.

use crate::error::RunnerError;
use crate::options::TargetOptions;
use crate::outcome::Outcome;
use crate::program;
use crate::sandbox::SandboxReport;
use crate::segment::{RawTrace, Segment, SegmentCorrupted};
use crate::server::Server;
use crate::stage::Stage;
use std::time::Duration;
use trace::flags;
use trace::server::Report;

/// A started target. Dropping it ends the target and removes everything that belonged to it.
pub struct Runner {
    // Dropped in this order: the process before its directory.
    server: Option<Server>,
    stage: Stage,
    segment: Segment,
    sandbox: SandboxReport,
    counters: Counters,
}

/// What happened so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    pub runs: u64,
    /// How often the fork server had to be started again.
    pub restarts: u64,
    /// Processes that were still alive at the end of a run.
    pub stray_children: u64,
    /// Runs that overwrote the trace memory.
    pub corrupted_segments: u64,
}

/// One run. Borrows the runner, which keeps coverage and output until the next run.
pub struct RawRun<'a> {
    pub outcome: Outcome,
    /// One byte for each outcome of a branch site; not 0 if the run took it.
    pub coverage: &'a [u8],
    /// Empty lists unless the run was symbolic.
    pub trace: Result<RawTrace, SegmentCorrupted>,
    pub run_time: Duration,
    /// Processor time of the run.
    pub cpu_time: Duration,
    /// Largest resident set.
    pub max_rss_kib: u64,
    /// Processes that the run left and that were killed.
    pub stray_children: u32,
    /// The run's process had other inputs before, or waits for more: what it did may hang on what they left.
    pub shared: bool,
    stage: &'a Stage,
}

/// Which process a run gets.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Process {
    Own,
    Shared,
}

impl RawRun<'_> {
    /// The last 64 KiB of what the run wrote to stderr.
    pub fn stderr_tail(&self) -> Vec<u8> {
        self.stage.stderr.tail()
    }

    /// What the run wrote to stdout, up to the file size limit; `None` unless it was to be captured.
    pub fn stdout(&self) -> Option<Vec<u8>> {
        self.stage.stdout.as_ref().map(|capture| capture.all())
    }
}

impl Runner {
    /// Starts the target and waits until it stands at the beginning of `main`.
    pub fn start(options: TargetOptions) -> Result<Runner, RunnerError> {
        program::check_built_with_tarragon(&program::resolve(&options.program)?)?;
        let mut segment = Segment::new(&options.capacities)?;
        let stage = Stage::set(options)?;
        let (device, inode) = stage.input.identity()?;
        segment.set_input_identity(device, inode);
        let server = Server::start(&stage, &segment)?;
        let sandbox = server.sandbox.clone();
        Ok(Runner { server: Some(server), stage, segment, sandbox, counters: Counters::default() })
    }

    /// Runs the target on `input`; with `symbolic`, the run's trace is recorded, otherwise only its coverage.
    pub fn run(&mut self, input: &[u8], symbolic: bool) -> Result<RawRun<'_>, RunnerError> {
        self.run_in(Process::Own, input, symbolic)
    }

    /// As [`run`](Runner::run), in a process that had other inputs before if there is one that waits for more.
    pub fn run_shared(&mut self, input: &[u8], symbolic: bool) -> Result<RawRun<'_>, RunnerError> {
        self.run_in(Process::Shared, input, symbolic)
    }

    fn run_in(&mut self, process: Process, input: &[u8], symbolic: bool) -> Result<RawRun<'_>, RunnerError> {
        let report = self.run_or_restart(process, input, symbolic)?;
        if report.detail != 0 {
            return Err(RunnerError::CannotFork(std::io::Error::from_raw_os_error(report.detail as i32)));
        }
        self.counters.runs += 1;
        self.counters.stray_children += u64::from(report.stray_children);
        self.segment.collect_coverage();
        let trace = self.segment.collect();
        match trace {
            Ok(_) => self.segment.check_coverage()?,
            Err(_) => self.counters.corrupted_segments += 1,
        }
        Ok(RawRun {
            outcome: Outcome::of(&report, &self.stage.options.limits),
            coverage: self.segment.coverage(),
            trace,
            run_time: Duration::from_micros(report.run_time_us),
            cpu_time: Duration::from_micros(report.cpu_time_us),
            max_rss_kib: u64::from(report.max_rss_kib),
            stray_children: report.stray_children,
            shared: report.shared != 0,
            stage: &self.stage,
        })
    }

    pub fn sandbox(&self) -> &SandboxReport {
        &self.sandbox
    }

    pub fn counters(&self) -> Counters {
        self.counters
    }

    pub fn options(&self) -> &TargetOptions {
        &self.stage.options
    }

    /// The longest input that [`run`](Runner::run) takes.
    pub fn max_input_len(&self) -> u64 {
        self.segment.max_input_len()
    }

    /// Makes only these bytes of the inputs of symbolic runs symbolic from now on, and not their length; without
    /// holes, everything.
    pub fn restrict(
        &mut self,
        holes: Option<&[std::ops::Range<usize>]>,
        stretch: Option<std::ops::Range<usize>>,
    ) {
        self.segment.restrict(holes, stretch);
    }

    /// Changes the limits of time and processor time of the runs from now on.
    pub fn set_times(&mut self, run_time: Duration, cpu_time: Option<Duration>) {
        let limits = &mut self.stage.options.limits;
        (limits.run_time, limits.cpu_time) = (run_time, cpu_time);
    }

    /// A server that dies takes the run along, so the run is made again with a new one.
    fn run_or_restart(
        &mut self,
        process: Process,
        input: &[u8],
        symbolic: bool,
    ) -> Result<Report, RunnerError> {
        const TRIES: u32 = 3;
        for _ in 0..TRIES {
            self.segment.prepare(input, self.flags(symbolic))?;
            self.stage.prepare(input)?;
            if let Some(report) = self.try_run(process)? {
                return Ok(report);
            }
        }
        Err(RunnerError::ServerLost { tries: TRIES, stderr: self.stage.stderr.tail_text() })
    }

    fn flags(&self, symbolic: bool) -> u32 {
        let symbolic = if symbolic { flags::SYMBOLIC } else { 0 };
        let words = if self.stage.options.input_in_words() { flags::WORDS } else { 0 };
        symbolic | words
    }

    /// One run; `None` if the server was lost.
    fn try_run(&mut self, process: Process) -> Result<Option<Report>, RunnerError> {
        let server = match &mut self.server {
            Some(server) => server,
            none => {
                self.counters.restarts += 1;
                none.insert(Server::start(&self.stage, &self.segment)?)
            }
        };
        let report = server.run(&self.stage.command(process == Process::Shared));
        if report.is_err() || server.scratch.clean().is_err() {
            // A scratch directory that cannot be emptied goes with its server, too.
            self.server = None;
        }
        Ok(report.ok())
    }
}
