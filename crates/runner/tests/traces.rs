//! Nothing is left behind: no processes, no descriptors, no files.

mod support;

use runner::{Runner, Sandbox, TargetOptions};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A target of its own for each test, so that its processes can be told apart.
fn options(variant: &str, sandbox: Sandbox) -> (TargetOptions, PathBuf) {
    let program = support::target_with("zoo", variant, &[]);
    let mut options = TargetOptions::new(&program);
    options.sandbox = sandbox;
    options.limits.run_time = support::PATIENCE;
    options.capture_stdout = true;
    (options, program)
}

/// The directory that the target runs in, as the target says.
fn scratch(runner: &mut Runner) -> PathBuf {
    PathBuf::from(
        String::from_utf8(runner.run(b"shell pwd", false).unwrap().stdout().unwrap())
            .unwrap()
            .trim(),
    )
}

#[test]
fn ten_thousand_runs_leak_nothing() {
    let (options, program) = options("many", Sandbox::On);
    let mut runner = Runner::start(options).unwrap();
    runner.run(b"exit 0", true).unwrap();
    // Other tests of this process open and close descriptors meanwhile; a leak would show as
    // thousands.
    let before = support::open_descriptors();
    for _ in 0..10_000 {
        runner.run(b"exit 0", true).unwrap();
    }
    assert!(support::open_descriptors() < before + 100);
    assert_eq!(support::processes_of(&program).len(), 1);
    assert_eq!(runner.counters().restarts, 0);
}

#[test]
fn dropping_a_runner_removes_everything() {
    for (variant, sandbox) in [("drop-on", Sandbox::On), ("drop-off", Sandbox::Off)] {
        let (options, program) = options(variant, sandbox);
        let mut runner = Runner::start(options).unwrap();
        let scratch = scratch(&mut runner);
        support::run_endless(&mut runner, "hang-with-child");
        for animal in ["daemon", "leave"] {
            runner.run(animal.as_bytes(), false).unwrap();
        }
        assert!(scratch.exists());
        drop(runner);
        assert!(support::processes_of(&program).is_empty(), "{sandbox:?}");
        assert!(!scratch.exists() && !scratch.parent().unwrap().exists());
    }
}

#[test]
fn a_runner_survives_the_thread_that_made_it() {
    let (options, _) = options("thread", Sandbox::On);
    let make = || {
        // SAFETY: asks for a number only.
        let thread = unsafe { libc::gettid() };
        (Runner::start(options).unwrap(), PathBuf::from(format!("/proc/self/task/{thread}")))
    };
    let (mut runner, thread) = std::thread::spawn(make).join().unwrap();
    support::eventually("the thread is gone", || !thread.exists());
    runner.run(b"exit 0", false).unwrap();
    assert_eq!(runner.counters().restarts, 0);
}

/// Ctrl-C goes to the foreground process group of the terminal's session.
#[test]
fn targets_have_a_session_of_their_own() {
    for (variant, sandbox) in [("session-on", Sandbox::On), ("session-off", Sandbox::Off)] {
        let (options, program) = options(variant, sandbox);
        let _runner = Runner::start(options).unwrap();
        // SAFETY: asks for numbers only.
        let session = |pid: u32| unsafe { libc::getsid(pid as i32) };
        let servers = support::processes_of(&program);
        assert_eq!(servers.len(), 1);
        assert_ne!(session(servers[0]), session(0));
    }
}

#[test]
fn a_killed_server_is_started_again() {
    for (variant, sandbox) in [("restart-on", Sandbox::On), ("restart-off", Sandbox::Off)] {
        let (options, program) = options(variant, sandbox);
        let mut runner = Runner::start(options).unwrap();
        for round in 1..=3 {
            for pid in support::processes_of(&program) {
                // SAFETY: signals a process of this test.
                unsafe { libc::kill(pid as i32, libc::SIGKILL) };
            }
            runner.run(b"exit 0", false).unwrap();
            assert_eq!(runner.counters().restarts, round);
        }
    }
}

#[test]
fn a_server_that_is_killed_on_every_input_is_an_error() {
    let (options, program) = options("suicide", Sandbox::Off);
    let mut runner = Runner::start(options).unwrap();
    let mut kill = |_: u32| runner.run(b"kill-server", false).is_ok();
    assert_eq!([1, 2, 3, 4, 5].map(&mut kill), [true, true, true, true, false]);
    runner.run(b"exit 0", false).unwrap();
    drop(runner);
    support::eventually("all processes gone", || support::processes_of(&program).is_empty());
}

/// Plays the driver that is killed. Started by the next test only.
#[test]
#[ignore = "a helper of driver_killed_in_the_middle_of_a_run"]
fn helper_driver() {
    let sandbox =
        if std::env::var_os("HELPER_SANDBOX_OFF").is_some() { Sandbox::Off } else { Sandbox::On };
    let variant = std::env::var("HELPER_VARIANT").unwrap();
    let (options, program) = options(&variant, sandbox);
    let mut runner = Runner::start(options).unwrap();
    println!("\n{}", program.display());
    println!("{}", scratch(&mut runner).display());
    let _ = runner.run(b"hang-with-child", false);
}

#[test]
fn driver_killed_in_the_middle_of_a_run() {
    for (variant, off) in [("killed-on", false), ("killed-off", true)] {
        let mut helper = Command::new(std::env::current_exe().unwrap());
        helper
            .args(["--exact", "helper_driver", "--ignored", "--nocapture"])
            .env("HELPER_VARIANT", variant);
        if off {
            helper.env("HELPER_SANDBOX_OFF", "1");
        }
        let mut helper = helper.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let lines = BufReader::new(helper.stdout.take().unwrap()).lines().map(Result::unwrap);
        let paths: Vec<String> = lines.filter(|line| line.starts_with('/')).take(2).collect();
        let [program, scratch] = &paths[..] else { panic!("{paths:?}") };
        support::eventually("server, run and its child", || {
            support::processes_of(Path::new(program)).len() == 3
        });
        helper.kill().unwrap();
        helper.wait().unwrap();
        support::eventually("no process left", || {
            support::processes_of(Path::new(program)).is_empty()
        });
        let directory = Path::new(scratch).parent().unwrap();
        support::eventually("no directory left", || !directory.exists());
    }
}

#[test]
fn failed_starts_leave_nothing() {
    let before = support::open_descriptors();
    for _ in 0..200 {
        assert!(Runner::start(TargetOptions::new("/bin/true")).is_err());
        let mut options = TargetOptions::new(support::target_with("zoo", "failed", &[]));
        options.arguments = vec!["\0".into()];
        assert!(Runner::start(options).is_err());
    }
    assert!(support::open_descriptors() < before + 100);
}
