//! Finds the target's executable and says what is wrong with it before anything is started.

use crate::error::RunnerError;
use memmap2::Mmap;
use rustix::fs::{Access, access};
use std::fs::File;
use std::path::{Path, PathBuf};

/// Absolute path of an executable file, found as a shell would find it.
pub(crate) fn resolve(program: &Path) -> Result<PathBuf, RunnerError> {
    let found = if program.as_os_str().as_encoded_bytes().contains(&b'/') {
        std::path::absolute(program).ok()
    } else {
        search_path(program)
    };
    let path = found
        .filter(|path| path.exists())
        .ok_or_else(|| RunnerError::NotFound(program.to_owned()))?;
    if is_executable(&path) { Ok(path) } else { Err(RunnerError::NotExecutable(path)) }
}

fn search_path(name: &Path) -> Option<PathBuf> {
    let directories = std::env::var_os("PATH")?;
    let mut candidates = std::env::split_paths(&directories).map(|directory| directory.join(name));
    candidates.find(|path| is_executable(path)).and_then(|path| std::path::absolute(path).ok())
}

fn is_executable(path: &Path) -> bool {
    path.is_file() && access(path, Access::EXEC_OK).is_ok()
}

/// Refuses binaries without the runtime. Scripts pass: they may start a program that has it.
pub(crate) fn check_built_with_tarragon(path: &Path) -> Result<(), RunnerError> {
    // SAFETY: the bytes are only searched; a file that changes meanwhile gives a wrong answer at
    // worst.
    let Some(content) = File::open(path).ok().and_then(|file| unsafe { Mmap::map(&file) }.ok())
    else {
        return Ok(());
    };
    // The runtime asks for this variable, so its name is in every program that contains the
    // runtime.
    let marker = trace::server::ENV.to_bytes();
    if content.starts_with(b"\x7fELF") && memchr::memmem::find(&content, marker).is_none() {
        return Err(RunnerError::NotBuiltWithTarragon(path.to_owned()));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_as_by_a_shell() {
        assert!(resolve(Path::new("sh")).unwrap().is_absolute());
        assert!(matches!(resolve(Path::new("./no/such/program")), Err(RunnerError::NotFound(_))));
        assert!(matches!(
            resolve(Path::new("no-such-program-anywhere")),
            Err(RunnerError::NotFound(_))
        ));
        assert!(matches!(resolve(Path::new("/etc/passwd")), Err(RunnerError::NotExecutable(_))));
        assert!(matches!(resolve(Path::new("/tmp")), Err(RunnerError::NotExecutable(_))));
    }
}
