//! From a formula to cases without disjunction.

use crate::language::Languages;
use crate::problem::{Atom, Formula, Piece, Problem, Term};

/// An atom that must hold, or must not.
#[derive(Clone, Debug)]
pub struct Literal {
    pub atom: Atom,
    pub positive: bool,
}

/// Walks the cases of a conjunction of formulas one after the other.
///
/// With `disjoint`, no assignment satisfies two cases: a later branch of a disjunction says that
/// the earlier ones fail.
pub struct Cases {
    open: Vec<Case>,
    disjoint: bool,
}

#[derive(Clone, Default)]
struct Case {
    todo: Vec<(Formula, bool)>,
    literals: Vec<Literal>,
    /// Disjunctions that wait until everything else is known, the last one first.
    disjunctions: Vec<(Vec<Formula>, bool)>,
}

impl Cases {
    pub fn new(constraints: &[Formula], disjoint: bool) -> Self {
        let todo = constraints.iter().rev().map(|formula| (formula.clone(), true)).collect();
        Cases { open: vec![Case { todo, ..Case::default() }], disjoint }
    }

    /// The next case. Those that cannot hold because of lengths are passed over.
    pub fn next(&mut self, problem: &mut Problem) -> Option<Vec<Literal>> {
        while let Some(mut case) = self.open.pop() {
            case.flatten(&mut problem.languages);
            if case.disjunctions.is_empty() {
                return Some(case.literals);
            }
            if problem.lengths_can_hold(&case.literals)
                && let Some((parts, positive)) = case.disjunctions.pop()
            {
                self.branch(&case, &parts, positive);
            }
        }
        None
    }

    /// One case for each part, the first on top.
    fn branch(&mut self, case: &Case, parts: &[Formula], positive: bool) {
        for i in (0..parts.len()).rev() {
            let mut branch = case.clone();
            if self.disjoint {
                branch.todo.extend(parts[..i].iter().map(|part| (part.clone(), !positive)));
            }
            branch.todo.push((parts[i].clone(), positive));
            self.open.push(branch);
        }
    }
}

impl Case {
    /// Takes everything apart but disjunctions.
    fn flatten(&mut self, languages: &mut Languages) {
        let waiting = self.disjunctions.len();
        while let Some((formula, positive)) = self.todo.pop() {
            match formula {
                Formula::Atom(atom) => self.literals.push(Literal { atom, positive }),
                Formula::Not(inner) => self.todo.push((*inner, !positive)),
                Formula::And(parts) if positive => {
                    self.todo.extend(parts.into_iter().rev().map(|part| (part, true)))
                }
                Formula::Or(parts) if !positive => {
                    self.todo.extend(parts.into_iter().rev().map(|part| (part, false)))
                }
                Formula::And(parts) | Formula::Or(parts) => {
                    match one_membership(languages, &parts, positive) {
                        Some(atom) => self.literals.push(Literal { atom, positive: true }),
                        None => self.disjunctions.push((parts, positive)),
                    }
                }
            }
        }
        self.disjunctions[waiting..].reverse();
    }
}

/// A disjunction of memberships of one term is a membership in the union.
fn one_membership(languages: &mut Languages, parts: &[Formula], positive: bool) -> Option<Atom> {
    let mut subject: Option<Term> = None;
    let mut union = Vec::new();
    for part in parts {
        let (atom, positive) = match part {
            Formula::Atom(atom) => (atom, positive),
            Formula::Not(inner) => match &**inner {
                Formula::Atom(atom) => (atom, !positive),
                _ => return None,
            },
            _ => return None,
        };
        let (term, language) = membership(languages, atom)?;
        if *subject.get_or_insert_with(|| term.clone()) != term {
            return None;
        }
        union.push(if positive { language } else { languages.not(language) });
    }
    let language = languages.or(union);
    Some(Atom::In(subject?, language))
}

/// The atom as a membership, if one side of it is a constant.
pub fn membership(languages: &mut Languages, atom: &Atom) -> Option<(Term, crate::Language)> {
    match atom {
        Atom::In(term, language) => Some((term.clone(), *language)),
        Atom::Contains(whole, part) => {
            let text = constant(part)?;
            let literal = languages.literal(&text);
            Some((whole.clone(), languages.containing(literal)))
        }
        Atom::Lengths(..) => None,
        Atom::Equals(a, b) => {
            let (term, text) = match (constant(a), constant(b)) {
                (_, Some(text)) => (a, text),
                (Some(text), None) => (b, text),
                (None, None) => return None,
            };
            Some((term.clone(), languages.literal(&text)))
        }
    }
}

fn constant(term: &[Piece]) -> Option<Vec<u8>> {
    let mut text = Vec::new();
    for piece in term {
        match piece {
            Piece::Literal(part) => text.extend_from_slice(part),
            _ => return None,
        }
    }
    Some(text)
}
