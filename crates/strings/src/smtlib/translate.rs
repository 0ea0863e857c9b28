//! From expressions of SMT-LIB to a problem.

use rustc_hash::FxHashMap;

use super::integers::Measure;
use super::sexp::Sexp;
use crate::bytes::ByteSet;
use crate::hmp::SyntaxError;
use crate::language::{Language, Languages, UNBOUNDED};
use crate::problem::{Atom, Formula, Piece, Problem, Term};
use crate::scan::Size;

/// Why an expression was not translated.
#[derive(Debug)]
pub enum Refused {
    Wrong(SyntaxError),
    Unsupported(String),
}

type Result<T> = std::result::Result<T, Refused>;

/// A number: a constant plus at most one measured string.
#[derive(Clone, Debug)]
struct Number {
    constant: i128,
    measured: Option<(Term, Measure)>,
}

#[derive(Clone, Debug)]
enum Meaning {
    String(Term),
    Bool(Formula),
    Number(Number),
    Language(Language),
    /// Parameters and body of a definition.
    Macro(Vec<String>, Sexp),
}

pub struct Translator<'t> {
    text: &'t [u8],
    pub problem: Problem,
    declared: usize,
    scope: FxHashMap<String, Meaning>,
    fresh: usize,
    /// Names of variables that are truth values.
    pub flags: Vec<String>,
}

impl<'t> Translator<'t> {
    pub fn new(text: &'t [u8]) -> Self {
        Translator {
            text,
            problem: Problem::default(),
            declared: 0,
            scope: FxHashMap::default(),
            fresh: 0,
            flags: Vec::new(),
        }
    }

    /// The variables that the file declares. Helpers come after all declarations only if those come first.
    pub fn names(&self) -> Vec<String> {
        self.problem.variables.iter().take(self.declared).map(|variable| variable.name.clone()).collect()
    }

    pub fn command(&mut self, command: &Sexp) -> Result<()> {
        let parts = command.list().unwrap_or_default();
        match (parts[0].word().unwrap_or_default(), &parts[1..]) {
            ("declare-const", [name, sort]) => self.declare(name, sort),
            ("declare-fun", [name, Sexp::List(none, _), sort]) if none.is_empty() => self.declare(name, sort),
            ("declare-fun", _) => Err(Refused::Unsupported("functions with arguments".to_string())),
            ("define-const", [name, _, body]) => self.define(name, &[], body),
            ("define-fun", [name, Sexp::List(parameters, _), _, body]) => self.define(name, parameters, body),
            ("assert", [formula]) => {
                let formula = self.formula(formula, true)?;
                self.problem.require(formula);
                Ok(())
            }
            (name, _) => self.wrong(command, &format!("`{name}` has other arguments")),
        }
    }

    fn wrong<T>(&self, sexp: &Sexp, message: &str) -> Result<T> {
        Err(Refused::Wrong(SyntaxError::at(self.text, sexp.at(), message)))
    }

    fn declare(&mut self, name: &Sexp, sort: &Sexp) -> Result<()> {
        let Some(name) = name.word() else { return self.wrong(name, "expected a name") };
        let meaning = match sort.word() {
            Some("String") => {
                if self.declared < self.problem.variables.len() {
                    let reason = "declarations after assertions that need helpers";
                    return Err(Refused::Unsupported(reason.to_string()));
                }
                self.declared += 1;
                Meaning::String(vec![Piece::Variable(self.problem.variable(name))])
            }
            Some("Bool") => {
                if self.declared < self.problem.variables.len() {
                    let reason = "declarations after assertions that need helpers";
                    return Err(Refused::Unsupported(reason.to_string()));
                }
                self.declared += 1;
                self.flags.push(name.to_string());
                let flag = self.problem.sized_variable(name, Size { least: 0, most: 1 });
                let truth = self.problem.languages.literal(b"1");
                Meaning::Bool(Atom::In(vec![Piece::Variable(flag)], truth).into())
            }
            _ => return Err(Refused::Unsupported(format!("variables that are not strings (`{name}`)"))),
        };
        self.scope.insert(name.to_string(), meaning);
        Ok(())
    }

