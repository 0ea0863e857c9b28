//! Oracles: random C programs whose right answers are known without Tarragon.
//!
//! *Engine*: a program reads one or two bytes and ends in a leaf that tells its path. All inputs
//! are run natively, so every reachable leaf is known. A search that calls itself complete must
//! have been in all of them; labelled and concrete code, shared and fresh processes must agree with
//! the native program on every input. *Checks*: programs with planted errors; clang's sanitizers
//! say on which inputs an error shows, and a campaign must report these and no others. *Campaign*:
//! bad things happen to campaigns at random moments, and nothing that was announced is missing
//! afterwards.
//!
//! What disagrees is shrunk and written down. A seed decides a program, so that every result can be
//! had again.

mod ast;
mod batch;
pub mod campaign;
pub mod checks;
pub mod engine;
mod generate;
mod plants;
mod print;
mod shrink;

use std::fmt;
use std::path::{Path, PathBuf};

pub use ast::Program;
pub use batch::Batch;
pub use generate::{Kind, program};

/// A way in which a program disagrees with its oracle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// What findings of one cause have in common; shrinking keeps it.
    pub class: String,
    pub detail: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.class, self.detail)
    }
}

/// An oracle judges programs that share a file.
pub trait Oracle {
    const KIND: Kind;
    type Summary: Default;

    /// What is wrong with each program.
    fn judge(
        programs: &[Program],
        summary: &mut Self::Summary,
    ) -> Result<Vec<Vec<Finding>>, String>;
}

/// A program that disagrees, after shrinking.
#[derive(Clone, Debug)]
pub struct Disagreement {
    pub seed: u64,
    pub program: Program,
    pub finding: Finding,
}

/// The C file of the programs of some seeds.
pub fn source(kind: Kind, seeds: std::ops::Range<u64>) -> String {
    print::file(&seeds.map(|seed| program(kind, seed)).collect::<Vec<_>>())
}

/// Candidates that are judged together when shrinking.
const CANDIDATES: usize = 24;

/// Judges the programs of some seeds. Each kind of finding in a program is one disagreement, not
/// yet shrunk.
pub fn judge<O: Oracle>(
    seeds: std::ops::Range<u64>,
    summary: &mut O::Summary,
) -> Result<Vec<Disagreement>, String> {
    let programs: Vec<Program> = seeds.clone().map(|seed| program(O::KIND, seed)).collect();
    let findings = O::judge(&programs, summary)?;
    let mut disagreements = Vec::new();
    for ((seed, program), findings) in seeds.zip(programs).zip(findings) {
        for finding in findings {
            disagreements.push(Disagreement { seed, program: program.clone(), finding });
        }
    }
    Ok(disagreements)
}

/// The smallest program with the same class of finding that one step after the other leads to.
pub fn shrink<O: Oracle>(mut found: Disagreement) -> Result<Disagreement, String> {
    'smaller: loop {
        for candidates in shrink::smaller(&found.program).chunks(CANDIDATES) {
            let findings = O::judge(candidates, &mut O::Summary::default())?;
            let same = |findings: &Vec<Finding>| {
                findings.iter().find(|finding| finding.class == found.finding.class).cloned()
            };
            let next =
                candidates.iter().zip(&findings).find_map(|(p, f)| Some((p.clone(), same(f)?)));
            if let Some((program, finding)) = next {
                found = Disagreement { program, finding, ..found };
                continue 'smaller;
            }
        }
        return Ok(found);
    }
}

impl Disagreement {
    /// Writes the program, with what is wrong with it in its first lines.
    pub fn write(&self, folder: &Path, kind: Kind) -> std::io::Result<PathBuf> {
        std::fs::create_dir_all(folder)?;
        let class: String = self
            .finding
            .class
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
            .collect();
        let file = folder.join(format!("{kind:?}-{}-{class}.c", self.seed).to_lowercase());
        let text = print::file(std::slice::from_ref(&self.program));
        std::fs::write(&file, format!("// {}\n// Argument: 0\n{text}", self.finding))?;
        Ok(file)
    }
}
