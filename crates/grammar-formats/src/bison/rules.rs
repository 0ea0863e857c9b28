//! Rules and their alternatives.

use super::Reader;
use super::lexical::Symbol;
use crate::ReadError;
use crate::build::quoted;
use crate::cursor::is_name;
use grammar::Pattern;
use grammar::model::{Alternative, Expr, Prec, TerminalId};

/// What was found of an alternative so far.
#[derive(Default)]
struct Parts {
    parts: Vec<Expr>,
    prec: Option<Prec>,
    last_token: Option<TerminalId>,
    recovery: bool,
}

impl Reader<'_> {
    pub(super) fn rules(&mut self) -> Result<(), ReadError> {
        loop {
            self.blank();
            if self.cursor.done() || self.cursor.at("%%") {
                return Ok(());
            }
            if self.cursor.eat("%{") {
                self.cursor.eat_through("%}");
                continue;
            }
            if self.cursor.eat(";") {
                continue;
            }
            if self.cursor.at("%") {
                let pos = self.cursor.pos;
                self.cursor.bump();
                let word = self.cursor.eat_while(|c| is_name(c) || c == '-').to_string();
                self.declaration(&word, pos)?;
                continue;
            }
            self.rule()?;
        }
    }

    fn rule(&mut self) -> Result<(), ReadError> {
        let pos = self.cursor.pos;
        let Some(Symbol::Name(name)) = self.symbol()? else {
            return Err(self.cursor.expected("the name of a rule"));
        };
        self.blank();
        if self.cursor.at("[") {
            self.cursor.eat_through("]");
            self.blank();
        }
        if !self.cursor.eat(":") {
            return Err(self.cursor.expected("`:`"));
        }
        self.cursor.eat(":=");
        let rule = self.builder.rule(&name, pos);
        let mut alternatives = Vec::new();
        loop {
            alternatives.extend(self.alternative()?);
            self.blank();
            if !self.cursor.eat("|") {
                break;
            }
        }
        self.blank();
        self.cursor.eat(";");
        self.builder.define(rule, alternatives);
        Ok(())
    }

    /// `None` if it is for error recovery only.
    fn alternative(&mut self) -> Result<Option<Alternative>, ReadError> {
        let start = self.cursor.pos;
        let mut found = Parts::default();
        loop {
            self.blank();
            match self.cursor.peek() {
                None | Some('|' | ';') => break,
                Some('{') => self.code(),
                Some('=') => drop(self.cursor.bump()),
                Some('[') => drop(self.cursor.eat_through("]")),
                Some('<') => drop(self.cursor.eat_through(">")),
                Some('%') if self.cursor.at("%%") => break,
                Some('%') => self.directive(&mut found)?,
                _ => match self.symbol_of_alternative()? {
                    Some((symbol, pos)) => self.part(symbol, pos, &mut found),
                    None => break,
                },
            }
        }
        if found.recovery {
            let text = "alternative with `error` is for recovery and is left out";
            self.builder.note(&self.cursor, start, text);
            return Ok(None);
        }
        let prec = found.prec.or_else(|| found.last_token.and_then(|t| self.prec.get(&t).copied()));
        Ok(Some(Alternative { prec, ..Alternative::new(Expr::seq(found.parts)) }))
    }

    /// `%prec`, `%empty` and others that stand inside alternatives.
    fn directive(&mut self, found: &mut Parts) -> Result<(), ReadError> {
        let pos = self.cursor.pos;
        self.cursor.bump();
        if self.cursor.eat("?") {
            self.builder.note(&self.cursor, pos, "predicate is left out: it counts as true");
            return Ok(());
        }
        let word = self.cursor.eat_while(|c| is_name(c) || c == '-');
        self.blank();
        match word {
            "prec" => {
                let id = self.precedence_symbol()?;
                found.prec = id.and_then(|id| self.prec.get(&id).copied());
            }
            "empty" => {}
            "dprec" | "expect" | "expect-rr" => drop(self.cursor.eat_while(|c| c.is_ascii_digit())),
            "merge" => drop(self.cursor.eat_through(">")),
            _ => {
                return Err(self
                    .cursor
                    .error_at(pos, format!("expected a symbol, found `%{word}`")));
            }
        }
        Ok(())
    }

    /// `None` where the next rule begins, if the semicolon was left out.
    fn symbol_of_alternative(&mut self) -> Result<Option<(Symbol, usize)>, ReadError> {
        let before = self.cursor.clone();
        let Some(symbol) = self.symbol()? else {
            return Err(self.cursor.expected("a symbol, an action, `|` or `;`"));
        };
        self.blank();
        let pos = before.pos;
        if matches!(symbol, Symbol::Name(_)) && self.begins_rule() {
            self.cursor = before;
            return Ok(None);
        }
        Ok(Some((symbol, pos)))
    }

    fn part(&mut self, symbol: Symbol, pos: usize, found: &mut Parts) {
        let token = match symbol {
            Symbol::Name(name) if name == "error" => {
                found.recovery = true;
                return;
            }
            Symbol::Name(name) => match self.builder.terminal_named(&name) {
                Some(id) => id,
                None => return found.parts.push(Expr::Rule(self.builder.rule(&name, pos))),
            },
            Symbol::Char(text) => {
                let id = self.builder.literal(&text);
                self.builder.grammar.terminals[id.index()].code =
                    text.first().map(|b| i64::from(*b));
                id
            }
            Symbol::Text(text) => self.text_token(text),
        };
        found.last_token = Some(token);
        found.parts.push(Expr::Terminal(token));
    }

    fn text_token(&mut self, text: String) -> TerminalId {
        if let Some(id) = self.aliases.get(&text) {
            return *id;
        }
        let id = self.token(&quoted(text.as_bytes()), Pattern::literal(text.as_bytes()));
        self.aliases.insert(text, id);
        id
    }

    fn begins_rule(&mut self) -> bool {
        let mut ahead = self.cursor.clone();
        if ahead.at("[") {
            ahead.eat_through("]");
            ahead.eat_while(char::is_whitespace);
        }
        ahead.at(":")
    }

    fn precedence_symbol(&mut self) -> Result<Option<TerminalId>, ReadError> {
        Ok(match self.symbol()? {
            Some(Symbol::Name(name)) => Some(self.named_token(&name)),
            Some(Symbol::Char(text)) => self.builder.literal_known(&text),
            Some(Symbol::Text(text)) => self.aliases.get(&text).copied(),
            None => None,
        })
    }
}
