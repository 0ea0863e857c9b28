//! The file that the user means with a program's name.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use crate::TargetError;

/// A path, or a name that is found in `PATH`.
pub fn find_program(name: &OsStr) -> Result<PathBuf, TargetError> {
    let path = PathBuf::from(name);
    let is_path = path.exists() || path.components().count() > 1;
    let found = if is_path { path } else { in_search_path(&path)? };
    let metadata = fs::metadata(&found).map_err(|error| unreadable(&found, &error))?;
    if !metadata.is_file() {
        return Err(unusable(&found, "is not a program"));
    }
    File::open(&found).map_err(|error| unreadable(&found, &error))?;
    Ok(found)
}

fn unusable(program: &Path, what: &str) -> TargetError {
    TargetError::Unusable { program: program.to_owned(), what: what.to_owned() }
}

fn unreadable(program: &Path, error: &io::Error) -> TargetError {
    match error.kind() {
        io::ErrorKind::NotFound => unusable(program, "there is no such program"),
        io::ErrorKind::PermissionDenied => unusable(program, "no permission to read the program"),
        _ => unusable(program, &format!("cannot be used as the program: {error}")),
    }
}

fn in_search_path(name: &Path) -> Result<PathBuf, TargetError> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut candidates = std::env::split_paths(&path).map(|dir| dir.join(name));
    let found = candidates.find(|candidate| candidate.is_file());
    found.ok_or_else(|| unusable(name, "there is no such program here or in PATH"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_paths_or_names_in_the_search_path() {
        assert!(find_program("sh".as_ref()).is_ok_and(|found| found.is_absolute()));
        let error = |name: &str| find_program(name.as_ref()).expect_err("no program").to_string();
        assert_eq!(error("./no-such"), "./no-such: there is no such program");
        assert_eq!(error("no-such"), "no-such: there is no such program here or in PATH");
        assert_eq!(error("/"), "/: is not a program");
    }
}
