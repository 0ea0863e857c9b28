//! The lines of a program: which source its basic blocks and branches come from.
//!
//! The instrumenter writes this table beside the covered variant, whose coverage map has one byte
//! for each branch outcome, numbered as in [`SiteTable`](crate::SiteTable), and after these one for
//! each block of this table.

use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceTable {
    /// Paths, absolute where the folder of the compilation is known.
    pub files: Vec<String>,
    pub functions: Vec<SourceFunction>,
    /// The lines of each basic block of the unoptimised program.
    pub blocks: Vec<Vec<SourceLine>>,
    pub branches: Vec<SourceBranch>,
    /// Number of branch outcomes, which come before the blocks in the coverage map.
    pub outcomes: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct SourceLine {
    /// Index into [`SourceTable::files`].
    pub file: u32,
    pub line: u32,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceFunction {
    pub name: String,
    pub start: SourceLine,
    /// Its first block: index into [`SourceTable::blocks`].
    pub entry: u32,
}

/// A branch or a switch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceBranch {
    pub place: SourceLine,
    /// Name of the function that it is in.
    pub function: String,
    /// The block that it ends: index into [`SourceTable::blocks`].
    pub block: u32,
    /// Outcomes in the order in which they are shown: the true side first, the default last.
    pub outcomes: Vec<u32>,
}

impl SourceTable {
    /// Bytes of the coverage map.
    pub fn coverage_len(&self) -> u32 {
        self.outcomes + self.blocks.len() as u32
    }

    /// Whether the program was built with debug information.
    pub fn has_lines(&self) -> bool {
        self.blocks.iter().any(|lines| !lines.is_empty())
    }
}
