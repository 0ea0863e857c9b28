//! HAMPI's own files and the Wassermann-Su set: recorded verdicts, and every solution checked by
//! the oracle.

mod oracle;

use std::collections::BTreeMap;
use std::path::PathBuf;

use oracle::Oracle;
use strings::{Answer, Budget, hmp};

/// The folder with HAMPI's files, or `None` with a message.
fn data() -> Option<PathBuf> {
    let shared = std::env::var_os("TARRAGON_SHARED").map_or_else(
        || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared")),
        PathBuf::from,
    );
    let data = shared.join("data/hampi");
    if !data.is_dir() {
        eprintln!("skipped: {} is absent", data.display());
        return None;
    }
    Some(data)
}

/// The rows of a table by file name.
fn table(data: &std::path::Path, name: &str) -> BTreeMap<String, Vec<String>> {
    let text = std::fs::read_to_string(data.join(name)).unwrap();
    text.lines()
        .skip(1)
        .map(|line| line.split('\t').map(str::to_string).collect::<Vec<_>>())
        .map(|row| (row[0].clone(), row))
        .collect()
}

#[track_caller]
fn check(name: &str, text: &[u8], expected: &str) {
    let mut problem =
        hmp::read(text, hmp::Options::default()).unwrap_or_else(|error| panic!("{name}:{error}"));
    match problem.solve(&mut Budget::default()) {
        Answer::Sat(words) => {
            assert_eq!(expected, "sat", "{name}");
            assert!(Oracle::new(text).accepts(&words), "{name}: {words:?} is no solution");
        }
        Answer::Unsat => assert_eq!(expected, "unsat", "{name}"),
        Answer::Unknown(stop) => panic!("{name}: {stop}"),
    }
}

#[test]
fn the_files_of_hampi_have_their_verdicts() {
    let Some(data) = data() else { return };
    for (name, row) in table(&data, "hmp-expected.tsv") {
        check(&name, &std::fs::read(data.join("hmp").join(&name)).unwrap(), &row[1]);
    }
}

#[test]
fn the_wassermann_su_set_has_its_verdicts_at_every_size() {
    let Some(data) = data() else { return };
    for (name, row) in table(&data, "wsu-expected.tsv") {
        let template = std::fs::read_to_string(data.join("wsu").join(&name)).unwrap();
        let unbounded = if row[1] == "yes" { "sat" } else { "unsat" };
        check(&name, template.as_bytes(), unbounded);
        for size in 1..=4 {
            let text = template.replace("$HAMPI_LENGTH$", &size.to_string());
            check(&format!("{name} at {size}"), text.as_bytes(), &row[1 + size]);
        }
    }
}
