//! Looks up names and builds the problem.

use rustc_hash::FxHashMap;

use super::cursor::SyntaxError;
use super::syntax::{Assertion, File, Name, Regular, Value};
use crate::grammar::Nonterminal;
use crate::language::{GrammarId, Language, Languages};
use crate::problem::{Atom, Formula, Piece, Problem, Term, VariableId};

type Result<T> = std::result::Result<T, SyntaxError>;

pub fn build(text: &[u8], mut file: File<'_>) -> Result<Problem> {
    check_rules(text, &file)?;
    let mut problem = Problem::default();
    let grammar = problem.languages.add_grammar(std::mem::take(&mut file.grammar));
    let mut builder = Builder::new(text, &file, problem, grammar)?;
    for (name, _) in &file.regulars {
        builder.named_language(*name, false)?;
    }
    for (name, _) in &file.values {
        builder.named_term(*name)?;
    }
    for assertion in &file.assertions {
        let formula = builder.formula(assertion)?;
        builder.problem.require(formula);
    }
    Ok(builder.problem)
}

/// The language called `name`, or the one that was defined last.
pub fn build_language(
    text: &[u8],
    mut file: File<'_>,
    languages: Languages,
    name: Option<&str>,
) -> Result<(Language, Languages)> {
    check_rules(text, &file)?;
    let mut problem = Problem { languages, ..Problem::default() };
    let grammar = problem.languages.add_grammar(std::mem::take(&mut file.grammar));
    let last = [file.last_rule, file.regulars.last().map(|(name, _)| *name)].into_iter().flatten();
    let wanted = match name {
        Some(name) => Some(Name { text: name.as_bytes(), at: 0 }),
        None => last.max_by_key(|name| name.at),
    };
    let Some(wanted) = wanted else {
        return Err(SyntaxError::at(text, text.len(), "expected a `cfg` or `reg`"));
    };
    let mut builder = Builder::new(text, &file, problem, grammar)?;
    let language = builder.named_language(wanted, false)?;
    Ok((language, builder.problem.languages))
}

/// Every nonterminal that is mentioned must be defined.
fn check_rules(text: &[u8], file: &File<'_>) -> Result<()> {
    let undefined =
        |(_, nonterminal): &(&&[u8], &Nonterminal)| !file.mentions[nonterminal.index()].1;
    let first = file
        .nonterminals
        .iter()
        .filter(undefined)
        .min_by_key(|(_, nonterminal)| nonterminal.index());
    match first {
        None => Ok(()),
        Some((name, nonterminal)) => {
            let message = format!(
                "`{}` is not defined: expected `cfg {0} := …;`",
                String::from_utf8_lossy(name)
            );
            Err(SyntaxError::at(text, file.mentions[nonterminal.index()].0, message))
        }
    }
}

/// A definition on its way to its meaning; the middle state finds definitions that need themselves.
enum Meaning<T> {
    Unknown,
    InProgress,
    Known(T),
}

struct Builder<'f, 't> {
    text: &'f [u8],
    file: &'f File<'t>,
    problem: Problem,
    grammar: GrammarId,
    variables: FxHashMap<&'t [u8], VariableId>,
    regular_names: FxHashMap<&'t [u8], usize>,
    value_names: FxHashMap<&'t [u8], usize>,
    regulars: Vec<Meaning<Language>>,
    values: Vec<Meaning<Term>>,
}

impl<'f, 't> Builder<'f, 't> {
    fn new(
        text: &'f [u8],
        file: &'f File<'t>,
        mut problem: Problem,
        grammar: GrammarId,
    ) -> Result<Self> {
        let mut variables = FxHashMap::default();
        for (name, size) in &file.variables {
            let id = problem.sized_variable(&String::from_utf8_lossy(name.text), *size);
            insert(text, &mut variables, *name, id)?;
        }
        let (mut regular_names, mut value_names) = (FxHashMap::default(), FxHashMap::default());
        for (i, (name, _)) in file.regulars.iter().enumerate() {
            insert(text, &mut regular_names, *name, i)?;
        }
        for (i, (name, _)) in file.values.iter().enumerate() {
            insert(text, &mut value_names, *name, i)?;
            if variables.contains_key(name.text) {
                return Err(twice(text, *name));
            }
        }
        Ok(Builder {
            text,
            file,
            problem,
            grammar,
            variables,
            regular_names,
            value_names,
            regulars: file.regulars.iter().map(|_| Meaning::Unknown).collect(),
            values: file.values.iter().map(|_| Meaning::Unknown).collect(),
        })
    }

    fn error<T>(&self, name: Name<'_>, message: &str) -> Result<T> {
        Err(SyntaxError::at(
            self.text,
            name.at,
            format!("`{}` {message}", String::from_utf8_lossy(name.text)),
        ))
    }

    /// A `reg` or a `cfg` by name; `fix` looks for a `cfg` first.
    fn named_language(&mut self, name: Name<'_>, rules_first: bool) -> Result<Language> {
        let rule = self.file.nonterminals.get(name.text).copied();
        let regular = self.regular_names.get(name.text).copied();
        match (rule, regular) {
            (Some(rule), None) => Ok(self.problem.languages.context_free(self.grammar, rule)),
            (Some(rule), Some(_)) if rules_first => {
                Ok(self.problem.languages.context_free(self.grammar, rule))
            }
            (_, Some(index)) => self.regular_definition(index, name),
            (None, None) => {
                self.error(name, "is no language: expected the name of a `reg` or `cfg`")
            }
        }
    }

