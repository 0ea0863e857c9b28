//! ANTLR 4: lexer, parser and combined grammars.
//!
//! `syntax` reads one file with the help of `elements`, `characters` and `properties`, `files`
//! follows `import` and `tokenVocab`, `lexical` makes lexer rules out of the `patterns` of each,
//! and `rules` makes parser rules.

mod blocks;
mod characters;
mod commands;
mod elements;
mod files;
mod lexical;
mod patterns;
mod properties;
mod rules;
mod syntax;

use crate::build::Builder;
use crate::cursor::Cursor;
use crate::{Read, ReadError};
pub use characters::skip_code;
pub use files::Loader;
pub use lexical::lexemes;

pub fn read(file: &str, text: &str, loader: &Loader) -> Result<Read, ReadError> {
    let mut builder = Builder::new(file);
    let unit = files::gather(file, text, loader, &mut builder.notes)?;
    lexical::declare(&unit, &mut builder)?;
    rules::define(&unit, &mut builder)?;
    lexical::finish(&unit, &mut builder);
    builder.finish(&Cursor::new(file, text))
}
