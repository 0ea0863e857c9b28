//! `tarragon replay`: run a suite, print each outcome and the total coverage.

use std::ffi::OsStr;
use std::io::{self, Write};
use std::path::Path;

use anyhow::{Context, Result};
use campaign::{
    CoverageReport, MakeCovered, Measured, Minimised, NamedInput, Replay, ReplayedInput,
    SourceCoverage, measure, minimise, read_inputs, record_leaks, stop_on_signals,
};
use compiler::Variant;
use executor::Target;
use search::Executor as _;

use crate::Verdict;
use crate::args::{CheckArgs, HangsName, OutputArgs, ReplayArgs, SanitizerName, TargetArgs};
use crate::sources;
use crate::target;

pub(crate) fn replay(args: &ReplayArgs) -> Result<Verdict> {
    let mut inputs: Vec<NamedInput> = Vec::new();
    for path in &args.inputs {
        inputs.extend(read_inputs(path)?);
    }
    let stop = stop_on_signals().context("cannot listen to signals")?;
    let mut target = checked_target(&args.target, &args.checks, &inputs, &args.output)?;
    let mut covered: Vec<(Vec<u32>, usize)> = Vec::new();
    let each = |one: &ReplayedInput| {
        print_one(one, &args.output);
        covered.push((one.outcomes.clone(), inputs[covered.len()].bytes.len()));
    };
    let total = campaign::replay(&mut target.executor, &target.sites, &inputs, stop, each)?;
    print_notes(target.executor.plain_trouble().as_slice(), &args.output);
    print_total(&total, args.checks.hangs, &args.output);
    if let Some(dir) = &args.minimise {
        let minimised = minimise(&covered);
        write_suite(dir, minimised.kept.iter().map(|number| &inputs[*number]))?;
        print_minimised(&minimised, dir, &args.output);
    }
    if let Some(file) = &args.lcov {
        let measured = lcov(target::covered(&target), &inputs[..total.inputs], file)?;
        print_measured(&measured, &args.output);
    }
    let hangs = if args.checks.hangs == HangsName::Bugs { total.hangs } else { 0 };
    Ok(if total.bugs + hangs > 0 { Verdict::BugsFound } else { Verdict::NoBug })
}

/// The program with all variants that say whether something is wrong.
pub(crate) fn checked_target(
    args: &TargetArgs,
    checks: &CheckArgs,
    inputs: &[NamedInput],
    output: &OutputArgs,
) -> Result<Target> {
    inputs.iter().try_for_each(|input| sources::check_input(args, &input.path, &input.bytes))?;
    let longest = inputs.iter().map(|input| input.bytes.len()).max().unwrap_or(0);
    let sanitized = (!checks.sanitizer.contains(&SanitizerName::Off)).then_some(Variant::Sanitized);
    let variants: Vec<Variant> = std::iter::once(Variant::Traced).chain(sanitized).collect();
    target::prepare(args, &variants, &mut target::lines(output.quiet || output.json));
    let mut target = target::start(args, longest)?;
    let mut sanitizers = checks.sanitizer.clone();
    // Whoever found a leak looked for it.
    if sanitized.is_some() && record_leaks(inputs) {
        sanitizers.push(SanitizerName::Leak);
    }
    target::add_sanitized(&mut target, &sanitizers);
    print_notes(&target.notes, output);
    Ok(target)
}

pub(crate) fn print_notes(notes: &[String], output: &OutputArgs) {
    if output.quiet || output.json {
        return;
    }
    for note in notes {
        eprintln!("note: {note}");
    }
}

fn lcov(make: MakeCovered<'_>, inputs: &[NamedInput], file: &Path) -> Result<Measured> {
    let measured =
        make().and_then(|mut covered| measure(&mut covered, inputs)).map_err(anyhow::Error::msg)?;
    std::fs::write(file, &measured.lcov)
        .with_context(|| format!("{}: cannot be written", file.display()))?;
    Ok(measured)
}

