//! Measuring which lines of the source a suite covers: a run of every input in the covered variant.

use search::Executor;
use sites::SourceTable;

use crate::{Lcov, NamedInput, SourceCoverage};

/// The covered variant of a program, ready to run.
pub struct Covered {
    pub table: SourceTable,
    pub executor: Box<dyn Executor>,
}

/// Makes the covered variant, or says why there is none.
pub type MakeCovered<'a> = Box<dyn FnOnce() -> Result<Covered, String> + 'a>;

/// The coverage of a suite.
pub struct Measured {
    /// The content of `lcov.info`.
    pub lcov: String,
    pub totals: SourceCoverage,
    /// What the user should know about it.
    pub note: Option<String>,
}

/// Runs all inputs. The program was started before, so an error is one of the machine.
pub fn measure(covered: &mut Covered, inputs: &[NamedInput]) -> Result<Measured, String> {
    let mut lcov = Lcov::new(&covered.table);
    for input in inputs {
        let execution =
            covered.executor.run(&input.bytes, false).map_err(|error| error.to_string())?;
        lcov.add(&execution.covered);
    }
    let note = (!covered.table.has_lines()).then(|| {
        "the program has no debug information, so lcov.info is empty; build it with -g".to_owned()
    });
    Ok(Measured { lcov: lcov.text(), totals: lcov.totals(), note })
}
