//! `tarragon triage`: which bugs of campaigns still show, and what they have in common.

use anyhow::{Context, Result, ensure};
use campaign::{Found, Judged, NamedInput, Recorded, Status, Triage, read_bugs, stop_on_signals};
use search::Executor as _;

use crate::Verdict;
use crate::args::{OutputArgs, TriageArgs};
use crate::replay::{checked_target, print, print_notes};

pub(crate) fn triage(args: &TriageArgs) -> Result<Verdict> {
    let (output, hangs) = (&args.output, args.checks.hangs.into());
    let mut inputs: Vec<NamedInput> = Vec::new();
    for path in &args.inputs {
        inputs.extend(read_bugs(path, hangs)?);
    }
    let stop = stop_on_signals().context("cannot listen to signals")?;
    let mut target = checked_target(&args.target, &args.checks, &inputs, output)?;
    let each = |one: &Judged| print_one(one, output);
    let done = campaign::triage(&mut target.executor, &target.sites, &inputs, (hangs, stop), each)?;
    print_notes(target.executor.plain_trouble().as_slice(), output);
    print_total(&done, output);
    if done.shows_bugs(hangs) {
        return Ok(Verdict::BugsFound);
    }
    ensure!(
        !done.interrupted,
        "interrupted before all inputs were run; those that were show no bug"
    );
    Ok(Verdict::NoBug)
}

fn print_one(one: &Judged, output: &OutputArgs) {
    if output.json {
        return print(&serde_json::to_string(one).unwrap_or_default(), output);
    }
    let status = match one.status {
        Status::Shows => "shows",
        Status::Other => "other",
        Status::Gone => "gone",
        Status::Unchecked => "unchecked",
    };
    let words = match (&one.recorded, one.status) {
        (Some(recorded), Status::Other) => {
            format!("{} in place of {}", one.found.join(", "), recorded_text(recorded))
        }
        (Some(recorded), Status::Unchecked) => {
            format!("{} needs the sanitized variant, which is off", recorded_text(recorded))
        }
        (Some(recorded), Status::Gone) => format!("{} ({})", recorded_text(recorded), one.outcome),
        (None, Status::Gone) => one.outcome.clone(),
        (_, _) => one.found.join(", "),
    };
    print(&format!("{status:<6} {}: {words}", one.path.display()), output);
}

fn recorded_text(Recorded { kind, place }: &Recorded) -> String {
    place.as_ref().map_or_else(|| kind.clone(), |place| format!("{kind} in {place}"))
}

fn print_total(done: &Triage, output: &OutputArgs) {
    if output.json {
        return print(&serde_json::to_string(done).unwrap_or_default(), output);
    }
    for Found { cause, is_hang, rounds, plain, inputs } in &done.causes {
        let what = if *is_hang { "hang" } else { "bug" };
        let plain = plain
            .as_ref()
            .map_or_else(String::new, |plain| format!("; the plain program: {plain}"));
        let smallest = inputs.first().map(|path| path.display().to_string()).unwrap_or_default();
        let count = inputs.len();
        print(
            &format!("{what:<6} {cause}: {count} inputs, the smallest is {smallest}{plain}"),
            output,
        );
        if let Some(rounds) = rounds.as_ref().and_then(search::Rounds::headline) {
            print(&format!("       {rounds}"), output);
        }
    }
    let hangs = done.causes.iter().filter(|cause| cause.is_hang).count();
    let (inputs, gone, bugs) = (done.inputs, done.gone, done.causes.len() - hangs);
    let cut = if done.interrupted { ", interrupted" } else { "" };
    let unchecked = match done.unchecked {
        0 => String::new(),
        count => format!(", {count} were not checked"),
    };
    print(
        &format!(
            "{inputs} inputs: {bugs} bugs and {hangs} hangs show, {gone} inputs show \
             nothing{unchecked}{cut}"
        ),
        output,
    );
}
