//! A few dozen programs of each oracle; `cargo run -p oracle` is the long run.

use std::ops::Range;

use oracle::checks::ChecksOracle;
use oracle::engine::EngineOracle;
use oracle::{Oracle, judge};

fn check<O: Oracle>(seeds: Range<u64>) {
    let found = judge::<O>(seeds, &mut O::Summary::default()).expect("programs that run");
    let shown: Vec<String> = found.iter().map(|d| format!("seed {}: {}", d.seed, d.finding)).collect();
    assert!(shown.is_empty(), "{}", shown.join("\n"));
}

#[test]
fn complete_searches_have_been_in_every_leaf_and_all_ways_to_run_agree() {
    check::<EngineOracle>(0..30);
}

#[test]
fn planted_errors_are_reported_and_nothing_else_is() {
    check::<ChecksOracle>(0..12);
}
