//! Random sentences: by size, and uniformly by length.

mod alias;
mod lexeme;
pub mod rng;
pub mod sample;
pub mod uniform;
