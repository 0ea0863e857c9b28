//! The table of packages as Markdown.

use super::measure::{Row, Slowdown};
use std::collections::HashMap;

/// How long inputs are generated for a line of the table.
pub const SECONDS: u64 = 60;

/// Everything above the lines.
pub fn header(machine: &str) -> String {
    format!(
        "\
# Tarragon on packages of Debian

Made by `cargo run --release -p bench -- packages`, each line on the day that it says;
{machine}.

Each package is built by its own build system, once with clang and once with `CC=tarragon-cc`; its
own tests are run on both. The traced variant of one of its programs is compared with the plain
program on a few inputs, and `tarragon fuzz` runs for {SECONDS} seconds from one trivial seed. Coverage
counts branch outcomes, those of the package's shared libraries included. Slowdown is processor
time against clang's build, without the start of the program: on concrete data, and with every
byte of the input symbolic, then in a process that takes several inputs if the program can.

| package | measured | build | own tests | variant behaves alike | covered by the seed | \
after {SECONDS} s | of | runs | give-ups | values fixed | slowdown concrete | slowdown symbolic |
|---|---|---|---|---|---|---|---|---|---|---|---|---|
"
    )
}

/// The lines of a table, by package.
pub fn lines(table: &str) -> HashMap<String, String> {
    let lines = table.lines().skip_while(|line| !line.starts_with("|---")).skip(1);
    let with_name =
        |line: &str| Some((line.split('|').nth(1)?.trim().to_owned(), format!("{line}\n")));
    lines.filter_map(with_name).collect()
}

/// What was measured of a package, or why nothing was.
pub fn line(package: &str, date: &str, row: &Result<Row, String>) -> String {
    let row = match row {
        Ok(row) => row,
        Err(error) => {
            return format!("| {package} | {date} | {} |\n", error.replace(['\n', '|'], " "));
        }
    };
    let percent = |count: u64| {
        format!("{count} ({:.1} %)", 100.0 * count as f64 / row.outcomes.max(1) as f64)
    };
    let give_ups: Vec<String> =
        row.give_ups.iter().map(|(reason, count)| format!("{reason} {count}")).collect();
    let give_ups = if give_ups.is_empty() { "none".to_owned() } else { give_ups.join(", ") };
    format!(
        "| {package} | {date} | ok | {} | {} of {} | {} | {} | {} | {} | {give_ups} | {} | {} | \
         {} |\n",
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_a_table_are_found_by_package() {
        let [a, b] =
            ["a", "b"].map(|name| line(name, "2026-01-01", &Err("no source | today".to_owned())));
        let found = lines(&format!("{}{a}{b}", header("1 core")));
        assert_eq!(found, HashMap::from([("a".to_owned(), a), ("b".to_owned(), b)]));
    }
}
