//! `complete` and `mutate`

use crate::load::{GrammarArgs, input};
use crate::output::{StringArgs, Strings, in_json, interrupted, watch_interrupt};
use anyhow::{Result, bail};
use fastrand::Rng;
use grammar::complete::Completer;
use grammar::language::Language;
use grammar::mutate::{Mutation, Mutator};
use grammar::parse::{Parser, line_column};
use grammar::tree::Tree;
use serde_json::json;
use std::io::Write;
use std::path::PathBuf;

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
    /// Print an object with the whole text and the rest, or with the place where no sentence begins
    /// so
    #[arg(long, conflicts_with = "rest_only")]
    json: bool,
}

pub fn complete(args: &CompleteArgs) -> Result<u8> {
    let language = args.grammar.language()?;
    let mut completer = Completer::new(&language)?;
    let prefix = args.prefix.as_bytes();
    match completer.complete(prefix) {
        Ok(rest) if args.json => {
            let text = [prefix, &rest].concat();
            println!("{}", json!({ "text": in_json(&text), "rest": in_json(&rest) }));
            Ok(0)
        }
        Ok(rest) => {
            let mut out = if args.rest_only { Vec::new() } else { prefix.to_vec() };
            out.extend(rest);
            out.push(b'\n');
            std::io::stdout().write_all(&out)?;
            Ok(0)
        }
        Err(pos) => {
            let (line, column) = line_column(prefix, pos);
            if args.json {
                println!("{}", json!({ "line": line, "column": column, "offset": pos }));
            }
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
    #[command(flatten)]
    strings_as: StringArgs,
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
    let mut rng = Rng::with_seed(args.seed);
    let mut out = Strings::new(args.strings_as);
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
