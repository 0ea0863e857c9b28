//! `solve`

use crate::load::GrammarArgs;
use crate::{expression, tokens};
use anyhow::Result;
use grammar::constraint::Constraint;
use grammar::language::Language;
use grammar::regular::{self, Expression};
use grammar::token_solver::TokenSolver;
use grammar::{Grammar, TerminalId};
use serde_json::json;
use std::io::Write;

#[derive(clap::Args, Debug)]
#[command(after_help = "\
Constraints, one for each token, separated by blanks:
  {(,num,let}   one of these terminals, by name or by literal text
  !{num,','}    any terminal but these; !{} is any
  \"text\"        this lexeme
  .             any terminal
With --expression, a regular expression that matches the whole sentence: these in a row, with ( ) \
| * + ?.
In a set, `,` `{` `}`, blanks and quotes are written in '…' or after a backslash. With --tokens, \
what follows these
tokens is free, and a sentence with fewer tokens does not count. The fewest tokens win.

Examples:
  tarragon grammar solve sexpr.tg --tokens '{(} {+} {(} {(,num,id,let}'
  tarragon grammar solve js.tg --tokens \"{function} {id} {(} !{')'}\"
  tarragon grammar solve js.tg --expression '.* {while} .* {break} .*'
  tarragon grammar solve calc.y --scanner calc.l --tokens '\"12\" !{+}' --json

Exit codes: 0 a sentence was printed, 1 there is none, 2 a file or an option is wrong.")]
pub struct Args {
    #[command(flatten)]
    grammar: GrammarArgs,
    /// What the first tokens may be
    #[arg(
        long,
        value_name = "CONSTRAINTS",
        allow_hyphen_values = true,
        required_unless_present = "expression"
    )]
    tokens: Option<String>,
    /// A regular expression over terminals for the whole sentence
    #[arg(long, value_name = "EXPRESSION", allow_hyphen_values = true, conflicts_with = "tokens")]
    expression: Option<String>,
    /// Print `{"tokens": ["(", …]}`, or null if there is no sentence
    #[arg(long)]
    json: bool,
}

pub fn run(args: &Args) -> Result<u8> {
    let language = args.grammar.language()?;
    let constraints = tokens::read(&language.grammar, args.tokens.as_deref().unwrap_or_default())?;
    let sentence = match &args.expression {
        Some(text) => matching(&language, &expression::read(&language, text)?),
        None => solve(&language, &constraints),
    };
    let words = sentence.map(|sentence| spell(&language.grammar, &constraints, &sentence));
    let code = u8::from(words.is_none());
    let mut out = std::io::stdout().lock();
    match words {
        words if args.json => writeln!(out, "{}", json!({ "tokens": words }))?,
        Some(words) => writeln!(out, "{}", words.join(" "))?,
        None => {}
    }
    Ok(code)
}

fn matching(language: &Language, expression: &Expression) -> Option<Vec<TerminalId>> {
    let sentence = regular::solve(language, expression);
    if sentence.is_none() {
        eprintln!("none: the expression matches no sentence");
    }
    sentence
}

/// The sentence; if there is none, says from which token on.
fn solve(language: &Language, constraints: &[Constraint]) -> Option<Vec<TerminalId>> {
    let mut solver = TokenSolver::new(language);
    let mut prefix = solver.begin();
    for (i, constraint) in constraints.iter().enumerate() {
        if !solver.push(&mut prefix, &constraint.terminals(language)) {
            eprintln!("none: no sentence begins with such tokens up to token {}", i + 1);
            return None;
        }
    }
    let sentence = solver.solve(&prefix);
    if sentence.is_none() {
        eprintln!("none: no sentence begins with such tokens");
    }
    sentence
}

/// Lexemes where they were given, else terminals.
fn spell(grammar: &Grammar, constraints: &[Constraint], sentence: &[TerminalId]) -> Vec<String> {
    let given = |i: usize| match constraints.get(i) {
        Some(Constraint::Lexeme(text)) => Some(String::from_utf8_lossy(text).into_owned()),
        _ => None,
    };
    let word = |(i, t): (usize, &TerminalId)| {
        given(i).unwrap_or_else(|| tokens::shown(grammar.terminal(*t)))
    };
    sentence.iter().enumerate().map(word).collect()
}
