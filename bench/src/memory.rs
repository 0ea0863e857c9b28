//! Memory of one traced run of more than a hundred million instructions over 1 kB of symbolic
//! input, against what its trace would take without a limit. Target: bounded, with the limit said
//! when it is hit.

use crate::build;
use anyhow::{Context as _, Result};
use runner::{Runner, TargetOptions};
use std::time::Duration;
use trace::{Event, GiveUp, Node};

const SIZE: usize = 1024;
const MIB: f64 = (1 << 20) as f64;

pub fn run() -> Result<()> {
    println!("Memory of one run of more than 100 million instructions over {SIZE} symbolic bytes:");
    for (name, text) in
        [("mix", "each step a new expression"), ("scan", "comparisons of single bytes")]
    {
        measure(name, text)?;
    }
    println!();
    Ok(())
}

fn measure(name: &str, text: &str) -> Result<()> {
    let scratch = tempfile::tempdir()?;
    let source = build::folder().join("memory").join(format!("{name}.c"));
    let derived = build::traced(&[source], &["-O2"], &scratch.path().join(name))?;
    let mut options = TargetOptions::new(&derived.executable);
    options.limits.run_time = Duration::from_secs(120);
    let limit = segment_limit(&options);
    let mut runner = Runner::start(options)?;
    let input: Vec<u8> = (0..SIZE).map(|i| b" abcdefgh"[i * 7 % 9]).collect();
    let plain = runner.run(&input, false)?.max_rss_kib;
    let run = runner.run(&input, true)?;
    let (peak, time) = (run.max_rss_kib, run.cpu_time);
    let trace = run.trace.context("the trace is broken")?;
    let full = trace.give_ups[GiveUp::TraceFull as usize];
    let nodes = trace.recorded.nodes.len() as f64 + f64::from(full);
    println!(
        "  {name} ({text}): {:.1} s, {:.0} MB, of which the program itself {:.0} MB (limit of the \
         trace: {:.0} MB)",
        time.as_secs_f64(),
        peak as f64 / 1024.0,
        plain as f64 / 1024.0,
        limit / MIB
    );
    match full {
        0 => println!(
            "    {} expressions, {} events, nothing lost",
            trace.recorded.nodes.len(),
            trace.events.len()
        ),
        _ => println!(
            "    \"trace memory full\" {full} times; the trace alone would take more than {:.0} \
             MB without a limit",
            nodes * (size_of::<Node>() + size_of::<u64>()) as f64 / MIB
        ),
    }
    Ok(())
}

/// Bytes of shared memory that a trace can fill.
fn segment_limit(options: &TargetOptions) -> f64 {
    let capacities = &options.capacities;
    let nodes = capacities.nodes * (size_of::<Node>() + size_of::<u64>()) as u64;
    let events = capacities.events * size_of::<Event>() as u64;
    (nodes + events + capacities.data) as f64
}
