//! Text into tokens, and tokens back into text.

pub mod lexer;
pub(crate) mod mode;
pub mod spell;
