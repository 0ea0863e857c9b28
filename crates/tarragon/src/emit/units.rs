//! The results of `tarragon unit` as tests that call the functions.
//!
//! Nothing runs here: each row of the tables is a test, with the values in C that `unit.json` has.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Component, Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use emit::{Allocated, Argument, Linked, MadeUpFunction, Patch, Queue, STOPPED, Set};
use emit::{Framework, Names, OutputFile, render_units, slug};
use emit::{UnitCase, UnitSuite};
use serde::Deserialize;
use serde_json::json;
use unit::{Case, How, MadeUp, Observed, Unsaid, is_unnamed};

use super::{print_all, write};
use crate::Verdict;
use crate::args::EmitArgs;
use crate::replay::print;

/// What is read of `unit.json`.
#[derive(Debug, Deserialize)]
struct Results {
    file: String,
    kind: String,
    files: Vec<PathBuf>,
    options: Vec<String>,
    has_main: bool,
    check: Vec<String>,
    made_up: Vec<MadeUp>,
    declarations: String,
    functions: Vec<Function>,
}

#[derive(Debug, Deserialize)]
struct Function {
    name: String,
    is_static: bool,
    source: String,
    against: Option<String>,
    result: Option<String>,
    paths: Vec<Row>,
}

#[derive(Debug, Deserialize)]
struct Row {
    number: usize,
    of_bug: bool,
    #[serde(flatten)]
    case: Case,
    outcome: Outcome,
    against: Option<Other>,
}

#[derive(Debug, Deserialize)]
struct Outcome {
    kind: String,
    signal: Option<String>,
    code: Option<i32>,
    reports: Vec<String>,
}

#[derive(Debug, Deserialize)]
struct Other {
    differs: Vec<String>,
}

const FILE: &str = "unit.json";
/// Calls were observed with a second; the machine may be slower, or busy.
const SECONDS: u64 = 10;

/// The one folder that is named, if it holds results of functions.
pub(super) fn folder(inputs: &[PathBuf]) -> Option<&Path> {
    inputs.iter().map(PathBuf::as_path).find(|folder| folder.join(FILE).is_file())
}

pub(super) fn emit(args: &EmitArgs, folder: &Path) -> Result<Verdict> {
    check(args, folder)?;
    let results = read(folder)?;
    ensure!(
        results.kind != "program" || args.framework == Framework::C,
        "{} holds tests of functions of a linked program, in which a main of the tests' own takes \
         the place of the program's: give --as c, or run tarragon unit on sources, objects or \
         archives",
        folder.display()
    );
    ensure!(
        results.kind != "objects" || !results.has_main,
        "{} holds tests of functions of objects with a main of their own, so that tests cannot \
         have one; run tarragon unit on the sources, or on the linked program",
        folder.display()
    );
    // The way from it to the sources is known only once it is there.
    fs::create_dir_all(&args.directory)
        .with_context(|| format!("{}: cannot be made", args.directory.display()))?;
    let (suite, left_out) = suite(args, folder, &results)?;
    let files = render_units(&suite, args.framework)?;
    write(&args.directory, &files)?;
    report(args, &suite, &files, &left_out);
    Ok(Verdict::NoBug)
}

/// What is said for programs has no meaning here.
fn check(args: &EmitArgs, folder: &Path) -> Result<()> {
    let name = folder.display();
    if !Framework::FOR_FUNCTIONS.contains(&args.framework) {
        let names = Framework::FOR_FUNCTIONS.map(Framework::name).join(", ");
        bail!(
            "{name} holds tests of C functions, which tests in {} cannot call; give --as with one \
             of {names}",
            args.framework.name()
        );
    }
    ensure!(args.inputs.len() == 1, "{name} holds tests of functions: emit it alone");
    ensure!(
        args.target.command.is_empty(),
        "{name} holds tests of functions, which need no program: leave out what stands after --"
    );
    ensure!(
        !(args.all || args.by_output || args.stderr),
        "{name} holds tests of functions: --all, --by-output and --stderr are for programs"
    );
    Ok(())
}

fn read(folder: &Path) -> Result<Results> {
    let path = folder.join(FILE);
    let text = fs::read(&path).with_context(|| format!("{}: cannot be read", path.display()))?;
    serde_json::from_slice(&text).with_context(|| {
        format!(
            "{}: is not what this tarragon unit writes; run it again with another --out",
            path.display()
        )
    })
}

