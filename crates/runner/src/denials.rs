//! What the sandbox denies to a program: one run whose system calls are followed.

use crate::error::RunnerError;
use crate::launch::{Launched, Supervision};
use crate::line::Line;
use crate::options::TargetOptions;
use crate::stage::Stage;
use rustix::fs::{Access, access};
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fmt;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// A system call that can be denied.
pub(crate) struct Call {
    pub number: u64,
    pub name: &'static str,
    /// Which argument is a path, if any is.
    pub path: Option<usize>,
}

const fn call(number: i64, name: &'static str, path: Option<usize>) -> Call {
    Call { number: number as u64, name, path }
}

pub(crate) const CALLS: &[Call] = &[
    call(libc::SYS_open, "open", Some(0)),
    call(libc::SYS_openat, "open", Some(1)),
    call(libc::SYS_creat, "creat", Some(0)),
    call(libc::SYS_execve, "execve", Some(0)),
    call(libc::SYS_mkdir, "mkdir", Some(0)),
    call(libc::SYS_mkdirat, "mkdir", Some(1)),
    call(libc::SYS_rmdir, "rmdir", Some(0)),
    call(libc::SYS_unlink, "unlink", Some(0)),
    call(libc::SYS_unlinkat, "unlink", Some(1)),
    call(libc::SYS_rename, "rename", Some(0)),
    call(libc::SYS_renameat, "rename", Some(1)),
    call(libc::SYS_renameat2, "rename", Some(1)),
    call(libc::SYS_link, "link", Some(1)),
    call(libc::SYS_symlink, "symlink", Some(1)),
    call(libc::SYS_symlinkat, "symlink", Some(2)),
    call(libc::SYS_truncate, "truncate", Some(0)),
    call(libc::SYS_chmod, "chmod", Some(0)),
    call(libc::SYS_fchmodat, "chmod", Some(1)),
    call(libc::SYS_chown, "chown", Some(0)),
    call(libc::SYS_mknod, "mknod", Some(0)),
    call(libc::SYS_mknodat, "mknod", Some(1)),
    call(libc::SYS_utimensat, "utimensat", Some(1)),
    call(libc::SYS_socket, "socket", None),
    call(libc::SYS_mount, "mount", None),
    call(libc::SYS_unshare, "unshare", None),
    call(libc::SYS_setuid, "setuid", None),
];

pub(crate) const MAX_PATH: usize = 256;

/// From the process that follows the calls to the driver.
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct Message {
    /// Index in [`CALLS`].
    pub call: u32,
    /// Ends with zeros.
    pub path: [u8; MAX_PATH],
}

/// Calls of one kind on one path that were denied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Denial {
    pub call: &'static str,
    /// Empty for calls without one.
    pub path: PathBuf,
    pub count: u64,
}

impl fmt::Display for Denial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Denial { call, path, count } = self;
        let times = if *count == 1 { "once".to_owned() } else { format!("{count} times") };
        match path.as_os_str().is_empty() {
            true => write!(f, "{call} ({times})"),
            false => write!(f, "{call} {} ({times})", path.display()),
        }
    }
}

/// What is denied to a program on this input, and would not be outside of the sandbox, in the order
/// of calls and paths.
pub fn denials(options: TargetOptions, input: &[u8]) -> Result<Vec<Denial>, RunnerError> {
    const MAX_MESSAGES: usize = 100_000;
    const GRACE: Duration = Duration::from_secs(2);
    let mut stage = Stage::set(TargetOptions { may_trace_itself: true, ..options })?;
    stage.prepare(input)?;
    let (mut line, far) = Line::new(stage.options.stop)?;
    let timeout_ms = stage.timeout_ms();
    let launched = stage.launch(far.pipes(), Supervision::Watched { timeout_ms })?;
    drop(far);
    let Launched { process, scratch, .. } = launched;
    let end = Instant::now() + Duration::from_millis(timeout_ms.into()) + GRACE;
    let mut counts: BTreeMap<(&'static str, PathBuf), u64> = BTreeMap::new();
    for _ in 0..MAX_MESSAGES {
        let left = end.saturating_duration_since(Instant::now()).max(Duration::from_millis(1));
        let Some(denied) =
            line.receive_bytes::<{ size_of::<Message>() }>(left).map(|bytes| read(&bytes))
        else {
            break;
        };
        if let Some(denied) = denied {
            *counts.entry(denied).or_default() += 1;
        }
    }
    line.hang_up();
    drop(process);
    scratch.clean()?;
    let all = counts.into_iter().map(|((call, path), count)| Denial { call, path, count });
    Ok(all.filter(|denial| is_allowed_outside(&denial.path)).collect())
}

fn read(bytes: &[u8; size_of::<Message>()]) -> Option<(&'static str, PathBuf)> {
    let (number, path) = bytes.split_first_chunk()?;
    let call = CALLS.get(u32::from_ne_bytes(*number) as usize)?;
    let end = memchr::memchr(0, path)?;
    Some((call.name, PathBuf::from(OsStr::from_bytes(&path[..end]))))
}

/// Whether the driver's user may do something with a file. What is denied to both is not the
/// sandbox's doing.
fn is_allowed_outside(path: &Path) -> bool {
    match path.symlink_metadata() {
        _ if !path.is_absolute() => true,
        Ok(_) => access(path, Access::READ_OK).is_ok() || access(path, Access::WRITE_OK).is_ok(),
        Err(_) => path.parent().is_some_and(|parent| access(parent, Access::WRITE_OK).is_ok()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_that_are_nonsense_are_dropped() {
        let mut bytes = [0; size_of::<Message>()];
        assert_eq!(read(&bytes), Some(("open", PathBuf::new())));
        bytes[4..].fill(b'x');
        assert_eq!(read(&bytes), None, "a path without an end");
        bytes.fill(255);
        assert_eq!(read(&bytes), None, "no such call");
    }

    #[test]
    fn denials_read_like_sentences() {
        let denial =
            |path: &str, count| Denial { call: "open", path: path.into(), count }.to_string();
        assert_eq!([denial("/a", 1), denial("", 3)], ["open /a (once)", "open (3 times)"]);
    }
}
