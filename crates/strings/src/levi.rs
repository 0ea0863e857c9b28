//! Equations between terms of unknown lengths, by Levi's lemma: of two words that start the same
//! word, one starts the other.
//!
//! Each branch replaces one segment, so that the equation gets shorter unless it has a segment
//! twice. The branches exclude each other and together lose no solution. Where they do not end, the
//! caller hears of it.

use crate::budget::{Budget, Stop};
use crate::inequalities::{Inequality, narrow};
use crate::language::{Language, Languages, UNBOUNDED};
use crate::scan::{Conjunct, Part, SegmentId, Size};
use crate::segments::Unified;
use crate::solve::Case;

/// Two terms that must be equal.
pub type Equation = (Vec<Part>, Vec<Part>);

/// Equations that need more branches than this are given up.
const BRANCHES: usize = 400;
/// A branch is as large as this many states.
const STATES_OF_A_BRANCH: usize = 16;

struct Branch {
    case: Case,
    equations: Vec<Equation>,
}

/// The cases without equations that a case with equations amounts to; some that conditions on the
/// lengths of variables rule out are left out.
pub fn solve_equations(
    languages: &mut Languages,
    case: Case,
    equations: Vec<Equation>,
    lengths: &[Inequality],
    budget: &mut Budget,
) -> Result<Vec<Case>, Stop> {
    let mut open = vec![Branch { case, equations }];
    let mut solved = Vec::new();
    let mut branches = 0;
    while let Some(mut branch) = open.pop() {
        branches += 1;
        if branches > BRANCHES {
            return Err(Stop::Unsupported(
                "an equation between terms of unknown lengths".to_string(),
            ));
        }
        budget.spend_many(STATES_OF_A_BRANCH)?;
        if !branch.unify(languages)
            || !branch.lengths_can_hold(lengths)
            || !branch.prefixes_can_hold(languages)
        {
            continue;
        }
        match branch.shortest_equation() {
            None => solved.push(branch.case),
            Some(equation) => open.extend(branch.split(languages, equation).into_iter().rev()),
        }
    }
    Ok(solved)
}

impl Branch {
    /// Cuts off what needs no choice, until only equations remain that do; false if one has no
    /// solution.
    fn unify(&mut self, languages: &mut Languages) -> bool {
        loop {
            let mut progress = false;
            for (a, b) in std::mem::take(&mut self.equations) {
                let conjuncts = &mut self.case.conjuncts;
                match self.case.segments.unify(languages, &a, &b, conjuncts) {
                    Unified::Yes => progress = true,
                    Unified::Never => return false,
                    Unified::Stuck(a, b) => match rotation(languages, &a, &b) {
                        Some((segment, language)) => {
                            let parts = vec![Part::Segment(segment)];
                            self.case.conjuncts.push(Conjunct { parts, language });
                            progress = true;
                        }
                        None => self.equations.push((a, b)),
                    },
                }
            }
            if !progress || self.equations.is_empty() {
                return true;
            }
        }
    }

    /// Restricts sizes by what equations and `lengths` imply; false if they contradict each other.
    fn lengths_can_hold(&mut self, lengths: &[Inequality]) -> bool {
        let segments = &self.case.segments;
        let mut all = self.case.of_segments(lengths);
        for (a, b) in &self.equations {
            for sign in [1, -1] {
                let mut difference = Inequality::default();
                difference.add_parts(sign, &segments.resolve(a));
                difference.add_parts(-sign, &segments.resolve(b));
                all.push(difference);
            }
        }
        let mut sizes = segments.sizes();
        let can_hold = narrow(&all, &mut sizes);
        self.case.segments.shorten(&sizes);
        can_hold
    }

    /// False if a language has no word that starts with the literal that a conjunct starts with.
    fn prefixes_can_hold(&self, languages: &mut Languages) -> bool {
        self.case.conjuncts.iter().all(|conjunct| {
            let parts = self.case.segments.resolve(&conjunct.parts);
            let Some(Part::Literal(text)) = parts.first() else { return true };
            let mut rest = conjunct.language;
            for &byte in text {
                rest = languages.derivative(rest, byte);
            }
            if parts.len() == 1 { languages.nullable(rest) } else { rest != Languages::EMPTY }
        })
    }

    fn shortest_equation(&self) -> Option<usize> {
        (0..self.equations.len())
            .min_by_key(|&i| self.equations[i].0.len() + self.equations[i].1.len())
    }

    /// The choices for the first parts of an equation.
    fn split(self, languages: &mut Languages, equation: usize) -> Vec<Branch> {
        let (a, b) = &self.equations[equation];
        if let Some((conjugate, text)) = self.conjugate(a, b).or_else(|| self.conjugate(b, a)) {
            return self.rotated(conjugate, &text);
        }
        match (a.first().cloned(), b.first().cloned()) {
            (Some(Part::Segment(x)), Some(Part::Segment(y))) => {
                [self.same(x, y), self.starts(languages, x, y), self.starts(languages, y, x)]
                    .into_iter()
                    .flatten()
                    .collect()
            }
            (Some(Part::Segment(x)), Some(Part::Literal(text)))
            | (Some(Part::Literal(text)), Some(Part::Segment(x))) => {
                self.within(languages, x, &text)
            }
            // Two literals, or a term without parts: unification leaves no such equation.
            _ => vec![self],
        }
    }

