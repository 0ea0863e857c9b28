//! Linear inequalities between the lengths of variables: what a case implies of them, and the lengths that satisfy them.

use crate::budget::{Budget, Stop};
use crate::cases::{Literal, membership};
use crate::language::UNBOUNDED;
use crate::problem::{Atom, Piece, Problem, Term, VariableId};
use crate::scan::Size;

/// Unbounded variables are tried with this many lengths, with fewer if there are many variables.
const LENGTHS: [u64; 4] = [12, 6, 4, 2];
/// No more choices than this are tried.
const CHOICES: usize = 20_000;
/// The same where choices do not cover everything.
const GUESSES: usize = 3_000;
/// Bounds follow from each other this many times.
const ROUNDS: usize = 20;

/// The sum of the lengths times their factors plus the constant is not negative.
#[derive(Clone, Debug, Default)]
pub struct Inequality {
    sum: Vec<(i128, VariableId)>,
    constant: i128,
}

impl Inequality {
    /// Adds the length of a term times a factor.
    fn add(&mut self, factor: i128, term: &Term) {
        for piece in term {
            match piece {
                Piece::Literal(text) => self.constant += factor * text.len() as i128,
                Piece::Slice { length, .. } => self.constant += factor * i128::from(*length),
                Piece::Variable(variable) => self.sum.push((factor, *variable)),
            }
        }
    }

    /// `|a| >= |b|`
    fn between(a: &Term, b: &Term) -> Self {
        let mut inequality = Inequality::default();
        inequality.add(1, a);
        inequality.add(-1, b);
        inequality
    }

    /// The greatest value of the sum without its `skip`th part; `None` if there is none.
    fn greatest(&self, sizes: &[Size], skip: Option<usize>) -> Option<i128> {
        let mut total = self.constant;
        for (_, &(factor, variable)) in self.sum.iter().enumerate().filter(|&(i, _)| Some(i) != skip) {
            let size = sizes[variable.0];
            let length = if factor > 0 { size.most } else { size.least };
            if factor > 0 && length == UNBOUNDED {
                return None;
            }
            total += factor * i128::from(length);
        }
        Some(total)
    }

    fn can_hold(&self, sizes: &[Size]) -> bool {
        self.greatest(sizes, None).is_none_or(|greatest| greatest >= 0)
    }

    /// Whether it holds, if all lengths are known.
    pub fn value(&self, sizes: &[Size]) -> Option<bool> {
        let known = self.sum.iter().all(|(_, variable)| {
            let size = sizes[variable.0];
            size.least == size.most
        });
        known.then(|| self.can_hold(sizes))
    }

    /// Restricts each length by what the others allow.
    fn narrow(&self, sizes: &mut [Size]) {
        for (i, &(factor, variable)) in self.sum.iter().enumerate() {
            let Some(others) = self.greatest(sizes, Some(i)) else { continue };
            let size = &mut sizes[variable.0];
            let magnitude = factor.abs();
            if factor > 0 {
                let least =
                    (-others).div_euclid(magnitude) + i128::from((-others).rem_euclid(magnitude) != 0);
                size.least = size.least.max(u64::try_from(least.max(0)).unwrap_or(UNBOUNDED - 1));
            } else if factor < 0 {
                let most = others.div_euclid(magnitude);
                // A negative bound cannot be met: leave a size that is empty.
                let (least, most) = if most < 0 { (1, 0) } else { (0, most) };
                size.least = size.least.max(least);
                size.most = size.most.min(u64::try_from(most).unwrap_or(UNBOUNDED));
            }
        }
    }
}

impl Problem {
    pub(crate) fn sizes(&self) -> Vec<Size> {
        self.variables.iter().map(|variable| variable.size).collect()
    }

    /// A literal about lengths as an inequality.
    pub(crate) fn inequality(&self, literal: &Literal) -> Option<Inequality> {
        let Atom::Lengths(sum, constant) = &literal.atom else { return None };
        if literal.positive {
            return Some(Inequality { sum: sum.clone(), constant: *constant });
        }
        let sum = sum.iter().map(|&(factor, variable)| (-factor, variable)).collect();
        Some(Inequality { sum, constant: -constant - 1 })
    }

