//! A program with its outputs, for those who compare programs: built with Tarragon or not.

use std::path::Path;

use compiler::payload::{Payload, PayloadError};
use runner::{PlainRun, PlainRunner, TargetOptions};

use crate::plain::harness_words;
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
        options.limits.address_space_allowance = Some(0);
        options.capture_stdout = true;
        options.capture_files = true;
        if let Some(words) = harness_words(&program) {
            options.arguments = words;
        }
        Ok(Observed { runner: PlainRunner::new(options)? })
    }

    /// The path of the input file is `@@` in outputs, as on the command line.
    pub fn run(&mut self, input: &[u8]) -> Result<PlainRun, TargetError> {
        let mut run = self.runner.run(input)?;
        let path = self.runner.input_path().as_os_str().as_encoded_bytes().to_vec();
        for output in [&mut run.stdout, &mut run.stderr].into_iter().chain(run.files.values_mut()) {
            replace_all(output, &path, b"@@");
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

fn replace_all(text: &mut Vec<u8>, from: &[u8], to: &[u8]) {
    let mut done = Vec::new();
    let mut rest = &text[..];
    while let Some(at) = memchr::memmem::find(rest, from) {
        done.extend_from_slice(&rest[..at]);
        done.extend_from_slice(to);
        rest = &rest[at + from.len()..];
    }
    if !done.is_empty() {
        done.extend_from_slice(rest);
        *text = done;
    }
}

#[cfg(test)]
mod tests {
    use super::replace_all;

    #[test]
    fn all_places_are_replaced() {
        for (text, expected) in [("/in: 1 /in", "@@: 1 @@"), ("none", "none"), ("/in", "@@")] {
            let mut bytes = text.as_bytes().to_vec();
            replace_all(&mut bytes, b"/in", b"@@");
            assert_eq!(bytes, expected.as_bytes());
        }
    }
}
