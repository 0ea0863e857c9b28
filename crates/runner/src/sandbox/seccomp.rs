//! seccomp: system calls that no target needs and that reach beyond its own processes and files.
//!
//! A list of what is denied, because targets are arbitrary programs. Denied calls fail with
//! `EPERM`, as they would for want of permission, so that programs can handle it.

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch,
};
use std::collections::BTreeMap;

type Rules = BTreeMap<i64, Vec<SeccompRule>>;

/// Whether read-only mounts and an IPC namespace do their part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Strictness {
    /// They do.
    Normal,
    /// They do not: also deny changes of ownership, permissions and times, and IPC objects that
    /// outlive a process.
    Strict,
}

/// Compiled filters, ready to be put into force in the child.
pub(crate) struct Filters {
    pub normal: BpfProgram,
    pub strict: BpfProgram,
    /// `clone3` hides its flags behind a pointer; told that it does not exist, C libraries use
    /// `clone`.
    pub no_clone3: BpfProgram,
}

impl Filters {
    /// `None` on an architecture that seccompiler does not know.
    pub fn compile(allow_ptrace: bool) -> Option<Filters> {
        let mut rules = denied(ALWAYS);
        if !allow_ptrace {
            rules.extend(denied(&[libc::SYS_ptrace]));
        }
        rules.insert(libc::SYS_clone, namespace_flags()?);
        let normal = compile(rules.clone(), libc::EPERM)?;
        rules.extend(denied(WITHOUT_NAMESPACES));
        let strict = compile(rules, libc::EPERM)?;
        let no_clone3 = compile(denied(&[libc::SYS_clone3]), libc::ENOSYS)?;
        Some(Filters { normal, strict, no_clone3 })
    }

    pub fn main(&self, strictness: Strictness) -> &BpfProgram {
        match strictness {
            Strictness::Normal => &self.normal,
            Strictness::Strict => &self.strict,
        }
    }
}

fn compile(rules: Rules, errno: i32) -> Option<BpfProgram> {
    let architecture = TargetArch::try_from(std::env::consts::ARCH).ok()?;
    let deny = SeccompAction::Errno(errno as u32);
    SeccompFilter::new(rules, SeccompAction::Allow, deny, architecture).ok()?.try_into().ok()
}

fn denied(calls: &[i64]) -> Rules {
    /// Calls of the x32 interface have the same architecture and this bit.
    const X32: i64 = 0x4000_0000;
    calls.iter().flat_map(|&call| [(call, vec![]), (call | X32, vec![])]).collect()
}

/// `clone` that asks for any new namespace.
fn namespace_flags() -> Option<Vec<SeccompRule>> {
    const NAMESPACES: [i32; 7] = [
        libc::CLONE_NEWUSER,
        libc::CLONE_NEWPID,
        libc::CLONE_NEWNET,
        libc::CLONE_NEWNS,
        libc::CLONE_NEWIPC,
        libc::CLONE_NEWUTS,
        libc::CLONE_NEWCGROUP,
    ];
    let rule = |flag: &i32| {
        let flag = *flag as u64;
        let operator = SeccompCmpOp::MaskedEq(flag);
        let condition = SeccompCondition::new(0, SeccompCmpArgLen::Qword, operator, flag).ok()?;
        SeccompRule::new(vec![condition]).ok()
    };
    NAMESPACES.iter().map(rule).collect()
}

const ALWAYS: &[i64] = &[
    // Network. `socketpair` stays: it reaches nobody.
    libc::SYS_socket,
    // Other processes.
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_pidfd_getfd,
    libc::SYS_kcmp,
    // Namespaces and mounts.
    libc::SYS_unshare,
    libc::SYS_setns,
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_open_tree,
    libc::SYS_move_mount,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
    libc::SYS_open_by_handle_at,
    // Kernel interfaces with a history, none of which a program under test needs.
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_userfaultfd,
    libc::SYS_fanotify_init,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_keyctl,
    // The machine.
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_kexec_load,
    libc::SYS_reboot,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_acct,
    libc::SYS_quotactl,
    libc::SYS_syslog,
    libc::SYS_vhangup,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_clock_adjtime,
    libc::SYS_adjtimex,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_kexec_file_load,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_iopl,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_ioperm,
];

const WITHOUT_NAMESPACES: &[i64] = &[
    libc::SYS_fchmod,
    libc::SYS_fchmodat,
    SYS_FCHMODAT2,
    libc::SYS_fchown,
    libc::SYS_fchownat,
    libc::SYS_utimensat,
    libc::SYS_setxattr,
    libc::SYS_lsetxattr,
    libc::SYS_fsetxattr,
    libc::SYS_removexattr,
    libc::SYS_lremovexattr,
    libc::SYS_fremovexattr,
    libc::SYS_shmget,
    libc::SYS_msgget,
    libc::SYS_semget,
    libc::SYS_mq_open,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_chmod,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_chown,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_lchown,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_utime,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_utimes,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_futimesat,
];

/// Not yet in every libc crate.
const SYS_FCHMODAT2: i64 = 452;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filters_compile_and_fit_the_kernel_limit() {
        let filters = Filters::compile(false).unwrap();
        for program in [&filters.normal, &filters.strict, &filters.no_clone3] {
            assert!((1..=4096).contains(&program.len()));
        }
        assert!(filters.main(Strictness::Strict).len() > filters.main(Strictness::Normal).len());
    }
}
