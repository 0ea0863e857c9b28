//! The oracle of the engine: all inputs were run natively, so all leaves are known.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fmt;
use std::ops::Range;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use campaign::{WallClock, built_in_seeds};
use cases::{Silent, Tracer};
use grammar::language::Language;
use grammar::symbolic::{Measure, Options, Sizes, Symbolic, symbolic};
use grammar_search::{Cese, CeseOptions};
use runner::{Limits as RunLimits, Runner, TargetOptions, default_capacities};
use search::{
    Claim, Engine, ExecError, Execution, Executor, Limits, Outcome, Results, Seed, Stop, Strategy,
    Whitebox, WhiteboxOptions, World,
};
use solver::ChainOptions;

use crate::ast::Program;
use crate::batch::{Batch, LONGEST, Leaves};
use crate::{Finding, Kind, Oracle};

/// Nothing is undefined in these programs, and no search needs as many runs.
const FLAGS: [&str; 2] = ["-O1", "-fwrapv"];
const MAX_RUNS: u64 = 800;
/// Inputs of one program that all ways to run it are compared on.
const COMPARED: usize = 16;

#[derive(Clone, Debug, Default)]
pub struct Summary {
    pub programs: u64,
    pub leaves: u64,
    pub searches: u64,
    pub complete: u64,
    pub runs: u64,
    pub compared: u64,
    /// What stood against completeness, with the number of searches.
    pub obstacles: BTreeMap<String, u64>,
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Summary { programs, leaves, searches, complete, runs, compared, .. } = self;
        writeln!(
            f,
            "engine: {programs} programs with {leaves} leaves, {searches} searches, {complete} \
             complete"
        )?;
        write!(f, "  {runs} runs; {compared} inputs run in all ways")?;
        let mut obstacles = self.obstacles.iter();
        obstacles.try_for_each(|(what, searches)| {
            write!(f, "\n  not complete, {searches} searches: {what}")
        })
    }
}

/// See the module.
pub struct EngineOracle;

impl Oracle for EngineOracle {
    const KIND: Kind = Kind::Engine;
    type Summary = Summary;

    fn judge(programs: &[Program], summary: &mut Summary) -> Result<Vec<Vec<Finding>>, String> {
        let batch = Batch::build(programs, &FLAGS)?;
        let subject = |number| Subject::new(&batch, number, &programs[number]);
        (0..programs.len()).map(|number| subject(number)?.judge(summary)).collect()
    }
}

/// How a search is asked for all paths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    /// `--fixed-len`.
    Fixed,
    /// `--max-len`.
    Free,
    /// `--strategy cese`.
    Cese,
}

impl Mode {
    fn name(self) -> &'static str {
        match self {
            Mode::Fixed => "fixed length",
            Mode::Free => "free length",
            Mode::Cese => "cese",
        }
    }

    fn lengths(self, bytes: usize) -> std::ops::RangeInclusive<usize> {
        match self {
            Mode::Fixed | Mode::Cese => bytes..=bytes,
            Mode::Free => 0..=bytes,
        }
    }
}

/// One program of a batch.
struct Subject<'b> {
    batch: &'b Batch,
    arguments: Vec<OsString>,
    bytes: usize,
    leaves: Leaves,
    findings: Vec<Finding>,
}

