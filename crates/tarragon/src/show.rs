//! `tarragon trace`: what Tarragon sees on one input, constraint by constraint.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fmt::Write as _;
use std::io::Write as _;

use anyhow::{Context, Result};
use expr::{Support, Supports};
use path::{Constraint, ConstraintKind, Delivered, PathCondition, Trace};
use sites::SiteTable;
use trace::{ConcretiseReason, EventKind, GiveUp, Label, Op};

use crate::Verdict;
use crate::args::TraceArgs;
use crate::sources;
use crate::target;

pub(crate) fn trace(args: &TraceArgs) -> Result<Verdict> {
    let input = std::fs::read(&args.input)
        .with_context(|| format!("{}: cannot be read", args.input.display()))?;
    sources::check_input(&args.target, &args.input, &input)?;
    let mut target = target::start(&args.target, input.len())?;
    let (outcome, mut trace) = target.executor.trace(&input)?;
    let condition = PathCondition::new(&mut trace, &target.sites);
    let mut text = format!("{}: {} constraints\n", outcome, condition.len());
    describe_tokens(&condition.tokens, &target.sites, &input, &mut text)?;
    let mut about = About::new(&trace, &target.sites, &condition.tokens, args.expressions);
    for constraint in &condition.constraints {
        about.describe(constraint, &mut text)?;
    }
    for (reason, count) in give_ups(&trace) {
        writeln!(text, "given up {count} times: {}", reason.text())?;
    }
    // A reader that went away is no error.
    let _ = std::io::stdout().write_all(text.as_bytes());
    Ok(Verdict::NoBug)
}

fn describe_tokens(
    tokens: &[Delivered],
    sites: &SiteTable,
    input: &[u8],
    text: &mut String,
) -> Result<()> {
    let names = TokenNames::of(
        tokens.iter().map(|token| i64::from(token.code as i32)),
        &sites.enumerations,
    );
    let ends = tokens.iter().skip(1).map(|token| token.start as usize).chain([input.len()]);
    for ((number, token), end) in tokens.iter().enumerate().zip(ends) {
        let piece = input.get(token.start as usize..end).unwrap_or_default();
        let code = token.code as i32;
        let name = names.get(i64::from(code)).map(|name| format!(" ({name})")).unwrap_or_default();
        writeln!(
            text,
            "token {number}: code {code}{name}, from {:?}",
            String::from_utf8_lossy(piece)
        )?;
    }
    Ok(())
}

/// Names of token codes: the program's other enumerations have the same numbers.
struct TokenNames<'a> {
    /// Those that hold most of the codes that were delivered.
    enumerations: Vec<&'a BTreeMap<String, i64>>,
}

impl<'a> TokenNames<'a> {
    /// The end of the file is in many enumerations, so that it counts for none.
    fn of(codes: impl Iterator<Item = i64>, all: &'a [BTreeMap<String, i64>]) -> TokenNames<'a> {
        let codes: BTreeSet<i64> = codes.filter(|code| *code != 0).collect();
        let held = |names: &&BTreeMap<String, i64>| {
            codes.iter().filter(|code| names.values().any(|value| value == *code)).count()
        };
        let most = all.iter().map(|names| held(&names)).max().unwrap_or(0);
        let enumerations = all.iter().filter(|names| most > 0 && held(names) == most).collect();
        TokenNames { enumerations }
    }

    /// The constant with this value, if there is just one.
    fn get(&self, code: i64) -> Option<&'a str> {
        let all = self.enumerations.iter().flat_map(|names| names.iter());
        let named: BTreeSet<&str> =
            all.filter(|(_, value)| **value == code).map(|(name, _)| name.as_str()).collect();
        match (code, named.len()) {
            (0, 0) => Some("end of file"),
            (_, 1) => named.first().copied(),
            _ => None,
        }
    }
}

/// What is known about the constraints of a trace.
struct About<'t> {
    trace: &'t Trace,
    sites: &'t SiteTable,
    expressions: bool,
    supports: Supports,
    /// Numbers of the tokens by their nodes.
    tokens: HashMap<Label, usize>,
    /// Why values were fixed, by site: the first event says it.
    reasons: HashMap<u32, &'static str>,
}

