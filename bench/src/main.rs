//! Benchmarks. Each compares Tarragon with its alternative in the same run and prints a ratio.
//!
//! `cargo run --release -p bench -- engine` measures what RESULTS.md records. Benchmarks report;
//! they never decide whether a test passes.

mod afl;
mod answers;
mod build;
mod engine;
mod flips;
mod hot_loops;
mod json;
mod memory;
mod packages;
mod prepare;
mod rate;
mod texts;
mod usage;

use anyhow::Result;
use clap::{Parser, Subcommand};

/// Benchmarks of Tarragon, side by side with their alternatives
#[derive(Parser)]
#[command(after_help = "Example:\n  cargo run --release -p bench -- engine")]
struct Arguments {
    #[command(subcommand)]
    benchmark: Benchmark,
}

#[derive(Subcommand)]
enum Benchmark {
    /// All benchmarks of the engine: hot loops, a trace of a JSON text, executions per second
    Engine,
    /// Loops on concrete data: the traced variant against native code
    HotLoops,
    /// One traced run of a JSON parser (Debian's cjson) over 33 kB of text, against the plain run
    Json,
    /// Executions per second of a small traced target on one core, with and without the sandbox
    Rate,
    /// Runs a second of `mutate` against AFL++, which has to be installed, on packages of Debian
    Afl(afl::Options),
    /// Memory of one run of 100 million instructions over 1 kB of symbolic input, against what it
    /// would take without a limit
    Memory,
    /// All flips of runs of text parsers: the solver chain against Z3 alone
    Flips(flips::Options),
    /// Answers of the solver chain to flips of campaigns: each is checked by evaluation or by Z3
    Answers(answers::Options),
    /// All flips of a run of a program that looks for words: operations on texts against formulas
    /// over bytes
    Texts,
    /// Processor time to prepare programs: all variants against a plain build
    Prepare(prepare::Options),
    /// Builds, tests and generates inputs for packages of Debian; writes docs/packages.md
    Packages(packages::Options),
}

fn main() -> Result<()> {
    match Arguments::parse().benchmark {
        Benchmark::Engine => engine::run(),
        Benchmark::HotLoops => hot_loops::run(),
        Benchmark::Json => json::run(),
        Benchmark::Rate => rate::run(),
        Benchmark::Afl(options) => afl::run(&options),
        Benchmark::Memory => memory::run(),
        Benchmark::Flips(options) => flips::run(&options),
        Benchmark::Answers(options) => answers::run(&options),
        Benchmark::Texts => texts::run(),
        Benchmark::Prepare(options) => prepare::run(&options),
        Benchmark::Packages(options) => packages::run(&options),
    }
}
