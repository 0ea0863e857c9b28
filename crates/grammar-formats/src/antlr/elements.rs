//! What stands to the right of a rule's colon: alternatives, elements, suffixes, labels, actions
//! and commands.

use super::commands::commands_of;
use super::syntax::{Alt, Element, Parser, Part};
use crate::ReadError;
use crate::cursor::is_name_start;

const NEST_LIMIT: usize = 150;

impl Parser<'_, '_> {
    pub(super) fn alternatives(&mut self) -> Result<Vec<Alt>, ReadError> {
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
                Some('|' | ';' | ')') => {
                    alt.parts.shrink_to_fit();
                    return Ok(alt);
                }
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
                Some('-') if self.cursor.eat("->") => alt.commands.extend(self.commands()?),
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
            return Ok(());
        }
        match commands_of(&text).filter(|_| self.lexical && self.depth == 0) {
            Some(commands) => alt.commands.extend(commands),
            None => self.note(pos, format!("action {text} is left out")),
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
                    at: self.place(pos),
                });
            }
        };
        self.cursor.bump();
        let greedy = !self.cursor.eat("?");
        Ok(Part { element, min, max, greedy, at: self.place(pos) })
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
}
