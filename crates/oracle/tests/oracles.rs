//! A few dozen programs of each oracle; `cargo run -p oracle` is the long run.

use std::ops::Range;

use oracle::campaign::{self, Victim};
use oracle::checks::ChecksOracle;
use oracle::engine::EngineOracle;
use oracle::{Oracle, judge};

fn check<O: Oracle>(seeds: Range<u64>) {
    let found = judge::<O>(seeds, &mut O::Summary::default()).expect("programs that run");
    // A search that says itself that it left something out may miss an error there.
    let counts = |finding: &oracle::Finding| !finding.class.starts_with("missed, not complete");
    let found = found.iter().filter(|disagreement| counts(&disagreement.finding));
    let shown: Vec<String> = found.map(|d| format!("seed {}: {}", d.seed, d.finding)).collect();
    assert!(shown.is_empty(), "{}", shown.join("\n"));
}

#[test]
fn complete_searches_have_been_in_every_leaf_and_all_ways_to_run_agree() {
    // Some of them have leaves that a search misses which takes three values of a byte for one.
    check::<EngineOracle>(64..88);
}

#[test]
fn planted_errors_are_reported_and_nothing_else_is() {
    check::<ChecksOracle>(0..6);
}

#[test]
fn nothing_that_was_announced_is_missing_after_bad_moments() {
    let victim = Victim::build().expect("a program that builds");
    let faults = campaign::judge(&victim, 0..6, 4, &mut campaign::Summary::default());
    let faults = faults.expect("campaigns that start");
    let shown: Vec<String> =
        faults.iter().map(|f| format!("trial {}: {}\n{}", f.seed, f.finding, f.log)).collect();
    assert!(shown.is_empty(), "{}", shown.join("\n"));
}
