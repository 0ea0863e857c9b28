//! Sites: the places of a program that events and coverage refer to by number.
//!
//! The instrumenter numbers them and writes this table beside each derived variant; every variant
//! of one build numbers them alike. The table is data: it must not know how a program is
//! instrumented or run.

mod lexers;
mod models;
mod rounds;
mod source;

pub use lexers::LexerProposal;
pub use models::{ModelFile, Substitution};
pub use rounds::{
    LAST_ROUNDS, LoopExit, LoopSite, LoopTable, Operand, OperandKind, WORDS_OF_EXIT, WORDS_OF_LOOP,
};
pub use source::{SourceBranch, SourceFunction, SourceLine, SourceTable};

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// All sites of one program. Site number 0 is not used; it is the first element and has no place.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SiteTable {
    pub files: Vec<String>,
    pub functions: Vec<String>,
    pub sites: Vec<Site>,
    /// Number of branch outcomes, which is the number of coverage bytes.
    pub outcomes: u32,
    /// Names of uninstrumented functions that the program calls, by the number that give-up events
    /// carry.
    pub externals: Vec<String>,
    /// The program's enumerations with their constants, if lexers were named whose tokens they may
    /// be.
    #[serde(default)]
    pub enumerations: Vec<BTreeMap<String, i64>>,
    /// Numbers that branches compare with, by site.
    #[serde(default)]
    pub compared: BTreeMap<u32, u64>,
    /// Strings of the program that it may look for in its input.
    #[serde(default)]
    pub words: Vec<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Site {
    /// Index into [`SiteTable::functions`].
    pub function: u32,
    /// Index into [`SiteTable::files`].
    pub file: u32,
    /// 0 if the program has no debug information.
    pub line: u32,
    pub column: u32,
    pub kind: SiteKind,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum SiteKind {
    /// A place that is only referred to by events: a call, a division, a memory access.
    #[default]
    Plain,
    /// Outcome `coverage` is the false side, `coverage + 1` the true side.
    Branch { coverage: u32 },
    /// Outcome `coverage + i` is case `i`, `coverage + cases.len()` the default.
    Switch { coverage: u32, cases: Vec<u64> },
}

impl SiteTable {
    /// `file:line:column`, or the function's name where no line is known.
    pub fn place(&self, site: u32) -> String {
        let Some(found) = self.sites.get(site as usize).filter(|_| site != 0) else {
            return "unknown place".to_owned();
        };
        let function = self.function(found);
        match (self.files.get(found.file as usize), found.line) {
            (Some(file), line) if line != 0 => {
                format!("{file}:{line}:{} ({function})", found.column)
            }
            _ => format!("function {function}"),
        }
    }

    fn function(&self, site: &Site) -> &str {
        self.functions.get(site.function as usize).map_or("?", String::as_str)
    }
}
