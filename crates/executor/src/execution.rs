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
    let (covered, counts) = covered(run.coverage);
    Execution {
        outcome: run.outcome,
        covered,
        counts,
        trace,
        bad_trace,
        run_time: run.run_time,
        cpu_time: run.cpu_time,
        stderr,
    }
}

/// Indices of the branch outcomes that a run took, and how often it took each.
fn covered(coverage: &[u8]) -> (Vec<u32>, Vec<u8>) {
    // Most outcomes are not seen, so that eight of them are looked at together.
    const TOGETHER: usize = 8;
    let (mut covered, mut counts) = (Vec::with_capacity(128), Vec::with_capacity(128));
    for (first, seen) in (0..).step_by(TOGETHER).zip(coverage.chunks(TOGETHER)) {
        if seen != [0; TOGETHER] {
            for (outcome, &count) in (first..).zip(seen).filter(|(_, count)| **count != 0) {
                covered.push(outcome);
                counts.push(count);
            }
        }
    }
    (covered, counts)
}

#[cfg(test)]
mod tests {
    use super::covered;

    #[test]
    fn coverage_is_a_list_of_what_was_taken_and_how_often() {
        let mut coverage = [0; 19];
        assert_eq!(covered(&coverage), (vec![], vec![]));
        for (taken, count) in [(0, 1), (7, 255), (8, 2), (18, 9)] {
            coverage[taken] = count;
        }
        assert_eq!(covered(&coverage), (vec![0, 7, 8, 18], vec![1, 255, 2, 9]));
    }
}
