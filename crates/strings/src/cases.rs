//! From a formula to cases without disjunction.

use crate::language::Languages;
use crate::problem::{Atom, Formula, Piece, Term};

/// An atom that must hold, or must not.
#[derive(Clone, Debug)]
pub struct Literal {
    pub atom: Atom,
    pub positive: bool,
}

/// Walks the cases of a conjunction of formulas one after the other.
///
/// With `disjoint`, no assignment satisfies two cases: a later branch of a disjunction says that the earlier ones fail.
pub struct Cases {
    open: Vec<Case>,
    disjoint: bool,
}

#[derive(Clone, Default)]
struct Case {
    todo: Vec<(Formula, bool)>,
    literals: Vec<Literal>,
}

impl Cases {
    pub fn new(constraints: &[Formula], disjoint: bool) -> Self {
        let todo = constraints.iter().rev().map(|formula| (formula.clone(), true)).collect();
        Cases { open: vec![Case { todo, literals: Vec::new() }], disjoint }
    }

    pub fn next(&mut self, languages: &mut Languages) -> Option<Vec<Literal>> {
        let mut case = self.open.pop()?;
        while let Some((formula, positive)) = case.todo.pop() {
            match formula {
                Formula::Atom(atom) => case.literals.push(Literal { atom, positive }),
                Formula::Not(inner) => case.todo.push((*inner, !positive)),
                Formula::And(parts) if positive => {
                    case.todo.extend(parts.into_iter().rev().map(|part| (part, true)))
                }
                Formula::Or(parts) if !positive => {
                    case.todo.extend(parts.into_iter().rev().map(|part| (part, false)))
                }
                Formula::And(parts) | Formula::Or(parts) => match one_membership(languages, &parts, positive)
                {
                    Some(atom) => case.literals.push(Literal { atom, positive: true }),
                    None => self.branch(&mut case, parts, positive)?,
                },
            }
        }
        Some(case.literals)
    }

    /// Goes on with the first part; the others wait. `None` if there are no parts and no other cases.
    fn branch(&mut self, case: &mut Case, parts: Vec<Formula>, positive: bool) -> Option<()> {
        let mut branches: Vec<Case> = (0..parts.len())
            .map(|i| {
                let mut branch = case.clone();
                if self.disjoint {
                    branch.todo.extend(parts[..i].iter().map(|part| (part.clone(), !positive)));
                }
                branch.todo.push((parts[i].clone(), positive));
                branch
            })
            .collect();
        branches.reverse();
        self.open.append(&mut branches);
        *case = self.open.pop()?;
        Some(())
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
