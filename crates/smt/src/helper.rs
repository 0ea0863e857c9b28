//! A process of its own for work that may crash, hang or eat all memory: it costs the request at
//! hand and nothing else.
//!
//! The process is a fork of this one without a new program, because there may be no second program
//! to start: a library has no say in what its user installs. The child has one thread, closes what
//! it inherits but its end of a socket, and answers requests until that is closed. What it works
//! with must not be in use in this process: a lock held by another thread while it forks would
//! never be released in the child. Z3 is used in such children only.
//!
//! Nothing here knows Z3 or queries: a request and a reply are bytes.

use std::io::{self, Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Answers requests, in the child.
pub(crate) type Serve = Box<dyn FnMut(&[u8]) -> Vec<u8>>;

/// Why a request has no reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lost {
    /// No reply in time.
    Overrun,
    /// The process ended, or could not be started.
    Crash,
}

/// Starts the process when it is needed, and again after it was lost.
pub(crate) struct Helper {
    make: Box<dyn Fn() -> Serve>,
    process: Option<Process>,
    stop: Option<&'static AtomicBool>,
}

/// How long is waited for a reply between two looks at whether anybody still wants it.
const LOOK: Duration = Duration::from_millis(100);

/// Address space that a child may take beyond what it starts with.
const MEMORY: u64 = 4 << 30;
/// Longer replies are not believed.
const MAX_REPLY: usize = 64 << 20;

impl Helper {
    /// `make` is called in each new child. Once `stop` is set, no reply is waited for.
    pub(crate) fn new(
        stop: Option<&'static AtomicBool>,
        make: impl Fn() -> Serve + 'static,
    ) -> Helper {
        Helper { make: Box::new(make), process: None, stop }
    }

    /// The reply to a request. Without one the child is gone, and the next request goes to a new
    /// one.
    pub(crate) fn ask(&mut self, request: &[u8], limit: Duration) -> Result<Vec<u8>, Lost> {
        let alive = self.process.take().and_then(Process::if_alive);
        let mut process = match alive {
            Some(process) => process,
            None => Process::start(&*self.make, limit).map_err(|_| Lost::Crash)?,
        };
        let reply =
            process.exchange(request, Wait { until: Instant::now() + limit, stop: self.stop });
        if reply.is_ok() {
            self.process = Some(process);
        }
        reply
    }

    /// The child's process id, if there is a child.
    pub(crate) fn pid(&self) -> Option<u32> {
        self.process.as_ref().map(|process| process.pid as u32)
    }
}

struct Process {
    pid: libc::pid_t,
    /// It has ended, and its number may be another's.
    ended: bool,
    socket: UnixStream,
}

impl Process {
    fn start(make: &dyn Fn() -> Serve, limit: Duration) -> io::Result<Process> {
        let (ours, theirs) = UnixStream::pair()?;
        // SAFETY: the child runs `child` only, which does not return. It allocates, which the C
        // library allows after a fork of a process with several threads, and takes no lock that
        // another thread can have held (see the module).
        match unsafe { libc::fork() } {
            -1 => Err(io::Error::last_os_error()),
            0 => child(theirs, make, limit),
            pid => Ok(Process { pid, ended: false, socket: ours }),
        }
    }

    fn if_alive(mut self) -> Option<Process> {
        let mut status = 0;
        // SAFETY: the process is our child that was not waited for yet, and `status` outlives the
        // call.
        self.ended = unsafe { libc::waitpid(self.pid, &mut status, libc::WNOHANG) != 0 };
        (!self.ended).then_some(self)
    }

    fn exchange(&mut self, request: &[u8], wait: Wait) -> Result<Vec<u8>, Lost> {
        self.send(&(request.len() as u32).to_le_bytes(), wait)?;
        self.send(request, wait)?;
        let mut len = [0; 4];
        self.receive(&mut len, wait)?;
        let len = u32::from_le_bytes(len) as usize;
        if len > MAX_REPLY {
            return Err(Lost::Crash);
        }
        let mut reply = vec![0; len];
        self.receive(&mut reply, wait)?;
        Ok(reply)
    }

    fn send(&mut self, bytes: &[u8], wait: Wait) -> Result<(), Lost> {
        self.socket.set_write_timeout(Some(wait.left()?)).map_err(|_| Lost::Crash)?;
        self.socket.write_all(bytes).map_err(|error| lost(&error))
    }

    fn receive(&mut self, mut bytes: &mut [u8], wait: Wait) -> Result<(), Lost> {
        while !bytes.is_empty() {
            let left = wait.left()?.min(LOOK);
            self.socket.set_read_timeout(Some(left)).map_err(|_| Lost::Crash)?;
            match self.socket.read(bytes) {
                Ok(0) => return Err(Lost::Crash),
                Ok(count) => bytes = &mut bytes[count..],
                Err(error) if is_passing(&error) => {}
                Err(error) => return Err(lost(&error)),
            }
        }
        Ok(())
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if self.ended {
            return;
        }
        let mut status = 0;
        // SAFETY: the process is our child that was not waited for yet, and `status` outlives the
        // call.
        unsafe {
            libc::kill(self.pid, libc::SIGKILL);
            libc::waitpid(self.pid, &mut status, 0);
        }
    }
}

/// How long a reply is waited for.
#[derive(Clone, Copy)]
struct Wait {
    until: Instant,
    stop: Option<&'static AtomicBool>,
}

