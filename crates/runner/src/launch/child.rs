//! The steps between `clone` and `execve`, in a copy of the driver.
//!
//! Only system calls are allowed here: no allocation, no locks, no panics. Other threads of the
//! driver do not exist in the copy, but the locks that they held do.

use super::plan::{Namespaces, Plan, ProcessLimit};
use super::status::Step;
use super::watch::watch;
use crate::sandbox::{FileRules, Strictness};
use libc::{c_char, c_int, c_long, c_void};
use runtime_process::supervise::supervise;
use std::ffi::CStr;
use std::os::fd::AsRawFd;
use std::ptr::{null, null_mut};
use trace::SERVER_FDS;

/// `fork` without the C library's handlers, and into new namespaces.
///
/// # Safety
/// The child may only make system calls.
pub(super) unsafe fn raw_clone(flags: c_int) -> c_long {
    // SAFETY: no stack is given, so the child goes on on a copy of this one.
    unsafe {
        libc::syscall(
            libc::SYS_clone,
            (flags | libc::SIGCHLD) as c_long,
            0usize,
            0usize,
            0usize,
            0usize,
        )
    }
}

/// Carries out the plan and becomes the program, or the process that waits for it.
///
/// # Safety
/// Only in a child that `raw_clone` has just made.
pub(super) unsafe fn run(plan: &Plan) -> ! {
    let child = Child { plan };
    // SAFETY: as the caller says; each step is a sequence of system calls on what the plan holds.
    unsafe {
        child.detach();
        let (strictness, has_tmp) = child.isolate();
        child.hand_over_scratch();
        child.enter();
        child.restrict(strictness, has_tmp);
        if let Some(timeout_ms) = plan.supervise_ms {
            child.split(timeout_ms);
        }
        child.execute()
    }
}

struct Child<'a> {
    plan: &'a Plan,
}

