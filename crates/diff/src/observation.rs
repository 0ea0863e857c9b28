//! What can be seen of a run from outside.

use std::collections::BTreeMap;
use std::fmt;

use run::Outcome;
use serde::Serialize;

/// One of the two programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub enum Side {
    A,
    B,
}

impl Side {
    pub const BOTH: [Side; 2] = [Side::A, Side::B];

    pub fn other(self) -> Side {
        match self {
            Side::A => Side::B,
            Side::B => Side::A,
        }
    }

    /// Of a pair in the order of the sides.
    pub fn index(self) -> usize {
        self as usize
    }
}

impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Side::A => "A",
            Side::B => "B",
        })
    }
}

/// How a run ended and what it left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Observation {
    pub outcome: Outcome,
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
    /// By path, relative to the directory in which the program ran.
    pub files: BTreeMap<String, Vec<u8>>,
}
