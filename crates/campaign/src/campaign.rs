//! One session of a campaign, from the seeds to the summary.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use search::{
    Bugs, Claim, Corpus, Engine, Executor, Limits, OutputError, Results, SavedSearch, Seed, Stop,
    Strategy, Violations, World,
};
use shrink::Shrinker;
use sites::SiteTable;
use solver::Chain;
use sources::Layout;

use crate::measure::{MakeCovered, Measured, measure};
use crate::output::to_json;
use crate::recorder::{Recorder, STATE_INTERVAL};
use crate::report::{About, Finds, Hangs, Report};
use crate::triage::recorded;
use crate::{Display, OutputDir, WallClock, inputs, summary};

pub struct Campaign<'a> {
    pub executor: &'a mut dyn Executor,
    pub solver: &'a mut Chain,
    pub sites: &'a SiteTable,
    pub output: OutputDir,
    pub display: Display,
    pub stop: &'a AtomicBool,
    pub limits: Limits,
    /// As many new bugs end it.
    pub bugs: Option<u32>,
    /// What inputs are made of, if they come from several sources.
    pub layout: Option<Layout>,
    /// Makes the inputs of bugs smaller; `None` where they have to stay as they are found.
    pub shrinker: Option<Box<dyn Shrinker + 'a>>,
    pub about: About,
    pub hangs: Hangs,
    /// For `lcov.info` at the end; `None` if it is not wanted.
    pub covered: Option<MakeCovered<'a>>,
}

/// How a session ended.
pub struct CampaignEnd {
    pub report: Report,
    pub summary: String,
    pub stop: Stop,
    /// The last results could not be written.
    pub unsaved: Option<OutputError>,
}

