//! Standard output, and what ends it early: a closed pipe or Ctrl-C.

use serde_json::Value;
use std::io::{self, BufWriter, StdoutLock, Write};
use std::sync::atomic::{AtomicBool, Ordering};

/// The exit code after Ctrl-C.
pub const INTERRUPTED: u8 = 130;

static STOP: AtomicBool = AtomicBool::new(false);

extern "C" fn on_interrupt(_: libc::c_int) {
    STOP.store(true, Ordering::Relaxed);
}

/// The process ends here, since the operation does not ask `interrupted`.
extern "C" fn on_interrupt_end(_: libc::c_int) {
    const MESSAGE: &[u8] = b"interrupted\n";
    // SAFETY: both calls are allowed in signal handlers; the message is a constant of that length.
    unsafe {
        libc::write(libc::STDERR_FILENO, MESSAGE.as_ptr().cast(), MESSAGE.len());
        libc::_exit(INTERRUPTED.into());
    }
}

/// Ctrl-C ends the process with a message, until `watch_interrupt`.
pub fn end_on_interrupt() {
    handle_interrupt(on_interrupt_end);
}

/// For operations that ask `interrupted` from here on: the first Ctrl-C asks them to stop, the
/// second ends the process.
pub fn watch_interrupt() {
    handle_interrupt(on_interrupt);
}

fn handle_interrupt(handler: extern "C" fn(libc::c_int)) {
    // SAFETY: the handlers are safe to run at any time; the structure is zeroed, which is a valid
    // sigaction.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = handler as *const () as usize;
        action.sa_flags = libc::SA_RESETHAND;
        libc::sigaction(libc::SIGINT, &action, std::ptr::null_mut());
    }
}

pub fn interrupted() -> bool {
    STOP.load(Ordering::Relaxed)
}

pub fn is_closed_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|e| {
        e.downcast_ref::<io::Error>().is_some_and(|e| e.kind() == io::ErrorKind::BrokenPipe)
    })
}

/// How strings are written.
#[derive(clap::Args, Clone, Copy, Debug)]
pub struct StringArgs {
    /// End strings with NUL instead of a line end
    #[arg(short = '0', long = "null", conflicts_with = "json")]
    nul: bool,
    /// Write each string as JSON on a line of its own; one that is not UTF-8 as the list of its
    /// bytes
    #[arg(long)]
    pub json: bool,
}

/// Strings one a line, NUL-separated, or in JSON.
pub struct Strings {
    out: BufWriter<StdoutLock<'static>>,
    how: StringArgs,
}

impl Strings {
    pub fn new(how: StringArgs) -> Strings {
        let out = BufWriter::with_capacity(1 << 16, io::stdout().lock());
        Strings { out, how }
    }

    pub fn write(&mut self, text: &[u8]) -> io::Result<()> {
        if self.how.json {
            serde_json::to_writer(&mut self.out, &in_json(text))?;
        } else {
            self.out.write_all(text)?;
        }
        self.out.write_all(if self.how.nul { &[0] } else { b"\n" })
    }

    pub fn finish(mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// A string, or the list of its bytes.
pub fn in_json(text: &[u8]) -> Value {
    std::str::from_utf8(text).map_or_else(|_| text.into(), Value::from)
}
