//! Showing progress: a block that refreshes on a terminal, lines elsewhere, JSON for programs, or
//! nothing.
//!
//! Progress for people goes to standard error and never stops a campaign, even if nobody reads it.
//! JSON goes to standard output.

use std::io::Write;
use std::path::Path;
use std::time::Duration;

use search::{Sighting, Stats};
use serde::Serialize;

use crate::status;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DisplayMode {
    Live,
    Lines,
    Json,
    Quiet,
}

impl DisplayMode {
    fn interval(self) -> Duration {
        match self {
            DisplayMode::Live => Duration::from_millis(200),
            DisplayMode::Json => Duration::from_secs(1),
            DisplayMode::Lines => Duration::from_secs(5),
            DisplayMode::Quiet => Duration::MAX,
        }
    }
}

/// What a find is to those who read about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum What {
    Bug,
    Hang,
    Violation,
}

impl What {
    fn name(self) -> &'static str {
        match self {
            What::Bug => "bug",
            What::Hang => "hang",
            What::Violation => "violation",
        }
    }
}

/// A find whose files are on disk. Paths are relative to the output directory.
#[derive(Debug, Serialize)]
pub(crate) struct Announcement<'a> {
    /// What `smaller` is about.
    pub what: What,
    pub id: u32,
    pub text: &'a str,
    pub kind: &'a str,
    pub file: &'a str,
    pub report: &'a Path,
    pub bytes: usize,
    /// The file that it replaces, if that has another name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub was: Option<&'a str>,
    /// An earlier session found it.
    pub known: bool,
}

/// How far the variants of a program are.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Preparing<'a> {
    pub program: &'a str,
    /// The variant that is there now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub variant: Option<&'a str>,
    pub ready: usize,
    pub of: usize,
    pub seconds: f64,
}

pub struct Display {
    mode: DisplayMode,
    out: Box<dyn Write>,
    next: Duration,
    /// Lines of the block that is on the screen.
    shown: usize,
    last_bug: Option<String>,
}

impl Display {
    /// Writes to `out`: standard error, or standard output for JSON.
    pub fn new(mode: DisplayMode, out: Box<dyn Write>) -> Display {
        let first = if mode == DisplayMode::Live { Duration::ZERO } else { mode.interval() };
        Display { mode, out, next: first, shown: 0, last_bug: None }
    }

    pub(crate) fn is_due(&self, elapsed: Duration) -> bool {
        elapsed >= self.next
    }

    pub(crate) fn progress(&mut self, strategy: &str, stats: &Stats) {
        self.next = stats.times.total.saturating_add(self.mode.interval());
        match self.mode {
            DisplayMode::Live => {
                self.redraw(&status::block(strategy, stats, self.last_bug.as_deref()))
            }
            DisplayMode::Lines => self.print(&status::line(stats)),
            DisplayMode::Json => self.json("progress", stats),
            DisplayMode::Quiet => {}
        }
    }

    /// What happens before the first run.
    pub fn preparing(&mut self, preparing: &Preparing<'_>) {
        let Preparing { program, variant, ready, of, seconds } = preparing;
        let which = variant.map_or_else(String::new, |variant| format!("{variant}, "));
        match self.mode {
            DisplayMode::Live | DisplayMode::Lines => self.print(&format!(
                "preparing {program} (only once for each build): {ready} of {of} variants are \
                 ready ({which}after {seconds:.0} s)"
            )),
            DisplayMode::Json => self.json("preparing", preparing),
            DisplayMode::Quiet => {}
        }
    }

    pub(crate) fn note(&mut self, text: &str) {
        match self.mode {
            DisplayMode::Live | DisplayMode::Lines => self.print(&format!("note: {text}")),
            DisplayMode::Json => self.json("note", &serde_json::json!({ "text": text })),
            DisplayMode::Quiet => {}
        }
    }

    /// Tells people about new finds, and machines also where a smaller input is.
    pub(crate) fn find(&mut self, sighting: Sighting, find: &Announcement<'_>) {
        let is_new = sighting == Sighting::New;
        if is_new && find.what == What::Bug {
            self.last_bug = Some(find.text.to_owned());
        }
        let event = find.what.name();
        match self.mode {
            DisplayMode::Lines if is_new && find.what != What::Violation => {
                self.print(&format!("{event}: {}", find.text));
            }
            DisplayMode::Json => self.json(if is_new { event } else { "smaller" }, find),
            DisplayMode::Live | DisplayMode::Lines | DisplayMode::Quiet => {}
        }
    }

    /// Tells machines about an input that was kept.
    pub(crate) fn kept(&mut self, file: &str) {
        self.json("input", &serde_json::json!({ "file": file }));
    }

    /// One line of JSON with its kind under `event`.
    pub(crate) fn json(&mut self, event: &str, value: &impl Serialize) {
        #[derive(Serialize)]
        struct Line<'a, T> {
            event: &'a str,
            #[serde(flatten)]
            value: &'a T,
        }
        if self.mode == DisplayMode::Json
            && let Ok(text) = serde_json::to_string(&Line { event, value })
        {
            self.print(&text);
        }
    }

    /// Removes the block, so that what follows starts on a clean line.
    pub(crate) fn finish(&mut self) {
        if self.shown > 0 {
            self.redraw(&[]);
        }
    }

    fn redraw(&mut self, lines: &[String]) {
        let mut text = String::new();
        if self.shown > 0 {
            text = format!("\x1b[{}A\x1b[J", self.shown);
        }
        for line in lines {
            text.push_str(line);
            text.push('\n');
        }
        self.shown = lines.len();
        self.send(&text);
    }

    fn print(&mut self, line: &str) {
        self.send(&format!("{line}\n"));
    }

    fn send(&mut self, text: &str) {
        // A reader that went away is no reason to stop a campaign.
        let _ = self.out.write_all(text.as_bytes()).and_then(|()| self.out.flush());
    }
}
