//! Why a program cannot be run as a target.

use std::error::Error;
use std::io;
use std::path::PathBuf;

use compiler::{DeriveError, Variant};
use runner::RunnerError;

#[derive(Debug, thiserror::Error)]
pub enum TargetError {
    #[error("no program was named after --")]
    NoProgram,
    #[error("{}: {what}", program.display())]
    Unusable { program: PathBuf, what: String },
    #[error("{}: --lexer needs the program itself, not a variant", program.display())]
    LexerOfVariant { program: PathBuf },
    #[error("{}: --model needs the program itself, not a variant", program.display())]
    ModelOfVariant { program: PathBuf },
    #[error("{} cannot be tested; its traced variant", program.display())]
    Untestable { program: PathBuf, source: RunnerError },
    #[error("the {} variant does not run", variant.name())]
    DoesNotRun { variant: Variant, source: RunnerError },
    #[error("{}: cannot read the site table", path.display())]
    NoSites { path: PathBuf, source: io::Error },
    #[error("{}: not a site table", path.display())]
    BadSites { path: PathBuf, source: serde_json::Error },
    #[error(transparent)]
    Derive(#[from] DeriveError),
    #[error(transparent)]
    Runner(#[from] RunnerError),
}

impl TargetError {
    /// The first line of the message with its causes, for a note.
    pub fn first_line(&self) -> String {
        let mut text = self.to_string();
        let mut cause = self.source();
        while let Some(error) = cause {
            text.push_str(&format!(": {error}"));
            cause = error.source();
        }
        text.lines().next().unwrap_or_default().to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_say_the_cause_in_a_line() {
        let source = RunnerError::ServerLost { inputs: 5, stderr: "one\ntwo".to_owned() };
        let error = TargetError::DoesNotRun { variant: Variant::Covered, source };
        let line = error.first_line();
        assert!(
            line.starts_with("the covered variant does not run: the target's fork server"),
            "{line}"
        );
        assert!(!line.contains('\n') && !line.contains("two"), "{line}");
    }
}