    fn define(&mut self, name: &Sexp, parameters: &[Sexp], body: &Sexp) -> Result<()> {
        let Some(name) = name.word() else { return self.wrong(name, "expected a name") };
        let parameters = parameters.iter().filter_map(|parameter| parameter.list()?.first()?.word());
        let meaning = Meaning::Macro(parameters.map(str::to_string).collect(), body.clone());
        self.scope.insert(name.to_string(), meaning);
        Ok(())
    }

    fn helper(&mut self, least: u64, most: u64) -> Piece {
        self.fresh += 1;
        Piece::Variable(self.problem.sized_variable(&format!("helper {}", self.fresh), Size { least, most }))
    }

    /// Evaluates `let` and definitions, then hands the head and arguments of what remains to `then`.
    fn resolve<T>(&mut self, sexp: &Sexp, then: impl FnOnce(&mut Self, Resolved) -> Result<T>) -> Result<T> {
        match sexp {
            Sexp::Text(text, _) => {
                then(self, Resolved::Meaning(Meaning::String(vec![Piece::Literal(text.clone())])))
            }
            Sexp::Word(word, _) => match self.scope.get(word).cloned() {
                Some(Meaning::Macro(parameters, body)) if parameters.is_empty() => self.resolve(&body, then),
                Some(meaning) => then(self, Resolved::Meaning(meaning)),
                None => then(self, Resolved::Call(word.clone(), Vec::new(), sexp.clone())),
            },
            Sexp::List(parts, _) => match parts.split_first() {
                Some((Sexp::Word(head, _), [Sexp::List(bindings, _), body])) if head == "let" => {
                    let bindings = self.bindings(bindings)?;
                    self.within(bindings, |this| this.resolve(body, then))
                }
                Some((Sexp::Word(head, _), arguments)) => match self.scope.get(head).cloned() {
                    Some(Meaning::Macro(parameters, body)) if parameters.len() == arguments.len() => {
                        let mut bound = Vec::new();
                        for (parameter, argument) in parameters.into_iter().zip(arguments) {
                            bound.push((parameter, self.meaning(argument)?));
                        }
                        self.within(bound, |this| this.resolve(&body, then))
                    }
                    _ => then(self, Resolved::Call(head.clone(), arguments.to_vec(), sexp.clone())),
                },
                Some((Sexp::List(indexed, _), arguments)) => {
                    let words: Vec<&str> = indexed.iter().filter_map(Sexp::word).collect();
                    then(self, Resolved::Call(words.join(" "), arguments.to_vec(), sexp.clone()))
                }
                _ => self.wrong(sexp, "expected an expression"),
            },
        }
    }

    fn bindings(&mut self, bindings: &[Sexp]) -> Result<Vec<(String, Meaning)>> {
        let mut bound = Vec::new();
        for binding in bindings {
            let Some([Sexp::Word(name, _), value]) = binding.list() else {
                return self.wrong(binding, "expected `(name value)`");
            };
            bound.push((name.clone(), self.meaning(value)?));
        }
        Ok(bound)
    }

    fn within<T>(
        &mut self,
        bound: Vec<(String, Meaning)>,
        then: impl FnOnce(&mut Self) -> Result<T>,
    ) -> Result<T> {
        let before: Vec<(String, Option<Meaning>)> = bound
            .into_iter()
            .map(|(name, meaning)| (name.clone(), self.scope.insert(name, meaning)))
            .collect();
        let result = then(self);
        for (name, meaning) in before.into_iter().rev() {
            match meaning {
                Some(meaning) => self.scope.insert(name, meaning),
                None => self.scope.remove(&name),
            };
        }
        result
    }

    /// An expression of any sort.
    fn meaning(&mut self, sexp: &Sexp) -> Result<Meaning> {
        let head = self.resolve(sexp, |_, resolved| {
            Ok(match resolved {
                Resolved::Meaning(meaning) => Err(meaning),
                Resolved::Call(head, ..) => Ok(head),
            })
        })?;
        match head {
            Err(meaning) => Ok(meaning),
            Ok(head) => match &head[..] {
                "str.len" | "str.indexof" | "str.to_int" | "str.to.int" | "+" | "-" => {
                    Ok(Meaning::Number(self.number(sexp)?))
                }
                _ if head.parse::<i128>().is_ok() => Ok(Meaning::Number(self.number(sexp)?)),
                "str.++" | "str.at" | "str.substr" | "str.replace" => Ok(Meaning::String(self.string(sexp)?)),
                "str.to_re" | "str.to.re" => Ok(Meaning::Language(self.language(sexp)?)),
                _ if head.starts_with("re.") || head.starts_with("_ re.") => {
                    Ok(Meaning::Language(self.language(sexp)?))
                }
                _ => Ok(Meaning::Bool(self.formula(sexp, false)?)),
            },
        }
    }
}

