//! `tarragon fuzz`: a campaign from the command line.

use std::collections::BTreeMap;
use std::io::{self, IsTerminal, Write};
use std::rc::Rc;
use std::time::Instant;

use anyhow::{Context, Result, anyhow, bail};
use campaign::{
    About, Campaign, CampaignEnd, Display, DisplayMode, OutputDir, built_in_seeds, read_seeds,
    stop_on_signals,
};
use compiler::Variant;
use grammar::language::Language;
use grammar::parse::Parser;
use grammar::symbolic::Symbolic;
use grammar_formats::{Format, read_path};
use grammar_search::{Auto, GrammarRandom, Lifting, NamedLifting, TreeCorpus, TreeMutate, Verdicts};
use search::{Limits, Mutate, Named, Order, Random, Seed, Stop, Strategy, Whitebox, WhiteboxOptions};
use solver::{Chain, ChainOptions};

use crate::Verdict;
use crate::args::{FuzzArgs, GrammarArgs, OrderName, OutputArgs, SanitizerName, StrategyName, Switch};
use crate::codes;
use crate::enumeration::{abstraction, cese};
use crate::replay::print_notes;
use crate::target;

pub(crate) fn fuzz(args: &FuzzArgs) -> Result<Verdict> {
    let mut notes = Vec::new();
    let language = language(&args.grammar, &mut notes)?;
    let abstraction = abstraction(args, language.as_ref())?;
    let strategy = strategy(args, language.as_ref(), abstraction.as_ref())?;
    let seeds = seeds(args, strategy, &mut notes)?;
    let mut solver = chain(args, strategy.is_exhaustive(args))?;
    let stop = stop_on_signals().context("cannot listen to signals")?;
    target::prepare(&args.target, &variants(args), args.output.quiet || args.output.json);
    runner::keep_to_one_processor();
    let mut target = target::start(&args.target, longest(args))?;
    if !strategy.is_exhaustive(args) {
        target.executor.end_early();
    }
    if !args.fresh_process && !args.exhaustive {
        target.executor.share_processes();
        // Leaks are looked for when a process ends, and then nobody knows whose they are.
        if !args.checks.sanitizer.contains(&SanitizerName::Leak) {
            target.executor.share_examinations();
        }
    }
    target::add_sanitized(&mut target, &args.checks.sanitizer);
    if args.target.sandbox == Switch::On {
        let first = seeds.iter().find(|seed| !seed.input.is_empty()).or(seeds.first());
        target.notes.extend(target.denied(first.map_or(b"", |seed| &seed.input)));
    }
    notes.append(&mut target.notes);
    print_notes(&notes, &args.output);
    let mut codes = target.sites.enumerators.clone();
    codes.extend(args.grammar.token_codes.as_deref().map(codes::read).transpose()?.unwrap_or_default());
    let mut searcher = searcher(args, strategy, &codes)?;
    if let Some(language) = strategy.language() {
        searcher = Box::new(Verdicts::new(searcher, language, args.grammar.rejects.clone())?);
    }
    if let Some(until) = args.time.and_then(|time| Instant::now().checked_add(time)) {
        target.executor.end_by(until);
    }
    let covered = (args.lcov == Switch::On).then(|| target::covered(&target));
    let campaign = Campaign {
        executor: &mut target.executor,
        solver: &mut solver,
        sites: &target.sites,
        output: OutputDir::open(&args.out, &target.command, args.resume)?,
        display: display(&args.output),
        stop: &stop,
        limits: Limits { time: args.time, runs: args.max_runs, max_len: longest(args) },
        about: about(args, strategy, &target.command, notes),
        hangs: args.checks.hangs.into(),
        covered,
    };
    conclude(campaign.run(&mut *searcher, seeds), &args.output)
}

fn longest(args: &FuzzArgs) -> usize {
    args.fixed_len.unwrap_or(args.max_len)
}

fn variants(args: &FuzzArgs) -> Vec<Variant> {
    let sanitized = (!args.checks.sanitizer.contains(&SanitizerName::Off)).then_some(Variant::Sanitized);
    let covered = (args.lcov == Switch::On).then_some(Variant::Covered);
    [Some(Variant::Traced), sanitized, covered].into_iter().flatten().collect()
}

