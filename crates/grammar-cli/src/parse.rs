//! `parse` and `convert`

use crate::load::{GrammarArgs, input};
use anyhow::{Context, Result};
use grammar::parse::{Parser, Stuck, line_column};
use grammar::{Grammar, ambiguity};
use serde_json::{Value, json};
use std::io::Write;
use std::path::PathBuf;

#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  tarragon grammar parse json.tg a.json b.json
  echo '1+2' | tarragon grammar parse Calc.g4 - --tree
  tarragon grammar parse bc.y --scanner scan.l program.bc")]
pub struct Args {
    #[command(flatten)]
    grammar: GrammarArgs,
    /// Inputs; `-` is standard input
    #[arg(required = true)]
    inputs: Vec<PathBuf>,
    /// Print the tree
    #[arg(long)]
    tree: bool,
    /// Print the number of trees
    #[arg(long)]
    count_trees: bool,
    /// Write an object for each input, one a line
    #[arg(long)]
    json: bool,
}

/// Names of expected terminals that are listed.
const EXPECTED_SHOWN: usize = 12;
/// Characters of each that are shown.
const NAME_SHOWN: usize = 60;

pub fn run(args: &Args) -> Result<u8> {
    let grammar = args.grammar.read()?;
    let mut parser = Parser::new(&grammar)?;
    let mut out = std::io::stdout().lock();
    let mut code = 0;
    for path in &args.inputs {
        let name = path.display().to_string();
        let text = characters(args, &name, input(path)?);
        match one(args, &grammar, &mut parser, &text)? {
            answer if args.json => {
                code = code.max(u8::from(answer.is_err()));
                writeln!(out, "{}", object(args, &grammar, &name, &text, &answer))?;
            }
            Ok(report) => {
                let line = if report.is_empty() { format!("{name}: yes\n") } else { report };
                out.write_all(line.as_bytes())?;
            }
            Err(stuck) => {
                writeln!(out, "{name}: no")?;
                eprintln!("{}", explain(&grammar, &name, &text, &stuck));
                code = 1;
            }
        }
    }
    Ok(code)
}

/// What `--json` writes about an input.
fn object(
    args: &Args,
    grammar: &Grammar,
    name: &str,
    text: &[u8],
    answer: &std::result::Result<String, Stuck>,
) -> Value {
    match answer {
        Ok(report) if args.count_trees => {
            json!({ "input": name, "sentence": true, "trees": report.trim() })
        }
        Ok(report) if args.tree => json!({ "input": name, "sentence": true, "tree": report }),
        Ok(_) => json!({ "input": name, "sentence": true }),
        Err(stuck) => {
            let (line, column) = line_column(text, stuck.pos);
            let expected: Vec<&str> =
                stuck.expected.iter().map(|t| grammar.terminal(*t).name.as_str()).collect();
            json!({ "input": name, "sentence": false, "line": line, "column": column, "offset": stuck.pos,
                "expected": expected })
        }
    }
}

/// ANTLR's grammars are about characters, not bytes: an input in another encoding than UTF-8 is
/// read as Latin-1.
fn characters(args: &Args, name: &str, text: Vec<u8>) -> Vec<u8> {
    if !args.grammar.is_antlr() || std::str::from_utf8(&text).is_ok() {
        return text;
    }
    eprintln!("note: {name} is not UTF-8: read as Latin-1");
    text.iter().map(|b| char::from(*b)).collect::<String>().into_bytes()
}

fn one(
    args: &Args,
    grammar: &Grammar,
    parser: &mut Parser,
    text: &[u8],
) -> Result<Result<String, Stuck>> {
    if args.count_trees {
        return Ok(ambiguity::count_trees(grammar, text)?.map(|count| format!("{count}\n")));
    }
    if args.tree {
        return Ok(parser.parse(text).map(|tree| tree.render(grammar, parser.core())));
    }
    Ok(parser.check(text).map(|()| String::new()))
}

/// Names of literals are as long as the literals.
fn shown(name: &str) -> String {
    match name.char_indices().nth(NAME_SHOWN) {
        Some((end, _)) => format!("{}…", &name[..end]),
        None => name.to_string(),
    }
}

fn explain(grammar: &Grammar, name: &str, text: &[u8], stuck: &Stuck) -> String {
    let (line, column) = line_column(text, stuck.pos);
    let rest = &text[stuck.pos..];
    let found = match rest.utf8_chunks().next() {
        None => "the end of the input".to_string(),
        Some(chunk) if chunk.valid().is_empty() => format!("the byte 0x{:02x}", chunk.invalid()[0]),
        Some(chunk) => {
            let near: String = chunk.valid().chars().take(20).collect();
            format!("`{}`", near.escape_debug())
        }
    };
    let names =
        stuck.expected.iter().take(EXPECTED_SHOWN).map(|t| shown(&grammar.terminal(*t).name));
    let names: Vec<String> = names.collect();
    let more = stuck.expected.len() - names.len();
    let mut expected = names.join(", ");
    if more > 0 {
        expected.push_str(&format!(" or {more} others"));
    }
    if names.is_empty() {
        expected = "the end of the input".to_string();
    }
    format!("{name}:{line}:{column}: expected {expected}; found {found}")
}

#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  tarragon grammar convert JSON.g4 -o json.tg
  tarragon grammar convert calc.y --scanner calc.l --to bnf-json")]
pub struct ConvertArgs {
    #[command(flatten)]
    grammar: GrammarArgs,
    /// The notation to write: tg or bnf-json
    #[arg(long, default_value = "tg", value_parser = ["tg", "bnf-json"])]
    to: String,
    /// Where to write; standard output if it is not given
    #[arg(long, short)]
    output: Option<PathBuf>,
}

pub fn convert(args: &ConvertArgs) -> Result<u8> {
    let grammar = args.grammar.read()?;
    let text = match args.to.as_str() {
        "bnf-json" => {
            let (text, notes) = grammar_formats::to_bnf_json(&grammar);
            notes.iter().for_each(|note| eprintln!("note: {note}"));
            text
        }
        _ => grammar_formats::to_tg(&grammar),
    };
    match &args.output {
        Some(path) => std::fs::write(path, text).with_context(|| path.display().to_string())?,
        None => std::io::stdout().write_all(text.as_bytes())?,
    }
    Ok(0)
}
