//! Inputs from files and directories.
//!
//! A directory stands for all files in it and below, in the order of their paths. The output
//! directory of a campaign stands for its corpus, crashes and hangs only.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use search::Seed;

use crate::output::{INPUT_DIRS, is_output_dir};

#[derive(Debug, thiserror::Error)]
pub enum InputError {
    #[error("{}: there is no such file or directory", .0.display())]
    Missing(PathBuf),
    #[error("{}: no permission to read it", .0.display())]
    NoPermission(PathBuf),
    #[error("{}: cannot be read: {error}", .path.display())]
    Unreadable { path: PathBuf, error: io::Error },
    #[error("{}: is neither a file nor a directory; inputs are read from files, so write what \
             comes there into one", .0.display())]
    Special(PathBuf),
    #[error("{}: the directory holds no files; put at least one input into it, or do not name it",
            .0.display())]
    Empty(PathBuf),
}

impl InputError {
    fn new(path: &Path, error: io::Error) -> InputError {
        let path = path.to_owned();
        match error.kind() {
            io::ErrorKind::NotFound => InputError::Missing(path),
            io::ErrorKind::PermissionDenied => InputError::NoPermission(path),
            _ => InputError::Unreadable { path, error },
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedInput {
    pub path: PathBuf,
    pub bytes: Vec<u8>,
}

/// A seed that was longer than the limit and was cut.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Truncated {
    pub path: PathBuf,
    pub len: usize,
}

/// All inputs that `path` stands for.
pub fn read_inputs(path: &Path) -> Result<Vec<NamedInput>, InputError> {
    let mut files = Vec::new();
    let metadata = fs::metadata(path).map_err(|error| InputError::new(path, error))?;
    if !metadata.is_file() && !metadata.is_dir() {
        return Err(InputError::Special(path.to_owned()));
    }
    collect(path, &mut files)?;
    if files.is_empty() {
        return Err(InputError::Empty(path.to_owned()));
    }
    files.into_iter().map(read).collect()
}

/// All inputs of an output directory, which may hold none.
pub(crate) fn read_found(dir: &Path) -> Result<Vec<NamedInput>, InputError> {
    match read_inputs(dir) {
        Err(InputError::Empty(_)) => Ok(Vec::new()),
        other => other,
    }
}

/// Seeds that are at most `max_len` bytes long, and which of them had to be cut.
pub fn read_seeds(path: &Path, max_len: usize) -> Result<(Vec<Seed>, Vec<Truncated>), InputError> {
    let mut truncated = Vec::new();
    let mut seeds = Vec::new();
    for NamedInput { path, mut bytes } in read_inputs(path)? {
        let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
        if bytes.len() > max_len {
            truncated.push(Truncated { path, len: bytes.len() });
            bytes.truncate(max_len);
        }
        seeds.push(Seed { name, input: bytes });
    }
    Ok((seeds, truncated))
}

/// What a search starts from when it is given nothing: the empty input, and one byte.
pub fn built_in_seeds(max_len: usize) -> Vec<Seed> {
    let seeds = [("empty", &b""[..]), ("newline", &b"\n"[..])];
    let fitting = seeds.iter().filter(|(_, input)| input.len() <= max_len);
    fitting.map(|&(name, input)| Seed { name: name.to_owned(), input: input.to_vec() }).collect()
}

fn collect(path: &Path, files: &mut Vec<PathBuf>) -> Result<(), InputError> {
    let metadata = fs::metadata(path).map_err(|error| InputError::new(path, error))?;
    if metadata.is_file() {
        files.push(path.to_owned());
        return Ok(());
    }
    if !metadata.is_dir() {
        return Ok(());
    }
    for child in children(path)? {
        collect(&child, files)?;
    }
    Ok(())
}

fn children(dir: &Path) -> Result<Vec<PathBuf>, InputError> {
    if is_output_dir(dir) {
        return Ok(INPUT_DIRS
            .iter()
            .map(|name| dir.join(name))
            .filter(|path| path.is_dir())
            .collect());
    }
    let entries = fs::read_dir(dir).map_err(|error| InputError::new(dir, error))?;
    let paths = entries.map(|entry| entry.map(|entry| entry.path()));
    let mut paths =
        paths.collect::<io::Result<Vec<_>>>().map_err(|error| InputError::new(dir, error))?;
    paths.sort();
    Ok(paths)
}

fn read(path: PathBuf) -> Result<NamedInput, InputError> {
    match fs::read(&path) {
        Ok(bytes) => Ok(NamedInput { path, bytes }),
        Err(error) => Err(InputError::new(&path, error)),
    }
}
