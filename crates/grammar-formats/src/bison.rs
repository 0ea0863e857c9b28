//! bison and yacc, with the tokens' patterns from a flex scanner.

use crate::antlr::skip_code;
use crate::build::{Builder, quoted};
use crate::cursor::{Cursor, is_name, is_name_start};
use crate::flex;
use crate::{Read, ReadError};
use grammar::Pattern;
use grammar::model::{Alternative, Expr, Prec, Terminal, TerminalId};
use std::collections::HashMap;

/// bison numbers tokens without a code from here.
const FIRST_CODE: i64 = 258;

pub fn read(file: &str, text: &str, scanner: Option<(&str, &str)>) -> Result<Read, ReadError> {
    let mut reader = Reader {
        cursor: Cursor::new(file, text),
        builder: Builder::new(file),
        aliases: HashMap::new(),
        prec: HashMap::new(),
        level: 0,
        next_code: FIRST_CODE,
        start: None,
    };
    reader.declarations()?;
    reader.rules()?;
    reader.finish(scanner)
}

struct Reader<'t> {
    cursor: Cursor<'t>,
    builder: Builder,
    /// "text" of a token with a name.
    aliases: HashMap<String, TerminalId>,
    prec: HashMap<TerminalId, Prec>,
    level: u32,
    next_code: i64,
    start: Option<(String, usize)>,
}

enum Symbol {
    Name(String),
    Char(Vec<u8>),
    Text(String),
}

