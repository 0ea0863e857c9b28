//! The command line of Tarragon.
//!
//! Exit codes: 0 no bug, 1 bugs found, 2 error. `tarragon cc` and `tarragon c++` return what clang
//! returns; `tarragon lexers` returns 1 if it has nothing to propose.

mod args;
mod codes;
mod diff;
mod emit;
mod enumeration;
mod fuzz;
mod lexers;
mod manual;
mod replay;
mod show;
mod sources;
mod strategies;
mod target;
mod triage;
mod unit;
mod units;
mod variant;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::Parser;
use compiler::driver::{self, Language};

use args::{Cli, Command};

/// Paths and solvers make many small objects.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Whether a command found a bug, or (`lexers`) nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    NoBug,
    BugsFound,
    NothingFound,
}

fn main() -> ExitCode {
    runner::survive_file_size_limit();
    let words: Vec<OsString> = std::env::args_os().collect();
    if let Some(language) = compiler_command(&words) {
        std::process::exit(driver::run(language, words.into_iter().skip(2).collect()));
    }
    // Its usage errors have an exit code of their own, so it reads its arguments itself.
    if words.get(1).is_some_and(|word| word == "solve") {
        let name = std::iter::once(OsString::from("tarragon solve"));
        return ExitCode::from(strings_cli::run(name.chain(words.into_iter().skip(2))));
    }
    match run(Cli::parse_from(words)) {
        Ok(Verdict::NoBug) => ExitCode::SUCCESS,
        Ok(Verdict::BugsFound | Verdict::NothingFound) => ExitCode::from(1),
        Err(error) => {
            eprintln!("tarragon: error: {error:#}");
            ExitCode::from(2)
        }
    }
}

/// The compilers take clang's options, so their arguments never reach the parser of ours.
fn compiler_command(words: &[OsString]) -> Option<Language> {
    match words.get(1)?.to_str()? {
        "cc" => Some(Language::C),
        "c++" => Some(Language::Cxx),
        _ => None,
    }
}

fn run(cli: Cli) -> anyhow::Result<Verdict> {
    match cli.command {
        Command::Fuzz(args) => fuzz::fuzz(&args),
        Command::Replay(args) => replay::replay(&args),
        Command::Diff(args) => diff::diff(&args),
        Command::Triage(args) => triage::triage(&args),
        Command::Emit(args) => emit::emit(&args),
        Command::Trace(args) => show::trace(&args),
        Command::Unit(args) => unit::unit(&args),
        Command::Lexers(args) => lexers::lexers(&args),
        Command::Variant(args) => variant::variant(&args),
        Command::Solve(args) => std::process::exit(strings_cli::run_parsed(args).into()),
        Command::Grammar { command } => std::process::exit(grammar_cli::execute(&command).into()),
        Command::Completions(args) => manual::completions(&args),
        Command::Man(args) => manual::man(&args),
        Command::Cc { arguments } => std::process::exit(driver::run(Language::C, arguments)),
        Command::Cxx { arguments } => std::process::exit(driver::run(Language::Cxx, arguments)),
    }
}
