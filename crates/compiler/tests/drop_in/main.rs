//! Compares `tarragon cc` with plain clang on a matrix of invocations; see `cases.rs` for how cases
//! are written.
//!
//! This program is also what it tests: started under the name of a compiler it is that compiler, so
//! that cases run real processes although this crate has no binaries.

mod cases;
mod check;
mod special;
mod stand_in;

use compiler::driver::{self, Language};
use libtest_mimic::{Arguments, Trial};
use std::ffi::OsString;
use std::path::Path;

fn main() {
    let mut words = std::env::args_os();
    let name = words.next().unwrap_or_default();
    let words: Vec<OsString> = words.collect();
    match Path::new(&name).file_name().and_then(|name| name.to_str()) {
        Some("tarragon-cc") => std::process::exit(driver::run(Language::C, words)),
        Some("tarragon-c++") => std::process::exit(driver::run(Language::Cxx, words)),
        Some("tarragon-instrument") => std::process::exit(stand_in::instrument(words)),
        _ => run_tests(),
    }
}

fn run_tests() {
    let cases = cases::all().into_iter().map(trial);
    let special = special::all().into_iter().map(|(name, test)| Trial::test(name, test));
    libtest_mimic::run(&Arguments::from_args(), cases.chain(special).collect()).exit();
}

fn trial(case: cases::Case) -> Trial {
    let ignored = !check::can_run(&case);
    Trial::test(case.name.clone(), move || check::check(&case)).with_ignored_flag(ignored)
}
