//! A program with its outputs, for those who compare programs: built with Tarragon or not.

use std::path::Path;

use compiler::payload::{Payload, PayloadError};
use runner::{PlainRun, PlainRunner, TargetOptions};

use crate::observe::replaced;
use crate::plain::plain_options;
use crate::target::settle;
use crate::{TargetError, TargetSettings, find_program};

/// Runs the program itself, in a process of its own for each input.
pub struct Observed {
    runner: PlainRunner,
}

impl Observed {
    pub fn start(settings: &TargetSettings) -> Result<Observed, TargetError> {
        let (program, arguments) = settings.command.split_first().ok_or(TargetError::NoProgram)?;
        let program = find_program(program)?;
        let mut options = TargetOptions::new(std::path::absolute(&program).unwrap_or(program));
        settle(&mut options, settings, arguments);
        let program = options.program.clone();
        options.show_files_of(&program);
        options.limits.run_time = settings.timeout;
        options.capture_stdout = true;
        options.capture_files = true;
        Ok(Observed { runner: PlainRunner::new(plain_options(&program, options))? })
    }

    /// In outputs the path of the input file is `@@`, as on the command line, and that of the run's
    /// own directory is `~`.
    pub fn run(&mut self, input: &[u8]) -> Result<PlainRun, TargetError> {
        let mut run = self.runner.run(input)?;
        let input = self.runner.input_path().as_os_str();
        let own = self.runner.scratch_path();
        for output in [&mut run.stdout, &mut run.stderr].into_iter().chain(run.files.values_mut()) {
            *output = replaced(&replaced(output, input, "@@"), own.as_os_str(), "~");
        }
        Ok(run)
    }
}

/// Whether a program was built with Tarragon, so that it has variants.
pub fn has_bitcode(program: &Path) -> Result<bool, TargetError> {
    match Payload::read(program) {
        Ok(_) => Ok(true),
        Err(PayloadError::NotBuiltWithTarragon { .. } | PayloadError::NotElf { .. }) => Ok(false),
        Err(error) => Err(compiler::DeriveError::from(error).into()),
    }
}