enum Resolved {
    Meaning(Meaning),
    Call(String, Vec<Sexp>, Sexp),
}

fn unsupported<T>(what: &str) -> Result<T> {
    Err(Refused::Unsupported(format!("`{what}` is not supported here")))
}

fn truth(value: bool) -> Formula {
    if value { Formula::And(Vec::new()) } else { Formula::Or(Vec::new()) }
}

/// Formulas.
impl Translator<'_> {
    /// `positive` if the formula is asserted, not one side of a negation: then helpers may be guessed in it.
    fn formula(&mut self, sexp: &Sexp, positive: bool) -> Result<Formula> {
        self.resolve(sexp, |this, resolved| match resolved {
            Resolved::Meaning(Meaning::Bool(formula)) => Ok(formula),
            Resolved::Meaning(_) => this.wrong(sexp, "expected a formula"),
            Resolved::Call(head, arguments, sexp) => this.connective(&head, &arguments, &sexp, positive),
        })
    }

    fn connective(&mut self, head: &str, arguments: &[Sexp], sexp: &Sexp, positive: bool) -> Result<Formula> {
        let all = |this: &mut Self, positive| -> Result<Vec<Formula>> {
            arguments.iter().map(|argument| this.formula(argument, positive)).collect()
        };
        Ok(match (head, arguments) {
            ("true", []) => truth(true),
            ("false", []) => truth(false),
            ("not", [inner]) => self.formula(inner, false)?.negate(),
            ("and", _) => Formula::And(all(self, positive)?),
            ("or", _) => Formula::Or(all(self, positive)?),
            ("=>", [.., _]) => {
                let mut parts = all(self, false)?;
                let last = parts.pop().unwrap_or(truth(true));
                Formula::Or(parts.into_iter().map(Formula::negate).chain([last]).collect())
            }
            ("xor", [_, _]) => {
                let parts = all(self, false)?;
                different(&parts[0], &parts[1])
            }
            ("ite", [condition, yes, no]) => {
                let (condition, yes, no) =
                    (self.formula(condition, false)?, self.formula(yes, false)?, self.formula(no, false)?);
                Formula::Or(vec![
                    Formula::And(vec![condition.clone(), yes]),
                    Formula::And(vec![condition.negate(), no]),
                ])
            }
            ("=" | "distinct", [a, b]) => {
                let equal = self.equal(a, b)?;
                if head == "=" { equal } else { equal.negate() }
            }
            ("=", [first, rest @ ..]) if !rest.is_empty() => {
                let parts: Result<Vec<Formula>> = rest.iter().map(|other| self.equal(first, other)).collect();
                Formula::And(parts?)
            }
            (">=" | "<=" | ">" | "<", [a, b]) => self.compare(head, a, b)?,
            _ => self.predicate(head, arguments, sexp, positive)?,
        })
    }

    fn equal(&mut self, a: &Sexp, b: &Sexp) -> Result<Formula> {
        match (self.meaning(a)?, self.meaning(b)?) {
            (Meaning::String(a), Meaning::String(b)) => Ok(Atom::Equals(a, b).into()),
            (Meaning::Bool(a), Meaning::Bool(b)) => Ok(different(&a, &b).negate()),
            (Meaning::Number(a), Meaning::Number(b)) => {
                Ok(Formula::And(vec![self.at_least(&a, &b, 0)?, self.at_least(&b, &a, 0)?]))
            }
            (Meaning::Language(_), _) => unsupported("= between languages"),
            _ => self.wrong(a, "the two sides have different sorts"),
        }
    }

    fn compare(&mut self, head: &str, a: &Sexp, b: &Sexp) -> Result<Formula> {
        let (a, b) = (self.number(a)?, self.number(b)?);
        match head {
            ">=" => self.at_least(&a, &b, 0),
            ">" => self.at_least(&a, &b, 1),
            "<=" => self.at_least(&b, &a, 0),
            _ => self.at_least(&b, &a, 1),
        }
    }

    /// `a >= b + more`
    fn at_least(&mut self, a: &Number, b: &Number, more: i128) -> Result<Formula> {
        let languages = &mut self.problem.languages;
        match (&a.measured, &b.measured) {
            (None, None) => Ok(truth(a.constant >= b.constant + more)),
            (Some((term, measure)), None) => {
                let language = measure.at_least(languages, b.constant + more - a.constant);
                Ok(Atom::In(term.clone(), language).into())
            }
            (None, Some((term, measure))) => {
                let language = measure.at_least(languages, a.constant - more - b.constant + 1);
                Ok(Formula::from(Atom::In(term.clone(), language)).negate())
            }
            (Some(a_part), Some(b_part)) if a_part == b_part => Ok(truth(a.constant >= b.constant + more)),
            _ => unsupported("a comparison of two numbers that both depend on strings"),
        }
    }

    fn predicate(&mut self, head: &str, arguments: &[Sexp], sexp: &Sexp, positive: bool) -> Result<Formula> {
        match (head, arguments) {
            ("str.in_re" | "str.in.re", [string, language]) => {
                let (term, language) = (self.string(string)?, self.language(language)?);
                Ok(Atom::In(term, language).into())
            }
            ("str.contains", [whole, part]) => {
                Ok(Atom::Contains(self.string(whole)?, self.string(part)?).into())
            }
            ("str.prefixof" | "str.suffixof", [part, whole]) => {
                let (part, whole) = (self.string(part)?, self.string(whole)?);
                let is_prefix = head == "str.prefixof";
                if let [] | [Piece::Literal(_)] = part[..] {
                    let text = literal(&part);
                    let text = self.problem.languages.literal(&text);
                    let ends = if is_prefix { [text, Languages::ALL] } else { [Languages::ALL, text] };
                    return Ok(Atom::In(whole, self.problem.languages.concat_all(ends)).into());
                }
                if !positive {
                    return unsupported(&format!("{head} of two variables under a negation"));
                }
                let rest = self.helper(0, UNBOUNDED);
                let mut sides = part;
                sides.insert(if is_prefix { sides.len() } else { 0 }, rest);
                Ok(Atom::Equals(whole, sides).into())
            }
            ("str.is_digit", [string]) => {
                let digit = self.problem.languages.bytes(ByteSet::range(b'0', b'9'));
                Ok(Atom::In(self.string(string)?, digit).into())
            }
            _ if head.starts_with("str.") || head.starts_with("re.") || head.starts_with("int.") => {
                unsupported(head)
            }
            _ => self.wrong(sexp, &format!("`{head}` is not known")),
        }
    }
}

