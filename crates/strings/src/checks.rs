//! Constraints that no language expresses: two terms differ, one does not contain the other, a term
//! reads an unbounded segment twice in a context-free language.
//!
//! They are left out first. A solution that violates one is ruled out by splitting on the word of
//! one segment: the segment has another word, or it has this one, which makes the constraint
//! simpler. No other solution is lost.

use crate::conjunction::{Conjunction, segments_of};
use crate::language::{Language, Languages, UNBOUNDED};
use crate::problem::contains;
use crate::scan::{Conjunct, Part, SegmentId, Size};
use crate::search::Words;
use crate::solve::word;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Check {
    Differ(Vec<Part>, Vec<Part>),
    /// The first does not contain the second.
    Lacks(Vec<Part>, Vec<Part>),
    In(Vec<Part>, Language),
}

impl Check {
    pub fn map(&self, change: impl Fn(&[Part]) -> Vec<Part>) -> Self {
        match self {
            Check::Differ(a, b) => Check::Differ(change(a), change(b)),
            Check::Lacks(a, b) => Check::Lacks(change(a), change(b)),
            Check::In(parts, language) => Check::In(change(parts), *language),
        }
    }

    pub fn holds(&self, languages: &mut Languages, words: &Words) -> bool {
        match self {
            Check::Differ(a, b) => word(a, words) != word(b, words),
            Check::Lacks(a, b) => !contains(&word(a, words), &word(b, words)),
            Check::In(parts, language) => languages.contains(*language, &word(parts, words)),
        }
    }

    fn segments(&self) -> Vec<SegmentId> {
        match self {
            Check::Differ(a, b) | Check::Lacks(a, b) => {
                segments_of(a).chain(segments_of(b)).collect()
            }
            Check::In(parts, _) => segments_of(parts).collect(),
        }
    }

    /// The check as a membership, if it is one.
    fn membership(&self, languages: &mut Languages, sizes: &[Size]) -> Option<Conjunct> {
        let (parts, language) = match self {
            Check::Differ(a, b) => {
                let (text, other) =
                    constant(b).map(|text| (text, a)).or_else(|| Some((constant(a)?, b)))?;
                (other, languages.literal(&text))
            }
            Check::Lacks(whole, part) => {
                let text = constant(part)?;
                let literal = languages.literal(&text);
                (whole, languages.containing(literal))
            }
            Check::In(parts, language) if !reads_twice(parts, sizes) => {
                return Some(Conjunct { parts: parts.clone(), language: *language });
            }
            Check::In(..) => return None,
        };
        Some(Conjunct { parts: parts.clone(), language: languages.not(language) })
    }
}

/// Turns checks that have become memberships into conjuncts. `None` if a check can never hold.
pub fn settle(
    languages: &mut Languages,
    conjunction: &mut Conjunction,
    checks: Vec<Check>,
) -> Option<Vec<Check>> {
    let mut open = Vec::new();
    for check in checks {
        let check = match check {
            Check::Differ(a, b) => {
                let (a, b) = without_common_ends(a, b);
                Check::Differ(a, b)
            }
            other => other,
        };
        let never = match &check {
            Check::Differ(a, b) => a == b,
            Check::Lacks(whole, part) => {
                part.is_empty() || whole.windows(part.len()).any(|some| some == part)
            }
            Check::In(..) => false,
        };
        if never {
            return None;
        }
        match check.membership(languages, &conjunction.sizes) {
            Some(conjunct) => conjunction.conjuncts.push(conjunct),
            None => open.push(check),
        }
    }
    Some(open)
}

/// Rules out the violation by the word of one segment.
pub fn split(
    languages: &mut Languages,
    conjunction: &Conjunction,
    checks: &[Check],
    violated: &Check,
    words: &Words,
) -> Vec<(Conjunction, Vec<Check>)> {
    let length = |segment: &SegmentId| words.get(segment).map_or(0, Vec::len);
    let Some(segment) = violated.segments().into_iter().min_by_key(length) else {
        return Vec::new();
    };
    let text = words.get(&segment).cloned().unwrap_or_default();
    let literal = languages.literal(&text);
    let with = |language| {
        let mut conjunction = conjunction.clone();
        conjunction.conjuncts.push(Conjunct { parts: vec![Part::Segment(segment)], language });
        conjunction
    };
    let replaced =
        checks.iter().map(|check| check.map(|parts| replace(parts, segment, &text))).collect();
    vec![(with(languages.not(literal)), checks.to_vec()), (with(literal), replaced)]
}

/// Whether an unbounded segment, or any beside one, occurs twice.
pub fn reads_twice(parts: &[Part], sizes: &[Size]) -> bool {
    let mut segments: Vec<SegmentId> = segments_of(parts).collect();
    let count = segments.len();
    segments.sort_unstable();
    segments.dedup();
    segments.len() < count && segments.iter().any(|&segment| sizes[segment].most == UNBOUNDED)
}

/// Puts a text in place of a segment; adjacent literals become one.
fn replace(parts: &[Part], segment: SegmentId, text: &[u8]) -> Vec<Part> {
    let mut result: Vec<Part> = Vec::new();
    for part in parts {
        let part = if *part == Part::Segment(segment) {
            Part::Literal(text.to_vec())
        } else {
            part.clone()
        };
        match (result.last_mut(), part) {
            (_, Part::Literal(text)) if text.is_empty() => {}
            (Some(Part::Literal(before)), Part::Literal(text)) => before.extend(text),
            (_, part) => result.push(part),
        }
    }
    result
}

fn without_common_ends(mut a: Vec<Part>, mut b: Vec<Part>) -> (Vec<Part>, Vec<Part>) {
    while !a.is_empty() && a.last() == b.last() {
        a.pop();
        b.pop();
    }
    let common = a.iter().zip(&b).take_while(|(x, y)| x == y).count();
    (a.split_off(common), b.split_off(common))
}

fn constant(parts: &[Part]) -> Option<Vec<u8>> {
    match parts {
        [] => Some(Vec::new()),
        [Part::Literal(text)] => Some(text.clone()),
        _ => None,
    }
}
