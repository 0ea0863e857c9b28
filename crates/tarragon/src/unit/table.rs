//! The results for people, and for spreadsheets.

use std::io::{self, Write as _};

use super::UnitArgs;
use super::results::{Function, Results, Row};

pub(crate) fn print(args: &UnitArgs, function: &Function) {
    if args.output.quiet || args.output.json {
        return;
    }
    let text = if args.csv { csv(function) } else { table(function) };
    // A reader that went away is no error.
    let _ = io::stdout().write_all(text.as_bytes());
}

pub(crate) fn print_end(args: &UnitArgs, results: &Results) {
    let text = match (args.output.json, args.output.quiet || args.csv) {
        (true, _) => serde_json::to_string(results).unwrap_or_default(),
        (_, true) => return,
        _ => format!("results     {}", args.out.join(super::results::FILE).display()),
    };
    let _ = writeln!(io::stdout(), "{text}");
}

const HEAD: [&str; 5] = ["path", "arguments", "result", "writes", "outcome"];

fn head(function: &Function) -> Vec<String> {
    let other = function.against.iter().map(|name| format!("result of {name}"));
    let differs = function.against.iter().map(|_| "differs in".to_owned());
    HEAD.iter().map(|word| (*word).to_owned()).chain(other).chain(differs).collect()
}

fn cells(row: &Row) -> Vec<String> {
    let result = |value: &Option<unit::Value>| {
        value.as_ref().map_or("-".to_owned(), |value| value.text.clone())
    };
    let dash = |text: String| if text.is_empty() { "-".to_owned() } else { text };
    let mut cells = vec![
        row.number.to_string(),
        dash(row.case.arguments_text()),
        result(&row.case.result),
        dash(row.case.writes_text()),
        row.outcome.text(),
    ];
    if let Some(other) = &row.against {
        cells.push(match other.outcome.kind {
            "returned" => result(&other.result),
            _ => other.outcome.text(),
        });
        cells.push(dash(other.differs.join(", ")));
    }
    cells
}

fn table(function: &Function) -> String {
    let mut lines = vec![head(function)];
    lines.extend(function.paths.iter().map(cells));
    let columns = lines[0].len();
    let used = |column: &usize| *column < 2 || lines[1..].iter().any(|cells| cells[*column] != "-");
    let shown: Vec<usize> = (0..columns).filter(used).collect();
    let width = |column: usize| lines.iter().map(|cells| cells[column].chars().count()).max();
    let mut text = format!("{}\n", function.prototype);
    for cells in &lines {
        let mut line = String::from(" ");
        for &column in &shown {
            let pad = width(column).unwrap_or(0).min(WIDEST);
            line.push_str(&format!(" {:<pad$} ", shortened(&cells[column])));
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text + &ending(function)
}

/// Wider cells push the rest of their line aside. The widest are cut; `unit.json` has them whole.
const WIDEST: usize = 60;
const LONGEST: usize = 160;

fn shortened(cell: &str) -> String {
    match cell.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &cell[..end]),
        None => cell.to_owned(),
    }
}

fn ending(function: &Function) -> String {
    let (runs, seconds) = (function.runs, function.seconds);
    let bugs = function.paths.iter().filter(|row| row.of_bug).count();
    let paths = function.paths.len() - bugs;
    let more = if bugs > 0 { format!(" and {bugs} more inputs of bugs") } else { String::new() };
    let mut text = format!(
        "  {paths} paths{more}, {runs} runs in {seconds:.1} s; {}\n",
        function.completeness
    );
    for (what, rows) in &function.differences {
        let first = rows.first().map_or(0, |number| *number);
        let all = rows.len();
        text.push_str(&format!(
            "  they differ in {what} on {all} paths; the simplest is {first}\n"
        ));
    }
    text.push('\n');
    text
}

fn csv(function: &Function) -> String {
    let mut lines = vec![head(function)];
    lines.extend(function.paths.iter().map(cells));
    let mut text = String::new();
    for (number, cells) in lines.iter().enumerate() {
        let name = if number == 0 { "function" } else { &function.name };
        let all: Vec<String> =
            std::iter::once(name).chain(cells.iter().map(String::as_str)).map(quoted).collect();
        text.push_str(&all.join(","));
        text.push_str("\r\n");
    }
    text
}

/// As RFC 4180 has it.
fn quoted(cell: &str) -> String {
    match cell.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", cell.replace('"', "\"\"")),
        false => cell.to_owned(),
    }
}