/// Strings, numbers, languages.
impl Translator<'_> {
    fn string(&mut self, sexp: &Sexp) -> Result<Term> {
        self.resolve(sexp, |this, resolved| match resolved {
            Resolved::Meaning(Meaning::String(term)) => Ok(term),
            Resolved::Meaning(_) => this.wrong(sexp, "expected a string"),
            Resolved::Call(head, arguments, _) => match (&head[..], &arguments[..]) {
                ("str.++", parts) => {
                    let parts: Result<Vec<Term>> = parts.iter().map(|part| this.string(part)).collect();
                    Ok(parts?.concat())
                }
                ("str.at", [string, index]) => {
                    let (string, index) = (this.string(string)?, this.constant(index)?);
                    this.substring(string, index, 1)
                }
                ("str.substr", [string, index, length]) => {
                    let string = this.string(string)?;
                    let (index, length) = (this.constant(index)?, this.constant(length)?);
                    this.substring(string, index, length)
                }
                ("str.replace", [string, old, new]) => {
                    let (string, old, new) = (this.string(string)?, this.string(old)?, this.string(new)?);
                    this.replace(string, old, new)
                }
                _ => unsupported(&head),
            },
        })
    }

    /// A helper that equals a part of `string`: its definition is total, so it may stand anywhere.
    fn substring(&mut self, string: Term, index: i128, length: i128) -> Result<Term> {
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
        let (whole, not_whole) = (languages.lengths(length, length), languages.lengths(1, length - 1));
        let within = |language| Formula::from(Atom::In(vec![part.clone()], language));
        let cut = Formula::And(vec![
            Atom::In(string.clone(), long).into(),
            Atom::Equals(string.clone(), vec![before, part.clone(), rest.clone()]).into(),
            Formula::Or(vec![
                within(whole),
                Formula::And(vec![within(not_whole), Atom::In(vec![rest], Languages::EPSILON).into()]),
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
            Atom::Equals(string.clone(), vec![before.clone(), old[0].clone(), after.clone()]).into(),
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

    fn constant(&mut self, sexp: &Sexp) -> Result<i128> {
        match self.number(sexp)? {
            Number { constant, measured: None } => Ok(constant),
            _ => unsupported("a position that depends on a string"),
        }
    }

    fn number(&mut self, sexp: &Sexp) -> Result<Number> {
        self.resolve(sexp, |this, resolved| match resolved {
            Resolved::Meaning(Meaning::Number(number)) => Ok(number),
            Resolved::Meaning(_) => this.wrong(sexp, "expected a number"),
            Resolved::Call(head, arguments, _) => this.arithmetic(&head, &arguments),
        })
    }

    fn arithmetic(&mut self, head: &str, arguments: &[Sexp]) -> Result<Number> {
        let measured = |term, measure| Number { constant: 0, measured: Some((term, measure)) };
        match (head, arguments) {
            ("str.len", [string]) => {
                let term = self.string(string)?;
                if term.iter().all(|piece| matches!(piece, Piece::Literal(_))) {
                    return Ok(Number { constant: literal(&term).len() as i128, measured: None });
                }
                Ok(measured(term, Measure::Length))
            }
            ("str.to_int" | "str.to.int", [string]) => Ok(measured(self.string(string)?, Measure::ToInt)),
            ("str.indexof", [string, text, from @ ..]) => {
                let (string, text) = (self.string(string)?, self.string(text)?);
                let from = from.first().map_or(Ok(0), |from| self.constant(from))?;
                if text.iter().any(|piece| !matches!(piece, Piece::Literal(_))) {
                    return unsupported("str.indexof of something that is not constant");
                }
                match u64::try_from(from) {
                    Ok(from) => Ok(measured(string, Measure::IndexOf(literal(&text), from))),
                    Err(_) => Ok(Number { constant: -1, measured: None }),
                }
            }
            ("-", [one]) => Ok(Number { constant: -self.constant(one)?, measured: None }),
            ("+", parts) => {
                let mut sum = Number { constant: 0, measured: None };
                for part in parts {
                    let part = self.number(part)?;
                    sum.constant += part.constant;
                    if sum.measured.is_some() && part.measured.is_some() {
                        return unsupported("a sum of numbers that depend on strings");
                    }
                    sum.measured = sum.measured.or(part.measured);
                }
                Ok(sum)
            }
            ("-", [first, rest @ ..]) => {
                let mut difference = self.number(first)?;
                for part in rest {
                    difference.constant -= self.constant(part)?;
                }
                Ok(difference)
            }
            _ => match head.parse::<i128>() {
                Ok(constant) if arguments.is_empty() => Ok(Number { constant, measured: None }),
                _ => unsupported(head),
            },
        }
    }

    fn language(&mut self, sexp: &Sexp) -> Result<Language> {
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
                return Ok(self.problem.languages.bytes(set));
            }
            _ => {}
        }
        let parts: Result<Vec<Language>> = arguments.iter().map(|argument| self.language(argument)).collect();
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

/// Exactly one of two formulas holds.
fn different(a: &Formula, b: &Formula) -> Formula {
    Formula::Or(vec![
        Formula::And(vec![a.clone(), b.clone().negate()]),
        Formula::And(vec![a.clone().negate(), b.clone()]),
    ])
}

fn literal(term: &[Piece]) -> Vec<u8> {
    let text = |piece: &Piece| match piece {
        Piece::Literal(text) => text.clone(),
        _ => Vec::new(),
    };
    term.iter().flat_map(text).collect()
}
