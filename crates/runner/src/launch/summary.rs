//! Says in words what of a plan came into force.

use super::plan::{Launch, Namespaces, Plan, ProcessLimit};
use super::status::Step;
use crate::options::Sandbox;
use crate::sandbox::{FileRules, SandboxReport};
use std::ffi::CString;

/// What was planned, in order to say what came of it.
pub(crate) struct Summary {
    landlock: Option<i32>,
    seccomp: bool,
    process_limit: bool,
    /// Names in the target's `/tmp` that stay there.
    pub exposed: Vec<CString>,
}

impl Summary {
    pub fn of(plan: &Plan) -> Summary {
        Summary {
            landlock: plan.file_rules.as_ref().map(FileRules::abi),
            seccomp: plan.filters.is_some(),
            process_limit: !matches!(plan.process_limit, ProcessLimit::None),
            exposed: plan.exposed.names.clone(),
        }
    }

    pub fn report(
        &self,
        request: &Launch<'_>,
        namespaces: Namespaces,
        failed: &[Step],
    ) -> SandboxReport {
        if request.target.sandbox == Sandbox::Off {
            return SandboxReport::off();
        }
        let mut report = SandboxReport::default();
        let worked = |step: Step| !failed.contains(&step);
        let isolated = namespaces != Namespaces::None;
        let mounts = isolated && worked(Step::PrivateMounts) && worked(Step::ReadOnlyMounts);
        let landlock = self.landlock.filter(|_| worked(Step::Landlock));
        let seccomp = self.seccomp && worked(Step::Seccomp);
        say_isolation(&mut report, isolated, seccomp);
        say_files(&mut report, mounts, landlock);
        if !isolated || !worked(Step::PrivateMounts) || !worked(Step::ScratchMount) {
            report.lacks(
                "the size of all scratch files together is not limited (no tmpfs could be mounted)",
            );
        }
        if !isolated || !worked(Step::PrivateMounts) || !worked(Step::TmpMount) {
            report.lacks(
                "/tmp is read-only (no tmpfs could be mounted there); programs have to heed TMPDIR",
            );
        }
        say_limits(&mut report, request, self.process_limit && worked(Step::ProcessLimit));
        report
    }
}

fn say_isolation(report: &mut SandboxReport, isolated: bool, seccomp: bool) {
    if isolated {
        report.holds("own process, network, IPC and mount namespaces");
    } else {
        report.lacks(
            "no namespaces (the kernel or a container forbids them): a child that hides may \
             outlive a run",
        );
    }
    if seccomp {
        report.holds("seccomp: no sockets, tracing, mounting or administration");
    } else if isolated {
        report.lacks("no seccomp: the target can use every system call");
    } else {
        report.lacks("no seccomp: the target can use the network and every system call");
    }
}

fn say_files(report: &mut SandboxReport, mounts: bool, landlock: Option<i32>) {
    if mounts {
        report.holds("all files read-only but for the scratch directory");
    }
    match landlock {
        Some(abi) => report.holds(format!(
            "Landlock (version {abi}): reading the program's and the system's files only, writing \
             in the scratch \
             directory only"
        )),
        None if mounts => report.lacks(
            "no Landlock: the target can read every file that you can; devices and named pipes \
             that you can write \
             are writable",
        ),
        None => report.lacks(
            "neither read-only mounts nor Landlock: the target can read and write every file that \
             you can",
        ),
    }
    if landlock.is_some_and(|abi| abi < 3) && !mounts {
        report.lacks("this version of Landlock cannot forbid truncating files");
    }
}

fn say_limits(report: &mut SandboxReport, request: &Launch<'_>, processes: bool) {
    if request.target.limits.address_space_allowance.is_some() {
        report.holds("limits on time, memory, file size and open files");
    } else {
        report.holds("limits on time, file size and open files");
        report.lacks("no limit on memory (as asked for)");
    }
    if processes {
        report.holds("limit on processes");
    } else {
        report.lacks("the number of processes is not limited (for root that takes Linux 6.14)");
    }
}
