//! `complete`, `mutate` and `shrink`

use crate::load::{GrammarArgs, input};
use crate::output::{Strings, interrupted, watch_interrupt};
use anyhow::{Context, Result, bail};
use grammar::complete::Completer;
use grammar::language::Language;
use grammar::mutate::{Mutation, Mutator};
use grammar::parse::{Parser, line_column};
use grammar::rng::Rng;
use grammar::shrink::Shrinker;
use grammar::tree::Tree;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  tarragon grammar complete calc.tg --prefix '(1+('
  tarragon grammar complete json.tg --prefix '[1,{' --rest-only")]
pub struct CompleteArgs {
    #[command(flatten)]
    grammar: GrammarArgs,
    /// The beginning of a sentence
    #[arg(long, value_name = "TEXT")]
    prefix: String,
    /// Print only what is to be appended
    #[arg(long)]
    rest_only: bool,
}

pub fn complete(args: &CompleteArgs) -> Result<u8> {
    let language = args.grammar.language()?;
    let mut completer = Completer::new(&language)?;
    let prefix = args.prefix.as_bytes();
    match completer.complete(prefix) {
        Ok(rest) => {
            let mut out = if args.rest_only { Vec::new() } else { prefix.to_vec() };
            out.extend(rest);
            out.push(b'\n');
            std::io::stdout().write_all(&out)?;
            Ok(0)
        }
        Err(pos) => {
            let (line, column) = line_column(prefix, pos);
            eprintln!("no sentence begins so: {line}:{column} of the prefix");
            Ok(1)
        }
    }
}

