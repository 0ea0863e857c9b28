//! One `.g4` file as a syntax tree.

use crate::cursor::{Cursor, is_name, is_name_start};
use crate::{Note, ReadError};
use regex_syntax::hir::ClassUnicode;
use std::rc::Rc;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    Lexer,
    Parser,
    Combined,
}

#[derive(Debug)]
pub struct File {
    pub kind: Kind,
    pub name: String,
    pub options: Vec<Setting>,
    pub imports: Vec<(String, Place)>,
    pub tokens: Vec<String>,
    pub rules: Vec<RuleAst>,
}

/// An option, and where its value stands.
#[derive(Debug)]
pub struct Setting {
    pub name: String,
    pub value: String,
    pub at: Place,
}

#[derive(Clone, Debug)]
pub struct RuleAst {
    pub name: String,
    pub fragment: bool,
    pub mode: String,
    pub ignore_case: Option<bool>,
    pub alternatives: Vec<Alt>,
    pub at: Place,
}

/// Where something stands. Every part of a rule has one, so it is small.
#[derive(Clone, Debug)]
pub struct Place {
    file: Rc<str>,
    line: u32,
    column: u32,
}

impl Place {
    pub fn note(&self, text: impl Into<String>) -> Note {
        let (line, column) = (self.line as usize, self.column as usize);
        Note { file: self.file.to_string(), line, column, text: text.into() }
    }

    pub fn error(&self, message: impl Into<String>) -> ReadError {
        let Note { file, line, column, text: message } = self.note(message);
        ReadError { file, line, column, message }
    }
}

impl RuleAst {
    pub fn is_lexical(&self) -> bool {
        is_lexical(&self.name)
    }
}

pub fn is_lexical(name: &str) -> bool {
    name.chars().next().is_some_and(char::is_uppercase)
}

#[derive(Clone, Debug, Default)]
pub struct Alt {
    pub parts: Vec<Part>,
    pub commands: Vec<(String, Option<String>)>,
    pub right: bool,
    pub predicate: bool,
}

#[derive(Clone, Debug)]
pub struct Part {
    pub element: Element,
    pub min: u32,
    pub max: Option<u32>,
    pub greedy: bool,
    pub at: Place,
}

#[derive(Clone, Debug)]
pub enum Element {
    Name(String),
    Literal(String),
    Class(ClassUnicode),
    Any,
    Not(Box<Element>),
    Block(Vec<Alt>),
}

pub fn parse(file: &str, text: &str, notes: &mut Vec<Note>) -> Result<File, ReadError> {
    let cursor = Cursor::new(file, text);
    let mut parser =
        Parser { cursor, file: file.into(), notes, depth: 0, lexical: false, labels: false };
    parser.file()
}

pub(super) struct Parser<'t, 'n> {
    pub(super) cursor: Cursor<'t>,
    file: Rc<str>,
    notes: &'n mut Vec<Note>,
    /// Of groups around this place.
    pub(super) depth: usize,
    /// Inside a lexer rule `[…]` is a set, in a parser rule it is an argument.
    pub(super) lexical: bool,
    /// Has it been said that labels are left out?
    pub(super) labels: bool,
}

impl Parser<'_, '_> {
    fn file(&mut self) -> Result<File, ReadError> {
        let mut file = File {
            kind: Kind::Combined,
            name: String::new(),
            options: Vec::new(),
            imports: Vec::new(),
            tokens: Vec::new(),
            rules: Vec::new(),
        };
        self.header(&mut file)?;
        let mut mode = "DEFAULT_MODE".to_string();
        loop {
            self.blank();
            if self.cursor.done() {
                return Ok(file);
            }
            if self.cursor.at("@") {
                self.named_action()?;
                continue;
            }
            let pos = self.cursor.pos;
            let word = self.name("a rule")?;
            self.blank();
            match word.as_str() {
                "options" if self.cursor.at("{") => file.options.extend(self.options()?),
                "tokens" if self.cursor.at("{") => file.tokens.extend(self.name_list()?),
                "channels" if self.cursor.at("{") => drop(self.name_list()?),
                "import" if !self.cursor.at(":") => file.imports.extend(self.imports()?),
                "mode" if !self.cursor.at(":") => {
                    mode = self.name("the name of a mode")?;
                    self.expect(";")?;
                }
                _ => {
                    let rule = self.rule(word, pos, &mode)?;
                    file.rules.push(rule);
                }
            }
        }
    }

    fn header(&mut self, file: &mut File) -> Result<(), ReadError> {
        loop {
            self.blank();
            if self.cursor.at("@") {
                self.named_action()?;
                continue;
            }
            let pos = self.cursor.pos;
            match self.name("`grammar`, `lexer grammar` or `parser grammar`")?.as_str() {
                "lexer" => file.kind = Kind::Lexer,
                "parser" => file.kind = Kind::Parser,
                "grammar" => {
                    file.name = self.name("the name of the grammar")?;
                    return self.expect(";");
                }
                _ => {
                    return Err(self
                        .cursor
                        .error_at(pos, "expected `grammar`, `lexer grammar` or `parser grammar`"));
                }
            }
        }
    }

    /// `@header {…}`, `@lexer::members {…}`
    fn named_action(&mut self) -> Result<(), ReadError> {
        let pos = self.cursor.pos;
        self.cursor.bump();
        self.cursor.eat_while(|c| is_name(c) || c == ':' || c.is_whitespace());
        self.blank();
        if !self.cursor.at("{") {
            return Err(self.cursor.expected("`{`"));
        }
        self.braces()?;
        self.note(pos, "code of a named action is left out");
        Ok(())
    }

