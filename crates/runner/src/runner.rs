//! Runs a target that has a fork server inside.

use crate::error::RunnerError;
use crate::options::TargetOptions;
use crate::plain::killed;
use crate::program;
use crate::sandbox::SandboxReport;
use crate::segment::{Segment, SegmentCorrupted};
use crate::server::{Server, Trouble};
use crate::stage::Stage;
use run::{Outcome, RawTrace};
use std::collections::HashSet;
use std::fmt;
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
    /// How often the server of a process that inputs share was lost.
    losses: u32,
    /// Inputs, one after the other, on which every server was lost.
    lost_in_a_row: u32,
    /// The last input in a process that inputs share.
    previous: Vec<u8>,
    offenders: HashSet<Vec<u8>>,
    offences: Vec<(Vec<u8>, Offence)>,
}

/// What an input makes the program do to what it shares with Tarragon. Outside of Tarragon it may
/// do nothing, or harm somebody else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Offence {
    /// The trace memory is not what it can be, in a process of the input's own.
    Memory,
    /// Whoever takes inputs in a process that shares them is lost, or reports on runs that are not
    /// its own.
    Line,
    /// The process that watches the run is gone.
    Supervisor,
}

impl fmt::Display for Offence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Offence::Memory => "writes over memory that Tarragon shares with it",
            Offence::Line => "writes over memory or descriptors that Tarragon shares with it",
            Offence::Supervisor => "ends the process that watches it",
        })
    }
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
    /// One byte for each outcome of a branch site: how often the run took it, at most 255.
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
    /// The run's process had other inputs before, or waits for more: what it did may hang on what
    /// they left.
    pub shared: bool,
    stage: &'a Stage,
    segment: &'a Segment,
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

    /// What a sanitizer in the program said about the run, the start of it if that is a lot.
    pub fn reports(&self) -> Vec<u8> {
        self.segment.reports()
    }

    /// What the run wrote to stdout, up to the file size limit; `None` unless it was to be
    /// captured.
    pub fn stdout(&self) -> Option<Vec<u8>> {
        self.stage.stdout.as_ref().map(|capture| capture.all())
    }
}

impl Runner {
    /// Starts the target and waits until it stands at the beginning of `main`.
    pub fn start(options: TargetOptions) -> Result<Runner, RunnerError> {
        program::check_built_with_tarragon(&program::resolve(&options.program)?)?;
        let capacities = options.capacities;
        let stage = Stage::set(options)?;
        let mut segment = Segment::new(&capacities)?;
        let (device, inode) = stage.input.identity()?;
        segment.set_input_identity(device, inode);
        let server = Server::start(&stage, &segment)?;
        let sandbox = server.sandbox.clone();
        Ok(Runner {
            server: Some(server),
            stage,
            segment,
            sandbox,
            counters: Counters::default(),
            losses: 0,
            lost_in_a_row: 0,
            previous: Vec::new(),
            offenders: HashSet::new(),
            offences: Vec::new(),
        })
    }

