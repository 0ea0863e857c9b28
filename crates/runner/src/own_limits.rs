//! The driver's own limits, which its user's shell may have set too low.

use crate::error::RunnerError;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Descriptors that launches need, those with fixed numbers included.
const NEEDED_FILES: u64 = 256;

/// Raises the soft limit on open files, if it is lower than what launches need and may be raised.
pub(crate) fn raise_open_files() -> Result<(), RunnerError> {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    if current.is_none_or(|current| current >= NEEDED_FILES) {
        return Ok(());
    }
    let wanted = Rlimit { current: maximum.map(|maximum| maximum.min(2 * NEEDED_FILES)), maximum };
    let enough = wanted.current.is_none_or(|current| current >= NEEDED_FILES);
    if enough && setrlimit(Resource::Nofile, wanted).is_ok() {
        return Ok(());
    }
    Err(RunnerError::TooFewFiles { have: maximum.or(current).unwrap_or(0), needed: NEEDED_FILES })
}

/// Lets writing beyond the limit on file sizes fail, with an error that can be told, instead of
/// ending the driver without a word.
pub fn survive_file_size_limit() {
    // SAFETY: to ignore a signal needs no handler.
    unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_IGN) };
}
