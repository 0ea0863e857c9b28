//! Puts what the search finds on disk and on the screen.

use std::time::Duration;

use search::{Bug, Entry, Observer, OutputError, SavedSearch, Sighting, Stats};
use sites::SiteTable;

use crate::{Display, OutputDir};

/// How often what all sessions did is written.
const SAVE_INTERVAL: Duration = Duration::from_secs(10);

/// How often the state of the search is written; it can be large.
pub(crate) const STATE_INTERVAL: Duration = Duration::from_secs(60);

pub(crate) struct Recorder<'a> {
    pub output: &'a mut OutputDir,
    pub display: &'a mut Display,
    pub sites: &'a SiteTable,
    pub strategy: String,
    pub next_save: Duration,
    pub next_state: Duration,
}

impl Recorder<'_> {
    fn bug_text(&self, bug: &Bug) -> String {
        match bug.stack().first() {
            Some(frame) => format!("{} in {frame}", bug.title()),
            None if bug.site == 0 => bug.title(),
            None => format!("{} after {}", bug.title(), self.sites.place(bug.site)),
        }
    }

    fn bug_report(&self, bug: &Bug) -> String {
        let place = self.sites.place(bug.site);
        let shown = bug.input.escape_ascii();
        let (title, run, size) = (bug.title(), bug.run, bug.input.len());
        let stderr = String::from_utf8_lossy(&bug.stderr);
        let report = bug.diagnosis.as_ref().map(|diagnosis| String::from_utf8_lossy(&diagnosis.report));
        let report = report.map(|report| format!("\nreport of the sanitized build:\n{report}\n"));
        format!(
            "kind        {title}\nlast branch {place}\nfirst seen  run {run}\ninput       {size} bytes\n\n\
             input, escaped:\n{shown}\n\nend of standard error:\n{stderr}\n{}",
            report.unwrap_or_default()
        )
    }
}

impl Observer for Recorder<'_> {
    fn new_entry(&mut self, entry: &Entry) -> Result<(), OutputError> {
        self.output.save_entry(entry)
    }

    fn new_bug(&mut self, bug: &Bug, sighting: Sighting) -> Result<(), OutputError> {
        self.output.save_bug(bug, &self.bug_report(bug))?;
        if sighting == Sighting::New {
            self.display.bug(&self.bug_text(bug));
        }
        Ok(())
    }

    fn wants_progress(&mut self, elapsed: Duration) -> bool {
        elapsed >= self.next_save || self.display.is_due(elapsed)
    }

    fn progress(&mut self, stats: &Stats) -> Result<(), OutputError> {
        let elapsed = stats.times.total;
        if self.display.is_due(elapsed) {
            self.display.progress(&self.strategy, stats);
        }
        if elapsed >= self.next_save {
            self.next_save = elapsed + SAVE_INTERVAL;
            self.output.save_state(stats.runs, elapsed.as_secs_f64())?;
        }
        Ok(())
    }

    fn wants_state(&mut self, elapsed: Duration) -> bool {
        let due = elapsed >= self.next_state;
        if due {
            self.next_state = elapsed + STATE_INTERVAL;
        }
        due
    }

    fn state(&mut self, saved: &SavedSearch) -> Result<(), OutputError> {
        self.output.save_search(saved, self.sites)
    }
}