    /// What literals say or imply of lengths.
    pub(crate) fn implied(&mut self, literals: &[Literal]) -> Vec<Inequality> {
        let mut all = Vec::new();
        for literal in literals {
            all.extend(self.inequality(literal));
            match &literal.atom {
                Atom::Equals(a, b) if literal.positive => {
                    all.extend([Inequality::between(a, b), Inequality::between(b, a)]);
                }
                Atom::Contains(whole, part) if literal.positive => {
                    all.push(Inequality::between(whole, part));
                }
                _ => {}
            }
            if let Some((term, language)) = membership(&mut self.languages, &literal.atom) {
                let language = if literal.positive { language } else { self.languages.not(language) };
                let (shortest, longest) =
                    (self.languages.shortest(language), self.languages.longest(language));
                let mut least = Inequality { sum: Vec::new(), constant: -i128::from(shortest) };
                least.add(1, &term);
                all.push(least);
                if longest != UNBOUNDED {
                    let mut most = Inequality { sum: Vec::new(), constant: i128::from(longest) };
                    most.add(-1, &term);
                    all.push(most);
                }
            }
        }
        all
    }
}

/// Restricts sizes to what the inequalities allow; false if they allow nothing.
pub fn narrow(inequalities: &[Inequality], sizes: &mut [Size]) -> bool {
    for _ in 0..ROUNDS {
        let before = sizes.to_vec();
        inequalities.iter().for_each(|inequality| inequality.narrow(sizes));
        if sizes.iter().any(|size| size.least > size.most) {
            return false;
        }
        if before == sizes {
            break;
        }
    }
    inequalities.iter().all(|inequality| inequality.can_hold(sizes))
}

/// The lengths of `variables` that may satisfy the inequalities; `None` if they are too many.
pub fn choices(
    variables: &[VariableId],
    sizes: &[Size],
    inequalities: &[Inequality],
    budget: &mut Budget,
) -> Result<Option<Vec<Vec<u64>>>, Stop> {
    let unbounded = variables.iter().any(|variable| sizes[variable.0].most == UNBOUNDED);
    let limits = if unbounded { &LENGTHS[..] } else { &LENGTHS[..1] };
    for &lengths in limits {
        let mut sizes = sizes.to_vec();
        for variable in variables {
            let size = &mut sizes[variable.0];
            if size.most == UNBOUNDED {
                size.most = size.least.saturating_add(lengths);
            }
        }
        let limit = if unbounded { GUESSES } else { CHOICES };
        let mut found = Choices { variables, inequalities, found: Vec::new(), limit, budget };
        if found.extend(&mut Vec::new(), &mut sizes)? {
            return Ok(Some(found.found));
        }
    }
    Ok(None)
}

struct Choices<'a> {
    variables: &'a [VariableId],
    inequalities: &'a [Inequality],
    found: Vec<Vec<u64>>,
    limit: usize,
    budget: &'a mut Budget,
}

impl Choices<'_> {
    /// Goes through the lengths of the next variable; false if there are too many choices.
    fn extend(&mut self, chosen: &mut Vec<u64>, sizes: &mut [Size]) -> Result<bool, Stop> {
        let Some(variable) = self.variables.get(chosen.len()) else {
            self.found.push(chosen.clone());
            return Ok(self.found.len() <= self.limit);
        };
        let size = sizes[variable.0];
        if size.most - size.least > CHOICES as u64 {
            return Ok(false);
        }
        for length in size.least..=size.most {
            self.budget.work(self.inequalities.len())?;
            sizes[variable.0] = Size { least: length, most: length };
            if self.inequalities.iter().all(|inequality| inequality.can_hold(sizes)) {
                chosen.push(length);
                let few = self.extend(chosen, sizes)?;
                chosen.pop();
                if !few {
                    return Ok(false);
                }
            }
        }
        sizes[variable.0] = size;
        Ok(true)
    }
}
