//! All flips of one run of a text parser: the solver chain against the chain with Z3 alone, on the
//! same traces.
//!
//! Targets: at least 20 times the flips per second of Z3 alone, less than 5 % of the queries reach
//! Z3, and all flips of a run of cjson over 5.3 kB of JSON within 1 s.

mod asked;
mod recorded;

use anyhow::{Result, ensure};
pub use asked::Asked;
pub use recorded::{RecordedPath, Recorder, recorder};
use std::path::PathBuf;
use std::time::Duration;

/// Bytes of text that each parser reads.
const SIZE: usize = 5_300;
/// Packages beside cjson, from the list of `packages`, that take seconds; others are measured when
/// they are named.
const PACKAGES: [&str; 1] = ["yajl"];
const RUNS: usize = 3;
const LONG: Duration = Duration::from_secs(5);

#[derive(clap::Args)]
pub struct Options {
    /// Packages to measure beside cjson (yajl if none is named)
    names: Vec<String>,
    /// Folder for sources and builds of packages, used again by the next call
    #[arg(long, default_value = "target/packages")]
    work: PathBuf,
    /// How many flips of each run Z3 alone is asked, spread evenly over the run
    #[arg(long, default_value_t = 150)]
    sample: usize,
    /// Most flips of each run that the chain is asked, spread evenly (all if not given)
    #[arg(long)]
    most: Option<usize>,
}

pub fn run(options: &Options) -> Result<()> {
    println!(
        "All flips of one run over about {SIZE} bytes of text, against Z3 alone on {} of them:",
        options.sample
    );
    let mut names: Vec<&str> = options.names.iter().map(String::as_str).collect();
    if names.is_empty() {
        names = PACKAGES.to_vec();
    }
    std::fs::create_dir_all(&options.work)?;
    let work = options.work.canonicalize()?;
    report("cjson", &recorded::cjson(SIZE)?, options)?;
    for name in names {
        report(name, &recorded::package(name, SIZE, &work)?, options)?;
    }
    Ok(())
}

fn report(name: &str, recorded: &RecordedPath, options: &Options) -> Result<()> {
    let flips = recorded.flips.len();
    ensure!(flips > 0, "the run of {name} has no flips");
    let chain = best(|| Asked::chain(recorded, options.most.unwrap_or(flips)));
    let alone = Asked::z3_alone(recorded, options.sample);
    println!(
        "  {name}: {} bytes, {} constraints, {flips} flips",
        recorded.input.len(),
        recorded.lits.len()
    );
    println!("    chain    {chain}");
    println!("    Z3 alone {alone}");
    println!(
        "    ratio {:.0}; {:.2} % reach Z3",
        chain.rate() / alone.rate(),
        100.0 * chain.reach_z3()
    );
    println!("{}", chain.links());
    Ok(())
}

/// The fastest of several runs, which other load disturbs least; long ones are not repeated.
pub fn best(run: impl Fn() -> Asked) -> Asked {
    let mut best = run();
    for _ in 1..RUNS {
        if best.time > LONG {
            break;
        }
        let next = run();
        if next.time < best.time {
            best = next;
        }
    }
    best
}

/// Flips per second.
fn rate(flips: usize, time: Duration) -> f64 {
    flips as f64 / time.as_secs_f64()
}
