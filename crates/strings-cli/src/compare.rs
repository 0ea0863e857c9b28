//! `tarragon solve --contains A B`, `--equivalent A B`, `--intersect A B`

use std::path::Path;

use anyhow::{Context, Result};
use serde_json::json;
use strings::compare::{Comparison, difference, intersection};
use strings::{Budget, Language, Languages, hmp};

use crate::output::{line, quoted};
use crate::solve::{code_of, deadline};
use crate::{Args, BAD_FILE, SAT, UNSAT};

/// Exit code 0 if A contains B.
pub fn contains(args: &Args, pair: &[String]) -> u8 {
    answer(args, pair, |languages, a, b, budget| {
        let (comparison, _) = difference(languages, b, a, args.bound, budget);
        finding(args, comparison, ("contains", "is only in the second"), "does not contain")
    })
}

/// Exit code 0 if A and B are the same.
pub fn equivalent(args: &Args, pair: &[String]) -> u8 {
    answer(args, pair, |languages, a, b, budget| {
        let (first, languages) = difference(languages, a, b, args.bound, budget);
        if matches!(first, Comparison::Found(_) | Comparison::Unknown(_)) {
            return finding(args, first, ("equivalent", "is only in the first"), "not equivalent");
        }
        let (mut second, _) = difference(languages, b, a, args.bound, budget);
        if matches!(second, Comparison::None) {
            second = first;
        }
        finding(args, second, ("equivalent", "is only in the second"), "not equivalent")
    })
}

/// Exit code 0 if there is a word in both.
pub fn intersect(args: &Args, pair: &[String]) -> u8 {
    answer(args, pair, |languages, a, b, budget| {
        let (comparison, _) = intersection(languages, a, b, args.bound, budget);
        let found = matches!(comparison, Comparison::Found(_));
        match finding(args, comparison, ("disjoint", "is in both"), "intersect") {
            SAT => UNSAT,
            UNSAT if found => SAT,
            code => code,
        }
    })
}

fn answer(
    args: &Args,
    pair: &[String],
    ask: impl Fn(Languages, Language, Language, &mut Budget) -> u8,
) -> u8 {
    match languages(pair) {
        Ok((languages, a, b)) => ask(languages, a, b, &mut Budget::until(deadline(args))),
        Err(error) => {
            eprintln!("tarragon solve: error: {error:#}");
            BAD_FILE
        }
    }
}

fn languages(pair: &[String]) -> Result<(Languages, Language, Language)> {
    let (a, languages) = language(Languages::default(), &pair[0])?;
    let (b, languages) = language(languages, &pair[1])?;
    Ok((languages, a, b))
}

/// A file, a file and a name in it, or an expression.
fn language(languages: Languages, argument: &str) -> Result<(Language, Languages)> {
    let (path, name) = match argument.rsplit_once(':') {
        Some((path, name)) if Path::new(path).is_file() => (path, Some(name)),
        _ => (argument, None),
    };
    if !Path::new(path).is_file() {
        return hmp::read_language(languages, argument.as_bytes(), None)
            .with_context(|| format!("`{argument}` is neither a file nor a regular expression"));
    }
    let text = std::fs::read(path).with_context(|| path.to_string())?;
    hmp::read_language(languages, &text, name).with_context(|| path.to_string())
}

/// Prints what was found out: `none` with nothing found, `found` with a word and what it shows.
fn finding(args: &Args, comparison: Comparison, (none, shows): (&str, &str), found: &str) -> u8 {
    let (verdict, object, note, code) = match comparison {
        Comparison::None => (none, json!({ "verdict": none }), String::new(), SAT),
        Comparison::NoneUpTo(bound) => (
            none,
            json!({ "verdict": none, "bound": bound }),
            format!("for words of up to {bound} bytes"),
            SAT,
        ),
        Comparison::Found(word) => {
            let text = quoted(&word);
            let object = json!({ "verdict": found, "word": text[1..text.len() - 1] });
            (found, object, format!("{text} {shows}"), UNSAT)
        }
        Comparison::Unknown(stop) => {
            let object = json!({ "verdict": "unknown", "reason": stop.to_string() });
            ("unknown", object, stop.to_string(), code_of(&stop))
        }
    };
    if args.json {
        line(object);
    } else {
        line(verdict);
        if !note.is_empty() {
            line(note);
        }
    }
    code
}
