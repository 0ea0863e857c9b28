//! One target that behaves in many ways, one table of what must come of it.

mod support;

use runner::{Outcome, Runner, Sandbox, TargetOptions, WorkingDirectory, run_plain};
use std::ffi::OsString;
use std::process::{Child, Command};
use std::time::Duration;
use trace::Capacities;

fn main() {
    needs::run(needs::tests![
        outcomes_in_the_sandbox,
        outcomes_without_a_sandbox,
        what_does_not_end_is_killed,
        processor_time_is_limited_by_itself,
        time_without_the_processor_is_not_the_run_s,
        system_calls_that_are_denied,
        a_crash_for_want_of_memory_is_told_apart,
        stray_children_are_killed_and_counted,
        a_fork_bomb_is_limited,
        files_outside_stay_as_they_are,
        the_input_cannot_be_changed,
        the_scratch_directory_is_limited_and_emptied,
        a_target_cannot_kill_its_server_in_a_namespace,
        overwritten_trace_memory_is_reported_and_repaired,
        coverage_and_trace_are_those_of_the_run,
        output_is_that_of_the_run,
        the_input_can_come_in_a_file,
        inputs_of_any_length_up_to_the_limit,
        plain_programs_run_with_the_same_outcomes,
        a_plain_run_kills_what_it_started,
        the_working_directory_can_be_kept,
        the_sandbox_holds_with_less,
    ]);
}

fn options(sandbox: Sandbox) -> TargetOptions {
    let mut options = TargetOptions::new(support::target("zoo"));
    options.sandbox = sandbox;
    options.limits.run_time = support::PATIENCE;
    options.limits.memory = 32 << 20;
    options.limits.address_space_allowance = Some(32 << 20);
    options.capacities =
        Capacities { events: 1 << 10, nodes: 1 << 10, data: 1 << 10, ..options.capacities };
    options.limits.file_size = 1 << 20;
    options
}

fn start(sandbox: Sandbox) -> Runner {
    Runner::start(options(sandbox)).unwrap()
}

/// Whether the sandbox has a part: the kernel may not offer it.
fn has(runner: &Runner, part: &str) -> bool {
    runner.sandbox().in_force.iter().any(|text| text.contains(part))
}

fn outcome(runner: &mut Runner, input: &str) -> Outcome {
    runner.run(input.as_bytes(), false).unwrap_or_else(|error| panic!("{input}: {error}")).outcome
}

/// Runs every input of the table twice: a run must leave nothing that changes the next one.
fn check(runner: &mut Runner, table: &[(&str, Outcome)]) {
    for (input, expected) in table {
        for _ in 0..2 {
            assert_eq!(outcome(runner, input), *expected, "{input}");
            assert_eq!(outcome(runner, "exit 0"), Outcome::Exit(0), "after {input}");
        }
    }
}

const EPERM: Outcome = Outcome::Exit(libc::EPERM);
const EFBIG: Outcome = Outcome::Exit(libc::EFBIG);

/// What holds with and without a sandbox.
const ANYWHERE: &[(&str, Outcome)] = &[
    ("", Outcome::Exit(77)),
    ("exit 0", Outcome::Exit(0)),
    ("exit 3", Outcome::Exit(3)),
    ("exit 255", Outcome::Exit(255)),
    ("abort", Outcome::Signal(libc::SIGABRT)),
    ("segv", Outcome::Signal(libc::SIGSEGV)),
    ("fpe", Outcome::Signal(libc::SIGFPE)),
    ("raise 15", Outcome::Signal(libc::SIGTERM)),
    ("raise 13", Outcome::Signal(libc::SIGPIPE)),
    ("child", Outcome::Exit(0)),
    ("daemon", Outcome::Exit(0)),
    ("close", Outcome::Exit(0)),
    ("scream", EFBIG),
    ("eat", Outcome::Exit(42)),
    ("leave", Outcome::Exit(0)),
    ("home", Outcome::Exit(0)),
    ("descriptors", Outcome::Exit(0)),
    ("thread", Outcome::Exit(0)),
    ("socketpair", Outcome::Exit(0)),
    ("shell exit 4", Outcome::Exit(4)),
    ("write in-scratch", Outcome::Exit(0)),
    ("write /dev/null", Outcome::Exit(0)),
];

