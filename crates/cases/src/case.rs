//! One case: build the program, search it, compare what was found with what the source says.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use campaign::{WallClock, built_in_seeds};
use search::{
    Bug, Engine, Entry, Limits, Observer, OutputError, Results, SavedSearch, Seed, Sighting, Stats,
    Stop, Whitebox, WhiteboxOptions, World,
};
use sites::{SiteKind, SiteTable};
use solver::ChainOptions;

use crate::directives::Directives;
use crate::{Agreement, Program, Recipe, Tracer, Twins};

/// How many random inputs a case is compared on, where it asks for that.
const RANDOM_INPUTS: usize = 20;

/// A source with its expectations.
pub struct Case {
    source: PathBuf,
    directives: Directives,
}

impl Case {
    pub fn read(source: &Path) -> Result<Case, String> {
        let text = std::fs::read_to_string(source).map_err(|error| error.to_string())?;
        Ok(Case { source: source.to_owned(), directives: Directives::parse(&text)? })
    }

    /// Runs the case; the error says everything that was not as expected.
    pub fn check(&self, cache: &Path) -> Result<(), String> {
        let result = self.differences(cache).and_then(|found| match found.is_empty() {
            true => Ok(()),
            false => Err(found.join("; ")),
        });
        match (&self.directives.known_gap, result) {
            (None, result) => result,
            (Some(_), Err(_)) => Ok(()),
            (Some(gap), Ok(())) => Err(format!("the gap is closed, remove `known-gap: {gap}`")),
        }
    }

    fn differences(&self, cache: &Path) -> Result<Vec<String>, String> {
        let program = Program::build(&self.recipe(), cache)?;
        let mut tracer = Tracer::start(&program, &self.directives.arguments)?;
        let found = self.search(&mut tracer, &program.sites)?;
        let mut differences = self.compare(&found, &program.sites);
        differences.extend(self.compare_builds(&program, &mut tracer, &found.results)?);
        differences.extend_from_slice(tracer.faults());
        Ok(differences)
    }

    fn recipe(&self) -> Recipe {
        let folder = self.source.parent().unwrap_or(Path::new("."));
        let natives = self.directives.natives.iter().map(|native| folder.join(native)).collect();
        Recipe { source: self.source.clone(), natives, flags: self.directives.flags.clone() }
    }

    fn search(&self, tracer: &mut Tracer, sites: &SiteTable) -> Result<Found, String> {
        let mut solver = smt::standard_chain(ChainOptions::default(), solver_limits());
        let stop = AtomicBool::new(false);
        let world = World {
            executor: tracer,
            solver: &mut solver,
            sites,
            clock: &WallClock::start(),
            observer: &mut Silent,
            stop: &stop,
        };
        let limits = Limits {
            time: None,
            runs: Some(self.directives.max_runs),
            max_len: self.directives.max_len,
        };
        let exhaustive = self.directives.exhaustive.is_some();
        let mut strategy =
            Whitebox::new(WhiteboxOptions { exhaustive, ..WhiteboxOptions::default() });
        let engine = Engine::new(world, limits, 0, Results::new(sites));
        let (results, stop) = engine.search(&mut strategy, self.seeds());
        match stop {
            Stop::Execution(error) => Err(error.to_string()),
            _ => Ok(Found { results, completeness: strategy.completeness().clone() }),
        }
    }

    fn seeds(&self) -> Vec<Seed> {
        let seed = |input: &Vec<u8>| Seed { name: "case".to_owned(), input: input.clone() };
        match self.directives.seeds.is_empty() {
            true => built_in_seeds(self.directives.max_len),
            false => self.directives.seeds.iter().map(seed).collect(),
        }
    }

    fn compare(&self, found: &Found, sites: &SiteTable) -> Vec<String> {
        let Found { results, completeness } = found;
        let stats = &results.stats;
        let expected = &self.directives;
        let bugs: BTreeSet<String> =
            results.bugs.all().iter().map(|bug| bug.kind.to_string()).collect();
        let mut differences = vec![
            difference("bugs", &expected.bugs, &bugs),
            difference("given up", &expected.give_ups, &give_ups(stats)),
        ];
        let lost: Vec<&String> = stats
            .lost_externals
            .keys()
            .filter_map(|number| sites.externals.get(*number as usize))
            .collect();
        let not_lost = expected
            .lost_through
            .iter()
            .filter(|name| !lost.iter().any(|lost| lost.contains(*name)));
        let not_lost: Vec<&String> = not_lost.collect();
        if !not_lost.is_empty() {
            differences.push(Some(format!("lost through: expected {not_lost:?}, found {lost:?}")));
        }
        if !expected.diverges {
            let places = stats.divergence_sites.keys().map(|site| sites.place(*site).to_string());
            differences.push(difference("divergences", &BTreeSet::new(), &places.collect()));
        }
        match &expected.exhaustive {
            Some(exhaustive) => {
                differences.push(difference("paths", &exhaustive.paths, &stats.paths));
                let complete =
                    difference("complete", &exhaustive.complete, &completeness.is_complete());
                differences
                    .push(complete.map(|difference| format!("{difference} ({completeness})")));
            }
            None => {
                let uncovered = uncovered(results, sites, &self.source);
                differences.push(difference("uncovered", &expected.uncovered, &uncovered));
            }
        }
        differences.into_iter().flatten().collect()
    }

