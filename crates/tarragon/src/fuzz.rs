//! `tarragon fuzz`: a campaign from the command line.

use std::io::{self, IsTerminal, Write};

use anyhow::{Context, Result, anyhow, bail};
use campaign::{
    About, Campaign, CampaignEnd, Display, DisplayMode, OutputDir, Searcher, built_in_seeds, read_seeds,
    stop_on_signals,
};
use compiler::Variant;
use search::{Limits, Mutate, Order, Random, Seed, Stop, Whitebox, WhiteboxOptions};
use solver::{Chain, ChainOptions};

use crate::Verdict;
use crate::args::{FuzzArgs, OrderName, OutputArgs, SanitizerName, StrategyName, Switch};
use crate::replay::print_notes;
use crate::target::{Target, prepare};

pub(crate) fn fuzz(args: &FuzzArgs) -> Result<Verdict> {
    check(args)?;
    let mut notes = Vec::new();
    let seeds = seeds(args, &mut notes)?;
    let mut solver = chain(args)?;
    let stop = stop_on_signals().context("cannot listen to signals")?;
    prepare(&args.target, &variants(args), args.output.quiet || args.output.json);
    let mut target = Target::start(&args.target, args.max_len)?;
    if !args.sanitizer.contains(&SanitizerName::Off) {
        target.add_sanitizer(&args.sanitizer);
    }
    notes.append(&mut target.notes);
    print_notes(&notes, &args.output);
    let covered = (args.lcov == Switch::On).then(|| target.covered());
    let campaign = Campaign {
        executor: &mut target.executor,
        solver: &mut solver,
        sites: &target.sites,
        output: OutputDir::open(&args.out, &target.command, args.resume)?,
        display: display(&args.output),
        stop: &stop,
        limits: Limits { time: args.time, runs: args.max_runs, max_len: args.max_len },
        about: about(args, &target.command, notes),
        covered,
    };
    conclude(campaign.run(searcher(args), seeds), &args.output)
}

fn variants(args: &FuzzArgs) -> Vec<Variant> {
    let sanitized = (!args.sanitizer.contains(&SanitizerName::Off)).then_some(Variant::Sanitized);
    let covered = (args.lcov == Switch::On).then_some(Variant::Covered);
    [Some(Variant::Traced), sanitized, covered].into_iter().flatten().collect()
}

fn check(args: &FuzzArgs) -> Result<()> {
    if args.strategy != StrategyName::Whitebox && (args.exhaustive || args.max_depth.is_some()) {
        bail!("--exhaustive and --max-depth go with --strategy whitebox only");
    }
    Ok(())
}

fn seeds(args: &FuzzArgs, notes: &mut Vec<String>) -> Result<Vec<Seed>> {
    if args.seeds.is_empty() {
        return Ok(built_in_seeds(args.max_len));
    }
    let mut seeds = Vec::new();
    for path in &args.seeds {
        let (more, truncated) = read_seeds(path, args.max_len)?;
        seeds.extend(more);
        let cut = |seed: campaign::Truncated| {
            format!("seed {} has {} bytes and was cut to {}", seed.path.display(), seed.len, args.max_len)
        };
        notes.extend(truncated.into_iter().map(cut));
    }
    Ok(seeds)
}

/// The solver chain with the links that `--solver` leaves.
fn chain(args: &FuzzArgs) -> Result<Chain> {
    let mut options = ChainOptions::default();
    for name in &args.solver {
        match name.strip_prefix('-') {
            Some(name) => options.without.push(name.to_owned()),
            None => options.only.push(name.clone()),
        }
    }
    let limits =
        smt::Limits { time: args.solver_timeout, economical: !args.exhaustive, ..smt::Limits::default() };
    check_names(&options, limits)?;
    Ok(smt::standard_chain(options, limits))
}

fn check_names(options: &ChainOptions, limits: smt::Limits) -> Result<()> {
    let all = smt::standard_chain(ChainOptions::default(), limits);
    let known: Vec<&str> = all.counters().map(|(name, _)| name).collect();
    match options.only.iter().chain(&options.without).find(|name| !known.contains(&name.as_str())) {
        Some(name) => bail!("there is no solver named {name}; there are: {}", known.join(", ")),
        None => Ok(()),
    }
}

fn searcher(args: &FuzzArgs) -> Searcher {
    match args.strategy {
        StrategyName::Whitebox => {
            let strategy = Box::new(Whitebox::new(whitebox_options(args)));
            Searcher::Whitebox { strategy, exhaustive: args.exhaustive }
        }
        StrategyName::Random => Searcher::Other(Box::new(Random)),
        StrategyName::Mutate => Searcher::Other(Box::<Mutate>::default()),
    }
}

fn whitebox_options(args: &FuzzArgs) -> WhiteboxOptions {
    WhiteboxOptions {
        order: match args.order {
            OrderName::Generational => Order::Generational,
            OrderName::DepthFirst => Order::DepthFirst,
        },
        exhaustive: args.exhaustive,
        max_depth: args.max_depth.unwrap_or(usize::MAX),
        trace_memory: usize::try_from(args.trace_memory).unwrap_or(usize::MAX),
        ..WhiteboxOptions::default()
    }
}

fn display(output: &OutputArgs) -> Display {
    let stderr = || Box::new(io::stderr());
    match output {
        OutputArgs { json: true, .. } => Display::new(DisplayMode::Json, Box::new(io::stdout())),
        OutputArgs { quiet: true, .. } => Display::new(DisplayMode::Quiet, stderr()),
        _ if io::stderr().is_terminal() => Display::new(DisplayMode::Live, stderr()),
        _ => Display::new(DisplayMode::Lines, stderr()),
    }
}

fn about(args: &FuzzArgs, command: &str, notes: Vec<String>) -> About {
    let strategy = match args.strategy {
        StrategyName::Whitebox => "whitebox",
        StrategyName::Random => "random",
        StrategyName::Mutate => "mutate",
    };
    About {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        program: command.to_owned(),
        strategy: strategy.to_owned(),
        seed: args.seed,
        max_len: args.max_len,
        notes,
    }
}

fn conclude(end: CampaignEnd, output: &OutputArgs) -> Result<Verdict> {
    if !output.quiet && !output.json {
        // A reader that went away is no error.
        let _ = write!(io::stdout(), "{}", end.summary);
    }
    match end.stop {
        Stop::Execution(_) | Stop::Output(_) => return Err(anyhow!("{}", end.stop)),
        Stop::TimeUp | Stop::RunsUp | Stop::Interrupted | Stop::Finished => {}
    }
    if let Some(error) = end.unsaved {
        bail!("the last results could not be written: {error}");
    }
    Ok(if end.report.bugs.is_empty() { Verdict::NoBug } else { Verdict::BugsFound })
}
