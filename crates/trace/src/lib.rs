//! The contract between instrumenter, runtime and driver.
//!
//! * What a run leaves: expression nodes, events, and the layout of the shared memory that carries
//!   them.
//! * What the instrumenter writes into a program and the runtime reads: the table of the functions
//!   that instrumented code calls ([`entry`]), descriptors, and the sizes of what travels in calls
//!   ([`slots`]).
//! * What all of them mean by an operator ([`semantics`]) and by a set of bytes ([`ByteSet`]).
//!
//! The crate is `no_std` because the runtime, which is linked into targets, compiles these same
//! sources. It must not allocate or do input or output, and what the runtime uses of it must be
//! `inline` or small, or else the runtime's bitcode has an open symbol.
#![no_std]

mod byte_set;
mod comparison;
mod descriptor;
pub mod entry;
mod event;
mod foreign;
pub mod formats;
mod layout;
mod length;
mod node;
mod replaced;
pub mod semantics;
mod shape;
pub mod slots;

pub use byte_set::ByteSet;
pub use comparison::Comparison;
pub use descriptor::{Consumer, Extent, Global, PureRegion, VaList};
pub use event::{
    COMPARED, CheckKind, ConcretiseReason, Event, EventKind, GiveUp, LONGEST_WORD, MAX_WORDS,
    UNKNOWN_FUNCTION,
};
pub use foreign::{Lent, Returned, Sink};
pub use layout::{
    Capacities, Header, MAX_MEMORY, RESERVED_ADDRESS_SPACE, Region, SERVER_FDS, ServerFds,
    TLS_BYTES, Table, flags, marks, server, words,
};
pub use length::{LENGTH, Length, LengthKind};
pub use node::{Label, Node, Op, text};
pub use replaced::{REPLACED, replaced_name};
pub use shape::{MAX_SHAPES, Places, SHAPED, Shaped};
