//! A run whose threads all wait for each other: where each of them waits.
//!
//! That it is a deadlock is the program's own verdict ([`runner::Waiting`]); the sanitized variant
//! only names the places.

use std::time::Duration;

use runner::{PlainRunner, RunnerError, SanitizerFrame, TargetOptions, Waiting};
use search::{Diagnosis, Frame};

pub(crate) struct Threads {
    runner: PlainRunner,
}

impl Threads {
    /// `options` are those of the sanitized variant, all of whose threads print their stacks after
    /// `run_time`.
    pub(crate) fn new(
        mut options: TargetOptions,
        run_time: Duration,
    ) -> Result<Threads, RunnerError> {
        const ANSWERING: Duration = Duration::from_secs(5);
        options.limits.run_time = run_time + ANSWERING;
        let after = run_time.as_millis().to_string();
        options.environment.push(("TARRAGON_THREADS".into(), after.into()));
        Ok(Threads { runner: PlainRunner::new(options)? })
    }

    /// What a run prints that stands still.
    pub(crate) fn run(&mut self, input: &[u8]) -> Result<Vec<u8>, RunnerError> {
        self.runner.run(input).map(|run| run.stderr)
    }
}

/// Functions in which a thread waits for the end of another: what that one waits for says more.
const JOINING: [&str; 6] =
    ["pthread_join", "thrd_join", "pthread_clockjoin_ex", "wait", "waitpid", "wait4"];

/// `threads` has the library's function and the program's frames of each, if they are known.
pub(crate) fn deadlock(
    waiting: &[Waiting],
    mut threads: Vec<(String, Vec<SanitizerFrame>)>,
) -> Diagnosis {
    // A variant that is slower may not have come to the standstill.
    let is_standing = |(called, _): &(String, Vec<SanitizerFrame>)| !called.is_empty();
    if threads.len() != waiting.len() || !threads.iter().all(is_standing) {
        threads.clear();
    }
    threads.sort_by_key(|(called, _)| JOINING.contains(&called.as_str()));
    let calls = waiting.iter().map(|of| {
        format!("    thread {} of process {} waits in {}\n", of.thread, of.process, of.call)
    });
    let stacks = threads.iter().map(|(called, frames)| {
        let frames: Vec<String> =
            frames.iter().map(|frame| format!("        {}\n", named(frame))).collect();
        format!("    {called}, called at\n{}", frames.concat())
    });
    let report = match threads.is_empty() {
        true => format!("all threads wait for each other:\n{}", calls.collect::<String>()),
        false => format!("all threads wait for each other:\n{}", stacks.collect::<String>()),
    };
    let frames = threads.iter().filter_map(|(_, frames)| frames.first().map(named)).collect();
    let kind = Diagnosis::DEADLOCK.to_owned();
    Diagnosis { kind, fatal: true, frames, report: report.into_bytes(), hidden: None, rounds: None }
}

fn named(frame: &SanitizerFrame) -> Frame {
    Frame { function: frame.function.clone(), place: frame.place.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn thread(called: &str, place: &str) -> (String, Vec<SanitizerFrame>) {
        let frame = SanitizerFrame { function: "work".to_owned(), place: place.to_owned() };
        (called.to_owned(), vec![frame])
    }

    fn waiting(threads: i32) -> Vec<Waiting> {
        (0..threads).map(|of| Waiting { process: 7, thread: 8 + of, call: "futex" }).collect()
    }

    #[test]
    fn whoever_joins_another_comes_last() {
        let threads = vec![
            thread("pthread_join", "/a.c:9:1"),
            thread("pthread_mutex_lock", "/a.c:3:1"),
            thread("pthread_mutex_lock", "/a.c:5:1"),
        ];
        let found = deadlock(&waiting(3), threads);
        let places: Vec<&str> = found.frames.iter().map(|frame| &*frame.place).collect();
        assert_eq!(places, ["/a.c:3:1", "/a.c:5:1", "/a.c:9:1"]);
    }

    #[test]
    fn stacks_of_a_run_that_was_not_so_far_are_none() {
        let busy = vec![thread("", "/a.c:3:1"), thread("pthread_join", "/a.c:9:1")];
        assert!(deadlock(&waiting(2), busy).frames.is_empty());
        let alone = vec![thread("pthread_join", "/a.c:9:1")];
        assert!(deadlock(&waiting(2), alone).frames.is_empty());
    }

    #[test]
    fn without_stacks_the_calls_are_told() {
        let report = deadlock(&waiting(1), Vec::new()).report;
        let report = String::from_utf8(report).expect("text");
        assert!(report.contains("thread 8 of process 7 waits in futex"), "{report}");
    }
}
