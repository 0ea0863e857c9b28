//! `tarragon fuzz`: a campaign from the command line.

use std::collections::BTreeMap;
use std::io::{self, IsTerminal, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use ::sources::Layout;
use anyhow::{Context, Result, anyhow, bail, ensure};
use campaign::{
    About, Campaign, CampaignEnd, Display, DisplayMode, OutputDir, built_in_seeds, read_seeds,
    stop_on_signals,
};
use compiler::{Surroundings, Variant};
use executor::Target;
use grammar::language::Language;
use grammar::parse::Parser;
use grammar_formats::{Format, read_path};
use grammar_search::{SentenceShrinker, Verdicts};
use search::{Limits, PartByPart, Seed, Stop};
use shrink::{Bytes, Shrinker};
use solver::{Chain, ChainOptions};

use crate::Verdict;
use crate::args::{FuzzArgs, GrammarArgs, KeepByName, OutputArgs, SanitizerName, Switch};
use crate::codes;
use crate::replay::print_notes;
use crate::sources::{self, Sources};
use crate::strategies::Plan;
use crate::target;

pub(crate) fn fuzz(args: &FuzzArgs) -> Result<Verdict> {
    ensure!(
        args.grammar.rejects.is_empty() || !args.grammar.grammar.is_empty(),
        "--rejects says what a program makes of a grammar's sentences: give one with --grammar FILE"
    );
    // Before anything that takes time.
    OutputDir::check(&args.out, args.resume)?;
    let mut notes = Vec::new();
    let surroundings = sources::surroundings(&args.target)?;
    let layout = surroundings.as_ref().map(|surroundings| surroundings.layout.clone());
    let (language, of_sources) = match &layout {
        None => (language(&args.grammar, &mut notes)?, None),
        Some(layout) => (None, Some(Sources::new(layout, &args.grammar, &mut notes)?)),
    };
    let plan = Plan::new(args, language.as_ref(), of_sources.as_ref())?;
    notes.extend(plan.change(args));
    let symbolic = plan.symbolic(args)?;
    let seeds = match &of_sources {
        Some(sources) => sources.seeds(args, &mut notes)?,
        None => seeds(args, plan, &mut notes)?,
    };
    let stop = stop_on_signals().context("cannot listen to signals")?;
    compiler::end_children_with(stop);
    let mut solver = chain(args, plan.is_exhaustive(args), Some(stop))?;
    let mut display = display(&args.output);
    target::prepare(&args.target, &variants(args), &mut display);
    let started = start(args, longest(args, layout.as_ref()), &seeds, stop);
    ensure!(!stop.load(Ordering::Relaxed), "interrupted before the first run");
    let mut target = started?;
    if !plan.is_exhaustive(args) {
        target.executor.end_early();
    }
    notes.append(&mut target.notes);
    print_notes(&notes, &args.output);
    let codes = codes(args, &target)?;
    let mut strategy = plan.build(args, symbolic.as_ref(), &codes)?;
    if let Some(language) = plan.language() {
        strategy = Box::new(Verdicts::new(strategy, language, args.grammar.rejects.clone())?);
    }
    if let Some(until) = args.bounds.time.and_then(|time| Instant::now().checked_add(time)) {
        target.executor.end_by(until);
    }
    let covered = (args.lcov == Switch::On).then(|| target::covered(&target));
    let tested = tested(&target, surroundings.as_ref());
    let about = about(args, strategy.name(), &target, surroundings.as_ref(), notes);
    let campaign = Campaign {
        executor: &mut target.executor,
        solver: &mut solver,
        sites: &target.sites,
        output: OutputDir::open(&args.out, &tested, args.resume)?,
        display,
        stop,
        bugs: args.bounds.stop_on_bug,
        layout: layout.clone(),
        shrinker: shrinker(args, plan, layout.as_ref()),
        limits: Limits {
            time: args.bounds.time,
            runs: args.bounds.max_runs,
            max_len: longest(args, layout.as_ref()),
        },
        about,
        hangs: args.checks.hangs.into(),
        covered,
    };
    conclude(campaign.run(&mut *strategy, seeds), &args.output)
}

/// The program with its variants, which are there.
fn start(
    args: &FuzzArgs,
    longest: usize,
    seeds: &[Seed],
    stop: &'static AtomicBool,
) -> Result<Target> {
    runner::keep_to_one_processor();
    let mut target = target::start_until(Some(stop), &args.target, longest)?;
    if shares_processes(args) {
        target.executor.share_processes();
        // Leaks are looked for when a process ends, and then nobody knows whose they are.
        if !args.checks.sanitizer.contains(&SanitizerName::Leak) {
            target.executor.share_examinations();
        }
    }
    target::add_sanitized(&mut target, &args.checks.sanitizer);
    if args.target.confinement.sandbox == Switch::On {
        let first = seeds.iter().find(|seed| !seed.input.is_empty()).or(seeds.first());
        target.notes.extend(target.denied(first.map_or(b"", |seed| &seed.input)));
    }
    Ok(target)
}

/// What a run is the first to do is confirmed in a process of its own, but not each new path: where
/// paths count, none may hang on inputs before it.
fn shares_processes(args: &FuzzArgs) -> bool {
    !args.fresh_process && !args.exhaustive && args.keep_by == KeepByName::Coverage
}

/// Small inputs show bugs best. Where all inputs within bounds are looked at, the smallest is among
/// them.
fn shrinker<'l>(
    args: &FuzzArgs,
    plan: Plan<'l>,
    layout: Option<&Layout>,
) -> Option<Box<dyn Shrinker + 'l>> {
    if plan.is_exhaustive(args) || args.fixed_len.is_some() {
        return None;
    }
    Some(match (layout, plan.language()) {
        (Some(layout), _) => Box::new(PartByPart { layout: layout.clone(), shrinker: Bytes }),
        (None, Some(language)) => Box::new(SentenceShrinker::new(language)),
        (None, None) => Box::new(Bytes),
    })
}

