//! Declarations: tokens with codes and aliases, operators with their precedence, start symbols.

use super::Reader;
use crate::ReadError;
use crate::build::quoted;
use crate::cursor::{is_name, is_name_start};
use grammar::Pattern;
use grammar::model::{Prec, Terminal, TerminalId};

impl Reader<'_> {
    pub(super) fn declarations(&mut self) -> Result<(), ReadError> {
        loop {
            self.blank();
            if self.cursor.done() {
                return Err(self.cursor.error("expected `%%` before the rules"));
            }
            if self.cursor.eat("%%") {
                return Ok(());
            }
            if self.cursor.eat("%{") {
                self.cursor.eat_through("%}");
                continue;
            }
            let pos = self.cursor.pos;
            if !self.cursor.eat("%") {
                if self.cursor.eat(";") {
                    continue;
                }
                return Err(self.cursor.expected("a declaration that begins with `%`, or `%%`"));
            }
            let word = self.cursor.eat_while(|c| is_name(c) || c == '-').to_string();
            self.declaration(&word, pos)?;
        }
    }

    pub(super) fn declaration(&mut self, word: &str, pos: usize) -> Result<(), ReadError> {
        match word {
            "token" | "term" => self.tokens(None),
            "left" => self.operators(false),
            "right" => self.operators(true),
            "nonassoc" | "precedence" | "binary" => self.operators(false),
            "start" => self.start_symbols(pos),
            _ => {
                self.skip_declaration();
                Ok(())
            }
        }
    }

    /// Names, strings, numbers and code up to the next declaration.
    fn skip_declaration(&mut self) {
        loop {
            self.blank();
            match self.cursor.peek() {
                None | Some('%') => return,
                Some(';') => {
                    self.cursor.bump();
                    return;
                }
                Some('{') => self.code(),
                Some('"' | '\'') => drop(self.quoted()),
                _ => drop(self.cursor.bump()),
            }
        }
    }

    fn operators(&mut self, right: bool) -> Result<(), ReadError> {
        self.level += 1;
        self.tokens(Some(Prec { level: self.level, right }))
    }

    fn tokens(&mut self, prec: Option<Prec>) -> Result<(), ReadError> {
        let mut last: Option<TerminalId> = None;
        loop {
            self.blank();
            match self.cursor.peek() {
                Some('<') => drop(self.cursor.eat_through(">")),
                Some('"') => {
                    let text = self.quoted()?;
                    let known = self.aliases.get(&text).copied();
                    match (last, known) {
                        (Some(id), _) if prec.is_none() => drop(self.aliases.insert(text, id)),
                        (_, Some(id)) => self.set_prec(id, prec),
                        _ => {
                            let id = self
                                .token(&quoted(text.as_bytes()), Pattern::literal(text.as_bytes()));
                            self.aliases.insert(text, id);
                            self.set_prec(id, prec);
                        }
                    }
                }
                Some('\'') => {
                    let id = self.char_token()?;
                    self.set_prec(id, prec);
                }
                Some(c) if c.is_ascii_digit() => {
                    let digits = self.cursor.eat_while(|c| c.is_ascii_alphanumeric());
                    let code = digits
                        .strip_prefix("0x")
                        .map_or(digits.parse().ok(), |h| i64::from_str_radix(h, 16).ok());
                    if let (Some(id), Some(code)) = (last, code) {
                        self.set_code(id, code);
                    }
                }
                Some(c) if is_name_start(c) || c == '.' => {
                    let name =
                        self.cursor.eat_while(|c| is_name(c) || c == '.' || c == '-').to_string();
                    let id = self.named_token(&name);
                    self.set_prec(id, prec);
                    last = Some(id);
                }
                Some(',') => drop(self.cursor.bump()),
                Some(';') => {
                    self.cursor.bump();
                    return Ok(());
                }
                // A translatable alias: _("text")
                Some('(' | ')') => drop(self.cursor.bump()),
                _ => return Ok(()),
            }
        }
    }

    fn set_prec(&mut self, id: TerminalId, prec: Option<Prec>) {
        if let Some(prec) = prec {
            self.prec.insert(id, prec);
        }
    }

    fn set_code(&mut self, id: TerminalId, code: i64) {
        let terminal = &mut self.builder.grammar.terminals[id.index()];
        if terminal.code == Some(self.next_code - 1) {
            self.next_code -= 1;
        }
        terminal.code = Some(code);
        terminal.end_of_input = code == 0;
        if code >= self.next_code {
            self.next_code = code + 1;
        }
    }

    pub(super) fn named_token(&mut self, name: &str) -> TerminalId {
        match self.builder.terminal_named(name) {
            Some(id) => id,
            None => self.token(name, Pattern::literal(name.as_bytes())),
        }
    }

    pub(super) fn token(&mut self, name: &str, pattern: Pattern) -> TerminalId {
        let code = Some(self.next_code);
        self.next_code += 1;
        let id = self.builder.add_terminal(Terminal {
            code,
            defined: false,
            ..Terminal::new(name, pattern)
        });
        if name == "YYEOF" {
            self.set_code(id, 0);
        }
        id
    }

    fn char_token(&mut self) -> Result<TerminalId, ReadError> {
        let pos = self.cursor.pos;
        let text = self.quoted_bytes()?;
        let [byte] = text[..] else {
            return Err(self.cursor.error_at(pos, "expected one character in quotes"));
        };
        let id = self.builder.literal(&text);
        self.builder.grammar.terminals[id.index()].code = Some(i64::from(byte));
        Ok(id)
    }

    /// Bison 3.8 allows several, in one declaration or in several, each with a parser of its own.
    fn start_symbols(&mut self, pos: usize) -> Result<(), ReadError> {
        loop {
            let name = self.start_symbol();
            if name.is_empty() {
                return match self.start {
                    Some(_) => Ok(()),
                    None => Err(self.cursor.expected("the name of a rule to start with")),
                };
            }
            match &self.start {
                None => self.start = Some((name, pos)),
                Some((first, _)) if *first == name => {
                    self.builder.note(
                        &self.cursor,
                        pos,
                        format!("`{name}` is said to be a start rule twice"),
                    );
                }
                Some((first, _)) => {
                    let text = format!(
                        "`{name}` is a start rule too; the first, `{first}`, is used (or see \
                         --start)"
                    );
                    self.builder.note(&self.cursor, pos, text);
                }
            }
        }
    }

    fn start_symbol(&mut self) -> String {
        self.blank();
        self.cursor.eat_while(|c| is_name(c) || c == '.' || c == '-').to_string()
    }
}
