//! Starts a process in the sandbox.
//!
//! A library cannot re-execute "itself" as a launcher, so the steps between `clone` and `execve`
//! run in a copy of the driver. The driver may have threads, whose locks nobody will release in the
//! copy: [`child`] therefore uses system calls only, on a [`Plan`] that was made ready before.
//! Children report what did not work on a socket which `execve` closes.

mod child;
mod plan;
mod process;
mod spawner;
mod status;
mod summary;
mod watch;

pub(crate) use plan::{Launch, Pipes, Supervision};
pub(crate) use process::Process;

use crate::error::RunnerError;
use crate::options::Sandbox;
use crate::sandbox::SandboxReport;
use crate::scratch::Scratch;
use plan::{Namespaces, Plan};
use status::{Finding, Step};
use summary::Summary;

/// A process that has executed the program.
pub(crate) struct Launched {
    pub process: Process,
    pub scratch: Scratch,
    pub sandbox: SandboxReport,
}

/// Starts the program with as much of the sandbox as the kernel offers.
pub(crate) fn launch(request: &Launch<'_>) -> Result<Launched, RunnerError> {
    let choices: &[Namespaces] = match request.target.sandbox {
        Sandbox::On => &[Namespaces::WithUser, Namespaces::AsRoot, Namespaces::None],
        Sandbox::Off => &[Namespaces::None],
    };
    let mut refused = None;
    for &namespaces in choices {
        match attempt(request, namespaces)? {
            Attempt::Started(launched) => return Ok(launched),
            Attempt::NamespacesRefused(error) => refused = Some(error),
        }
    }
    let error = refused.unwrap_or_else(|| std::io::ErrorKind::Other.into());
    Err(RunnerError::System { action: "start a process", error })
}

enum Attempt {
    Started(Launched),
    NamespacesRefused(std::io::Error),
}

fn attempt(request: &Launch<'_>, namespaces: Namespaces) -> Result<Attempt, RunnerError> {
    let (ours, theirs) = status::channel().map_err(RunnerError::system("create a socket"))?;
    let plan = Plan::new(request, namespaces, theirs)?;
    let process = match spawner::spawn(&plan, namespaces.clone_flags()) {
        Ok(process) => process,
        Err(error) if namespaces != Namespaces::None => {
            return Ok(Attempt::NamespacesRefused(error));
        }
        Err(error) => return Err(RunnerError::System { action: "start a process", error }),
    };
    let sandbox = Summary::of(&plan);
    drop(plan);
    let findings = status::collect(&ours, request.target.start_timeout);
    judge(request, namespaces, process, findings, sandbox)
}

/// Turns what the child said into a result.
fn judge(
    request: &Launch<'_>,
    namespaces: Namespaces,
    process: Process,
    findings: Vec<Finding>,
    summary: Summary,
) -> Result<Attempt, RunnerError> {
    let mut scratch = Vec::new();
    let mut failed = Vec::new();
    for finding in findings {
        match finding {
            Finding::Scratch(directory) => scratch.push(directory),
            Finding::Failed(Step::MapUsers, error) => return Ok(Attempt::NamespacesRefused(error)),
            Finding::Failed(Step::Execute, error) => return Err(request.cannot_execute(error)),
            Finding::Failed(step, error) if step.is_fatal() => {
                return Err(RunnerError::System { action: step.action(), error });
            }
            Finding::Failed(step, _) => failed.push(step),
        }
    }
    if scratch.is_empty() {
        let error = std::io::Error::other("the launched process died");
        return Err(RunnerError::System { action: "set the sandbox up", error });
    }
    let sandbox = summary.report(request, namespaces, &failed);
    let scratch = Scratch::new(scratch, summary.exposed);
    Ok(Attempt::Started(Launched { process, scratch, sandbox }))
}