    /// In `c x = x u` or `u x = x c` with a text `u` as long as `c`: `c` and `u`.
    fn conjugate(&self, a: &[Part], b: &[Part]) -> Option<(SegmentId, Vec<u8>)> {
        let (c, text) = match (a, b) {
            ([Part::Segment(c), x], [y, Part::Literal(text)])
            | ([x, Part::Segment(c)], [Part::Literal(text), y])
                if x == y =>
            {
                (*c, text)
            }
            _ => return None,
        };
        let length = text.len() as u64;
        (self.case.segments.size(c) == Size { least: length, most: length })
            .then(|| (c, text.clone()))
    }

    /// A conjugate of a text is one of its rotations.
    fn rotated(&self, conjugate: SegmentId, text: &[u8]) -> Vec<Branch> {
        let mut rotations: Vec<Vec<u8>> =
            (0..text.len()).map(|cut| [&text[cut..], &text[..cut]].concat()).collect();
        rotations.sort_unstable();
        rotations.dedup();
        rotations.into_iter().map(|word| self.with(conjugate, vec![Part::Literal(word)])).collect()
    }

    fn with(&self, segment: SegmentId, parts: Vec<Part>) -> Branch {
        let mut branch = Branch { case: self.case.clone(), equations: self.equations.clone() };
        branch.case.segments.replace(segment, parts);
        branch
    }

    /// `x = y`
    fn same(&self, x: SegmentId, y: SegmentId) -> Option<Branch> {
        let (a, b) = (self.case.segments.size(x), self.case.segments.size(y));
        let size = Size { least: a.least.max(b.least), most: a.most.min(b.most) };
        let mut branch = self.with(x, Vec::new());
        let both = branch.case.segments.add(size);
        branch.case.segments.replace(x, vec![Part::Segment(both)]);
        branch.case.segments.replace(y, vec![Part::Segment(both)]);
        (size.least <= size.most).then_some(branch)
    }

    /// `x = y` and at least one more byte.
    fn starts(&self, languages: &mut Languages, x: SegmentId, y: SegmentId) -> Option<Branch> {
        let (long, short) = (self.case.segments.size(x), self.case.segments.size(y));
        if long.most <= short.least {
            return None;
        }
        let least =
            if short.most == UNBOUNDED { 1 } else { long.least.saturating_sub(short.most).max(1) };
        let most = if long.most == UNBOUNDED { UNBOUNDED } else { long.most - short.least };
        let mut branch = self.with(x, Vec::new());
        let rest = branch.case.segments.add(Size { least, most });
        let parts = vec![Part::Segment(y), Part::Segment(rest)];
        branch.replace(languages, x, parts);
        Some(branch)
    }

    /// `x` is a proper prefix of the text, or starts with it.
    fn within(&self, languages: &mut Languages, x: SegmentId, text: &[u8]) -> Vec<Branch> {
        let size = self.case.segments.size(x);
        let length = text.len() as u64;
        let prefixes =
            (0..text.len()).filter(|&end| (size.least..=size.most).contains(&(end as u64)));
        let mut branches: Vec<Branch> =
            prefixes.map(|end| self.with(x, vec![Part::Literal(text[..end].to_vec())])).collect();
        if size.most >= length {
            let mut branch = self.with(x, Vec::new());
            let most = if size.most == UNBOUNDED { UNBOUNDED } else { size.most - length };
            let rest =
                branch.case.segments.add(Size { least: size.least.saturating_sub(length), most });
            branch.replace(languages, x, vec![Part::Literal(text.to_vec()), Part::Segment(rest)]);
            branches.push(branch);
        }
        branches
    }

    /// Replaces a segment and keeps its size as a condition on what replaces it.
    fn replace(&mut self, languages: &mut Languages, segment: SegmentId, parts: Vec<Part>) {
        let size = self.case.segments.size(segment);
        let language = languages.lengths(size.least, size.most);
        if language != Languages::ALL {
            self.case.conjuncts.push(Conjunct { parts: parts.clone(), language });
        }
        self.case.segments.replace(segment, parts);
    }
}

/// The solutions of `v x = x u` for texts `u` and `v`: `x` is in `(p q)* p` where `v = p q` and `u
/// = q p`.
fn rotation(languages: &mut Languages, a: &[Part], b: &[Part]) -> Option<(SegmentId, Language)> {
    let (v, x, u) = match (a, b) {
        ([Part::Literal(v), Part::Segment(x)], [Part::Segment(y), Part::Literal(u)])
        | ([Part::Segment(y), Part::Literal(u)], [Part::Literal(v), Part::Segment(x)])
            if x == y =>
        {
            (v, *x, u)
        }
        _ => return None,
    };
    let period = languages.literal(v);
    let repeated = languages.star(period);
    let mut options = Vec::new();
    for cut in
        (0..v.len()).filter(|&cut| v.len() == u.len() && [&v[cut..], &v[..cut]].concat() == *u)
    {
        let rest = languages.literal(&v[..cut]);
        options.push(languages.concat(repeated, rest));
    }
    Some((x, languages.or(options)))
}
