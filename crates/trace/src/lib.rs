//! What an instrumented target and the driver exchange: expression nodes, events, and the layout of the
//! shared memory that carries them.
//!
//! The crate is `no_std` because the runtime, which is linked into targets, compiles these same sources. It
//! holds plain data only: it must not allocate, do input or output, or give expressions a meaning (that is
//! the `expr` crate's task).
#![no_std]

mod comparison;
mod descriptor;
pub mod entry;
mod event;
mod layout;
mod length;
mod node;
mod shape;
pub mod slots;

pub use comparison::Comparison;
pub use descriptor::{Ending, Extent, Global, PureRegion, VaList};
pub use event::{
    COMPARED, CheckKind, ConcretiseReason, Event, EventKind, GiveUp, LONGEST_WORD, MOST_WORDS,
    UNKNOWN_FUNCTION,
};
pub use layout::{
    Capacities, Header, MOST_MEMORY, RESERVED_ADDRESS_SPACE, Region, SERVER_FDS, ServerFds, TLS_BYTES, Table,
    flags, marks, server, words,
};
pub use length::{LENGTH, Length, LengthKind};
pub use node::{Label, Node, Op, text};
pub use shape::{MOST_SHAPES, Places, SHAPED, Shaped};
