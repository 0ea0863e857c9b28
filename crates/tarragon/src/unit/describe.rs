//! Runs one input of each path again, in the program itself, to see what it is and what comes of
//! it.

use std::collections::{BTreeMap, HashSet};

use anyhow::{Context, Result};
use runner::{Limits, PlainRunner, Sandbox, TargetOptions};
use search::Executor as _;
use unit::{Case, Described};

use super::UnitArgs;
use super::build::Built;
use super::code::Code;
use super::explore::Explored;
use super::merge::{self, Seen};
use super::paths::Kept;
use super::results::{Function, Other, Outcome, Row};
use crate::args::{SanitizerName, Switch};

pub(crate) fn describe(
    args: &UnitArgs,
    code: &Code,
    built: &Built,
    number: usize,
    mut explored: Explored,
) -> Result<Function> {
    let subject = &built.harness.subjects[number];
    let function = &subject.function;
    let mut runners = Runners {
        first: runner(args, built, number, ("a", &[]))?,
        again: runner(args, built, number, ("a", &OTHER_HEAP))?,
        second: (subject.against.as_ref())
            .map(|_| runner(args, built, number, ("b", &[])))
            .transpose()?,
        tolerance: args.tolerance,
    };
    let directory = args.out.join(&function.name).join("paths");
    std::fs::create_dir_all(&directory)
        .with_context(|| format!("{}: cannot be made", directory.display()))?;
    let (mut seen, mut of_bugs) = (Vec::new(), Vec::new());
    for Candidate { input, path, is_worse } in candidates(&explored) {
        let Some(row) = runners.row(code, function, &input)? else { continue };
        let covered = covered(&mut explored, &input)?;
        // What only sanitizers see would be taken for another value that says nothing new.
        match path.filter(|_| !is_worse || row.outcome.kind != "returned") {
            None => of_bugs.push(Seen { input, path: None, covered, row }),
            path => seen.push(Seen { input, path, covered, row }),
        }
    }
    seen.append(&mut of_bugs);
    let mut rows = Vec::new();
    for Seen { input, mut row, .. } in merge::distinct(seen) {
        row.number = rows.len() + 1;
        row.input = format!("{}/paths/{:06}", function.name, row.number);
        if !args.checks.sanitizer.contains(&SanitizerName::Off) {
            row.outcome.reports = reports(&mut explored, &input)?;
        }
        std::fs::write(args.out.join(&row.input), &input)
            .with_context(|| format!("{}: cannot be written", row.input))?;
        rows.push(row);
    }
    Ok(Function {
        name: function.name.clone(),
        prototype: code.program.prototype(function),
        result: function
            .signature
            .result
            .map(|ty| code.program.spell(code.program.unqualified(ty))),
        is_static: !function.is_external,
        source: function.place.file.clone(),
        line: function.place.line,
        against: subject.against.clone(),
        complete: explored.is_complete,
        completeness: explored.claim,
        runs: explored.runs,
        seconds: explored.seconds,
        differences: differences(&rows),
        paths: rows,
    })
}

/// An input that may have a row.
struct Candidate {
    input: Vec<u8>,
    /// `None` for the input of a bug that is none of those of paths.
    path: Option<u64>,
    /// It shows a bug, and another input of its path shows none.
    is_worse: bool,
}

/// Of all paths, and of bugs on these that other inputs show.
fn candidates(explored: &Explored) -> Vec<Candidate> {
    let bugs: HashSet<&Vec<u8>> = explored.bugs.iter().collect();
    let paths = || explored.inputs.iter();
    let is_well = |kept: &&Kept| !bugs.contains(&kept.input);
    let shown_well: HashSet<u64> = paths().filter(is_well).map(|kept| kept.path).collect();
    let of_paths = paths().map(|kept| Candidate {
        input: kept.input.clone(),
        path: Some(kept.path),
        is_worse: !is_well(&kept) && shown_well.contains(&kept.path),
    });
    let known: HashSet<&Vec<u8>> = paths().map(|kept| &kept.input).collect();
    let others = explored.bugs.iter().filter(|input| !known.contains(input));
    let of_bugs =
        others.map(|input| Candidate { input: input.clone(), path: None, is_worse: true });
    of_paths.chain(of_bugs).collect()
}

/// The branch outcomes of the code under test that a run takes.
fn covered(explored: &mut Explored, input: &[u8]) -> Result<Vec<u32>> {
    let mut covered = explored.target.executor.run(input, false)?.covered;
    covered.retain(|outcome| !explored.harness.contains(outcome));
    Ok(covered)
}

/// The C library fills memory that is new or freed with other bytes, so that what depends on it is
/// not the same.
const OTHER_HEAP: [(&str, &str); 1] = [(
    "GLIBC_TUNABLES",
    "glibc.malloc.tcache_count=0:glibc.malloc.mxfast=0:glibc.malloc.perturb=165",
)];

