//! The fork server: stops the target at the start of `main`, then runs a forked child for each command of
//! the driver. A child that can take another input, because the program has a loop for that, is given those that
//! may share a process ([`batch`](crate::batch) is its side of this).
//!
//! The code runs inside the target: it must not allocate, panic, or change anything that the program could
//! notice, except that it removes its own environment variable.

use crate::supervise::{Limits, NO_CHANNEL, Run, end_waiting, watch};
use crate::{batch, sys};
use core::ffi::{c_int, c_void};
use core::ptr::null_mut;
use trace::server::{Command, DONE, ENV, HELLO, Report};
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
            send(&hello());
            refuse(b"tarragon: this program was built by another version of Tarragon than runs it; build it again\n");
        }
        let header = map_segment();
        if header.is_null() {
            refuse(b"tarragon: the shared memory of the driver is not there; did the program close it before main?\n");
        }
        (*header).runtime_version = Header::VERSION;
        let mut server = Server::new(header);
        prepare(header);
        if !send(&hello()) {
            refuse(b"tarragon: the report pipe of the driver is not there; did the program close it before main?\n");
        }
        server.run();
        header
    }
}

/// The greeting; it carries the runtime's version, so that a driver of another version can say so.
fn hello() -> Report {
    Report { kind: HELLO, detail: Header::VERSION, ..Report::default() }
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
    waiting: Option<Waiting>,
}

/// A child that is done with its inputs so far and waits for another at its end of the channel.
#[derive(Clone, Copy)]
struct Waiting {
    run: Run,
    /// How many inputs it has had.
    inputs: u32,
    /// Its processor time so far.
    cpu_time_us: u64,
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
            Server { input_is_stdin, is_init, sigchld, waiting: None }
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
                let report = match self.wake(&command) {
                    Some(waiting) => self.watch(waiting, &command),
                    None => match self.fork(&command) {
                        0 => return,
                        child if child > 0 => {
                            let run = Run::of(child);
                            self.watch(Waiting { run, inputs: 0, cpu_time_us: 0 }, &command)
                        }
                        _ => Report { kind: DONE, detail: sys::errno() as u32, ..Report::default() },
                    },
                };
                if !send(&report) {
                    sys::_exit(0);
                }
            }
        }
    }

    /// Gives the command to the child that waits, if the run may share its process; otherwise ends it.
    unsafe fn wake(&mut self, command: &Command) -> Option<Waiting> {
        let waiting = self.waiting.take()?;
        let len = size_of::<Command>();
        // SAFETY: the command has `len` bytes; the child is ours.
        unsafe {
            let bytes = (&raw const *command).cast::<c_void>();
            let channel = SERVER_FDS.batch_server;
            if command.may_share == 1 && sys::send(channel, bytes, len, sys::MSG_NOSIGNAL) == len as isize {
                return Some(waiting);
            }
            end_waiting(&waiting.run);
            sys::close(channel);
        }
        None
    }

    /// As `fork`; the child is ready to run.
    unsafe fn fork(&self, command: &Command) -> c_int {
        // SAFETY: see `run`.
        unsafe {
            let shares = command.may_share == 1 && open_channel();
            let child = sys::fork();
            if child == 0 {
                self.enter_run();
                batch::enter(shares);
            } else if shares {
                sys::close(SERVER_FDS.batch);
            }
            child
        }
    }

    unsafe fn watch(&mut self, child: Waiting, command: &Command) -> Report {
        let Waiting { run, inputs, cpu_time_us: before } = child;
        let channel = if command.may_share == 1 { SERVER_FDS.batch_server } else { NO_CHANNEL };
        // SAFETY: the child is ours, and it is the only one.
        let (mut report, waits) = unsafe {
            let limits = Limits::within(command.timeout_ms, command.cpu_us, before);
            watch(&run, limits, SERVER_FDS.commands, channel)
        };
        report.shared = u32::from(waits || inputs != 0);
        let cpu_time_us = report.cpu_time_us;
        report.cpu_time_us = cpu_time_us.saturating_sub(before);
        if waits {
            self.waiting = Some(Waiting { run, inputs: inputs.wrapping_add(1), cpu_time_us });
            return report;
        }
        // SAFETY: the descriptors are the server's own, and the run has ended.
        unsafe {
            run.close();
            if channel != NO_CHANNEL {
                sys::close(channel);
            }
        }
        report
    }

    /// Gives the child what `main` would have found without a server.
    unsafe fn enter_run(&self) {
        // SAFETY: the descriptors are the server's own; the action is the one that was read.
        unsafe {
            close_server_fds();
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

/// Makes the channel between the server and its next child, at its fixed descriptors.
unsafe fn open_channel() -> bool {
    let mut ends = [-1; 2];
    // SAFETY: there is room for two descriptors; those replaced are the server's own.
    unsafe {
        if sys::socketpair(sys::AF_UNIX, sys::SOCK_SEQPACKET, 0, ends.as_mut_ptr()) != 0 {
            return false;
        }
        let [run, server] = ends;
        let placed = sys::dup2(run, SERVER_FDS.batch) >= 0 && sys::dup2(server, SERVER_FDS.batch_server) >= 0;
        sys::close(run);
        sys::close(server);
        placed
    }
}

unsafe fn close_server_fds() {
    let (first, last) = (SERVER_FDS.segment, SERVER_FDS.reports);
    // SAFETY: closing descriptors touches no memory.
    unsafe {
        if sys::syscall(sys::SYS_CLOSE_RANGE, first, last, 0) != 0 {
            sys::close(SERVER_FDS.segment);
            sys::close(SERVER_FDS.commands);
            sys::close(SERVER_FDS.reports);
        }
        sys::close(SERVER_FDS.batch_server);
    }
}

/// The next command; `None` once the other side is gone.
pub unsafe fn receive(from: c_int) -> Option<Command> {
    let mut command = Command { timeout_ms: 0, cpu_us: 0, may_share: 0 };
    let len = size_of::<Command>();
    // SAFETY: `command` has room for `len` bytes, and any bytes are a valid `Command`.
    unsafe {
        loop {
            let got = sys::read(from, (&raw mut command).cast::<c_void>(), len);
            if got == len as isize {
                return Some(command);
            }
            if got >= 0 || sys::errno() != sys::EINTR {
                return None;
            }
        }
    }
}

unsafe fn send(report: &Report) -> bool {
    let len = size_of::<Report>();
    // SAFETY: `report` has `len` initialised bytes: its layout has no padding.
    unsafe {
        loop {
            let sent = sys::write(SERVER_FDS.reports, (&raw const *report).cast::<c_void>(), len);
            if sent >= 0 || sys::errno() != sys::EINTR {
                return sent == len as isize;
            }
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