/// The tests, and the rows that C source cannot repeat, with the reasons.
fn suite(args: &EmitArgs, folder: &Path, results: &Results) -> Result<(UnitSuite, Vec<String>)> {
    let stem = Path::new(&results.file).file_stem().unwrap_or_default();
    let name = match slug(stem.as_encoded_bytes()) {
        Some(name) if name.starts_with(|c: char| c.is_ascii_alphabetic()) => name,
        name => format!("unit_{}", name.unwrap_or_default()),
    };
    let is_source = results.kind == "sources";
    let (tests, here) = (args.directory.canonicalize()?, Path::new(".").canonicalize()?);
    let files = |from: &Path| -> Vec<String> {
        results.files.iter().map(|file| relative(from, file).display().to_string()).collect()
    };
    let (mut names, mut cases, mut left_out) = (Names::default(), Vec::new(), Vec::new());
    for function in &results.functions {
        for row in &function.paths {
            match why_not_called(results, function).or(why_not(row, is_source)) {
                Some(why) => {
                    left_out.push(format!("path {} of {}: {why}", row.number, function.name));
                }
                None => cases.push(case(results, function, row, &mut names)),
            }
        }
    }
    let made_up = results.made_up.iter().map(|made| MadeUpFunction {
        name: made.name.clone(),
        prototype: made.prototype.clone(),
        result: made.result.clone(),
        is_callback: made.is_callback,
        returns: made.returns,
    });
    let suite = UnitSuite {
        name,
        program: results.file.clone(),
        directory: args.directory.display().to_string(),
        origin: folder.display().to_string(),
        sources: if is_source { files(&tests) } else { Vec::new() },
        declarations: results.declarations.clone(),
        objects: if results.kind == "objects" { files(&here) } else { Vec::new() },
        linked: (results.kind == "program").then(|| linked(results, files(&here))),
        options: results.options.clone(),
        seconds: SECONDS,
        made_up: made_up.collect(),
        cases,
    };
    Ok((suite, left_out))
}

/// The way from a directory to a file; both are absolute.
fn relative(from: &Path, to: &Path) -> PathBuf {
    let (from, to): (Vec<Component<'_>>, Vec<Component<'_>>) =
        (from.components().collect(), to.components().collect());
    let common = from.iter().zip(&to).take_while(|(one, other)| one == other).count();
    let up = from[common..].iter().map(|_| Component::ParentDir);
    up.chain(to[common..].iter().copied()).collect()
}

/// The tests may name what is static in the program.
fn linked(results: &Results, files: Vec<String>) -> Linked {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let checked = results.check.iter().flat_map(|check| check.split(|c| !is_word(c)));
    let checked = checked.filter(|word| word.starts_with(|c: char| !c.is_ascii_digit()));
    let functions = results.functions.iter();
    let globals = functions.clone().flat_map(|function| {
        let rows = function.paths.iter().flat_map(|row| &row.case.globals);
        rows.map(|global| global.name.as_str())
    });
    let functions = functions.map(|function| function.name.as_str());
    let opened: BTreeSet<&str> = functions.chain(globals).chain(checked).collect();
    Linked {
        program: files.into_iter().next().unwrap_or_default(),
        opened: opened.into_iter().map(str::to_owned).collect(),
    }
}

/// Why no other object can call the function.
fn why_not_called(results: &Results, function: &Function) -> Option<String> {
    let source = &function.source;
    (function.is_static && results.kind == "objects").then(|| {
        format!("it is static, so no test can link it; run tarragon unit on its source {source}")
    })
}

/// Why C source cannot make the same call.
fn why_not(row: &Row, is_source: bool) -> Option<String> {
    let Case { arguments, globals, made, objects, .. } = &row.case;
    let named = arguments.iter().chain(globals).chain(made).map(|named| &named.value.c);
    if named.chain(objects.iter().map(|object| &object.c)).any(|c| is_unnamed(c)) {
        return Some("a pointer leads to memory that was made during the call".to_owned());
    }
    // Only where the types are declared again do these have a name.
    let has_no_name = |text: &String| is_source && text.contains(" tg_type_");
    let types = arguments.iter().chain(made).map(|named| &named.value.ty);
    let types = types.chain(objects.iter().map(|object| &object.pointer));
    { types }.any(has_no_name).then(|| "a type of its arguments has no name".to_owned())
}

