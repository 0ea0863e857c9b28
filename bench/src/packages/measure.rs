//! What is measured of one package: likeness, coverage, slowdown.

use super::list::Package;
use super::tree::{Compilers, Tree, tool};
use crate::usage;
use anyhow::{Context as _, Result, ensure};
use compiler::DeriveOptions;
use executor::Traced;
use runner::Runner;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::Duration;

/// Bytes of the sample for the comparisons of speed: on concrete data at least, doubled until the
/// plain program is busy for [`BUSY`] with it, and at most.
const CONCRETE: usize = 1_000_000;
const MAX_CONCRETE: usize = 32 * CONCRETE;
const BUSY: Duration = Duration::from_millis(80);
const SYMBOLIC: usize = 10_000;
/// How often each time is taken; the least counts, because other load only adds to it.
const RUNS: usize = 12;
/// The same for runs of the short sample, traced and native, which vary by a factor of two from one
/// to the next.
const TRACED_RUNS: usize = 60;
const SHORT_RUNS: usize = 300;

/// A line of the table.
pub struct Row {
    /// How many lines the package's own tests print, or how they differ from clang's.
    pub tests: String,
    /// Inputs on which the traced variant behaved as the plain program, of all.
    pub alike: (usize, usize),
    pub outcomes: u64,
    pub before: u64,
    pub after: u64,
    pub runs: u64,
    pub give_ups: BTreeMap<String, u64>,
    pub fixed_values: u64,
    pub concrete: Slowdown,
    pub symbolic: Slowdown,
}

/// Against the plain program, or why it was not measured.
pub enum Slowdown {
    Times(f64),
    NotMeasured(String),
}

pub fn row(package: &Package, time: Duration, work: &Path) -> Result<Row> {
    let (clang, tarragon) = trees(package, work)?;
    let subject = Subject::new(package, &clang, &tarragon)?;
    let [concrete, symbolic] = subject.slowdowns()?;
    let campaign = subject.fuzz(&["--time", &format!("{}s", time.as_secs())])?;
    let seed_only = subject.fuzz(&["--max-runs", "1"])?;
    Ok(Row {
        tests: compare_tests(&clang, &tarragon)?,
        alike: subject.alike()?,
        outcomes: campaign.coverage.total,
        before: seed_only.coverage.covered,
        after: campaign.coverage.covered,
        runs: campaign.runs,
        give_ups: campaign.give_ups,
        fixed_values: campaign.concretisations,
        concrete,
        symbolic,
    })
}

/// The slowdowns alone: on concrete data, and with all of the input symbolic.
pub fn slowdowns(package: &Package, work: &Path) -> Result<[Slowdown; 2]> {
    let (clang, tarragon) = trees(package, work)?;
    Subject::new(package, &clang, &tarragon)?.slowdowns()
}

/// Traces the sample and says what a byte of it costs.
pub fn traces(package: &Package, work: &Path, times: usize) -> Result<()> {
    let (clang, tarragon) = trees(package, work)?;
    let subject = Subject::new(package, &clang, &tarragon)?;
    let mut runner = subject.start()?;
    let text = package.sample.text(SYMBOLIC);
    let a_byte = |count: f64| count / text.len() as f64;
    let best = subject.symbolic(times)?;
    let trace = runner.run(&text, true)?.trace.context("the trace is broken")?;
    let counts = [trace.recorded.nodes.len(), trace.events.len()];
    let [nodes, events] = counts.map(|count| a_byte(count as f64));
    let time = a_byte(best.as_secs_f64() * 1e9);
    println!(
        "  a byte: {time:.0} ns, {nodes:.1} expressions, {events:.1} events; {} shapes",
        trace.recorded.shapes.len()
    );
    Ok(())
}

fn trees<'a>(package: &'a Package, work: &Path) -> Result<(Tree<'a>, Tree<'a>)> {
    let build = |compilers| Tree::build(package, compilers, work);
    Ok((build(Compilers::Clang)?, build(Compilers::Tarragon)?))
}