/// How inputs are made, with the language that strategies with a grammar need.
#[derive(Clone, Copy)]
enum Plan<'l> {
    Plain(Plain),
    /// Tokens of a lexer; the grammar is for seeds.
    Tokens(Option<&'l Language>),
    Grammar(WithGrammar, &'l Language),
    /// All strings of a grammar with holes or without.
    Enumerate(&'l Symbolic),
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Plain {
    Whitebox,
    Random,
    Mutate,
    Auto,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum WithGrammar {
    Random,
    TreeMutate,
    Whitebox,
    Auto,
}

impl<'l> Plan<'l> {
    fn language(self) -> Option<&'l Language> {
        match self {
            Plan::Plain(_) | Plan::Enumerate(_) => None,
            Plan::Tokens(language) => language,
            Plan::Grammar(_, language) => Some(language),
        }
    }

    /// Nothing may be left out.
    fn is_exhaustive(self, args: &FuzzArgs) -> bool {
        args.exhaustive || matches!(self, Plan::Enumerate(_))
    }

    fn name(self) -> &'static str {
        match self {
            Plan::Enumerate(symbolic) if symbolic.has_holes() => "cese",
            Plan::Enumerate(_) => "grammar-enumerate",
            Plan::Plain(Plain::Whitebox) => "whitebox",
            Plan::Tokens(_) => "whitebox-tokens",
            Plan::Plain(Plain::Random) => "random",
            Plan::Plain(Plain::Mutate) => "mutate",
            Plan::Grammar(WithGrammar::Random, _) => "grammar-random",
            Plan::Grammar(WithGrammar::TreeMutate, _) => "tree-mutate",
            Plan::Grammar(WithGrammar::Whitebox, _) => "grammar-whitebox",
            Plan::Plain(Plain::Auto) | Plan::Grammar(WithGrammar::Auto, _) => "auto",
        }
    }
}

fn strategy<'l>(
    args: &FuzzArgs,
    language: Option<&'l Language>,
    abstraction: Option<&'l Symbolic>,
) -> Result<Plan<'l>> {
    let default = if language.is_some() { StrategyName::Auto } else { StrategyName::Whitebox };
    let plan = match (args.strategy.unwrap_or(default), language) {
        _ if abstraction.is_some() => abstraction.map_or(Plan::Plain(Plain::Whitebox), Plan::Enumerate),
        (StrategyName::Whitebox, _) => Plan::Plain(Plain::Whitebox),
        (StrategyName::WhiteboxTokens, language) => Plan::Tokens(language),
        (StrategyName::Random, _) => Plan::Plain(Plain::Random),
        (StrategyName::Mutate, _) => Plan::Plain(Plain::Mutate),
        (StrategyName::Auto, None) => Plan::Plain(Plain::Auto),
        (StrategyName::Auto, Some(language)) => Plan::Grammar(WithGrammar::Auto, language),
        (StrategyName::GrammarRandom, Some(language)) => Plan::Grammar(WithGrammar::Random, language),
        (StrategyName::TreeMutate, Some(language)) => Plan::Grammar(WithGrammar::TreeMutate, language),
        (StrategyName::GrammarWhitebox, Some(language)) => Plan::Grammar(WithGrammar::Whitebox, language),
        (StrategyName::Cese | StrategyName::GrammarEnumerate, _) | (_, None) => {
            bail!("this strategy needs the grammar of the input: give it with --grammar FILE")
        }
    };
    if args.target.lexers.is_empty() && matches!(plan, Plan::Tokens(_)) {
        bail!(
            "this strategy needs the program's lexer: give it with --lexer; `tarragon lexers PROGRAM` proposes some"
        );
    }
    let is_whitebox = matches!(plan, Plan::Plain(Plain::Whitebox));
    if !is_whitebox && (args.exhaustive || args.max_depth.is_some()) {
        bail!("--exhaustive and --max-depth go with --strategy whitebox only");
    }
    if args.exhaustive && !args.target.lexers.is_empty() {
        bail!(
            "--exhaustive claims that all paths were explored, and --lexer leaves those of the lexer out: give one of them"
        );
    }
    if !is_whitebox && args.fixed_len.is_some() {
        bail!("--fixed-len goes with --strategy whitebox only");
    }
    Ok(plan)
}

fn language(args: &GrammarArgs, notes: &mut Vec<String>) -> Result<Option<Language>> {
    let Some(file) = &args.grammar else { return Ok(None) };
    let known = || Format::ALL.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
    let by_name = |name: &String| {
        Format::by_name(name)
            .ok_or_else(|| anyhow!("there is no notation named {name}; there are: {}", known()))
    };
    let format = args.grammar_format.as_ref().map(by_name).transpose()?;
    let read = read_path(file, format, args.scanner.as_deref())?;
    notes.extend(read.notes.iter().map(|note| format!("grammar: {note}")));
    let grammar = match &args.start {
        None => read.grammar,
        Some(name) => {
            read.grammar.with_start(name).ok_or_else(|| anyhow!("there is no rule `{name}` to start with"))?
        }
    };
    Language::new(grammar).with_context(|| file.display().to_string()).map(Some)
}