impl<'b> Subject<'b> {
    fn new(batch: &'b Batch, number: usize, program: &Program) -> Result<Subject<'b>, String> {
        let leaves = Leaves::enumerate(&batch.built.plain, number, program.bytes)?;
        let arguments = vec![number.to_string().into()];
        Ok(Subject { batch, arguments, bytes: program.bytes, leaves, findings: Vec::new() })
    }

    fn judge(mut self, summary: &mut Summary) -> Result<Vec<Finding>, String> {
        let reachable: BTreeSet<u32> =
            self.leaves.inputs(self.bytes).map(|(_, leaf)| leaf).collect();
        summary.programs += 1;
        summary.leaves += reachable.len() as u64;
        for mode in [Mode::Fixed, Mode::Free, Mode::Cese] {
            self.search(mode, summary)?;
        }
        self.compare(summary)?;
        Ok(self.findings)
    }

    fn find(&mut self, class: impl Into<String>, detail: String) {
        self.findings.push(Finding { class: class.into(), detail });
    }

    fn search(&mut self, mode: Mode, summary: &mut Summary) -> Result<(), String> {
        let mut tracer = Tracer::start(&self.batch.built, &self.arguments)?;
        let mut recorder = Recorder { tracer: &mut tracer, ran: Vec::new() };
        let found = match mode {
            Mode::Cese => {
                let grammar = free_bytes(self.bytes)?;
                let sizes = Sizes { measure: Measure::Length, max_lexeme: LONGEST };
                let options =
                    CeseOptions { sizes, largest: Some(self.bytes), shard: (0, 1), lengths: false };
                let mut cese = Cese::new(&grammar, &options).map_err(|error| error.to_string())?;
                self.explore(&mut recorder, &mut cese, Vec::new())
            }
            Mode::Fixed => {
                let holes = Some(std::iter::once(0..self.bytes).collect());
                let mut whitebox = Whitebox::new(WhiteboxOptions { holes, ..exhaustive() });
                let input = vec![b'a'; self.bytes];
                self.explore(
                    &mut recorder,
                    &mut whitebox,
                    vec![Seed { name: "buffer".to_owned(), input }],
                )
            }
            Mode::Free => {
                let mut whitebox = Whitebox::new(exhaustive());
                self.explore(&mut recorder, &mut whitebox, built_in_seeds(self.bytes))
            }
        };
        let ran = std::mem::take(&mut recorder.ran);
        let claim = match found {
            Ok(claim) => claim,
            Err(error) => {
                self.find(format!("{}, cannot run", mode.name()), error);
                return Ok(());
            }
        };
        summary.searches += 1;
        summary.complete += u64::from(claim.complete);
        summary.runs += ran.len() as u64;
        for obstacle in obstacles(&claim) {
            *summary.obstacles.entry(obstacle).or_default() += 1;
        }
        self.judge_search(mode, &claim, &ran);
        self.judge_predictions(mode, &claim);
        let faults = tracer.faults().to_vec();
        if let Some(fault) = faults.first() {
            self.find(format!("{}, wrong trace", mode.name()), fault.clone());
        }
        Ok(())
    }

    fn explore(
        &self,
        recorder: &mut Recorder<'_>,
        strategy: &mut dyn Strategy,
        seeds: Vec<Seed>,
    ) -> Result<Claim, String> {
        let sites = &self.batch.built.sites;
        let mut solver = smt::standard_chain(ChainOptions::default(), solver_limits());
        let stop = AtomicBool::new(false);
        let world = World {
            executor: recorder,
            solver: &mut solver,
            sites,
            clock: &WallClock::start(),
            observer: &mut Silent,
            stop: &stop,
        };
        let limits = Limits { time: None, runs: Some(MAX_RUNS), max_len: self.bytes };
        let (_, stop) = Engine::new(world, limits, 0, Results::new(sites)).search(strategy, seeds);
        match stop {
            Stop::Execution(error) => Err(error.to_string()),
            _ => strategy.claim().ok_or_else(|| "an exhaustive search claims nothing".to_owned()),
        }
    }

    fn judge_search(&mut self, mode: Mode, claim: &Claim, ran: &[(Vec<u8>, Outcome)]) {
        for (input, outcome) in ran {
            let expected = Outcome::Exit(exit_code(self.leaves.of(input)));
            if *outcome != expected {
                let detail =
                    format!("on {} it ends with {outcome}, natively with {expected}", shown(input));
                return self.find(format!("{}, wrong leaf", mode.name()), detail);
            }
        }
        let reached: BTreeSet<u32> = ran.iter().map(|(input, _)| self.leaves.of(input)).collect();
        let all = mode.lengths(self.bytes).flat_map(|len| self.leaves.inputs(len));
        let missed = all.into_iter().find(|(_, leaf)| !reached.contains(leaf));
        if let Some((input, _)) = missed.filter(|_| claim.complete) {
            let detail =
                format!("{} after {} runs, but never {}", claim.text, ran.len(), shown(&input));
            self.find(format!("{}, missed leaf", mode.name()), detail);
        }
    }

    /// Where nothing was given up, the trace of a run says all about its path, so that no run
    /// leaves a predicted one.
    fn judge_predictions(&mut self, mode: Mode, claim: &Claim) {
        let counts = &claim.counts;
        let imprecise =
            counts.runs_with_give_ups + counts.concretisations + counts.truncated_traces;
        if counts.divergences > 0 && imprecise == 0 {
            self.find(format!("{}, other path", mode.name()), claim.text.clone());
        }
    }

    /// One input for each leaf in labelled and concrete code, in processes of their own and in
    /// shared ones.
    fn compare(&mut self, summary: &mut Summary) -> Result<(), String> {
        let mut runs = Runs::start(self.batch, &self.arguments)?;
        for (leaf, input) in self.leaves.representatives(0..=self.bytes).into_iter().take(COMPARED)
        {
            let expected = Outcome::Exit(exit_code(leaf));
            let labelled = runs.run(&input, true, false)?;
            summary.compared += 1;
            for (way, symbolic, shared) in WAYS {
                let run = runs.run(&input, symbolic, shared)?;
                if run.outcome != expected {
                    let outcome = run.outcome;
                    let detail = format!("on {}: {outcome}, natively {expected}", shown(&input));
                    self.find(format!("{way}, wrong leaf"), detail);
                } else if run.covered != labelled.covered {
                    let detail =
                        format!("on {}: not as labelled code in a fresh process", shown(&input));
                    self.find(format!("{way}, other coverage"), detail);
                }
            }
        }
        Ok(())
    }
}

/// With labels or not, and in a shared process or not.
const WAYS: [(&str, bool, bool); 4] = [
    ("labelled in a fresh process", true, false),
    ("concrete in a fresh process", false, false),
    ("concrete in a shared process", false, true),
    ("labelled in a shared process", true, true),
];

fn exhaustive() -> WhiteboxOptions {
    WhiteboxOptions { exhaustive: true, ..WhiteboxOptions::default() }
}

/// Short: questions that need more are not what is tested, and would take most of the time. An
/// answer that is missing stands against completeness, so that no verdict depends on the limit.
fn solver_limits() -> smt::Limits {
    smt::Limits { time: Duration::from_millis(500), ..smt::Limits::default() }
}

/// The grammar of all inputs of a length, with a hole for each byte.
fn free_bytes(bytes: usize) -> Result<Symbolic, String> {
    let text = format!("s ={} ;\nb = /(?-u:[\\x00-\\xff])/ ;\n", " b".repeat(bytes));
    let read = grammar_formats::read_text("bytes.tg", &text, None);
    let read = read.map_err(|error| error.to_string())?;
    let language = Language::new(read.grammar).map_err(|error| error.to_string())?;
    symbolic(&language, &Options::default()).map_err(|error| error.to_string())
}

/// What the program makes of its leaf at the end.
fn exit_code(leaf: u32) -> i32 {
    leaf.to_le_bytes().into_iter().fold(0, |code, byte| code ^ i32::from(byte))
}

fn shown(input: &[u8]) -> String {
    format!("\"{}\"", input.escape_ascii())
}

/// What broke completeness, without the numbers.
fn obstacles(claim: &Claim) -> Vec<String> {
    let words = |cause: String| {
        cause.trim_start_matches(|c: char| c.is_ascii_digit() || c == ' ').to_owned()
    };
    let mut causes: Vec<String> = claim.counts.broken_by().into_iter().map(words).collect();
    if !claim.complete && causes.is_empty() {
        causes.push("stopped before all flips were tried".to_owned());
    }
    causes
}

/// Remembers what was run.
struct Recorder<'t> {
    tracer: &'t mut Tracer,
    ran: Vec<(Vec<u8>, Outcome)>,
}

