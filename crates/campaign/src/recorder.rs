//! Puts what the search finds on disk and on the screen.

use std::time::Duration;

use search::{
    Bug, BugKind, Entry, KeepBy, Observer, OutputError, SavedSearch, Sighting, Stats, Violation,
};
use sites::SiteTable;
use sources::Layout;

use crate::display::{Announcement, What};
use crate::output::Saved;
use crate::{Display, OutputDir};

/// How often what all sessions did is written.
const SAVE_INTERVAL: Duration = Duration::from_secs(10);

/// How often the state of the search is written; it can be large.
pub(crate) const STATE_INTERVAL: Duration = Duration::from_secs(60);

pub(crate) struct Recorder<'a> {
    pub output: &'a mut OutputDir,
    pub display: &'a mut Display,
    pub sites: &'a SiteTable,
    /// What stands in for functions of the program.
    pub models: &'a [String],
    pub kept_by: KeepBy,
    pub strategy: String,
    pub hangs_apart: bool,
    pub next_save: Duration,
    pub next_state: Duration,
    /// As many new bugs end the campaign.
    pub wanted: Option<u32>,
    pub found: u32,
}

impl Recorder<'_> {
    fn bug_text(&self, bug: &Bug) -> String {
        match bug.place() {
            Some(place) => format!("{} in {place}", bug.title()),
            None if bug.site == 0 => bug.title(),
            None => format!("{} after {}", bug.title(), self.sites.place(bug.site)),
        }
    }

    fn bug_report(&self, bug: &Bug) -> String {
        let place = self.sites.place(bug.site);
        let (title, run) = (bug.title(), bug.run);
        let at =
            bug.stack().first().map_or_else(String::new, |frame| format!("where       {frame}\n"));
        let plain = bug.verdict().map_or_else(String::new, |text| format!("plain       {text}\n"));
        let stderr = String::from_utf8_lossy(&bug.stderr);
        let report =
            bug.diagnosis.as_ref().map(|diagnosis| String::from_utf8_lossy(&diagnosis.report));
        let told = told_by_surroundings(&stderr, report.as_deref().unwrap_or_default());
        let report = report.map(|report| format!("\nreport of the sanitized build:\n{report}\n"));
        let rounds = bug.rounds().map_or_else(String::new, |rounds| format!("\nloops:\n{rounds}"));
        format!(
            "kind        {title}\n{at}{told}{plain}last branch {place}\nfirst seen  run {run}\n\
             {}{}{rounds}\nend of standard error:\n{stderr}\n{}",
            self.models_line(),
            shown(&bug.input),
            report.unwrap_or_default()
        )
    }

    /// Without them the input may do something else.
    fn models_line(&self) -> String {
        match self.models {
            [] => String::new(),
            models => format!("models      {}\n", models.join(", ")),
        }
    }

    /// A reader always knows a file that is there: the one that is replaced goes when it was told
    /// about the other.
    fn announce(&mut self, sighting: Sighting, told: &Told, saved: Saved, bytes: usize) {
        let Told { what, id, ref text, ref kind } = *told;
        let was = saved.replaced.as_ref().map(ToString::to_string);
        let find = Announcement {
            what,
            id,
            text,
            kind,
            file: &saved.file.to_string(),
            report: &saved.file.report(),
            bytes,
            was: was.as_deref(),
            known: saved.is_of_earlier,
        };
        self.display.find(sighting, &find);
        if let Some(replaced) = saved.replaced {
            self.output.remove(&replaced, &saved.file);
        }
    }

    fn violation_report(&self, violation: &Violation) -> String {
        let (kind, place) = (violation.kind.text(), self.sites.place(violation.site));
        format!(
            "property    {kind}\nwhere       {place}\n\
             The run violates the property, and ended as if nothing was wrong.\n{}{}",
            self.models_line(),
            shown(&violation.input)
        )
    }
}

/// What is said about a find.
struct Told {
    what: What,
    id: u32,
    text: String,
    kind: String,
}

/// Which calls failed, which names are which files: what stands around the program says it on the
/// standard error, of which only the end may be there, and in the report of the sanitized build.
fn told_by_surroundings(stderr: &str, report: &str) -> String {
    let told = |text: &str| -> String {
        let lines = text.lines().filter_map(|line| line.strip_prefix("tarragon: "));
        lines.map(|line| format!("environment {line}\n")).collect()
    };
    let reported = told(report);
    if reported.is_empty() { told(stderr) } else { reported }
}

fn shown(input: &[u8]) -> String {
    if let Some(layout) = Layout::of(input) {
        return shown_parts(&layout, &layout.split(input).unwrap_or_default());
    }
    format!("input       {} bytes\n\ninput, escaped:\n{}\n", input.len(), input.escape_ascii())
}

fn shown_parts(layout: &Layout, parts: &[Vec<u8>]) -> String {
    let mut text = format!("input       {} parts\n\n", parts.len());
    for (part, bytes) in layout.parts().iter().zip(parts) {
        text +=
            &format!("{} ({} bytes), escaped:\n{}\n", part.name, bytes.len(), bytes.escape_ascii());
    }
    text
}

impl Observer for Recorder<'_> {
    fn new_entry(&mut self, entry: &Entry) -> Result<(), OutputError> {
        let file = self.output.save_entry(entry)?;
        self.display.kept(&file);
        Ok(())
    }

    fn new_bug(&mut self, bug: &Bug, sighting: Sighting) -> Result<(), OutputError> {
        let saved = self.output.save_bug(bug, &self.bug_report(bug))?;
        let what = match bug.kind {
            BugKind::Hang if self.hangs_apart => What::Hang,
            _ => What::Bug,
        };
        let is_new = sighting == Sighting::New && !saved.is_of_earlier;
        self.found += u32::from(what == What::Bug && is_new);
        let told = Told { what, id: bug.id, text: self.bug_text(bug), kind: bug.title() };
        self.announce(sighting, &told, saved, bug.input.len());
        Ok(())
    }

    fn new_violation(
        &mut self,
        violation: &Violation,
        sighting: Sighting,
    ) -> Result<(), OutputError> {
        let saved = self.output.save_violation(violation, &self.violation_report(violation))?;
        let kind = violation.kind.text();
        let text = format!("{kind} at {}", self.sites.place(violation.site));
        let told = Told { what: What::Violation, id: violation.id, text, kind: kind.to_owned() };
        self.announce(sighting, &told, saved, violation.input.len());
        Ok(())
    }

    fn found_enough(&self) -> Option<u32> {
        self.wanted.filter(|wanted| self.found >= *wanted).map(|_| self.found)
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
        self.output.save_search(saved, self.sites, self.kept_by)
    }
}
