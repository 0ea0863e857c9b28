//! SMT-LIB 2.6: the theory of strings, as far as path conditions and common benchmarks use it.
//!
//! Characters are bytes. A byte that the file does not mention stands for all characters above;
//! where there are too few of these, nothing is called unsatisfiable. What cannot be translated
//! makes the answer `unknown`, with the reason; it is never dropped.

mod expressions;
mod integers;
mod numbers;
mod sexp;
mod strings;
mod translate;

use crate::budget::{Budget, Stop};
use crate::hmp::SyntaxError;
use crate::solve::Answer;
use sexp::Sexp;
use translate::{Sort, Translator};

/// So many different characters above \u{ff} could be needed.
const STAND_INS: usize = 48;

/// What a command of the file is answered with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Response {
    /// `check-sat`: the answer and the names of the variables it is about.
    Verdict(Answer, Vec<String>),
    /// Any other output.
    Text(String),
}

/// Runs the commands of a file. A file without `check-sat` is checked at its end.
pub fn run(text: &[u8], budget: &mut Budget) -> Result<Vec<Response>, SyntaxError> {
    let mut session =
        Session { text, scopes: vec![Vec::new()], responses: Vec::new(), model: None };
    for command in sexp::parse(text)? {
        if !session.command(command, budget)? {
            break;
        }
    }
    if !session.responses.iter().any(|response| matches!(response, Response::Verdict(..))) {
        session.check(budget)?;
    }
    Ok(session.responses)
}

struct Session<'t> {
    text: &'t [u8],
    /// Declarations and assertions; one list for each `push`.
    scopes: Vec<Vec<Sexp>>,
    responses: Vec<Response>,
    /// Name, sort and value of each variable.
    model: Option<Vec<(String, &'static str, String)>>,
}

impl Session<'_> {
    /// False at `exit`.
    fn command(&mut self, command: Sexp, budget: &mut Budget) -> Result<bool, SyntaxError> {
        let parts = command.list().unwrap_or_default();
        let Some(name) = parts.first().and_then(Sexp::word) else {
            return Err(SyntaxError::at(
                self.text,
                command.at(),
                "expected a command, `(assert …)`",
            ));
        };
        match name {
            "set-logic" | "set-info" | "set-option" | "get-info" => {}
            "declare-fun" | "declare-const" | "define-fun" | "define-const" | "assert" => {
                if let Some(scope) = self.scopes.last_mut() {
                    scope.push(command);
                }
            }
            "push" => self.scopes.push(Vec::new()),
            "pop" if self.scopes.len() > 1 => {
                self.scopes.pop();
            }
            "check-sat" => self.check(budget)?,
            "get-model" => self.get_model(),
            "get-value" => self.get_values(parts.get(1).and_then(Sexp::list).unwrap_or_default()),
            "echo" => {
                if let Some(Sexp::Text(text, _)) = parts.get(1) {
                    self.responses.push(Response::Text(String::from_utf8_lossy(text).into_owned()));
                }
            }
            "exit" => return Ok(false),
            other => {
                let message = format!("the command `{other}` is not supported");
                return Err(SyntaxError::at(self.text, command.at(), message));
            }
        }
        Ok(true)
    }

    fn check(&mut self, budget: &mut Budget) -> Result<(), SyntaxError> {
        let mut translator = Translator::new(self.text);
        translator.problem.any_solution = true;
        let mut refused = None;
        for command in self.scopes.iter().flatten() {
            match translator.command(command) {
                Ok(()) => {}
                Err(translate::Refused::Wrong(error)) => return Err(error),
                Err(translate::Refused::Unsupported(reason)) => refused = refused.or(Some(reason)),
            }
        }
        let declared = &translator.declared;
        let names = declared.iter().map(|(name, ..)| name.clone()).collect();
        let answer = match refused {
            Some(reason) => Answer::Unknown(Stop::Unsupported(reason)),
            None => match translator.problem.solve(budget) {
                Answer::Unsat if translator.told_apart.complement().len() < STAND_INS => {
                    Answer::Unknown(Stop::Unsupported(
                        "characters above \\u{ff} may matter".to_string(),
                    ))
                }
                answer => answer,
            },
        };
        self.model = None;
        let answer = match answer {
            Answer::Sat(words) => {
                let values: Vec<_> = declared
                    .iter()
                    .map(|(_, sort, first)| value(*sort, &words[first.0..]))
                    .collect();
                let named = declared.iter().zip(&values);
                self.model = Some(
                    named
                        .map(|((name, ..), (sort, text, _))| (name.clone(), *sort, text.clone()))
                        .collect(),
                );
                Answer::Sat(values.into_iter().map(|(.., word)| word).collect())
            }
            other => other,
        };
        self.responses.push(Response::Verdict(answer, names));
        Ok(())
    }

    fn get_model(&mut self) {
        let Some(model) = &self.model else {
            self.responses.push(Response::Text("(error \"there is no model\")".to_string()));
            return;
        };
        let define = |(name, sort, value): &(String, &str, String)| {
            format!("  (define-fun {name} () {sort} {value})\n")
        };
        let text = format!("(\n{})", model.iter().map(define).collect::<String>());
        self.responses.push(Response::Text(text));
    }

    fn get_values(&mut self, wanted: &[Sexp]) {
        let find = |name: &str| self.model.iter().flatten().find(|(known, ..)| known == name);
        let pairs: Vec<String> = wanted
            .iter()
            .filter_map(|sexp| find(sexp.word()?))
            .map(|(name, _, value)| format!("({name} {value})"))
            .collect();
        self.responses.push(Response::Text(format!("({})", pairs.join(" "))));
    }
}

/// The sort of a constant, its value as SMT-LIB writes it, and the value as a word, given the words
/// from its first variable on.
fn value(sort: Sort, words: &[Vec<u8>]) -> (&'static str, String, Vec<u8>) {
    let word = words.first().cloned().unwrap_or_default();
    match sort {
        Sort::String => ("String", quoted(&word), word),
        Sort::Bool => ("Bool", (word == b"1").to_string(), word),
        Sort::Int => {
            let below = words.get(1).map_or(0, Vec::len);
            let number = word.len() as i128 - below as i128;
            let text = if number < 0 { format!("(- {})", -number) } else { number.to_string() };
            ("Int", text, number.to_string().into_bytes())
        }
    }
}

/// A word as SMT-LIB writes it.
pub fn quoted(word: &[u8]) -> String {
    let mut text = String::from("\"");
    for &byte in word {
        match byte {
            b'"' => text.push_str("\"\""),
            b' '..=b'~' if byte != b'\\' => text.push(char::from(byte)),
            _ => text.push_str(&format!("\\u{{{byte:x}}}")),
        }
    }
    text.push('"');
    text
}
