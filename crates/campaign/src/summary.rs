//! The results of a campaign as text.

use std::fmt::Write;

use search::{KeepBy, SentenceStats, Verdicts};

use crate::SourceCoverage;
use crate::report::{
    BugReport, CoverageReport, FunctionCount, PlaceCount, ProductionVerdicts, Report, Spent,
    ViolationReport,
};

/// The text of `summary.txt`, which is also printed at the end.
pub(crate) fn summary(report: &Report, dir: &str) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = write_summary(&mut text, report, dir);
    text
}

fn write_summary(text: &mut String, report: &Report, dir: &str) -> std::fmt::Result {
    let about = &report.about;
    writeln!(text, "{} on {}: {}", about.strategy, about.program, report.stopped)?;
    let seconds = &report.seconds;
    let (runs, rate) = (report.runs, report.runs_per_second);
    writeln!(
        text,
        "  runs        {runs} in {:.1} s ({rate:.0} a second), {} paths",
        seconds.total, report.paths
    )?;
    let coverage = report.coverage;
    let (covered, total) = (coverage.covered, coverage.total);
    writeln!(
        text,
        "  coverage    {covered} of {total} branch outcomes ({:.1} %)",
        coverage.percent()
    )?;
    write_source_coverage(text, report)?;
    let (running, solving, other) = (seconds.running, seconds.solving, seconds.other);
    let grammar = match report.sentences {
        SentenceStats { lifted: 0, solved: 0, changed: 0, pruned: 0 } => String::new(),
        _ => format!("grammar {:.1} s, ", seconds.grammar),
    };
    writeln!(
        text,
        "  time        running {running:.1} s, solving {solving:.1} s, {grammar}other {other:.1} s"
    )?;
    write_spent(text, report)?;
    write_solver(text, report)?;
    write_verdicts(text, report)?;
    write_losses(text, report)?;
    if let Some(completeness) = &report.completeness {
        writeln!(text, "  paths       {}", completeness.text)?;
    }
    if report.examined > 0 && report.unexamined > 0 {
        let (examined, unexamined) = (report.examined, report.unexamined);
        writeln!(
            text,
            "  sanitizer   examined {examined} inputs and not {unexamined} others that did \
             something new, so bugs that only it sees may be there"
        )?;
    }
    if report.earlier.sessions > 0 {
        let earlier = &report.earlier;
        writeln!(text, "  earlier     {} runs in {} sessions", earlier.runs, earlier.sessions)?;
    }
    if !about.models.is_empty() {
        writeln!(text, "  models      {}", about.models.join(", "))?;
    }
    if !about.sources.is_empty() {
        writeln!(text, "  sources     {}", about.sources.join(", "))?;
    }
    if !about.environment.is_empty() {
        writeln!(text, "  environment {}", about.environment.join(", "))?;
    }
    for note in &about.notes {
        writeln!(text, "  note        {note}")?;
    }
    write_finds(text, report)?;
    let kept = match about.kept_by {
        KeepBy::Coverage => String::new(),
        KeepBy::Paths => format!(", one for each path; {} added coverage", report.growth.len()),
    };
    writeln!(text, "  results     {dir} ({} inputs in corpus/{kept})", report.corpus)
}

fn write_source_coverage(text: &mut String, report: &Report) -> std::fmt::Result {
    let Some(SourceCoverage { lines, functions, branches }) = report.source_coverage else {
        return Ok(());
    };
    let share = |part: CoverageReport| {
        format!("{} of {} ({:.1} %)", part.covered, part.total, part.percent())
    };
    let [lines, functions, branches] = [lines, functions, branches].map(share);
    writeln!(
        text,
        "  source      lines {lines}, functions {functions}, branches {branches}: lcov.info"
    )
}

/// What took most of the time. A short search needs no explanation.
fn write_spent(text: &mut String, report: &Report) -> std::fmt::Result {
    const MOST: usize = 6;
    const LEAST: f64 = 0.02;
    const SHORT: f64 = 1.0;
    let total = report.seconds.total;
    let is_much = |spent: &&Spent| total > SHORT && spent.seconds >= LEAST * total;
    for Spent { work, seconds, turns, outcomes } in report.spent.iter().filter(is_much).take(MOST) {
        writeln!(
            text,
            "    {work:<12} {seconds:.1} s for {turns} turns, {outcomes} new branch outcomes"
        )?;
    }
    Ok(())
}

fn write_solver(text: &mut String, report: &Report) -> std::fmt::Result {
    let answers = report.answers;
    if answers.sat + answers.unsat + answers.unknown == 0 {
        return Ok(());
    }
    let (sat, unsat, unknown) = (answers.sat, answers.unsat, answers.unknown);
    writeln!(text, "  solver      {sat} satisfiable, {unsat} not, {unknown} unknown")?;
    for link in report.solver.iter().filter(|link| link.asked > 0) {
        let answered = link.sat + link.unsat;
        let (name, asked, time) = (&link.name, link.asked, link.seconds);
        let brought = match link.outcomes {
            0 => String::new(),
            outcomes => format!(", {outcomes} new branch outcomes"),
        };
        writeln!(text, "    {name:<12} answered {answered} of {asked} in {time:.2} s{brought}")?;
    }
    let SentenceStats { lifted, solved, changed, pruned } = report.sentences;
    if lifted + solved + changed + pruned > 0 {
        writeln!(
            text,
            "  grammar     {changed} sentences with another token, {solved} solved for, {lifted} \
             in place of other answers, {pruned} answers without one"
        )?;
    }
    Ok(())
}