impl<'t> About<'t> {
    fn new(
        trace: &'t Trace,
        sites: &'t SiteTable,
        tokens: &[Delivered],
        expressions: bool,
    ) -> About<'t> {
        let mut reasons = HashMap::new();
        for event in trace.events.iter().filter(|event| event.kind == EventKind::Concretise as u8) {
            let reason = ConcretiseReason::from_byte(event.aux)
                .map_or("unknown reason", ConcretiseReason::text);
            reasons.entry(event.site).or_insert(reason);
        }
        let tokens =
            tokens.iter().enumerate().map(|(number, token)| (token.label, number)).collect();
        About { trace, sites, expressions, supports: Supports::new(), tokens, reasons }
    }

    /// The tokens that a condition depends on, by their numbers; what the program made up itself
    /// has none.
    fn tokens_of(&self, label: Label) -> Tokens {
        let dag = &self.trace.dag;
        let (mut tokens, mut open, mut seen) = (Tokens::default(), vec![label], HashSet::new());
        while let Some(label) = open.pop() {
            if label == 0 || !seen.insert(label) {
                continue;
            }
            if dag.op(label) == Op::Token {
                match self.tokens.get(&label) {
                    Some(&number) => drop(tokens.numbers.insert(number)),
                    None => tokens.others = true,
                }
                continue;
            }
            open.extend(dag.operands(label));
            if dag.op(label).has_table() {
                open.extend(dag.table_labels(label));
            }
        }
        tokens
    }

    fn describe(&mut self, constraint: &Constraint, text: &mut String) -> Result<()> {
        let place = self.sites.place(constraint.site);
        let support = self.supports.of(&self.trace.dag, constraint.label);
        let support = dependence(self.supports.get(support), &self.tokens_of(constraint.label));
        let what = match constraint.kind {
            ConstraintKind::Branch => format!("branch {}", constraint.taken),
            ConstraintKind::Case { index, .. } => format!("case {index}"),
            ConstraintKind::Concretise { value, .. } => {
                let reason = self.reasons.get(&constraint.site).unwrap_or(&"unknown reason");
                format!("fixed to {value:#x} ({reason})")
            }
            ConstraintKind::Given => "given".to_owned(),
            ConstraintKind::Check(kind) if constraint.taken => format!("violated: {}", kind.text()),
            ConstraintKind::Check(kind) => format!("check: no {}", kind.text()),
        };
        writeln!(text, "{place}: {what}, on {support}")?;
        if self.expressions {
            for line in expr::print(&self.trace.dag, &[constraint.label]).lines() {
                writeln!(text, "    {line}")?;
            }
        }
        Ok(())
    }
}

/// What a condition depends on beside the input's bytes.
#[derive(Default)]
struct Tokens {
    numbers: BTreeSet<usize>,
    /// Tokens that are not of the input.
    others: bool,
}

/// `bytes 0-3, 7 and the length`, or `token 2`
fn dependence(support: &Support, tokens: &Tokens) -> String {
    let mut parts: Vec<String> = support
        .intervals()
        .iter()
        .map(
            |(first, last)| {
                if first == last { first.to_string() } else { format!("{first}-{last}") }
            },
        )
        .collect();
    if !parts.is_empty() {
        parts = vec![format!("bytes {}", parts.join(", "))];
    }
    if support.uses_len() {
        parts.push("the length".to_owned());
    }
    parts.extend(tokens.numbers.iter().map(|number| format!("token {number}")));
    if tokens.others {
        parts.push("a token that is not of the input".to_owned());
    }
    if parts.is_empty() {
        parts.push("every input of this path".to_owned());
    }
    parts.join(" and ")
}

fn give_ups(trace: &Trace) -> impl Iterator<Item = (GiveUp, u32)> {
    GiveUp::ALL
        .iter()
        .zip(trace.give_ups)
        .map(|(reason, count)| (*reason, count))
        .filter(|(_, count)| *count > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn enumeration(names: &[(&str, i64)]) -> BTreeMap<String, i64> {
        names.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect()
    }

    #[test]
    fn tokens_have_names_of_the_enumeration_that_holds_most_of_them() {
        let all = [
            enumeration(&[("ERR_NONE", 0), ("ERR_PARSE", 1)]),
            enumeration(&[("NAME", 258), ("NUMBER", 259)]),
            enumeration(&[("LIMIT", 258)]),
        ];
        let names = TokenNames::of([258, i64::from(b'='), 259, 0].into_iter(), &all);
        let shown = [258, i64::from(b'='), 259, 0].map(|code| names.get(code));
        assert_eq!(shown, [Some("NAME"), None, Some("NUMBER"), Some("end of file")]);
    }

    #[test]
    fn names_that_cannot_be_told_apart_are_not_given() {
        let all =
            [enumeration(&[("END", 0), ("NAME", 258)]), enumeration(&[("EOI", 0), ("LIMIT", 258)])];
        let names = TokenNames::of([258, 0].into_iter(), &all);
        assert_eq!([258, 0].map(|code| names.get(code)), [None, None]);
        let names = TokenNames::of([0].into_iter(), &all);
        assert_eq!(names.get(0), Some("end of file"), "no enumeration holds another code");
    }
}