fn case(results: &Results, function: &Function, row: &Row, names: &mut Names) -> UnitCase {
    let known_failure = known_failure(results, &row.outcome);
    let patches = patches(results, function, row);
    let Case { arguments, objects, globals, .. } = &row.case;
    let locals: Vec<String> =
        arguments.iter().map(|argument| local(function, row, &argument.name)).collect();
    let arguments = arguments.iter().zip(&locals);
    let (returns, exit) = match (&*row.outcome.kind, row.outcome.code) {
        ("exited", Some(code)) => (false, code),
        ("stopped", _) => (false, STOPPED),
        _ => (true, 0),
    };
    UnitCase {
        name: names.free(&format!("test_{}_path_{}", function.name, row.number)),
        remarks: remarks(function, row),
        objects: objects
            .iter()
            .map(|object| Allocated {
                name: object.name.clone(),
                pointer: object.pointer.clone(),
                count: object.count,
                c: object.c.clone(),
            })
            .collect(),
        globals: globals
            .iter()
            .map(|global| Set { name: global.name.clone(), c: global.value.c.clone() })
            .collect(),
        made: queues(results, row),
        arguments: arguments
            .map(|(argument, local)| Argument {
                declaration: declaration(&argument.value.ty, local),
                c: argument.value.c.clone(),
            })
            .collect(),
        patches,
        call: format!("{}({})", function.name, locals.join(", ")),
        result: function.result.as_ref().map(|ty| declaration(ty, "result")),
        checks: checks(results, row, known_failure.is_some()),
        is_survived: known_failure.is_some() && row.outcome.kind == "returned",
        known_failure,
        returns,
        exit,
    }
}

/// A name for an argument that hides nothing that the test uses: a type, a constant, an object.
fn local(function: &Function, row: &Row, name: &str) -> String {
    let Case { objects, globals, arguments, made, .. } = &row.case;
    let named = arguments.iter().chain(globals).chain(made);
    let texts = named.flat_map(|named| [&named.value.ty, &named.value.c]);
    let texts = texts.chain(objects.iter().flat_map(|object| [&object.pointer, &object.c]));
    let texts = texts.chain(row.case.returned.iter().chain(written(row)).map(|one| &one.c));
    let is_taken = name == function.name
        || (name == "result" && function.result.is_some())
        || globals.iter().any(|global| global.name == name)
        || { texts.chain(&function.result) }.any(|text| has_word(text, name));
    if is_taken { format!("{name}_argument") } else { name.to_owned() }
}

/// Tags have names of their own.
fn has_word(text: &str, word: &str) -> bool {
    let mut before = "";
    text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|one| !one.is_empty()).any(
        |one| {
            let is_tag = ["struct", "union", "enum"].contains(&before);
            before = one;
            one == word && !is_tag
        },
    )
}

/// What initialisers cannot say of all values before the call.
fn patches(results: &Results, function: &Function, row: &Row) -> Vec<Patch> {
    let Case { arguments, objects, globals, made, .. } = &row.case;
    let of = |to: String, unsaid: &[Unsaid]| -> Vec<Patch> {
        let patch = |Unsaid { at, c }: &Unsaid| Patch { to: to.clone(), at: *at, c: c.clone() };
        unsaid.iter().map(patch).collect()
    };
    let mut all: Vec<Patch> = Vec::new();
    for object in objects {
        all.extend(of(object.name.clone(), &object.unsaid));
    }
    for argument in arguments {
        let local = local(function, row, &argument.name);
        all.extend(of(format!("&{local}"), &argument.value.unsaid));
    }
    for global in globals {
        all.extend(of(format!("&{}", global.name), &global.value.unsaid));
    }
    for name in results.made_up.iter().map(|made| &made.name) {
        let own = made.iter().filter(|value| value.name == *name);
        for (at, value) in own.enumerate() {
            all.extend(of(format!("&tg_next_{name}[{at}]"), &value.value.unsaid));
        }
    }
    all
}

fn declaration(ty: &str, name: &str) -> String {
    match ty.contains(['(', '[']) {
        true => format!("__typeof__({ty}) {name}"),
        false if ty.ends_with('*') => format!("{ty}{name}"),
        false => format!("{ty} {name}"),
    }
}

fn queues(results: &Results, row: &Row) -> Vec<Queue> {
    let queue = |made: &MadeUp| {
        let own = row.case.made.iter().filter(|value| value.name == made.name);
        let values: Vec<String> = own.map(|value| value.value.c.clone()).collect();
        let (name, result) = (made.name.clone(), made.result.clone()?);
        (!values.is_empty()).then_some(Queue { name, result, values })
    };
    results.made_up.iter().filter_map(queue).collect()
}