/// Writes inputs under their own names, or with a number after it where a name comes again.
fn write_suite<'i>(dir: &Path, inputs: impl Iterator<Item = &'i NamedInput>) -> Result<()> {
    std::fs::create_dir(dir).with_context(|| format!("{}: cannot be made", dir.display()))?;
    for input in inputs {
        let name = input.path.file_name().unwrap_or(OsStr::new("input")).to_owned();
        let again = (2..).map(|number| {
            let mut name = name.clone();
            name.push(format!("-{number}"));
            name
        });
        let mut names = std::iter::once(name.clone()).chain(again).map(|name| dir.join(name));
        let Some(path) = names.find(|path| !path.exists()) else { continue };
        std::fs::write(&path, &input.bytes)
            .with_context(|| format!("{}: cannot be written", path.display()))?;
    }
    Ok(())
}

fn print_minimised(minimised: &Minimised, dir: &Path, output: &OutputArgs) {
    let (kept, least) = (minimised.kept.len(), minimised.at_least);
    let line = match (output.json, minimised.is_smallest()) {
        (true, smallest) => {
            serde_json::json!({ "kept": kept, "at_least": least, "smallest": smallest }).to_string()
        }
        (false, true) => {
            format!("{kept} inputs cover the same, and no fewer do: {}", dir.display())
        }
        (false, false) => {
            format!(
                "{kept} inputs cover the same; {least} at least are needed, and whether fewer do \
                 was not settled in time: {}",
                dir.display()
            )
        }
    };
    print(&line, output);
}

fn print_measured(measured: &Measured, output: &OutputArgs) {
    let SourceCoverage { lines, functions, branches } = measured.totals;
    let part = |name, part: CoverageReport| format!("{name} {} of {}", part.covered, part.total);
    let line = match output.json {
        true => serde_json::to_string(&measured.totals).unwrap_or_default(),
        false => [part("lines", lines), part("functions", functions), part("branches", branches)]
            .join(", "),
    };
    print(&line, output);
    print_notes(measured.note.as_slice(), output);
}

fn print_one(one: &ReplayedInput, output: &OutputArgs) {
    let line = match output.json {
        true => serde_json::to_string(one).unwrap_or_default(),
        false => {
            format!(
                "{:<14} {:>5} covered {:>+5}  {}",
                one.outcome,
                one.covered,
                one.new,
                one.path.display()
            )
        }
    };
    print(&line, output);
    if !output.json {
        let traced =
            one.traced.iter().map(|outcome| format!("    the traced variant disagrees: {outcome}"));
        let reports = one.reports.iter().map(|report| format!("    {report}"));
        let rounds = one.rounds.as_ref().map(ToString::to_string).unwrap_or_default();
        let rounds = rounds.lines().map(|line| format!("    {line}"));
        traced.chain(reports).chain(rounds).for_each(|line| print(&line, output));
    }
}

fn print_total(total: &Replay, which: HangsName, output: &OutputArgs) {
    let Replay { inputs, bugs, hangs, coverage, interrupted } = total;
    let bugs = if which == HangsName::Bugs { bugs + hangs } else { *bugs };
    let (covered, all, percent) = (coverage.covered, coverage.total, coverage.percent());
    let hangs = if *hangs > 0 { format!(", {hangs} do not end") } else { String::new() };
    let cut = if *interrupted { ", interrupted" } else { "" };
    let line = match output.json {
        true => serde_json::to_string(total).unwrap_or_default(),
        false => format!(
            "{inputs} inputs, {bugs} of them show bugs{hangs}, coverage {covered} of {all} branch \
             outcomes ({percent:.1} %){cut}"
        ),
    };
    print(&line, output);
}

/// To standard output; a reader that went away is no error.
pub(crate) fn print(line: &str, output: &OutputArgs) {
    if !output.quiet {
        let _ = writeln!(io::stdout(), "{line}");
    }
}
