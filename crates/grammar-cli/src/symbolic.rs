//! `symbolic`

use crate::load::GrammarArgs;
use crate::output::{in_json, interrupted, watch_interrupt};
use crate::range::{Part, range};
use anyhow::{Context, Result, anyhow, bail};
use grammar::count::{self, Unit};
use grammar::language::Language;
use grammar::symbolic::{
    BOUND, Choice, Fate, Filling, Lexemes, Measure, Options, Repeat, Sizes, Symbolic,
    SymbolicString, symbolic,
};
use grammar::{Grammar, TerminalId};
use num_bigint::BigUint;
use serde_json::json;
use std::io::{self, BufWriter, Write};
use std::ops::ControlFlow;

#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  tarragon grammar symbolic calc.tg                         what each terminal becomes
  tarragon grammar symbolic calc.tg --max-len 4             symbolic strings up to length 4, □ \
  being a byte to fill
  tarragon grammar symbolic calc.tg --max-len 6 --count     how many there are of each length
  tarragon grammar symbolic lua.g4 --keep NAME --bound NUMBER=1
  tarragon grammar symbolic calc.tg --coarsest --max-len 4  one hole as long as the input")]
pub struct Args {
    #[command(flatten)]
    grammar: GrammarArgs,
    #[command(flatten)]
    abstraction: AbstractionArgs,
    /// List the symbolic strings up to this length
    #[arg(long, value_name = "N", conflicts_with = "max_height")]
    max_len: Option<usize>,
    /// List the symbolic strings up to this height
    #[arg(long, value_name = "H")]
    max_height: Option<usize>,
    /// Print how many there are of each size instead
    #[arg(long)]
    count: bool,
    /// Count derivations: strings of each length count as often as the symbolic grammar derives
    /// them
    #[arg(long, requires = "count", requires = "max_len")]
    derivations: bool,
    #[command(flatten)]
    part: Part,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// How a grammar becomes symbolic.
#[derive(clap::Args, Debug)]
pub struct AbstractionArgs {
    /// What may fill a hole
    #[arg(long, value_enum, default_value_t = HolesName::Free)]
    pub holes: HolesName,
    /// Longest hole of terminals with infinitely many lexemes
    #[arg(long, value_name = "N", default_value_t = BOUND)]
    pub max_hole: usize,
    /// Enumerate the lexemes of this terminal instead of making it a hole
    #[arg(long, value_name = "TERMINAL")]
    pub keep: Vec<String>,
    /// Make this terminal a hole although it has only one lexeme
    #[arg(long, value_name = "TERMINAL")]
    pub hole: Vec<String>,
    /// Longest hole of this terminal
    #[arg(long, value_name = "TERMINAL=N")]
    pub bound: Vec<String>,
    /// Everything is one hole, as in plain whitebox search
    #[arg(long)]
    pub coarsest: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum HolesName {
    /// Any bytes
    Free,
    /// Lexemes of the terminal
    Valid,
}

impl AbstractionArgs {
    pub fn symbolic(&self, language: &Language) -> Result<Symbolic> {
        Ok(symbolic(language, &self.options(&language.grammar)?)?)
    }

    pub fn sizes(&self, measure: Measure) -> Sizes {
        Sizes { measure, max_lexeme: self.max_hole }
    }

