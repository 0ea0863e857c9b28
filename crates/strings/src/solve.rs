//! Answers to problems.
//!
//! Each case of the formula is brought into memberships over segments and solved. Constraints that
//! no language expresses (two terms differ, one does not contain the other) are left out first; a
//! solution that violates one is ruled out by splitting on the word that violated it, which loses
//! no other solution. Every answer `Sat` is checked against the problem as it was given; very long
//! ones only as far as that is cheap.

use crate::budget::{Budget, Stop};
use crate::cases::{Cases, Literal, membership};
use crate::checks::{Check, reads_twice, settle, split};
use crate::conjunction::Conjunction;
use crate::inequalities::Inequality;
use crate::language::{Languages, UNBOUNDED};
use crate::levi::{Equation, solve_equations};
use crate::problem::{Atom, Piece, Problem};
use crate::scan::{Conjunct, Part, Size};
use crate::search::Words;
use crate::segments::Segments;

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
    /// A solution, as short as possible within the first case of the formula that has one unless
    /// any will do. Where lengths without bounds are compared, it need not be the shortest.
    pub fn solve(&mut self, budget: &mut Budget) -> Answer {
        let mut cases = Cases::new(&self.constraints, false);
        let mut answer = Answer::Unsat;
        self.languages.watch(budget);
        while let Some(literals) = cases.next(self) {
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
        Answer::Unknown(Stop::Unsupported(
            "internal error: a solution failed its check".to_string(),
        ))
    }

    fn solve_case(
        &mut self,
        literals: &[Literal],
        budget: &mut Budget,
    ) -> Result<Option<Vec<Vec<u8>>>, Stop> {
        if self.lengths_are_refuted(literals, budget)? {
            return Ok(None);
        }
        let exact =
            Case::all(self, literals, &[], budget).and_then(|cases| self.best_of(&cases, budget));
        let Err(Stop::Unsupported(reason)) = exact else { return exact };
        if self.memberships_are_refuted(literals, budget)? {
            return Ok(None);
        }
        let split = self.split_by_lengths(literals, Stop::Unsupported(reason), budget)?;
        match (self.best_of(&split.cases, budget)?, split.incomplete) {
            (None, Some(stop)) => Err(stop),
            (best, _) => Ok(best),
        }
    }

    /// Whether the literals that are memberships have no solution, whatever the others say.
    fn memberships_are_refuted(
        &mut self,
        literals: &[Literal],
        budget: &mut Budget,
    ) -> Result<bool, Stop> {
        let mut memberships = literals.to_vec();
        memberships.retain(|literal| membership(&mut self.languages, &literal.atom).is_some());
        if memberships.len() == literals.len() {
            return Ok(false);
        }
        let cases = Case::all(self, &memberships, &[], budget);
        match cases.and_then(|cases| self.best_of(&cases, budget)) {
            Ok(solution) => Ok(solution.is_none()),
            Err(Stop::Time) => Err(Stop::Time),
            Err(_) => Ok(false),
        }
    }

    /// A shortest solution of some cases. If not all can be decided, any solution will do.
    fn best_of(
        &mut self,
        cases: &[Case],
        budget: &mut Budget,
    ) -> Result<Option<Vec<Vec<u8>>>, Stop> {
        let mut best: Option<Vec<Vec<u8>>> = None;
        let mut undecided = Ok(());
        for case in cases {
            let words = match case.solve(&mut self.languages, budget) {
                Ok(Some(words)) => words,
                Ok(None) => continue,
                Err(Stop::Unsupported(reason)) => {
                    undecided = Err(Stop::Unsupported(reason));
                    continue;
                }
                Err(stop) if best.is_none() => return Err(stop),
                Err(_) => break,
            };
            let solution: Vec<Vec<u8>> = (0..self.variables.len())
                .map(|v| word(&case.segments.variable(v), &words))
                .collect();
            if self.any_solution {
                return Ok(Some(solution));
            }
            let length = |solution: &Vec<Vec<u8>>| solution.iter().map(Vec::len).sum::<usize>();
            if best.as_ref().is_none_or(|best| length(&solution) < length(best)) {
                best = Some(solution);
            }
        }
        match best {
            None => undecided.map(|()| None),
            best => Ok(best),
        }
    }
}

/// A case as memberships over segments.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    pub segments: Segments,
    pub conjuncts: Vec<Conjunct>,
    checks: Vec<Check>,
    /// Conditions on the lengths of segments.
    pub inequalities: Vec<Inequality>,
    /// Whether there are segments that are no part of a variable.
    helpers: bool,
}

impl Case {
    /// The cases that literals amount to: one, unless equations between terms of unknown lengths
    /// need more. `offsets` are the places where terms that are contained in others start, as far
    /// as they are known.
    pub fn all(
        problem: &mut Problem,
        literals: &[Literal],
        offsets: &[u64],
        budget: &mut Budget,
    ) -> Result<Vec<Self>, Stop> {
        let Some(sizes) = problem.known_sizes(literals) else { return Ok(Vec::new()) };
        let Some((case, equations)) = Case::new(problem, &sizes, literals, offsets) else {
            return Ok(Vec::new());
        };
        let lengths: Vec<Inequality> =
            literals.iter().filter_map(|literal| problem.inequality(literal)).collect();
        let solved = solve_equations(&mut problem.languages, case, equations, &lengths, budget)?;
        Ok(solved
            .into_iter()
            .filter_map(|case| case.resolved(&problem.languages, &lengths))
            .collect())
    }

