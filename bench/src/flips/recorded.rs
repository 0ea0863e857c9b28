//! The trace of one run, and all of its flips.

use crate::json;
use crate::packages::list::{PACKAGES, Package};
use crate::packages::tree::{Compilers, Tree};
use anyhow::{Context as _, Result, ensure};
use compiler::DeriveOptions;
use executor::{RunnerExecutor, Traced};
use expr::Dag;
use path::{PathCondition, Trace};
use sites::SiteTable;
use solver::Lit;
use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

/// A path condition with the ways to leave it.
pub struct RecordedPath {
    pub dag: Dag,
    pub lits: Vec<Lit>,
    pub input: Vec<u8>,
    /// How many literals come before, and what is to be made true after them.
    pub flips: Vec<(usize, Lit)>,
}

/// Longer runs are not recorded.
const RUN_TIME: Duration = Duration::from_secs(20);

/// Debian's cjson over a JSON text.
pub fn cjson(size: usize) -> Result<RecordedPath> {
    let scratch = tempfile::tempdir()?;
    Recorder::new(json::derive(scratch.path())?, Vec::new())?.record(json::text(size))
}

/// A package over its sample text; it is built below `work`.
pub fn package(name: &str, size: usize, work: &Path) -> Result<RecordedPath> {
    let package = PACKAGES.iter().find(|package| package.name == name);
    let package = package.with_context(|| format!("there is no package {name}"))?;
    let program = Tree::build(package, Compilers::Tarragon, work)?.program()?;
    recorder(package, &program)?.record(package.sample.text(size))
}

/// Records runs of a package's program.
pub fn recorder(package: &Package, program: &Path) -> Result<Recorder> {
    let traced = Traced::derive(program, &DeriveOptions::from_environment()?)?;
    let arguments = package.arguments.iter().map(OsString::from).collect();
    Recorder::new(traced, arguments)
}

/// A traced variant that was started.
pub struct Recorder {
    executor: RunnerExecutor,
    sites: SiteTable,
}

impl Recorder {
    pub fn new(traced: Traced, arguments: Vec<OsString>) -> Result<Recorder> {
        let executor = traced.start(arguments, RUN_TIME)?;
        Ok(Recorder { executor, sites: traced.sites })
    }

    /// One run.
    pub fn record(&mut self, input: Vec<u8>) -> Result<RecordedPath> {
        let (_, trace) = self.executor.trace(&input)?;
        ensure!(!trace.truncated, "the trace is full");
        Ok(flips(trace, &self.sites, input))
    }
}

impl RecordedPath {
    /// At most `most` flips, spread evenly over the run.
    pub fn sampled(&self, most: usize) -> Vec<(usize, Lit)> {
        let step = self.flips.len().div_ceil(most.max(1)).max(1);
        self.flips.iter().copied().step_by(step).collect()
    }
}

fn flips(mut trace: Trace, sites: &SiteTable, input: Vec<u8>) -> RecordedPath {
    let condition = PathCondition::new(&mut trace, sites);
    let mut flips = Vec::new();
    for (index, constraint) in condition.constraints.iter().enumerate() {
        for direction in constraint.other_directions(sites) {
            let flip = constraint.flip(direction, &mut trace.dag, sites);
            flips.extend(flip.map(|flip| (index, Lit::new(flip.label, flip.value))));
        }
    }
    let lits = condition.constraints.iter().map(|c| Lit::new(c.label, c.taken)).collect();
    RecordedPath { dag: trace.dag, lits, input, flips }
}
