//! The fork server: stops the target at the start of `main`, then forks a child for each command of the driver. A child that can take
//! further inputs takes the commands for these, and reports, itself ([`crate::batch`]), until it ends or leaves a command to
//! the server.
//!
//! The code runs inside the target: it must not allocate, panic, or change anything that the program could
//! notice, except that it removes its own environment variable.

use crate::supervise::{Clock, Limits, Run, conclude, is_waiting, now_us, receive, send, wait_for_end};
use crate::{batch, sys};
use core::ffi::{c_int, c_void};
use core::ptr::null_mut;
use trace::server::{Command, DONE, ENDED, ENV, HELLO, Progress, Report};
use trace::{Header, SERVER_FDS};

/// Enters the fork server if the driver started this process, and returns in the child of each run with the
/// segment mapped. Returns null if the program was started without Tarragon. What all runs need alike, `prepare`
/// does once, before the first.
///
/// # Safety
/// Must be called once, at the start of `main`, on the main thread.
pub unsafe fn serve(prepare: impl FnOnce(*mut Header)) -> *mut Header {
    // SAFETY: the variable's value is a C string; the mapping that `map_segment` returns is never unmapped.
    unsafe {
        let Some(version) = announced_version() else { return null_mut() };
        sys::unsetenv(ENV.as_ptr());
        if version != Header::VERSION {
            greet();
            refuse(b"tarragon: this program was built by another version of Tarragon than runs it; build it again\n");
        }
        let header = map_segment();
        if header.is_null() {
            refuse(b"tarragon: the shared memory of the driver is not there; did the program close it before main?\n");
        }
        (*header).runtime_version = Header::VERSION;
        let mut server = Server::new(header);
        prepare(header);
        if !greet() {
            refuse(b"tarragon: the report pipe of the driver is not there; did the program close it before main?\n");
        }
        server.run();
        header
    }
}

/// The greeting carries the runtime's version, so that a driver of another version can say so.
unsafe fn greet() -> bool {
    let hello = Report { kind: HELLO, detail: Header::VERSION, ..Report::default() };
    // SAFETY: a report has no padding.
    unsafe { send(SERVER_FDS.reports, &hello) }
}

/// The version that the driver speaks, 0 if it is not a number; `None` without a driver.
unsafe fn announced_version() -> Option<u32> {
    // SAFETY: `getenv` returns null or a string that ends with a zero byte.
    unsafe {
        let mut text = sys::getenv(ENV.as_ptr()).cast::<u8>().cast_const();
        if text.is_null() {
            return None;
        }
        let mut version = 0u32;
        while *text != 0 {
            let digit = (*text).wrapping_sub(b'0');
            if digit > 9 {
                return Some(0);
            }
            version = version.wrapping_mul(10).wrapping_add(u32::from(digit));
            text = text.add(1);
        }
        Some(version)
    }
}

unsafe fn map_segment() -> *mut Header {
    // SAFETY: the mapping is new memory; the header is only looked at if the file is large enough for it.
    unsafe {
        let mut stat = sys::Stat::default();
        if sys::fstat(SERVER_FDS.segment, &mut stat) != 0 || stat.size < size_of::<Header>() as i64 {
            return null_mut();
        }
        let (prot, flags) = (sys::PROT_READ_WRITE, sys::MAP_SHARED);
        let memory = sys::mmap(null_mut(), stat.size as usize, prot, flags, SERVER_FDS.segment, 0);
        if memory as isize == -1 {
            return null_mut();
        }
        let header = memory.cast::<Header>();
        let fits = (*header).magic == Header::MAGIC && (*header).version == Header::VERSION;
        if fits { header } else { null_mut() }
    }
}

/// What the server knows. Nothing is read from the segment once runs, which may scribble over it, have begun.
struct Server {
    input_is_stdin: bool,
    /// Whether this process is the first of its pid namespace, so that `kill(-1)` reaches its descendants only.
    is_init: bool,
    /// What the program had set for `SIGCHLD` before `main`. The server itself needs the default.
    sigchld: sys::SigAction,
    /// Of the present run; null if there is no memory for it. Then no run takes several inputs.
    progress: *mut Progress,
}

/// The limits of whatever command a run is carrying out.
struct Latest(*const Progress);

impl Clock for Latest {
    unsafe fn remaining_ms(&self, child: c_int) -> c_int {
        // While this process sleeps, the run may begin another command.
        const TICK: c_int = 4;
        // SAFETY: the memory is there; the run may write to it at any time.
        unsafe {
            let Progress { state, command, started_us, cpu_before_us, .. } = self.0.read_volatile();
            if state != Progress::RUNS {
                return TICK;
            }
            let left = Limits::of(&command, started_us, cpu_before_us).remaining_ms(child);
            if left < 0 { TICK } else { left.min(TICK) }
        }
    }
}

impl Server {
    unsafe fn new(header: *const Header) -> Server {
        // SAFETY: `header` is mapped; the structures are valid for the calls.
        unsafe {
            let mut stdin = sys::Stat::default();
            let input_is_stdin = sys::fstat(0, &mut stdin) == 0
                && stdin.device == (*header).input_device
                && stdin.inode == (*header).input_inode;
            let is_init = sys::getpid() == 1;
            if !is_init {
                // Killed at the driver's death, it could not end its descendants; it sees that death by itself.
                sys::prctl(sys::PR_SET_PDEATHSIG, 0usize, 0usize, 0usize, 0usize);
                sys::prctl(sys::PR_SET_CHILD_SUBREAPER, 1usize, 0usize, 0usize, 0usize);
            }
            let mut sigchld = sys::SigAction::default();
            sys::sigaction(sys::SIGCHLD, &sys::SigAction::default(), &mut sigchld);
            Server { input_is_stdin, is_init, sigchld, progress: shared_memory().cast() }
        }
    }