/// What never ends by itself.
const ENDLESS: &[&str] = &["hang", "spin", "stop", "hang-with-child", "print"];

fn impatient(sandbox: Sandbox) -> TargetOptions {
    let mut options = options(sandbox);
    options.limits.run_time = support::IMPATIENCE;
    options
}

fn outcomes_in_the_sandbox() {
    let mut runner = start(Sandbox::On);
    check(&mut runner, ANYWHERE);
    assert_eq!(runner.counters().restarts, 0);
}

fn outcomes_without_a_sandbox() {
    let mut runner = start(Sandbox::Off);
    check(&mut runner, ANYWHERE);
    assert_eq!(runner.counters().restarts, 0);
}

fn what_does_not_end_is_killed() {
    for sandbox in [Sandbox::On, Sandbox::Off] {
        let mut runner = start(sandbox);
        for animal in ENDLESS {
            assert_eq!(support::run_endless(&mut runner, animal).0, Outcome::Timeout, "{animal}");
            assert_eq!(outcome(&mut runner, "exit 0"), Outcome::Exit(0), "after {animal}");
            assert_eq!(
                run_plain(impatient(sandbox), animal.as_bytes()).unwrap().outcome,
                Outcome::Timeout
            );
        }
        assert_eq!(runner.counters().restarts, 0);
    }
}

/// More than a shell needs that sleeps for longer.
const CPU_TIME: Duration = Duration::from_millis(500);

fn processor_time_is_limited_by_itself() {
    for sandbox in [Sandbox::On, Sandbox::Off] {
        let mut options = options(sandbox);
        options.limits.cpu_time = Some(CPU_TIME);
        let mut runner = Runner::start(options).unwrap();
        check(&mut runner, &[("spin", Outcome::Timeout), ("shell sleep 1", Outcome::Exit(0))]);
        let run = runner.run(b"spin", true).unwrap();
        assert!(run.cpu_time >= CPU_TIME, "{:?}", run.cpu_time);
        assert!(run.run_time < support::PATIENCE, "ended by the other limit: {:?}", run.run_time);
    }
}

/// Others have the same processor, so that a run takes several times as long as it works.
fn time_without_the_processor_is_not_the_run_s() {
    const OTHERS: usize = 4;
    struct Busy(Child);
    impl Drop for Busy {
        fn drop(&mut self) {
            let _ = self.0.kill().and_then(|()| self.0.wait());
        }
    }
    runner::keep_to_one_processor();
    let spin = || Command::new("sh").args(["-c", "while :; do :; done"]).spawn().map(Busy);
    let _others: Vec<_> = (0..OTHERS).map(|_| spin().unwrap()).collect();
    let mut options = options(Sandbox::On);
    options.limits.run_time = Duration::from_millis(400);
    let outcomes = [true, false].map(|in_variant| match in_variant {
        true => outcome(&mut Runner::start(options.clone()).unwrap(), "work 250"),
        false => run_plain(options.clone(), b"work 250").unwrap().outcome,
    });
    assert_eq!(outcomes, [Outcome::Exit(0); 2]);
}

fn system_calls_that_are_denied() -> needs::Tested {
    let mut runner = start(Sandbox::On);
    needs::feature("seccomp", has(&runner, "seccomp"))?;
    let table = ["socket", "unix-socket", "ptrace", "unshare", "clone-newuser"]
        .map(|animal| (animal, EPERM));
    check(&mut runner, &table);
    Ok(())
}

fn a_crash_for_want_of_memory_is_told_apart() {
    check(&mut start(Sandbox::On), &[("eat-and-die", Outcome::OutOfMemory)]);
}

fn stray_children_are_killed_and_counted() {
    for sandbox in [Sandbox::On, Sandbox::Off] {
        let mut runner = start(sandbox);
        for animal in ["child", "daemon"] {
            assert_eq!(runner.run(animal.as_bytes(), false).unwrap().stray_children, 1, "{animal}");
        }
        assert_eq!(runner.run(b"exit 0", false).unwrap().stray_children, 0);
        assert_eq!(runner.counters().stray_children, 2);
    }
}

