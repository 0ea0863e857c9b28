//! The programs of LLVM 22 that this crate runs, and what to say where they are missing.

use std::ffi::OsString;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use tempfile::NamedTempFile;
use thiserror::Error;

use crate::children;
use crate::driver::Language;
use crate::response;

/// Where Debian puts the programs without their version suffix.
const DIRECTORY: &str = "/usr/lib/llvm-22/bin";

#[derive(Debug, Error)]
#[error("{program} was not found; install it with\n    sudo apt-get install {package}")]
pub struct MissingProgram {
    program: &'static str,
    package: &'static str,
}

pub fn compiler(language: Language) -> Result<PathBuf, MissingProgram> {
    match language {
        Language::C => find("clang-22", "clang", "clang-22"),
        Language::Cxx => find("clang++-22", "clang++", "clang-22"),
    }
}

pub fn archiver() -> Result<PathBuf, MissingProgram> {
    find("llvm-ar-22", "llvm-ar", "llvm-22")
}

/// LLVM's linker, of which clang finds the matching one by itself.
pub fn has_lld() -> bool {
    find("ld.lld-22", "ld.lld", "lld-22").is_ok()
}

fn find(
    program: &'static str,
    plain: &str,
    package: &'static str,
) -> Result<PathBuf, MissingProgram> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let on_path = std::env::split_paths(&path).map(|directory| directory.join(program));
    let candidates = on_path.chain([PathBuf::from(DIRECTORY).join(plain)]);
    candidates.into_iter().find(|file| file.is_file()).ok_or(MissingProgram { program, package })
}

/// Linux takes about 2 MB of arguments and environment together.
const LONGEST: usize = 1 << 20;

/// A command with its arguments, and the response file that holds them where they are too long.
pub struct Prepared {
    pub command: Command,
    _response: Option<NamedTempFile>,
}

pub fn prepare(program: &PathBuf, words: &[OsString]) -> std::io::Result<Prepared> {
    let mut command = Command::new(program);
    if words.iter().map(|word| word.len() + 1).sum::<usize>() < LONGEST {
        command.args(words);
        return Ok(Prepared { command, _response: None });
    }
    let mut file = NamedTempFile::with_prefix("tarragon-")?;
    file.write_all(&response::quote(words))?;
    let mut reference = OsString::from("@");
    reference.push(file.path());
    command.arg(reference);
    Ok(Prepared { command, _response: Some(file) })
}

/// Runs a command without a terminal and returns what it wrote, or its error text.
pub fn capture(prepared: &mut Prepared, stdin: Option<&[u8]>) -> Result<Vec<u8>, String> {
    let command = &mut prepared.command;
    command.stdin(if stdin.is_some() { Stdio::piped() } else { Stdio::null() });
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = children::start(command).map_err(|error| error.to_string())?;
    if let (Some(mut pipe), Some(text)) = (child.stdin.take(), stdin) {
        // A compiler that stops reading early says why on its own.
        let _ = pipe.write_all(text);
    }
    let output = children::finish(child).map_err(|error| error.to_string())?;
    if output.status.success() {
        return Ok(output.stdout);
    }
    let text = String::from_utf8_lossy(&output.stderr).trim_end().to_owned();
    Err(if text.is_empty() { output.status.to_string() } else { text })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_program_is_named_with_the_command_that_installs_it() {
        let missing = find("clang-0", "clang-0", "clang-22").unwrap_err().to_string();
        assert_eq!(
            missing,
            "clang-0 was not found; install it with\n    sudo apt-get install clang-22"
        );
        assert!(compiler(Language::C).is_ok());
    }
}
