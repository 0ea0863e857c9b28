//! Random sentences: by size, and uniformly by length.

mod alias;
mod lexeme;
pub mod sample;
pub mod uniform;