fn a_fork_bomb_is_limited() -> needs::Tested {
    let mut runner = start(Sandbox::On);
    needs::feature("limit on processes", has(&runner, "limit on processes"))?;
    check(&mut runner, &[("bomb", Outcome::Exit(0))]);
    Ok(())
}

/// The file system outside the scratch directory, seen from inside.
fn files_outside_stay_as_they_are() {
    let mut runner = start(Sandbox::On);
    let outside = tempfile::tempdir().unwrap();
    let file = outside.path().join("file");
    std::fs::write(&file, "precious").unwrap();
    let before = std::fs::metadata(&file).unwrap().permissions();
    for animal in ["write", "unlink", "truncate", "chmod", "rename"] {
        let code = outcome(&mut runner, &format!("{animal} {}", file.display()));
        assert!(matches!(code, Outcome::Exit(code) if code != 0 && code < 77), "{animal}: {code}");
    }
    let new = outside.path().join("new");
    assert_ne!(outcome(&mut runner, &format!("write {}", new.display())), Outcome::Exit(0));
    assert!(!new.exists());
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "precious");
    assert_eq!(std::fs::metadata(&file).unwrap().permissions(), before);
}

fn the_input_cannot_be_changed() {
    let mut runner = start(Sandbox::On);
    let code = outcome(&mut runner, "rewrite-input");
    assert!(matches!(code, Outcome::Exit(code) if code != 0 && code < 77), "{code}");
}

fn the_scratch_directory_is_limited_and_emptied() -> needs::Tested {
    let mut options = options(Sandbox::On);
    options.limits.scratch_size = 4 << 20;
    let mut runner = Runner::start(options).unwrap();
    let is_limited = !runner.sandbox().missing.iter().any(|text| text.contains("scratch"));
    needs::feature("file system in memory", is_limited)?;
    check(&mut runner, &[("fill", Outcome::Exit(libc::ENOSPC))]);
    Ok(())
}

fn a_target_cannot_kill_its_server_in_a_namespace() -> needs::Tested {
    let mut runner = start(Sandbox::On);
    needs::feature("namespaces", has(&runner, "namespaces"))?;
    check(&mut runner, &[("kill-server", Outcome::Exit(0))]);
    assert_eq!(runner.counters().restarts, 0);
    Ok(())
}

fn overwritten_trace_memory_is_reported_and_repaired() {
    let mut runner = start(Sandbox::On);
    for animal in ["scribble", "counters"] {
        let run = runner.run(animal.as_bytes(), true).unwrap();
        assert_eq!(run.outcome, Outcome::Exit(0));
        assert!(run.trace.is_err(), "{animal}");
        let next = runner.run(b"exit 0", true).unwrap();
        assert_eq!(next.trace.unwrap().events.len(), 1);
    }
    assert_eq!(runner.counters().corrupted_segments, 2);
}

fn coverage_and_trace_are_those_of_the_run() {
    let mut runner = start(Sandbox::On);
    for outcome in [0, 7, 16383] {
        let run = runner.run(format!("cover {outcome}").as_bytes(), true).unwrap();
        let covered: Vec<usize> =
            (0..run.coverage.len()).filter(|&i| run.coverage[i] != 0).collect();
        assert_eq!(covered, [outcome]);
        assert_eq!(run.trace.unwrap().events[0].site, u32::from(b'c'));
    }
    assert!(runner.run(b"exit 0", false).unwrap().trace.unwrap().events.is_empty());
}

fn output_is_that_of_the_run() {
    let mut options = options(Sandbox::On);
    options.capture_stdout = true;
    let mut runner = Runner::start(options).unwrap();
    for text in ["hello", "", "again"] {
        let run = runner.run(format!("say {text}").as_bytes(), false).unwrap();
        assert_eq!(run.stderr_tail(), text.as_bytes());
        assert_eq!(run.stdout().unwrap(), text.as_bytes());
    }
    let run = runner.run(b"print", false).unwrap();
    assert_eq!((run.outcome, run.stdout().unwrap().len()), (EFBIG, 1 << 20));
    let run = runner.run(b"scream", false).unwrap();
    assert_eq!(run.stderr_tail().len() as u64, runner::TAIL_LEN);
}

