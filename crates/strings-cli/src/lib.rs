//! `tarragon solve`: constraints over strings, and questions about languages.
//!
//! Answers go to standard output, notes and errors to standard error. Exit codes are HAMPI's: 0
//! sat, 1 unsat, 2 the file is wrong, 3 the command line is wrong, 4 time limit (or any other
//! `unknown`), 5 internal error. The solving itself is in the crate `strings`.

mod compare;
mod output;
mod solve;

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::Parser;

pub const SAT: u8 = 0;
pub const UNSAT: u8 = 1;
pub const BAD_FILE: u8 = 2;
pub const BAD_USAGE: u8 = 3;
pub const UNKNOWN: u8 = 4;
pub const INTERNAL_ERROR: u8 = 5;

/// Recursion follows the nesting of expressions; untouched pages of the stack cost nothing.
const STACK: usize = 1 << 30;

/// Solve constraints over strings, regular and context-free languages
#[derive(Clone, Debug, Parser)]
#[command(
    name = "tarragon solve",
    version,
    after_help = "\
Examples:
  tarragon solve query.hmp                        a solution, or unsat
  tarragon solve --all --limit 10 query.hmp       the ten shortest
  tarragon solve --count --json query.hmp
  tarragon solve --size 4 1205-1.hmp.tmp          a template: $HAMPI_LENGTH$ is 4 (without it: \
  any length)
  tarragon solve path.smt2                        SMT-LIB 2.6 strings
  tarragon solve --contains 'star(\"ab\")' b.hmp:R  is every word of R in b.hmp a word of (ab)*?

Exit codes: 0 sat, 1 unsat, 2 the file is wrong, 3 usage, 4 time limit or unknown, 5 internal \
error."
)]
pub struct Args {
    /// Files (.hmp, or .smt2); - is standard input
    #[arg(required_unless_present_any = ["contains", "equivalent", "intersect"])]
    files: Vec<PathBuf>,
    /// List all solutions, shortest first
    #[arg(long, conflicts_with = "count")]
    all: bool,
    /// Count the solutions
    #[arg(long)]
    count: bool,
    /// List no more solutions than this
    #[arg(long, value_name = "N", requires = "all", value_parser = clap::value_parser!(u64).range(1..))]
    limit: Option<u64>,
    /// Give up after this time (10s, 500ms)
    #[arg(long, value_name = "TIME", value_parser = time)]
    timeout: Option<Duration>,
    /// One JSON object a file
    #[arg(long)]
    json: bool,
    /// Read SMT-LIB whatever the file is called
    #[arg(long)]
    smt: bool,
    /// What $HAMPI_LENGTH$ stands for in a template
    #[arg(long, value_name = "N")]
    size: Option<u64>,
    /// Ignore all sizes: solve or refute for every length
    #[arg(long)]
    unbounded: bool,
    /// Does language A contain language B? (FILE.hmp[:NAME] or an expression)
    #[arg(long, num_args = 2, value_names = ["A", "B"], conflicts_with_all = ["files", "equivalent", "intersect"])]
    contains: Option<Vec<String>>,
    /// Are languages A and B the same?
    #[arg(long, num_args = 2, value_names = ["A", "B"], conflicts_with_all = ["files", "intersect"])]
    equivalent: Option<Vec<String>>,
    /// A word of both languages
    #[arg(long, num_args = 2, value_names = ["A", "B"], conflicts_with = "files")]
    intersect: Option<Vec<String>>,
    /// Longest words to compare where a question about context-free languages is undecidable
    #[arg(long, value_name = "N", default_value_t = 10)]
    bound: u64,
}

fn time(text: &str) -> Result<Duration, String> {
    match text.parse::<f64>() {
        Ok(seconds) => Duration::try_from_secs_f64(seconds).map_err(|error| error.to_string()),
        Err(_) => humantime::parse_duration(text).map_err(|error| error.to_string()),
    }
}

/// Runs the command. The first argument is the program's name. Returns the exit code.
pub fn run(args: impl IntoIterator<Item = impl Into<OsString> + Clone>) -> u8 {
    match Args::try_parse_from(args) {
        Ok(args) => run_parsed(args),
        Err(error) => {
            let _ = error.print();
            if error.use_stderr() { BAD_USAGE } else { 0 }
        }
    }
}

/// Runs the command on a stack that is large enough for any nesting. A panic is an internal error,
/// never a verdict.
pub fn run_parsed(args: Args) -> u8 {
    let work = move || match (&args.contains, &args.equivalent, &args.intersect) {
        (Some(pair), ..) => compare::contains(&args, pair),
        (_, Some(pair), _) => compare::equivalent(&args, pair),
        (.., Some(pair)) => compare::intersect(&args, pair),
        _ => solve::files(&args),
    };
    match std::thread::Builder::new()
        .stack_size(STACK)
        .spawn(work)
        .map(std::thread::JoinHandle::join)
    {
        Ok(Ok(code)) => code,
        Ok(Err(_)) => INTERNAL_ERROR,
        Err(error) => {
            eprintln!("tarragon solve: error: {error}");
            INTERNAL_ERROR
        }
    }
}