impl Executor for Recorder<'_> {
    fn run(&mut self, input: &[u8], symbolic: bool) -> Result<Execution, ExecError> {
        let execution = self.tracer.run(input, symbolic)?;
        self.ran.push((input.to_vec(), execution.outcome));
        Ok(execution)
    }

    fn restrict(&mut self, holes: Option<&[Range<usize>]>, repetition: Option<Range<usize>>) {
        self.tracer.restrict(holes, repetition);
    }
}

/// Runs of the traced variant as they are, without a search.
struct Runs {
    runner: Runner,
}

struct Observed {
    outcome: Outcome,
    covered: Vec<bool>,
}

impl Runs {
    fn start(batch: &Batch, arguments: &[OsString]) -> Result<Runs, String> {
        let mut options = TargetOptions::new(&batch.built.traced);
        options.arguments = arguments.to_vec();
        options.capacities = default_capacities(batch.built.sites.outcomes);
        options.limits = RunLimits { run_time: Duration::from_secs(60), ..RunLimits::default() };
        Ok(Runs { runner: Runner::start(options).map_err(|error| error.to_string())? })
    }

    fn run(&mut self, input: &[u8], symbolic: bool, shared: bool) -> Result<Observed, String> {
        let run = match shared {
            true => self.runner.run_shared(input, symbolic),
            false => self.runner.run(input, symbolic),
        };
        let run = run.map_err(|error| error.to_string())?;
        let covered = run.coverage.iter().map(|seen| *seen != 0).collect();
        Ok(Observed { outcome: run.outcome, covered })
    }
}