fn the_input_can_come_in_a_file() {
    for sandbox in [Sandbox::On, Sandbox::Off] {
        let mut options = options(sandbox);
        options.arguments = vec![OsString::from("--flag"), OsString::from("@@")];
        let mut runner = Runner::start(options).unwrap();
        check(&mut runner, &[("exit 3", Outcome::Exit(3)), ("exit 12", Outcome::Exit(12))]);
    }
}

fn inputs_of_any_length_up_to_the_limit() {
    let mut runner = start(Sandbox::On);
    let max = runner.max_input_len() as usize;
    assert!(runner.run(&vec![b'x'; max], true).is_ok());
    assert!(runner.run(&vec![b'x'; max + 1], true).is_err());
    assert_eq!(outcome(&mut runner, "exit 1"), Outcome::Exit(1));
}

fn plain_programs_run_with_the_same_outcomes() {
    for sandbox in [Sandbox::On, Sandbox::Off] {
        for (input, expected) in ANYWHERE {
            let run = run_plain(options(sandbox), input.as_bytes()).unwrap();
            assert_eq!(run.outcome, *expected, "{input}");
        }
        let mut options = options(sandbox);
        options.capture_stdout = true;
        let run = run_plain(options, b"say hello").unwrap();
        assert_eq!((run.stdout, run.stderr), (b"hello".to_vec(), b"hello".to_vec()));
    }
}

fn a_plain_run_kills_what_it_started() {
    for sandbox in [Sandbox::On, Sandbox::Off] {
        for animal in ["child", "daemon"] {
            let run = run_plain(options(sandbox), animal.as_bytes()).unwrap();
            assert_eq!(
                (run.outcome, run.stray_children),
                (Outcome::Exit(0), 1),
                "{animal} {sandbox:?}"
            );
        }
    }
}

fn the_working_directory_can_be_kept() {
    let mut options = options(Sandbox::On);
    options.working_directory = WorkingDirectory::Keep;
    let mut runner = Runner::start(options).unwrap();
    assert_eq!(outcome(&mut runner, "shell test -f Cargo.toml"), Outcome::Exit(0));
}

const WITH_LESS: [&str; 6] = [
    "outcomes_in",
    "plain_programs",
    "files_outside",
    "system_calls",
    "the_input",
    "stray_children",
];

/// The same tests where the kernel gives namespaces only to root, and where it gives none.
fn the_sandbox_holds_with_less() -> needs::Tested {
    const FORBID_USERS: &str = "echo 0 >/proc/sys/user/max_user_namespaces";
    const FORBID_ALL: &str =
        "echo 0 >/proc/sys/user/max_user_namespaces && echo 0 >/proc/sys/user/max_pid_namespaces";
    for forbid in [FORBID_USERS, FORBID_ALL] {
        needs::feature("way to forbid namespaces", in_weaker_kernel(forbid, "true", &[]).0)?;
        let program = std::env::current_exe().unwrap();
        let program = program.to_str().unwrap();
        for tests in WITH_LESS {
            let (is_ok, printed) = in_weaker_kernel(forbid, program, &[tests]);
            assert!(is_ok, "{tests} after {forbid}: {printed}");
        }
    }
    Ok(())
}

/// Runs a command in a user namespace (which limits itself, not the machine) after a command of the
/// shell: whether it succeeded, and what it printed.
fn in_weaker_kernel(forbid: &str, program: &str, arguments: &[&str]) -> (bool, String) {
    let script = format!("{{ {forbid}; }} 2>/dev/null && exec \"$0\" \"$@\"");
    let mut command = std::process::Command::new("unshare");
    support::target("zoo");
    command.env(support::TARGETS_ARE_BUILT, "1");
    command.args(["--user", "--map-root-user", "sh", "-c", &script, program]).args(arguments);
    match command.output() {
        Ok(output) => {
            (output.status.success(), String::from_utf8_lossy(&output.stdout).into_owned())
        }
        Err(error) => (false, error.to_string()),
    }
}
