//! Context-free grammars over an abstract alphabet: what `grammar` and `strings` share.
//!
//! Both have a model of their own (EBNF over named terminals with a lexer there, sets of bytes
//! here), and both lower it to [`Productions`]. A terminal is a number; what it stands for is the
//! caller's. The algorithms:
//!
//! * [`cheapest`]: Knuth's generalisation of Dijkstra's algorithm, and what is nullable.
//! * [`components`]: strongly connected components.
//! * [`earley`]: Earley sets as values, with Leo's chains, and their cheapest completions.
//!
//! Nothing here recurses over user data.

mod cheapest;
mod components;
pub mod earley;
mod ids;
mod productions;

pub use cheapest::{Combine, INFINITE, cheapest, cheapest_productions, nullable, plus};
pub use components::components;
pub use ids::{NtId, ProdId, Sym, TerminalId};
pub use productions::Productions;
