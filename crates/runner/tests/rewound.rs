//! Processes that begin again when they exit: `targets/rewound.c` says what it finds, and makes a
//! mess of it.

mod support;

use runner::{Outcome, Runner, Sandbox};

fn start(sandbox: Sandbox) -> Runner {
    support::start_capturing(support::target_with("rewound", "rewound", &["-lm"]), sandbox)
}

struct Seen {
    outcome: Outcome,
    stdout: Vec<u8>,
    process: String,
    covered: Vec<usize>,
    events: usize,
}

fn seen(run: runner::RawRun<'_>) -> Seen {
    Seen {
        outcome: run.outcome,
        stdout: run.stdout().unwrap(),
        process: String::from_utf8(run.stderr_tail()).unwrap(),
        covered: (0..run.coverage.len()).filter(|&i| run.coverage[i] != 0).collect(),
        events: run.trace.as_ref().unwrap().events.len(),
    }
}

fn shared(runner: &mut Runner, input: &str) -> Seen {
    seen(runner.run_shared(input.as_bytes(), true).unwrap())
}

/// Runs `input` in a shared process and in one of its own, which must not differ.
#[track_caller]
fn check(runner: &mut Runner, other: &mut Runner, input: &str) -> Seen {
    let here = shared(runner, input);
    let own = seen(other.run(input.as_bytes(), true).unwrap());
    assert_eq!(here.outcome, own.outcome, "{input}");
    assert_eq!(
        String::from_utf8_lossy(&here.stdout),
        String::from_utf8_lossy(&own.stdout),
        "{input}"
    );
    assert_eq!((&here.covered, here.events), (&own.covered, own.events), "{input}");
    here
}

#[test]
fn a_mess_is_gone_when_the_process_begins_again() {
    let messes = [
        "nothing",
        "data",
        "heap",
        "large",
        "mapped",
        "environment",
        "rounding",
        "signals",
        "open",
        "alarm",
        "at exit",
        "abort",
        "divide",
        "trap",
        "abort of a child",
        "close",
        "reopen",
    ];
    for sandbox in [Sandbox::On, Sandbox::Off] {
        let (mut runner, mut other) = (start(sandbox), start(sandbox));
        let first = shared(&mut runner, "nothing\n0\n").process;
        for (mess, code) in messes.into_iter().cycle().zip(0..50) {
            let process = check(&mut runner, &mut other, &format!("{mess}\n{code}\n")).process;
            assert_eq!(process, first, "{mess}");
        }
        assert_eq!(runner.counters().restarts, 0);
    }
}

#[test]
fn what_cannot_be_undone_ends_the_process() {
    for sandbox in [Sandbox::On, Sandbox::Off] {
        let (mut runner, mut other) = (start(sandbox), start(sandbox));
        for mess in ["child", "crash", "quick", "handler"] {
            let before = check(&mut runner, &mut other, "nothing\n1\n").process;
            assert_eq!(check(&mut runner, &mut other, &format!("{mess}\n2\n")).process, before);
            assert_ne!(check(&mut runner, &mut other, "nothing\n2\n").process, before, "{mess}");
        }
        assert_eq!(runner.counters().restarts, 0);
    }
}

#[test]
fn a_run_that_is_killed_ends_the_process() {
    for sandbox in [Sandbox::On, Sandbox::Off] {
        let mut runner = start(sandbox);
        let before = shared(&mut runner, "nothing\n1\n").process;
        assert_eq!(support::run_endless(&mut runner, "hang\n2\n"), (Outcome::Timeout, true));
        assert_ne!(shared(&mut runner, "nothing\n2\n").process, before);
        assert_eq!(runner.counters().restarts, 0);
    }
}

#[test]
fn exit_codes_are_those_of_each_run() {
    let mut runner = start(Sandbox::On);
    for code in [0, 1, 2, 255, 256, 3] {
        assert_eq!(
            shared(&mut runner, &format!("nothing\n{code}\n")).outcome,
            Outcome::Exit(code & 255)
        );
    }
}

#[test]
fn a_process_is_rewound_a_thousand_times_at_most() {
    let mut runner = start(Sandbox::On);
    let processes: Vec<String> =
        (0..1200).map(|_| shared(&mut runner, "data\n1\n").process).collect();
    assert!(processes[..1000].iter().all(|process| *process == processes[0]));
    assert!(processes[1000..].iter().all(|process| *process == processes[1000]));
    assert_ne!(processes[0], processes[1000]);
}