    /// Runs the target on `input`; with `symbolic`, the run's trace is recorded, otherwise only its
    /// coverage.
    pub fn run(&mut self, input: &[u8], symbolic: bool) -> Result<RawRun<'_>, RunnerError> {
        self.run_in(Process::Own, input, symbolic)
    }

    /// As [`run`](Runner::run), in a process that had other inputs before if there is one that
    /// waits for more.
    pub fn run_shared(&mut self, input: &[u8], symbolic: bool) -> Result<RawRun<'_>, RunnerError> {
        self.run_in(Process::Shared, input, symbolic)
    }

    fn run_in(
        &mut self,
        process: Process,
        input: &[u8],
        symbolic: bool,
    ) -> Result<RawRun<'_>, RunnerError> {
        let mut report = self.supervised(process, input, symbolic)?;
        let mut trace = self.segment.collect();
        if trace.is_err() && report.shared == 0 {
            report = self.supervised(Process::Own, input, symbolic)?;
            trace = self.segment.collect();
            if trace.is_err() {
                self.blame(input, Offence::Memory);
            }
        }
        self.counters.runs += 1;
        self.counters.stray_children += u64::from(report.stray_children);
        self.counters.corrupted_segments += u64::from(trace.is_err());
        self.segment.collect_coverage();
        Ok(RawRun {
            outcome: self.stage.outcome(&report),
            coverage: self.segment.coverage(),
            trace,
            run_time: Duration::from_micros(report.run_time_us),
            cpu_time: Duration::from_micros(report.cpu_time_us),
            max_rss_kib: u64::from(report.max_rss_kib),
            stray_children: report.stray_children,
            shared: report.shared != 0,
            stage: &self.stage,
            segment: &self.segment,
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

    /// Makes only these bytes of the inputs of symbolic runs symbolic from now on, and not their
    /// length; without holes, everything.
    pub fn restrict(
        &mut self,
        holes: Option<&[std::ops::Range<usize>]>,
        repetition: Option<std::ops::Range<usize>>,
    ) {
        self.segment.restrict(holes, repetition);
    }

    /// Changes the limits of time and processor time of the runs from now on.
    pub fn set_times(&mut self, run_time: Duration, cpu_time: Option<Duration>) {
        let limits = &mut self.stage.options.limits;
        (limits.run_time, limits.cpu_time) = (run_time, cpu_time);
    }

    /// Inputs since the last call that tampered with what the program shares with Tarragon.
    pub fn take_offences(&mut self) -> Vec<(Vec<u8>, Offence)> {
        std::mem::take(&mut self.offences)
    }

    pub fn is_offender(&self, input: &[u8]) -> bool {
        self.offenders.contains(input)
    }

    /// One run, whatever the program does to its server.
    fn supervised(
        &mut self,
        process: Process,
        input: &[u8],
        symbolic: bool,
    ) -> Result<Report, RunnerError> {
        if process == Process::Own || !self.may_share(input) {
            return self.run_alone(input, symbolic);
        }
        match self.attempt(Process::Shared, input, symbolic)? {
            Ok(report) => {
                input.clone_into(&mut self.previous);
                Ok(report)
            }
            Err(trouble) => {
                self.losses += 1;
                self.find_offender(trouble, input)?;
                self.run_alone(input, symbolic)
            }
        }
    }

    /// A program that breaks its servers again and again gets processes of its own, and so do
    /// inputs that are known to.
    fn may_share(&self, input: &[u8]) -> bool {
        const MAX_LOSSES: u32 = 3;
        self.losses < MAX_LOSSES && !self.offenders.contains(input)
    }

    /// The server of a process that inputs share was lost. That is nobody's fault, unless it
    /// happens again on the same input, or after the one before; and not if the input does it
    /// alone, too.
    fn find_offender(&mut self, trouble: Trouble, input: &[u8]) -> Result<(), RunnerError> {
        let before = std::mem::take(&mut self.previous);
        if trouble == Trouble::Forged {
            let offender = if self.is_lost_on(&[input, input])? { input } else { &before };
            self.blame(offender, Offence::Line);
            return Ok(());
        }
        if self.attempt(Process::Own, input, false)?.is_err() {
            return Ok(());
        }
        if self.is_lost_on(&[input])? {
            self.blame(input, Offence::Line);
        } else if self.is_lost_on(&[&before, input])? {
            self.blame(&before, Offence::Line);
        }
        Ok(())
    }

    /// Whether a new server is lost on these inputs, one after the other in a process.
    fn is_lost_on(&mut self, inputs: &[&[u8]]) -> Result<bool, RunnerError> {
        self.server = None;
        for input in inputs {
            if self.attempt(Process::Shared, input, false)?.is_err() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// A run in a process of its own. A server that dies takes the run along, so the run is made
    /// again with a new one.
    fn run_alone(&mut self, input: &[u8], symbolic: bool) -> Result<Report, RunnerError> {
        const TRIES: u32 = 2;
        const MAX_IN_A_ROW: u32 = 5;
        for _ in 0..TRIES {
            if let Ok(report) = self.attempt(Process::Own, input, symbolic)? {
                self.lost_in_a_row = 0;
                return match report.detail {
                    0 => Ok(report),
                    error => Err(RunnerError::CannotFork(std::io::Error::from_raw_os_error(
                        error as i32,
                    ))),
                };
            }
        }
        self.lost_in_a_row += 1;
        if self.lost_in_a_row >= MAX_IN_A_ROW {
            let (inputs, stderr) = (self.lost_in_a_row, self.stage.stderr.tail_text());
            return Err(RunnerError::ServerLost { inputs, stderr });
        }
        self.blame(input, Offence::Supervisor);
        Ok(killed())
    }

    fn blame(&mut self, input: &[u8], offence: Offence) {
        if self.offenders.insert(input.to_vec()) {
            self.offences.push((input.to_vec(), offence));
        }
    }

    fn flags(&self, symbolic: bool) -> u32 {
        let symbolic = if symbolic { flags::SYMBOLIC } else { 0 };
        let words = if self.stage.options.input_in_words() { flags::WORDS } else { 0 };
        symbolic | words
    }

    /// One run. After trouble there is no server any more.
    fn attempt(
        &mut self,
        process: Process,
        input: &[u8],
        symbolic: bool,
    ) -> Result<Result<Report, Trouble>, RunnerError> {
        self.segment.prepare(input, self.flags(symbolic))?;
        self.stage.prepare(input)?;
        let server = match &mut self.server {
            Some(server) => server,
            none => {
                self.counters.restarts += 1;
                none.insert(Server::start(&self.stage, &self.segment)?)
            }
        };
        let mut report = server.run(&self.stage.command(process == Process::Shared));
        if report.is_err() && self.stage.options.is_stopped() {
            self.server = None;
            return Err(RunnerError::Interrupted);
        }
        if process == Process::Shared && report.is_ok_and(|report| report.detail != 0) {
            // Servers that cannot fork say so in a process of its own again; programs lie here.
            report = Err(Trouble::Lost);
        }
        if report.is_err() || server.scratch.clean().is_err() {
            // A scratch directory that cannot be emptied goes with its server, too.
            self.server = None;
        }
        Ok(report)
    }
}
