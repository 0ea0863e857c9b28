//! The results of a campaign as data: what `stats.json` and the last line of `--json` hold.

use std::collections::BTreeMap;
use std::time::Duration;

use search::{
    Answers, Bug, BugKind, Claim, Completeness, Enumeration, Growth, KeepBy, LinkStats, Optimism,
    Results, Return, Rounds, SentenceStats, Stats, Verdicts, Violation,
};
use serde::Serialize;
use sites::SiteTable;
use trace::GiveUp;

use crate::output::Resumption;
use crate::{OutputDir, SourceCoverage};

/// What was asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct About {
    pub version: String,
    pub program: String,
    pub strategy: String,
    pub seed: u64,
    pub max_len: usize,
    /// The user's models of functions, each with its file.
    pub models: Vec<String>,
    /// The parts of the input with their sizes, if it comes from several sources.
    pub sources: Vec<String>,
    /// What of the system is input.
    pub environment: Vec<String>,
    /// What corpus/ has an input for.
    pub kept_by: KeepBy,
    /// Things that the user should know about the set-up.
    pub notes: Vec<String>,
}

#[derive(Clone, Debug, Serialize)]
pub struct Report {
    #[serde(flatten)]
    pub about: About,
    /// Why the campaign ended; `running` while it does not.
    pub stopped: String,
    pub runs: u64,
    pub symbolic_runs: u64,
    pub runs_per_second: f64,
    pub paths: u64,
    /// With `kept_by` paths: runs whose paths nobody knows, because others covered the same.
    pub untraced: u64,
    pub coverage: CoverageReport,
    /// Of the source, as in `lcov.info`; absent if it was not measured.
    pub source_coverage: Option<SourceCoverage>,
    pub corpus: usize,
    /// Coverage after each run that added some.
    pub growth: Vec<Growth>,
    pub bugs: Vec<BugReport>,
    /// Runs that do not end, unless they are among the bugs.
    pub hangs: Vec<BugReport>,
    /// Properties that do not hold, at places where there is no bug.
    pub violations: Vec<ViolationReport>,
    /// Bugs and hangs of earlier sessions that did not show in this one.
    pub not_shown: usize,
    pub crashes: u64,
    /// Runs that a signal ended which no mistake brings about, such as SIGTERM.
    pub told_to_end: u64,
    pub timeouts: u64,
    pub out_of_memory: u64,
    pub flaky_timeouts: u64,
    pub slow_in_variant: u64,
    pub unconfirmed_timeouts: u64,
    pub unstable: u64,
    /// Inputs that the sanitized build ran, and those that it did not although something was new
    /// about their runs. Several of these may have one path.
    pub examined: u64,
    pub unexamined: u64,
    /// Examinations that were ended at the time limit.
    pub unfinished_examinations: u64,
    /// Inputs that were left out, because others with the same words did not end.
    pub shunned: u64,
    /// Runs on random inputs, because nothing else was left to try.
    pub restarts: u64,
    /// Runs only to make the inputs of bugs smaller, which are no part of `runs`.
    pub shrinking: u64,
    pub queue: usize,
    pub known_flips: u64,
    pub dropped_flips: u64,
    pub answers: Answers,
    pub optimism: Optimism,
    pub sentences: SentenceStats,
    /// What the program said about sentences of the grammar.
    pub verdicts: Verdicts,
    /// Productions with which it rejected more sentences than otherwise, the most costly first.
    pub rejected_productions: Vec<ProductionVerdicts>,
    pub divergences: u64,
    /// The places where most of them left the predicted path.
    pub divergence_places: Vec<PlaceCount>,
    pub silent_violations: u64,
    pub retraces: u64,
    pub truncated_traces: u64,
    pub bad_traces: u64,
    pub concretisations: u64,
    /// By source file, those with most constraints first.
    pub files: Vec<FileReport>,
    /// How often symbolic data was dropped, by reason.
    pub give_ups: BTreeMap<&'static str, u64>,
    /// The functions through which most of it was lost, most costly first.
    pub lost_through: Vec<FunctionCount>,
    pub solver: Vec<LinkStats>,
    pub seconds: Seconds,
    /// Where the time went by what was tried, and what it brought; most time first.
    pub spent: Vec<Spent>,
    /// Only of a search that explores everything within bounds.
    pub completeness: Option<CompletenessReport>,
    /// Earlier sessions of the same campaign, not counted above.
    pub earlier: EarlierReport,
}

#[derive(Clone, Copy, Debug, Serialize)]
pub struct CoverageReport {
    pub covered: usize,
    pub total: usize,
}

