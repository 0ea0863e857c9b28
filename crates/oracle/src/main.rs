//! Long runs of the oracles: `cargo build --workspace --bins`, then `cargo run -p oracle -- engine
//! --programs 10000`.

use std::ops::Range;
use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Result, anyhow};
use clap::{Parser, Subcommand};
use oracle::campaign::{self, Victim};
use oracle::checks::{self, ChecksOracle};
use oracle::engine::{self, EngineOracle};
use oracle::{Kind, Oracle, judge, shrink};

/// Random programs whose right answers are known
#[derive(Parser)]
struct Arguments {
    #[command(subcommand)]
    oracle: Which,
}

#[derive(Subcommand)]
enum Which {
    /// All leaves, which all inputs run natively show, against searches that call themselves
    /// complete
    Engine(Options),
    /// Planted errors that clang's sanitizers find, against those that a campaign reports
    Checks(Options),
    /// Campaigns that are killed, whose disk is full, whose files are deleted or damaged, against
    /// what they announced
    Campaign(Trials),
    /// Prints the C file of the programs of some seeds; its first argument is the number of a
    /// program
    Show {
        #[arg(value_enum)]
        kind: Kind,
        #[arg(long, default_value_t = 1)]
        programs: u64,
        #[arg(long, default_value_t = 0)]
        from: u64,
    },
}

#[derive(clap::Args)]
struct Options {
    /// Number of programs
    #[arg(long, default_value_t = 1000)]
    programs: u64,
    /// Seed of the first program
    #[arg(long, default_value_t = 0)]
    from: u64,
    /// Programs in one file
    #[arg(long, default_value_t = 50)]
    together: u64,
    /// Folder for programs that disagree
    #[arg(long, default_value = "oracle-out")]
    out: PathBuf,
    /// Most programs that are shrunk; the others are written as they are
    #[arg(long, default_value_t = 20)]
    shrink: usize,
}

#[derive(clap::Args)]
struct Trials {
    /// Number of campaigns, each of which is hit at two moments or so
    #[arg(long, default_value_t = 500)]
    trials: u64,
    /// Seed of the first one
    #[arg(long, default_value_t = 0)]
    from: u64,
    /// Campaigns at once; they wait most of the time
    #[arg(long, default_value_t = 4)]
    at_once: usize,
    /// Folder for what happened to those after which something is missing
    #[arg(long, default_value = "oracle-out")]
    out: PathBuf,
}

fn main() -> Result<()> {
    match Arguments::parse().oracle {
        Which::Engine(options) => {
            let mut summary = engine::Summary::default();
            run::<EngineOracle>(&options, &mut summary)?;
            println!("{summary}");
        }
        Which::Checks(options) => {
            let mut summary = checks::Summary::default();
            run::<ChecksOracle>(&options, &mut summary)?;
            println!("{summary}");
        }
        Which::Campaign(trials) => run_trials(&trials)?,
        Which::Show { kind, programs, from } => {
            print!("{}", oracle::source(kind, from..from + programs))
        }
    }
    Ok(())
}

fn run<O: Oracle>(options: &Options, summary: &mut O::Summary) -> Result<()> {
    let started = Instant::now();
    let end = options.from + options.programs;
    let (mut disagreements, mut shrunk) = (0, 0);
    for first in (options.from..end).step_by(options.together as usize) {
        let seeds: Range<u64> = first..end.min(first + options.together);
        let found = judge::<O>(seeds.clone(), summary)
            .map_err(|error| anyhow!("seeds {seeds:?}: {error}"))?;
        disagreements += found.len();
        for mut disagreement in found {
            println!("seed {}: {}", disagreement.seed, disagreement.finding);
            if shrunk < options.shrink {
                shrunk += 1;
                disagreement = shrink::<O>(disagreement).map_err(|error| anyhow!(error))?;
            }
            let file = disagreement.write(&options.out, O::KIND)?;
            println!("  {}", file.display());
        }
        eprintln!(
            "{} programs in {:.0} s",
            seeds.end - options.from,
            started.elapsed().as_secs_f64()
        );
    }
    println!("{} programs, {disagreements} disagreements", options.programs);
    Ok(())
}

/// Trials between two lines about how far it is.
const TOGETHER: u64 = 20;

fn run_trials(trials: &Trials) -> Result<()> {
    let (started, victim) = (Instant::now(), Victim::build().map_err(|error| anyhow!(error))?);
    let mut summary = campaign::Summary::default();
    let end = trials.from + trials.trials;
    let mut count = 0;
    for first in (trials.from..end).step_by(TOGETHER as usize) {
        let seeds = first..end.min(first + TOGETHER);
        let faults = campaign::judge(&victim, seeds.clone(), trials.at_once, &mut summary);
        let faults = faults.map_err(|error| anyhow!("seeds {seeds:?}: {error}"))?;
        count += faults.len();
        for fault in faults {
            println!("trial {}: {}", fault.seed, fault.finding);
            fault.write(&trials.out)?;
        }
        eprintln!("{} trials in {:.0} s", seeds.end - trials.from, started.elapsed().as_secs_f64());
    }
    println!("{summary}\n{count} things missing or wrong");
    Ok(())
}
