//! What became of the user's models of functions, as the instrumenter tells it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Functions of a program that were replaced by those of files with models.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Substitution {
    /// One for each file, in order.
    pub files: Vec<ModelFile>,
    /// Names that are static functions of several source files: which one is meant is not known.
    pub ambiguous: BTreeMap<String, Vec<String>>,
    /// What could have been replaced: functions that the program defines or calls.
    pub functions: Vec<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelFile {
    /// Its functions that took the place of others.
    pub replaced: Vec<String>,
    /// Those whose name means nothing in the program.
    pub unused: Vec<String>,
}