impl Child<'_> {
    /// Own session, so that Ctrl-C in the driver's terminal does not reach the target; default
    /// signals.
    unsafe fn detach(&self) {
        const LAST_SIGNAL: c_int = 64;
        // SAFETY: SIG_DFL and SIG_IGN are valid handlers; the mask is initialised.
        unsafe {
            libc::setsid();
            for signal in 1..=LAST_SIGNAL {
                libc::signal(signal, libc::SIG_DFL);
            }
            // Writing past the file size limit shall fail, not kill.
            libc::signal(libc::SIGXFSZ, libc::SIG_IGN);
            let mut none = std::mem::zeroed();
            libc::sigemptyset(&mut none);
            libc::sigprocmask(libc::SIG_SETMASK, &none, null_mut());
        }
    }

    /// Namespaces and mounts. Says what seccomp has to make up for, and whether there is a `/tmp`
    /// of the target's own.
    unsafe fn isolate(&self) -> (Strictness, bool) {
        // SAFETY: writes to files of the kernel and mounts in a namespace of our own.
        unsafe {
            if self.plan.namespaces == Namespaces::WithUser {
                self.need(Step::MapUsers, self.map_users());
            }
            if self.plan.namespaces == Namespaces::None {
                return (Strictness::Strict, false);
            }
            self.limit_processes();
            if !self.wish(Step::PrivateMounts, make_mounts_private()) {
                return (Strictness::Strict, false);
            }
            mount_proc();
            let tmp = self.wish(Step::TmpMount, self.mount_tmp());
            let read_only =
                self.wish(Step::ReadOnlyMounts, set_mounts(c"/", libc::AT_RECURSIVE, true));
            self.wish(Step::ScratchMount, self.mount_scratch());
            if tmp {
                self.open_tmp();
            }
            (if read_only { Strictness::Normal } else { Strictness::Strict }, tmp)
        }
    }

    unsafe fn map_users(&self) -> bool {
        let (uids, gids) = &self.plan.users;
        // SAFETY: plain writes of strings.
        unsafe {
            // Missing before Linux 3.19, and only then not needed.
            write_file(c"/proc/self/setgroups", c"deny");
            write_file(c"/proc/self/uid_map", uids) && write_file(c"/proc/self/gid_map", gids)
        }
    }

    unsafe fn limit_processes(&self) {
        if let ProcessLimit::PidMax(limit) = &self.plan.process_limit {
            // SAFETY: a plain write; the plan makes sure that the file belongs to the namespace.
            unsafe {
                self.wish(Step::ProcessLimit, write_file(c"/proc/sys/kernel/pid_max", limit))
            };
        }
    }

    /// An empty directory in place of `/tmp`, `/var/tmp` and `/dev/shm`, with what the target needs
    /// of the old ones in its place.
    unsafe fn mount_tmp(&self) -> bool {
        const MOST: usize = 64;
        let mut trees = [-1; MOST];
        let exposed = &self.plan.exposed.paths;
        // SAFETY: the strings are valid; trees that are not used up vanish when they are closed.
        unsafe {
            if exposed.len() > MOST {
                return false;
            }
            for (tree, path) in trees.iter_mut().zip(exposed) {
                *tree = copy_tree(path);
            }
            if !self.mount_tmpfs(TMP) {
                return false;
            }
            let shared = !self.plan.shm
                || libc::mount(TMP.as_ptr(), SHM.as_ptr(), null(), libc::MS_BIND, null()) == 0;
            for parent in &self.plan.exposed.parents {
                // Nobody shall write there: it is not emptied after a run.
                libc::mkdir(parent.as_ptr(), 0o555);
            }
            let mut shown =
                shared && trees.iter().zip(exposed).all(|(&tree, path)| attach_tree(tree, path));
            trees.iter().filter(|&&tree| tree >= 0).for_each(|&tree| {
                libc::close(tree);
            });
            if shown && self.plan.var_tmp {
                shown =
                    libc::mount(TMP.as_ptr(), VAR_TMP.as_ptr(), null(), libc::MS_BIND, null()) == 0;
            }
            if !shown {
                if self.plan.shm && shared {
                    libc::umount2(SHM.as_ptr(), libc::MNT_DETACH);
                }
                libc::umount2(TMP.as_ptr(), libc::MNT_DETACH);
            }
            shown
        }
    }

    /// Makes `/tmp` writable again, and gives it to the driver.
    unsafe fn open_tmp(&self) {
        // SAFETY: the paths are valid.
        unsafe {
            set_mounts(TMP, 0, false);
            if self.plan.var_tmp {
                set_mounts(VAR_TMP, 0, false);
            }
            if self.plan.shm {
                set_mounts(SHM, 0, false);
            }
            self.hand_over(TMP, Step::TmpOpened);
        }
    }

    unsafe fn mount_tmpfs(&self, at: &CStr) -> bool {
        let flags = libc::MS_NOSUID | libc::MS_NODEV;
        // SAFETY: the strings are valid.
        unsafe {
            let options = self.plan.scratch_options.as_ptr().cast::<c_void>();
            libc::mount(c"tmpfs".as_ptr(), at.as_ptr(), c"tmpfs".as_ptr(), flags, options) == 0
        }
    }

    /// A file system of limited size that vanishes with the namespace; otherwise the directory as
    /// it is.
    unsafe fn mount_scratch(&self) -> bool {
        let scratch = &self.plan.scratch;
        // SAFETY: the strings are valid.
        unsafe {
            if self.mount_tmpfs(scratch) {
                return true;
            }
            libc::mount(scratch.as_ptr(), scratch.as_ptr(), null(), libc::MS_BIND, null());
            set_mounts(scratch, 0, false);
            false
        }
    }

    /// Only here is the directory visible as the target sees it, so the driver gets a descriptor.
    unsafe fn hand_over_scratch(&self) {
        // SAFETY: the path is valid.
        unsafe { self.hand_over(&self.plan.scratch, Step::ScratchOpened) }
    }

    unsafe fn hand_over(&self, path: &CStr, step: Step) {
        // SAFETY: the path is valid.
        unsafe {
            let flags = libc::O_RDONLY | libc::O_DIRECTORY | libc::O_CLOEXEC;
            let directory = libc::open(path.as_ptr(), flags);
            self.need(step, directory >= 0 && self.send(step, 0, Some(directory)));
        }
    }

    /// Descriptors and working directory.
    unsafe fn enter(&self) {
        // SAFETY: system calls on descriptors and paths of the plan.
        unsafe {
            self.need(Step::Descriptors, self.place_descriptors());
            if let Some(directory) = &self.plan.directory {
                self.need(Step::Directory, libc::chdir(directory.as_ptr()) == 0);
            }
        }
    }

    unsafe fn place_descriptors(&self) -> bool {
        let plan = self.plan;
        // A supervisor keeps its pipes to itself; a fork server needs them after `execve`.
        let flags = if plan.supervise_ms.is_some() { libc::O_CLOEXEC } else { 0 };
        let segment = plan.segment.as_ref().map_or(-1, AsRawFd::as_raw_fd);
        // SAFETY: the sources are above all destinations, so none is overwritten before it is
        // copied.
        unsafe {
            let stdin = libc::open(plan.stdin.as_ptr(), libc::O_RDONLY);
            let step = if *plan.stdin == *NULL { Step::NullOpened } else { Step::InputOpened };
            self.need(step, stdin >= 0);
            let stdout = match &plan.stdout {
                Some(fd) => fd.as_raw_fd(),
                None => libc::open(NULL.as_ptr(), libc::O_WRONLY),
            };
            self.need(Step::NullOpened, stdout >= 0);
            libc::dup2(stdin, 0) >= 0
                && libc::dup2(stdout, 1) >= 0
                && libc::dup2(plan.stderr.as_raw_fd(), 2) >= 0
                && (segment < 0 || libc::dup3(segment, SERVER_FDS.segment, 0) >= 0)
                && libc::dup3(plan.commands.as_raw_fd(), SERVER_FDS.commands, flags) >= 0
                && libc::dup3(plan.reports.as_raw_fd(), SERVER_FDS.reports, flags) >= 0
        }
    }

    /// Takes away what the target must not have. Nothing can be regained later.
    unsafe fn restrict(&self, strictness: Strictness, has_tmp: bool) {
        // SAFETY: system calls on descriptors and memory of the plan.
        unsafe {
            if !self.plan.sandboxed {
                return;
            }
            drop_capabilities();
            libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
            if let Some(rules) = &self.plan.file_rules {
                self.wish(Step::Landlock, self.enforce_landlock(rules, has_tmp));
            }
            if let Some(filters) = &self.plan.filters {
                let main = seccompiler::apply_filter(filters.main(strictness));
                self.wish(
                    Step::Seccomp,
                    main.is_ok() && seccompiler::apply_filter(&filters.no_clone3).is_ok(),
                );
            }
        }
    }

    /// With rules for what was mounted here and for what the driver could not see.
    unsafe fn enforce_landlock(&self, rules: &FileRules, has_tmp: bool) -> bool {
        let ruleset = rules.fd();
        // SAFETY: the paths are valid.
        unsafe {
            allow_beneath(ruleset, &self.plan.scratch, rules.scratch_access())
                && (!has_tmp || allow_beneath(ruleset, TMP, rules.scratch_access()))
                && allow_beneath(ruleset, c"/proc", rules.read_access())
                && libc::syscall(libc::SYS_landlock_restrict_self, ruleset, 0) == 0
        }
    }

    /// Makes the program a child of this process, which waits for it and reports. Returns in the
    /// child.
    unsafe fn split(&self, timeout_ms: u32) {
        // SAFETY: the program is the only child of this process.
        unsafe {
            // Without a namespace it must outlive the driver for long enough to end the program's
            // descendants.
            if self.plan.namespaces != Namespaces::None {
                self.die_with_parent();
            }
            // Before the program is there: one that forks and ends at once would leave its orphans
            // to process 1.
            libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
            let program = raw_clone(0);
            if program == 0 {
                libc::setpgid(0, 0);
                if self.plan.watches {
                    libc::ptrace(
                        libc::PTRACE_TRACEME,
                        0,
                        null_mut::<c_void>(),
                        null_mut::<c_void>(),
                    );
                    libc::kill(libc::getpid(), libc::SIGSTOP);
                }
                return;
            }
            close_all_but(&[SERVER_FDS.commands, SERVER_FDS.reports]);
            if program > 0 && self.plan.watches {
                watch(program as c_int, timeout_ms, SERVER_FDS.reports);
                libc::kill(program as c_int, libc::SIGKILL);
            } else if program > 0 {
                let report = supervise(program as c_int, timeout_ms, SERVER_FDS.commands);
                libc::write(
                    SERVER_FDS.reports,
                    (&raw const report).cast::<c_void>(),
                    size_of_val(&report),
                );
            }
            libc::_exit(0)
        }
    }

    unsafe fn execute(&self) -> ! {
        let plan = self.plan;
        // SAFETY: the arrays end with null and point to strings of the plan.
        unsafe {
            self.close_the_rest();
            self.die_with_parent();
            // Addresses that repeat make runs that repeat.
            libc::personality(libc::ADDR_NO_RANDOMIZE as _);
            self.need(Step::Limits, self.set_limits());
            libc::execve(plan.program.as_ptr(), plan.arguments.as_ptr(), plan.environment.as_ptr());
            self.need(Step::Execute, false);
            libc::_exit(127)
        }
    }

    unsafe fn close_the_rest(&self) {
        let status = self.plan.status.as_raw_fd();
        // SAFETY: see `close_all_but`.
        unsafe {
            match self.plan.segment {
                Some(_) => close_all_but(&[
                    0,
                    1,
                    2,
                    SERVER_FDS.segment,
                    SERVER_FDS.commands,
                    SERVER_FDS.reports,
                    status,
                ]),
                None => close_all_but(&[0, 1, 2, status]),
            }
        }
    }

    unsafe fn set_limits(&self) -> bool {
        self.plan.limits.iter().all(|&(resource, value)| {
            // SAFETY: the structures are valid.
            unsafe {
                let mut old: libc::rlimit = std::mem::zeroed();
                libc::getrlimit(resource, &mut old);
                let value = value.min(old.rlim_max);
                libc::setrlimit(resource, &libc::rlimit { rlim_cur: value, rlim_max: value }) == 0
            }
        })
    }

    /// The driver's death is ours, even if it is killed, and even if it is dead already.
    unsafe fn die_with_parent(&self) {
        let mut driver = libc::pollfd { fd: self.plan.status.as_raw_fd(), events: 0, revents: 0 };
        // SAFETY: one entry is passed.
        unsafe {
            libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL, 0, 0, 0);
            if libc::poll(&mut driver, 1, 0) > 0 && driver.revents & libc::POLLHUP != 0 {
                libc::_exit(0);
            }
        }
    }

    /// Tells the driver that a step failed, and goes on.
    unsafe fn wish(&self, step: Step, worked: bool) -> bool {
        if !worked {
            // SAFETY: see `send`.
            unsafe { self.send(step, errno(), None) };
        }
        worked
    }

    /// Tells the driver that a step failed, and gives up.
    unsafe fn need(&self, step: Step, worked: bool) {
        // SAFETY: see `send`.
        unsafe {
            if !self.wish(step, worked) {
                libc::_exit(127);
            }
        }
    }

    /// Sends one message, with a descriptor if there is one.
    unsafe fn send(&self, step: Step, error: c_int, descriptor: Option<c_int>) -> bool {
        #[repr(C, align(8))]
        struct Control([u8; 32]);
        let mut words = [step as u32, error as u32];
        let mut control = Control([0; 32]);
        // SAFETY: `control` is large enough and aligned for one descriptor; the message lives until
        // `sendmsg` returns.
        unsafe {
            let mut part =
                libc::iovec { iov_base: words.as_mut_ptr().cast(), iov_len: size_of_val(&words) };
            let mut message: libc::msghdr = std::mem::zeroed();
            message.msg_iov = &mut part;
            message.msg_iovlen = 1;
            if let Some(descriptor) = descriptor {
                message.msg_control = (&raw mut control).cast();
                message.msg_controllen = libc::CMSG_SPACE(size_of::<c_int>() as u32) as usize;
                let head = libc::CMSG_FIRSTHDR(&message);
                (*head).cmsg_level = libc::SOL_SOCKET;
                (*head).cmsg_type = libc::SCM_RIGHTS;
                (*head).cmsg_len = libc::CMSG_LEN(size_of::<c_int>() as u32) as usize;
                libc::CMSG_DATA(head).cast::<c_int>().write_unaligned(descriptor);
            }
            libc::sendmsg(self.plan.status.as_raw_fd(), &message, libc::MSG_NOSIGNAL) >= 0
        }
    }
}

