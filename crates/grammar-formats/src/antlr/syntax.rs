//! One `.g4` file as a syntax tree.

use crate::cursor::{Cursor, is_name, is_name_start};
use crate::{Note, ReadError};
use regex_syntax::hir::ClassUnicode;

const NEST_LIMIT: usize = 150;

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
    pub options: Vec<(String, String)>,
    pub imports: Vec<String>,
    pub tokens: Vec<String>,
    pub rules: Vec<RuleAst>,
}

#[derive(Clone, Debug)]
pub struct RuleAst {
    pub name: String,
    pub fragment: bool,
    pub mode: String,
    pub ignore_case: Option<bool>,
    pub alternatives: Vec<Alt>,
    pub at: Note,
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
    pub at: Note,
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
    let mut parser =
        Parser { cursor: Cursor::new(file, text), notes, depth: 0, lexical: false, labels: false };
    parser.file()
}

pub(super) struct Parser<'t, 'n> {
    pub(super) cursor: Cursor<'t>,
    notes: &'n mut Vec<Note>,
    depth: usize,
    /// Inside a lexer rule `[…]` is a set, in a parser rule it is an argument.
    lexical: bool,
    labels: bool,
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

    fn options(&mut self) -> Result<Vec<(String, String)>, ReadError> {
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
            let value = self.cursor.eat_while(|c| c != ';' && c != '}').trim().to_string();
            all.push((name, value));
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

    fn imports(&mut self) -> Result<Vec<String>, ReadError> {
        let mut all = Vec::new();
        loop {
            let mut name = self.name("the name of a grammar")?;
            self.blank();
            if self.cursor.eat("=") {
                name = self.name("the name of a grammar")?;
                self.blank();
            }
            all.push(name);
            if !self.cursor.eat(",") {
                self.expect(";")?;
                return Ok(all);
            }
        }
    }

    fn rule(&mut self, word: String, pos: usize, mode: &str) -> Result<RuleAst, ReadError> {
        let (mut name, mut fragment) = (word, false);
        while ["fragment", "protected", "public", "private"].contains(&name.as_str()) && !self.cursor.at(":")
        {
            fragment |= name == "fragment";
            name = self.name("the name of a rule")?;
        }
        self.lexical = is_lexical(&name);
        let mut rule = RuleAst {
            at: self.cursor.note_at(pos, ""),
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
        for (name, value) in self.options()? {
            if name == "caseInsensitive" {
                rule.ignore_case = Some(value == "true");
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

    fn alternatives(&mut self) -> Result<Vec<Alt>, ReadError> {
        let mut all = vec![self.alternative()?];
        loop {
            self.blank();
            if !self.cursor.eat("|") {
                return Ok(all);
            }
            all.push(self.alternative()?);
        }
    }

    fn alternative(&mut self) -> Result<Alt, ReadError> {
        let mut alt = Alt::default();
        loop {
            self.blank();
            let pos = self.cursor.pos;
            match self.cursor.peek() {
                None => return Err(self.cursor.expected("`;`")),
                Some('|' | ';' | ')') => return Ok(alt),
                Some('#') => {
                    self.cursor.bump();
                    self.name("a label")?;
                }
                Some('<') => {
                    let from = self.cursor.pos;
                    if !self.cursor.eat_through(">") {
                        return Err(self.cursor.error_at(from, "expected `>`"));
                    }
                    let text = &self.cursor.text[from..self.cursor.pos];
                    alt.right |= text.replace(' ', "").contains("assoc=right");
                }
                Some('{') => self.action(&mut alt, pos)?,
                Some('-') if self.cursor.eat("->") => alt.commands = self.commands()?,
                _ => {
                    let part = self.part()?;
                    alt.parts.push(part);
                }
            }
        }
    }

    fn action(&mut self, alt: &mut Alt, pos: usize) -> Result<(), ReadError> {
        self.braces()?;
        let text: String = self.cursor.text[pos..self.cursor.pos].chars().take(60).collect();
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        self.blank();
        if self.cursor.eat("?") {
            alt.predicate = true;
            self.blank();
            self.cursor.eat("=>");
            self.blank();
            if self.cursor.at("<") {
                self.cursor.eat_through(">");
            }
            self.note(pos, format!("predicate {text} is left out: it counts as true"));
        } else {
            self.note(pos, format!("action {text} is left out"));
        }
        Ok(())
    }

    fn commands(&mut self) -> Result<Vec<(String, Option<String>)>, ReadError> {
        let mut all = Vec::new();
        loop {
            let name = self.name("a lexer command")?;
            self.blank();
            let mut argument = None;
            if self.cursor.eat("(") {
                self.blank();
                argument = Some(self.cursor.eat_while(|c| c != ')').trim().to_string());
                self.expect(")")?;
            }
            all.push((name, argument));
            self.blank();
            if !self.cursor.eat(",") {
                return Ok(all);
            }
        }
    }

    fn part(&mut self) -> Result<Part, ReadError> {
        let pos = self.cursor.pos;
        let element = self.labelled()?;
        self.blank();
        if self.cursor.at("<") {
            self.cursor.eat_through(">");
            self.blank();
        }
        let (min, max) = match self.cursor.peek() {
            Some('?') => (0, Some(1)),
            Some('*') => (0, None),
            Some('+') if !self.cursor.at("+=") => (1, None),
            _ => {
                return Ok(Part {
                    element,
                    min: 1,
                    max: Some(1),
                    greedy: true,
                    at: self.cursor.note_at(pos, ""),
                });
            }
        };
        self.cursor.bump();
        let greedy = !self.cursor.eat("?");
        Ok(Part { element, min, max, greedy, at: self.cursor.note_at(pos, "") })
    }

    /// `label=element`, `label+=element`, or the element alone.
    fn labelled(&mut self) -> Result<Element, ReadError> {
        let pos = self.cursor.pos;
        if self.cursor.peek().is_some_and(is_name_start) {
            let name = self.name("an element")?;
            self.blank();
            if self.cursor.eat("+=") || self.cursor.eat("=") {
                if !std::mem::replace(&mut self.labels, true) {
                    self.note(pos, "labels are left out");
                }
                self.blank();
                return self.element();
            }
            if self.cursor.at("[") && !self.lexical {
                self.note(pos, format!("arguments of `{name}` are left out"));
                self.brackets()?;
            }
            return Ok(Element::Name(name));
        }
        self.element()
    }

    fn element(&mut self) -> Result<Element, ReadError> {
        let pos = self.cursor.pos;
        match self.cursor.peek() {
            Some('~') => {
                self.cursor.bump();
                self.blank();
                Ok(Element::Not(Box::new(self.element()?)))
            }
            Some('.') => {
                self.cursor.bump();
                Ok(Element::Any)
            }
            Some('(') => self.block(),
            Some('[') if self.lexical => self.set(),
            Some('\'') => self.literal_or_range(),
            Some(c) if is_name_start(c) => {
                let name = self.name("an element")?;
                if self.cursor.at("[") && !self.lexical {
                    self.note(pos, format!("arguments of `{name}` are left out"));
                    self.brackets()?;
                }
                Ok(Element::Name(name))
            }
            _ => Err(self.cursor.expected("a name, a literal, `(`, `~`, `.`, `|` or `;`")),
        }
    }

    fn block(&mut self) -> Result<Element, ReadError> {
        self.depth += 1;
        if self.depth > NEST_LIMIT {
            return Err(self.cursor.error(format!("groups are nested deeper than {NEST_LIMIT}")));
        }
        self.cursor.bump();
        self.blank();
        // (options {greedy=false;} : …)
        let start = self.cursor.clone();
        if self.cursor.eat("options") {
            self.blank();
            if self.cursor.at("{") {
                self.options()?;
                self.blank();
                self.cursor.eat(":");
            } else {
                self.cursor = start;
            }
        }
        self.blank();
        self.cursor.eat(":");
        let alternatives = self.alternatives()?;
        self.expect(")")?;
        self.depth -= 1;
        Ok(Element::Block(alternatives))
    }

    fn name(&mut self, what: &str) -> Result<String, ReadError> {
        self.blank();
        if !self.cursor.peek().is_some_and(is_name_start) {
            return Err(self.cursor.expected(what));
        }
        // Dots occur in option values and qualified names.
        Ok(self.cursor.eat_while(is_name).to_string())
    }

    fn expect(&mut self, text: &str) -> Result<(), ReadError> {
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

    pub(super) fn note(&mut self, pos: usize, text: impl Into<String>) {
        self.notes.push(self.cursor.note_at(pos, text));
    }
}
