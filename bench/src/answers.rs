//! Whether the chain's answers are right: flips of campaigns on packages of Debian. What is said to
//! be possible is evaluated; what is said to be impossible is asked of Z3, which gets the recorded
//! expressions without slicing, simplification or caches of ours.

mod judge;
mod tally;

use crate::flips::{self, RecordedPath, Recorder};
use crate::packages::list::{PACKAGES, Package};
use crate::packages::tree::{Compilers, Tree, tool};
use anyhow::{Context as _, Result, ensure};
use judge::{Judge, Question};
use smt::{Limits, standard_chain};
use solver::{Chain, ChainOptions, PathSolver};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};
use tally::Tally;

/// Bytes that an answer may be longer than the input.
const ROOM: usize = 100;
/// Longer inputs have few questions that shorter ones have not.
const LONGEST: usize = 2_000;

#[derive(clap::Args)]
pub struct Options {
    /// Packages whose campaigns ask (all if none is named)
    names: Vec<String>,
    /// Folder for sources and builds of packages, used again by the next call
    #[arg(long, default_value = "target/packages")]
    work: PathBuf,
    /// How many questions to check, shared equally by the packages
    #[arg(long, default_value_t = 1_000_000)]
    questions: usize,
    /// Most questions of one run, spread evenly over it
    #[arg(long, default_value_t = 1_000)]
    most: usize,
    /// Seconds of each campaign
    #[arg(long, default_value_t = 20)]
    seconds: u64,
    /// Seconds that Z3 may take to check one answer
    #[arg(long, default_value_t = 60)]
    patience: u64,
    /// Seconds after which no further run of a package is checked; others get its questions
    #[arg(long, default_value_t = 600)]
    budget: u64,
}

pub fn run(options: &Options) -> Result<()> {
    std::fs::create_dir_all(&options.work)?;
    let work = options.work.canonicalize()?;
    let is_wanted =
        |p: &&Package| options.names.is_empty() || options.names.iter().any(|n| n == p.name);
    let packages: Vec<&Package> = PACKAGES.iter().filter(is_wanted).collect();
    ensure!(!packages.is_empty(), "there is no such package");
    let mut total = Tally::default();
    for (number, package) in packages.iter().enumerate() {
        // What one package could not ask goes to those after it.
        let share = options.questions.saturating_sub(total.asked()) / (packages.len() - number);
        match check(package, share, options, &work) {
            Ok(tally) => {
                println!("{}: {tally}", package.name);
                total.add(&tally);
            }
            Err(error) => println!("{}: {error:#}", package.name),
        }
    }
    println!("all: {total}\n{}", total.by_part());
    ensure!(total.wrong() == 0, "{} answers are wrong", total.wrong());
    Ok(())
}

/// Checks answers about the runs of one package's campaign. The chain lives as long as in a
/// campaign, so that what it remembers is checked, too.
fn check(package: &Package, share: usize, options: &Options, work: &Path) -> Result<Tally> {
    let program = Tree::build(package, Compilers::Tarragon, work)?.program()?;
    let inputs = campaign(package, &program, options, work)?;
    let mut recorder = flips::recorder(package, &program)?;
    let mut chain = standard_chain(ChainOptions::default(), Limits::default());
    let mut judge = Judge::new(Duration::from_secs(options.patience));
    let mut tally = Tally::default();
    let end = Instant::now() + Duration::from_secs(options.budget);
    for input in inputs {
        let left = share.saturating_sub(tally.asked());
        if left == 0 || Instant::now() > end {
            break;
        }
        if let Some(recorded) = record(&mut recorder, input) {
            tally.add(&check_run(recorded, left.min(options.most), end, &mut chain, &mut judge));
            eprintln!("{}: {} of {share} questions", package.name, tally.asked());
        }
    }
    Ok(tally)
}

/// Runs that hang or whose trace is full have nothing to ask.
fn record(recorder: &mut Recorder, input: Vec<u8>) -> Option<RecordedPath> {
    recorder.record(input).ok()
}

fn check_run(
    mut recorded: RecordedPath,
    most: usize,
    end: Instant,
    chain: &mut Chain,
    judge: &mut Judge,
) -> Tally {
    let sampled = recorded.sampled(most);
    let mut question = Question::new(&mut recorded, ROOM);
    let RecordedPath { dag, lits, input, .. } = &recorded;
    let mut solver = PathSolver::new(dag, lits, input, question.max_len);
    let mut tally = Tally::default();
    for (prefix, goal) in sampled.into_iter().take_while(|_| Instant::now() < end) {
        let before: Vec<_> = chain.counters().collect();
        let answer = solver.solve(chain, prefix, &[], goal);
        let part = tally::answered(&before, chain.counters());
        question.ask(&recorded, prefix, goal);
        tally.count(part, judge.verdict(&recorded, &question, &answer));
    }
    tally
}

/// The inputs that a campaign keeps, those that came last first: they go deepest.
fn campaign(
    package: &Package,
    program: &Path,
    options: &Options,
    work: &Path,
) -> Result<Vec<Vec<u8>>> {
    let out = work.join("answers").join(package.name);
    if out.exists() {
        std::fs::remove_dir_all(&out)?;
    }
    std::fs::create_dir_all(&out)?;
    std::fs::write(out.join("seed"), package.seed)?;
    let mut command = Command::new(tool("tarragon")?);
    command
        .args(["fuzz", "--quiet", "--lcov", "off", "--time"])
        .arg(format!("{}s", options.seconds));
    command.arg("--seeds").arg(out.join("seed")).arg("--out").arg(out.join("results"));
    command.arg("--").arg(program).args(package.arguments);
    let code = command.stderr(std::process::Stdio::null()).status()?.code();
    ensure!(code.is_some_and(|code| code < 2), "the campaign failed: {command:?}");
    let corpus = std::fs::read_dir(out.join("results/corpus")).context("no corpus")?;
    let mut files: Vec<PathBuf> = corpus.filter_map(|entry| Some(entry.ok()?.path())).collect();
    files.sort();
    let inputs = files.iter().rev().filter_map(|file| std::fs::read(file).ok());
    Ok(inputs.filter(|input| input.len() <= LONGEST).collect())
}
