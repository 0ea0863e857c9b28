//! What surrounds a target: its input, its outputs and its directory.

use crate::capture::Capture;
use crate::error::RunnerError;
use crate::input::InputFile;
use crate::launch::{Launch, Launched, Pipes, Supervision, launch};
use crate::options::{Sandbox, TargetOptions};
use crate::outcome::{KernelKills, outcome};
use crate::own_limits::raise_open_files;
use crate::program;
use crate::sandbox::visible;
use crate::workdir::Workdir;
use run::Outcome;
use std::os::fd::AsFd;
use std::path::PathBuf;
use std::time::Duration;
use trace::server::{Command, Report};

pub(crate) struct Stage {
    pub options: TargetOptions,
    pub program: PathBuf,
    pub input: InputFile,
    pub stdout: Option<Capture>,
    pub stderr: Capture,
    workdir: Workdir,
    /// What the target may read.
    visible: Vec<PathBuf>,
    kernel_kills: KernelKills,
}

impl Stage {
    pub fn set(options: TargetOptions) -> Result<Stage, RunnerError> {
        let program = program::resolve(&options.program)?;
        raise_open_files()?;
        let workdir = Workdir::create()?;
        let input = InputFile::create(&workdir.input())?;
        let visible = match options.sandbox {
            Sandbox::On => visible(&options, &program, input.path()),
            Sandbox::Off => Vec::new(),
        };
        Ok(Stage {
            program,
            input,
            visible,
            stdout: if options.capture_stdout { Some(Capture::of_stdout()?) } else { None },
            stderr: Capture::of_stderr()?,
            options,
            workdir,
            kernel_kills: KernelKills::up_to_now(),
        })
    }

    /// How a run ended that was reported on.
    pub fn outcome(&mut self, report: &Report) -> Outcome {
        outcome(report, &self.options.limits, &mut self.kernel_kills)
    }

    /// The directory that targets start in.
    pub fn scratch(&self) -> PathBuf {
        self.workdir.scratch()
    }

    /// Starts the program on this stage.
    pub fn launch(
        &self,
        pipes: Pipes<'_>,
        supervision: Supervision<'_>,
    ) -> Result<Launched, RunnerError> {
        launch(&Launch {
            target: &self.options,
            program: &self.program,
            input: self.input.path(),
            scratch: &self.workdir.scratch(),
            visible: &self.visible,
            stdout: self.stdout.as_ref().map(AsFd::as_fd),
            stderr: self.stderr.as_fd(),
            pipes,
            supervision,
        })
    }

    /// Puts the input into its place and removes the output of the run before.
    pub fn prepare(&mut self, input: &[u8]) -> Result<(), RunnerError> {
        self.input.replace(input)?;
        self.stderr.reset()?;
        self.stdout.as_mut().map_or(Ok(()), Capture::reset)
    }

    /// The time limit of a run as the supervisor takes it; at least 1, because 0 means none.
    pub fn timeout_ms(&self) -> u32 {
        u32::try_from(self.options.limits.run_time.as_millis()).unwrap_or(u32::MAX).max(1)
    }

    /// What a fork server is told for a run.
    pub fn command(&self, may_share: bool) -> Command {
        let in_us = |limit: Duration| u32::try_from(limit.as_micros()).unwrap_or(u32::MAX).max(1);
        let cpu_us = self.options.limits.cpu_time.map_or(0, in_us);
        Command { timeout_ms: self.timeout_ms(), cpu_us, may_share: may_share.into(), number: 0 }
    }
}
