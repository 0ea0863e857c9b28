//! `tarragon grammar …`: one sub-command per operation of the grammar engine.
//!
//! Results go to standard output, notes and errors to standard error. Exit codes: 0 yes, 1 no (not
//! in the language, nothing found), 2 a file or an option is wrong, 130 interrupted.

mod change;
mod check;
mod count;
mod cover;
mod expression;
mod generate;
mod load;
mod output;
mod parse;
mod range;
mod shrink;
mod solve;
mod symbolic;
mod tokens;

use clap::{Parser, Subcommand};
use std::ffi::OsString;
pub use symbolic::AbstractionArgs;

#[derive(Parser)]
#[command(name = "tarragon grammar", about = ABOUT, version, after_help = EXAMPLES)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

/// What a program that offers these sub-commands says about them.
pub const ABOUT: &str =
    "Read, check, count, enumerate, sample, parse, complete, solve, mutate, shrink";

pub const EXAMPLES: &str = "\
Examples:
  tarragon grammar check JSON.g4                           what a grammar is like
  tarragon grammar sample calc.tg -n 10 --size 100         ten random sentences
  tarragon grammar enumerate calc.tg --max-len 4 --strings all strings up to length 4
  tarragon grammar parse calc.y --scanner calc.l input.txt   is it in the language?
  tarragon grammar solve calc.tg --tokens '{(} !{(}'       a cheapest sentence with such tokens

Notations: Tarragon's own (.tg), bison with flex, ANTLR 4, tree-sitter's grammar.json, W3C EBNF, \
ABNF, BNF in JSON.
Exit codes: 0 yes, 1 no, 2 a file or an option is wrong, 130 interrupted.";

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Sizes, unreachable and unproductive rules, left recursion, ambiguity within a bound
    Check(check::Args),
    /// Number of derivations or distinct strings, by length or by height
    Count(count::Args),
    /// All derivations or distinct strings, shortest first
    Enumerate(generate::EnumerateArgs),
    /// The grammar with holes in place of tokens (CESE): what terminals become, and its strings
    Symbolic(symbolic::Args),
    /// Random sentences: by size, uniformly by length, or covering all k-paths
    Sample(generate::SampleArgs),
    /// Is the input in the language? Exit code 0 if all inputs are, 1 if not
    Parse(parse::Args),
    /// A cheapest completion of a prefix to a sentence
    Complete(change::CompleteArgs),
    /// A cheapest sentence whose first tokens satisfy constraints. Exit code 1 if there is none
    Solve(solve::Args),
    /// Variants of inputs that are still in the language
    Mutate(change::MutateArgs),
    /// The smallest input for which a command still succeeds
    Shrink(shrink::ShrinkArgs),
    /// Which rules, alternatives and k-paths inputs exercise
    Cover(cover::Args),
    /// Write the grammar in another notation
    Convert(parse::ConvertArgs),
}

/// Runs one sub-command. The first argument is the program's name. Returns the exit code.
pub fn run(args: impl IntoIterator<Item = impl Into<OsString> + Clone>) -> u8 {
    let cli = match Cli::try_parse_from(args) {
        Ok(cli) => cli,
        Err(e) => {
            let _ = e.print();
            return if e.use_stderr() { 2 } else { 0 };
        }
    };
    execute(&cli.command)
}

/// Runs a sub-command that was read from a command line. Returns the exit code.
pub fn execute(command: &Command) -> u8 {
    output::end_on_interrupt();
    let result = match command {
        Command::Check(args) => check::run(args),
        Command::Count(args) => count::run(args),
        Command::Enumerate(args) => generate::enumerate(args),
        Command::Symbolic(args) => symbolic::run(args),
        Command::Sample(args) => generate::sample(args),
        Command::Parse(args) => parse::run(args),
        Command::Complete(args) => change::complete(args),
        Command::Solve(args) => solve::run(args),
        Command::Mutate(args) => change::mutate(args),
        Command::Shrink(args) => shrink::shrink(args),
        Command::Cover(args) => cover::run(args),
        Command::Convert(args) => parse::convert(args),
    };
    match result {
        Ok(_) if output::interrupted() => {
            eprintln!("interrupted: what was written is not all");
            output::INTERRUPTED
        }
        Ok(code) => code,
        Err(e) if output::is_closed_pipe(&e) => 0,
        Err(e) => {
            eprintln!("error: {e:#}");
            2
        }
    }
}