const NULL: &CStr = c"/dev/null";
const TMP: &CStr = c"/tmp";
const VAR_TMP: &CStr = c"/var/tmp";
const SHM: &CStr = c"/dev/shm";

/// A copy of the mount at `path` and below, which is attached nowhere; negative if there is none.
unsafe fn copy_tree(path: &CStr) -> c_int {
    const OPEN_TREE_CLONE: c_int = 1;
    let flags = OPEN_TREE_CLONE | libc::O_CLOEXEC | libc::AT_RECURSIVE;
    // SAFETY: the path is valid.
    unsafe { libc::syscall(libc::SYS_open_tree, libc::AT_FDCWD, path.as_ptr(), flags) as c_int }
}

/// Makes a place for the copy at `path` and puts it there.
unsafe fn attach_tree(tree: c_int, path: &CStr) -> bool {
    const MOVE_MOUNT_F_EMPTY_PATH: c_int = 4;
    // SAFETY: the strings and the structure are valid.
    unsafe {
        let mut stat: libc::stat = std::mem::zeroed();
        if tree < 0 || libc::fstat(tree, &mut stat) != 0 {
            return false;
        }
        if stat.st_mode & libc::S_IFMT == libc::S_IFDIR {
            libc::mkdir(path.as_ptr(), 0o755);
        } else {
            libc::close(libc::open(
                path.as_ptr(),
                libc::O_WRONLY | libc::O_CREAT | libc::O_CLOEXEC,
                0o644,
            ));
        }
        let (empty, flags) = (c"".as_ptr(), MOVE_MOUNT_F_EMPTY_PATH);
        libc::syscall(libc::SYS_move_mount, tree, empty, libc::AT_FDCWD, path.as_ptr(), flags) == 0
    }
}

