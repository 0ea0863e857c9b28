//! `parse` and `convert`

use crate::load::{GrammarArgs, input};
use crate::output::interrupted;
use anyhow::{Result, bail};
use grammar::parse::{Parser, Stuck, line_column};
use grammar::{Grammar, ambiguity};
use std::path::PathBuf;

#[derive(clap::Args)]
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
}

/// Names of expected terminals that are listed.
const EXPECTED_SHOWN: usize = 12;

pub fn run(args: &Args) -> Result<u8> {
    let grammar = args.grammar.read()?;
    let mut parser = Parser::new(&grammar)?;
    let mut code = 0;
    for path in &args.inputs {
        if interrupted() {
            break;
        }
        let text = input(path)?;
        let name = path.display().to_string();
        match one(args, &grammar, &mut parser, &text)? {
            Ok(report) => print!("{}", if report.is_empty() { format!("{name}: yes\n") } else { report }),
            Err(stuck) => {
                println!("{name}: no");
                eprintln!("{}", explain(&grammar, &name, &text, &stuck));
                code = 1;
            }
        }
    }
    Ok(code)
}

fn one(args: &Args, grammar: &Grammar, parser: &mut Parser, text: &[u8]) -> Result<Result<String, Stuck>> {
    if args.count_trees {
        return Ok(ambiguity::count_trees(grammar, text)?.map(|count| format!("{count}\n")));
    }
    if args.tree {
        return Ok(parser.parse(text).map(|tree| tree.render(grammar, parser.core())));
    }
    Ok(parser.check(text).map(|()| String::new()))
}

fn explain(grammar: &Grammar, name: &str, text: &[u8], stuck: &Stuck) -> String {
    let (line, column) = line_column(text, stuck.pos);
    let rest = &text[stuck.pos..];
    let found = match rest.utf8_chunks().next() {
        None => "the end of the input".to_string(),
        Some(chunk) => {
            let near: String = chunk.valid().chars().take(20).collect();
            format!("`{}`", near.escape_debug())
        }
    };
    let names: Vec<&str> = stuck.expected.iter().map(|t| grammar.terminal(*t).name.as_str()).collect();
    let more = names.len().saturating_sub(EXPECTED_SHOWN);
    let mut expected = names[..names.len() - more].join(", ");
    if more > 0 {
        expected.push_str(&format!(" or {more} others"));
    }
    if names.is_empty() {
        expected = "the end of the input".to_string();
    }
    format!("{name}:{line}:{column}: expected {expected}; found {found}")
}

#[derive(clap::Args)]
pub struct ConvertArgs {
    #[command(flatten)]
    grammar: GrammarArgs,
    /// The notation to write: tg or bnf-json
    #[arg(long, default_value = "tg")]
    to: String,
    /// Where to write; standard output if it is not given
    #[arg(long, short)]
    output: Option<PathBuf>,
}

pub fn convert(args: &ConvertArgs) -> Result<u8> {
    let grammar = args.grammar.read()?;
    let text = match args.to.as_str() {
        "tg" => grammar_formats::to_tg(&grammar),
        "bnf-json" => {
            let (text, notes) = grammar_formats::to_bnf_json(&grammar);
            notes.iter().for_each(|note| eprintln!("note: {note}"));
            text
        }
        other => bail!("there is no writer for `{other}`; choose tg or bnf-json"),
    };
    match &args.output {
        Some(path) => std::fs::write(path, text)?,
        None => print!("{text}"),
    }
    Ok(0)
}
