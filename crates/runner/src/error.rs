//! What can go wrong with a target or with the machine. Each message says how to go on.

use run::Outcome;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

#[derive(Debug, thiserror::Error)]
pub enum RunnerError {
    #[error("{}: no such program; check the path, or give the directory (./NAME) if it is not in \
             PATH", .0.display())]
    NotFound(PathBuf),
    #[error("{}: is not an executable file; name the linked program, and check its permissions \
             (chmod +x)", .0.display())]
    NotExecutable(PathBuf),
    #[error(
        "{}: was not built with Tarragon; build it with CC=tarragon-cc CXX=tarragon-c++ and run \
         the result",
        .0.display()
    )]
    NotBuiltWithTarragon(PathBuf),
    #[error("{}: cannot be started: {error}", .program.display())]
    CannotExecute { program: PathBuf, error: io::Error },
    #[error(
        "{}: ended ({outcome}) before it reached main; run it by hand to see why. \
         If it is a script, name the program that the script starts{}",
        .program.display(), quoted(.stderr)
    )]
    EndsAtStart { program: PathBuf, outcome: Outcome, stderr: String },
    #[error(
        "{}: did not reach main within {limit:?}; a constructor or a library hangs, or the limit \
         is too short{}",
        .program.display(), quoted(.stderr)
    )]
    HangsAtStart { program: PathBuf, limit: Duration, stderr: String },
    #[error(
        "{}: was built by another version of Tarragon (trace format {found}, here {expected}); \
         build it again",
        .program.display()
    )]
    VersionMismatch { program: PathBuf, found: u32, expected: u32 },
    #[error(
        "the program has {needed} branch outcomes and its site table {have}; they are from \
         different builds: build again"
    )]
    CoverageMismatch { needed: u32, have: u64 },
    #[error("the input has {len} bytes; at most {max} can be traced")]
    InputTooLong { len: usize, max: u64 },
    #[error("the target's fork server died on each of {inputs} inputs in a row{}", quoted(.stderr))]
    ServerLost { inputs: u32, stderr: String },
    #[error("interrupted")]
    Interrupted,
    #[error("the target cannot fork: {0}; raise the limit on processes or memory")]
    CannotFork(io::Error),
    #[error("an argument or variable for the target contains a zero byte")]
    ZeroByte,
    #[error(
        "only {have} files may be open at once, and Tarragon needs {needed}; raise the limit: \
         ulimit -n {needed}"
    )]
    TooFewFiles { have: u64, needed: u64 },
    #[error("cannot {action}: {error}{}", hint(.error))]
    System { action: &'static str, error: io::Error },
}

impl RunnerError {
    /// For `map_err`: an error of the operating system while doing `action`.
    pub(crate) fn system<E: Into<io::Error>>(
        action: &'static str,
    ) -> impl FnOnce(E) -> RunnerError {
        move |error| RunnerError::System { action, error: error.into() }
    }
}

/// What the usual message does not say.
fn hint(error: &io::Error) -> &'static str {
    match error.raw_os_error() {
        Some(libc::EFBIG) => "; the limit on file sizes is too low for it: ulimit -f unlimited",
        Some(libc::EMFILE) => "; raise the limit on open files: ulimit -n 1024",
        _ => "",
    }
}

fn quoted(stderr: &str) -> String {
    let text = stderr.trim();
    if text.is_empty() { String::new() } else { format!("; it printed:\n{text}") }
}