/// Grants access to a file or to all below a directory.
unsafe fn allow_beneath(ruleset: c_int, path: &CStr, access: u64) -> bool {
    const LANDLOCK_RULE_PATH_BENEATH: c_int = 1;
    #[repr(C, packed)]
    struct PathBeneath {
        allowed_access: u64,
        parent: c_int,
    }
    // SAFETY: `rule` has the layout that the kernel expects.
    unsafe {
        let parent = libc::open(path.as_ptr(), libc::O_PATH | libc::O_CLOEXEC);
        let rule = PathBeneath { allowed_access: access, parent };
        let kind = LANDLOCK_RULE_PATH_BENEATH;
        libc::syscall(libc::SYS_landlock_add_rule, ruleset, kind, &raw const rule, 0) == 0
    }
}

unsafe fn errno() -> c_int {
    // SAFETY: the C library returns a valid pointer.
    unsafe { *libc::__errno_location() }
}

unsafe fn write_file(path: &CStr, text: &CStr) -> bool {
    // SAFETY: the strings are valid.
    unsafe {
        let file = libc::open(path.as_ptr(), libc::O_WRONLY | libc::O_CLOEXEC);
        let len = text.count_bytes();
        let written = libc::write(file, text.as_ptr().cast::<c_void>(), len);
        let error = errno();
        if file >= 0 {
            libc::close(file);
        }
        *libc::__errno_location() = error;
        written == len as isize
    }
}

