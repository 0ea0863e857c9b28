//! Builds C targets with the fork server inside.
#![allow(dead_code, reason = "each test binary uses a part")]

use runner::{Outcome, Runner, Sandbox, TargetOptions};
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;
use trace::Capacities;

/// Set for a copy of a test binary that shall use the targets of the original.
pub const TARGETS_ARE_BUILT: &str = "RUNNER_TEST_TARGETS_ARE_BUILT";

fn source(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(name)
}

/// Where this test binary keeps what it builds: beside itself, in Cargo's target directory.
fn build_directory() -> &'static Path {
    static DIRECTORY: OnceLock<PathBuf> = OnceLock::new();
    DIRECTORY.get_or_init(|| {
        let directory = std::env::current_exe().unwrap().with_extension("targets");
        std::fs::create_dir_all(&directory).unwrap();
        directory
    })
}

/// The fork server as a static library.
fn server_library() -> &'static Path {
    static LIBRARY: OnceLock<PathBuf> = OnceLock::new();
    LIBRARY.get_or_init(|| build_server(&["--crate-type=staticlib"], "libserver.a"))
}

/// The fork server as text in LLVM's language, with all that it uses of other crates.
pub fn server_code() -> String {
    let text = build_directory().join("server.ll");
    // The crates become one module only where the compiler links, too.
    let emit = format!("--emit=link,llvm-ir={}", text.display());
    let kind = ["--crate-type=staticlib", "-Ccodegen-units=1", "-Clto=fat", &emit];
    build_server(&kind, "libserver-as-one.a");
    std::fs::read_to_string(text).unwrap()
}

fn build_server(arguments: &[&str], name: &str) -> PathBuf {
    static EXTERNS: OnceLock<Vec<String>> = OnceLock::new();
    let externs = EXTERNS.get_or_init(build_crates_of_server);
    let output = build_directory().join(name);
    rustc(arguments, externs, &source("support/server.rs"), &output);
    output
}

/// How the crates that the fork server uses are given to the compiler.
fn build_crates_of_server() -> Vec<String> {
    let mut externs = vec![format!("-Ldependency={}", build_directory().display())];
    for (name, folder) in [("trace", "trace"), ("runtime_process", "runtime-process")] {
        let output = build_directory().join(format!("lib{name}.rlib"));
        let arguments = ["--crate-type=rlib", &format!("--crate-name={name}")];
        let crates = source("../..");
        rustc(&arguments, &externs, &crates.join(folder).join("src/lib.rs"), &output);
        externs.push(format!("--extern={name}={}", output.display()));
    }
    externs
}

fn rustc(arguments: &[&str], externs: &[String], source: &Path, output: &Path) {
    let options = ["--edition=2024", "-Cpanic=abort", "-Copt-level=2", "-Crelocation-model=pic"];
    let mut rustc = Command::new("rustc");
    rustc.args(options).args(arguments).args(externs).arg(source);
    run(rustc.arg("-o").arg(output));
}

/// Builds `targets/NAME.c` with further compiler arguments, once for each `variant`.
pub fn target_with(name: &str, variant: &str, arguments: &[&str]) -> PathBuf {
    static BUILT: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());
    let mut built = BUILT.lock().unwrap_or_else(PoisonError::into_inner);
    let output = build_directory().join(variant);
    if std::env::var_os(TARGETS_ARE_BUILT).is_none() && built.insert(output.clone()) {
        let file = source("targets").join(name).with_extension("c");
        let mut clang = Command::new("clang-22");
        clang.args(["-O1", "-pthread"]).arg(file).arg(server_library()).args(arguments);
        run(clang.arg("-o").arg(&output));
    }
    output
}

pub fn target(name: &str) -> PathBuf {
    target_with(name, name, &[])
}

fn run(command: &mut Command) {
    let status = command.status().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(status.success(), "{command:?}: {status}");
}

/// A limit that no run of a test meets, however slow the machine is.
pub const PATIENCE: Duration = Duration::from_secs(600);
/// A limit for runs that never end: nothing depends on how far they get.
pub const IMPATIENCE: Duration = Duration::from_millis(300);

/// The outcome of a run that does not end by itself, and whether its process had other inputs.
pub fn run_endless(runner: &mut Runner, input: &str) -> (Outcome, bool) {
    runner.set_times(IMPATIENCE, None);
    let run = runner.run_shared(input.as_bytes(), true).unwrap();
    let ended = (run.outcome, run.shared);
    runner.set_times(PATIENCE, None);
    ended
}

/// A program whose output is kept, with room for a small trace.
pub fn start_capturing(program: PathBuf, sandbox: Sandbox) -> Runner {
    let mut options = TargetOptions::new(program);
    options.sandbox = sandbox;
    options.capture_stdout = true;
    options.limits.run_time = PATIENCE;
    options.capacities =
        Capacities { events: 1 << 10, nodes: 1 << 10, data: 1 << 10, ..options.capacities };
    Runner::start(options).unwrap()
}

/// Numbers of the processes that execute `program`.
pub fn processes_of(program: &Path) -> Vec<u32> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else {
            continue;
        };
        if std::fs::read_link(entry.path().join("exe")).is_ok_and(|exe| exe == program) {
            found.push(pid);
        }
    }
    found
}

/// Descriptors that this process has open.
pub fn open_descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}

/// Waits until `condition` holds; ten minutes are for ever here.
pub fn eventually(what: impl AsRef<OsStr>, condition: impl Fn() -> bool) {
    for _ in 0..60_000 {
        if condition() {
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("never: {}", what.as_ref().display());
}
