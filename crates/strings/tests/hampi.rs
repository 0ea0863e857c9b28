//! HAMPI's own files and the Wassermann-Su set: recorded verdicts, and every solution checked by
//! the oracle.

mod oracle;

use std::collections::BTreeMap;
use std::path::Path;

use oracle::Oracle;
use strings::{Answer, Budget, hmp};

fn main() {
    needs::run(needs::tests![
        the_files_of_hampi_have_their_verdicts,
        the_wassermann_su_set_has_its_verdicts_at_every_size,
    ]);
}

/// The rows of a table by file name.
fn table(data: &Path, name: &str) -> BTreeMap<String, Vec<String>> {
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

fn the_files_of_hampi_have_their_verdicts() -> needs::Tested {
    let data = needs::data("hampi")?;
    for (name, row) in table(&data, "hmp-expected.tsv") {
        check(&name, &std::fs::read(data.join("hmp").join(&name)).unwrap(), &row[1]);
    }
    Ok(())
}

fn the_wassermann_su_set_has_its_verdicts_at_every_size() -> needs::Tested {
    let data = needs::data("hampi")?;
    for (name, row) in table(&data, "wsu-expected.tsv") {
        let template = std::fs::read_to_string(data.join("wsu").join(&name)).unwrap();
        let unbounded = if row[1] == "yes" { "sat" } else { "unsat" };
        check(&name, template.as_bytes(), unbounded);
        for size in 1..=4 {
            let text = template.replace("$HAMPI_LENGTH$", &size.to_string());
            check(&format!("{name} at {size}"), text.as_bytes(), &row[1 + size]);
        }
    }
    Ok(())
}
