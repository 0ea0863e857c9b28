//! A library that is loaded before the program itself runs on an input: it knows how children that
//! the program forks end, which otherwise only the program is told. The program is left as it is.

use crate::additions::{FORKING, PROCESSES, uses_one_of};
use crate::cache::{Cache, Key};
use crate::clang;
use crate::driver::Language;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

const NAME: &str = "processes.so";
const SOURCE: &str = "processes.c";

/// The library, if the program forks, from the cache or made now.
pub fn preloaded(program: &Path, cache: &Path) -> io::Result<Option<PathBuf>> {
    if !uses_one_of(program, &FORKING) {
        return Ok(None);
    }
    let mut key = Key::new();
    key.add(b"preloaded");
    key.add(PROCESSES.as_bytes());
    let folder = Cache::open(cache)?.folder(&key.finish(), make)?;
    Ok(Some(folder.join(NAME)))
}

fn make(folder: &Path) -> io::Result<()> {
    let source = folder.join(SOURCE);
    std::fs::write(&source, PROCESSES)?;
    let compiler = clang::compiler(Language::C).map_err(io::Error::other)?;
    let mut words: Vec<OsString> =
        ["-O1", "-w", "-shared", "-fPIC", "-DPRELOADED", "-o"].map(OsString::from).into();
    words.extend([folder.join(NAME).into(), source.into()]);
    let mut prepared = clang::prepare(&compiler, &words)?;
    clang::capture(&mut prepared, None).map(drop).map_err(io::Error::other)
}
