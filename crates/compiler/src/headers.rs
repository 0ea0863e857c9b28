//! Headers that the compilers bring along, for sources that mention them: `tarragon.h`, and AFL++'s
//! macros.
//!
//! The files are kept beside the derived variants. Where that is impossible a compilation goes on
//! without them.

use crate::arguments::{InputKind, Invocation};
use std::ffi::OsString;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

const FILES: [(&str, &str); 2] = [
    ("tarragon.h", include_str!("../include/tarragon.h")),
    (AFL, include_str!("../include/tarragon-afl.h")),
];
const OWN: &str = "tarragon.h";
const AFL: &str = "tarragon-afl.h";
const AFL_MARK: &[u8] = b"__AFL_";

/// The folder with the headers.
pub(crate) fn folder() -> Option<PathBuf> {
    let folder =
        crate::derive::default_cache().join(concat!("include-", env!("CARGO_PKG_VERSION")));
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

/// Options for what the sources mention: the folder for `tarragon.h`, and a header for AFL++'s
/// macros, which need no `#include`.
pub(crate) fn options(invocation: &Invocation) -> Vec<OsString> {
    let sources = invocation.inputs().filter(|input| input.kind == InputKind::Source);
    let texts: Vec<Vec<u8>> = sources.filter_map(|input| std::fs::read(&input.path).ok()).collect();
    let mention = |mark: &[u8]| texts.iter().any(|text| memchr::memmem::find(text, mark).is_some());
    let (own, afl) = (mention(OWN.as_bytes()), mention(AFL_MARK));
    let Some(folder) = (own || afl).then(folder).flatten() else { return Vec::new() };
    let mut options = Vec::new();
    if own {
        options.extend(["-idirafter".into(), folder.clone().into()]);
    }
    if afl {
        options.extend(["-include".into(), folder.join(AFL).into()]);
    }
    options
}