impl Wait {
    fn left(self) -> Result<Duration, Lost> {
        let left = self.until.saturating_duration_since(Instant::now());
        let is_stopped = self.stop.is_some_and(|stop| stop.load(Ordering::Relaxed));
        if left.is_zero() || is_stopped { Err(Lost::Overrun) } else { Ok(left) }
    }
}

/// A look at the time, or a signal.
fn is_passing(error: &io::Error) -> bool {
    use io::ErrorKind::{Interrupted, TimedOut, WouldBlock};
    matches!(error.kind(), Interrupted | TimedOut | WouldBlock)
}

fn lost(error: &io::Error) -> Lost {
    match error.kind() {
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => Lost::Overrun,
        _ => Lost::Crash,
    }
}

/// What the child does.
fn child(mut socket: UnixStream, make: &dyn Fn() -> Serve, limit: Duration) -> ! {
    leave_parent(&socket);
    let _ = catch_unwind(AssertUnwindSafe(|| {
        let mut serve = make();
        while let Ok(request) = read_frame(&mut socket) {
            set_alarm(limit);
            let reply = serve(&request);
            let sent = socket.write_all(&(reply.len() as u32).to_le_bytes());
            if sent.and_then(|()| socket.write_all(&reply)).is_err() {
                break;
            }
        }
    }));
    // SAFETY: ends the process without running what the parent registered for its own end.
    unsafe { libc::_exit(0) }
}

fn read_frame(socket: &mut UnixStream) -> io::Result<Vec<u8>> {
    let mut len = [0; 4];
    socket.read_exact(&mut len)?;
    let mut frame = vec![0; u32::from_le_bytes(len) as usize];
    socket.read_exact(&mut frame)?;
    Ok(frame)
}

/// Ends the child some time after the parent stops waiting, should the parent be gone by then.
fn set_alarm(limit: Duration) {
    // SAFETY: the call has no requirements; its signal ends the process.
    unsafe { libc::alarm(limit.as_secs() as u32 + 2) };
}

/// Drops what the child should not share with the parent: descriptors, the terminal, signal
/// handlers; and limits its memory.
fn leave_parent(socket: &UnixStream) {
    let keep = socket.as_raw_fd() as u32;
    let pages = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages: u64 = pages.split(' ').next().and_then(|word| word.parse().ok()).unwrap_or(0);
    // SAFETY: the child owns no descriptor but its socket that it uses again, and the calls take
    // plain numbers and a structure that lives long enough.
    unsafe {
        for signal in [libc::SIGALRM, libc::SIGTERM] {
            libc::signal(signal, libc::SIG_DFL);
        }
        // Ctrl-C is for the parent, which ends its children.
        libc::signal(libc::SIGINT, libc::SIG_IGN);
        let null = libc::open(c"/dev/null".as_ptr(), libc::O_RDWR);
        for descriptor in 0..3 {
            libc::dup2(null, descriptor);
        }
        if keep > 3 {
            libc::syscall(libc::SYS_close_range, 3u32, keep - 1, 0u32);
        }
        libc::syscall(libc::SYS_close_range, keep.max(2) + 1, u32::MAX, 0u32);
        let limit =
            pages.saturating_mul(libc::sysconf(libc::_SC_PAGESIZE) as u64).saturating_add(MEMORY);
        let limit = libc::rlimit { rlim_cur: limit, rlim_max: limit };
        libc::setrlimit(libc::RLIMIT_AS, &limit);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_secs(20);

    /// Does what the request says, and counts requests.
    fn helper() -> Helper {
        Helper::new(None, || {
            let mut count = 0u8;
            Box::new(move |request| {
                count += 1;
                match request {
                    b"hang" => std::thread::sleep(LONG),
                    b"abort" => std::process::abort(),
                    b"panic" => panic!("asked for"),
                    _ => {}
                }
                [request, &[count]].concat()
            })
        })
    }

    #[test]
    fn requests_are_answered_by_one_process() {
        let mut helper = helper();
        assert_eq!(helper.ask(b"a", LONG), Ok(b"a\x01".to_vec()));
        let long = vec![7; 3 << 20];
        assert_eq!(helper.ask(&long, LONG).map(|reply| reply.len()), Ok(long.len() + 1));
        assert_eq!(helper.ask(b"a", LONG), Ok(b"a\x03".to_vec()));
    }

    #[test]
    fn nobody_waits_for_a_reply_after_an_interrupt() {
        static STOP: AtomicBool = AtomicBool::new(false);
        let serve = || -> Serve {
            Box::new(|_| {
                STOP.store(true, Ordering::Relaxed);
                std::thread::sleep(LONG);
                Vec::new()
            })
        };
        let mut helper = Helper::new(Some(&STOP), serve);
        // The child has a flag of its own: it is a fork.
        let setter = std::thread::spawn(|| STOP.store(true, Ordering::Relaxed));
        assert_eq!(helper.ask(b"a", LONG * 100), Err(Lost::Overrun));
        assert_eq!(helper.pid(), None);
        setter.join().expect("it does not panic");
    }

    #[test]
    fn a_hang_or_a_crash_costs_one_request() {
        let mut helper = helper();
        for (request, limit, lost) in [
            (&b"hang"[..], Duration::from_millis(100), Lost::Overrun),
            (b"abort", LONG, Lost::Crash),
            (b"panic", LONG, Lost::Crash),
        ] {
            assert_eq!(helper.ask(request, limit), Err(lost));
            assert_eq!(helper.pid(), None);
            assert_eq!(helper.ask(b"b", LONG), Ok(b"b\x01".to_vec()));
        }
    }
}
