//! The record of one symbolic run, as copied out of shared memory.
//!
//! Counts and places were checked when it was copied. What nodes and events say was not: `path`
//! makes a checked and unfolded trace of it.

use trace::{Event, Label, Node};

/// What the symbolic part of one run wrote.
#[derive(Clone, Debug, Default)]
pub struct RawTrace {
    pub recorded: Recorded,
    pub events: Vec<Event>,
    /// How often symbolic data was dropped, by [`trace::GiveUp`].
    pub give_ups: [u32; 32],
    /// The record was full before the run ended: constraints are missing from the end.
    pub truncated: bool,
    /// Branches on symbolic conditions, repeated ones included.
    pub symbolic_branches: u64,
}

/// The expressions of a run as it wrote them.
#[derive(Clone, Debug, Default)]
pub struct Recorded {
    pub nodes: Vec<Node>,
    /// Concrete values, same indices as `nodes`.
    pub values: Vec<u64>,
    pub tables: Vec<TableData>,
    /// Expressions of one byte, whose operands are numbers of shapes; see [`trace::SHAPED`].
    pub shapes: Vec<Node>,
    /// Symbolic bytes: those of the input, and those of a count after it ([`trace::marks`]).
    pub input_len: u32,
}

/// An object in memory that was read at a symbolic address.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct TableData {
    pub bytes: Vec<u8>,
    /// One label a byte, 0 where the byte is concrete; `None` if all are.
    pub labels: Option<Vec<Label>>,
}

impl TableData {
    pub fn concrete(bytes: Vec<u8>) -> TableData {
        TableData { bytes, labels: None }
    }

    /// Label of the byte at `offset`; 0 if it is concrete or outside the table.
    pub fn label(&self, offset: u64) -> Label {
        let Some(labels) = &self.labels else { return 0 };
        usize::try_from(offset).ok().and_then(|i| labels.get(i)).copied().unwrap_or(0)
    }

    /// Concrete byte at `offset`, 0 outside the table.
    pub fn byte(&self, offset: u64) -> u8 {
        usize::try_from(offset).ok().and_then(|i| self.bytes.get(i)).copied().unwrap_or(0)
    }
}
