//! Runs any program, built with Tarragon or not, in the same sandbox and with the same limits.

use crate::error::RunnerError;
use crate::launch::{Launched, Supervision};
use crate::line::{Line, Received};
use crate::options::TargetOptions;
use crate::sandbox::SandboxReport;
use crate::stage::Stage;
use crate::standstill::{self, Waiting};
use run::Outcome;
use runtime_process::supervise::STRETCH;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;
use trace::server::{DONE, Report};

/// One run of a plain program.
#[derive(Clone, Debug)]
pub struct PlainRun {
    pub outcome: Outcome,
    pub run_time: Duration,
    /// Largest resident set, if it was larger than the driver's: the kernel counts what the process
    /// was before it executed the program, and that was a copy of the driver.
    pub max_rss_kib: Option<u64>,
    pub stray_children: u32,
    /// Up to the file size limit; empty unless it was to be captured.
    pub stdout: Vec<u8>,
    /// The last 64 KiB.
    pub stderr: Vec<u8>,
    /// Those that the program left in its scratch directory, by path; empty unless they were to be
    /// captured.
    pub files: BTreeMap<String, Vec<u8>>,
    /// Of a run that does not end because its threads wait for each other: where they do.
    pub standstill: Option<Vec<Waiting>>,
    pub sandbox: SandboxReport,
}

/// Starts a program anew for each input. There is no trace and no coverage.
pub struct PlainRunner {
    stage: Stage,
}

/// Runs a program once.
pub fn run_plain(options: TargetOptions, input: &[u8]) -> Result<PlainRun, RunnerError> {
    PlainRunner::new(options)?.run(input)
}

impl PlainRunner {
    pub fn new(options: TargetOptions) -> Result<PlainRunner, RunnerError> {
        Ok(PlainRunner { stage: Stage::set(options)? })
    }

    /// The file that the program gets its input from, by name or on stdin.
    pub fn input_path(&self) -> &Path {
        self.stage.input.path()
    }

    /// The directory that the program starts in and may write to.
    pub fn scratch_path(&self) -> PathBuf {
        self.stage.scratch()
    }

    /// What the program knows itself by.
    pub fn program_path(&self) -> &Path {
        &self.stage.program
    }

    pub fn run(&mut self, input: &[u8]) -> Result<PlainRun, RunnerError> {
        self.stage.prepare(input)?;
        let Supervised { mut report, sandbox, files, standstill } = supervise(&self.stage)?;
        let max_rss_kib =
            Some(u64::from(report.max_rss_kib)).filter(|&rss| rss > own_peak_rss_kib());
        if max_rss_kib.is_none() {
            report.max_rss_kib = 0;
        }
        let outcome = self.stage.outcome(&report);
        Ok(PlainRun {
            outcome,
            run_time: Duration::from_micros(report.run_time_us),
            max_rss_kib,
            stray_children: report.stray_children,
            stdout: self.stage.stdout.as_ref().map_or_else(Vec::new, |capture| capture.all()),
            stderr: self.stage.stderr.tail(),
            files,
            standstill: standstill.filter(|_| outcome == Outcome::Timeout),
            sandbox,
        })
    }
}

pub(crate) struct Supervised {
    pub report: Report,
    pub sandbox: SandboxReport,
    files: BTreeMap<String, Vec<u8>>,
    standstill: Option<Vec<Waiting>>,
}

/// Runs the program of a stage once, without its fork server if it has one.
pub(crate) fn supervise(stage: &Stage) -> Result<Supervised, RunnerError> {
    const GRACE: Duration = Duration::from_secs(10);
    stage.options.check_stop()?;
    let (mut line, far) = Line::new(stage.options.stop)?;
    let timeout_ms = stage.timeout_ms();
    let launched = stage.launch(far.pipes(), Supervision::ByLauncher { timeout_ms })?;
    drop(far);
    let Launched { process, scratch, sandbox } = launched;
    let limit = Duration::from_millis(u64::from(timeout_ms));
    let mut received = line.receive(limit * 9 / 10);
    // Afterwards there is nothing left to look at.
    let mut standstill = None;
    if let Ok(None) = received {
        standstill = standstill::look_for(process.pid());
        received = line.receive(limit * STRETCH + GRACE);
    }
    line.hang_up();
    drop(process);
    stage.options.check_stop()?;
    let files = if stage.options.capture_files { scratch.files()? } else { BTreeMap::new() };
    scratch.clean()?;
    let report = match received {
        Ok(Some(Received { report, .. })) => report,
        // The program ended the process that watches it, and was killed with it.
        _ => killed(),
    };
    Ok(Supervised { report, sandbox, files, standstill })
}

/// Of a run that was killed together with whoever would have reported on it.
pub(crate) fn killed() -> Report {
    Report { kind: DONE, wait_status: libc::SIGKILL, ..Report::default() }
}

fn own_peak_rss_kib() -> u64 {
    // SAFETY: the structure is valid for writing, and all zeros are a valid value of it.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_SELF, &mut usage);
        usage
    };
    u64::try_from(usage.ru_maxrss).unwrap_or(0)
}
