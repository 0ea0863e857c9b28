//! The traced variant of a program, with its site table.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use compiler::payload::Payload;
use compiler::{DeriveError, DeriveOptions, Derived, Variant, derive};
use runner::{Runner, TargetOptions, default_capacities};
use serde::de::DeserializeOwned;
use sites::SiteTable;

use crate::{RunnerExecutor, TargetError};

/// A traced variant that is not started yet.
#[derive(Debug)]
pub struct Traced {
    pub executable: PathBuf,
    pub sites: SiteTable,
    /// Source files that it has unchanged.
    pub left_out: Vec<String>,
}

impl Traced {
    pub fn derive(program: &Path, options: &DeriveOptions) -> Result<Traced, TargetError> {
        Traced::read(derive(program, Variant::Traced, options)?)
    }

    /// As [`Traced::derive`], unless the program is a traced variant already: a site table lies
    /// beside it then. The payload is looked for first, because a program that was not built with
    /// Tarragon is the likelier mistake.
    pub(crate) fn of(program: &Path, lexers: &[String]) -> Result<Traced, TargetError> {
        let Some(sites) = table_beside(program) else {
            Payload::read(program).map_err(DeriveError::from)?;
            return Traced::derive(program, &derive_options(lexers)?);
        };
        if !lexers.is_empty() {
            return Err(TargetError::LexerOfVariant { program: program.to_owned() });
        }
        Traced::read(Derived { executable: program.to_owned(), sites, left_out: Vec::new() })
    }

    /// Reads the site table of a variant that was derived.
    pub fn read(derived: Derived) -> Result<Traced, TargetError> {
        let Derived { executable, sites, left_out } = derived;
        Ok(Traced { executable, sites: read_table(&sites)?, left_out })
    }

    /// How it runs: with room for its coverage, and with this time for each run.
    pub fn options(&self, arguments: Vec<OsString>, run_time: Duration) -> TargetOptions {
        let mut options = TargetOptions::new(&self.executable);
        options.arguments = arguments;
        options.capacities = default_capacities(self.sites.outcomes);
        options.limits.run_time = run_time;
        options
    }

    /// Starts it alone: no other variant is asked.
    pub fn start(
        &self,
        arguments: Vec<OsString>,
        run_time: Duration,
    ) -> Result<RunnerExecutor, TargetError> {
        let runner = Runner::start(self.options(arguments, run_time))?;
        Ok(RunnerExecutor::new(runner, run_time))
    }
}

/// The site table that lies beside a traced variant.
pub(crate) fn table_beside(program: &Path) -> Option<PathBuf> {
    let mut sites = program.as_os_str().to_owned();
    sites.push(".sites.json");
    Some(PathBuf::from(sites)).filter(|sites| sites.is_file())
}

pub(crate) fn derive_options(lexers: &[String]) -> Result<DeriveOptions, DeriveError> {
    Ok(DeriveOptions { lexers: lexers.to_vec(), ..DeriveOptions::from_environment()? })
}

pub(crate) fn read_table<T: DeserializeOwned>(path: &Path) -> Result<T, TargetError> {
    let no_sites = |source| TargetError::NoSites { path: path.to_owned(), source };
    let bad_sites = |source| TargetError::BadSites { path: path.to_owned(), source };
    serde_json::from_slice(&fs::read(path).map_err(no_sites)?).map_err(bad_sites)
}