impl CoverageReport {
    pub fn percent(self) -> f64 {
        if self.total == 0 { 0.0 } else { 100.0 * self.covered as f64 / self.total as f64 }
    }
}

#[derive(Clone, Debug, Serialize)]
pub struct BugReport {
    pub id: u32,
    pub kind: String,
    /// The last place where the run depended on its input.
    pub place: String,
    /// The innermost frame, or where each thread waits.
    #[serde(skip)]
    pub at: Option<String>,
    /// The innermost frame first, of a deadlock where each thread waits; empty if no checking build
    /// could say.
    pub stack: Vec<String>,
    /// Of a run that does not end: its loops and what keeps them going.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rounds: Option<Rounds>,
    /// What the program itself does with the input; absent if it was not asked.
    pub plain: Option<String>,
    /// Relative to the output directory.
    pub file: String,
    pub bytes: usize,
    pub hits: u64,
    pub first_run: u64,
}

impl BugReport {
    pub(crate) fn new(bug: &Bug, file: String, sites: &SiteTable) -> BugReport {
        BugReport {
            id: bug.id,
            kind: bug.title(),
            place: sites.place(bug.site),
            at: bug.place(),
            stack: bug.stack().iter().map(ToString::to_string).collect(),
            rounds: bug.rounds().cloned(),
            plain: bug.verdict(),
            file,
            bytes: bug.input.len(),
            hits: bug.hits,
            first_run: bug.run,
        }
    }
}

/// What becomes of runs that do not end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Hangs {
    /// They are listed, and no bugs.
    #[default]
    Apart,
    Bugs,
    /// They are not looked into.
    Off,
}

/// What a search found, as data.
#[derive(Clone, Debug, Default)]
pub(crate) struct Finds {
    pub bugs: Vec<BugReport>,
    pub hangs: Vec<BugReport>,
    pub violations: Vec<ViolationReport>,
    pub not_shown: usize,
}

impl Finds {
    pub(crate) fn new(
        results: &Results,
        output: &OutputDir,
        sites: &SiteTable,
        hangs: Hangs,
    ) -> Finds {
        let written = |file: Option<String>| file.unwrap_or_else(|| "not written".to_owned());
        let is_apart = |bug: &&Bug| hangs == Hangs::Apart && bug.kind == BugKind::Hang;
        let all = results.bugs.all();
        let report = |bug: &Bug| BugReport::new(bug, written(output.bug_file(bug.id)), sites);
        let violations = results.violations.all().iter();
        let silent = violations.filter(|violation| !is_bug(violation, all, sites));
        let violation = |of: &Violation| ViolationReport {
            property: of.kind.text(),
            place: sites.place(of.site),
            file: written(output.violation_file(of.id)),
            bytes: of.input.len(),
            hits: of.hits,
        };
        Finds {
            bugs: all.iter().filter(|bug| !is_apart(bug)).map(report).collect(),
            hangs: all.iter().filter(is_apart).map(report).collect(),
            violations: silent.map(violation).collect(),
            not_shown: output.not_shown(),
        }
    }
}

/// Whether a bug has a frame at the line of a violation: it says the same with more words.
fn is_bug(violation: &Violation, bugs: &[Bug], sites: &SiteTable) -> bool {
    let line = |place: &str| {
        let place = place.split(" (").next().unwrap_or_default();
        let mut parts = place.rsplit('/').next().unwrap_or_default().split(':');
        Some((parts.next()?.to_owned(), parts.next()?.to_owned()))
    };
    let at = line(&sites.place(violation.site));
    at.is_some() && bugs.iter().flat_map(Bug::stack).any(|frame| line(&frame.place) == at)
}

#[derive(Clone, Debug, Serialize)]
pub struct ViolationReport {
    pub property: &'static str,
    pub place: String,
    /// Relative to the output directory.
    pub file: String,
    pub bytes: usize,
    /// Traced runs that violated it.
    pub hits: u64,
}

#[derive(Clone, Debug, Serialize)]
pub struct PlaceCount {
    pub place: String,
    pub count: u64,
}

/// Places and productions that are listed.
const MAX_SHOWN: usize = 5;