fn slowdown(measured: Result<f64>) -> Slowdown {
    measured.map_or_else(|error| Slowdown::NotMeasured(format!("{error:#}")), Slowdown::Times)
}

fn compare_tests(clang: &Tree, tarragon: &Tree) -> Result<String> {
    if !clang.has_tests() {
        return Ok("none in the source".to_owned());
    }
    let (plain, ours) = (clang.test()?, tarragon.test()?);
    let lines = plain.0.lines().count();
    Ok(match plain == ours {
        true => format!("same ({lines} lines)"),
        false => {
            let first = plain.0.lines().zip(ours.0.lines()).find(|(a, b)| a != b);
            let (a, b) = first.unwrap_or(("one output is longer", "or another exit code"));
            format!("differ: `{a}`, `{b}`")
        }
    })
}

/// The part of a campaign's statistics that the table shows.
#[derive(Deserialize)]
struct Statistics {
    runs: u64,
    coverage: Coverage,
    give_ups: BTreeMap<String, u64>,
    concretisations: u64,
}

#[derive(Deserialize)]
struct Coverage {
    covered: u64,
    total: u64,
}

struct Subject<'a> {
    package: &'a Package,
    /// Built by clang.
    plain: PathBuf,
    /// Built by Tarragon.
    program: PathBuf,
    traced: Traced,
    scratch: tempfile::TempDir,
}

