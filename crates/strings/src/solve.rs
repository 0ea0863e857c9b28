//! Answers to problems.
//!
//! Each case of the formula is brought into memberships over segments and solved. Constraints that no language expresses
//! (two terms differ, one does not contain the other) are left out first; a solution that violates one is ruled out by
//! splitting on the word that violated it, which loses no other solution. Every answer `Sat` is checked against the
//! problem as it was given; very long ones only as far as that is cheap.

use crate::budget::{Budget, Stop};
use crate::cases::{Cases, Literal, membership};
use crate::checks::{Check, reads_twice, settle, split};
use crate::conjunction::Conjunction;
use crate::language::{Languages, UNBOUNDED};
use crate::problem::{Atom, Piece, Problem};
use crate::scan::{Conjunct, Part, Size};
use crate::search::Words;
use crate::segments::{Segments, Unified};

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// A word for each variable, in the order of declaration.
    Sat(Vec<Vec<u8>>),
    Unsat,
    Unknown(Stop),
}

/// How often a violated constraint may split a case.
const SPLITS: usize = 200;
/// How many steps checking a solution may take.
const CHECK: usize = 500_000;
/// Solutions with a word of this length may go unchecked, and say so.
const LONG: usize = 10_000;

impl Problem {
    /// A solution that is as short as possible within the first case of the formula that has one.
    pub fn solve(&mut self, budget: &mut Budget) -> Answer {
        let mut cases = Cases::new(&self.constraints, false);
        let mut answer = Answer::Unsat;
        self.languages.watch(budget);
        while let Some(literals) = cases.next(&mut self.languages) {
            let solved = budget.check_time().and_then(|()| self.solve_case(&literals, budget));
            match self.languages.stopped().and(solved) {
                Ok(Some(solution)) => return self.checked(solution, budget),
                Ok(None) => {}
                Err(Stop::Time) => return Answer::Unknown(Stop::Time),
                Err(stop) => answer = Answer::Unknown(stop),
            }
        }
        answer
    }

    fn checked(&mut self, solution: Vec<Vec<u8>>, budget: &Budget) -> Answer {
        self.languages.watch_up_to(budget, CHECK);
        let holds = self.holds(&solution);
        self.unchecked = self.languages.stopped().is_err();
        if self.unchecked && solution.iter().all(|word| word.len() < LONG) {
            return Answer::Unknown(Stop::Time);
        }
        if holds || self.unchecked {
            return Answer::Sat(solution);
        }
        Answer::Unknown(Stop::Unsupported("internal error: a solution failed its check".to_string()))
    }

    fn solve_case(
        &mut self,
        literals: &[Literal],
        budget: &mut Budget,
    ) -> Result<Option<Vec<Vec<u8>>>, Stop> {
        let split = self.split(literals, budget)?;
        let mut best: Option<Vec<Vec<u8>>> = None;
        for case in split.cases {
            let Some(words) = case.solve(&mut self.languages, budget)? else { continue };
            let solution: Vec<Vec<u8>> =
                (0..self.variables.len()).map(|v| word(&case.segments.variable(v), &words)).collect();
            let length = |solution: &Vec<Vec<u8>>| solution.iter().map(Vec::len).sum::<usize>();
            if best.as_ref().is_none_or(|best| length(&solution) < length(best)) {
                best = Some(solution);
            }
        }
        match (best, split.incomplete) {
            (None, Some(stop)) => Err(stop),
            (best, _) => Ok(best),
        }
    }
}

/// A case as memberships over segments.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    pub segments: Segments,
    pub conjuncts: Vec<Conjunct>,
    checks: Vec<Check>,
    /// Whether there are segments that are no part of a variable.
    helpers: bool,
}

impl Case {
    /// `None` if the case has no solution. `offsets` are the places where terms that are contained in others start.
    pub fn new(problem: &mut Problem, literals: &[Literal], offsets: &[u64]) -> Result<Option<Self>, Stop> {
        let terms = literals.iter().flat_map(|literal| match &literal.atom {
            Atom::In(term, _) => vec![term],
            Atom::Contains(a, b) | Atom::Equals(a, b) => vec![a, b],
            Atom::Lengths(..) => vec![],
        });
        let pieces: Vec<Piece> = terms.flatten().cloned().collect();
        let Some(segments) = Segments::new(&problem.variables, pieces.iter()) else { return Ok(None) };
        let mut case = Case { segments, conjuncts: Vec::new(), checks: Vec::new(), helpers: false };
        let mut offsets = offsets.iter().copied();
        for literal in literals {
            if let Some(inequality) = problem.inequality(literal) {
                match inequality.value(&problem.sizes()) {
                    Some(true) => continue,
                    Some(false) => return Ok(None),
                    None => return Err(Stop::Unsupported("lengths without bounds are compared".to_string())),
                }
            }
            if !case.add(&mut problem.languages, literal, &mut offsets)? {
                return Ok(None);
            }
        }
        Ok(Some(case.resolved(&problem.languages)))
    }