    /// Serves runs until the driver hangs up, which ends the process. Returns in the children only.
    unsafe fn run(&mut self) {
        // SAFETY: `fork` at the start of `main` copies the one thread that runs this.
        unsafe {
            loop {
                let Some(command) = receive(SERVER_FDS.commands) else { sys::_exit(0) };
                if self.input_is_stdin {
                    sys::lseek(0, 0, 0);
                }
                let number = command.number;
                let shares = command.may_share == 1 && !self.progress.is_null();
                let report = match self.fork(&command, shares) {
                    0 => return,
                    child if child > 0 => self.watch(child, &command, shares),
                    _ => {
                        Some(Report { kind: DONE, detail: sys::errno() as u32, number, ..Report::default() })
                    }
                };
                if report.is_some_and(|report| !send(SERVER_FDS.reports, &report)) {
                    sys::_exit(0);
                }
            }
        }
    }

    /// As `fork`; the child is ready to run.
    unsafe fn fork(&self, command: &Command, shares: bool) -> c_int {
        // SAFETY: see `run`.
        unsafe {
            if shares {
                self.progress.write(Progress {
                    state: Progress::RUNS,
                    command: *command,
                    started_us: now_us(),
                    ..Progress::default()
                });
            }
            let child = sys::fork();
            if child == 0 {
                self.enter_run(shares);
                batch::enter(if shares { self.progress } else { null_mut() }, self.input_is_stdin);
            }
            child
        }
    }

    /// Waits for the end of a run. If it takes several inputs, it reports itself, as long as it lives: then there is a report only
    /// if it ended while it was running. What it says about that is not believed where the driver would wait for ever.
    unsafe fn watch(&mut self, child: c_int, command: &Command, shares: bool) -> Option<Report> {
        // SAFETY: the child is ours, and it is the only one; the descriptors are the server's own.
        unsafe {
            let run = Run::of(child);
            let start = now_us();
            if !shares {
                let end = wait_for_end(&run, &Limits::of(command, start, 0), SERVER_FDS.commands);
                let run_time_us = now_us().wrapping_sub(start);
                let report = Report { run_time_us, number: command.number, ..conclude(&run, &end) };
                run.close();
                return Some(report);
            }
            let end = wait_for_end(&run, &Latest(self.progress), SERVER_FDS.commands);
            let now = now_us();
            let report = conclude(&run, &end);
            run.close();
            let progress = self.progress.read_volatile();
            match progress.state {
                Progress::RUNS => Some(last_report(report, &progress, now)),
                _ if is_waiting(SERVER_FDS.commands) => None,
                _ => Some(Report { kind: ENDED, number: progress.command.number, ..Report::default() }),
            }
        }
    }

    /// Gives the child what `main` would have found without a server.
    unsafe fn enter_run(&self, shares: bool) {
        // SAFETY: the descriptors are the server's own; the action is the one that was read.
        unsafe {
            close_server_fds(shares);
            sys::setpgid(0, 0);
            if !self.is_init {
                sys::prctl(sys::PR_SET_PDEATHSIG, sys::SIGKILL as usize, 0usize, 0usize, 0usize);
            }
            if self.sigchld.handler != 0 {
                sys::sigaction(sys::SIGCHLD, &self.sigchld, null_mut());
            }
        }
    }
}

/// The report on the command that a process which takes several inputs was carrying out when it ended.
fn last_report(report: Report, progress: &Progress, now: u64) -> Report {
    let run_time_us = now.saturating_sub(progress.started_us);
    let cpu_time_us = report.cpu_time_us.saturating_sub(progress.cpu_before_us);
    let (shared, number) = (u32::from(progress.inputs != 0), progress.command.number);
    Report { run_time_us, cpu_time_us, shared, number, ..report }
}

/// Memory that children share; null if there is none.
unsafe fn shared_memory() -> *mut c_void {
    let flags = sys::MAP_SHARED | sys::MAP_ANONYMOUS;
    // SAFETY: a new mapping disturbs nothing.
    let memory = unsafe { sys::mmap(null_mut(), size_of::<Progress>(), sys::PROT_READ_WRITE, flags, -1, 0) };
    if memory as isize == -1 { null_mut() } else { memory }
}

/// Closes the server's descriptors; a run that takes several inputs needs those to the driver itself.
unsafe fn close_server_fds(shares: bool) {
    // SAFETY: closing descriptors touches no memory.
    unsafe {
        sys::close(SERVER_FDS.segment);
        if !shares {
            sys::close(SERVER_FDS.commands);
            sys::close(SERVER_FDS.reports);
        }
    }
}

unsafe fn refuse(message: &[u8]) -> ! {
    // SAFETY: the message is valid memory of that length.
    unsafe {
        sys::write(2, message.as_ptr().cast::<c_void>(), message.len());
        sys::_exit(2)
    }
}