#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  tarragon grammar mutate json.tg -n 10 a.json b.json
  tarragon grammar mutate json.tg -n 1000 --kind splice -0 corpus/*.json")]
pub struct MutateArgs {
    #[command(flatten)]
    grammar: GrammarArgs,
    /// Inputs to change, and to take parts from; `-` is standard input
    #[arg(required = true)]
    inputs: Vec<PathBuf>,
    /// How many
    #[arg(short = 'n', long, value_name = "COUNT", default_value_t = 1)]
    count: usize,
    /// Start of all randomness: the same seed gives the same strings
    #[arg(long, value_name = "S", default_value_t = 0)]
    seed: u64,
    /// regenerate, splice, repeat, duplicate, delete or lexeme; all of them if it is not given
    #[arg(long)]
    kind: Option<String>,
    /// Bytes of what is generated anew
    #[arg(long, default_value_t = 30)]
    size: usize,
    /// End strings with NUL instead of a line end
    #[arg(short = '0', long = "null")]
    nul: bool,
}

pub fn mutate(args: &MutateArgs) -> Result<u8> {
    let language = args.grammar.language()?;
    let kind = match &args.kind {
        None => None,
        Some(name) => match Mutation::ALL.iter().find(|(n, _)| n == name) {
            Some((_, kind)) => Some(*kind),
            None => bail!("there is no mutation `{name}`"),
        },
    };
    let Some(pool) = trees(&language, &args.inputs)? else { return Ok(1) };
    let mut mutator = Mutator::new(&language, args.size)?;
    let mut rng = Rng::new(args.seed);
    let mut out = Strings::new(args.nul);
    watch_interrupt();
    for i in 0..args.count {
        let tree = &pool[i % pool.len()];
        let mutant = match kind {
            None => Some(mutator.mutate(tree, &pool, &mut rng)),
            Some(kind) => mutator.apply(kind, tree, &pool, &mut rng),
        };
        if let Some(mutant) = mutant {
            out.write(&mutator.spell(&mutant))?;
        }
        if interrupted() {
            break;
        }
    }
    out.finish()?;
    Ok(0)
}

/// The trees of all inputs; `None` if one is not in the language.
fn trees(language: &Language, inputs: &[PathBuf]) -> Result<Option<Vec<Tree>>> {
    let mut parser = Parser::new(&language.grammar)?;
    let mut pool = Vec::new();
    for path in inputs {
        let text = input(path)?;
        match parser.parse(&text) {
            Ok(tree) => pool.push(tree),
            Err(stuck) => {
                let (line, column) = line_column(&text, stuck.pos);
                eprintln!("{}:{line}:{column}: not in the language", path.display());
                return Ok(None);
            }
        }
    }
    Ok(Some(pool))
}

#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  tarragon grammar shrink json.tg crash.json -- sh -c './parser <{} 2>&1 | grep -q overflow'
  tarragon grammar shrink calc.tg - --jobs 8 --timeout 2 -- ./still-fails <big.txt")]
pub struct ShrinkArgs {
    #[command(flatten)]
    grammar: GrammarArgs,
    /// The input to shrink; `-` is standard input
    input: PathBuf,
    /// The command that says "still interesting" by exit code 0. `{}` becomes a file with the candidate; without
    /// it the candidate is standard input
    #[arg(last = true, required = true)]
    command: Vec<String>,
    /// Candidates tested at once; as many as there are processors if it is not given
    #[arg(long, short, value_name = "N")]
    jobs: Option<usize>,
    /// A run of the command that takes longer is ended and not interesting
    #[arg(long, value_name = "SECONDS")]
    timeout: Option<f64>,
}

pub fn shrink(args: &ShrinkArgs) -> Result<u8> {
    let language = args.grammar.language()?;
    let text = input(&args.input)?;
    let timeout = args.timeout.map(Duration::try_from_secs_f64).transpose().context("--timeout")?;
    watch_interrupt();
    let folder =
        tempfile::Builder::new().prefix("tarragon-shrink-").tempdir().context("a temporary folder")?;
    let number = AtomicUsize::new(0);
    let test = |candidate: &[u8]| {
        let file = folder.path().join(number.fetch_add(1, Ordering::Relaxed).to_string());
        let holds = !interrupted() && run(&args.command, &file, candidate, timeout).unwrap_or(false);
        let _ = std::fs::remove_file(&file);
        holds
    };
    // The first run says whether the command can be started at all.
    let interesting = run(&args.command, &folder.path().join("input"), &text, timeout)?;
    let result = if interesting { Some(shrunk(args, &language, &text, &test)?) } else { None };
    match result {
        Some(smallest) => {
            std::io::stdout().write_all(&smallest)?;
            Ok(0)
        }
        None => {
            eprintln!("the command does not find the input itself interesting");
            Ok(1)
        }
    }
}

fn shrunk(
    args: &ShrinkArgs,
    language: &Language,
    text: &[u8],
    test: &(dyn Fn(&[u8]) -> bool + Sync),
) -> Result<Vec<u8>> {
    let tree = Parser::new(&language.grammar)?.parse(text).ok();
    if tree.is_none() {
        eprintln!("note: the input is not in the language: only bytes are removed");
    }
    let jobs = args.jobs.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from));
    let mut shrinker = Shrinker::new(&test, jobs);
    let smallest = shrinker.shrink(language, text, tree)?;
    eprintln!("{} bytes to {} in {} tests", text.len(), smallest.len(), shrinker.tests);
    Ok(smallest)
}

/// How often a command with a time limit is looked at.
const POLL: Duration = Duration::from_millis(1);

fn run(command: &[String], file: &Path, candidate: &[u8], timeout: Option<Duration>) -> Result<bool> {
    std::fs::write(file, candidate)?;
    let in_file = command.iter().any(|a| a.contains("{}"));
    let path = file.display().to_string();
    let stdin = if in_file { Stdio::null() } else { Stdio::from(std::fs::File::open(file)?) };
    let mut child = Command::new(&command[0])
        .args(command[1..].iter().map(|a| a.replace("{}", &path)))
        .stdin(stdin)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .with_context(|| command[0].clone())?;
    let Some(timeout) = timeout else { return Ok(child.wait()?.success()) };
    let end = Instant::now() + timeout;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status.success());
        }
        if Instant::now() >= end {
            child.kill()?;
            child.wait()?;
            return Ok(false);
        }
        std::thread::sleep(POLL);
    }
}
