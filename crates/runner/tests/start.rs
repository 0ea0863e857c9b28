//! Targets that cannot be started, and what the user is told.

mod support;

use runner::{Outcome, Runner, RunnerError, TargetOptions, run_plain};
use std::time::Duration;

fn start(variant: &str, before_main: &str) -> Result<Runner, RunnerError> {
    start_within(support::PATIENCE, variant, before_main)
}

fn start_within(time: Duration, variant: &str, before_main: &str) -> Result<Runner, RunnerError> {
    let define = format!("-DBEFORE_MAIN={before_main}");
    let mut options = TargetOptions::new(support::target_with("start", variant, &[&define]));
    options.start_timeout = time;
    Runner::start(options)
}

fn error(result: Result<Runner, RunnerError>) -> RunnerError {
    result.err().expect("the start should fail")
}

#[test]
fn crash_before_main() {
    let error = error(start("crash", "fputs(\"oh no\", stderr), *(volatile int *)8 = 1"));
    let RunnerError::EndsAtStart { outcome, stderr, .. } = &error else { panic!("{error}") };
    assert_eq!((*outcome, stderr.as_str()), (Outcome::Signal(libc::SIGSEGV), "oh no"));
    assert!(error.to_string().contains("oh no"));
}

#[test]
fn abort_before_main() {
    let error = error(start("abort", "abort()"));
    assert!(
        matches!(error, RunnerError::EndsAtStart { outcome: Outcome::Signal(libc::SIGABRT), .. }),
        "{error}"
    );
}

#[test]
fn exit_before_main() {
    let error = error(start("exit", "exit(9)"));
    assert!(matches!(error, RunnerError::EndsAtStart { outcome: Outcome::Exit(9), .. }), "{error}");
}

#[test]
fn hang_before_main() {
    let error = error(start_within(support::IMPATIENCE, "hang", "for (;;) pause()"));
    assert!(matches!(error, RunnerError::HangsAtStart { .. }), "{error}");
}

#[test]
fn descriptors_closed_before_main() {
    let error = error(start("close", "for (int fd = 3; fd < 256; fd++) close(fd)"));
    let RunnerError::EndsAtStart { outcome, stderr, .. } = &error else { panic!("{error}") };
    assert_eq!(*outcome, Outcome::Exit(2));
    assert!(stderr.contains("did the program close it before main?"), "{stderr}");
}

#[test]
fn children_ignored_before_main() {
    let mut runner = start("sigchld", "signal(SIGCHLD, SIG_IGN)").unwrap();
    assert_eq!(runner.run(b"", false).unwrap().outcome, Outcome::Exit(5));
}

#[test]
fn another_version() {
    let error = error(Runner::start(TargetOptions::new(support::target("other_version"))));
    assert!(matches!(error, RunnerError::VersionMismatch { found: 999, .. }), "{error}");
}

#[test]
fn not_built_with_tarragon() {
    let error = error(Runner::start(TargetOptions::new(support::target("plain"))));
    assert!(matches!(error, RunnerError::NotBuiltWithTarragon(_)), "{error}");
    assert!(error.to_string().contains("CC=tarragon-cc"));
}

#[test]
fn a_script_that_starts_something_else() {
    let directory = tempfile::tempdir().unwrap();
    let script = directory.path().join("script");
    std::fs::write(&script, "#!/bin/sh\nexit 0\n").unwrap();
    std::fs::set_permissions(&script, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let error = error(Runner::start(TargetOptions::new(&script)));
    assert!(matches!(error, RunnerError::EndsAtStart { outcome: Outcome::Exit(0), .. }), "{error}");
}

#[test]
fn files_that_are_no_programs() {
    let start = |path: &str| error(Runner::start(TargetOptions::new(path)));
    assert!(matches!(start("/no/such/program"), RunnerError::NotFound(_)));
    assert!(matches!(start("/etc/passwd"), RunnerError::NotExecutable(_)));
    assert!(matches!(start("/"), RunnerError::NotExecutable(_)));
}

#[test]
fn executable_permission_is_not_enough() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("noise");
    std::fs::write(&file, "\x01\x02\x03").unwrap();
    std::fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let error = error(Runner::start(TargetOptions::new(&file)));
    assert!(matches!(error, RunnerError::CannotExecute { .. }), "{error}");
    assert!(matches!(
        run_plain(TargetOptions::new(&file), b""),
        Err(RunnerError::CannotExecute { .. })
    ));
}

#[test]
fn zero_bytes_are_refused() {
    let mut options = TargetOptions::new(support::target("trivial"));
    options.arguments = vec!["a\0b".into()];
    assert!(matches!(Runner::start(options), Err(RunnerError::ZeroByte)));
}

/// The runtime is linked without a standard library: there is nothing that could handle a panic.
#[test]
fn the_fork_server_cannot_panic() {
    let code = support::server_code();
    assert!(code.contains("tarragon_test_serve"));
    let panics: Vec<&str> =
        code.lines().filter(|line| line.contains("call") && line.contains("panic")).collect();
    assert!(panics.is_empty(), "{panics:?}");
}
