//! ABNF (RFC 5234, with the case-sensitive strings of RFC 7405).

use crate::build::Builder;
use crate::cursor::Cursor;
use crate::{Read, ReadError};
use grammar::Pattern;
use grammar::model::{Alternative, Expr};
use grammar::pattern::LONGEST;
use regex_syntax::hir::{Class, ClassBytes, ClassBytesRange, ClassUnicode, ClassUnicodeRange, Hir};

const NEST_LIMIT: usize = 200;
const REPEAT_LIMIT: u32 = 10_000;

/// Appendix B.1: rules that every ABNF grammar may use.
const CORE: &str = "ALPHA = %x41-5A / %x61-7A\nBIT = \"0\" / \"1\"\nCHAR = %x01-7F\nCR = \
                    %x0D\nCRLF = CR LF\n\
    CTL = %x00-1F / %x7F\nDIGIT = %x30-39\nDQUOTE = %x22\nHEXDIG = DIGIT / \"A\" / \"B\" / \"C\" \
    / \"D\" / \"E\" / \"F\"\n\
    HTAB = %x09\nLF = %x0A\nLWSP = *(WSP / CRLF WSP)\nOCTET = %x00-FF\nSP = %x20\nVCHAR = \
    %x21-7E\nWSP = SP / HTAB\n";

pub fn read(file: &str, text: &str) -> Result<Read, ReadError> {
    let cursor = Cursor::new(file, text);
    let mut reader = Reader { cursor, builder: Builder::new(file), depth: 0 };
    reader.rules()?;
    let (main, defined) = (reader.cursor.clone(), reader.builder.grammar.rules.len());
    if defined > 0 {
        reader.core_rules()?;
    }
    reader.builder.finish(&main)
}

struct Reader<'t> {
    cursor: Cursor<'t>,
    builder: Builder,
    depth: usize,
}

