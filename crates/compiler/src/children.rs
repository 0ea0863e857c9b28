//! Compilers and instrumenters that work for this process, and what becomes of them when the user
//! has had enough: they are killed, with what they started themselves.
//!
//! A compiler that Tarragon stands in for (`tarragon cc`) gets the terminal's signals itself, as
//! clang would. So nothing is different there.

use std::io::{self, Read};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Output, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

/// Signals are the process's, so this is, too.
static STOP: OnceLock<&'static AtomicBool> = OnceLock::new();

/// How long a child is left alone between two looks at the flag.
const LOOK: Duration = Duration::from_millis(20);

/// Ends all children, and starts no more, once this is set.
pub fn end_children_with(stop: &'static AtomicBool) {
    // Whoever said so first has said it for the process.
    let _ = STOP.set(stop);
}

pub(crate) fn is_interrupted() -> bool {
    STOP.get().is_some_and(|stop| stop.load(Ordering::Relaxed))
}

pub(crate) fn interrupted() -> io::Error {
    io::Error::other("interrupted")
}

/// As `Command::output`.
pub(crate) fn output(command: &mut Command) -> io::Result<Output> {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    finish(start(command)?)
}

/// As `Command::spawn`.
pub(crate) fn start(command: &mut Command) -> io::Result<Child> {
    if is_interrupted() {
        return Err(interrupted());
    }
    if STOP.get().is_some() {
        // A group of its own, so that what it starts is ended with it.
        command.process_group(0);
    }
    command.spawn()
}

/// As `Child::wait_with_output`.
pub(crate) fn finish(mut child: Child) -> io::Result<Output> {
    if STOP.get().is_none() {
        return child.wait_with_output();
    }
    let (stdout, stderr) = (reader(child.stdout.take()), reader(child.stderr.take()));
    let mut look = Duration::from_millis(1);
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        if is_interrupted() {
            end(&mut child)?;
            return Err(interrupted());
        }
        std::thread::sleep(look);
        look = (look * 2).min(LOOK);
    };
    Ok(Output { status, stdout: read(stdout), stderr: read(stderr) })
}

fn end(child: &mut Child) -> io::Result<()> {
    let group = rustix::process::Pid::from_child(child);
    let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
    child.wait().map(drop)
}

/// Reads along, because a full pipe would stop the child.
fn reader(pipe: Option<impl Read + Send + 'static>) -> Option<JoinHandle<Vec<u8>>> {
    let mut pipe = pipe?;
    Some(std::thread::spawn(move || {
        let mut bytes = Vec::new();
        // What cannot be read is lost, and the child's status says how it went.
        let _ = pipe.read_to_end(&mut bytes);
        bytes
    }))
}

fn read(reader: Option<JoinHandle<Vec<u8>>>) -> Vec<u8> {
    reader.and_then(|reader| reader.join().ok()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The flag is the process's, so that all of it is one test.
    #[test]
    fn children_end_with_what_they_started() {
        static FLAG: AtomicBool = AtomicBool::new(false);
        let shell = |text: &str| {
            let mut command = Command::new("sh");
            command.args(["-c", text]);
            command
        };
        let before = output(&mut shell("echo one; echo two >&2; exit 3")).unwrap();
        end_children_with(&FLAG);
        let after = output(&mut shell("echo one; echo two >&2; exit 3")).unwrap();
        assert_eq!(before, after);
        let long = output(&mut shell("head -c 1000000 /dev/zero")).unwrap();
        assert_eq!(long.stdout.len(), 1_000_000);
        // The grandchild keeps the pipe open: whoever waits for its end waits for ever.
        let folder = tempfile::tempdir().unwrap();
        let mark = folder.path().join("started");
        let text = format!("(touch {}; sleep 1000) & wait", mark.display());
        let waiting = std::thread::spawn(move || output(&mut shell(&text)));
        while !mark.exists() {
            std::thread::sleep(LOOK);
        }
        FLAG.store(true, Ordering::Relaxed);
        assert_eq!(waiting.join().unwrap().unwrap_err().to_string(), "interrupted");
        assert_eq!(output(&mut shell("true")).unwrap_err().to_string(), "interrupted");
    }
}