/// Codes of terminals that the program or the user names.
pub(crate) fn codes(args: &FuzzArgs, target: &Target) -> Result<BTreeMap<String, i64>> {
    let named = target.sites.enumerations.iter().flatten();
    let mut codes: BTreeMap<_, _> = named.map(|(name, code)| (name.clone(), *code)).collect();
    codes.extend(
        args.grammar.token_codes.as_deref().map(codes::read).transpose()?.unwrap_or_default(),
    );
    Ok(codes)
}

fn longest(args: &FuzzArgs, layout: Option<&Layout>) -> usize {
    let len = args.fixed_len.unwrap_or(args.bounds.max_len);
    layout.map_or(len, Layout::size)
}

fn variants(args: &FuzzArgs) -> Vec<Variant> {
    let sanitized =
        (!args.checks.sanitizer.contains(&SanitizerName::Off)).then_some(Variant::Sanitized);
    let covered = (args.lcov == Switch::On).then_some(Variant::Covered);
    [Some(Variant::Traced), sanitized, covered].into_iter().flatten().collect()
}

pub(crate) fn language(args: &GrammarArgs, notes: &mut Vec<String>) -> Result<Option<Language>> {
    match args.grammar.as_slice() {
        [] => Ok(None),
        [file] => read_language(file, args, notes).map(Some),
        _ => bail!("several grammars are for input from several sources: --grammar stdin=FILE"),
    }
}

pub(crate) fn read_language(
    file: &Path,
    args: &GrammarArgs,
    notes: &mut Vec<String>,
) -> Result<Language> {
    let known = || Format::ALL.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
    let by_name = |name: &String| {
        Format::by_name(name)
            .ok_or_else(|| anyhow!("there is no notation named {name}; there are: {}", known()))
    };
    let format = args.grammar_format.as_ref().map(by_name).transpose()?;
    let read = read_path(file, format, args.scanner.as_deref()).map_err(
        |error| match Format::guess(file) {
            Some(guess) if format.is_none() => {
                anyhow!(
                    "{error} (the file was read as {}; --grammar-format names another notation)",
                    guess.name()
                )
            }
            _ => error.into(),
        },
    )?;
    notes.extend(read.notes.iter().map(|note| format!("grammar: {note}")));
    let grammar = match &args.start {
        None => read.grammar,
        Some(name) => read
            .grammar
            .with_start(name)
            .ok_or_else(|| anyhow!("there is no rule `{name}` to start with"))?,
    };
    let language = Language::new(grammar).with_context(|| file.display().to_string())?;
    notes.extend(language.unused().notes().iter().map(|note| format!("grammar: {note}")));
    Ok(language)
}

/// Seeds of the user's come first. A grammar adds its own sentences to them.
pub(crate) fn seeds(args: &FuzzArgs, plan: Plan<'_>, notes: &mut Vec<String>) -> Result<Vec<Seed>> {
    let given = given_seeds(args, notes)?;
    let Some(language) = plan.language() else {
        return Ok(if args.seeds.is_empty() { own_seeds(args, plan) } else { given });
    };
    notes.extend(outside(language, &given)?);
    let sentences = grammar_search::seeds(language, args.bounds.max_len, args.bounds.seed)?;
    Ok(grammar_search::joined(given, sentences))
}

