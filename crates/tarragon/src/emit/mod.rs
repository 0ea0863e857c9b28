//! `tarragon emit`: a suite of inputs becomes tests that people check in.

mod behaviour;
mod observed;
mod suite;
mod units;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use anyhow::{Context, Result, bail, ensure};
use campaign::{NamedInput, read_inputs, stop_on_signals};
use compiler::Variant;
use emit::{Markers, OutputFile, Suite};
use executor::{Observer, PathMarks};
use search::Executor as _;
use serde_json::json;

use crate::Verdict;
use crate::args::{EmitArgs, OutputArgs, TargetArgs};
use crate::replay::{print, print_notes};
use crate::sources;
use crate::target;

use behaviour::Grouped;
use observed::{Observed, observe};

pub(crate) fn emit(args: &EmitArgs) -> Result<Verdict> {
    check_free(&args.directory)?;
    if let Some(folder) = units::folder(&args.inputs) {
        return units::emit(args, folder);
    }
    ensure!(
        !args.target.command.is_empty(),
        "which program do the inputs belong to? Give it after --, as to tarragon fuzz; only the \
         results of tarragon unit need none"
    );
    sources::refuse_several(&args.target, "emit")?;
    let mut inputs = Vec::new();
    for path in &args.inputs {
        inputs.extend(read_inputs(path)?);
    }
    let stop = stop_on_signals().context("cannot listen to signals")?;
    let settings = target::pinned_settings(&args.target)?;
    let mut observer = Observer::start(&settings)?;
    let mut notes = Vec::from_iter(observer.denied(first(&inputs)));
    let markers = markers(&args.target, &inputs);
    let observed = observe(&mut observer, &inputs, marks(&markers), (args.runs.into(), stop))?;
    let covered = if args.all || args.by_output {
        None
    } else {
        match coverage(args, &inputs, stop) {
            Ok(covered) => Some(covered),
            Err(error) => {
                notes.push(format!("grouped by what was printed alone: {error:#}"));
                None
            }
        }
    };
    let grouped = behaviour::group(&inputs, &observed, covered.as_deref(), args);
    let suite = suite::suite(args, &observer, markers, (&inputs, &observed), &grouped);
    let files = emit::render(&suite, args.framework)?;
    write(&args.directory, &files)?;
    print_notes(&notes, &args.output);
    report(args, &suite, &files, (&inputs, &observed, &grouped));
    Ok(Verdict::NoBug)
}

/// Nothing that somebody wrote is written over.
fn check_free(directory: &Path) -> Result<()> {
    match fs::read_dir(directory) {
        Ok(mut entries) => ensure!(
            entries.next().is_none(),
            "{}: is not empty; tests are written to a new or empty directory: give one with -o",
            directory.display()
        ),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => bail!("{}: {error}; give another directory with -o", directory.display()),
    }
    Ok(())
}

/// What shows best what the sandbox denies.
fn first(inputs: &[NamedInput]) -> &[u8] {
    let longest = inputs.iter().find(|input| !input.bytes.is_empty());
    longest.map_or(b"", |input| &input.bytes)
}

fn markers(args: &TargetArgs, inputs: &[NamedInput]) -> Markers {
    let words = args.command.iter().chain(args.env.iter().map(|(_, value)| value));
    let words = words.map(|word| word.as_encoded_bytes());
    Markers::outside(words.chain(inputs.iter().map(|input| &input.bytes[..])))
}

fn marks(markers: &Markers) -> PathMarks<'_> {
    PathMarks { input: &markers.input, here: &markers.here, program: &markers.program }
}

/// The branch outcomes that each input covers.
fn coverage(args: &EmitArgs, inputs: &[NamedInput], stop: &AtomicBool) -> Result<Vec<Vec<u32>>> {
    let longest = inputs.iter().map(|input| input.bytes.len()).max().unwrap_or(0);
    let quiet = args.output.quiet || args.output.json;
    target::prepare(&args.target, &[Variant::Traced], &mut target::lines(quiet));
    let mut target = target::start(&args.target, longest)?;
    let mut covered = Vec::new();
    for input in inputs {
        observed::check(stop)?;
        covered.push(target.executor.run(&input.bytes, false)?.covered);
    }
    Ok(covered)
}

fn write(directory: &Path, files: &[OutputFile]) -> Result<()> {
    for file in files {
        let path = directory.join(&file.path);
        let parent = path.parent().map_or_else(PathBuf::new, Path::to_owned);
        let written = fs::create_dir_all(parent).and_then(|()| fs::write(&path, &file.bytes));
        written.with_context(|| format!("{}: cannot be written", path.display()))?;
    }
    Ok(())
}

fn report(
    args: &EmitArgs,
    suite: &Suite,
    files: &[OutputFile],
    (inputs, observed, grouped): (&[NamedInput], &[Observed], &[Grouped]),
) {
    let failures = suite.cases.iter().filter(|case| case.known_failure.is_some()).count();
    let tests = suite.cases.len() - failures;
    let unstable = inputs.iter().zip(observed).filter(|(_, observed)| !observed.is_stable());
    let unstable: Vec<String> =
        unstable.map(|(input, _)| input.path.display().to_string()).collect();
    let file = args.directory.join(files.first().map_or("", |file| &file.path));
    let commands = args.framework.commands(suite);
    if args.output.json {
        let line = json!({
            "inputs": inputs.len(), "tests": tests, "known_failures": failures,
            "unstable": unstable, "file": file, "run": commands,
        });
        return print(&line.to_string(), &args.output);
    }
    let same = inputs.len() - grouped.len();
    let mut lines = vec![format!(
        "{} inputs: {tests} tests, {failures} known failures; {same} inputs do what others do",
        inputs.len()
    )];
    lines.extend(unstable_line(&unstable));
    lines.push(format!("written: {}; review it, then run:", file.display()));
    lines.extend(commands.iter().map(|command| format!("    {command}")));
    print_all(&lines, &args.output);
}

fn unstable_line(unstable: &[String]) -> Option<String> {
    let first = unstable.first()?;
    let more = match unstable.len() - 1 {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    Some(format!("not the same in each run, so not asserted in full: {first}{more}"))
}

fn print_all(lines: &[String], output: &OutputArgs) {
    lines.iter().for_each(|line| print(line, output));
}
