//! What a cross-check comes to: `summary.txt` and `stats.json`.

use std::fmt::Write as _;
use std::path::Path;

use anyhow::Result;
use diff::{Group, Side};
use search::Clock as _;
use serde::Serialize;

use super::check::{Check, Counts};
use super::program::Program;

/// Covered branch outcomes, and all of them.
#[derive(Clone, Copy, Debug, Serialize)]
struct Coverage {
    covered: usize,
    total: usize,
}

/// A line of the table.
#[derive(Debug, Serialize)]
struct Row {
    id: usize,
    folder: String,
    class: &'static str,
    outcomes: [String; 2],
    bytes: usize,
    inputs: u64,
    text: String,
    /// The plainest group whose input is in this one's.
    like: Option<usize>,
}

#[derive(Debug, Serialize)]
struct Statistics<'a> {
    version: &'static str,
    programs: [String; 2],
    end: &'a str,
    seconds: f64,
    counts: &'a Counts,
    /// Of programs that were built with Tarragon.
    coverage: [Option<Coverage>; 2],
    differences: Vec<Row>,
    notes: Vec<String>,
}

impl Check<'_> {
    /// Writes what it comes to, and shows it.
    pub(crate) fn conclude(&mut self, end: &str, notes: Vec<String>) -> Result<()> {
        let [a, b] = &mut self.programs;
        let coverage = [coverage(a), coverage(b)];
        let rows = self.groups.all().iter().map(|group| self.row(group)).collect();
        let statistics = Statistics {
            version: env!("CARGO_PKG_VERSION"),
            programs: self.output.programs(),
            end,
            seconds: self.clock.elapsed().as_secs_f64(),
            counts: &self.counts,
            coverage,
            differences: rows,
            notes,
        };
        let text = statistics.text(self.output.path());
        self.output.write(Path::new("stats.json"), &serde_json::to_vec_pretty(&statistics)?)?;
        self.output.write(Path::new("summary.txt"), text.as_bytes())?;
        self.screen.end(&text, &statistics);
        Ok(())
    }

    fn row(&self, group: &Group) -> Row {
        let (folder, text) = self.output.about(group.id);
        Row {
            id: group.id,
            folder,
            class: group.signature.class.slug(),
            outcomes: group.signature.outcomes.clone(),
            bytes: group.input.len(),
            inputs: group.inputs,
            text,
            like: self.groups.plainest(group).map(|plainest| plainest.id),
        }
    }
}

fn coverage(program: &mut Program<'_>) -> Option<Coverage> {
    let search = program.search.as_mut()?;
    let stats = &search.engine.results(&search.strategy).stats;
    Some(Coverage { covered: stats.covered, total: stats.outcomes })
}

impl Statistics<'_> {
    fn text(&self, dir: &Path) -> String {
        let mut text = String::new();
        // Writing to a string cannot fail.
        let _ = self.lines(&mut text, dir);
        text
    }

    fn lines(&self, text: &mut String, dir: &Path) -> std::fmt::Result {
        let Counts { generated: [a, b], compared, different, .. } = self.counts;
        let total = a + b;
        writeln!(text, "{} and {}: {}", self.programs[0], self.programs[1], self.end)?;
        writeln!(text, "  inputs      {total} in {:.1} s: {a} from A, {b} from B", self.seconds)?;
        writeln!(text, "  compared    {compared}, of which {different} differ")?;
        for (number, what) in self.asides() {
            writeln!(text, "              {number} {what}")?;
        }
        for (side, coverage) in Side::BOTH.iter().zip(&self.coverage) {
            if let Some(Coverage { covered, total }) = coverage {
                let percent = 100.0 * *covered as f64 / (*total).max(1) as f64;
                writeln!(
                    text,
                    "  coverage    {side}: {covered} of {total} branch outcomes ({percent:.1} %)"
                )?;
            }
        }
        for row in self.plain() {
            let [a, b] = &row.outcomes;
            writeln!(
                text,
                "  difference  {} ({} bytes, {} inputs; A: {a}, B: {b})",
                row.text, row.bytes, row.inputs
            )?;
            writeln!(text, "              {}", row.folder)?;
            for like in self.differences.iter().filter(|other| other.like == Some(row.id)) {
                writeln!(text, "              {}: has this one's input in its own", like.folder)?;
            }
        }
        let (groups, plain) = (self.differences.len(), self.plain().count());
        let like = match groups - plain {
            0 => String::new(),
            _ => format!(", {plain} without another's input in theirs"),
        };
        writeln!(text, "  results     {} ({groups} groups of differences{like})", dir.display())
    }

    /// What is not listed with another group.
    fn plain(&self) -> impl Iterator<Item = &Row> {
        self.differences.iter().filter(|row| row.like.is_none())
    }

    /// What did not count.
    fn asides(&self) -> impl Iterator<Item = (u64, &'static str)> {
        let Counts { unstable, unfinished, both_crash, passed_over, .. } = self.counts;
        let asides = [
            (*unstable, "dismissed: the output changes from run to run"),
            (*unfinished, "not compared: a program did not end within its limits"),
            (*both_crash, "crash both programs (see tarragon fuzz)"),
            (*passed_over, "like others, not looked into"),
        ];
        asides.into_iter().filter(|(number, _)| *number > 0)
    }
}
