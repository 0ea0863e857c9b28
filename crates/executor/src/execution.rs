//! What a run was, in the words of the search.

use path::Trace;
use runner::RawRun;
use search::Execution;

/// The run with its trace checked, if it was symbolic.
pub fn execution(run: RawRun<'_>, symbolic: bool) -> Execution {
    let stderr = match run.outcome {
        search::Outcome::Exit(_) => Vec::new(),
        _ => run.stderr_tail(),
    };
    let raw = run.trace.map_err(|error| error.to_string());
    let checked = raw.and_then(|raw| {
        let trace = symbolic.then(|| Trace::from_raw(raw)).transpose();
        trace.map_err(|error| error.to_string())
    });
    let (trace, bad_trace) = match checked {
        Ok(trace) => (trace, None),
        Err(error) => (None, Some(error)),
    };
    Execution {
        outcome: run.outcome,
        covered: covered(run.coverage),
        trace,
        bad_trace,
        run_time: run.run_time,
        cpu_time: run.cpu_time,
        stderr,
    }
}

/// Indices of the branch outcomes that a run took.
fn covered(coverage: &[u8]) -> Vec<u32> {
    // Most outcomes are not seen, so that eight of them are looked at together.
    const TOGETHER: usize = 8;
    let mut covered = Vec::with_capacity(128);
    for (first, seen) in (0..).step_by(TOGETHER).zip(coverage.chunks(TOGETHER)) {
        if seen != [0; TOGETHER] {
            let taken = (first..).zip(seen).filter(|(_, seen)| **seen != 0);
            covered.extend(taken.map(|(outcome, _)| outcome));
        }
    }
    covered
}

#[cfg(test)]
mod tests {
    use super::covered;

    #[test]
    fn coverage_is_a_list_of_what_was_taken() {
        let mut coverage = [0; 19];
        assert!(covered(&coverage).is_empty());
        for taken in [0, 7, 8, 18] {
            coverage[taken] = 1;
        }
        assert_eq!(covered(&coverage), [0, 7, 8, 18]);
    }
}