impl Reader<'_> {
    fn rules(&mut self) -> Result<(), ReadError> {
        loop {
            self.blank_lines();
            if self.cursor.done() {
                return Ok(());
            }
            self.cursor.eat_while(|c| c == ' ' || c == '\t');
            let pos = self.cursor.pos;
            let Some(name) = self.name() else {
                return Err(self.cursor.expected("the name of a rule"));
            };
            self.blank();
            let more = self.cursor.eat("=/");
            if !more && !self.cursor.eat("=") {
                return Err(self.cursor.expected("`=` or `=/`"));
            }
            let rule = self.builder.rule(&name, pos);
            if self.builder.is_defined(rule) && !more {
                return Err(self
                    .cursor
                    .error_at(pos, format!("`{name}` is defined twice; `=/` adds alternatives")));
            }
            let alternatives = self.choice()?.into_iter().map(Alternative::new).collect();
            self.builder.define(rule, alternatives);
        }
    }

    /// Defines the core rules that are used and missing.
    fn core_rules(&mut self) -> Result<(), ReadError> {
        loop {
            let missing = CORE.lines().find(|line| {
                let name = line.split(' ').next().unwrap_or("").to_lowercase();
                self.builder.has_rule(&name) && !self.defined(&name)
            });
            let Some(line) = missing else { return Ok(()) };
            let main = std::mem::replace(&mut self.cursor, Cursor::new("core rules", line));
            self.rules()?;
            self.cursor = main;
        }
    }

    fn defined(&mut self, name: &str) -> bool {
        let rule = self.builder.rule(name, 0);
        self.builder.is_defined(rule)
    }

    /// Names are the same in upper and lower case.
    fn name(&mut self) -> Option<String> {
        let bracketed = self.cursor.at("<")
            && self.cursor.rest()[1..].starts_with(|c: char| c.is_ascii_alphabetic());
        if bracketed {
            let rest = self.cursor.rest();
            let end = rest.find('>')?;
            let inside = &rest[1..end];
            if !inside.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_') {
                return None;
            }
            self.cursor.pos += end + 1;
            return Some(inside.to_lowercase());
        }
        self.cursor.peek().filter(char::is_ascii_alphabetic)?;
        Some(
            self.cursor
                .eat_while(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_')
                .to_lowercase(),
        )
    }

    fn choice(&mut self) -> Result<Vec<Expr>, ReadError> {
        let mut branches = vec![self.sequence()?];
        loop {
            self.blank();
            if !self.cursor.eat("/") && !self.cursor.eat("|") {
                return Ok(branches);
            }
            branches.push(self.sequence()?);
        }
    }

    fn sequence(&mut self) -> Result<Expr, ReadError> {
        let mut parts = Vec::new();
        loop {
            self.blank();
            match self.cursor.peek() {
                None | Some('/' | '|' | ')' | ']' | '\n' | '\r') => return Ok(Expr::seq(parts)),
                _ => parts.push(self.repetition()?),
            }
        }
    }

    fn repetition(&mut self) -> Result<Expr, ReadError> {
        let pos = self.cursor.pos;
        let low = self.cursor.eat_while(|c| c.is_ascii_digit()).to_string();
        let star = self.cursor.eat("*");
        let high = if star {
            self.cursor.eat_while(|c| c.is_ascii_digit()).to_string()
        } else {
            low.clone()
        };
        if self.cursor.at("#") {
            return Err(self
                .cursor
                .error("the list operator `#` is not part of ABNF; write the list out"));
        }
        let element = self.element()?;
        if !star && low.is_empty() {
            return Ok(element);
        }
        let min: Option<u32> = if low.is_empty() { Some(0) } else { low.parse().ok() };
        let max: Option<Option<u32>> =
            if high.is_empty() { Some(None) } else { high.parse().ok().map(Some) };
        match (min, max) {
            (Some(min), Some(max))
                if min <= REPEAT_LIMIT && max.is_none_or(|m| min <= m && m <= REPEAT_LIMIT) =>
            {
                Ok(element.repeat(min, max))
            }
            _ => Err(self.cursor.error_at(
                pos,
                format!("expected a repetition such as `1*3` up to {REPEAT_LIMIT}"),
            )),
        }
    }

    fn element(&mut self) -> Result<Expr, ReadError> {
        let pos = self.cursor.pos;
        match self.cursor.peek() {
            Some('(') => Ok(Expr::choice(self.bracket(")")?)),
            Some('[') => Ok(Expr::choice(self.bracket("]")?).repeat(0, Some(1))),
            Some('"') => self.string(false),
            Some('%') => self.numeric(),
            Some(_) => {
                if let Some(name) = self.name() {
                    return Ok(Expr::Rule(self.builder.rule(&name, pos)));
                }
                if self.cursor.at("<") && self.cursor.eat_through(">") {
                    self.builder.note(&self.cursor, pos, "a description in words matches nothing");
                    return Ok(Expr::Terminal(self.builder.pattern(Pattern::never())));
                }
                Err(self.cursor.expected("a name, a string, `%`, `(`, `[` or `/`"))
            }
            None => Err(self.cursor.expected("an element")),
        }
    }

    fn bracket(&mut self, close: &str) -> Result<Vec<Expr>, ReadError> {
        self.depth += 1;
        if self.depth > NEST_LIMIT {
            return Err(self.cursor.error(format!("groups are nested deeper than {NEST_LIMIT}")));
        }
        self.cursor.bump();
        let branches = self.choice()?;
        if !self.cursor.eat(close) {
            return Err(self.cursor.expected(&format!("`{close}` or `/`")));
        }
        self.depth -= 1;
        Ok(branches)
    }

    fn string(&mut self, case_sensitive: bool) -> Result<Expr, ReadError> {
        let start = self.cursor.pos;
        self.cursor.bump();
        let text = self.cursor.eat_while(|c| c != '"' && c != '\n').to_string();
        if !self.cursor.eat("\"") {
            return Err(self.cursor.error_at(start, "expected `\"` at the end of this string"));
        }
        if text.is_empty() {
            return Ok(Expr::Empty);
        }
        let letters = text.chars().any(|c| c.is_ascii_alphabetic());
        if case_sensitive || !letters {
            return Ok(Expr::Terminal(self.builder.literal(text.as_bytes())));
        }
        if text.len() > LONGEST {
            let message =
                "text of more than 1 MB is not read without regard to case: write it as %s\"…\"";
            return Err(self.cursor.error_at(start, message));
        }
        Ok(Expr::Terminal(self.builder.pattern(ascii_ignore_case(&text))))
    }

    /// `%x41`, `%x41-5A`, `%x41.42.43`, and `%s"…"`.
    fn numeric(&mut self) -> Result<Expr, ReadError> {
        let pos = self.cursor.pos;
        self.cursor.bump();
        let kind = self.cursor.bump().map(|c| c.to_ascii_lowercase());
        let radix = match kind {
            Some('x') => 16,
            Some('d') => 10,
            Some('b') => 2,
            Some('s') if self.cursor.at("\"") => return self.string(true),
            Some('i') if self.cursor.at("\"") => return self.string(false),
            _ => {
                return Err(self
                    .cursor
                    .error_at(pos, "expected `%x`, `%d`, `%b`, `%s\"` or `%i\"`"));
            }
        };
        let first = self.number(radix)?;
        if self.cursor.eat("-") {
            let last = self.number(radix)?;
            return self.range(pos, first, last);
        }
        let mut bytes = encode(first);
        while self.cursor.eat(".") {
            bytes.extend(encode(self.number(radix)?));
        }
        Ok(Expr::Terminal(self.builder.literal(&bytes)))
    }

    /// Up to 255 a number is a byte, above it is a character in UTF-8.
    fn range(&mut self, pos: usize, first: u32, last: u32) -> Result<Expr, ReadError> {
        if first > last {
            return Err(self.cursor.error_at(pos, "this range is empty"));
        }
        let class = if last <= 0xff {
            Class::Bytes(ClassBytes::new([ClassBytesRange::new(first as u8, last as u8)]))
        } else {
            let character = |c: u32, other| char::from_u32(c.min(0x10ffff)).unwrap_or(other);
            let (low, high) = (character(first, '\u{e000}'), character(last, '\u{d7ff}'));
            Class::Unicode(ClassUnicode::new([ClassUnicodeRange::new(
                low.min(high),
                high.max(low),
            )]))
        };
        Ok(Expr::Terminal(self.builder.pattern(Pattern::from_hir(Hir::class(class)))))
    }

    fn number(&mut self, radix: u32) -> Result<u32, ReadError> {
        let digits = self.cursor.eat_while(|c| c.is_digit(radix));
        let number = u32::from_str_radix(digits, radix).ok().filter(|n| *n <= 0x10ffff);
        number.ok_or_else(|| self.cursor.expected("a number of a character"))
    }

    /// Blanks and comments, over line ends if the next line is indented.
    fn blank(&mut self) {
        loop {
            self.cursor.eat_while(|c| c == ' ' || c == '\t');
            if self.cursor.at(";") {
                self.cursor.eat_while(|c| c != '\n');
            }
            let rest = self.cursor.rest();
            let lines = rest.trim_start_matches(['\n', '\r']);
            let skipped = rest.len() - lines.len();
            let comment = lines.trim_start_matches([' ', '\t']).starts_with(';');
            if skipped == 0
                || !(lines.starts_with([' ', '\t']) || comment)
                || self.indented_rule(lines)
            {
                return;
            }
            self.cursor.pos += skipped;
        }
    }

    /// Whole grammars are sometimes indented: a line that defines a rule does not go on with the
    /// last one.
    fn indented_rule(&self, line: &str) -> bool {
        let line = line.trim_start_matches([' ', '\t']);
        let name =
            line.find(|c: char| !(c.is_ascii_alphanumeric() || c == '-' || c == '_')).unwrap_or(0);
        name > 0 && line[name..].trim_start_matches([' ', '\t']).starts_with('=')
    }

    fn blank_lines(&mut self) {
        loop {
            self.cursor.eat_while(char::is_whitespace);
            if !self.cursor.at(";") {
                return;
            }
            self.cursor.eat_while(|c| c != '\n');
        }
    }
}

fn encode(code: u32) -> Vec<u8> {
    if code <= 0xff {
        return vec![code as u8];
    }
    char::from_u32(code).map(|c| c.to_string().into_bytes()).unwrap_or_default()
}

fn ascii_ignore_case(text: &str) -> Pattern {
    let one = |c: char| {
        let (lower, upper) = (c.to_ascii_lowercase(), c.to_ascii_uppercase());
        let both = [ClassUnicodeRange::new(lower, lower), ClassUnicodeRange::new(upper, upper)];
        Pattern::from_hir(Hir::class(Class::Unicode(ClassUnicode::new(both))))
    };
    Pattern::concat(text.chars().map(one).collect())
}