    pub(super) fn options(&mut self) -> Result<Vec<Setting>, ReadError> {
        self.expect("{")?;
        let mut all = Vec::new();
        loop {
            self.blank();
            if self.cursor.eat("}") {
                return Ok(all);
            }
            let name = self.name("an option or `}`")?;
            self.expect("=")?;
            self.blank();
            let at = self.place(self.cursor.pos);
            let value = self.cursor.eat_while(|c| c != ';' && c != '}').trim().to_string();
            all.push(Setting { name, value, at });
            self.blank();
            self.cursor.eat(";");
        }
    }

    fn name_list(&mut self) -> Result<Vec<String>, ReadError> {
        self.expect("{")?;
        let mut all = Vec::new();
        loop {
            self.blank();
            if self.cursor.eat("}") {
                return Ok(all);
            }
            all.push(self.name("a name or `}`")?);
            self.blank();
            if !self.cursor.eat(",") {
                self.cursor.eat(";");
            }
        }
    }

    fn imports(&mut self) -> Result<Vec<(String, Place)>, ReadError> {
        let mut all = Vec::new();
        loop {
            self.blank();
            let mut at = self.place(self.cursor.pos);
            let mut name = self.name("the name of a grammar")?;
            self.blank();
            if self.cursor.eat("=") {
                self.blank();
                at = self.place(self.cursor.pos);
                name = self.name("the name of a grammar")?;
                self.blank();
            }
            all.push((name, at));
            if !self.cursor.eat(",") {
                self.expect(";")?;
                return Ok(all);
            }
        }
    }

    fn rule(&mut self, word: String, pos: usize, mode: &str) -> Result<RuleAst, ReadError> {
        let (mut name, mut fragment) = (word, false);
        while ["fragment", "protected", "public", "private"].contains(&name.as_str())
            && !self.cursor.at(":")
        {
            fragment |= name == "fragment";
            name = self.name("the name of a rule")?;
        }
        self.lexical = is_lexical(&name);
        let mut rule = RuleAst {
            at: self.place(pos),
            name,
            fragment,
            mode: mode.to_string(),
            ignore_case: None,
            alternatives: Vec::new(),
        };
        self.prequel(&mut rule)?;
        rule.alternatives = self.alternatives()?;
        self.expect(";")?;
        self.after_rule()?;
        Ok(rule)
    }

    /// Between the name and the colon: arguments, `returns`, `locals`, `throws`, options, actions.
    fn prequel(&mut self, rule: &mut RuleAst) -> Result<(), ReadError> {
        loop {
            self.blank();
            if self.cursor.eat(":") {
                return Ok(());
            }
            let pos = self.cursor.pos;
            match self.cursor.peek() {
                Some('[') => self.brackets()?,
                Some('@') => self.named_action()?,
                Some('{') => self.braces()?,
                Some(',') => drop(self.cursor.bump()),
                Some(c) if is_name_start(c) => {
                    let word = self.name("`:`")?;
                    self.blank();
                    match word.as_str() {
                        "options" => self.rule_options(rule)?,
                        "returns" | "locals" => self.note(pos, format!("`{word}` is left out")),
                        _ => {}
                    }
                }
                _ => return Err(self.cursor.expected("`:`")),
            }
        }
    }

    fn rule_options(&mut self, rule: &mut RuleAst) -> Result<(), ReadError> {
        for option in self.options()? {
            if option.name == "caseInsensitive" {
                rule.ignore_case = Some(option.value == "true");
            }
        }
        Ok(())
    }

    fn after_rule(&mut self) -> Result<(), ReadError> {
        loop {
            self.blank();
            let before = self.cursor.pos;
            let word = self.cursor.eat_while(is_name);
            self.blank();
            let code = self.cursor.at("[") || self.cursor.at("{");
            if (word == "catch" || word == "finally") && code {
                if self.cursor.at("[") {
                    self.brackets()?;
                }
                self.blank();
                if self.cursor.at("{") {
                    self.braces()?;
                }
            } else {
                self.cursor.pos = before;
                return Ok(());
            }
        }
    }

    pub(super) fn name(&mut self, what: &str) -> Result<String, ReadError> {
        self.blank();
        if !self.cursor.peek().is_some_and(is_name_start) {
            return Err(self.cursor.expected(what));
        }
        // Dots occur in option values and qualified names.
        Ok(self.cursor.eat_while(is_name).to_string())
    }

    pub(super) fn expect(&mut self, text: &str) -> Result<(), ReadError> {
        self.blank();
        if self.cursor.eat(text) { Ok(()) } else { Err(self.cursor.expected(&format!("`{text}`"))) }
    }

    pub(super) fn blank(&mut self) {
        loop {
            self.cursor.eat_while(char::is_whitespace);
            if self.cursor.at("//") {
                self.cursor.eat_while(|c| c != '\n');
            } else if self.cursor.at("/*") {
                self.cursor.pos += 2;
                self.cursor.eat_through("*/");
            } else {
                return;
            }
        }
    }

    pub(super) fn place(&self, pos: usize) -> Place {
        let (line, column) = self.cursor.line_column(pos);
        Place { file: self.file.clone(), line: line as u32, column: column as u32 }
    }

    pub(super) fn note(&mut self, pos: usize, text: impl Into<String>) {
        self.notes.push(self.cursor.note_at(pos, text));
    }
}
