//! What is said during a cross-check: lines for people on standard error, JSON for programs.

use std::io::{self, Write};
use std::path::Path;
use std::time::Duration;

use diff::Sighting;
use serde::Serialize;
use serde_json::json;

use super::check::Counts;
use super::output::Event;
use crate::args::OutputArgs;

pub(crate) struct Screen {
    quiet: bool,
    json: bool,
    next: Duration,
}

impl Screen {
    pub(crate) fn new(output: &OutputArgs) -> Screen {
        let mut screen = Screen { quiet: output.quiet, json: output.json, next: Duration::ZERO };
        screen.next = screen.interval();
        screen
    }

    fn interval(&self) -> Duration {
        if self.json { Duration::from_secs(1) } else { Duration::from_secs(5) }
    }

    pub(crate) fn note(&self, text: &str) {
        self.event("note", &json!({ "text": text }));
        self.line(&format!("note: {text}"));
    }

    pub(crate) fn kept(&self, file: &Path) {
        self.event("input", &json!({ "file": file }));
    }

    /// The files of the find are there.
    pub(crate) fn found(&self, event: Event) {
        match event.sighting {
            Sighting::New => {
                self.event("difference", &event);
                self.line(&format!(
                    "difference: {} in {}",
                    event.report.text,
                    event.folder.display()
                ));
            }
            Sighting::Smaller => self.event("smaller", &event),
            Sighting::Known => {}
        }
    }

    pub(crate) fn progress(&mut self, elapsed: Duration, counts: &Counts, groups: usize) {
        if elapsed < self.next {
            return;
        }
        self.next = elapsed + self.interval();
        let seconds = elapsed.as_secs_f64();
        self.event("progress", &json!({ "seconds": seconds, "counts": counts, "groups": groups }));
        let Counts { generated: [a, b], compared, different, .. } = counts;
        self.line(&format!(
            "{seconds:.0} s: {} inputs ({a} from A, {b} from B), {compared} compared, {different} \
             differ, {groups} groups",
            a + b
        ));
    }

    /// What it comes to, in both forms.
    pub(crate) fn end(&self, text: &str, value: &impl Serialize) {
        self.event("end", value);
        if !self.quiet && !self.json {
            // A reader that went away is no error.
            let _ = write!(io::stdout(), "{text}");
        }
    }

    fn line(&self, text: &str) {
        if !self.quiet && !self.json {
            let _ = writeln!(io::stderr(), "{text}");
        }
    }

    fn event(&self, event: &str, value: &impl Serialize) {
        #[derive(Serialize)]
        struct Line<'a, T> {
            event: &'a str,
            #[serde(flatten)]
            value: &'a T,
        }
        if self.json
            && let Ok(text) = serde_json::to_string(&Line { event, value })
        {
            let _ = writeln!(io::stdout(), "{text}");
        }
    }
}
