//! One traced run over 33 kB of JSON, against the plain run of the same program. Target: at most
//! 0.03 s and 32 MB more.

use crate::build;
use anyhow::{Context as _, Result};
use executor::Traced;
use runner::Runner;
use std::path::Path;
use std::time::Duration;

const SIZE: usize = 33_000;
const RUNS: usize = 60;

pub fn run() -> Result<()> {
    println!(
        "Tracing one run of a JSON parser (Debian's cjson) over {SIZE} bytes (processor time, \
         best of {RUNS}):"
    );
    let scratch = tempfile::tempdir()?;
    let traced = derive(scratch.path())?;
    let text = text(SIZE);
    let mut runner = Runner::start(traced.options(Vec::new(), Duration::from_secs(20)))?;
    let plain = measure(&mut runner, &text, false)?;
    let symbolic = measure(&mut runner, &text, true)?;
    println!("  traced run, concrete input: {plain}");
    println!("  traced run, all bytes symbolic: {symbolic}");
    println!(
        "  symbolic costs {:.4} s and {:.1} MB more; {} events, {} expressions\n",
        symbolic.time.saturating_sub(plain.time).as_secs_f64(),
        (symbolic.memory_kib as f64 - plain.memory_kib as f64) / 1024.0,
        symbolic.events,
        symbolic.nodes
    );
    Ok(())
}

/// Fetches Debian's cjson and derives the traced variant of a program that parses its standard
/// input with it.
pub fn derive(scratch: &Path) -> Result<Traced> {
    let package = build::debian_source("cjson", scratch)?;
    let harness = scratch.join("parse.c");
    std::fs::copy(build::folder().join("json/parse.c"), &harness)?;
    let sources = [harness, package.join("cJSON.c")];
    let include = format!("-I{}", package.display());
    build::traced(&sources, &["-O2", &include], &scratch.join("parse"))
}

struct Measured {
    time: Duration,
    memory_kib: u64,
    events: usize,
    nodes: usize,
}

impl std::fmt::Display for Measured {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{:.4} s, {:.1} MB", self.time.as_secs_f64(), self.memory_kib as f64 / 1024.0)
    }
}

fn measure(runner: &mut Runner, input: &[u8], symbolic: bool) -> Result<Measured> {
    let mut best: Option<Measured> = None;
    for _ in 0..RUNS {
        let run = runner.run(input, symbolic)?;
        let trace = run.trace.context("the trace is broken")?;
        let now = Measured {
            time: run.cpu_time,
            memory_kib: run.max_rss_kib,
            events: trace.events.len(),
            nodes: trace.recorded.nodes.len(),
        };
        if best.as_ref().is_none_or(|b| now.time < b.time) {
            best = Some(now);
        }
    }
    best.context("nothing was measured")
}

/// A JSON text of about `size` bytes with all kinds of values, the same every time.
pub fn text(size: usize) -> Vec<u8> {
    let mut random = Random(1);
    let mut text = String::from("[");
    while text.len() < size - 2 {
        if text.len() > 1 {
            text.push_str(", ");
        }
        value(&mut random, 4, &mut text);
    }
    text.push(']');
    text.into_bytes()
}

struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) % limit
    }
}

fn value(random: &mut Random, depth: u32, text: &mut String) {
    let kind = if depth == 0 { random.below(4) } else { random.below(8) };
    match kind {
        0 => text.push_str(["true", "false", "null"][random.below(3) as usize]),
        1 => text.push_str(&format!("{}", random.below(2_000_000) as i64 - 1_000_000)),
        2 => text.push_str(&format!("{}.{}", random.below(1000), random.below(10_000))),
        3 => string(random, text),
        4 | 5 => list(random, depth, text, '[', ']'),
        _ => list(random, depth, text, '{', '}'),
    }
}

fn list(random: &mut Random, depth: u32, text: &mut String, open: char, close: char) {
    text.push(open);
    for i in 0..1 + random.below(5) {
        if i > 0 {
            text.push_str(", ");
        }
        if open == '{' {
            string(random, text);
            text.push_str(": ");
        }
        value(random, depth - 1, text);
    }
    text.push(close);
}

fn string(random: &mut Random, text: &mut String) {
    text.push('"');
    for _ in 0..1 + random.below(15) {
        text.push((b'a' + random.below(26) as u8) as char);
    }
    text.push('"');
}