fn runner(
    args: &UnitArgs,
    built: &Built,
    number: usize,
    (side, environment): (&str, &[(&str, &str)]),
) -> Result<PlainRunner> {
    let variable = |(name, value): &(&str, &str)| (name.into(), value.into());
    let options = TargetOptions {
        arguments: vec![number.to_string().into(), side.into()],
        environment: environment.iter().map(variable).collect(),
        capture_stdout: true,
        sandbox: if args.confinement.sandbox == Switch::On { Sandbox::On } else { Sandbox::Off },
        readable: args.confinement.read.clone(),
        limits: Limits {
            run_time: args.confinement.timeout,
            memory: args.confinement.memory,
            address_space_allowance: Some(0),
            ..Limits::default()
        },
        ..TargetOptions::new(&built.program)
    };
    Ok(PlainRunner::new(options)?)
}

struct Runners {
    first: PlainRunner,
    /// The same with another heap.
    again: PlainRunner,
    second: Option<PlainRunner>,
    tolerance: f64,
}

impl Runners {
    /// `None` for arguments that are not of interest.
    fn row(&mut self, code: &Code, function: &unit::Function, input: &[u8]) -> Result<Option<Row>> {
        let (described, outcome) = run(&mut self.first, input)?;
        if described.unmet {
            return Ok(None);
        }
        let mut case = Case::new(&code.program, function, &described);
        let (again, _) = run(&mut self.again, input)?;
        case.compare_runs(&Case::new(&code.program, function, &again));
        let shape = described.shape(&code.program);
        let mut against = None;
        if let Some(second) = &mut self.second {
            let (other, other_outcome) = run(second, input)?;
            let other_case = Case::new(&code.program, function, &other);
            let mut differs = Vec::new();
            if outcome != other_outcome {
                differs.push("outcome");
            } else {
                let difference = unit::compare(&code.program, &described, &other, self.tolerance);
                differs.extend(difference.result.then_some("result"));
                differs.extend(difference.memory.then_some("memory"));
            }
            let Case { result, writes, .. } = other_case;
            against = Some(Other { result, writes, outcome: other_outcome, differs });
        }
        let input = String::new();
        Ok(Some(Row { number: 0, of_bug: false, input, shape, case, outcome, against }))
    }
}

fn run(runner: &mut PlainRunner, input: &[u8]) -> Result<(Described, Outcome)> {
    let run = runner.run(input)?;
    let described = Described::parse(&run.stdout);
    let outcome = outcome(&described, run.outcome);
    Ok((described, outcome))
}

fn outcome(described: &Described, ended: search::Outcome) -> Outcome {
    let of = |kind| Outcome { kind, ..Outcome::default() };
    if described.violated {
        return of("violated");
    }
    if described.stopped.is_some() {
        return of("stopped");
    }
    match ended {
        _ if described.returned => of("returned"),
        search::Outcome::Exit(code) => Outcome { code: Some(code), ..of("exited") },
        search::Outcome::Timeout => of("timeout"),
        other => Outcome { signal: Some(other.to_string()), ..of("crashed") },
    }
}

/// What a build that checks more says of the input.
fn reports(explored: &mut Explored, input: &[u8]) -> Result<Vec<String>> {
    let diagnoses = explored.target.executor.examine(input)?;
    // What the harness itself ends is told otherwise.
    let is_own = |diagnosis: &search::Diagnosis| {
        const ENDS: [&str; 3] = ["tg_violated", "tg_differ_in_result", "tg_differ_in_memory"];
        diagnosis.frames.iter().any(|frame| ENDS.contains(&frame.function.as_str()))
    };
    let text = |diagnosis: search::Diagnosis| {
        let frame = diagnosis.frames.iter().find(|frame| !frame.place.contains(unit::FILE));
        let place = frame.map(|frame| format!(" in {} ({})", frame.place, frame.function));
        format!("{}{}", diagnosis.kind, place.unwrap_or_default())
    };
    let mut texts: Vec<String> =
        diagnoses.into_iter().filter(|diagnosis| !is_own(diagnosis)).map(text).collect();
    texts.dedup();
    Ok(texts)
}

/// Rows by what differs, those that are simplest first.
fn differences(rows: &[Row]) -> BTreeMap<String, Vec<usize>> {
    let mut groups: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for row in rows {
        let differs = row.against.as_ref().map_or(&[][..], |other| &other.differs);
        if !differs.is_empty() {
            groups.entry(differs.join(" and ")).or_default().push(row.number);
        }
    }
    let size = |number: &usize| {
        rows[*number - 1].case.arguments.iter().map(|named| named.value.text.len()).sum::<usize>()
    };
    groups.values_mut().for_each(|numbers| numbers.sort_by_key(size));
    groups
}
