//! From expressions of SMT-LIB to a problem.

use rustc_hash::FxHashMap;

use super::numbers::Number;
use super::sexp::Sexp;
use crate::bytes::ByteSet;
use crate::hmp::SyntaxError;
use crate::language::{Language, Languages, UNBOUNDED};
use crate::problem::{Atom, Formula, Piece, Problem, Term, VariableId};
use crate::scan::Size;

/// Why an expression was not translated.
#[derive(Debug)]
pub enum Refused {
    Wrong(SyntaxError),
    Unsupported(String),
}

pub(super) type Result<T> = std::result::Result<T, Refused>;

#[derive(Clone, Debug)]
pub(super) enum Meaning {
    String(Term),
    Bool(Formula),
    Number(Number),
    Language(Language),
    /// Parameters and body of a definition.
    Macro(Vec<String>, Sexp),
}

/// Sorts of declared constants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sort {
    String,
    Bool,
    /// Two variables: the number is the difference of their lengths.
    Int,
}

pub struct Translator<'t> {
    text: &'t [u8],
    pub problem: Problem,
    /// Name, sort and the first of its variables of each constant that the file declares.
    pub declared: Vec<(String, Sort, VariableId)>,
    /// Bytes that constants of the file tell apart from others.
    pub told_apart: ByteSet,
    scope: FxHashMap<String, Meaning>,
    fresh: usize,
}

impl<'t> Translator<'t> {
    pub fn new(text: &'t [u8]) -> Self {
        Translator {
            text,
            problem: Problem::default(),
            declared: Vec::new(),
            told_apart: ByteSet::EMPTY,
            scope: FxHashMap::default(),
            fresh: 0,
        }
    }

    pub fn command(&mut self, command: &Sexp) -> Result<()> {
        let parts = command.list().unwrap_or_default();
        match (parts[0].word().unwrap_or_default(), &parts[1..]) {
            ("declare-const", [name, sort]) => self.declare(name, sort),
            ("declare-fun", [name, Sexp::List(none, _), sort]) if none.is_empty() => {
                self.declare(name, sort)
            }
            ("declare-fun", _) => Err(Refused::Unsupported("functions with arguments".to_string())),
            ("define-const", [name, _, body]) => self.define(name, &[], body),
            ("define-fun", [name, Sexp::List(parameters, _), _, body]) => {
                self.define(name, parameters, body)
            }
            ("assert", [formula]) => {
                let formula = self.formula(formula, true)?;
                self.problem.require(formula);
                Ok(())
            }
            (name, _) => self.wrong(command, &format!("`{name}` has other arguments")),
        }
    }

    pub(super) fn wrong<T>(&self, sexp: &Sexp, message: &str) -> Result<T> {
        Err(Refused::Wrong(SyntaxError::at(self.text, sexp.at(), message)))
    }

    fn declare(&mut self, name: &Sexp, sort: &Sexp) -> Result<()> {
        let Some(name) = name.word() else { return self.wrong(name, "expected a name") };
        let first = VariableId(self.problem.variables.len());
        let (sort, meaning) = match sort.word() {
            Some("String") => {
                (Sort::String, Meaning::String(vec![Piece::Variable(self.problem.variable(name))]))
            }
            Some("Bool") => {
                let flag = self.problem.sized_variable(name, Size { least: 0, most: 1 });
                let truth = self.problem.languages.literal(b"1");
                (Sort::Bool, Meaning::Bool(Atom::In(vec![Piece::Variable(flag)], truth).into()))
            }
            Some("Int") => (Sort::Int, Meaning::Number(self.integer())),
            _ => return Err(Refused::Unsupported(format!("variables of other sorts (`{name}`)"))),
        };
        self.declared.push((name.to_string(), sort, first));
        self.scope.insert(name.to_string(), meaning);
        Ok(())
    }

    fn define(&mut self, name: &Sexp, parameters: &[Sexp], body: &Sexp) -> Result<()> {
        let Some(name) = name.word() else { return self.wrong(name, "expected a name") };
        let parameters =
            parameters.iter().filter_map(|parameter| parameter.list()?.first()?.word());
        let meaning = Meaning::Macro(parameters.map(str::to_string).collect(), body.clone());
        self.scope.insert(name.to_string(), meaning);
        Ok(())
    }

    pub(super) fn helper(&mut self, least: u64, most: u64) -> Piece {
        self.fresh += 1;
        Piece::Variable(
            self.problem.sized_variable(&format!("helper {}", self.fresh), Size { least, most }),
        )
    }

