//! Asks `tarragon-instrument` which functions of a program look like its lexer.

use crate::derive::{
    DeriveError, Variant, read_program, run_instrument, write_libraries, write_modules,
};
use std::ffi::OsString;
use std::path::Path;

/// The instrumenter's answer for `program`: proposals as JSON.
pub fn propose_lexers(program: &Path, instrument: &Path) -> Result<Vec<u8>, DeriveError> {
    let (program, payload, libraries) = read_program(program)?;
    let scratch = tempfile::tempdir()?;
    let mut words = vec![OsString::from("--lexers")];
    for folder in write_libraries(&libraries, Variant::Traced, scratch.path())? {
        words.extend(["--library".into(), folder.into()]);
    }
    let modules = write_modules(&payload.modules, Variant::Traced, scratch.path())?;
    words.extend(modules.into_iter().map(OsString::from));
    run_instrument(instrument, &program, &words)
}
