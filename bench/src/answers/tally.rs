//! Verdicts, counted by the part of the chain that gave the answer.

use super::judge::Verdict;
use solver::Counters;
use std::collections::BTreeMap;
use std::fmt::{self, Write as _};

#[derive(Default)]
pub struct Tally(BTreeMap<&'static str, BTreeMap<&'static str, usize>>);

/// The part of the chain whose counters tell that it answered.
pub fn answered(
    before: &[(&'static str, Counters)],
    after: impl Iterator<Item = (&'static str, Counters)>,
) -> &'static str {
    let answers = |counters: &Counters| (counters.sat, counters.unsat);
    let mut grown = after.zip(before).filter(|((_, now), (_, then))| answers(now) != answers(then));
    grown.next().map_or("slicing", |((name, _), _)| name)
}

fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Meets => "sat",
        Verdict::Fails => "wrong sat",
        Verdict::Impossible => "unsat",
        Verdict::Refuted => "wrong unsat",
        Verdict::Undecided => "unsat, not decided by Z3",
        Verdict::Unknown => "unknown",
    }
}

impl Tally {
    pub fn count(&mut self, part: &'static str, verdict: Verdict) {
        let part = if verdict == Verdict::Unknown { "none" } else { part };
        *self.0.entry(part).or_default().entry(word(verdict)).or_default() += 1;
    }

    pub fn add(&mut self, other: &Tally) {
        for (part, verdicts) in &other.0 {
            for (word, count) in verdicts {
                *self.0.entry(part).or_default().entry(word).or_default() += count;
            }
        }
    }

    pub fn asked(&self) -> usize {
        self.0.values().flat_map(BTreeMap::values).sum()
    }

    pub fn wrong(&self) -> usize {
        self.sum(word(Verdict::Fails)) + self.sum(word(Verdict::Refuted))
    }

    fn sum(&self, word: &str) -> usize {
        self.0.values().filter_map(|verdicts| verdicts.get(word)).sum()
    }

    /// One line for each part.
    pub fn by_part(&self) -> String {
        let mut text = String::new();
        for (part, verdicts) in &self.0 {
            let verdicts: Vec<String> =
                verdicts.iter().map(|(word, n)| format!("{n} {word}")).collect();
            let _ = writeln!(text, "  {part:<11} {}", verdicts.join(", "));
        }
        text
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sum = |verdict| self.sum(word(verdict));
        write!(
            out,
            "{} questions: {} sat, {} unsat, {} unknown; {} wrong, {} not decided by Z3",
            self.asked(),
            sum(Verdict::Meets),
            sum(Verdict::Impossible) + sum(Verdict::Undecided),
            sum(Verdict::Unknown),
            self.wrong(),
            sum(Verdict::Undecided)
        )
    }
}
