//! Runs every program in `programs/`; adding a case is adding a file. `src/directives.rs` says how
//! expectations are written. `cargo test -p cases --test programs -- NAME` runs the cases whose
//! name contains NAME.

use std::path::{Path, PathBuf};

use cases::Case;
use libtest_mimic::{Arguments, Failed, Trial};

fn main() {
    let mut arguments = Arguments::from_args();
    arguments.test_threads.get_or_insert(2);
    libtest_mimic::run(&arguments, sources().into_iter().map(trial).collect()).exit();
}

fn sources() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("programs");
    let mut sources = Vec::new();
    for folder in [folder.join("models"), folder] {
        let entries = folder.read_dir().expect("the folder of cases");
        sources.extend(entries.map(|entry| entry.expect("readable folder").path()));
    }
    sources.retain(|path| {
        path.extension().is_some_and(|extension| extension == "c" || extension == "cpp")
    });
    sources.sort();
    sources
}

fn trial(source: PathBuf) -> Trial {
    let name = source.file_stem().unwrap_or_default().to_string_lossy();
    let of_model = source.parent().is_some_and(|folder| folder.ends_with("models"));
    let name = if of_model { format!("models/{name}") } else { name.into_owned() };
    Trial::test(name, move || {
        let cache = Path::new(env!("CARGO_TARGET_TMPDIR")).join("variants");
        Case::read(&source).and_then(|case| case.check(&cache)).map_err(Failed::from)
    })
}
