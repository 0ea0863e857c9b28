//! Regular expressions of SMT-LIB.

use super::sexp::Sexp;
use super::translate::{Meaning, Resolved, Result, Translator, literal, unsupported};
use crate::bytes::ByteSet;
use crate::language::{Language, Languages, UNBOUNDED};
use crate::problem::Piece;

impl Translator<'_> {
    pub(super) fn language(&mut self, sexp: &Sexp) -> Result<Language> {
        self.resolve(sexp, |this, resolved| match resolved {
            Resolved::Meaning(Meaning::Language(language)) => Ok(language),
            Resolved::Meaning(_) => this.wrong(sexp, "expected a regular expression"),
            Resolved::Call(head, arguments, _) => this.expression(&head, &arguments),
        })
    }

    fn expression(&mut self, head: &str, arguments: &[Sexp]) -> Result<Language> {
        match (head, arguments) {
            ("re.none" | "re.nostr", []) => return Ok(Languages::EMPTY),
            ("re.all", []) => return Ok(Languages::ALL),
            ("re.allchar", []) => return Ok(self.problem.languages.bytes(ByteSet::FULL)),
            ("str.to_re" | "str.to.re", [string]) => {
                let text = self.constant_text(string)?;
                return Ok(self.problem.languages.literal(&text));
            }
            ("re.range", [first, last]) => {
                let (first, last) = (self.constant_text(first)?, self.constant_text(last)?);
                let set = match (&first[..], &last[..]) {
                    ([first], [last]) => ByteSet::range(*first, *last),
                    _ => ByteSet::EMPTY,
                };
                self.told_apart = self.told_apart.union(set);
                return Ok(self.problem.languages.bytes(set));
            }
            _ => {}
        }
        let parts: Result<Vec<Language>> =
            arguments.iter().map(|argument| self.language(argument)).collect();
        let parts = parts?;
        let languages = &mut self.problem.languages;
        let words: Vec<&str> = head.split(' ').collect();
        Ok(match (&words[..], &parts[..]) {
            (["re.++"], _) => languages.concat_all(parts),
            (["re.union"], _) => languages.or(parts),
            (["re.inter"], _) => languages.and(parts),
            (["re.*"], [one]) => languages.star(*one),
            (["re.+"], [one]) => languages.repeat(*one, 1, UNBOUNDED),
            (["re.opt"], [one]) => languages.repeat(*one, 0, 1),
            (["re.comp"], [one]) => languages.not(*one),
            (["re.diff"], [one, other]) => {
                let other = languages.not(*other);
                languages.and([*one, other])
            }
            (["_", "re.^", count], [one]) => match count.parse() {
                Ok(count) => languages.repeat(*one, count, count),
                Err(_) => return unsupported(head),
            },
            (["_", "re.loop", least, most], [one]) => match (least.parse(), most.parse()) {
                (Ok(least), Ok(most)) => languages.repeat(*one, least, most),
                _ => return unsupported(head),
            },
            _ => return unsupported(head),
        })
    }

    fn constant_text(&mut self, sexp: &Sexp) -> Result<Vec<u8>> {
        let term = self.string(sexp)?;
        if term.iter().all(|piece| matches!(piece, Piece::Literal(_))) {
            return Ok(literal(&term));
        }
        unsupported("a regular expression that depends on a variable")
    }
}
