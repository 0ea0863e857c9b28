//! HAMPI's input language: `var`, `cfg`, `reg`, `val`, `assert`, in the paper's spelling and in
//! that of its parser.
//!
//! Beyond HAMPI: several variables, variables without a size, `and`, `not`, `plus`, `opt` and
//! `repeat` in regular expressions, EBNF groups, and `and`, `or`, `not` between assertions. Solving
//! is not done here.

mod assertions;
mod build;
mod cursor;
mod parser;
mod regular;
mod rules;
mod syntax;

use crate::language::{Language, Languages};
use crate::problem::Problem;
pub use cursor::SyntaxError;

/// What the reader is told beside the file.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// What `$HAMPI_LENGTH$` stands for in a template; without it, no bound.
    pub template_size: Option<u64>,
    /// Take all variables and `fix` as if no size were given.
    pub ignore_sizes: bool,
}

/// Reads a file. Errors say line and column, what was expected and what was found.
pub fn read(text: &[u8], options: Options) -> Result<Problem, SyntaxError> {
    let file = parser::parse(text, options)?;
    build::build(text, file)
}

/// Reads one language: an expression (`star("ab")`), or a file, of which the language called
/// `name`, or the last one.
pub fn read_language(
    languages: Languages,
    text: &[u8],
    name: Option<&str>,
) -> Result<(Language, Languages), SyntaxError> {
    let file = parser::parse_languages(text)?;
    build::build_language(text, file, languages, name)
}
