//! Numbers of SMT-LIB: linear sums of what strings determine, and comparisons of them.

use super::integers::Measure;
use super::sexp::Sexp;
use super::translate::{Meaning, Resolved, Result, Translator, literal, truth, unsupported};
use crate::language::{Languages, UNBOUNDED};
use crate::problem::{Atom, Formula, Piece, Term, VariableId};

/// A constant plus measured strings, each times its factor.
#[derive(Clone, Debug, Default)]
pub struct Number {
    constant: i128,
    sum: Vec<(i128, Term, Measure)>,
}

impl Number {
    pub fn constant(constant: i128) -> Self {
        Number { constant, sum: Vec::new() }
    }

    fn measured(term: Term, measure: Measure) -> Self {
        Number { constant: 0, sum: vec![(1, term, measure)] }
    }

    pub fn length(term: Term) -> Self {
        match is_constant(&term) {
            true => Self::constant(literal(&term).len() as i128),
            false => Self::measured(term, Measure::Length),
        }
    }

    /// The number, if it does not depend on strings.
    pub fn value(&self) -> Option<i128> {
        self.sum.is_empty().then_some(self.constant)
    }

    /// `self + factor * other`; `None` if that is too large.
    fn plus(&self, factor: i128, other: &Number) -> Option<Number> {
        let mut total = self.clone();
        total.constant = total.constant.checked_add(factor.checked_mul(other.constant)?)?;
        for (times, term, measure) in &other.sum {
            let times = factor.checked_mul(*times)?;
            match total.sum.iter_mut().find(|known| known.1 == *term && known.2 == *measure) {
                Some(known) => known.0 = known.0.checked_add(times)?,
                None => total.sum.push((times, term.clone(), measure.clone())),
            }
        }
        total.sum.retain(|part| part.0 != 0);
        let largest = i128::from(i64::MAX);
        let small = |number: i128| (-largest..=largest).contains(&number);
        (small(total.constant) && total.sum.iter().all(|part| small(part.0))).then_some(total)
    }
}

fn is_constant(term: &[Piece]) -> bool {
    term.iter().all(|piece| matches!(piece, Piece::Literal(_)))
}

/// Comparisons.
impl Translator<'_> {
    pub(super) fn compare(&mut self, head: &str, a: &Sexp, b: &Sexp) -> Result<Formula> {
        let (a, b) = (self.number(a)?, self.number(b)?);
        match head {
            ">=" => self.at_least(&a, &b, 0),
            ">" => self.at_least(&a, &b, 1),
            "<=" => self.at_least(&b, &a, 0),
            _ => self.at_least(&b, &a, 1),
        }
    }

    pub(super) fn same(&mut self, a: &Number, b: &Number) -> Result<Formula> {
        Ok(Formula::And(vec![self.at_least(a, b, 0)?, self.at_least(b, a, 0)?]))
    }

    /// `a >= b + more`
    pub(super) fn at_least(&mut self, a: &Number, b: &Number, more: i128) -> Result<Formula> {
        let difference = a.plus(-1, b).and_then(|number| number.plus(-1, &Number::constant(more)));
        let Some(difference) = difference else { return unsupported("a number that is too large") };
        let languages = &mut self.problem.languages;
        match &difference.sum[..] {
            [] => Ok(truth(difference.constant >= 0)),
            [(1, term, measure)] => {
                let language = measure.at_least(languages, -difference.constant);
                Ok(Atom::In(term.clone(), language).into())
            }
            [(-1, term, measure)] => {
                let language = measure.at_least(languages, difference.constant + 1);
                Ok(Formula::from(Atom::In(term.clone(), language)).negate())
            }
            _ => self.lengths(&difference),
        }
    }

    /// A number is not negative, as a condition on lengths.
    fn lengths(&mut self, number: &Number) -> Result<Formula> {
        let mut only = Number::constant(number.constant);
        for (factor, term, measure) in &number.sum {
            let length = match measure {
                Measure::Length => Number::length(term.clone()),
                Measure::IndexOf(text, from) => {
                    self.index(term.clone(), text, &Number::constant(i128::from(*from)))?
                }
                Measure::ToInt => {
                    return unsupported("str.to_int in a comparison with another unknown number");
                }
            };
            let Some(sum) = only.plus(*factor, &length) else {
                return unsupported("a number that is too large");
            };
            only = sum;
        }
        let mut constant = only.constant;
        let mut sum: Vec<(i128, VariableId)> = Vec::new();
        for (factor, piece) in
            only.sum.iter().flat_map(|(factor, term, _)| term.iter().map(move |p| (factor, p)))
        {
            match piece {
                Piece::Literal(text) => constant += factor * text.len() as i128,
                Piece::Slice { length, .. } => constant += factor * i128::from(*length),
                Piece::Variable(variable) => {
                    match sum.iter_mut().find(|known| known.1 == *variable) {
                        Some(known) => known.0 += factor,
                        None => sum.push((*factor, *variable)),
                    }
                }
            }
        }
        sum.retain(|part| part.0 != 0);
        Ok(Atom::Lengths(sum, constant).into())
    }
}

