//! `tarragon diff`: two programs, checked against each other.
//!
//! `check` has the loop, `program` is one of the two, `exchange` makes one search of two. What a
//! difference is, is the business of crate `diff`; what inputs are worth running, of crate
//! `search`.

mod args;
mod check;
mod exchange;
mod output;
mod program;
mod screen;
mod summary;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use anyhow::{Context, Result, bail, ensure};
use campaign::{WallClock, stop_on_signals};
use compiler::Variant;
use diff::{Groups, Side};
use executor::{Observed, Target, TargetSettings, find_program, has_bitcode};
use grammar::symbolic::Symbolic;
use search::{
    Bug, Engine, Entry, Limits, Observer, OutputError, Results, SavedSearch, Seed, Sighting, Stats,
    World,
};
use solver::Chain;

pub(crate) use args::DiffArgs;
use check::{Check, Counts, Memory};
use exchange::{Exchange, Mutations};
use output::Output;
use program::{Program, Search};
use screen::Screen;

use crate::args::FuzzArgs;
use crate::strategies::Plan;
use crate::{Verdict, fuzz, target};

/// A program that was built with Tarragon, ready to be searched.
struct Started {
    target: Target,
    solver: Chain,
    codes: BTreeMap<String, i64>,
    observer: Silent,
}

pub(crate) fn diff(args: &DiffArgs) -> Result<Verdict> {
    Output::check(&args.out)?;
    let rules = args.rules()?;
    let sides = args.sides()?;
    let mut notes = Vec::new();
    let language = fuzz::language(&args.grammar, &mut notes)?;
    let plan = Plan::new(&sides[0], language.as_ref(), None)?;
    let symbolic = plan.symbolic(&sides[0])?;
    let seeds = fuzz::seeds(&sides[0], plan, &mut notes)?;
    let stop = stop_on_signals().context("cannot listen to signals")?;
    compiler::end_children_with(stop);
    let started = start(&sides, &mut notes, args, stop);
    ensure!(!stop.load(Ordering::Relaxed), "interrupted before the first run");
    let mut started = started?;
    let observed = [observe(&sides[0], stop)?, observe(&sides[1], stop)?];
    if let Some(until) = args.bounds.time.and_then(|time| Instant::now().checked_add(time)) {
        started.iter_mut().flatten().for_each(|started| started.target.executor.end_by(until));
    }
    let clock = WallClock::start();
    let output = Output::open(&args.out, sides.each_ref().map(|side| side.target.command.clone()))?;
    let screen = Screen::new(&args.output);
    notes.iter().for_each(|note| screen.note(note));
    let search = |side: usize, started| -> Result<Search<'_>> {
        search(started, &sides[side], (plan, symbolic.as_ref(), &seeds), (&clock, stop))
    };
    let [a, b] = &mut started;
    let searches = [
        a.as_mut().map(|started| search(0, started)).transpose()?,
        b.as_mut().map(|started| search(1, started)).transpose()?,
    ];
    let mut programs = observed.into_iter().zip(searches);
    let mut program = || programs.next().map(|(observed, search)| Program { observed, search });
    let (Some(a), Some(b)) = (program(), program()) else { bail!("there are two programs") };
    let mut check = Check {
        programs: [a, b],
        rules,
        output,
        screen,
        stop,
        clock: &clock,
        time: args.bounds.time,
        max_runs: args.bounds.max_runs,
        most: args.bounds.stop_on_bug,
        counts: Counts::default(),
        groups: Groups::default(),
        memory: Memory::default(),
    };
    let end = check.run();
    // What was found is told in any case.
    let why = end.as_ref().map_or_else(|error| format!("an error: {error}"), Clone::clone);
    check.conclude(&why, notes)?;
    end?;
    Ok(if check.groups.all().is_empty() { Verdict::NoBug } else { Verdict::BugsFound })
}

