//! The fork server: stops the target at the start of `main`, then forks a child for each command of
//! the driver. A child that can take further inputs takes the commands for these, and reports,
//! itself ([`crate::batch`]), until it ends or leaves a command to the server.
//!
//! The code runs inside the target: it must not allocate, panic, or change anything that the
//! program could notice, except that it removes its own environment variable.

use crate::batch;
use crate::progress::SharedProgress;
use crate::supervise::{Clock, Limits, Run, is_waiting, now_us, receive, send};
use crate::sys::{self, Map};
use core::ffi::{CStr, c_int};
use core::ptr::null_mut;
use trace::server::{Command, DONE, ENDED, ENV, HELLO, Progress, Report};
use trace::{Header, SERVER_FDS};

/// Enters the fork server if the driver started this process, and returns in the child of each run
/// with the segment mapped, for as long as the process lives. Returns null if the program was
/// started without Tarragon. What all runs need alike, `prepare` does once, before the first.
///
/// # Safety
/// Must be called once, where runs begin: no other thread may need to go on in the runs, or change
/// the environment meanwhile. The descriptors of [`SERVER_FDS`] must be nobody else's.
pub unsafe fn serve(prepare: impl FnOnce(*mut Header)) -> *mut Header {
    // SAFETY: no other thread changes the environment.
    let Some(version) = (unsafe { take_version() }) else { return null_mut() };
    if version != Header::VERSION {
        greet();
        refuse(
            "tarragon: this program was built by another version of Tarragon than runs it; build \
             it again\n",
        );
    }
    let header = map_segment();
    if header.is_null() {
        refuse(
            "tarragon: the shared memory of the driver is not there; did the program close it \
             before main?\n",
        );
    }
    // SAFETY: the header is mapped, and the driver waits for the greeting.
    let input = unsafe {
        (*header).runtime_version = Header::VERSION;
        ((*header).input_device, (*header).input_inode)
    };
    let server = Server::new(input);
    prepare(header);
    if !greet() {
        refuse(
            "tarragon: the report pipe of the driver is not there; did the program close it \
             before main?\n",
        );
    }
    // SAFETY: no other thread needs to go on in the children.
    unsafe { server.run() };
    header
}

/// The greeting carries the runtime's version, so that a driver of another version can say so.
fn greet() -> bool {
    let hello = Report { kind: HELLO, detail: Header::VERSION, ..Report::default() };
    send(SERVER_FDS.reports, &hello)
}

/// The version that the driver speaks, 0 if it is not a number; `None` without a driver. The
/// program does not get to see it.
///
/// # Safety
/// No other thread may change the environment meanwhile.
unsafe fn take_version() -> Option<u32> {
    // SAFETY: `getenv` returns null or a string that stays until somebody changes the environment,
    // which happens here only once the string has been read.
    unsafe {
        let text = sys::getenv(ENV.as_ptr());
        if text.is_null() {
            return None;
        }
        let version = number(CStr::from_ptr(text).to_bytes());
        sys::unsetenv(ENV.as_ptr());
        Some(version)
    }
}

/// Of decimal digits; 0 if there is anything else.
fn number(digits: &[u8]) -> u32 {
    let mut number = 0u32;
    for byte in digits {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return 0;
        }
        number = number.wrapping_mul(10).wrapping_add(u32::from(digit));
    }
    number
}

/// Null if it is not there or not one of this version.
fn map_segment() -> *mut Header {
    let size = sys::stat(SERVER_FDS.segment).map_or(0, |stat| stat.size.max(0) as usize);
    if size < size_of::<Header>() {
        return null_mut();
    }
    let header = sys::map(Map::File(SERVER_FDS.segment), size).cast::<Header>();
    // SAFETY: the mapping is as large as the file, in which there is room for a header.
    let fits = !header.is_null()
        && unsafe { (*header).magic == Header::MAGIC && (*header).version == Header::VERSION };
    if fits { header } else { null_mut() }
}

/// What the server knows. Nothing is read from the segment once runs, which may scribble over it,
/// have begun.
struct Server {
    input_is_stdin: bool,
    /// Whether this process is the first of its pid namespace, so that `kill(-1)` reaches its
    /// descendants only.
    is_init: bool,
    /// What the program had set for `SIGCHLD` before `main`. The server itself needs the default.
    sigchld: sys::SigAction,
    /// Of the present run; `None` if there is no memory for it. Then no run takes several inputs.
    progress: Option<SharedProgress>,
}

/// The limits of whatever command a run is carrying out.
struct Latest(SharedProgress);

impl Clock for Latest {
    fn remaining_ms(&self, child: c_int) -> c_int {
        // While this process sleeps, the run may begin another command.
        const TICK: c_int = 4;
        let Progress { state, command, started_us, cpu_before_us, .. } = self.0.read();
        if state != Progress::RUNS {
            return TICK;
        }
        let left = Limits::of(&command, started_us, cpu_before_us).remaining_ms(child);
        if left < 0 { TICK } else { left.min(TICK) }
    }
}

