//! Cases are shell scripts in `cases/`, run in a copy of `sources/` with `$CC` and `$CXX` set.
//! Adding a case is adding a file. Comments at the start of a line say what to expect:
//!
//! * `# carries: FILE: SOURCE...`: FILE holds the bitcode of just these sources, in this order
//!   (none unless said), where `TWIN` is the directory;
//! * `# says: TEXT`: a message of Tarragon's own that must appear; no other may;
//! * `# volatile: FILE...`: files or folders whose content is not compared;
//! * `# tarragon-only: WORDS`: the value of `$TARRAGON_ONLY`, empty for plain clang;
//! * `# needs: PROGRAM`: without it, the case is skipped.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

#[derive(Clone, Debug, Default)]
pub struct Case {
    pub name: String,
    pub script: String,
    pub carries: BTreeMap<String, Vec<String>>,
    pub says: Vec<String>,
    pub volatile: Vec<String>,
    pub tarragon_only: String,
    pub needs: Option<String>,
}

pub fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/drop_in").join(name)
}

pub fn all() -> Vec<Case> {
    let files = std::fs::read_dir(folder("cases")).expect("the folder of cases can be read");
    let mut cases: Vec<Case> =
        files.map(|file| parse(&file.expect("readable folder").path())).collect();
    cases.sort_by(|a, b| a.name.cmp(&b.name));
    cases
}

fn parse(path: &Path) -> Case {
    let script = std::fs::read_to_string(path).expect("cases are readable");
    let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let mut case = Case { name, ..Case::default() };
    for line in script.lines() {
        if let Some((key, value)) = line.strip_prefix("# ").and_then(|line| line.split_once(": ")) {
            directive(&mut case, key, value);
        }
    }
    case.script = script.lines().map(with_status).collect();
    case
}

fn directive(case: &mut Case, key: &str, value: &str) {
    let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    match key {
        "carries" => {
            let (file, sources) = value.split_once(": ").expect("carries: FILE: SOURCES");
            case.carries.insert(file.to_owned(), words(sources));
        }
        "says" => case.says.push(value.to_owned()),
        "volatile" => case.volatile.extend(words(value)),
        "tarragon-only" => case.tarragon_only = value.to_owned(),
        "needs" => case.needs = Some(value.to_owned()),
        _ => panic!("unknown directive {key:?} in case {}", case.name),
    }
}

/// Every compiler's exit code becomes part of the output that is compared.
fn with_status(line: &str) -> String {
    let status = if line.starts_with("$C") { "\necho \"status $?\"" } else { "" };
    format!("{line}{status}\n")
}