    fn options(&self, grammar: &Grammar) -> Result<Options> {
        let keep = self.keep.iter().map(|name| Ok((terminal(grammar, name)?, Choice::Keep)));
        let hole = self.hole.iter().map(|name| Ok((terminal(grammar, name)?, Choice::Hole)));
        let bound = self.bound.iter().map(|text| bound(grammar, text));
        let filling = match self.holes {
            HolesName::Free => Filling::Free,
            HolesName::Valid => Filling::Valid,
        };
        let choices = keep.chain(hole).chain(bound).collect::<Result<_>>()?;
        Ok(Options { filling, bound: self.max_hole, choices, coarsest: self.coarsest })
    }
}

fn bound(grammar: &Grammar, text: &str) -> Result<(TerminalId, Choice)> {
    let parts = text.rsplit_once('=').and_then(|(name, bound)| Some((name, bound.parse().ok()?)));
    let (name, bound) = parts.ok_or_else(|| anyhow!("--bound wants TERMINAL=N, not `{text}`"))?;
    Ok((terminal(grammar, name)?, Choice::Bound(bound)))
}

fn terminal(grammar: &Grammar, name: &str) -> Result<TerminalId> {
    grammar.find_terminal(name).ok_or_else(|| anyhow!("there is no terminal `{name}`"))
}

pub fn run(args: &Args) -> Result<u8> {
    let language = args.grammar.language()?;
    let symbolic = args.abstraction.symbolic(&language)?;
    match (args.max_len, args.max_height) {
        (None, None) if args.count || args.part.is_given() => {
            bail!("give --max-len N or --max-height H")
        }
        (None, None) => show(args, &symbolic),
        (Some(max), _) => list(args, &symbolic, Measure::Length, max),
        (None, Some(max)) => list(args, &symbolic, Measure::Height, max),
    }
}

/// What became of each terminal.
fn show(args: &Args, symbolic: &Symbolic) -> Result<u8> {
    let all = symbolic.grammar.terminals.iter().zip(symbolic.fates.iter().zip(&symbolic.repeats));
    let used = all.filter(|(_, ((_, fate), _))| *fate != Fate::Unused);
    if args.json {
        let terminals: Vec<_> = used
            .map(|(terminal, ((lexemes, fate), repeat))| {
                let lengths = if let Fate::Holes(lengths) = fate { json!(lengths) } else { json!(null) };
                let filler = repeat.as_ref().map(|repeat| repeat.filler.escape_ascii().to_string());
                let lexemes = in_words(*lexemes);
                json!({ "terminal": terminal.name, "lexemes": lexemes, "holes": lengths, "filler": filler })
            })
            .collect();
        println!("{}", json!({ "terminals": terminals, "coarsest": args.abstraction.coarsest }));
        return Ok(0);
    }
    if args.abstraction.coarsest {
        println!("everything is one hole");
        return Ok(0);
    }
    let width = used.clone().map(|(terminal, ..)| terminal.name.chars().count()).max().unwrap_or(0);
    for (terminal, ((lexemes, fate), repeat)) in used {
        let repetition =
            repeat.as_ref().map(|repeat| format!(" | {}", repetition(repeat))).unwrap_or_default();
        println!(
            "{:<width$}  {:<8}  {}{repetition}",
            terminal.name,
            in_words(*lexemes),
            becomes(fate)
        );
    }
    Ok(0)
}

fn in_words(lexemes: Lexemes) -> &'static str {
    match lexemes {
        Lexemes::None => "none",
        Lexemes::One => "one",
        Lexemes::Finite => "finite",
        Lexemes::Infinite => "infinite",
    }
}

fn becomes(fate: &Fate) -> String {
    let Fate::Holes(lengths) = fate else { return "stays".to_owned() };
    let holes: Vec<String> = lengths.iter().map(|len| "□".repeat((*len).min(SHOWN))).collect();
    match lengths[..] {
        [.., longest] if longest > SHOWN || lengths.len() > SHOWN => {
            format!("holes of {} to {longest} bytes", lengths[0])
        }
        _ => holes.join(" | "),
    }
}

/// A hole whose length is for the solver to choose.
fn repetition(repeat: &Repeat) -> String {
    let [before, after] =
        [repeat.after, repeat.lexeme.len() - repeat.after].map(|len| "□".repeat(len));
    let filler = repeat.filler.escape_ascii();
    format!("{before}{filler}…{filler}{after}")
}

/// Longer holes are not drawn.
const SHOWN: usize = 8;

fn list(args: &Args, symbolic: &Symbolic, measure: Measure, max: usize) -> Result<u8> {
    if args.derivations {
        let counts = count::by_length(&symbolic.language, max, Unit::Bytes);
        let counts = counts.iter().map(|count| count.finite().cloned()).enumerate();
        let counts: Option<Vec<_>> = counts.map(|(size, count)| Some((size, count?))).collect();
        let mut counts = counts.ok_or_else(|| anyhow!("there are infinitely many derivations"))?;
        counts.retain(|(_, count)| *count != BigUint::ZERO);
        print_counts(args, measure, max, &counts);
        return Ok(0);
    }
    let space = symbolic.space(&args.abstraction.sizes(measure), max)?;
    if args.count {
        let counts = sums(&space.sizes, space.roots.iter().map(|root| space.count(*root)));
        print_counts(args, measure, max, &counts);
        return Ok(0);
    }
    let (from, limit) = range(&args.part, &space)?;
    watch_interrupt();
    let mut out = BufWriter::new(io::stdout().lock());
    let mut failed = None;
    symbolic
        .strings(&space, &from, Some(&limit), |string| {
            failed = write(&mut out, &string, args.json).err();
            if failed.is_some() || interrupted() {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        })
        .context("the scanner")?;
    match failed {
        Some(error) => Err(error.into()),
        None => Ok(out.flush().map(|()| 0)?),
    }
}

fn sums<'c>(sizes: &[usize], counts: impl Iterator<Item = &'c BigUint>) -> Vec<(usize, BigUint)> {
    let mut sums: Vec<(usize, BigUint)> = Vec::new();
    for (&size, count) in sizes.iter().zip(counts) {
        match sums.last_mut() {
            Some((last, sum)) if *last == size => *sum += count,
            _ => sums.push((size, count.clone())),
        }
    }
    sums
}

fn print_counts(args: &Args, measure: Measure, max: usize, counts: &[(usize, BigUint)]) {
    let total: BigUint = counts.iter().map(|(_, count)| count).sum();
    if args.json {
        let by = if measure == Measure::Length { "by_length" } else { "by_height" };
        let of = |size: usize| {
            counts.iter().find(|(s, _)| *s == size).map_or(BigUint::ZERO, |(_, c)| c.clone())
        };
        let list: Vec<String> = (1..=max).map(|size| of(size).to_string()).collect();
        println!("{}", json!({ by: list, "total": total.to_string() }));
        return;
    }
    counts.iter().for_each(|(size, count)| println!("{size}\t{count}"));
    println!("total\t{total}");
}

/// In text each byte of a hole is `□`; JSON has an example and the holes' places.
fn write(out: &mut impl Write, string: &SymbolicString, json: bool) -> io::Result<()> {
    if json {
        let holes: Vec<_> = string.holes.iter().map(|hole| json!([hole.start, hole.len])).collect();
        return writeln!(out, "{}", json!({ "text": in_json(&string.text), "holes": holes }));
    }
    let mut at = 0;
    for hole in &string.holes {
        out.write_all(&string.text[at..hole.start])?;
        out.write_all("□".repeat(hole.len).as_bytes())?;
        at = hole.start + hole.len;
    }
    out.write_all(&string.text[at..])?;
    out.write_all(b"\n")
}
