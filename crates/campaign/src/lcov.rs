//! Coverage of source lines, functions and branches, summed over inputs, in the format of lcov.
//!
//! Everything that is shown has a *counter*: the number of inputs that reached it. A byte of the
//! coverage map adds to the counters that it stands for, each at most once an input, so that a line
//! of several blocks, or a function of a header that several modules have, is counted as one.

use std::collections::{BTreeMap, HashMap};
use std::fmt::{self, Write};

use serde::Serialize;
use sites::{SourceBranch, SourceLine, SourceTable};

use crate::report::CoverageReport;

/// The totals of a suite.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct SourceCoverage {
    pub lines: CoverageReport,
    pub functions: CoverageReport,
    pub branches: CoverageReport,
}

/// Counts inputs, and writes the result.
pub struct Lcov {
    files: BTreeMap<String, SourceFile>,
    /// The counters that each byte of the coverage map adds to.
    counters_of: Vec<Vec<usize>>,
    counts: Vec<u64>,
    /// The last input that each counter was added to.
    last: Vec<u64>,
    inputs: u64,
}

#[derive(Default)]
struct SourceFile {
    /// By line and name.
    functions: BTreeMap<(u32, String), usize>,
    /// By line, function, and number among the branches of the function on that line.
    branches: BTreeMap<(u32, String, u32), Branch>,
    lines: BTreeMap<u32, usize>,
}

struct Branch {
    reached: usize,
    outcomes: Vec<usize>,
}

impl Lcov {
    pub fn new(table: &SourceTable) -> Lcov {
        let counters_of = vec![Vec::new(); table.coverage_len() as usize];
        let mut lcov = Lcov {
            files: BTreeMap::new(),
            counters_of,
            counts: Vec::new(),
            last: Vec::new(),
            inputs: 0,
        };
        for function in &table.functions {
            lcov.add_function(table, function.start, &function.name, function.entry);
        }
        for (block, lines) in table.blocks.iter().enumerate() {
            for line in lines {
                lcov.add_line(table, *line, block as u32);
            }
        }
        let mut on_line: HashMap<(&str, SourceLine, u32), u32> = HashMap::new();
        for branch in &table.branches {
            let instance = instance_of(table, branch.block);
            let ordinal = on_line.entry((&branch.function, branch.place, instance)).or_default();
            lcov.add_branch(table, branch, *ordinal);
            *ordinal += 1;
        }
        lcov
    }

    /// Counts an input that set these bytes of the coverage map.
    pub fn add(&mut self, covered: &[u32]) {
        self.inputs += 1;
        for counters in covered.iter().filter_map(|&byte| self.counters_of.get(byte as usize)) {
            for &counter in counters {
                if self.last[counter] != self.inputs {
                    self.last[counter] = self.inputs;
                    self.counts[counter] += 1;
                }
            }
        }
    }

    pub fn totals(&self) -> SourceCoverage {
        let files = || self.files.values();
        SourceCoverage {
            lines: self.share(files().flat_map(|file| file.lines.values().copied())),
            functions: self.share(files().flat_map(|file| file.functions.values().copied())),
            branches: self.share(files().flat_map(SourceFile::outcomes)),
        }
    }

    pub fn text(&self) -> String {
        let mut text = String::new();
        for (path, file) in &self.files {
            // Writing to a string cannot fail.
            let _ = self.write_file(&mut text, path, file);
        }
        text
    }

    fn counter(&mut self) -> usize {
        self.counts.push(0);
        self.last.push(0);
        self.counts.len() - 1
    }

    fn file(&mut self, table: &SourceTable, place: SourceLine) -> &mut SourceFile {
        let path = table.files.get(place.file as usize).cloned().unwrap_or_default();
        self.files.entry(path).or_default()
    }

    fn feed(&mut self, byte: u32, counter: usize) {
        if let Some(counters) = self.counters_of.get_mut(byte as usize) {
            counters.push(counter);
        }
    }

    fn add_function(&mut self, table: &SourceTable, start: SourceLine, name: &str, entry: u32) {
        let new = self.counter();
        let functions = &mut self.file(table, start).functions;
        let counter = *functions.entry((start.line, name.to_owned())).or_insert(new);
        self.feed(table.outcomes + entry, counter);
    }

    fn add_line(&mut self, table: &SourceTable, place: SourceLine, block: u32) {
        let new = self.counter();
        let counter = *self.file(table, place).lines.entry(place.line).or_insert(new);
        self.feed(table.outcomes + block, counter);
    }

    fn add_branch(&mut self, table: &SourceTable, branch: &SourceBranch, ordinal: u32) {
        let reached = self.counter();
        let new: Vec<usize> = branch.outcomes.iter().map(|_| self.counter()).collect();
        let key = (branch.place.line, branch.function.clone(), ordinal);
        let branches = &mut self.file(table, branch.place).branches;
        let known = branches.entry(key).or_insert(Branch { reached, outcomes: Vec::new() });
        // Two modules may see one branch with a different number of cases.
        let more = new.into_iter().skip(known.outcomes.len()).collect::<Vec<_>>();
        known.outcomes.extend(more);
        let (reached, counters) = (known.reached, known.outcomes.clone());
        self.feed(table.outcomes + branch.block, reached);
        for (outcome, counter) in branch.outcomes.iter().zip(counters) {
            self.feed(*outcome, counter);
        }
    }

