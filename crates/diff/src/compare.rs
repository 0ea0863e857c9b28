//! Two observations of one input: whether they differ, and in which class.

use std::fmt;

use run::Outcome;
use serde::Serialize;

use crate::rules::Verdict;
use crate::tokens::{self, Token, TokenKind};
use crate::{Aspect, Observation, Rules, Side};

/// The classes are kept apart: what one of two programs does not take is another question than
/// what both make of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Class {
    /// And the other program does not.
    Crashes(Side),
    /// And the other program accepts.
    Rejects(Side),
    BothAccept,
}

impl Class {
    /// For names of files.
    pub fn slug(self) -> &'static str {
        match self {
            Class::Crashes(Side::A) => "a-crashes",
            Class::Crashes(Side::B) => "b-crashes",
            Class::Rejects(Side::A) => "a-rejects",
            Class::Rejects(Side::B) => "b-rejects",
            Class::BothAccept => "both-accept",
        }
    }

    /// The program that did not do its work, if only one did.
    pub fn stopped(self) -> Option<Side> {
        match self {
            Class::Crashes(side) | Class::Rejects(side) => Some(side),
            Class::BothAccept => None,
        }
    }
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Class::Crashes(side) => write!(f, "{side} crashes"),
            Class::Rejects(side) => write!(f, "{side} rejects, {} accepts", side.other()),
            Class::BothAccept => f.write_str("both accept and differ"),
        }
    }
}

/// What differs, without the texts: differences of one kind may have one origin.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    Exit,
    /// What stands where two outputs part.
    Stdout(TokenKind, TokenKind),
    Stderr(TokenKind, TokenKind),
    /// Of the first file that differs.
    Content(TokenKind, TokenKind),
    /// Only this program wrote a file of some name.
    File(Side),
}

/// A kind with the texts that show it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Mismatch {
    pub kind: Kind,
    /// `stdout, line 3`, the name of a file.
    pub place: String,
    pub a: String,
    pub b: String,
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: A has {}, B has {}", self.place, self.a, self.b)
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    pub class: Class,
    pub outcomes: [Outcome; 2],
    /// Where both accept.
    pub mismatches: Vec<Mismatch>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Compared {
    Same,
    Different(Difference),
    /// A run was ended by a limit, so that there is nothing to compare.
    Unfinished,
}

/// Compares what two programs did with one input. Two that reject it are the same, whatever they
/// say about it, and so are two that crash.
pub fn compare(rules: &Rules, runs: [&Observation; 2]) -> Compared {
    let verdicts = runs.map(|run| rules.verdict(run.outcome));
    let class = match verdicts {
        [Verdict::Unfinished, _] | [_, Verdict::Unfinished] => return Compared::Unfinished,
        [a, b] if a == b && a != Verdict::Accepts => return Compared::Same,
        [Verdict::Crashes, _] => Class::Crashes(Side::A),
        [_, Verdict::Crashes] => Class::Crashes(Side::B),
        [Verdict::Rejects, _] => Class::Rejects(Side::A),
        [_, Verdict::Rejects] => Class::Rejects(Side::B),
        [Verdict::Accepts, Verdict::Accepts] => Class::BothAccept,
    };
    let mismatches = if class == Class::BothAccept { mismatches(rules, runs) } else { Vec::new() };
    if class == Class::BothAccept && mismatches.is_empty() {
        return Compared::Same;
    }
    let outcomes = runs.map(|run| run.outcome);
    Compared::Different(Difference { class, outcomes, mismatches })
}

impl Difference {
    /// Whether another difference may have the same origin.
    pub fn is_like(&self, other: &Difference) -> bool {
        self.class == other.class
            && self.outcomes == other.outcomes
            && self.kinds().eq(other.kinds())
    }

    pub fn kinds(&self) -> impl Iterator<Item = &Kind> {
        self.mismatches.iter().map(|mismatch| &mismatch.kind)
    }

    /// Whether each program did the same when it ran again: otherwise the difference tells of
    /// addresses or of the time, not of the programs.
    pub fn is_stable(
        &self,
        rules: &Rules,
        first: [&Observation; 2],
        again: [&Observation; 2],
    ) -> bool {
        (0..2).all(|side| {
            let says_the_same = || mismatches(rules, [first[side], again[side]]).is_empty();
            first[side].outcome == again[side].outcome
                && (self.class != Class::BothAccept || says_the_same())
        })
    }
}

fn mismatches(rules: &Rules, [a, b]: [&Observation; 2]) -> Vec<Mismatch> {
    let exit = (rules.counts(Aspect::Exit) && a.outcome != b.outcome).then(|| Mismatch {
        kind: Kind::Exit,
        place: "exit status".to_owned(),
        a: a.outcome.to_string(),
        b: b.outcome.to_string(),
    });
    let output = |aspect: Aspect, kind: fn(TokenKind, TokenKind) -> Kind, texts: [&[u8]; 2]| {
        rules.counts(aspect).then(|| text(rules, &aspect.to_string(), kind, texts)).flatten()
    };
    let stdout = output(Aspect::Stdout, Kind::Stdout, [&a.stdout, &b.stdout]);
    let stderr = output(Aspect::Stderr, Kind::Stderr, [&a.stderr, &b.stderr]);
    let files = rules.counts(Aspect::Files).then(|| files(rules, [a, b])).flatten();
    [exit, stdout, stderr, files].into_iter().flatten().collect()
}

fn text(
    rules: &Rules,
    place: &str,
    kind: fn(TokenKind, TokenKind) -> Kind,
    [a, b]: [&[u8]; 2],
) -> Option<Mismatch> {
    let (a, b) = (rules.normalised(a), rules.normalised(b));
    let parted = tokens::part(&a, &b, rules.tolerance)?;
    Some(Mismatch {
        kind: kind(parted.a.kind, parted.b.kind),
        place: format!("{place}, line {}", parted.line),
        a: shown(parted.a),
        b: shown(parted.b),
    })
}

/// The first file that differs, by name.
fn files(rules: &Rules, [a, b]: [&Observation; 2]) -> Option<Mismatch> {
    let names: std::collections::BTreeSet<&String> = a.files.keys().chain(b.files.keys()).collect();
    names.into_iter().find_map(|name| match (a.files.get(name), b.files.get(name)) {
        (Some(one), Some(other)) => text(rules, name, Kind::Content, [one, other]),
        (one, _) => {
            let side = if one.is_some() { Side::A } else { Side::B };
            let words = |has| if has { "it" } else { "no such file" }.to_owned();
            let (a, b) = (words(side == Side::A), words(side == Side::B));
            Some(Mismatch { kind: Kind::File(side), place: format!("file {name}"), a, b })
        }
    })
}

fn shown(token: Token<'_>) -> String {
    const MOST: usize = 40;
    if token.kind == TokenKind::End {
        return "the end".to_owned();
    }
    let text = &token.text[..token.text.len().min(MOST)];
    let more = if text.len() < token.text.len() { "…" } else { "" };
    format!("`{}{more}`", text.escape_ascii())
}
