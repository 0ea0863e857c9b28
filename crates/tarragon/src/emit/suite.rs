//! The words of the tests: names, remarks, and what is asserted.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;

use campaign::{NamedInput, Recorded};
use emit::{Case, Expected, KnownFailure, Markers, Names, Run, Suite, slug};
use executor::{Observer, Words};
use search::Outcome;

use super::behaviour::Grouped;
use super::marks;
use super::observed::Observed;
use crate::args::EmitArgs;
use crate::target::PINNED;

/// Tests are patient: the machine may be slower, or busy.
const PATIENCE: u64 = 10;

pub(super) fn suite(
    args: &EmitArgs,
    observer: &Observer,
    markers: Markers,
    (inputs, observed): (&[NamedInput], &[Observed]),
    groups: &[Grouped],
) -> Suite {
    let mut names = Names::default();
    let case = |group: &Grouped| {
        let (input, seen) = (&inputs[group.input], &observed[group.input]);
        let run = run(observer, &markers, &input.bytes);
        case(args, (input, seen, group), run, &mut names)
    };
    let cases = groups.iter().map(case).collect();
    let is_given = |name: &str| args.target.env.iter().any(|(given, _)| given == name);
    let pinned = PINNED.iter().filter(|(name, _)| !is_given(name));
    let origin: Vec<_> = args.inputs.iter().map(|path| path.display().to_string()).collect();
    Suite {
        name: name(observer),
        program: observer.program().display().to_string(),
        directory: args.directory.display().to_string(),
        origin: origin.join(", "),
        seconds: args.target.confinement.timeout.as_secs().max(1) * PATIENCE,
        environment: pinned.map(|&(name, value)| (name.to_owned(), value.to_owned())).collect(),
        markers,
        cases,
    }
}

/// Of files and groups of tests; no language has names that begin with a digit.
fn name(observer: &Observer) -> String {
    let stem = observer.program().file_stem().unwrap_or_default();
    match slug(stem.as_encoded_bytes()) {
        Some(name) if name.starts_with(|c: char| c.is_ascii_alphabetic()) => name,
        Some(name) => format!("program_{name}"),
        None => "program".to_owned(),
    }
}

fn run(observer: &Observer, markers: &Markers, input: &[u8]) -> Run {
    let Words { arguments, environment } = observer.words(input, marks(markers));
    let variable = |(name, value): (OsString, OsString)| {
        (name.to_string_lossy().into_owned(), value.into_vec())
    };
    let is_pinned = |(name, value): &(OsString, OsString)| {
        PINNED.iter().any(|(pinned, usual)| name == pinned && value == usual)
    };
    let variables = environment.into_iter().filter(|variable| !is_pinned(variable));
    Run {
        arguments: arguments.into_iter().map(OsString::into_vec).collect(),
        environment: variables.map(variable).collect(),
        input: input.to_vec(),
        on_stdin: observer.is_on_stdin(),
    }
}

fn case(
    args: &EmitArgs,
    (input, seen, group): (&NamedInput, &Observed, &Grouped),
    run: Run,
    names: &mut Names,
) -> Case {
    let expected = expected(args, seen, group);
    let name = names.free(&format!("{}_on_{}", behaviour_name(seen, group), input_name(input)));
    let known_failure = seen.failure.map(|failure| KnownFailure {
        reason: reason(failure, group.bug.as_ref()),
        always: seen.outcome.always().is_some(),
    });
    let remarks = remarks(args, (input, seen, group), &expected);
    Case { name, remarks, known_failure, run, expected }
}

/// Where a bug is that the program survives, nothing that it does is right.
fn expected(args: &EmitArgs, seen: &Observed, group: &Grouped) -> Expected {
    if seen.failure.is_some() || group.bug.is_some() {
        return Expected::default();
    }
    let exit = |outcome: &Outcome| match outcome {
        Outcome::Exit(code) => Some(*code),
        _ => None,
    };
    Expected {
        exit: seen.outcome.always().and_then(exit),
        stdout: seen.stdout.always().cloned(),
        stderr: seen.stderr.always().filter(|_| args.stderr).cloned().flatten(),
    }
}

fn behaviour_name(seen: &Observed, group: &Grouped) -> String {
    match (seen.failure, seen.outcome.always()) {
        (Some(Outcome::Timeout), _) => "ends".to_owned(),
        (Some(_), _) => "does_not_crash".to_owned(),
        (None, Some(Outcome::Exit(code))) if group.bug.is_none() => format!("exits_{code}"),
        (None, _) => "does_not_crash".to_owned(),
    }
}

fn input_name(input: &NamedInput) -> String {
    if input.bytes.is_empty() {
        return "empty_input".to_owned();
    }
    let file = input.path.file_name().unwrap_or_default();
    let name = slug(&input.bytes).or_else(|| slug(file.as_encoded_bytes()));
    name.unwrap_or_else(|| "input".to_owned())
}

fn reason(failure: Outcome, bug: Option<&Recorded>) -> String {
    match (bug, failure) {
        (Some(bug), _) => titled(bug),
        (None, Outcome::Timeout) => "it does not end in time".to_owned(),
        (None, failure) => failure.to_string(),
    }
}

fn titled(Recorded { kind, place }: &Recorded) -> String {
    place.as_ref().map_or_else(|| kind.clone(), |place| format!("{kind} in {place}"))
}

fn remarks(
    args: &EmitArgs,
    (input, seen, group): (&NamedInput, &Observed, &Grouped),
    expected: &Expected,
) -> Vec<String> {
    let others = match group.others {
        0 => String::new(),
        1 => ", and of another one that does the same".to_owned(),
        others => format!(", and of {others} others that do the same"),
    };
    let path = input.path.display();
    let mut remarks = match (seen.failure, &group.bug) {
        (Some(_), _) => vec![format!("A bug, of {path}{others}.")],
        (None, Some(bug)) => vec![
            format!("A bug, of {path}{others}: {}.", titled(bug)),
            "The program survives it; a build with its sanitizer does not.".to_owned(),
        ],
        (None, None) => vec![format!("Observed, review: of {path}{others}.")],
    };
    remarks.extend(
        group.violation.as_ref().map(|violation| {
            format!("A property does not hold on the way: {}.", titled(violation))
        }),
    );
    if seen.failure.is_none() && group.bug.is_none() {
        let varies = |what: &str| format!("Not asserted, as it varies from run to run: {what}.");
        remarks.extend(expected.exit.is_none().then(|| varies("exit status")));
        remarks.extend(expected.stdout.is_none().then(|| varies("standard output")));
        let no_stderr = args.stderr && expected.stderr.is_none();
        remarks.extend(no_stderr.then(|| varies("standard error, or it is too long")));
    }
    remarks
}
