//! Equations between terms of unknown lengths: one case for each choice of lengths.
//!
//! Bounded lengths are all tried, so nothing is lost. Unbounded ones are tried up to a limit, and
//! the answer says so.

use crate::budget::{Budget, Stop};
use crate::cases::{Literal, membership};
use crate::inequalities::{choices, narrow};
use crate::language::UNBOUNDED;
use crate::problem::{Atom, Piece, Problem, Term, VariableId};
use crate::scan::Size;
use crate::solve::Case;

/// A case is as large as this many states.
const STATES_OF_A_CASE: usize = 16;

/// Cases that together cover a conjunction, or a part of it.
pub struct Split {
    pub cases: Vec<Case>,
    /// Why the cases do not cover everything.
    pub incomplete: Option<Stop>,
}

impl Problem {
    /// The cases of a conjunction, in such a form that solutions can be counted.
    pub(crate) fn split(
        &mut self,
        literals: &[Literal],
        budget: &mut Budget,
    ) -> Result<Split, Stop> {
        let reason = match Case::all(self, literals, &[], budget) {
            Ok(cases)
                if cases.len() <= 1 && cases.iter().all(|case| case.inequalities.is_empty()) =>
            {
                return Ok(Split { cases, incomplete: None });
            }
            Ok(cases) if cases.iter().all(Case::is_one_to_one) => {
                return Ok(Split { cases, incomplete: None });
            }
            Ok(_) => "terms of unknown lengths are compared".to_string(),
            Err(Stop::Unsupported(reason)) => reason,
            Err(stop) => return Err(stop),
        };
        self.split_by_lengths(literals, Stop::Unsupported(reason), budget)
    }

    /// One case for each choice of the lengths that equations depend on. `reason` says why this is
    /// needed.
    pub(crate) fn split_by_lengths(
        &mut self,
        literals: &[Literal],
        reason: Stop,
        budget: &mut Budget,
    ) -> Result<Split, Stop> {
        let declared = self.sizes();
        let inequalities = self.implied(literals);
        let mut sizes = declared.clone();
        if !narrow(&inequalities, &mut sizes) {
            return Ok(Split { cases: Vec::new(), incomplete: None });
        }
        let variables = self.variables_of_equations(literals);
        let unbounded = variables.iter().any(|variable| sizes[variable.0].most == UNBOUNDED);
        let Some(choices) = choices(&variables, &sizes, &inequalities, budget)? else {
            return Err(reason);
        };
        let mut cases = Vec::new();
        for lengths in choices {
            for (variable, &length) in variables.iter().zip(&lengths) {
                self.variables[variable.0].size = Size { least: length, most: length };
            }
            let added = self.split_by_offsets(literals, &mut cases, budget);
            for (variable, size) in self.variables.iter_mut().zip(&declared) {
                variable.size = *size;
            }
            added?;
        }
        Ok(Split { cases, incomplete: unbounded.then_some(reason) })
    }

    /// Adds the cases for all places where contained terms may start; all lengths are known now.
    fn split_by_offsets(
        &mut self,
        literals: &[Literal],
        cases: &mut Vec<Case>,
        budget: &mut Budget,
    ) -> Result<(), Stop> {
        let mut ranges = Vec::new();
        for literal in literals.iter().filter(|literal| literal.positive) {
            if let Atom::Contains(whole, _) = &literal.atom
                && membership(&mut self.languages, &literal.atom).is_none()
            {
                ranges.push((0, self.length(whole)));
            }
        }
        let mut offsets = vec![0; ranges.len()];
        loop {
            budget.spend_many(STATES_OF_A_CASE)?;
            cases.extend(Case::all(self, literals, &offsets, budget)?);
            if !next(&mut offsets, &ranges) {
                return Ok(());
            }
        }
    }

    fn length(&self, term: &Term) -> u64 {
        let length = |piece: &Piece| match piece {
            Piece::Literal(text) => text.len() as u64,
            Piece::Variable(variable) => self.variables[variable.0].size.most,
            Piece::Slice { length, .. } => *length,
        };
        term.iter().map(length).sum()
    }

    /// Variables of unknown length in atoms that are no memberships.
    fn variables_of_equations(&mut self, literals: &[Literal]) -> Vec<VariableId> {
        let mut variables = Vec::new();
        for literal in literals {
            if let Atom::Lengths(sum, _) = &literal.atom {
                variables.extend(sum.iter().map(|&(_, variable)| variable));
            }
            if !literal.positive || membership(&mut self.languages, &literal.atom).is_some() {
                continue;
            }
            if let Atom::Contains(a, b) | Atom::Equals(a, b) = &literal.atom {
                variables.extend(a.iter().chain(b).filter_map(|piece| match piece {
                    Piece::Literal(_) => None,
                    Piece::Variable(variable) | Piece::Slice { variable, .. } => Some(*variable),
                }));
            }
        }
        variables.sort_unstable();
        variables.dedup();
        variables.retain(|variable| {
            let size = self.variables[variable.0].size;
            size.least < size.most
        });
        variables
    }
}

/// Counts up within ranges, the last place first; false after the last.
fn next(values: &mut [u64], ranges: &[(u64, u64)]) -> bool {
    for i in (0..values.len()).rev() {
        if values[i] < ranges[i].1 {
            values[i] += 1;
            return true;
        }
        values[i] = ranges[i].0;
    }
    false
}