/// The places with the highest counts.
fn places(counts: &BTreeMap<u32, u64>, sites: &SiteTable) -> Vec<PlaceCount> {
    let mut sorted: Vec<(u32, u64)> = counts.iter().map(|(&site, &count)| (site, count)).collect();
    sorted.sort_by_key(|&(site, count)| (std::cmp::Reverse(count), site));
    sorted.truncate(MAX_SHOWN);
    sorted.into_iter().map(|(site, count)| PlaceCount { place: sites.place(site), count }).collect()
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FileReport {
    pub file: String,
    /// Inputs that took a branch there.
    pub reached: u64,
    /// Conditions on symbolic data, of all traced runs.
    pub constraints: u64,
}

fn files(stats: &Stats, sites: &SiteTable) -> Vec<FileReport> {
    let mut constraints = vec![0; sites.files.len()];
    for (site, &count) in sites.sites.iter().zip(&stats.constraint_sites) {
        if let Some(total) = constraints.get_mut(site.file as usize) {
            *total += count;
        }
    }
    let reached = stats.reached_files.iter().copied().chain(std::iter::repeat(0));
    let of = |((file, constraints), reached): ((&String, u64), u64)| FileReport {
        file: file.clone(),
        reached,
        constraints,
    };
    let mut files: Vec<FileReport> =
        sites.files.iter().zip(constraints).zip(reached).map(of).collect();
    files.retain(|of| of.reached > 0 || of.constraints > 0);
    files.sort_by(|a, b| b.constraints.cmp(&a.constraints).then_with(|| a.file.cmp(&b.file)));
    files
}

#[derive(Clone, Debug, Serialize)]
pub struct FunctionCount {
    pub function: String,
    pub count: u64,
}

/// Functions without a model by name, and calls that went beyond their model by place.
fn lost_through(stats: &Stats, sites: &SiteTable) -> Vec<FunctionCount> {
    const MOST: usize = 20;
    let name = |number: u32| match number {
        trace::UNKNOWN_FUNCTION => "a function that was called through a pointer",
        _ => sites.externals.get(number as usize).map_or("?", String::as_str),
    };
    let externals =
        stats.lost_externals.iter().map(|(&number, &count)| (name(number).to_owned(), count));
    let call = |site: u32| format!("library call at {}", sites.place(site));
    let calls = stats.lost_calls.iter().map(|(&site, &count)| (call(site), count));
    let mut sorted: Vec<FunctionCount> =
        externals.chain(calls).map(|(function, count)| FunctionCount { function, count }).collect();
    sorted.sort_by(|a, b| b.count.cmp(&a.count).then_with(|| a.function.cmp(&b.function)));
    sorted.truncate(MOST);
    sorted
}

/// What one kind of work took and brought.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Spent {
    pub work: &'static str,
    pub seconds: f64,
    /// How often it had its turn.
    pub turns: u64,
    /// Branch outcomes that it was the first to take.
    pub outcomes: u64,
}

fn spent(stats: &Stats) -> Vec<Spent> {
    let spent = |(work, Return { time, turns, outcomes })| Spent {
        work,
        seconds: Duration::as_secs_f64(&time),
        turns,
        outcomes,
    };
    stats.returns.works().into_iter().map(spent).collect()
}

/// Time by phase.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Seconds {
    pub total: f64,
    pub running: f64,
    /// The part of `running` that runs with a trace took.
    pub tracing: f64,
    pub solving: f64,
    /// Looking for sentences of the grammar.
    pub grammar: f64,
    pub other: f64,
}

#[derive(Clone, Debug, Serialize)]
pub struct CompletenessReport {
    pub complete: bool,
    pub text: String,
    #[serde(flatten)]
    pub counts: Completeness,
    /// Of the strings of a grammar, if those were enumerated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enumeration: Option<Enumeration>,
}

impl From<Claim> for CompletenessReport {
    fn from(claim: Claim) -> CompletenessReport {
        let Claim { complete, text, counts, enumeration } = claim;
        CompletenessReport { complete, text, counts, enumeration }
    }
}

#[derive(Clone, Copy, Debug, Serialize)]
pub struct EarlierReport {
    pub sessions: u32,
    pub runs: u64,
    pub seconds: f64,
}

