//! Runs every program in `programs/`; adding a case is adding a file. `src/directives.rs` says how expectations are
//! written. `cargo test -p cases --test programs -- NAME` runs the cases whose name contains NAME.

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
    let entries = folder.read_dir().expect("the folder of cases");
    let mut sources: Vec<PathBuf> = entries.map(|entry| entry.expect("readable folder").path()).collect();
    sources.retain(|path| path.extension().is_some_and(|extension| extension == "c" || extension == "cpp"));
    sources.sort();
    sources
}

fn trial(source: PathBuf) -> Trial {
    let name = source.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    Trial::test(name, move || {
        let cache = Path::new(env!("CARGO_TARGET_TMPDIR")).join("variants");
        Case::read(&source).and_then(|case| case.check(&cache)).map_err(Failed::from)
    })
}
