//! `cover`

use crate::load::{GrammarArgs, input};
use anyhow::Result;
use grammar::cover::{Coverage, RuleGraph};
use grammar::language::Language;
use grammar::parse::Parser;
use serde_json::json;
use std::path::PathBuf;

#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  tarragon grammar cover json.tg corpus/*.json
  tarragon grammar cover json.tg -k 3 --missing a.json")]
pub struct Args {
    #[command(flatten)]
    grammar: GrammarArgs,
    /// Inputs; `-` is standard input
    #[arg(required = true)]
    inputs: Vec<PathBuf>,
    /// Length of the chains of rules
    #[arg(short, long, default_value_t = 2)]
    k: usize,
    /// List what is missing
    #[arg(long)]
    missing: bool,
    #[arg(long)]
    json: bool,
}

const PATH_LIMIT: usize = 1_000_000;

pub fn run(args: &Args) -> Result<u8> {
    let language = Language::unchecked(args.grammar.read()?)?;
    let mut parser = Parser::new(&language.grammar)?;
    let mut coverage = Coverage::new(args.k.max(1));
    let mut outside = 0;
    for path in &args.inputs {
        match parser.parse(&input(path)?) {
            Ok(tree) => coverage.add(parser.core(), &tree),
            Err(_) => {
                eprintln!("note: {} is not in the language", path.display());
                outside += 1;
            }
        }
    }
    report(args, &language, &coverage, outside);
    Ok(u8::from(outside > 0))
}

fn report(args: &Args, language: &Language, coverage: &Coverage, outside: usize) {
    let grammar = &language.grammar;
    let rules = grammar.rules.len();
    let alternatives: usize = grammar.rules.iter().map(|r| r.alternatives.len()).sum();
    let (paths, more) = RuleGraph::new(language).paths(&language.core, coverage.k, PATH_LIMIT);
    let mut all: Vec<Vec<_>> = paths
        .iter()
        .map(|p| p.iter().filter_map(|nt| language.core.nt(*nt).rule).collect())
        .collect();
    all.sort();
    all.dedup();
    if args.json {
        let object = json!({
            "rules": { "covered": coverage.rules.len(), "all": rules },
            "alternatives": { "covered": coverage.alternatives.len(), "all": alternatives },
            "paths": { "k": coverage.k, "covered": coverage.paths.len(), "all": all.len(), "complete": !more },
            "inputs_outside": outside,
        });
        println!("{object}");
        return;
    }
    println!("rules         {} of {rules}", coverage.rules.len());
    println!("alternatives  {} of {alternatives}", coverage.alternatives.len());
    println!(
        "{}-paths       {} of {}{}",
        coverage.k,
        coverage.paths.len(),
        all.len(),
        if more { " or more" } else { "" }
    );
    if !args.missing {
        return;
    }
    for (i, rule) in grammar.rules.iter().enumerate() {
        for alternative in 0..rule.alternatives.len() as u32 {
            if !coverage.alternatives.contains(&(grammar::RuleId::from(i), alternative)) {
                println!("missing  {} #{}", rule.name, alternative + 1);
            }
        }
    }
    for path in all.iter().filter(|p| !coverage.paths.contains(*p)) {
        let names: Vec<&str> = path.iter().map(|r| grammar.rule(*r).name.as_str()).collect();
        println!("missing  {}", names.join(" > "));
    }
}
