//! `shrink`

use crate::load::{GrammarArgs, input};
use crate::output::{interrupted, watch_interrupt};
use anyhow::{Context, Result};
use grammar::language::Language;
use grammar::parse::Parser;
use grammar::shrink::{Shrinker, SideBySide};
use std::io::Write;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

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
    /// The command that says "still interesting" by exit code 0. `{}` becomes a file with the
    /// candidate; without it the candidate is standard input
    #[arg(last = true, required = true)]
    command: Vec<String>,
    /// Candidates tested at once; as many as there are processors if it is not given
    #[arg(long, short, value_name = "N")]
    jobs: Option<usize>,
    /// A run of the command that takes longer is ended, with all processes it started, and not
    /// interesting
    #[arg(long, value_name = "SECONDS", default_value_t = 30.0)]
    timeout: f64,
}

pub fn shrink(args: &ShrinkArgs) -> Result<u8> {
    let language = args.grammar.language()?;
    let text = input(&args.input)?;
    let timeout = Duration::try_from_secs_f64(args.timeout).context("--timeout")?;
    watch_interrupt();
    let folder = tempfile::Builder::new()
        .prefix("tarragon-shrink-")
        .tempdir()
        .context("a temporary folder")?;
    let number = AtomicUsize::new(0);
    let test = |candidate: &[u8]| {
        let file = folder.path().join(number.fetch_add(1, Ordering::Relaxed).to_string());
        let holds =
            !interrupted() && run(&args.command, &file, candidate, timeout).unwrap_or(false);
        let _ = std::fs::remove_file(&file);
        holds
    };
    // The first run says whether the command can be started at all.
    let interesting = run(&args.command, &folder.path().join("input"), &text, timeout)?;
    if interrupted() {
        return Ok(1);
    }
    if !interesting {
        eprintln!("the command does not find the input itself interesting");
        return Ok(1);
    }
    let smallest = shrunk(args, &language, &text, &test)?;
    if !interrupted() && !test(&smallest) {
        eprintln!(
            "note: the command does not answer the same every time; the result was interesting once"
        );
    }
    std::io::stdout().write_all(&smallest)?;
    Ok(0)
}

fn shrunk(
    args: &ShrinkArgs,
    language: &Language,
    text: &[u8],
    holds: &(dyn Fn(&[u8]) -> bool + Sync),
) -> Result<Vec<u8>> {
    let tree = Parser::new(&language.grammar)?.parse(text).ok();
    if tree.is_none() {
        eprintln!("note: the input is not in the language: only bytes are removed");
    }
    let jobs =
        args.jobs.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from));
    let mut interesting = SideBySide { holds, jobs };
    let mut shrinker = Shrinker::new(&mut interesting);
    let smallest = shrinker.shrink(language, text, tree)?;
    eprintln!("{} bytes to {} in {} tests", text.len(), smallest.len(), shrinker.tests);
    Ok(smallest)
}

/// How often a running command is looked at: soon at first, then less often.
const POLL: (Duration, Duration) = (Duration::from_micros(100), Duration::from_millis(5));

fn run(command: &[String], file: &Path, candidate: &[u8], timeout: Duration) -> Result<bool> {
    std::fs::write(file, candidate)?;
    let in_file = command.iter().any(|a| a.contains("{}"));
    let path = file.display().to_string();
    let stdin = if in_file { Stdio::null() } else { Stdio::from(std::fs::File::open(file)?) };
    let mut child = Command::new(&command[0])
        .args(command[1..].iter().map(|a| a.replace("{}", &path)))
        .stdin(stdin)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .process_group(0)
        .spawn()
        .with_context(|| command[0].clone())?;
    let end = Instant::now().checked_add(timeout);
    let mut pause = POLL.0;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status.success());
        }
        if interrupted() || end.is_some_and(|end| Instant::now() >= end) {
            end_group(&mut child)?;
            return Ok(false);
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(POLL.1);
    }
}

/// Ends a command and what it started: it is the first of a process group of its own.
fn end_group(child: &mut Child) -> Result<()> {
    // SAFETY: sends a signal; the child was not waited for, so its number is not reused.
    unsafe { libc::kill(-(child.id() as libc::pid_t), libc::SIGKILL) };
    child.wait()?;
    Ok(())
}
