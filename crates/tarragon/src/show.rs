//! `tarragon trace`: what Tarragon sees on one input, constraint by constraint.

use std::fmt::Write as _;
use std::io::Write as _;

use anyhow::{Context, Result, anyhow};
use expr::Support;
use path::{Constraint, ConstraintKind, Delivered, PathCondition, Trace};
use search::Executor;
use sites::SiteTable;
use trace::{ConcretiseReason, Event, EventKind, GiveUp};

use crate::Verdict;
use crate::args::TraceArgs;
use crate::target::Target;

pub(crate) fn trace(args: &TraceArgs) -> Result<Verdict> {
    let input =
        std::fs::read(&args.input).with_context(|| format!("{}: cannot be read", args.input.display()))?;
    let mut target = Target::start(&args.target, input.len())?;
    let run = target.executor.run(&input, true)?;
    let mut trace =
        run.trace.ok_or_else(|| anyhow!(run.bad_trace.unwrap_or("the run left no trace".to_owned())))?;
    let condition = PathCondition::new(&mut trace, &target.sites);
    let mut text = format!("{}: {} constraints\n", run.ending, condition.len());
    describe_tokens(&condition.tokens, &input, &mut text)?;
    for constraint in &condition.constraints {
        describe(constraint, &trace, &target.sites, args.expressions, &mut text)?;
    }
    for (reason, count) in give_ups(&trace) {
        writeln!(text, "given up {count} times: {}", reason.text())?;
    }
    // A reader that went away is no error.
    let _ = std::io::stdout().write_all(text.as_bytes());
    Ok(Verdict::NoBug)
}

fn describe_tokens(tokens: &[Delivered], input: &[u8], text: &mut String) -> Result<()> {
    let ends = tokens.iter().skip(1).map(|token| token.start as usize).chain([input.len()]);
    for ((number, token), end) in tokens.iter().enumerate().zip(ends) {
        let piece = input.get(token.start as usize..end).unwrap_or_default();
        writeln!(
            text,
            "token {number}: code {}, from {:?}",
            token.code as i32,
            String::from_utf8_lossy(piece)
        )?;
    }
    Ok(())
}

fn describe(
    constraint: &Constraint,
    trace: &Trace,
    sites: &SiteTable,
    expressions: bool,
    text: &mut String,
) -> Result<()> {
    let place = sites.place(constraint.site);
    let support = bytes(&trace.dag.support(constraint.label));
    let what = match constraint.kind {
        ConstraintKind::Branch => format!("branch {}", constraint.taken),
        ConstraintKind::Case { index, .. } => format!("case {index}"),
        ConstraintKind::Concretise { value, .. } => {
            format!("fixed to {value:#x} ({})", reason(constraint, trace))
        }
        ConstraintKind::Given => "given".to_owned(),
        ConstraintKind::Check(kind) => format!("check: no {}", kind.text()),
    };
    writeln!(text, "{place}: {what}, on {support}")?;
    if expressions {
        for line in expr::print(&trace.dag, &[constraint.label]).lines() {
            writeln!(text, "    {line}")?;
        }
    }
    Ok(())
}

/// Why a value was fixed: the event says it.
fn reason(constraint: &Constraint, trace: &Trace) -> &'static str {
    let fixes = |event: &&Event| event.kind == EventKind::Concretise as u8 && event.site == constraint.site;
    let event = trace.events.iter().find(fixes);
    event
        .and_then(|event| ConcretiseReason::from_byte(event.aux))
        .map_or("unknown reason", ConcretiseReason::text)
}

/// `bytes 0-3, 7 and the length`
fn bytes(support: &Support) -> String {
    let mut parts: Vec<String> = support
        .intervals()
        .iter()
        .map(|(first, last)| if first == last { first.to_string() } else { format!("{first}-{last}") })
        .collect();
    if !parts.is_empty() {
        parts = vec![format!("bytes {}", parts.join(", "))];
    }
    if support.uses_len() {
        parts.push("the length".to_owned());
    }
    parts.join(" and ")
}

fn give_ups(trace: &Trace) -> impl Iterator<Item = (GiveUp, u32)> {
    GiveUp::ALL
        .iter()
        .zip(trace.give_ups)
        .map(|(reason, count)| (*reason, count))
        .filter(|(_, count)| *count > 0)
}