    fn regular_definition(&mut self, index: usize, name: Name<'_>) -> Result<Language> {
        match std::mem::replace(&mut self.regulars[index], Meaning::InProgress) {
            Meaning::Known(language) => {
                self.regulars[index] = Meaning::Known(language);
                Ok(language)
            }
            Meaning::InProgress => self.error(name, "is defined by itself; recursion needs `cfg`"),
            Meaning::Unknown => {
                let file = self.file;
                let language = self.language(&file.regulars[index].1)?;
                self.regulars[index] = Meaning::Known(language);
                Ok(language)
            }
        }
    }

    fn language(&mut self, regular: &'f Regular<'t>) -> Result<Language> {
        Ok(match regular {
            Regular::Name(name) => self.named_language(*name, false)?,
            Regular::Literal(text) => self.problem.languages.literal(text),
            Regular::Bytes(set) => self.problem.languages.bytes(*set),
            Regular::Fix(name, size) => {
                let whole = self.named_language(*name, true)?;
                match size {
                    None => whole,
                    Some(size) => {
                        let lengths = self.problem.languages.lengths(size.least, size.most);
                        self.problem.languages.and([whole, lengths])
                    }
                }
            }
            Regular::Or(parts) => {
                let parts = self.languages(parts)?;
                self.problem.languages.or(parts)
            }
            Regular::And(parts) => {
                let parts = self.languages(parts)?;
                self.problem.languages.and(parts)
            }
            Regular::Concat(parts) => {
                let parts = self.languages(parts)?;
                self.problem.languages.concat_all(parts)
            }
            Regular::Not(inner) => {
                let inner = self.language(inner)?;
                self.problem.languages.not(inner)
            }
            Regular::Repeat(inner, least, most) => {
                let inner = self.language(inner)?;
                self.problem.languages.repeat(inner, *least, *most)
            }
        })
    }

    fn languages(&mut self, parts: &'f [Regular<'t>]) -> Result<Vec<Language>> {
        parts.iter().map(|part| self.language(part)).collect()
    }

    fn named_term(&mut self, name: Name<'t>) -> Result<Term> {
        if let Some(&variable) = self.variables.get(name.text) {
            return Ok(vec![Piece::Variable(variable)]);
        }
        let Some(&index) = self.value_names.get(name.text) else {
            return self.error(name, "is no string: expected the name of a `var` or `val`");
        };
        match std::mem::replace(&mut self.values[index], Meaning::InProgress) {
            Meaning::Known(term) => {
                self.values[index] = Meaning::Known(term.clone());
                Ok(term)
            }
            Meaning::InProgress => self.error(name, "is defined by itself"),
            Meaning::Unknown => {
                let file = self.file;
                let term = self.term(&file.values[index].1)?;
                self.values[index] = Meaning::Known(term.clone());
                Ok(term)
            }
        }
    }

    fn term(&mut self, value: &'f Value<'t>) -> Result<Term> {
        Ok(match value {
            Value::Name(name) => self.named_term(*name)?,
            Value::Literal(text) => vec![Piece::Literal(text.clone())],
            Value::Concat(parts) => {
                let parts: Result<Vec<Term>> = parts.iter().map(|part| self.term(part)).collect();
                parts?.concat()
            }
            Value::Slice(name, offset, length) => {
                let whole = self.named_term(*name)?;
                let [Piece::Variable(variable)] = whole[..] else {
                    return self
                        .error(*name, "is no variable; only parts of variables can be taken");
                };
                vec![Piece::Slice { variable, offset: *offset, length: *length }]
            }
        })
    }

    fn formula(&mut self, assertion: &'f Assertion<'t>) -> Result<Formula> {
        Ok(match assertion {
            Assertion::In(value, regular) => {
                Atom::In(self.term(value)?, self.language(regular)?).into()
            }
            Assertion::Contains(whole, part) => {
                Atom::Contains(self.term(whole)?, self.term(part)?).into()
            }
            Assertion::Equals(a, b) => Atom::Equals(self.term(a)?, self.term(b)?).into(),
            Assertion::Not(inner) => self.formula(inner)?.negate(),
            Assertion::And(parts) => Formula::And(self.formulas(parts)?),
            Assertion::Or(parts) => Formula::Or(self.formulas(parts)?),
        })
    }

    fn formulas(&mut self, parts: &'f [Assertion<'t>]) -> Result<Vec<Formula>> {
        parts.iter().map(|part| self.formula(part)).collect()
    }
}

fn insert<'t, T>(
    text: &[u8],
    names: &mut FxHashMap<&'t [u8], T>,
    name: Name<'t>,
    meaning: T,
) -> Result<()> {
    match names.insert(name.text, meaning) {
        Some(_) => Err(twice(text, name)),
        None => Ok(()),
    }
}

fn twice(text: &[u8], name: Name<'_>) -> SyntaxError {
    SyntaxError::at(
        text,
        name.at,
        format!("`{}` is defined twice", String::from_utf8_lossy(name.text)),
    )
}