    /// Evaluates `let` and definitions, then hands the head and arguments of what remains to
    /// `then`.
    pub(super) fn resolve<T>(
        &mut self,
        sexp: &Sexp,
        then: impl FnOnce(&mut Self, Resolved) -> Result<T>,
    ) -> Result<T> {
        match sexp {
            Sexp::Text(text, _) => {
                self.told_apart = self.told_apart.union(text.iter().copied().collect());
                then(self, Resolved::Meaning(Meaning::String(vec![Piece::Literal(text.clone())])))
            }
            Sexp::Wide(_) => Err(Refused::Unsupported("characters above \\u{ff}".to_string())),
            Sexp::Word(word, _) => match self.scope.get(word).cloned() {
                Some(Meaning::Macro(parameters, body)) if parameters.is_empty() => {
                    self.resolve(&body, then)
                }
                Some(meaning) => then(self, Resolved::Meaning(meaning)),
                None => then(self, Resolved::Call(word.clone(), Vec::new(), sexp.clone())),
            },
            Sexp::List(parts, _) => match parts.split_first() {
                Some((Sexp::Word(head, _), [Sexp::List(bindings, _), body])) if head == "let" => {
                    let bindings = self.bindings(bindings)?;
                    self.within(bindings, |this| this.resolve(body, then))
                }
                Some((Sexp::Word(head, _), arguments)) => match self.scope.get(head).cloned() {
                    Some(Meaning::Macro(parameters, body))
                        if parameters.len() == arguments.len() =>
                    {
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
                "str.len" | "str.indexof" | "str.to_int" | "str.to.int" | "+" | "-" | "*" => {
                    Ok(Meaning::Number(self.number(sexp)?))
                }
                _ if head.parse::<i128>().is_ok() => Ok(Meaning::Number(self.number(sexp)?)),
                "str.++" | "str.at" | "str.substr" | "str.replace" => {
                    Ok(Meaning::String(self.string(sexp)?))
                }
                "str.to_re" | "str.to.re" => Ok(Meaning::Language(self.language(sexp)?)),
                _ if head.starts_with("re.") || head.starts_with("_ re.") => {
                    Ok(Meaning::Language(self.language(sexp)?))
                }
                _ => Ok(Meaning::Bool(self.formula(sexp, false)?)),
            },
        }
    }
}

pub(super) enum Resolved {
    Meaning(Meaning),
    Call(String, Vec<Sexp>, Sexp),
}

pub(super) fn unsupported<T>(what: &str) -> Result<T> {
    Err(Refused::Unsupported(format!("`{what}` is not supported here")))
}

pub(super) fn truth(value: bool) -> Formula {
    if value { Formula::And(Vec::new()) } else { Formula::Or(Vec::new()) }
}

/// Formulas.
impl Translator<'_> {
    /// `positive` if the formula is asserted, not one side of a negation: then helpers may be
    /// guessed in it.
    fn formula(&mut self, sexp: &Sexp, positive: bool) -> Result<Formula> {
        self.resolve(sexp, |this, resolved| match resolved {
            Resolved::Meaning(Meaning::Bool(formula)) => Ok(formula),
            Resolved::Meaning(_) => this.wrong(sexp, "expected a formula"),
            Resolved::Call(head, arguments, sexp) => {
                this.connective(&head, &arguments, &sexp, positive)
            }
        })
    }

    fn connective(
        &mut self,
        head: &str,
        arguments: &[Sexp],
        sexp: &Sexp,
        positive: bool,
    ) -> Result<Formula> {
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
                let (condition, yes, no) = (
                    self.formula(condition, false)?,
                    self.formula(yes, false)?,
                    self.formula(no, false)?,
                );
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
                let parts: Result<Vec<Formula>> =
                    rest.iter().map(|other| self.equal(first, other)).collect();
                Formula::And(parts?)
            }
            ("distinct", [_, _, ..]) => {
                let pairs = (0..arguments.len()).flat_map(|j| (0..j).map(move |i| (i, j)));
                let differ =
                    |(i, j): (usize, usize)| Ok(self.equal(&arguments[i], &arguments[j])?.negate());
                Formula::And(pairs.map(differ).collect::<Result<_>>()?)
            }
            (">=" | "<=" | ">" | "<", [_, _, ..]) => {
                let pairs = arguments.windows(2);
                Formula::And(
                    pairs
                        .map(|pair| self.compare(head, &pair[0], &pair[1]))
                        .collect::<Result<_>>()?,
                )
            }
            _ => self.predicate(head, arguments, sexp, positive)?,
        })
    }

    fn equal(&mut self, a: &Sexp, b: &Sexp) -> Result<Formula> {
        match (self.meaning(a)?, self.meaning(b)?) {
            (Meaning::String(a), Meaning::String(b)) => Ok(Atom::Equals(a, b).into()),
            (Meaning::Bool(a), Meaning::Bool(b)) => Ok(different(&a, &b).negate()),
            (Meaning::Number(a), Meaning::Number(b)) => self.same(&a, &b),
            (Meaning::Language(_), _) => unsupported("= between languages"),
            _ => self.wrong(a, "the two sides have different sorts"),
        }
    }

    fn predicate(
        &mut self,
        head: &str,
        arguments: &[Sexp],
        sexp: &Sexp,
        positive: bool,
    ) -> Result<Formula> {
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
                    let ends =
                        if is_prefix { [text, Languages::ALL] } else { [Languages::ALL, text] };
                    return Ok(Atom::In(whole, self.problem.languages.concat_all(ends)).into());
                }
                if !positive {
                    return self.end_is(whole, part, is_prefix);
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
            _ if head.starts_with("str.")
                || head.starts_with("re.")
                || head.starts_with("int.") =>
            {
                unsupported(head)
            }
            _ => self.wrong(sexp, &format!("`{head}` is not known")),
        }
    }
}

/// Exactly one of two formulas holds.
fn different(a: &Formula, b: &Formula) -> Formula {
    Formula::Or(vec![
        Formula::And(vec![a.clone(), b.clone().negate()]),
        Formula::And(vec![a.clone().negate(), b.clone()]),
    ])
}

pub(super) fn literal(term: &[Piece]) -> Vec<u8> {
    let text = |piece: &Piece| match piece {
        Piece::Literal(text) => text.clone(),
        _ => Vec::new(),
    };
    term.iter().flat_map(text).collect()
}
