//! What confines a target: the parts that are made ready in the driver, and the report on what
//! holds.
//!
//! The parts are put into force by [`launch`](crate::launch), in the child, before the target is
//! executed.

mod landlock;
mod seccomp;
mod visible;

pub(crate) use landlock::FileRules;
pub(crate) use seccomp::{Filters, Strictness};
pub(crate) use visible::{environment, is_wide, visible};

use std::fmt;

/// What of the sandbox is in force, and what the kernel does not offer, in words for the user.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SandboxReport {
    pub in_force: Vec<String>,
    /// Each entry says what a target can do because of it.
    pub missing: Vec<String>,
}

impl SandboxReport {
    pub(crate) fn off() -> SandboxReport {
        let missing = [
            "the target can use the network",
            "the target can read, write and delete every file that you can",
            "the target can signal your other processes and start any number of its own",
            "a child process that hides from the target's process group may outlive a run",
        ];
        SandboxReport {
            in_force: vec!["limits on time, memory and file size".to_owned()],
            missing: missing.map(str::to_owned).to_vec(),
        }
    }

    pub(crate) fn holds(&mut self, text: impl Into<String>) {
        self.in_force.push(text.into());
    }

    pub(crate) fn lacks(&mut self, text: impl Into<String>) {
        self.missing.push(text.into());
    }

    /// Whether nothing is missing.
    pub fn is_complete(&self) -> bool {
        self.missing.is_empty()
    }
}

impl fmt::Display for SandboxReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "sandbox: {}", self.in_force.join("; "))?;
        for gap in &self.missing {
            writeln!(f, "sandbox, not in force: {gap}")?;
        }
        Ok(())
    }
}
