//! A problem: variables, and a formula over memberships, containments and equalities of terms.
//!
//! This is what front ends build. It says nothing about how it is solved.

use crate::language::{Language, Languages, UNBOUNDED};
use crate::scan::Size;

/// Index of a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct VariableId(pub usize);

#[derive(Clone, Debug)]
pub struct Variable {
    pub name: String,
    pub size: Size,
}

/// A piece of a term.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    Literal(Vec<u8>),
    Variable(VariableId),
    /// `length` bytes from `offset` on. Strings that are too short for it are no solutions.
    Slice {
        variable: VariableId,
        offset: u64,
        length: u64,
    },
}

/// A concatenation.
pub type Term = Vec<Piece>;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Atom {
    In(Term, Language),
    /// The first term contains the second.
    Contains(Term, Term),
    Equals(Term, Term),
    /// A sum of lengths, each times its factor, plus a constant is not negative.
    Lengths(Vec<(i128, VariableId)>, i128),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Formula {
    Atom(Atom),
    Not(Box<Formula>),
    And(Vec<Formula>),
    Or(Vec<Formula>),
}

impl Formula {
    pub fn negate(self) -> Self {
        match self {
            Formula::Not(inner) => *inner,
            other => Formula::Not(Box::new(other)),
        }
    }
}

impl From<Atom> for Formula {
    fn from(atom: Atom) -> Self {
        Formula::Atom(atom)
    }
}

#[derive(Debug, Default)]
pub struct Problem {
    pub languages: Languages,
    pub variables: Vec<Variable>,
    pub constraints: Vec<Formula>,
    /// Take the first solution that is found, not the shortest of its case.
    pub any_solution: bool,
    /// Whether the last solution was too long to be checked against the constraints. Recognizing
    /// takes quadratic time for some grammars.
    pub unchecked: bool,
}

impl Problem {
    /// A variable of any length.
    pub fn variable(&mut self, name: &str) -> VariableId {
        self.sized_variable(name, Size { least: 0, most: UNBOUNDED })
    }

    pub fn sized_variable(&mut self, name: &str, size: Size) -> VariableId {
        self.variables.push(Variable { name: name.to_string(), size });
        VariableId(self.variables.len() - 1)
    }

    pub fn require(&mut self, constraint: impl Into<Formula>) {
        self.constraints.push(constraint.into());
    }

    /// Checks an assignment against the constraints, one by one.
    pub fn holds(&mut self, assignment: &[Vec<u8>]) -> bool {
        let sizes = self.variables.iter().zip(assignment).all(|(variable, word)| {
            (variable.size.least..=variable.size.most).contains(&(word.len() as u64))
        });
        let constraints = std::mem::take(&mut self.constraints);
        let holds = sizes
            && constraints
                .iter()
                .all(|formula| self.formula_holds(formula, assignment) == Some(true));
        self.constraints = constraints;
        holds
    }

    /// `None` if a slice reaches beyond its string.
    fn formula_holds(&mut self, formula: &Formula, assignment: &[Vec<u8>]) -> Option<bool> {
        Some(match formula {
            Formula::Atom(Atom::In(term, language)) => {
                let word = value(term, assignment)?;
                self.languages.contains(*language, &word)
            }
            Formula::Atom(Atom::Contains(whole, part)) => {
                contains(&value(whole, assignment)?, &value(part, assignment)?)
            }
            Formula::Atom(Atom::Equals(a, b)) => value(a, assignment)? == value(b, assignment)?,
            Formula::Atom(Atom::Lengths(sum, constant)) => {
                let length = |variable: &VariableId| {
                    assignment.get(variable.0).map(|word| word.len() as i128)
                };
                let mut total = *constant;
                for (factor, variable) in sum {
                    total += factor * length(variable)?;
                }
                total >= 0
            }
            Formula::Not(inner) => !self.formula_holds(inner, assignment)?,
            Formula::And(parts) => {
                parts.iter().all(|part| self.formula_holds(part, assignment) == Some(true))
            }
            Formula::Or(parts) => {
                parts.iter().any(|part| self.formula_holds(part, assignment) == Some(true))
            }
        })
    }
}

/// The word of a term, `None` if a slice reaches beyond its string.
pub fn value(term: &[Piece], assignment: &[Vec<u8>]) -> Option<Vec<u8>> {
    let mut word = Vec::new();
    for piece in term {
        match piece {
            Piece::Literal(text) => word.extend_from_slice(text),
            Piece::Variable(variable) => word.extend_from_slice(assignment.get(variable.0)?),
            Piece::Slice { variable, offset, length } => {
                let (first, last) = (*offset as usize, offset.checked_add(*length)? as usize);
                word.extend_from_slice(assignment.get(variable.0)?.get(first..last)?);
            }
        }
    }
    Some(word)
}

pub(crate) fn contains(whole: &[u8], part: &[u8]) -> bool {
    part.is_empty() || whole.windows(part.len()).any(|window| window == part)
}
