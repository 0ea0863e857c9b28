//! What a target in the sandbox sees of the machine: `targets/reader.c` tries.

mod support;

use runner::{Outcome, PlainRunner, Runner, Sandbox, TargetOptions};
use std::path::Path;
use tempfile::TempDir;

fn main() {
    needs::run(needs::tests![
        secrets_of_the_machine_are_not_shown,
        what_belongs_to_the_program_is_shown,
        what_belongs_to_others_is_not_shown,
        variables_of_the_driver_stay_there,
        what_the_sandbox_denies_is_told,
        files_that_are_hidden_are_told,
        temporary_files_are_written_and_gone_after_the_run,
        a_program_in_tmp_sees_its_own_files_there_and_nothing_else,
    ]);
}

fn options(sandbox: Sandbox) -> TargetOptions {
    TargetOptions { sandbox, ..TargetOptions::new(support::target("reader")) }
}

/// The error with which the program fails, in a process of a fork server and in one that is started
/// anew.
fn tried(options: &TargetOptions, input: &str) -> i32 {
    let forked =
        Runner::start(options.clone()).unwrap().run(input.as_bytes(), false).unwrap().outcome;
    let started = PlainRunner::new(options.clone()).unwrap().run(input.as_bytes()).unwrap().outcome;
    assert_eq!(forked, started, "{input}");
    let Outcome::Exit(code) = forked else { panic!("{input}: {forked}") };
    code
}

/// Without Landlock the sandbox hides nothing, and says so.
fn landlock() -> needs::Tested {
    let runner = Runner::start(options(Sandbox::On)).unwrap();
    needs::feature(
        "Landlock",
        runner.sandbox().in_force.iter().any(|part| part.starts_with("Landlock")),
    )
}

fn secrets_of_the_machine_are_not_shown() -> needs::Tested {
    landlock()?;
    let on = options(Sandbox::On);
    for path in ["/etc/shadow", "/etc", "/root", "/"] {
        assert_eq!(tried(&on, &format!("read {path}")), libc::EACCES, "{path}");
    }
    // What is in /tmp is not even there.
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml");
    let hidden = if file.starts_with("/tmp/") { libc::ENOENT } else { libc::EACCES };
    assert_eq!(tried(&on, &format!("read {file}")), hidden, "{file}");
    for path in ["/etc/passwd", "/usr/bin/env", "/dev/null", "/proc/self/maps", "/dev/stdin", "."] {
        assert_eq!(tried(&on, &format!("read {path}")), 0, "{path}");
    }
    assert_eq!(tried(&options(Sandbox::Off), &format!("read {file}")), 0);
    Ok(())
}

fn what_belongs_to_the_program_is_shown() {
    let (own, other) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let file = |dir: &TempDir, name: &str| {
        std::fs::write(dir.path().join(name), "x").unwrap();
        dir.path().join(name)
    };
    let (beside, elsewhere, library) =
        (file(&own, "data"), file(&other, "data"), file(&other, "more"));
    let mut options = options(Sandbox::On);
    options.show_files_of(&own.path().join("program"));
    options.arguments = vec![format!("--with={}", elsewhere.display()).into()];
    let read =
        |options: &TargetOptions, path: &Path| tried(options, &format!("read {}", path.display()));
    assert_eq!([read(&options, &beside), read(&options, &elsewhere)], [0, 0]);
    options.readable.push(library.clone());
    assert_eq!(read(&options, &library), 0);
}

fn what_belongs_to_others_is_not_shown() -> needs::Tested {
    landlock()?;
    let (own, stranger) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let file = stranger.path().join("data");
    std::fs::write(&file, "x").unwrap();
    let mut options = options(Sandbox::On);
    options.show_files_of(&own.path().join("program"));
    assert_ne!(tried(&options, &format!("read {}", file.display())), 0);
    Ok(())
}

fn variables_of_the_driver_stay_there() {
    // Cargo sets it for tests.
    let secret = "variable CARGO_MANIFEST_DIR";
    assert_ne!(tried(&options(Sandbox::On), secret), 0);
    assert_eq!(tried(&options(Sandbox::Off), secret), 0);
    for name in ["PATH", "HOME", "TMPDIR", "SHELL"] {
        assert_eq!(tried(&options(Sandbox::On), &format!("variable {name}")), 0, "{name}");
    }
    let mut options = options(Sandbox::On);
    options.environment.push(("GIVEN".into(), "1".into()));
    assert_eq!(tried(&options, "variable GIVEN"), 0);
}

fn denied(input: &str) -> Vec<String> {
    let all = runner::denials(options(Sandbox::On), input.as_bytes()).unwrap();
    all.iter().map(ToString::to_string).collect()
}

fn what_the_sandbox_denies_is_told() {
    assert_eq!(denied("read /etc/passwd"), [""; 0]);
    assert_eq!(denied("create /dev/x"), ["open /dev/x (once)"]);
}

fn files_that_are_hidden_are_told() -> needs::Tested {
    landlock()?;
    assert_eq!(denied("read /etc/shadow"), ["open /etc/shadow (once)"]);
    Ok(())
}

fn temporary_files_are_written_and_gone_after_the_run() -> needs::Tested {
    let mut runner = Runner::start(options(Sandbox::On)).unwrap();
    let has_own = !runner.sandbox().missing.iter().any(|gap| gap.starts_with("/tmp"));
    needs::feature("/tmp for each run", has_own)?;
    for _ in 0..2 {
        let created = ["/tmp/x", "/var/tmp/y", "/dev/shm/z"].map(|path| format!("create {path}"));
        for input in
            ["tmpfile", "semaphore /q"].into_iter().chain(created.iter().map(String::as_str))
        {
            assert_eq!(
                runner.run(input.as_bytes(), false).unwrap().outcome,
                Outcome::Exit(0),
                "{input}"
            );
        }
    }
    assert!(!Path::new("/dev/shm/z").exists() && !Path::new("/dev/shm/sem.q").exists());
    let outside = runner.run(b"create /dev/x", false).unwrap().outcome;
    assert!(matches!(outside, Outcome::Exit(libc::EACCES | libc::EROFS)), "{outside}");
    Ok(())
}

fn a_program_in_tmp_sees_its_own_files_there_and_nothing_else() {
    let (own, other) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let program = own.path().join("reader");
    std::fs::copy(support::target("reader"), &program).unwrap();
    std::fs::write(other.path().join("data"), "x").unwrap();
    let on = TargetOptions::new(&program);
    assert_eq!(tried(&on, &format!("read {}", program.display())), 0);
    assert_ne!(tried(&on, &format!("read {}/data", other.path().display())), 0);
    assert_ne!(tried(&on, &format!("create {}/x", own.path().display())), 0);
    let below = own.path().join("below");
    std::fs::create_dir(&below).unwrap();
    std::fs::copy(&program, below.join("reader")).unwrap();
    std::fs::write(own.path().join("beside"), "x").unwrap();
    let deeper = TargetOptions::new(below.join("reader"));
    assert_eq!(tried(&deeper, &format!("read {}/reader", below.display())), 0);
    assert_ne!(tried(&deeper, &format!("read {}/beside", own.path().display())), 0);
    assert_ne!(tried(&deeper, &format!("create {}/x", own.path().display())), 0);
    assert_eq!(tried(&on, "tmpfile"), 0);
    let mut runner = Runner::start(on).unwrap();
    for _ in 0..2 {
        let outcome = runner.run(b"create /tmp/x", false).unwrap().outcome;
        assert_eq!(outcome, Outcome::Exit(0));
    }
}