fn seeds(args: &FuzzArgs, plan: Plan<'_>, notes: &mut Vec<String>) -> Result<Vec<Seed>> {
    let language = plan.language();
    if args.seeds.is_empty() {
        return match language {
            None if matches!(plan, Plan::Enumerate(_)) => Ok(Vec::new()),
            None if args.fixed_len.is_some() => {
                Ok(vec![Seed { name: "buffer".to_owned(), input: vec![b'a'; longest(args)] }])
            }
            Some(language) => Ok(grammar_search::seeds(language, args.max_len, args.seed)?),
            None => Ok(built_in_seeds(args.max_len)),
        };
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
    if let Some(len) = args.fixed_len {
        seeds.iter_mut().for_each(|seed| seed.input.resize(len, b'a'));
    }
    if let Some(language) = language {
        notes.extend(outside(language, &seeds)?);
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
fn chain(args: &FuzzArgs, exhaustive: bool) -> Result<Chain> {
    let mut options = ChainOptions::default();
    for name in &args.solver {
        match name.strip_prefix('-') {
            Some(name) => options.without.push(name.to_owned()),
            None => options.only.push(name.clone()),
        }
    }
    let limits = smt::Limits { time: args.solver_timeout, economical: !exhaustive, ..smt::Limits::default() };
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

fn searcher<'l>(
    args: &FuzzArgs,
    plan: Plan<'l>,
    codes: &BTreeMap<String, i64>,
) -> Result<Box<dyn Strategy + 'l>> {
    let options = whitebox_options(args);
    Ok(match plan {
        Plan::Enumerate(symbolic) => Box::new(cese(args, symbolic)?),
        Plan::Plain(Plain::Whitebox) => Box::new(Whitebox::new(options)),
        Plan::Tokens(_) => Box::new(Named::new(options)),
        Plan::Plain(Plain::Random) => Box::new(Random),
        Plan::Plain(Plain::Mutate) => Box::<Mutate>::default(),
        Plan::Plain(Plain::Auto) => {
            let auto = Auto::new().solving(Box::new(Whitebox::new(options))).blind(Box::<Mutate>::default());
            Box::new(auto)
        }
        Plan::Grammar(WithGrammar::Random, language) => Box::new(GrammarRandom::new(language)?),
        Plan::Grammar(WithGrammar::TreeMutate, language) => Box::new(TreeMutate::new(language)?),
        Plan::Grammar(WithGrammar::Whitebox, language) => {
            grammar_whitebox(options, language, Lifting::new(language)?, args, codes)
        }
        Plan::Grammar(WithGrammar::Auto, language) => {
            let within = WhiteboxOptions { outside: true, ..options.clone() };
            let corpus = TreeCorpus::shared(language)?;
            let lifting = Lifting::sharing(language, Rc::clone(&corpus))?;
            // Mutation has the words that traces tell, so that it must not take the time of those who trace.
            let auto = Auto::new()
                .blind(grammar_whitebox(within, language, lifting, args, codes))
                .at_least(0.3)
                .blind(Box::new(TreeMutate::sharing(corpus)))
                .solving(Box::new(Whitebox::new(options)));
            Box::new(auto)
        }
    })
}

fn grammar_whitebox<'l>(
    options: WhiteboxOptions,
    language: &'l Language,
    lifting: Lifting<'l>,
    args: &FuzzArgs,
    codes: &BTreeMap<String, i64>,
) -> Box<dyn Strategy + 'l> {
    match args.target.lexers.is_empty() {
        true => Box::new(Whitebox::within(options, lifting)),
        false => {
            Box::new(Named::within(options, |inputs| NamedLifting::new(language, lifting, codes, inputs)))
        }
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
        holes: args.fixed_len.map(|len| std::iter::once(0..len).collect()),
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

fn about(args: &FuzzArgs, plan: Plan<'_>, command: &str, notes: Vec<String>) -> About {
    About {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        program: command.to_owned(),
        strategy: plan.name().to_owned(),
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
        Stop::TimeUp | Stop::RunsUp | Stop::Interrupted | Stop::Finished | Stop::FinishedShort(_) => {}
    }
    if let Some(error) = end.unsaved {
        bail!("the last results could not be written: {error}");
    }
    Ok(if end.report.bugs.is_empty() { Verdict::NoBug } else { Verdict::BugsFound })
}
