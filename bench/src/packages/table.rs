//! The table of packages as Markdown.

use super::measure::{Row, Slowdown};
use std::fmt::Write as _;

/// `rows` have a package's name and its line, or why there is none.
pub fn render(rows: &[(String, Result<Row, String>)], date: &str, machine: &str, seconds: u64) -> String {
    let mut text = format!(
        "# Tarragon on packages of Debian\n\n\
         Made by `cargo run --release -p bench -- packages` on {date}; {machine}.\n\n\
         Each package is built by its own build system, once with clang and once with `CC=tarragon-cc`; its own tests are \
         run on both. The traced variant of one of its programs is compared with the plain program on a few inputs, \
         and `tarragon fuzz` runs for {seconds} seconds from one trivial seed. Coverage counts branch outcomes, those of \
         the package's shared libraries included. Slowdown is processor time against clang's build, without the start of the program: on \
         concrete data, and with every byte of the input symbolic.\n\n\
         | package | build | own tests | variant behaves alike | covered by the seed | after {seconds} s | of | runs | \
         give-ups | values fixed | slowdown concrete | slowdown symbolic |\n\
         |---|---|---|---|---|---|---|---|---|---|---|---|\n"
    );
    for (package, row) in rows {
        // Writing into a string cannot fail.
        let _ = match row {
            Ok(row) => line(&mut text, row),
            Err(error) => writeln!(text, "| {package} | {} |", error.replace(['\n', '|'], " ")),
        };
    }
    text
}

fn line(text: &mut String, row: &Row) -> std::fmt::Result {
    let percent =
        |count: u64| format!("{count} ({:.1} %)", 100.0 * count as f64 / row.outcomes.max(1) as f64);
    let give_ups: Vec<String> =
        row.give_ups.iter().map(|(reason, count)| format!("{reason} {count}")).collect();
    let give_ups = if give_ups.is_empty() { "none".to_owned() } else { give_ups.join(", ") };
    writeln!(
        text,
        "| {} | ok | {} | {} of {} | {} | {} | {} | {} | {give_ups} | {} | {} | {} |",
        row.package,
        row.tests,
        row.alike.0,
        row.alike.1,
        percent(row.before),
        percent(row.after),
        row.outcomes,
        row.runs,
        row.fixed_values,
        times(&row.concrete),
        times(&row.symbolic),
    )
}

pub fn times(slowdown: &Slowdown) -> String {
    match slowdown {
        Slowdown::Times(times) => format!("{times:.1} x"),
        Slowdown::NotMeasured(reason) => reason.clone(),
    }
}

/// The table with other slowdowns, its last two columns, for one package.
pub fn with_slowdowns(table: &str, package: &str, slowdowns: &[Slowdown; 2]) -> String {
    let lines = table.lines().map(|line| {
        let cells: Vec<&str> = line.split('|').collect();
        match cells.as_slice() {
            ["", name, kept @ .., _, _, ""] if name.trim() == package => {
                let [concrete, symbolic] = slowdowns.each_ref().map(times);
                format!("|{name}|{}| {concrete} | {symbolic} |\n", kept.join("|"))
            }
            _ => format!("{line}\n"),
        }
    });
    lines.collect()
}