/// Where a bug is, nothing that the call does is right but that a property may hold.
fn checks(results: &Results, row: &Row, is_bug: bool) -> Vec<String> {
    if row.outcome.kind == "violated" {
        return results.check.iter().map(|check| format!("TG_CHECK({check})")).collect();
    }
    if is_bug || row.outcome.kind != "returned" {
        return Vec::new();
    }
    returned(row).chain(written(row).filter(|one| is_asserted(one))).map(check_of).collect()
}

fn returned(row: &Row) -> impl Iterator<Item = &Observed> {
    row.case.returned.iter().filter(|observed| !observed.varies)
}

fn written(row: &Row) -> impl Iterator<Item = &Observed> {
    row.case.writes.iter().map(|write| &write.observed)
}

/// What looks like a pointer to unknown memory may be memory that was freed.
fn is_asserted(written: &Observed) -> bool {
    !written.varies && written.how != How::Set
}

fn check_of(Observed { c_target, c, how, .. }: &Observed) -> String {
    match how {
        How::Equal => format!("TG_CHECK({c_target} == {c})"),
        How::Nan => format!("TG_CHECK({c_target} != {c_target})"),
        How::Pointer => format!("TG_SAME_POINTER({c_target}, {c})"),
        How::Set => format!("TG_CHECK({c_target} != 0)"),
        How::Text => format!("TG_SAME_TEXT({c_target}, {c})"),
    }
}

fn known_failure(results: &Results, outcome: &Outcome) -> Option<String> {
    let reports = outcome.reports.join("; ");
    match &*outcome.kind {
        "crashed" => {
            let signal = outcome.signal.clone().unwrap_or_else(|| "it crashes".to_owned());
            Some(if reports.is_empty() { signal } else { format!("{signal}: {reports}") })
        }
        "timeout" => Some("it does not end in time".to_owned()),
        "violated" => Some(format!("this does not hold: {}", results.check.join(" && "))),
        _ if !reports.is_empty() => Some(format!("{reports} (in builds with sanitizers)")),
        _ => None,
    }
}

fn remarks(function: &Function, row: &Row) -> Vec<String> {
    let Row { number, case, outcome, .. } = row;
    let of = match row.of_bug {
        true => "another input of a bug",
        false => "a path",
    };
    let arguments = match case.arguments_text() {
        text if text.is_empty() => "no arguments".to_owned(),
        text => text,
    };
    let is_bug =
        !outcome.reports.is_empty() || matches!(&*outcome.kind, "crashed" | "timeout" | "violated");
    let review = if is_bug { "A bug" } else { "Observed, review" };
    let mut remarks =
        vec![format!("{review}: row {number} of {}, {of}, with {arguments}.", function.name)];
    if outcome.kind == "returned" && !is_bug {
        let returned = case.returned.iter().filter(|observed| observed.varies);
        let others = returned.chain(written(row).filter(|one| !is_asserted(one)));
        remarks.extend(others.map(|observed| {
            let what = &observed.c_target;
            format!("Not asserted, as it may not be the same in another run: {what}.")
        }));
    }
    let differs = row.against.as_ref().map_or(&[][..], |other| &other.differs);
    if let (Some(other), false) = (&function.against, differs.is_empty()) {
        remarks.push(format!("Here {other} differs in {}.", differs.join(" and ")));
    }
    remarks
}

fn report(args: &EmitArgs, suite: &UnitSuite, files: &[OutputFile], left_out: &[String]) {
    let failures = suite.cases.iter().filter(|case| case.known_failure.is_some()).count();
    let tests = suite.cases.len() - failures;
    let paths = suite.cases.len() + left_out.len();
    let file = args.directory.join(files.first().map_or("", |file| &file.path));
    let commands = args.framework.unit_commands(suite);
    if args.output.json {
        let line = json!({
            "inputs": paths, "tests": tests, "known_failures": failures, "left_out": left_out,
            "unstable": [], "file": file, "run": commands,
        });
        return print(&line.to_string(), &args.output);
    }
    let mut lines = vec![format!("{paths} paths: {tests} tests, {failures} known failures")];
    lines.extend(left_out.iter().map(|text| format!("left out: {text}")));
    lines.push(format!("written: {}; review it, then run:", file.display()));
    lines.extend(commands.iter().map(|command| format!("    {command}")));
    print_all(&lines, &args.output);
}
