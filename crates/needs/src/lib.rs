//! Tests that need what a machine may lack: a program, data that is not part of the repository, a
//! feature of the kernel.
//!
//! The test harness of Rust knows only tests that pass, fail, or are ignored at compile time. Such
//! a test would pass without having tested anything. So these tests live in files of their own,
//! with `harness = false` in `Cargo.toml` and a `main` that names them:
//!
//! ```text
//! fn main() {
//!     needs::run(needs::tests![files_are_read, files_are_hidden]);
//! }
//!
//! fn files_are_hidden() -> needs::Tested {
//!     needs::feature("Landlock", has_landlock())?;
//!     …
//! }
//! ```
//!
//! What `scripts/setup --tests` installs has to be there in continuous integration (`CI=true`):
//! without it, tests fail there instead of being ignored.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

pub use libtest_mimic::Trial;
use libtest_mimic::{Arguments, Completion, Failed};

/// What a test says in the end. Wrong results are panics, as in other tests.
pub type Tested = Result<(), Missing>;

/// Why a test cannot run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missing {
    reason: String,
    is_installed_by_setup: bool,
}

/// The folder `name` of the data that lies beside the repository (or in `TARRAGON_SHARED`).
pub fn data(name: &str) -> Result<PathBuf, Missing> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let shared = std::env::var_os("TARRAGON_SHARED").map_or(beside, PathBuf::from);
    let folder = shared.join("data").join(name);
    let reason = format!("no data/{name} in TARRAGON_SHARED or in ../shared beside the repository");
    folder.is_dir().then_some(folder).ok_or(Missing { reason, is_installed_by_setup: false })
}

/// A feature of the kernel, or a right of this process.
pub fn feature(name: &str, is_there: bool) -> Tested {
    let reason = format!("this machine has no {name}");
    is_there.then_some(()).ok_or(Missing { reason, is_installed_by_setup: false })
}

/// A program that `scripts/setup --tests` installs. Some leave files where they run, even if they
/// are only asked for their version, so it runs in the folder for temporary files.
pub fn program(name: &str) -> Tested {
    let mut command = Command::new(name);
    command.arg("--version").current_dir(std::env::temp_dir()).stdin(Stdio::null());
    let reason = format!("{name} is missing; scripts/setup --tests installs it");
    let missing = |_| Missing { reason, is_installed_by_setup: true };
    command.output().map(drop).map_err(missing)
}

/// A package that `scripts/setup --tests` installs, and that is no program.
pub fn package(name: &str, is_there: bool) -> Tested {
    let reason = format!("{name} is missing; scripts/setup --tests installs it");
    is_there.then_some(()).ok_or(Missing { reason, is_installed_by_setup: true })
}

/// The tests of these names, each a function that returns nothing or [`Tested`].
#[macro_export]
macro_rules! tests {
    ($($name:ident),* $(,)?) => { vec![$($crate::test(stringify!($name), $name)),*] };
}

/// A test without anything to need, or with.
pub trait Ending {
    fn tested(self) -> Tested;
}

impl Ending for () {
    fn tested(self) -> Tested {
        Ok(())
    }
}

impl Ending for Tested {
    fn tested(self) -> Tested {
        self
    }
}

/// A test that is made at run time.
pub fn test<E, F>(name: impl Into<String>, test: F) -> Trial
where
    E: Ending,
    F: FnOnce() -> E + Send + 'static,
{
    Trial::ignorable_test(name, move || verdict(test().tested(), is_ci()))
}

/// Runs tests as the command line says, and ends the process.
pub fn run(tests: Vec<Trial>) -> ! {
    libtest_mimic::run(&Arguments::from_args(), tests).exit()
}

fn is_ci() -> bool {
    std::env::var_os("CI").is_some_and(|value| value == "true")
}

fn verdict(tested: Tested, is_ci: bool) -> Result<Completion, Failed> {
    match tested {
        Ok(()) => Ok(Completion::Completed),
        Err(missing) if missing.is_installed_by_setup && is_ci => Err(missing.reason.into()),
        Err(missing) => Ok(Completion::ignored_with(missing.reason)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ignored(tested: Tested, is_ci: bool) -> Option<String> {
        match verdict(tested, is_ci) {
            Ok(Completion::Ignored { reason }) => reason,
            _ => None,
        }
    }

    #[test]
    fn what_is_there_is_tested() {
        for is_ci in [false, true] {
            assert!(matches!(verdict(program("sh"), is_ci), Ok(Completion::Completed)));
            assert!(matches!(verdict(feature("pages", true), is_ci), Ok(Completion::Completed)));
        }
    }

    #[test]
    fn what_is_missing_is_said() {
        let reason = ignored(program("no-such-program"), false).expect("ignored");
        assert!(reason.contains("no-such-program") && reason.contains("scripts/setup"), "{reason}");
        let reason = ignored(data("no-such-data").map(drop), false).expect("ignored");
        assert!(reason.contains("data/no-such-data"), "{reason}");
    }

    #[test]
    fn only_what_setup_installs_has_to_be_there_in_continuous_integration() {
        assert!(verdict(program("no-such-program"), true).is_err());
        assert!(verdict(package("no-such-package", false), true).is_err());
        assert!(ignored(feature("wings", false), true).is_some());
        assert!(ignored(data("no-such-data").map(drop), true).is_some());
    }
}
