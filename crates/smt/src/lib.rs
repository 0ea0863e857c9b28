//! Z3 as a link of the solver chain: bit-vectors, tables, floats.
//!
//! The only crate that links Z3. Nothing of Z3 shows in its interface, and its models are checked
//! by the chain like those of every other link. Z3 runs in a process of its own, which may crash or
//! hang.

mod engine;
mod floats;
mod helper;
mod link;
mod protocol;
mod tables;
mod term;
#[cfg(test)]
mod tests;
mod translate;

pub use engine::Limits;
pub use link::Z3Link;

use solver::{Chain, ChainOptions};

/// The standard chain with Z3 at its end.
pub fn standard_chain(options: ChainOptions, limits: Limits) -> Chain {
    let mut chain = Chain::standard(options);
    chain.push(Box::new(Z3Link::new(limits)));
    chain
}
