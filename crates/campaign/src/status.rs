//! One look at a running campaign, as text.

use std::fmt::Write;
use std::time::Duration;

use search::Stats;

use crate::report::per_second;

/// The block that a terminal shows; each line fits 79 columns.
pub(crate) fn block(strategy: &str, stats: &Stats, last_bug: Option<&str>) -> Vec<String> {
    let rate = per_second(stats.runs, stats.times.total.as_secs_f64());
    let time = clock(stats.times.total);
    let first = format!(
        "{strategy}  {time}   {} runs ({rate:.0}/s)   {} paths   {} waiting",
        stats.runs, stats.paths, stats.queue
    );
    let coverage = format!(
        "coverage  {}   corpus {}   diverged {}",
        coverage(stats),
        stats.corpus,
        stats.divergences
    );
    let bugs = match (stats.bugs, last_bug) {
        (0, _) => "bugs      none yet".to_owned(),
        (count, Some(bug)) => format!("bugs      {count}, last: {bug}"),
        (count, None) => format!("bugs      {count}"),
    };
    let lines = [first, coverage, format!("solver    {}", solver(stats)), bugs];
    lines.into_iter().map(|line| line.chars().take(79).collect()).collect()
}

/// The same in one line, for logs.
pub(crate) fn line(stats: &Stats) -> String {
    let rate = per_second(stats.runs, stats.times.total.as_secs_f64());
    format!(
        "{}  {} runs ({rate:.0}/s)  {} paths  coverage {}  {} waiting  solver {}  bugs {}",
        clock(stats.times.total),
        stats.runs,
        stats.paths,
        coverage(stats),
        stats.queue,
        solver(stats),
        stats.bugs
    )
}

fn coverage(stats: &Stats) -> String {
    let percent = 100.0 * per_second(stats.covered as u64, stats.outcomes as f64);
    format!("{}/{} ({percent:.1} %)", stats.covered, stats.outcomes)
}

/// The share of answers that each link gave.
fn solver(stats: &Stats) -> String {
    let answered = |sat: u64, unsat: u64| sat + unsat;
    let total: u64 = stats.solver.iter().map(|link| answered(link.sat, link.unsat)).sum();
    if total == 0 {
        return "not asked".to_owned();
    }
    let mut text = String::new();
    for link in stats.solver.iter().filter(|link| answered(link.sat, link.unsat) > 0) {
        let share = 100.0 * answered(link.sat, link.unsat) as f64 / total as f64;
        // Writing to a string cannot fail.
        let _ = write!(text, "{} {share:.0} %  ", link.name);
    }
    text + &format!("unknown {}", stats.answers.unknown)
}

fn clock(time: Duration) -> String {
    let seconds = time.as_secs();
    format!("{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60)
}

#[cfg(test)]
mod tests {
    use super::*;
    use search::LinkStats;

    fn stats() -> Stats {
        let mut stats =
            Stats { runs: 1000, paths: 40, covered: 25, outcomes: 200, queue: 7, ..Stats::new() };
        stats.times.total = Duration::from_secs(3_670);
        let link =
            |name: &str, sat| LinkStats { name: name.to_owned(), sat, ..LinkStats::default() };
        stats.solver = vec![link("bytes", 30), link("z3", 10), link("cache", 0)];
        stats
    }

    #[test]
    fn a_line_says_it_all() {
        let expected = "01:01:10  1000 runs (0/s)  40 paths  coverage 25/200 (12.5 %)  7 waiting  \
                        solver bytes 75 %  z3 25 %  unknown 0  bugs 0";
        assert_eq!(line(&stats()), expected);
    }

    #[test]
    fn blocks_fit_a_narrow_terminal() {
        let block = block("whitebox", &stats(), Some(&"SIGSEGV ".repeat(30)));
        assert_eq!(block.len(), 4);
        assert!(block.iter().all(|line| line.chars().count() <= 79));
    }

    #[test]
    fn nothing_done_is_no_division_by_zero() {
        assert!(line(&Stats::new()).contains("0 runs (0/s)  0 paths  coverage 0/0 (0.0 %)"));
    }
}
