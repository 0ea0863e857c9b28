//! Linear inequalities between the lengths of variables: what a case implies of them, and the
//! lengths that satisfy them.

use crate::budget::{Budget, Stop};
use crate::cases::{Literal, membership};
use crate::language::UNBOUNDED;
use crate::linear::{Outcome, Row, solve};
use crate::problem::{Atom, Piece, Problem, Term, VariableId};
use crate::scan::{Part, Size};
use crate::segments::SHORT;

/// Unbounded variables are tried with this many lengths, with fewer if there are many variables.
const LENGTHS: [u64; 4] = [12, 6, 4, 2];
/// No more choices than this are tried.
const CHOICES: usize = 20_000;
/// The same where choices do not cover everything.
const GUESSES: usize = 3_000;
/// Bounds follow from each other this many times.
const ROUNDS: usize = 20;

/// The sum of the lengths times their factors plus the constant is not negative. Lengths are those
/// of variables or of segments, by index.
#[derive(Clone, Debug, Default)]
pub struct Inequality {
    pub sum: Vec<(i128, usize)>,
    pub constant: i128,
}

impl Inequality {
    /// Adds one length times a factor.
    pub fn add_length(&mut self, factor: i128, index: usize) {
        match self.sum.iter_mut().find(|known| known.1 == index) {
            Some(known) => known.0 += factor,
            None => self.sum.push((factor, index)),
        }
    }

    /// Adds the length of a sequence of parts times a factor.
    pub fn add_parts(&mut self, factor: i128, parts: &[Part]) {
        for part in parts {
            match part {
                Part::Literal(text) => self.constant += factor * text.len() as i128,
                Part::Segment(segment) => self.add_length(factor, *segment),
            }
        }
    }

    /// Adds the length of a term times a factor.
    fn add(&mut self, factor: i128, term: &Term) {
        for piece in term {
            match piece {
                Piece::Literal(text) => self.constant += factor * text.len() as i128,
                Piece::Slice { length, .. } => self.constant += factor * i128::from(*length),
                Piece::Variable(variable) => self.add_length(factor, variable.0),
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

    /// The same over the segments of which variables consist.
    pub fn of_parts(&self, parts: impl Fn(usize) -> Vec<Part>) -> Self {
        let mut total = Inequality { sum: Vec::new(), constant: self.constant };
        for &(factor, variable) in &self.sum {
            total.add_parts(factor, &parts(variable));
        }
        total.sum.retain(|part| part.0 != 0);
        total
    }

    /// The greatest value of the sum without its `skip`th part; `None` if there is none.
    fn greatest(&self, sizes: &[Size], skip: Option<usize>) -> Option<i128> {
        let mut total = self.constant;
        let others =
            self.sum.iter().enumerate().filter(|&(i, part)| Some(i) != skip && part.0 != 0);
        for (_, &(factor, variable)) in others {
            let size = sizes[variable];
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
        let known = self.sum.iter().all(|&(_, variable)| {
            let size = sizes[variable];
            size.least == size.most
        });
        known.then(|| self.can_hold(sizes))
    }

    /// Restricts each length by what the others allow.
    fn narrow(&self, sizes: &mut [Size]) {
        for (i, &(factor, variable)) in self.sum.iter().enumerate() {
            let Some(others) = self.greatest(sizes, Some(i)) else { continue };
            let size = &mut sizes[variable];
            let magnitude = factor.abs();
            if factor > 0 {
                let least = (-others).div_euclid(magnitude)
                    + i128::from((-others).rem_euclid(magnitude) != 0);
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
        let sign = if literal.positive { 1 } else { -1 };
        let sum = sum.iter().map(|&(factor, variable)| (sign * factor, variable.0)).collect();
        Some(Inequality { sum, constant: if literal.positive { *constant } else { -constant - 1 } })
    }

    /// False if what literals imply of lengths contradicts itself.
    pub(crate) fn lengths_can_hold(&mut self, literals: &[Literal]) -> bool {
        let inequalities = self.implied(literals);
        narrow(&inequalities, &mut self.sizes())
    }

    /// The sizes of all variables; where literals compare terms or lengths, with what they imply of
    /// short lengths. `None` if they contradict each other.
    pub(crate) fn known_sizes(&mut self, literals: &[Literal]) -> Option<Vec<Size>> {
        let mut sizes = self.sizes();
        let compares =
            |atom: &Atom| matches!(atom, Atom::Equals(..) | Atom::Contains(..) | Atom::Lengths(..));
        if !literals.iter().any(|literal| compares(&literal.atom)) {
            return Some(sizes);
        }
        let mut implied = sizes.clone();
        if !narrow(&self.implied(literals), &mut implied) {
            return None;
        }
        for (size, implied) in
            sizes.iter_mut().zip(implied).filter(|(_, implied)| implied.most <= SHORT)
        {
            *size = implied;
        }
        Some(sizes)
    }

    /// Whether what literals imply of lengths has no solution in integers. This costs more than
    /// `lengths_can_hold`.
    pub(crate) fn lengths_are_refuted(
        &mut self,
        literals: &[Literal],
        budget: &mut Budget,
    ) -> Result<bool, Stop> {
        if !compare(literals) {
            return Ok(false);
        }
        let implied = self.implied(literals);
        let mut used: Vec<usize> = implied
            .iter()
            .flat_map(|inequality| inequality.sum.iter().map(|part| part.1))
            .collect();
        used.sort_unstable();
        used.dedup();
        let row = |inequality: &Inequality| {
            let mut factors = vec![0; used.len()];
            for &(factor, index) in &inequality.sum {
                if let Ok(place) = used.binary_search(&index) {
                    factors[place] += factor;
                }
            }
            Row { factors, constant: inequality.constant }
        };
        let bounds = used.iter().flat_map(|&index| self.variables[index].size.inequalities(index));
        let rows = implied.iter().map(row).chain(bounds.map(|bound| row(&bound))).collect();
        Ok(solve(rows, used.len(), budget)? == Outcome::None)
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
                let language =
                    if literal.positive { language } else { self.languages.not(language) };
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

impl Size {
    /// The size as conditions on the length with this index.
    fn inequalities(self, index: usize) -> impl Iterator<Item = Inequality> {
        let least = Inequality { sum: vec![(1, index)], constant: -i128::from(self.least) };
        let most = Inequality { sum: vec![(-1, index)], constant: i128::from(self.most) };
        [Some(least), (self.most != UNBOUNDED).then_some(most)].into_iter().flatten()
    }
}

/// Whether a literal compares terms or lengths.
fn compare(literals: &[Literal]) -> bool {
    let compares =
        |atom: &Atom| matches!(atom, Atom::Equals(..) | Atom::Contains(..) | Atom::Lengths(..));
    literals.iter().any(|literal| compares(&literal.atom))
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