impl Campaign<'_> {
    /// Runs the session. `seeds` come after what an earlier session left.
    pub fn run(mut self, strategy: &mut dyn Strategy, seeds: Vec<Seed>) -> CampaignEnd {
        self.output.set_strategy(strategy.name());
        let seeds = self.resumed_seeds(strategy, seeds);
        let clock = WallClock::start();
        let mut recorder = Recorder {
            output: &mut self.output,
            display: &mut self.display,
            sites: self.sites,
            models: &self.about.models,
            kept_by: self.about.kept_by,
            strategy: strategy.name().to_owned(),
            hangs_apart: self.hangs == Hangs::Apart,
            next_save: Duration::ZERO,
            next_state: STATE_INTERVAL,
            wanted: self.bugs,
            found: 0,
        };
        let first = recorder.output.highest_number();
        let bugs = known_bugs(Bugs::after(first), recorder.output);
        let world = World {
            executor: self.executor,
            solver: self.solver,
            sites: self.sites,
            clock: &clock,
            observer: &mut recorder,
            stop: self.stop,
        };
        let results = Results {
            corpus: Corpus::after(first, self.about.kept_by),
            bugs: if self.hangs == Hangs::Off { bugs.without_hangs() } else { bugs },
            violations: Violations::after(first),
            ..Results::new(self.sites)
        };
        let engine = Engine::new(world, self.limits, self.about.seed, results)
            .with_layout(self.layout.clone())
            .with_shrinker(self.shrinker.take());
        let (results, stop) = engine.search(strategy, seeds);
        let saved = strategy.save();
        self.finish(&results, stop, strategy.claim(), saved.as_ref())
    }

    /// What earlier sessions found, what they had yet to try, and the given seeds, each input once.
    fn resumed_seeds(&mut self, strategy: &mut dyn Strategy, given: Vec<Seed>) -> Vec<Seed> {
        for note in self.output.notes() {
            self.display.note(note);
            self.about.notes.push(note.clone());
        }
        let mut seeds = self.earlier_inputs();
        match self.output.saved_search(self.sites, self.about.kept_by) {
            Ok(Some(saved)) => {
                strategy.restore(&saved);
                let waiting = |input| Seed { name: "waiting".to_owned(), input };
                seeds.extend(saved.waiting.into_iter().map(waiting));
            }
            Ok(None) => {}
            Err(note) => {
                self.display.note(&note);
                self.about.notes.push(note);
            }
        }
        seeds.extend(given);
        // They were reported; each would cost new servers.
        let mut seen: HashSet<Vec<u8>> =
            self.output.offenders().into_iter().map(|(_, input)| input).collect();
        seeds.retain(|seed| seen.insert(seed.input.clone()));
        seeds
    }

    fn earlier_inputs(&self) -> Vec<Seed> {
        let cut = |(name, mut input): (String, Vec<u8>)| {
            input.truncate(self.limits.max_len);
            Seed { name, input }
        };
        self.output.inputs().into_iter().map(cut).collect()
    }

    fn finish(
        mut self,
        results: &Results,
        stop: Stop,
        claim: Option<Claim>,
        saved: Option<&SavedSearch>,
    ) -> CampaignEnd {
        self.display.finish();
        let finds = Finds::new(results, &self.output, self.sites, self.hangs);
        self.about.notes.extend(self.executor.plain_trouble());
        let earlier = self.output.earlier();
        let mut report = Report::new(
            &self.about,
            &results.stats,
            finds,
            stop.to_string(),
            claim,
            earlier,
            self.sites,
        );
        // Saved first, because measuring takes a while and a second interrupt ends everything at
        // once.
        let mut unsaved = self.save_search(saved).and_then(|()| self.save(&report)).err();
        if unsaved.is_none() {
            self.measure(&mut report);
            unsaved = self.save(&report).err();
        }
        self.display.json("end", &report);
        let summary = self.summary(&report);
        CampaignEnd { report, summary, stop, unsaved }
    }

    /// Writes `lcov.info` for everything that this session and earlier ones found. What goes wrong
    /// is a note.
    fn measure(&mut self, report: &mut Report) {
        let Some(make) = self.covered.take() else { return };
        let stop = self.stop;
        if stop.load(Ordering::Relaxed) {
            return report.about.notes.push(no_lcov("interrupted"));
        }
        let measured = make().and_then(|mut covered| {
            let inputs =
                inputs::read_found(self.output.path()).map_err(|error| error.to_string())?;
            let measured = measure(&mut covered, &inputs)?;
            let written = self.output.write(PathBuf::from("lcov.info"), measured.lcov.as_bytes());
            written.map(|()| measured).map_err(|error| error.to_string())
        });
        match measured {
            Ok(Measured { totals, note, .. }) => {
                report.source_coverage = Some(totals);
                report.about.notes.extend(note);
            }
            Err(_) if stop.load(Ordering::Relaxed) => {
                report.about.notes.push(no_lcov("interrupted"));
            }
            Err(error) => report.about.notes.push(no_lcov(&error)),
        }
    }

    fn summary(&self, report: &Report) -> String {
        summary::summary(report, &self.output.path().display().to_string())
    }

    fn save_search(&self, saved: Option<&SavedSearch>) -> Result<(), OutputError> {
        let kept_by = self.about.kept_by;
        saved.map_or(Ok(()), |saved| self.output.save_search(saved, self.sites, kept_by))
    }

    fn save(&self, report: &Report) -> Result<(), OutputError> {
        let summary = self.summary(report);
        self.output.write(PathBuf::from("stats.json"), to_json(report)?.as_bytes())?;
        self.output.write(PathBuf::from("summary.txt"), summary.as_bytes())?;
        self.output.save_state(report.runs, report.seconds.total)
    }
}

fn no_lcov(why: &str) -> String {
    format!("no new lcov.info: {why} (tarragon replay --lcov FILE makes one)")
}

/// Adds the finds of earlier sessions that are not run again.
fn known_bugs(mut bugs: Bugs, output: &mut OutputDir) -> Bugs {
    for (file, input) in output.offenders() {
        let Some(recorded) = recorded(&output.path().join(file.to_string())) else { continue };
        let id = bugs.add_offence(&input, recorded.kind).id;
        output.adopt(id, file);
    }
    bugs
}