    /// Whether words of the segments and solutions correspond one to one.
    pub fn is_one_to_one(&self) -> bool {
        self.checks.is_empty() && !self.helpers
    }

    fn add(
        &mut self,
        languages: &mut Languages,
        literal: &Literal,
        offsets: &mut impl Iterator<Item = u64>,
    ) -> Result<bool, Stop> {
        if let Some((term, language)) = membership(languages, &literal.atom) {
            let language = if literal.positive { language } else { languages.not(language) };
            self.conjuncts.push(Conjunct { parts: self.segments.term(&term), language });
            return Ok(true);
        }
        match (&literal.atom, literal.positive) {
            (Atom::Equals(a, b), true) => {
                let (a, b) = (self.segments.term(a), self.segments.term(b));
                self.equate(languages, &a, &b)
            }
            (Atom::Contains(whole, part), true) => {
                let any = Size { least: 0, most: UNBOUNDED };
                self.helpers = true;
                let before = offsets.next().map_or(any, |offset| Size { least: offset, most: offset });
                let mut inside = vec![Part::Segment(self.segments.add(before))];
                inside.extend(self.segments.term(part));
                inside.push(Part::Segment(self.segments.add(any)));
                let whole = self.segments.term(whole);
                self.equate(languages, &whole, &inside)
            }
            (Atom::Equals(a, b), false) => {
                self.checks.push(Check::Differ(self.segments.term(a), self.segments.term(b)));
                Ok(true)
            }
            (Atom::Contains(whole, part), false) => {
                self.checks.push(Check::Lacks(self.segments.term(whole), self.segments.term(part)));
                Ok(true)
            }
            (Atom::In(..) | Atom::Lengths(..), _) => Ok(true),
        }
    }

    fn equate(&mut self, languages: &mut Languages, a: &[Part], b: &[Part]) -> Result<bool, Stop> {
        let mut more = Vec::new();
        let unified = self.segments.unify(languages, a, b, &mut more)?;
        self.conjuncts.append(&mut more);
        Ok(matches!(unified, Unified::Yes))
    }

    /// Puts what stands for segments into all conjuncts, now that all equations are known.
    fn resolved(mut self, languages: &Languages) -> Self {
        let sizes = self.segments.sizes();
        for conjunct in std::mem::take(&mut self.conjuncts) {
            let parts = self.segments.resolve(&conjunct.parts);
            if languages.has_grammar(conjunct.language) && reads_twice(&parts, &sizes) {
                self.checks.push(Check::In(parts, conjunct.language));
            } else {
                self.conjuncts.push(Conjunct { parts, language: conjunct.language });
            }
        }
        self.checks =
            self.checks.iter().map(|check| check.map(|parts| self.segments.resolve(parts))).collect();
        self
    }

    pub fn conjunction(&self) -> Conjunction {
        Conjunction {
            conjuncts: self.conjuncts.clone(),
            sizes: self.segments.sizes(),
            segments: self.segments.free(),
        }
    }

    fn solve(&self, languages: &mut Languages, budget: &mut Budget) -> Result<Option<Words>, Stop> {
        let mut open = vec![(self.conjunction(), self.checks.clone())];
        for _ in 0..SPLITS {
            let Some((mut conjunction, checks)) = open.pop() else { return Ok(None) };
            let Some(checks) = settle(languages, &mut conjunction, checks) else { continue };
            let Some(words) = conjunction.clone().solve(languages, budget)? else { continue };
            match checks.iter().find(|check| !check.holds(languages, &words)) {
                None => return Ok(Some(words)),
                Some(violated) => open.extend(split(languages, &conjunction, &checks, violated, &words)),
            }
        }
        Err(Stop::Unsupported(format!(
            "constraints between variables failed for {SPLITS} solutions in a row"
        )))
    }
}

pub(crate) fn word(parts: &[Part], words: &Words) -> Vec<u8> {
    let mut all = Vec::new();
    for part in parts {
        match part {
            Part::Literal(text) => all.extend_from_slice(text),
            Part::Segment(segment) => all.extend(words.get(segment).into_iter().flatten()),
        }
    }
    all
}