impl<'t> Reader<'t> {
    fn declarations(&mut self) -> Result<(), ReadError> {
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

    fn declaration(&mut self, word: &str, pos: usize) -> Result<(), ReadError> {
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
                            let id = self.token(&quoted(text.as_bytes()), Pattern::literal(text.as_bytes()));
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
                    let name = self.cursor.eat_while(|c| is_name(c) || c == '.' || c == '-').to_string();
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

    fn named_token(&mut self, name: &str) -> TerminalId {
        match self.builder.terminal_named(name) {
            Some(id) => id,
            None => self.token(name, Pattern::literal(name.as_bytes())),
        }
    }

    fn token(&mut self, name: &str, pattern: Pattern) -> TerminalId {
        let code = Some(self.next_code);
        self.next_code += 1;
        let id = self.builder.add_terminal(Terminal { code, defined: false, ..Terminal::new(name, pattern) });
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

    fn rules(&mut self) -> Result<(), ReadError> {
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
        let mut parts: Vec<Expr> = Vec::new();
        let mut prec: Option<Prec> = None;
        let mut last_token: Option<TerminalId> = None;
        let mut recovery = false;
        loop {
            self.blank();
            let pos = self.cursor.pos;
            match self.cursor.peek() {
                None | Some('|' | ';') => break,
                Some('{') => self.code(),
                Some('=') => drop(self.cursor.bump()),
                Some('[') => drop(self.cursor.eat_through("]")),
                Some('<') => drop(self.cursor.eat_through(">")),
                Some('%') if self.cursor.at("%%") => break,
                Some('%') => {
                    self.cursor.bump();
                    if self.cursor.eat("?") {
                        self.builder.note(&self.cursor, pos, "predicate is left out: it counts as true");
                        continue;
                    }
                    let word = self.cursor.eat_while(|c| is_name(c) || c == '-');
                    self.blank();
                    match word {
                        "prec" => {
                            let id = self.precedence_symbol()?;
                            prec = id.and_then(|id| self.prec.get(&id).copied());
                        }
                        "empty" => {}
                        "dprec" | "expect" | "expect-rr" => {
                            self.cursor.eat_while(|c| c.is_ascii_digit());
                        }
                        "merge" => {
                            self.cursor.eat_through(">");
                        }
                        _ => {
                            return Err(self
                                .cursor
                                .error_at(pos, format!("expected a symbol, found `%{word}`")));
                        }
                    }
                }
                _ => {
                    let before = self.cursor.clone();
                    let Some(symbol) = self.symbol()? else {
                        return Err(self.cursor.expected("a symbol, an action, `|` or `;`"));
                    };
                    // The next rule, if the semicolon was left out.
                    self.blank();
                    if matches!(symbol, Symbol::Name(_)) && self.begins_rule() {
                        self.cursor = before;
                        break;
                    }
                    match symbol {
                        Symbol::Name(name) if name == "error" => recovery = true,
                        Symbol::Name(name) => match self.builder.terminal_named(&name) {
                            Some(id) => {
                                last_token = Some(id);
                                parts.push(Expr::Terminal(id));
                            }
                            None => parts.push(Expr::Rule(self.builder.rule(&name, pos))),
                        },
                        Symbol::Char(text) => {
                            let id = self.builder.literal(&text);
                            self.builder.grammar.terminals[id.index()].code =
                                text.first().map(|b| i64::from(*b));
                            last_token = Some(id);
                            parts.push(Expr::Terminal(id));
                        }
                        Symbol::Text(text) => {
                            let known = self.aliases.get(&text).copied();
                            let id = known.unwrap_or_else(|| {
                                let id =
                                    self.token(&quoted(text.as_bytes()), Pattern::literal(text.as_bytes()));
                                self.aliases.insert(text, id);
                                id
                            });
                            last_token = Some(id);
                            parts.push(Expr::Terminal(id));
                        }
                    }
                }
            }
        }
        if recovery {
            self.builder.note(
                &self.cursor,
                start,
                "alternative with `error` is for recovery and is left out",
            );
            return Ok(None);
        }
        let prec = prec.or_else(|| last_token.and_then(|t| self.prec.get(&t).copied()));
        Ok(Some(Alternative { prec, ..Alternative::new(Expr::seq(parts)) }))
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

    fn symbol(&mut self) -> Result<Option<Symbol>, ReadError> {
        self.blank();
        match self.cursor.peek() {
            Some('\'') => Ok(Some(Symbol::Char(self.quoted_bytes()?))),
            Some('"') => Ok(Some(Symbol::Text(self.quoted()?))),
            Some(c) if is_name_start(c) || c == '.' || c == '$' => {
                let name = self.cursor.eat_while(|c| is_name(c) || c == '.' || c == '-' || c == '$');
                Ok(Some(Symbol::Name(name.to_string())))
            }
            _ => Ok(None),
        }
    }

    fn quoted(&mut self) -> Result<String, ReadError> {
        Ok(String::from_utf8_lossy(&self.quoted_bytes()?).into_owned())
    }

    fn quoted_bytes(&mut self) -> Result<Vec<u8>, ReadError> {
        let start = self.cursor.pos;
        let quote = self.cursor.bump();
        let mut out = Vec::new();
        loop {
            match self.cursor.bump() {
                None | Some('\n') => return Err(self.cursor.error_at(start, "expected the closing quote")),
                c if c == quote => return Ok(out),
                Some('\\') => out.extend(flex::escape(&mut self.cursor)),
                Some(c) => out.extend(c.encode_utf8(&mut [0; 4]).bytes()),
            }
        }
    }

    fn code(&mut self) {
        self.cursor.pos += skip_code(self.cursor.rest(), '{', '}').unwrap_or(self.cursor.rest().len());
    }

    fn blank(&mut self) {
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

    fn finish(mut self, scanner: Option<(&str, &str)>) -> Result<Read, ReadError> {
        self.plain_aliases();
        match scanner {
            Some((file, text)) => {
                let spoken: HashMap<String, TerminalId> = self.aliases.clone();
                flex::read_into(file, text, &mut self.builder, &spoken)?;
            }
            None => {
                self.builder.note(&self.cursor, 0, "no scanner was given: tokens are written by their names");
                let blank = Pattern::parse("[ \\t\\r\\n]+").expect("valid");
                self.builder.grammar.lex_rules.push(grammar::LexRule::skip("blank", blank));
                self.builder.lexer_from_terminals(grammar::Lexing::Longest);
            }
        }
        if let Some((name, pos)) = self.start.take() {
            if !self.builder.has_rule(&name) {
                return Err(self.cursor.error_at(pos, format!("there is no rule `{name}` to start with")));
            }
            self.builder.grammar.start = self.builder.rule(&name, pos);
        }
        self.builder.finish(&self.cursor)
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
                        "`{name}` is a start rule too; the first, `{first}`, is used (or see --start)"
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

    /// An alias such as "==" or "while" says how a token is written, if there is no scanner.
    fn plain_aliases(&mut self) {
        for (text, id) in &self.aliases {
            let terminal = &mut self.builder.grammar.terminals[id.index()];
            let symbol = !text.is_empty() && !text.contains(char::is_alphanumeric) && !text.contains(' ');
            if (symbol || terminal.name.to_lowercase() == *text) && !terminal.end_of_input {
                terminal.pattern = Pattern::literal(text.as_bytes());
            }
        }
    }
}