    /// Every input that the search kept must look the same in all builds.
    fn compare_builds(
        &self,
        program: &Program,
        tracer: &mut Tracer,
        results: &Results,
    ) -> Result<Option<String>, String> {
        let mut twins = Twins::new(program, &self.directives.arguments)?;
        let corpus = results.corpus.entries().iter().map(|entry| &entry.input);
        let bugs = results.bugs.all().iter().map(|bug| &bug.input);
        let random =
            self.directives.random.as_deref().map_or(Vec::new(), |set| self.random_inputs(set));
        for input in self.directives.same_output.iter().chain(bugs).chain(corpus).chain(&random) {
            match twins.compare(tracer, input) {
                Ok(Agreement::Same) => {}
                Ok(Agreement::TooSlow) => {
                    return Ok(Some("the plain build is too slow".to_owned()));
                }
                Err(difference) => return Ok(Some(difference)),
            }
        }
        Ok(None)
    }

    /// Inputs of all lengths, made of the characters of a set; the same ones in every test.
    fn random_inputs(&self, set: &[u8]) -> Vec<Vec<u8>> {
        let mut state = 1u64;
        let mut below = |limit: usize| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 33) as usize % limit.max(1)
        };
        let mut input = || {
            let size = below(self.directives.max_len + 1);
            (0..size).map(|_| set[below(set.len())]).collect()
        };
        (0..RANDOM_INPUTS).map(|_| input()).collect()
    }
}

struct Found {
    results: Results,
    completeness: search::Completeness,
}

/// Z3 is bounded by its own steps, which are the same everywhere; the time is a limit that no case
/// should meet.
fn solver_limits() -> smt::Limits {
    smt::Limits { time: Duration::from_secs(600), steps: 1_000_000, economical: false, stop: None }
}

fn difference<T: PartialEq + std::fmt::Debug>(
    what: &str,
    expected: &T,
    found: &T,
) -> Option<String> {
    (expected != found).then(|| format!("{what}: expected {expected:?}, found {found:?}"))
}

fn give_ups(stats: &Stats) -> BTreeSet<String> {
    let counted = trace::GiveUp::ALL.iter().zip(&stats.give_ups).filter(|(_, count)| **count > 0);
    counted.map(|(reason, _)| reason.text().to_owned()).collect()
}

/// Lines of branches and switches with an outcome that was never taken. Included files do not
/// count, nor do branches that the compiler made up.
fn uncovered(results: &Results, sites: &SiteTable, source: &Path) -> BTreeSet<u32> {
    let own = |file: u32| sites.files.get(file as usize).is_some_and(|file| source.ends_with(file));
    let missed = |kind: &SiteKind| match kind {
        SiteKind::Plain => false,
        SiteKind::Branch { coverage } => {
            !(*coverage..coverage + 2).all(|o| results.coverage.has(o))
        }
        SiteKind::Switch { coverage, cases } => {
            !(*coverage..=coverage + cases.len() as u32).all(|o| results.coverage.has(o))
        }
    };
    let lines = sites
        .sites
        .iter()
        .filter(|site| own(site.file) && missed(&site.kind))
        .map(|site| site.line);
    lines.filter(|line| *line != 0).collect()
}

/// An observer that nobody listens to.
pub struct Silent;

impl Observer for Silent {
    fn new_entry(&mut self, _: &Entry) -> Result<(), OutputError> {
        Ok(())
    }

    fn new_bug(&mut self, _: &Bug, _: Sighting) -> Result<(), OutputError> {
        Ok(())
    }

    fn wants_progress(&mut self, _: Duration) -> bool {
        false
    }

    fn progress(&mut self, _: &Stats) -> Result<(), OutputError> {
        Ok(())
    }

    fn wants_state(&mut self, _: Duration) -> bool {
        false
    }

    fn state(&mut self, _: &SavedSearch) -> Result<(), OutputError> {
        Ok(())
    }
}