impl Server {
    /// `input` is the device and inode of the file that holds the input.
    fn new(input: (u64, u64)) -> Server {
        let is_init = sys::getpid() == 1;
        if !is_init {
            // Killed at the driver's death, it could not end its descendants; it sees that death by
            // itself.
            sys::set_parent_death_signal(0);
            sys::become_subreaper();
        }
        Server {
            input_is_stdin: sys::stat(0).is_some_and(|stat| (stat.device, stat.inode) == input),
            is_init,
            // SAFETY: the default action calls no handler.
            sigchld: unsafe { sys::set_action_at(sys::SIGCHLD, &sys::SigAction::default()) },
            progress: SharedProgress::new(),
        }
    }

    /// Serves runs until the driver hangs up, which ends the process. Returns in the children only.
    ///
    /// # Safety
    /// As for [`serve`].
    unsafe fn run(&self) {
        loop {
            let Some(command) = receive(SERVER_FDS.commands) else { sys::_exit(0) };
            if self.input_is_stdin {
                sys::lseek(0, 0, 0);
            }
            let shared = self.progress.filter(|_| command.may_share == 1);
            // SAFETY: no other thread needs to go on in the child.
            let report = match unsafe { self.fork(&command, shared) } {
                0 => return,
                child if child > 0 => watch(child, &command, shared),
                _ => Some(Report {
                    kind: DONE,
                    detail: sys::errno() as u32,
                    number: command.number,
                    ..Report::default()
                }),
            };
            if report.is_some_and(|report| !send(SERVER_FDS.reports, &report)) {
                sys::_exit(0);
            }
        }
    }

    /// As `fork`; the child is ready to run, and may take several inputs if it has `shared`.
    ///
    /// # Safety
    /// As for [`serve`].
    unsafe fn fork(&self, command: &Command, shared: Option<SharedProgress>) -> c_int {
        if let Some(progress) = shared {
            progress.write(&Progress {
                state: Progress::RUNS,
                command: *command,
                started_us: now_us(),
                ..Progress::default()
            });
        }
        // SAFETY: the child has this thread only, and no other one needs to go on there.
        let child = unsafe { sys::fork() };
        if child == 0 {
            // SAFETY: this is the child, in which nothing else has run yet.
            unsafe {
                self.enter_run(shared.is_some());
                batch::enter(shared, self.input_is_stdin);
            }
        }
        child
    }

    /// Gives the child what `main` would have found without a server.
    ///
    /// # Safety
    /// The process must be a child that serves no runs itself.
    unsafe fn enter_run(&self, shares: bool) {
        // SAFETY: the child uses the segment through its mapping only, and the others not at all
        // unless it shares.
        unsafe { close_server_fds(shares) };
        sys::setpgid(0, 0);
        if !self.is_init {
            sys::set_parent_death_signal(sys::SIGKILL);
        }
        if !self.sigchld.is_default() {
            // SAFETY: the program itself chose this action for its process.
            unsafe { sys::set_action_at(sys::SIGCHLD, &self.sigchld) };
        }
    }
}

/// Waits for the end of a run. If it takes several inputs, it reports itself, as long as it lives:
/// then there is a report only if it ended while it was running. What it says about that is not
/// believed where the driver would wait for ever.
fn watch(child: c_int, command: &Command, shared: Option<SharedProgress>) -> Option<Report> {
    let run = Run::of(child);
    let start = now_us();
    let Some(progress) = shared else {
        let end = run.wait(&Limits::of(command, start, 0), SERVER_FDS.commands);
        let run_time_us = now_us().wrapping_sub(start);
        return Some(Report { run_time_us, number: command.number, ..run.conclude(&end) });
    };
    let end = run.wait(&Latest(progress), SERVER_FDS.commands);
    let now = now_us();
    let report = run.conclude(&end);
    let progress = progress.read();
    match progress.state {
        Progress::RUNS => Some(last_report(report, &progress, now)),
        _ if is_waiting(SERVER_FDS.commands) => None,
        _ => Some(Report { kind: ENDED, number: progress.command.number, ..Report::default() }),
    }
}

/// The report on the command that a process which takes several inputs was carrying out when it
/// ended.
fn last_report(report: Report, progress: &Progress, now: u64) -> Report {
    let run_time_us = now.saturating_sub(progress.started_us);
    let cpu_time_us = report.cpu_time_us.saturating_sub(progress.cpu_before_us);
    let (shared, number) = (u32::from(progress.inputs != 0), progress.command.number);
    Report { run_time_us, cpu_time_us, shared, number, ..report }
}

/// Closes the server's descriptors; a run that takes several inputs needs those to the driver
/// itself.
///
/// # Safety
/// This process must not use them afterwards.
unsafe fn close_server_fds(shares: bool) {
    // SAFETY: the caller gives them up.
    unsafe {
        sys::close(SERVER_FDS.segment);
        if !shares {
            sys::close(SERVER_FDS.commands);
            sys::close(SERVER_FDS.reports);
        }
    }
}

fn refuse(message: &str) -> ! {
    sys::complain(message);
    sys::_exit(2)
}