/// Starts the traced variants of the programs that have one.
fn start(
    sides: &[FuzzArgs; 2],
    notes: &mut Vec<String>,
    args: &DiffArgs,
    stop: &'static AtomicBool,
) -> Result<[Option<Started>; 2]> {
    let programs = sides.each_ref().map(|side| find_program(&side.target.command[0]));
    let [a, b] = programs;
    let has = [has_bitcode(&a?)?, has_bitcode(&b?)?];
    if has == [false, false] {
        bail!(
            "neither program was built with Tarragon, so that there is nothing to make inputs \
             from; rebuild one with CC=tarragon-cc CXX=tarragon-c++"
        );
    }
    for (side, _) in Side::BOTH.iter().zip(has).filter(|(_, has)| !has) {
        let other = side.other();
        notes.push(format!("{side} was not built with Tarragon: inputs come from {other} alone"));
    }
    for (side, _) in sides.iter().zip(has).filter(|(_, has)| *has) {
        let mut display = target::lines(args.output.quiet || args.output.json);
        target::prepare(&side.target, &[Variant::Traced], &mut display);
    }
    runner::keep_to_one_processor();
    let mut start = |side: usize| -> Result<Option<Started>> {
        has[side].then(|| start_one(&sides[side], Side::BOTH[side], notes, stop)).transpose()
    };
    Ok([start(0)?, start(1)?])
}

fn start_one(
    args: &FuzzArgs,
    side: Side,
    notes: &mut Vec<String>,
    stop: &'static AtomicBool,
) -> Result<Started> {
    let mut target = target::start_until(Some(stop), &args.target, args.bounds.max_len)?;
    target.executor.end_early();
    target.executor.share_processes();
    notes.extend(target.notes.drain(..).map(|note| format!("{side}: {note}")));
    let codes = fuzz::codes(args, &target)?;
    Ok(Started { solver: fuzz::chain(args, false, Some(stop))?, codes, target, observer: Silent })
}

fn observe(args: &FuzzArgs, stop: &'static AtomicBool) -> Result<Observed> {
    let settings = TargetSettings { stop: Some(stop), ..target::settings(&args.target)? };
    Ok(Observed::start(&settings)?)
}

fn search<'a>(
    started: &'a mut Started,
    args: &'a FuzzArgs,
    (plan, symbolic, seeds): (Plan<'a>, Option<&'a Symbolic>, &[Seed]),
    (clock, stop): (&'a WallClock, &'a AtomicBool),
) -> Result<Search<'a>> {
    let Started { target, solver, codes, observer } = started;
    let strategy = plan.build(args, symbolic, codes)?;
    let seeds = seeds.iter().map(|seed| (seed.name.clone(), seed.input.clone()));
    let sites = &target.sites;
    let world = World { executor: &mut target.executor, solver, sites, clock, observer, stop };
    let limits =
        Limits { time: args.bounds.time, runs: args.bounds.max_runs, max_len: args.bounds.max_len };
    let engine = Engine::new(world, limits, args.bounds.seed, Results::new(sites));
    let mutations = match (
        plan.language().is_some() || plan.enumerates(),
        args.bounds.time,
        args.bounds.max_runs,
    ) {
        // Sentences have strategies of their own for that.
        (true, ..) => Mutations::Never,
        (false, None, None) => Mutations::Between,
        (false, ..) => Mutations::ToTheEnd,
    };
    let strategy = Exchange::new(strategy, seeds, mutations);
    Ok(Search { engine, strategy, sites, is_finished: false })
}

/// What a search finds on its own is not told: a crash counts here if the other program does not
/// crash.
struct Silent;

impl Observer for Silent {
    fn new_entry(&mut self, _entry: &Entry) -> Result<(), OutputError> {
        Ok(())
    }

    fn new_bug(&mut self, _bug: &Bug, _sighting: Sighting) -> Result<(), OutputError> {
        Ok(())
    }

    fn wants_progress(&mut self, _elapsed: std::time::Duration) -> bool {
        false
    }

    fn progress(&mut self, _stats: &Stats) -> Result<(), OutputError> {
        Ok(())
    }

    fn wants_state(&mut self, _elapsed: std::time::Duration) -> bool {
        false
    }

    fn state(&mut self, _saved: &SavedSearch) -> Result<(), OutputError> {
        Ok(())
    }
}
