//! Z3 as a link of the solver chain: bit-vectors, tables, floats.
//!
//! The only crate that links Z3. Nothing of Z3 shows in its interface, and its models are checked by the chain
//! like those of every other link.

mod floats;
mod link;
mod tables;
mod term;
#[cfg(test)]
mod tests;
mod translate;

pub use link::{Limits, Z3Link};

use solver::{Chain, ChainOptions};

/// The standard chain with Z3 at its end.
pub fn standard_chain(options: ChainOptions, limits: Limits) -> Chain {
    let mut chain = Chain::standard(options);
    chain.push(Box::new(Z3Link::new(limits)));
    chain
}