impl<'a> Subject<'a> {
    fn new(package: &'a Package, clang: &Tree, tarragon: &Tree) -> Result<Subject<'a>> {
        let program = tarragon.program()?;
        let traced = Traced::derive(&program, &DeriveOptions::from_environment()?)?;
        Ok(Subject {
            package,
            plain: clang.program()?,
            program,
            traced,
            scratch: tempfile::tempdir()?,
        })
    }

    fn fuzz(&self, limit: &[&str]) -> Result<Statistics> {
        let seeds = self.scratch.path().join("seeds");
        std::fs::create_dir_all(&seeds)?;
        std::fs::write(seeds.join("seed"), self.package.seed)?;
        let out = self.scratch.path().join(limit.concat());
        let mut command = Command::new(tool("tarragon")?);
        command.args(["fuzz", "--quiet", "--seeds"]).arg(&seeds).arg("--out").arg(&out).args(limit);
        let output = command.arg("--").arg(&self.program).args(self.package.arguments).output()?;
        let statistics = std::fs::read(out.join("stats.json"))
            .with_context(|| format!("no campaign: {}", String::from_utf8_lossy(&output.stderr)))?;
        Ok(serde_json::from_slice(&statistics)?)
    }

    /// On how many inputs the variant behaves as the program.
    fn alike(&self) -> Result<(usize, usize)> {
        let inputs = self.package.inputs.iter().map(|text| text.as_bytes().to_vec());
        let inputs: Vec<_> = inputs.chain([self.package.sample.text(SYMBOLIC)]).collect();
        let mut same = 0;
        for input in &inputs {
            let behaviour = |program: &Path| -> Result<_> {
                let output = self.command(program, input)?.output()?;
                Ok((output.status, output.stdout))
            };
            same += usize::from(behaviour(&self.program)? == behaviour(&self.traced.executable)?);
        }
        Ok((same, inputs.len()))
    }

    /// The program on an input, outside of any sandbox: only for inputs of the list.
    fn command(&self, program: &Path, input: &[u8]) -> Result<Command> {
        let file = self.scratch.path().join("input");
        std::fs::write(&file, input)?;
        let mut command = Command::new(program);
        let in_file = self.package.arguments.contains(&"@@");
        let arguments = self.package.arguments.iter();
        command.args(
            arguments.map(|word| if *word == "@@" { file.as_os_str() } else { word.as_ref() }),
        );
        command.stdin(if in_file { Stdio::null() } else { std::fs::File::open(&file)?.into() });
        command.stderr(Stdio::null());
        Ok(command)
    }

    /// Processor time of programs for the sample, their start not counted. They take turns, so that
    /// a busy machine is equally busy for all of them.
    fn times<const N: usize>(
        &self,
        programs: [&Path; N],
        len: usize,
        runs: usize,
    ) -> Result<[Duration; N]> {
        let mut best = [[Duration::MAX; 2]; N];
        for _ in 0..runs {
            for (program, best) in programs.iter().zip(&mut best) {
                for (len, best) in [len, 0].into_iter().zip(best) {
                    *best = (*best).min(self.time(program, len)?);
                }
            }
        }
        Ok(best.map(|[long, short]| long.saturating_sub(short)))
    }

    fn time(&self, program: &Path, len: usize) -> Result<Duration> {
        let mut command = self.command(program, &self.package.sample.text(len))?;
        let before = usage::children_time();
        command.stdout(Stdio::null()).status()?;
        Ok(usage::children_time() - before)
    }

    /// How much of the sample keeps the plain program busy, if it does not refuse that much: lua
    /// has limits.
    fn concrete_len(&self) -> Result<usize> {
        let usual = self.status(CONCRETE)?;
        let mut len = CONCRETE;
        while len < MAX_CONCRETE
            && self.times([&self.plain], len, 2)?[0] < BUSY
            && self.status(2 * len)? == usual
        {
            len *= 2;
        }
        Ok(len)
    }

    fn status(&self, len: usize) -> Result<ExitStatus> {
        let mut command = self.command(&self.plain, &self.package.sample.text(len))?;
        Ok(command.stdout(Stdio::null()).status()?)
    }

    /// On concrete data and with all of the input symbolic, each against the plain program on the
    /// same text.
    fn slowdowns(&self) -> Result<[Slowdown; 2]> {
        let len = self.concrete_len()?;
        let [ours, native] = self.times([&self.traced.executable, &self.plain], len, RUNS)?;
        let [short] = self.times([&self.plain], SYMBOLIC, SHORT_RUNS)?;
        let symbolic = self.symbolic(TRACED_RUNS);
        if let Ok(symbolic) = symbolic {
            let a_byte = |time: Duration, len: usize| time.as_secs_f64() * 1e9 / len as f64;
            let (rate, symbolic) = (a_byte(native, len), a_byte(symbolic, SYMBOLIC));
            println!(
                "  ns a byte: native {rate:.1} on {len} bytes, {:.1} on {SYMBOLIC}; symbolic \
                 {symbolic:.0}, {:.1} times the rate of the long text",
                a_byte(short, SYMBOLIC),
                symbolic / rate
            );
        }
        Ok([slowdown(ratio(ours, native)), slowdown(symbolic.and_then(|time| ratio(time, short)))])
    }

    /// Processor time of a run with all of the input symbolic, its start not counted.
    fn symbolic(&self, times: usize) -> Result<Duration> {
        let mut runner = self.start()?;
        let texts = [SYMBOLIC, 0].map(|len| self.package.sample.text(len));
        let mut best = [Duration::MAX; 2];
        for _ in 0..times {
            for (text, best) in texts.iter().zip(&mut best) {
                *best = (*best).min(traced_time(&mut runner, text)?);
            }
        }
        Ok(best[0].saturating_sub(best[1]))
    }

    fn start(&self) -> Result<Runner> {
        let arguments = self.package.arguments.iter().map(Into::into).collect();
        Ok(Runner::start(self.traced.options(arguments, Duration::from_secs(30)))?)
    }
}

/// Processor time of a run with all of the input symbolic, in a process that takes several inputs,
/// as in a campaign.
fn traced_time(runner: &mut Runner, input: &[u8]) -> Result<Duration> {
    let run = runner.run_shared(input, true)?;
    let trace = run.trace.context("the trace is broken")?;
    ensure!(!trace.truncated, "the trace is full");
    Ok(run.cpu_time)
}

fn ratio(ours: Duration, native: Duration) -> Result<f64> {
    ensure!(!native.is_zero(), "too fast to measure");
    Ok(ours.as_secs_f64() / native.as_secs_f64())
}
