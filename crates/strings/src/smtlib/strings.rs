//! Terms of SMT-LIB that are strings. What they need is required of helpers, in a way that always
//! has a solution.

use super::numbers::Number;
use super::sexp::Sexp;
use super::translate::{Meaning, Resolved, Result, Translator, literal, unsupported};
use crate::language::{Languages, UNBOUNDED};
use crate::problem::{Atom, Formula, Piece, Term};

impl Translator<'_> {
    pub(super) fn string(&mut self, sexp: &Sexp) -> Result<Term> {
        self.resolve(sexp, |this, resolved| match resolved {
            Resolved::Meaning(Meaning::String(term)) => Ok(term),
            Resolved::Meaning(_) => this.wrong(sexp, "expected a string"),
            Resolved::Call(head, arguments, _) => match (&head[..], &arguments[..]) {
                ("str.++", parts) => {
                    let parts: Result<Vec<Term>> =
                        parts.iter().map(|part| this.string(part)).collect();
                    Ok(parts?.concat())
                }
                ("str.at", [string, index]) => {
                    let (string, index) = (this.string(string)?, this.number(index)?);
                    this.substring(string, &index, &Number::constant(1))
                }
                ("str.substr", [string, index, length]) => {
                    let string = this.string(string)?;
                    let (index, length) = (this.number(index)?, this.number(length)?);
                    this.substring(string, &index, &length)
                }
                ("str.replace", [string, old, new]) => {
                    let (string, old, new) =
                        (this.string(string)?, this.string(old)?, this.string(new)?);
                    this.replace(string, old, new)
                }
                _ => unsupported(&head),
            },
        })
    }

    /// A helper that equals a part of `string`: its definition is total, so it may stand anywhere.
    fn substring(&mut self, string: Term, index: &Number, length: &Number) -> Result<Term> {
        match (index.value(), length.value()) {
            (Some(index), Some(length)) => self.substring_at(string, index, length),
            _ => self.substring_anywhere(string, index, length),
        }
    }

    /// The same where the position or the length depends on strings.
    fn substring_anywhere(
        &mut self,
        string: Term,
        index: &Number,
        length: &Number,
    ) -> Result<Term> {
        let [part, before, rest] = [(); 3].map(|()| self.helper(0, UNBOUNDED));
        let whole = Number::length(string.clone());
        let zero = Number::constant(0);
        let inside = Formula::And(vec![
            self.at_least(index, &zero, 0)?,
            self.at_least(&whole, index, 1)?,
            self.at_least(length, &zero, 1)?,
        ]);
        let long = Number::length(vec![part.clone()]);
        let is_empty =
            |piece: &Piece| Formula::from(Atom::In(vec![piece.clone()], Languages::EPSILON));
        let cut = Formula::And(vec![
            inside.clone(),
            Atom::Equals(string, vec![before.clone(), part.clone(), rest.clone()]).into(),
            self.same(&Number::length(vec![before]), index)?,
            Formula::Or(vec![
                self.same(&long, length)?,
                Formula::And(vec![self.at_least(length, &long, 1)?, is_empty(&rest)]),
            ]),
        ]);
        let none = Formula::And(vec![inside.negate(), is_empty(&part)]);
        self.problem.require(Formula::Or(vec![cut, none]));
        Ok(vec![part])
    }

    /// Whether `whole` starts or ends with `part`; right under negations too.
    pub(super) fn end_is(&mut self, whole: Term, part: Term, is_prefix: bool) -> Result<Formula> {
        let [end, rest] = [(); 2].map(|()| self.helper(0, UNBOUNDED));
        let (all, wanted) = (Number::length(whole.clone()), Number::length(part.clone()));
        let fits = self.at_least(&all, &wanted, 0)?;
        let sides = if is_prefix { vec![end.clone(), rest] } else { vec![rest, end.clone()] };
        let cut = Formula::And(vec![
            fits.clone(),
            Atom::Equals(whole, sides).into(),
            self.same(&Number::length(vec![end.clone()]), &wanted)?,
        ]);
        let none = Formula::And(vec![
            fits.clone().negate(),
            Atom::In(vec![end.clone()], Languages::EPSILON).into(),
        ]);
        self.problem.require(Formula::Or(vec![cut, none]));
        Ok(Formula::And(vec![fits, Atom::Equals(vec![end], part).into()]))
    }

    fn substring_at(&mut self, string: Term, index: i128, length: i128) -> Result<Term> {
        let (Ok(index), Ok(length)) = (u64::try_from(index), u64::try_from(length)) else {
            return Ok(Vec::new());
        };
        if length == 0 {
            return Ok(Vec::new());
        }
        let part = self.helper(0, length);
        let before = self.helper(index, index);
        let rest = self.helper(0, UNBOUNDED);
        let languages = &mut self.problem.languages;
        let (short, long) = (languages.lengths(0, index), languages.lengths(index + 1, UNBOUNDED));
        let (whole, not_whole) =
            (languages.lengths(length, length), languages.lengths(1, length - 1));
        let within = |language| Formula::from(Atom::In(vec![part.clone()], language));
        let cut = Formula::And(vec![
            Atom::In(string.clone(), long).into(),
            Atom::Equals(string.clone(), vec![before, part.clone(), rest.clone()]).into(),
            Formula::Or(vec![
                within(whole),
                Formula::And(vec![
                    within(not_whole),
                    Atom::In(vec![rest], Languages::EPSILON).into(),
                ]),
            ]),
        ]);
        let none = Formula::And(vec![Atom::In(string, short).into(), within(Languages::EPSILON)]);
        self.problem.require(Formula::Or(vec![cut, none]));
        Ok(vec![part])
    }

    /// The first occurrence of a constant replaced.
    fn replace(&mut self, string: Term, old: Term, new: Term) -> Result<Term> {
        if old.iter().any(|piece| !matches!(piece, Piece::Literal(_))) {
            return unsupported("str.replace of something that is not constant");
        }
        let text = literal(&old);
        let Some((_, all_but_last)) = text.split_last() else { return Ok([new, string].concat()) };
        let (before, after) = (self.helper(0, UNBOUNDED), self.helper(0, UNBOUNDED));
        let result = self.helper(0, UNBOUNDED);
        let contains = |term: Term| Formula::from(Atom::Contains(term, old.clone()));
        let found = Formula::And(vec![
            Atom::Equals(string.clone(), vec![before.clone(), old[0].clone(), after.clone()])
                .into(),
            contains(vec![before.clone(), Piece::Literal(all_but_last.to_vec())]).negate(),
            Atom::Equals(vec![result.clone()], [vec![before], new, vec![after]].concat()).into(),
        ]);
        let same = Formula::And(vec![
            contains(string.clone()).negate(),
            Atom::Equals(vec![result.clone()], string).into(),
        ]);
        self.problem.require(Formula::Or(vec![found, same]));
        Ok(vec![result])
    }
}
