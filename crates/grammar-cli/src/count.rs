//! `count`

use crate::load::GrammarArgs;
use anyhow::{Result, bail};
use grammar::count::{Count, Unit, by_height, by_length, total};
use grammar::language::Language;
use grammar::{bounded, spaces};
use serde_json::json;

#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  tarragon grammar count calc.tg --max-len 6
  tarragon grammar count calc.tg --max-len 6 --strings --json
  tarragon grammar count json.tg --max-height 4 --max-lexeme 3")]
pub struct Args {
    #[command(flatten)]
    grammar: GrammarArgs,
    /// Longest length to count
    #[arg(long, value_name = "N", conflicts_with = "max_height")]
    max_len: Option<usize>,
    /// Greatest height to count
    #[arg(long, value_name = "H")]
    max_height: Option<usize>,
    /// Distinct strings instead of derivations
    #[arg(long)]
    strings: bool,
    /// Length in tokens, all lexemes of a terminal being one
    #[arg(long, conflicts_with = "max_height")]
    tokens: bool,
    /// Longest lexeme of terminals with infinitely many, when counting by height
    #[arg(long, value_name = "N")]
    max_lexeme: Option<usize>,
    /// Print `{"by_length": ["62", …], "total": "…"}`
    #[arg(long)]
    json: bool,
}

pub fn run(args: &Args) -> Result<u8> {
    let language = args.grammar.language()?;
    match (args.max_len, args.max_height) {
        (Some(max), _) => {
            let counts = if args.strings {
                distinct(&language, max, args.tokens)?
            } else {
                derivations(&language, max, args.tokens)
            };
            print(args, "length", &counts);
        }
        (None, Some(max)) => {
            let counts = if args.strings {
                bounded::count_distinct(&language, max, args.max_lexeme)?
            } else {
                by_height(&language, max, args.max_lexeme)
            };
            print(args, "height", &counts);
        }
        (None, None) => bail!("give --max-len N or --max-height H"),
    }
    Ok(0)
}

fn derivations(language: &Language, max: usize, tokens: bool) -> Vec<Count> {
    by_length(language, max, if tokens { Unit::Tokens } else { Unit::Bytes })
}

fn distinct(language: &Language, max: usize, tokens: bool) -> Result<Vec<Count>> {
    if tokens {
        bail!("--strings counts in bytes; leave --tokens out");
    }
    Ok(spaces::count_distinct(language, max)?)
}

/// Lengths and heights are listed from 1; the empty string, if it is one, comes first in the total.
fn print(args: &Args, what: &str, counts: &[Count]) {
    let rows = &counts[1.min(counts.len())..];
    if args.json {
        let list: Vec<String> = rows.iter().map(ToString::to_string).collect();
        let mut object = json!({ format!("by_{what}"): list, "total": total(counts).to_string() });
        if !counts[0].is_zero() {
            object["empty"] = json!(counts[0].to_string());
        }
        println!("{object}");
        return;
    }
    for (n, count) in counts.iter().enumerate().filter(|(n, c)| *n > 0 || !c.is_zero()) {
        println!("{n}\t{count}");
    }
    println!("total\t{}", total(counts));
}
