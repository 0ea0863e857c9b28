//! Headers that the compilers bring along: `tarragon.h`, found by every compilation, and AFL++'s macros, for sources that
//! mention them.
//!
//! The files are kept beside the derived variants. Where that is impossible a compilation goes on without them.

use crate::arguments::{InputKind, Invocation};
use std::ffi::OsString;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

const FILES: [(&str, &str); 2] =
    [("tarragon.h", include_str!("../include/tarragon.h")), (AFL, include_str!("../include/tarragon-afl.h"))];
const AFL: &str = "tarragon-afl.h";
const AFL_MARK: &[u8] = b"__AFL_";

/// The folder with the headers.
pub(crate) fn folder() -> Option<PathBuf> {
    let folder = crate::derive::default_cache().join(concat!("include-", env!("CARGO_PKG_VERSION")));
    FILES.iter().try_for_each(|(name, text)| keep(&folder, name, text)).ok()?;
    Some(folder)
}

/// Written at once or not at all, because compilations run side by side.
fn keep(folder: &Path, name: &str, text: &str) -> io::Result<()> {
    let path = folder.join(name);
    if std::fs::read(&path).is_ok_and(|there| there == text.as_bytes()) {
        return Ok(());
    }
    std::fs::create_dir_all(folder)?;
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(text.as_bytes())?;
    file.persist(path).map(drop).map_err(|error| error.error)
}

/// Options for what the sources use: AFL++'s macros need no header there, so they get one.
pub(crate) fn options(invocation: &Invocation, folder: &Path) -> Vec<OsString> {
    let sources = invocation.inputs().filter(|input| input.kind == InputKind::Source);
    let mentions =
        |path: &Path| std::fs::read(path).is_ok_and(|text| memchr::memmem::find(&text, AFL_MARK).is_some());
    match sources.into_iter().any(|input| mentions(Path::new(&input.path))) {
        true => vec!["-include".into(), folder.join(AFL).into()],
        false => Vec::new(),
    }
}
