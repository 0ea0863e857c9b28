//! What the program itself does with inputs, for whoever writes that down: how it ends and what it
//! prints. Any program can be observed, built with Tarragon or not.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

use runner::{INPUT_PLACEHOLDER, PlainRunner, RunnerError, TAIL_LEN, TargetOptions, fill_words};
use search::Outcome;

use crate::plain::plain_options;
use crate::target::{absolute_file, is_file_here};
use crate::{TargetError, TargetSettings, find_program};

/// One run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Observation {
    pub outcome: Outcome,
    pub stdout: Vec<u8>,
    /// `None` if it was longer than what is kept of it.
    pub stderr: Option<Vec<u8>>,
}

/// What stands for paths that are others in each place where the program runs.
#[derive(Clone, Copy, Debug)]
pub struct PathMarks<'m> {
    pub input: &'m str,
    pub here: &'m str,
    pub program: &'m str,
}

/// The words of the program for one input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Words {
    /// After the program's name.
    pub arguments: Vec<OsString>,
    pub environment: Vec<(OsString, OsString)>,
}

pub struct Observer {
    /// In directories of different names, so that output shows whether it has these.
    runners: [PlainRunner; 2],
    runs: usize,
    /// As the user gave them.
    arguments: Vec<OsString>,
    options: TargetOptions,
    program: PathBuf,
}

impl Observer {
    pub fn start(settings: &TargetSettings) -> Result<Observer, TargetError> {
        let (program, arguments) = settings.command.split_first().ok_or(TargetError::NoProgram)?;
        let program = find_program(program)?;
        let mut options = TargetOptions::new(&program);
        options.arguments = arguments.iter().map(|argument| absolute_file(argument)).collect();
        options.environment = settings.environment.clone();
        options.readable = settings.read.clone();
        options.sandbox = settings.sandbox;
        options.limits.run_time = settings.timeout;
        options.limits.memory = settings.memory;
        options.capture_stdout = true;
        options.show_files_of(&program);
        let given = options.arguments.clone();
        let options = plain_options(&program, options);
        // A harness has words of its own.
        let is_harness = options.arguments != given;
        let arguments = if is_harness { options.arguments.clone() } else { arguments.to_vec() };
        let runner = || PlainRunner::new(options.clone());
        Ok(Observer { runners: [runner()?, runner()?], runs: 0, arguments, options, program })
    }

    /// Where the program is, from here or absolute.
    pub fn program(&self) -> &Path {
        &self.program
    }

    /// Whether standard input has the input; otherwise it is empty.
    pub fn is_on_stdin(&self) -> bool {
        !self.options.input_in_file() && !self.options.input_in_words()
    }

    /// What the sandbox denies to the program on this input, in words.
    pub fn denied(&self, input: &[u8]) -> Option<String> {
        crate::target::denied(self.options.clone(), input)
    }

    /// Runs the program once; marks stand in its output for paths.
    pub fn run(&mut self, input: &[u8], marks: PathMarks<'_>) -> Result<Observation, RunnerError> {
        let runner = &mut self.runners[self.runs % 2];
        self.runs += 1;
        let run = runner.run(input)?;
        let (file, program) = (runner.input_path(), runner.program_path());
        let marked = |text: &[u8]| {
            let text = replaced(text, file.as_os_str(), marks.input);
            replaced(&text, program.as_os_str(), marks.program)
        };
        let is_whole = (run.stderr.len() as u64) < TAIL_LEN;
        Ok(Observation {
            outcome: run.outcome,
            stdout: marked(&run.stdout),
            stderr: is_whole.then(|| marked(&run.stderr)),
        })
    }

    /// The words that the program gets for this input; marks stand for the file with the input, and
    /// for the present directory before the name of a file in it.
    pub fn words(&self, input: &[u8], marks: PathMarks<'_>) -> Words {
        let word = |argument: &OsString| {
            let argument = match is_file_here(argument) {
                true => [marks.here.as_bytes(), b"/", argument.as_bytes()].concat(),
                false => argument.as_bytes().to_vec(),
            };
            OsString::from_vec(replaced(&argument, OsStr::new(INPUT_PLACEHOLDER), marks.input))
        };
        let arguments = self.arguments.iter().map(word).collect();
        let (arguments, environment) = fill_words(arguments, &self.options.environment, input);
        Words { arguments, environment }
    }
}

/// The text with another word in all places of one.
pub(crate) fn replaced(text: &[u8], from: &OsStr, to: &str) -> Vec<u8> {
    let from = from.as_bytes();
    let (mut result, mut start) = (Vec::new(), 0);
    for at in memchr::memmem::find_iter(text, from) {
        result.extend_from_slice(&text[start..at]);
        result.extend_from_slice(to.as_bytes());
        start = at + from.len();
    }
    result.extend_from_slice(&text[start..]);
    result
}