/// Mounts of this namespace shall not show outside.
unsafe fn make_mounts_private() -> bool {
    // SAFETY: the strings are valid.
    unsafe {
        libc::mount(null(), c"/".as_ptr(), null(), libc::MS_REC | libc::MS_PRIVATE, null()) == 0
    }
}

/// Shows the processes of the namespace only. Where this is refused, the others are seen but out of
/// reach.
unsafe fn mount_proc() {
    let flags = libc::MS_NOSUID | libc::MS_NODEV | libc::MS_NOEXEC;
    // SAFETY: the strings are valid.
    unsafe { libc::mount(c"proc".as_ptr(), c"/proc".as_ptr(), c"proc".as_ptr(), flags, null()) };
}

/// Makes a mount (or all below it) read-only, or writable again.
unsafe fn set_mounts(path: &CStr, flags: c_int, read_only: bool) -> bool {
    #[repr(C)]
    struct MountAttributes {
        set: u64,
        clear: u64,
        propagation: u64,
        user_namespace: u64,
    }
    const MOUNT_ATTR_RDONLY: u64 = 1;
    let (set, clear) = if read_only { (MOUNT_ATTR_RDONLY, 0) } else { (0, MOUNT_ATTR_RDONLY) };
    let attributes = MountAttributes { set, clear, propagation: 0, user_namespace: 0 };
    let path: *const c_char = path.as_ptr();
    // SAFETY: the structure has the layout and size that the kernel expects.
    unsafe {
        let size = size_of::<MountAttributes>();
        libc::syscall(
            libc::SYS_mount_setattr,
            libc::AT_FDCWD,
            path,
            flags,
            &raw const attributes,
            size,
        ) == 0
    }
}

/// Root keeps its number and loses its power, also over what it executes.
unsafe fn drop_capabilities() {
    const LAST_CAPABILITY: c_int = 63;
    const NO_ROOT_LOCKED: c_int = 0b11;
    const VERSION_3: u32 = 0x2008_0522;
    let header = [VERSION_3, 0];
    let none = [0u32; 6];
    // SAFETY: `capset` takes a header of two words and, in this version, two times three words.
    unsafe {
        for capability in 0..=LAST_CAPABILITY {
            libc::prctl(libc::PR_CAPBSET_DROP, capability, 0, 0, 0);
        }
        libc::prctl(libc::PR_SET_SECUREBITS, NO_ROOT_LOCKED, 0, 0, 0);
        libc::syscall(libc::SYS_capset, header.as_ptr(), none.as_ptr());
    }
}

/// Closes all descriptors except those listed, which are in ascending order.
unsafe fn close_all_but(kept: &[c_int]) {
    let mut first = 0;
    // SAFETY: closing descriptors touches no memory; nothing in this copy uses the driver's.
    unsafe {
        for &keep in kept {
            if first < keep {
                libc::syscall(libc::SYS_close_range, first, keep - 1, 0);
            }
            first = keep + 1;
        }
        libc::syscall(libc::SYS_close_range, first, c_int::MAX, 0);
    }
}