impl Report {
    pub(crate) fn new(
        about: &About,
        stats: &Stats,
        finds: Finds,
        stopped: String,
        claim: Option<Claim>,
        earlier: &Resumption,
        sites: &SiteTable,
    ) -> Report {
        Report {
            about: about.clone(),
            stopped,
            runs: stats.runs,
            symbolic_runs: stats.symbolic_runs,
            runs_per_second: per_second(stats.runs, stats.times.total.as_secs_f64()),
            paths: stats.paths,
            untraced: stats.untraced,
            coverage: CoverageReport { covered: stats.covered, total: stats.outcomes },
            source_coverage: None,
            corpus: stats.corpus,
            growth: stats.growth.clone(),
            bugs: finds.bugs,
            hangs: finds.hangs,
            violations: finds.violations,
            not_shown: finds.not_shown,
            crashes: stats.crashes,
            told_to_end: stats.told_to_end,
            timeouts: stats.timeouts,
            out_of_memory: stats.out_of_memory,
            flaky_timeouts: stats.flaky_timeouts,
            slow_in_variant: stats.slow_in_variant,
            unconfirmed_timeouts: stats.unconfirmed_timeouts,
            unstable: stats.unstable,
            examined: stats.examined,
            unexamined: stats.unexamined,
            unfinished_examinations: stats.unfinished_examinations,
            shunned: stats.shunned,
            restarts: stats.restarts,
            shrinking: stats.shrinking,
            queue: stats.queue,
            known_flips: stats.known_flips,
            dropped_flips: stats.dropped_flips,
            answers: stats.answers,
            optimism: stats.optimism,
            sentences: stats.sentences,
            verdicts: stats.verdicts,
            rejected_productions: rejected_productions(stats),
            divergences: stats.divergences,
            divergence_places: places(&stats.divergence_sites, sites),
            silent_violations: stats.silent_violations,
            retraces: stats.retraces,
            truncated_traces: stats.truncated_traces,
            bad_traces: stats.bad_traces,
            concretisations: stats.concretisations,
            files: files(stats, sites),
            give_ups: give_ups(stats),
            lost_through: lost_through(stats, sites),
            solver: stats.solver.clone(),
            seconds: seconds(stats),
            spent: spent(stats),
            completeness: claim.map(CompletenessReport::from),
            earlier: EarlierReport {
                sessions: earlier.sessions,
                runs: earlier.runs,
                seconds: earlier.seconds,
            },
        }
    }
}

#[derive(Clone, Debug, Serialize)]
pub struct ProductionVerdicts {
    pub production: String,
    #[serde(flatten)]
    pub verdicts: Verdicts,
}

/// Those that were rejected more often than all sentences are, by how many sentences more.
fn rejected_productions(stats: &Stats) -> Vec<ProductionVerdicts> {
    let all = stats.verdicts;
    // Beyond what is expected, times the number of all sentences.
    let excess =
        |of: &Verdicts| i128::from(of.rejected * all.all()) - i128::from(of.all() * all.rejected);
    let mut found: Vec<_> =
        stats.productions.iter().filter(|(_, verdicts)| excess(verdicts) > 0).collect();
    found.sort_by_key(|(_, verdicts)| std::cmp::Reverse(excess(verdicts)));
    let entry = |(name, verdicts): (&String, &Verdicts)| ProductionVerdicts {
        production: name.clone(),
        verdicts: *verdicts,
    };
    found.into_iter().take(MAX_SHOWN).map(entry).collect()
}

pub(crate) fn per_second(count: u64, seconds: f64) -> f64 {
    if seconds > 0.0 { count as f64 / seconds } else { 0.0 }
}

fn give_ups(stats: &Stats) -> BTreeMap<&'static str, u64> {
    let counts = GiveUp::ALL.iter().zip(&stats.give_ups);
    counts.filter(|(_, count)| **count > 0).map(|(reason, &count)| (reason.text(), count)).collect()
}

fn seconds(stats: &Stats) -> Seconds {
    let times = &stats.times;
    let [total, running, tracing, solving, grammar] =
        [times.total, times.running, times.tracing, times.solving, times.grammar]
            .map(|time| time.as_secs_f64());
    Seconds {
        total,
        running,
        tracing,
        solving,
        grammar,
        other: (total - running - solving - grammar).max(0.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_have_their_inputs_and_conditions() {
        let site = |file| sites::Site { file, ..sites::Site::default() };
        let sites = SiteTable {
            files: vec!["lexer.c".into(), "parser.c".into(), "unused.c".into()],
            sites: vec![site(0), site(0), site(1), site(1), site(2)],
            ..SiteTable::default()
        };
        let stats = Stats {
            constraint_sites: vec![0, 3, 4, 5],
            reached_files: vec![8, 6, 0],
            ..Stats::new()
        };
        let of = |file: &str, reached, constraints| FileReport {
            file: file.into(),
            reached,
            constraints,
        };
        assert_eq!(files(&stats, &sites), [of("parser.c", 6, 9), of("lexer.c", 8, 3)]);
    }

    #[test]
    fn the_most_costly_function_comes_first() {
        let sites = SiteTable {
            externals: vec!["crypt".into(), "frobnicate".into()],
            ..SiteTable::default()
        };
        let stats = Stats {
            lost_externals: BTreeMap::from([(0, 3), (1, 40)]),
            lost_calls: BTreeMap::from([(5, 7)]),
            ..Stats::new()
        };
        let lost = lost_through(&stats, &sites);
        let names: Vec<(&str, u64)> =
            lost.iter().map(|lost| (lost.function.as_str(), lost.count)).collect();
        assert_eq!(names, [("frobnicate", 40), ("library call at unknown place", 7), ("crypt", 3)]);
    }
}
