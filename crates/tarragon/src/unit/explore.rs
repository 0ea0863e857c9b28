//! Searches the paths of one function: a campaign on the harness.

use std::collections::HashSet;
use std::io::{self, IsTerminal};
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use anyhow::{Result, anyhow, bail};
use campaign::{About, Campaign, Display, DisplayMode, OutputDir};
use compiler::Variant;
use executor::Target;
use search::{KeepBy, Limits, Seed, Stop, Whitebox, WhiteboxOptions};
use sites::{Site, SiteKind, SiteTable};
use solver::ChainOptions;

use super::UnitArgs;
use super::build::Built;
use super::paths::{Kept, Paths};
use crate::args::{ModelArgs, SanitizerName, TargetArgs};
use crate::sources::SourceArgs;
use crate::target;

/// What a search of one function found.
pub(crate) struct Explored {
    pub target: Target,
    /// One input for each path.
    pub inputs: Vec<Kept>,
    /// Branch outcomes of the harness itself.
    pub harness: HashSet<u32>,
    /// One input for each bug.
    pub bugs: Vec<Vec<u8>>,
    pub runs: u64,
    pub seconds: f64,
    pub is_complete: bool,
    /// What can be said about completeness.
    pub claim: String,
}

pub(crate) fn explore(
    args: &UnitArgs,
    built: &Built,
    number: usize,
    stop: &AtomicBool,
) -> Result<Explored> {
    let subject = &built.harness.subjects[number];
    let len = usize::try_from(built.tape)?;
    let command = target_args(args, built, number);
    let sanitized = !args.checks.sanitizer.contains(&SanitizerName::Off);
    let variants = [Variant::Traced, Variant::Sanitized];
    let variants = if sanitized { &variants[..] } else { &variants[..1] };
    // All functions share the variants.
    let quiet = number > 0 || args.output.quiet || args.output.json;
    target::prepare(&command, variants, &mut target::lines(quiet));
    let mut target = target::start(&command, len)?;
    target::add_sanitized(&mut target, &args.checks.sanitizer);
    target.executor.share_processes();
    if let Some(until) = Instant::now().checked_add(args.time) {
        target.executor.end_by(until);
    }
    let mut paths = Paths::new(Whitebox::new(options(len)), unit::FILE);
    let limits = smt::Limits { economical: false, ..smt::Limits::default() };
    let mut solver = smt::standard_chain(ChainOptions::default(), limits);
    let out = args.out.join(&subject.function.name);
    let campaign = Campaign {
        bugs: None,
        executor: &mut target.executor,
        solver: &mut solver,
        sites: &target.sites,
        output: OutputDir::open(&out, &target.command, false)?,
        display: display(args),
        stop,
        layout: None,
        shrinker: None,
        limits: Limits { time: Some(args.time), runs: None, max_len: len },
        about: about(&target.command, len),
        hangs: args.checks.hangs.into(),
        covered: None,
    };
    let end =
        campaign.run(&mut paths, vec![Seed { name: "zeros".to_owned(), input: vec![0; len] }]);
    if let Stop::Execution(_) | Stop::Output(_) = end.stop {
        bail!("{}: {}", subject.function.name, end.stop);
    }
    if let Some(error) = end.unsaved {
        return Err(anyhow!("the last results could not be written: {error}"));
    }
    let report = end.report;
    let completeness = report.completeness.as_ref();
    let bugs = report.bugs.iter().filter_map(|bug| std::fs::read(out.join(&bug.file)).ok());
    Ok(Explored {
        inputs: paths.into_inputs(),
        harness: harness_outcomes(&target.sites),
        bugs: bugs.collect(),
        runs: report.runs,
        seconds: report.seconds.total,
        is_complete: completeness.is_some_and(|claim| claim.complete),
        claim: completeness.map_or(String::new(), |claim| claim.text.clone()),
        target,
    })
}

fn harness_outcomes(sites: &SiteTable) -> HashSet<u32> {
    let is_harness = |site: &&Site| {
        sites.files.get(site.file as usize).is_some_and(|file| file.ends_with(unit::FILE))
    };
    let outcomes = |site: &Site| match &site.kind {
        SiteKind::Plain => 0..0,
        SiteKind::Branch { coverage } => *coverage..*coverage + 2,
        SiteKind::Switch { coverage, cases } => *coverage..*coverage + cases.len() as u32 + 1,
    };
    sites.sites.iter().filter(is_harness).flat_map(outcomes).collect()
}

fn target_args(args: &UnitArgs, built: &Built, number: usize) -> TargetArgs {
    TargetArgs {
        confinement: args.confinement.clone(),
        env: Vec::new(),
        lexers: Vec::new(),
        sources: SourceArgs::NONE,
        models: ModelArgs { models: Vec::new() },
        command: vec![built.program.clone().into(), number.to_string().into()],
    }
}

fn options(len: usize) -> WhiteboxOptions {
    WhiteboxOptions {
        exhaustive: true,
        holes: Some(std::iter::once(0..len).collect()),
        ..WhiteboxOptions::default()
    }
}

fn display(args: &UnitArgs) -> Display {
    let shown = !args.output.quiet && !args.output.json && io::stderr().is_terminal();
    let mode = if shown { DisplayMode::Live } else { DisplayMode::Quiet };
    Display::new(mode, Box::new(io::stderr()))
}

fn about(command: &str, len: usize) -> About {
    About {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        program: command.to_owned(),
        strategy: Whitebox::NAME.to_owned(),
        seed: 0,
        max_len: len,
        models: Vec::new(),
        sources: Vec::new(),
        environment: Vec::new(),
        kept_by: KeepBy::default(),
        notes: Vec::new(),
    }
}