/// What to start from without seeds or a grammar.
fn own_seeds(args: &FuzzArgs, plan: Plan<'_>) -> Vec<Seed> {
    if plan.enumerates() {
        return Vec::new();
    }
    if args.fixed_len.is_some() {
        return vec![Seed { name: "buffer".to_owned(), input: vec![b'a'; longest(args, None)] }];
    }
    built_in_seeds(args.bounds.max_len)
}

fn given_seeds(args: &FuzzArgs, notes: &mut Vec<String>) -> Result<Vec<Seed>> {
    let mut seeds = Vec::new();
    for path in &args.seeds {
        let (more, truncated) = read_seeds(path, args.bounds.max_len)?;
        seeds.extend(more);
        let cut = |seed: campaign::Truncated| {
            format!(
                "seed {} has {} bytes and was cut to {}",
                seed.path.display(),
                seed.len,
                args.bounds.max_len
            )
        };
        notes.extend(truncated.into_iter().map(cut));
    }
    if let Some(len) = args.fixed_len {
        seeds.iter_mut().for_each(|seed| seed.input.resize(len, b'a'));
    }
    Ok(seeds)
}

/// Says which seeds are no sentences; they are run all the same.
fn outside(language: &Language, seeds: &[Seed]) -> Result<Option<String>> {
    let mut parser = Parser::new(&language.grammar)?;
    let is_outside = |seed: &&Seed| parser.check(&seed.input).is_err();
    let names: Vec<&str> = seeds.iter().filter(is_outside).map(|seed| seed.name.as_str()).collect();
    let (count, shown) = (names.len(), names[..names.len().min(SHOWN)].join(", "));
    let more = if count > SHOWN { ", …" } else { "" };
    Ok((count > 0).then(|| {
        format!("{count} of {} seeds are not in the grammar's language: {shown}{more}", seeds.len())
    }))
}

/// Names of seeds that are listed.
const SHOWN: usize = 5;

/// The solver chain with the links that `--solver` leaves.
pub(crate) fn chain(
    args: &FuzzArgs,
    exhaustive: bool,
    stop: Option<&'static AtomicBool>,
) -> Result<Chain> {
    let mut options = ChainOptions::default();
    for name in &args.solver {
        match name.strip_prefix('-') {
            Some(name) => options.without.push(name.to_owned()),
            None => options.only.push(name.clone()),
        }
    }
    let limits = smt::Limits {
        time: args.solver_timeout,
        economical: !exhaustive,
        stop,
        ..smt::Limits::default()
    };
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

pub(crate) fn display(output: &OutputArgs) -> Display {
    let stderr = || Box::new(io::stderr());
    match output {
        OutputArgs { json: true, .. } => Display::new(DisplayMode::Json, Box::new(io::stdout())),
        OutputArgs { quiet: true, .. } => Display::new(DisplayMode::Quiet, stderr()),
        _ if io::stderr().is_terminal() => Display::new(DisplayMode::Live, stderr()),
        _ => Display::new(DisplayMode::Lines, stderr()),
    }
}

/// What a campaign is on: with other models it is on another program, with other sources its inputs
/// mean something else.
fn tested(target: &Target, surroundings: Option<&Surroundings>) -> String {
    let mut tested = target.command.clone();
    if !target.models.is_empty() {
        tested += &format!(" with models: {}", target.models.join(", "));
    }
    if let Some(Surroundings { layout, .. }) = surroundings {
        tested += &format!(" with sources: {layout}");
    }
    tested
}

fn about(
    args: &FuzzArgs,
    strategy: &str,
    target: &Target,
    surroundings: Option<&Surroundings>,
    notes: Vec<String>,
) -> About {
    About {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        program: target.command.clone(),
        strategy: strategy.to_owned(),
        seed: args.bounds.seed,
        max_len: args.bounds.max_len,
        models: target.models.clone(),
        sources: sources::shown_parts(surroundings),
        environment: sources::shown_models(surroundings),
        kept_by: args.keep_by.into(),
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
        Stop::TimeUp
        | Stop::EnoughBugs(_)
        | Stop::RunsUp
        | Stop::Interrupted
        | Stop::Finished
        | Stop::Complete
        | Stop::FinishedShort(_) => {}
    }
    if let Some(error) = end.unsaved {
        bail!("the last results could not be written: {error}");
    }
    Ok(if end.report.bugs.is_empty() { Verdict::NoBug } else { Verdict::BugsFound })
}