fn write_verdicts(text: &mut String, report: &Report) -> std::fmt::Result {
    let all = report.verdicts;
    if all.rejected == 0 {
        return Ok(());
    }
    let percent = |of: &Verdicts| 100.0 * of.rejected as f64 / of.all() as f64;
    writeln!(
        text,
        "  verdicts    {} of {} sentences looked at were rejected ({:.1} %)",
        all.rejected,
        all.all(),
        percent(&all)
    )?;
    for ProductionVerdicts { production, verdicts } in &report.rejected_productions {
        let (rejected, all) = (verdicts.rejected, verdicts.all());
        writeln!(text, "    {rejected} of {all} with {production} ({:.1} %)", percent(verdicts))?;
    }
    Ok(())
}

/// Everything that made the search weaker than it could be; nothing is said where nothing was lost.
fn write_losses(text: &mut String, report: &Report) -> std::fmt::Result {
    let losses = [
        (report.divergences, "runs left the predicted path"),
        (report.concretisations, "values were fixed to what they were"),
        (report.truncated_traces, "traces were cut"),
        (report.bad_traces, "traces could not be read"),
        (report.dropped_flips, "flips were dropped"),
        (report.told_to_end, "runs were told to end by a signal such as SIGTERM, which is no bug"),
        (report.flaky_timeouts, "timeouts did not happen again"),
        (report.slow_in_variant, "timeouts were of the variant: the program itself ends in time"),
        (report.unconfirmed_timeouts, "timeouts at new places were not looked into"),
        (report.unfinished_examinations, "runs of the sanitized variant did not end in time"),
        (report.shunned, "inputs were left out, because others with the same words did not end"),
        (report.untraced, "runs were not traced: others covered the same, on maybe other paths"),
        (report.restarts, "runs were random, because nothing else was left to try"),
        (
            report.unstable,
            "inputs were unstable: they did it only after others in the same process",
        ),
    ];
    for (count, what) in losses.iter().filter(|(count, _)| *count > 0) {
        writeln!(text, "  losses      {count} {what}")?;
    }
    for PlaceCount { place, count } in &report.divergence_places {
        writeln!(text, "    {count} of the runs parted at {place}")?;
    }
    let optimism = report.optimism;
    if optimism.asked > 0 {
        let (asked, sat, confirmed) = (optimism.asked, optimism.sat, optimism.confirmed);
        writeln!(
            text,
            "  optimism    {asked} second attempts, {sat} with an input, {confirmed} confirmed"
        )?;
    }
    for (reason, count) in &report.give_ups {
        writeln!(text, "  gave up     {count} times: {reason}")?;
    }
    for FunctionCount { function, count } in &report.lost_through {
        writeln!(text, "    {count} times through {function}")?;
    }
    Ok(())
}

/// Violations that are listed; all have their reports.
const MAX_VIOLATIONS: usize = 10;

fn write_finds(text: &mut String, report: &Report) -> std::fmt::Result {
    let Report { bugs, hangs, violations, .. } = report;
    for ViolationReport { property, place, file, bytes, .. } in
        violations.iter().take(MAX_VIOLATIONS)
    {
        writeln!(
            text,
            "  property    violated without a crash: {property} at {place}: {file} ({bytes} bytes)"
        )?;
    }
    if let Some(more) = violations.len().checked_sub(MAX_VIOLATIONS).filter(|more| *more > 0) {
        writeln!(text, "  property    {more} more in reports/")?;
    }
    hangs.iter().try_for_each(|hang| write_bug(text, "hang", hang))?;
    if bugs.is_empty() {
        writeln!(text, "  bugs        none found")?;
    }
    bugs.iter().try_for_each(|bug| write_bug(text, "bug", bug))?;
    match report.not_shown {
        0 => Ok(()),
        count => writeln!(
            text,
            "  earlier     {count} finds of earlier sessions did not show in this one; `tarragon \
             triage` says \
             whether they are gone"
        ),
    }
}

fn write_bug(text: &mut String, what: &str, bug: &BugReport) -> std::fmt::Result {
    let BugReport { kind, place, at, file, bytes, hits, plain, .. } = bug;
    let at = at.as_ref().map_or_else(|| format!("after {place}"), |at| format!("in {at}"));
    let plain =
        plain.as_ref().map_or_else(String::new, |plain| format!("; the plain program: {plain}"));
    writeln!(text, "  {what:<11} {kind} {at}: {file} ({bytes} bytes, {hits} runs{plain})")?;
    match bug.rounds.as_ref().and_then(search::Rounds::headline) {
        Some(rounds) => writeln!(text, "              {rounds}"),
        None => Ok(()),
    }
}