    fn share(&self, counters: impl Iterator<Item = usize>) -> CoverageReport {
        let (mut covered, mut total) = (0, 0);
        for counter in counters {
            covered += usize::from(self.counts[counter] > 0);
            total += 1;
        }
        CoverageReport { covered, total }
    }

    fn write_file(&self, text: &mut String, path: &str, file: &SourceFile) -> fmt::Result {
        writeln!(text, "TN:\nSF:{path}")?;
        self.write_functions(text, file)?;
        self.write_branches(text, file)?;
        for (line, &counter) in &file.lines {
            writeln!(text, "DA:{line},{}", self.counts[counter])?;
        }
        let CoverageReport { covered, total } = self.share(file.lines.values().copied());
        writeln!(text, "LF:{total}\nLH:{covered}\nend_of_record")
    }

    fn write_functions(&self, text: &mut String, file: &SourceFile) -> fmt::Result {
        for (line, name) in file.functions.keys() {
            writeln!(text, "FN:{line},{name}")?;
        }
        for ((_, name), &counter) in &file.functions {
            writeln!(text, "FNDA:{},{name}", self.counts[counter])?;
        }
        let CoverageReport { covered, total } = self.share(file.functions.values().copied());
        writeln!(text, "FNF:{total}\nFNH:{covered}")
    }

    fn write_branches(&self, text: &mut String, file: &SourceFile) -> fmt::Result {
        let (mut last_line, mut number) = (0, 0);
        for ((line, ..), branch) in &file.branches {
            number = if *line == last_line { number + 1 } else { 0 };
            last_line = *line;
            for (side, &counter) in branch.outcomes.iter().enumerate() {
                write!(text, "BRDA:{line},{number},{side},")?;
                match self.counts[branch.reached] {
                    0 => writeln!(text, "-")?,
                    _ => writeln!(text, "{}", self.counts[counter])?,
                }
            }
        }
        let CoverageReport { covered, total } = self.share(file.outcomes());
        writeln!(text, "BRF:{total}\nBRH:{covered}")
    }
}

impl SourceFile {
    fn outcomes(&self) -> impl Iterator<Item = usize> {
        self.branches.values().flat_map(|branch| branch.outcomes.iter().copied())
    }
}

/// The function that a block is in, by its number in the table: functions are in the order of their
/// blocks.
fn instance_of(table: &SourceTable, block: u32) -> u32 {
    table.functions.partition_point(|function| function.entry <= block) as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use sites::SourceFunction;

    fn line(line: u32) -> SourceLine {
        SourceLine { file: 0, line }
    }

    /// `if (c) a(); else b();` on line 2 of a function of a header that two modules have.
    fn table() -> SourceTable {
        let function = |entry| SourceFunction { name: "f".into(), start: line(1), entry };
        let branch = |block, outcomes| SourceBranch {
            place: line(2),
            function: "f".into(),
            block,
            outcomes,
        };
        let blocks = vec![vec![line(1), line(2)], vec![line(2)], vec![line(2), line(3)]];
        SourceTable {
            files: vec!["/src/f.h".into()],
            functions: vec![function(0), function(3)],
            blocks: [blocks.clone(), blocks].concat(),
            branches: vec![branch(0, vec![1, 0]), branch(3, vec![3, 2])],
            outcomes: 4,
        }
    }

    #[test]
    fn inputs_are_counted_once_for_each_line() {
        let mut lcov = Lcov::new(&table());
        // The first module's true side, then both modules' true sides in one input.
        lcov.add(&[1, 4, 5]);
        lcov.add(&[1, 3, 4, 5, 7, 8]);
        let expected = "TN:\nSF:/src/f.h\nFN:1,f\nFNDA:2,f\nFNF:1\nFNH:1\nBRDA:2,0,0,2\nBRDA:2,0,1,0\nBRF:2\nBRH:1\n\
                        DA:1,2\nDA:2,2\nDA:3,0\nLF:3\nLH:2\nend_of_record\n";
        assert_eq!(lcov.text(), expected);
        let totals = lcov.totals();
        assert_eq!(
            (totals.lines.covered, totals.functions.total, totals.branches.covered),
            (2, 1, 1)
        );
    }

    #[test]
    fn what_was_never_reached_has_no_number() {
        let lcov = Lcov::new(&table());
        assert!(lcov.text().contains("BRDA:2,0,0,-\nBRDA:2,0,1,-\n"), "{}", lcov.text());
    }

    #[test]
    fn bytes_outside_the_map_are_nothing() {
        let mut lcov = Lcov::new(&table());
        lcov.add(&[1000]);
        assert_eq!(lcov.totals().lines.covered, 0);
    }

    #[test]
    fn without_debug_information_there_is_nothing_to_say() {
        let table = SourceTable { blocks: vec![Vec::new()], outcomes: 2, ..SourceTable::default() };
        assert!(!table.has_lines());
        assert_eq!(Lcov::new(&table).text(), "");
    }
}
