//! Asks `tarragon-instrument` which functions of a program look like its lexer.

use crate::derive::{DeriveError, read_program, run_instrument, write_libraries, write_modules};
use std::ffi::OsString;
use std::path::Path;

/// The instrumenter's answer for `program`: proposals as JSON.
pub fn propose_lexers(program: &Path, instrument: &Path) -> Result<Vec<u8>, DeriveError> {
    let (program, payload, libraries) = read_program(program)?;
    let scratch = tempfile::tempdir()?;
    let mut words = vec![OsString::from("--lexers")];
    for folder in write_libraries(&libraries, scratch.path())? {
        words.extend(["--library".into(), folder.into()]);
    }
    words.extend(write_modules(&payload.modules, scratch.path())?.into_iter().map(OsString::from));
    run_instrument(instrument, &program, &words)
}
