//! The loops of a program, and the conditions that keep them going.
//!
//! The instrumenter writes this table beside the counted variant, whose coverage map is the memory
//! in which rounds are counted: words of eight bytes, first the clock, then [`WORDS_OF_LOOP`] for
//! each loop, then [`WORDS_OF_EXIT`] for each exit.

use serde::{Deserialize, Serialize};

/// Whether the loop runs, the rounds since it was entered, when that was (in rounds of all loops),
/// and how often it was entered.
pub const WORDS_OF_LOOP: u32 = 4;
/// Rounds whose operands are kept.
pub const LAST_ROUNDS: u32 = 4;
/// How often the exit was passed, and both operands of the last rounds: that of number `n` is at
/// `n % LAST_ROUNDS`.
pub const WORDS_OF_EXIT: u32 = 1 + 2 * LAST_ROUNDS;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoopTable {
    pub loops: Vec<LoopSite>,
    pub exits: Vec<LoopExit>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoopSite {
    pub function: String,
    /// An absolute path where the folder of the compilation is known, line and column; empty
    /// without debug information.
    pub place: String,
    /// Numbers of the branches and switches in it, its exits among them.
    pub branches: Vec<u32>,
}

/// A branch or switch that can leave loops.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoopExit {
    /// Indices into [`LoopTable::loops`].
    pub loops: Vec<u32>,
    /// Its number in the [`SiteTable`](crate::SiteTable).
    pub site: u32,
    pub place: String,
    pub left: Operand,
    /// What the loops go on while: `<`, with the operand on the right. `None` for a switch.
    pub comparison: Option<(String, Operand)>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Operand {
    /// As in the source, as far as debug information tells: `i`, `p->next`, `get()`, `10`.
    pub name: Option<String>,
    pub kind: OperandKind,
}

/// How the word of an operand is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum OperandKind {
    /// Its name is its value.
    Constant,
    #[default]
    Signed,
    Unsigned,
    Pointer,
    Float,
    /// It does not fit a word, and is not kept.
    TooLarge,
}

impl LoopTable {
    /// Bytes of the memory in which rounds are counted.
    pub fn len(&self) -> u32 {
        8 * self.word_of_exit(self.exits.len() as u32)
    }

    pub fn is_empty(&self) -> bool {
        self.loops.is_empty()
    }

    pub fn word_of_loop(&self, number: u32) -> u32 {
        1 + number * WORDS_OF_LOOP
    }

    pub fn word_of_exit(&self, number: u32) -> u32 {
        self.word_of_loop(self.loops.len() as u32) + number * WORDS_OF_EXIT
    }
}