    /// What literals say, and their equations, which are not solved yet. `None` if there is no
    /// solution.
    fn new(
        problem: &mut Problem,
        sizes: &[Size],
        literals: &[Literal],
        offsets: &[u64],
    ) -> Option<(Self, Vec<Equation>)> {
        let terms = literals.iter().flat_map(|literal| match &literal.atom {
            Atom::In(term, _) => vec![term],
            Atom::Contains(a, b) | Atom::Equals(a, b) => vec![a, b],
            Atom::Lengths(..) => vec![],
        });
        let pieces: Vec<Piece> = terms.flatten().cloned().collect();
        let segments = Segments::new(sizes, pieces.iter())?;
        let (conjuncts, checks, inequalities) = (Vec::new(), Vec::new(), Vec::new());
        let mut case = Case { segments, conjuncts, checks, inequalities, helpers: false };
        let mut offsets = offsets.iter().copied();
        let mut equations = Vec::new();
        for literal in literals {
            equations.extend(case.add(&mut problem.languages, literal, &mut offsets));
        }
        Some((case, equations))
    }

    /// Whether words of the segments and solutions correspond one to one.
    pub fn is_one_to_one(&self) -> bool {
        self.checks.is_empty() && self.inequalities.is_empty() && !self.helpers
    }

    /// Takes a literal up; one that is an equation is given back.
    fn add(
        &mut self,
        languages: &mut Languages,
        literal: &Literal,
        offsets: &mut impl Iterator<Item = u64>,
    ) -> Option<Equation> {
        if let (Atom::Equals(a, b), true) = (&literal.atom, literal.positive)
            && matches!((&a[..], &b[..]), ([Piece::Variable(_)], _) | (_, [Piece::Variable(_)]))
        {
            return Some((self.segments.term(a), self.segments.term(b)));
        }
        if let Some((term, language)) = membership(languages, &literal.atom) {
            let language = if literal.positive { language } else { languages.not(language) };
            self.conjuncts.push(Conjunct { parts: self.segments.term(&term), language });
            return None;
        }
        match (&literal.atom, literal.positive) {
            (Atom::Equals(a, b), true) => {
                return Some((self.segments.term(a), self.segments.term(b)));
            }
            (Atom::Contains(whole, part), true) => {
                let any = Size { least: 0, most: UNBOUNDED };
                self.helpers = true;
                let before =
                    offsets.next().map_or(any, |offset| Size { least: offset, most: offset });
                let mut inside = vec![Part::Segment(self.segments.add(before))];
                inside.extend(self.segments.term(part));
                inside.push(Part::Segment(self.segments.add(any)));
                return Some((self.segments.term(whole), inside));
            }
            (Atom::Equals(a, b), false) => {
                self.checks.push(Check::Differ(self.segments.term(a), self.segments.term(b)));
            }
            (Atom::Contains(whole, part), false) => {
                self.checks.push(Check::Lacks(self.segments.term(whole), self.segments.term(part)));
            }
            (Atom::In(..) | Atom::Lengths(..), _) => {}
        }
        None
    }

    /// Puts what stands for segments into everything, now that all equations are solved. `None` if
    /// `lengths`, conditions on the lengths of variables, cannot hold.
    fn resolved(mut self, languages: &Languages, lengths: &[Inequality]) -> Option<Self> {
        let sizes = self.segments.sizes();
        for conjunct in std::mem::take(&mut self.conjuncts) {
            let parts = self.segments.resolve(&conjunct.parts);
            if languages.has_grammar(conjunct.language) && reads_twice(&parts, &sizes) {
                self.checks.push(Check::In(parts, conjunct.language));
            } else {
                self.conjuncts.push(Conjunct { parts, language: conjunct.language });
            }
        }
        self.checks = self
            .checks
            .iter()
            .map(|check| check.map(|parts| self.segments.resolve(parts)))
            .collect();
        for inequality in self.of_segments(lengths) {
            match inequality.value(&sizes) {
                Some(true) => {}
                Some(false) => return None,
                None => self.inequalities.push(inequality),
            }
        }
        Some(self)
    }

    /// Conditions on the lengths of variables as such on the lengths of segments.
    pub fn of_segments(&self, lengths: &[Inequality]) -> Vec<Inequality> {
        let of_parts = |inequality: &Inequality| inequality.of_parts(|v| self.segments.variable(v));
        lengths.iter().map(of_parts).collect()
    }

    pub fn conjunction(&self) -> Conjunction {
        Conjunction {
            conjuncts: self.conjuncts.clone(),
            sizes: self.segments.sizes(),
            segments: self.segments.free(),
            inequalities: self.inequalities.clone(),
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
                Some(violated) => {
                    open.extend(split(languages, &conjunction, &checks, violated, &words))
                }
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