/// Numbers.
impl Translator<'_> {
    /// An unknown integer: the difference of the lengths of two strings, one of them empty.
    pub(super) fn integer(&mut self) -> Number {
        let [above, below] = [(); 2].map(|()| self.helper(0, UNBOUNDED));
        let is_empty =
            |piece: &Piece| Formula::from(Atom::In(vec![piece.clone()], Languages::EPSILON));
        self.problem.require(Formula::Or(vec![is_empty(&below), is_empty(&above)]));
        let sum = vec![(1, vec![above], Measure::Length), (-1, vec![below], Measure::Length)];
        Number { constant: 0, sum }
    }

    pub(super) fn number(&mut self, sexp: &Sexp) -> Result<Number> {
        self.resolve(sexp, |this, resolved| match resolved {
            Resolved::Meaning(Meaning::Number(number)) => Ok(number),
            Resolved::Meaning(_) => this.wrong(sexp, "expected a number"),
            Resolved::Call(head, arguments, _) => this.arithmetic(&head, &arguments),
        })
    }

    fn arithmetic(&mut self, head: &str, arguments: &[Sexp]) -> Result<Number> {
        match (head, arguments) {
            ("str.len", [string]) => Ok(Number::length(self.string(string)?)),
            ("str.to_int" | "str.to.int", [string]) => {
                Ok(Number::measured(self.string(string)?, Measure::ToInt))
            }
            ("str.indexof", [string, text, from @ ..]) => {
                let (string, text) = (self.string(string)?, self.string(text)?);
                let from = from.first().map_or(Ok(Number::default()), |from| self.number(from))?;
                if !is_constant(&text) {
                    return unsupported("str.indexof of something that is not constant");
                }
                let text = literal(&text);
                match from.value().map(u64::try_from) {
                    Some(Ok(from)) => Ok(Number::measured(string, Measure::IndexOf(text, from))),
                    Some(Err(_)) => Ok(Number::constant(-1)),
                    None => self.index(string, &text, &from),
                }
            }
            ("-", [one]) => sum(&[], &[self.number(one)?]),
            ("+", parts) => {
                let parts: Result<Vec<Number>> =
                    parts.iter().map(|part| self.number(part)).collect();
                sum(&parts?, &[])
            }
            ("-", [first, rest @ ..]) => {
                let rest: Result<Vec<Number>> = rest.iter().map(|part| self.number(part)).collect();
                sum(&[self.number(first)?], &rest?)
            }
            ("*", [a, b]) => {
                let (a, b) = (self.number(a)?, self.number(b)?);
                let product = match (a.value(), b.value()) {
                    (Some(factor), _) => Number::default().plus(factor, &b),
                    (_, Some(factor)) => Number::default().plus(factor, &a),
                    _ => return unsupported("a product of two unknown numbers"),
                };
                product.map_or_else(|| unsupported("a number that is too large"), Ok)
            }
            _ => match head.parse::<i64>() {
                Ok(constant) if arguments.is_empty() => Ok(Number::constant(i128::from(constant))),
                _ => unsupported(head),
            },
        }
    }

    /// Where `text` first occurs from a position on: the length of a helper minus one.
    fn index(&mut self, string: Term, text: &[u8], from: &Number) -> Result<Number> {
        let Some((_, all_but_last)) = text.split_last() else {
            return unsupported("str.indexof of the empty string at an unknown position");
        };
        let [before, between, after, count] = [(); 4].map(|()| self.helper(0, UNBOUNDED));
        let (text_piece, start) =
            (Piece::Literal(text.to_vec()), Piece::Literal(all_but_last.to_vec()));
        let inside = Formula::And(vec![
            self.at_least(from, &Number::default(), 0)?,
            self.at_least(&Number::length(string.clone()), from, 0)?,
        ]);
        let starts = self.same(&Number::length(vec![before.clone()]), from)?;
        let lacks =
            |term: Term| Formula::from(Atom::Contains(term, vec![text_piece.clone()])).negate();
        let result = Number::length(vec![count.clone()]);
        let position = Number::length(vec![before.clone(), between.clone()]);
        let found = Formula::And(vec![
            inside.clone(),
            starts.clone(),
            Atom::Equals(
                string.clone(),
                vec![before.clone(), between.clone(), text_piece.clone(), after],
            )
            .into(),
            lacks(vec![between.clone(), start]),
            self.at_least(&result, &position, 1)?,
            self.at_least(&position, &result, -1)?,
        ]);
        let nothing = Formula::from(Atom::In(vec![count], Languages::EPSILON));
        let not_found = Formula::And(vec![
            inside.clone(),
            starts,
            Atom::Equals(string, vec![before, between.clone()]).into(),
            lacks(vec![between]),
            nothing.clone(),
        ]);
        let outside = Formula::And(vec![inside.negate(), nothing]);
        self.problem.require(Formula::Or(vec![found, not_found, outside]));
        sum(&[result], &[Number::constant(1)])
    }
}

/// What is added minus what is subtracted.
fn sum(added: &[Number], subtracted: &[Number]) -> Result<Number> {
    let signed = added.iter().map(|part| (1, part)).chain(subtracted.iter().map(|part| (-1, part)));
    let mut total = Some(Number::default());
    for (sign, part) in signed {
        total = total.and_then(|total| total.plus(sign, part));
    }
    total.map_or_else(|| unsupported("a number that is too large"), Ok)
}
