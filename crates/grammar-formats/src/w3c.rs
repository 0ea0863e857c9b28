//! W3C EBNF, as in the XML recommendation, and plain BNF with `<names>`.

use crate::build::Builder;
use crate::cursor::{Cursor, is_name, is_name_start};
use crate::{Read, ReadError};
use grammar::Pattern;
use grammar::model::{Alternative, Expr};
use regex_syntax::hir::{Class, ClassUnicode, ClassUnicodeRange, Hir, HirKind};

const NEST_LIMIT: usize = 200;

pub fn read(file: &str, text: &str) -> Result<Read, ReadError> {
    let mut reader =
        Reader { cursor: Cursor::new(file, text), builder: Builder::new(file), depth: 0 };
    reader.rules()?;
    reader.builder.finish(&reader.cursor)
}

struct Reader<'t> {
    cursor: Cursor<'t>,
    builder: Builder,
    depth: usize,
}

impl Reader<'_> {
    fn rules(&mut self) -> Result<(), ReadError> {
        loop {
            self.blank();
            if self.cursor.done() {
                return Ok(());
            }
            if self.rule_number() || self.cursor.eat(";") {
                continue;
            }
            let pos = self.cursor.pos;
            let Some(name) = self.name() else {
                return Err(self.cursor.expected("the name of a rule"));
            };
            self.blank();
            if !self.cursor.eat("::=") {
                return Err(self.cursor.expected("`::=`"));
            }
            let rule = self.builder.rule(&name, pos);
            let alternatives = self.choice()?.into_iter().map(Alternative::new).collect();
            if self.builder.is_defined(rule) {
                self.builder.note(
                    &self.cursor,
                    pos,
                    format!("`{name}` is defined again: alternatives are added"),
                );
            }
            self.builder.define(rule, alternatives);
            self.constraints();
        }
    }

    /// `[1]`, `[4a]` before a rule.
    fn rule_number(&mut self) -> bool {
        let rest = self.cursor.rest();
        let Some(end) = rest.strip_prefix('[').and_then(|r| r.find(']')) else { return false };
        if !rest[1..1 + end].chars().all(char::is_alphanumeric) {
            return false;
        }
        self.cursor.pos += end + 2;
        true
    }

    /// `[ wfc: … ]` and `[ vc: … ]` after a rule.
    fn constraints(&mut self) {
        loop {
            self.blank();
            let pos = self.cursor.pos;
            let inside = self.cursor.rest().strip_prefix('[').map(str::trim_start).unwrap_or("");
            let kind = ["wfc:", "vc:", "WFC:", "VC:", "nsc:", "NSC:"]
                .iter()
                .find(|k| inside.starts_with(**k));
            if kind.is_none() || !self.cursor.eat_through("]") {
                return;
            }
            self.builder.note(&self.cursor, pos, "a constraint in words is left out");
        }
    }

    fn name(&mut self) -> Option<String> {
        if self.cursor.at("<") {
            let rest = self.cursor.rest();
            let end = rest.find('>')?;
            let name = rest[1..end].trim();
            if name.is_empty() || name.contains('\n') {
                return None;
            }
            self.cursor.pos += end + 1;
            return Some(name.to_string());
        }
        self.cursor.peek().filter(|c| is_name_start(*c))?;
        Some(
            self.cursor
                .eat_while(|c| is_name(c) || c == '-' || c == '.')
                .trim_end_matches('-')
                .to_string(),
        )
    }

    fn choice(&mut self) -> Result<Vec<Expr>, ReadError> {
        let mut branches = vec![self.sequence()?];
        loop {
            self.blank();
            if !self.cursor.eat("|") {
                return Ok(branches);
            }
            branches.push(self.sequence()?);
        }
    }

    fn sequence(&mut self) -> Result<Expr, ReadError> {
        let mut parts: Vec<Expr> = Vec::new();
        loop {
            self.blank();
            match self.cursor.peek() {
                None | Some('|' | ')' | ';') => return Ok(Expr::seq(parts)),
                Some('-') => self.exclusion(&mut parts)?,
                _ if self.at_rule() => return Ok(Expr::seq(parts)),
                _ => {
                    let atom = self.atom()?;
                    parts.push(self.suffix(atom));
                }
            }
        }
    }

    /// Does the next rule begin here, or a constraint of this one?
    fn at_rule(&mut self) -> bool {
        let before = self.cursor.pos;
        self.rule_number();
        self.blank();
        let named = self.name().is_some();
        self.blank();
        let rule = named && self.cursor.at("::=");
        self.cursor.pos = before;
        let inside = self.cursor.rest().strip_prefix('[').map(str::trim_start).unwrap_or("");
        let constraint =
            ["wfc:", "vc:", "WFC:", "VC:", "nsc:", "NSC:"].iter().any(|k| inside.starts_with(k));
        rule || constraint
    }

    fn suffix(&mut self, atom: Expr) -> Expr {
        if self.cursor.eat("?") {
            atom.repeat(0, Some(1))
        } else if self.cursor.eat("*") {
            atom.repeat(0, None)
        } else if self.cursor.eat("+") {
            atom.repeat(1, None)
        } else {
            atom
        }
    }

    /// `A - B`, which only sets of characters can express.
    fn exclusion(&mut self, parts: &mut Vec<Expr>) -> Result<(), ReadError> {
        let pos = self.cursor.pos;
        self.cursor.bump();
        self.blank();
        let right = self.atom()?;
        let right = self.suffix(right);
        let sets = parts.last().and_then(|l| self.set_of(l)).zip(self.set_of(&right));
        match sets {
            Some((mut left, right)) => {
                left.difference(&right);
                parts.pop();
                parts.push(self.class(left));
            }
            None => self.builder.note(&self.cursor, pos, "exclusion with `-` is left out"),
        }
        Ok(())
    }

    fn set_of(&self, expr: &Expr) -> Option<ClassUnicode> {
        let Expr::Terminal(t) = expr else { return None };
        match self.builder.grammar.terminal(*t).pattern.hir().kind() {
            HirKind::Class(Class::Unicode(class)) => Some(class.clone()),
            HirKind::Class(Class::Bytes(class)) => class.to_unicode_class(),
            HirKind::Literal(lit) => {
                let text = std::str::from_utf8(&lit.0).ok()?;
                let c = text.chars().next().filter(|c| c.len_utf8() == text.len())?;
                Some(ClassUnicode::new([ClassUnicodeRange::new(c, c)]))
            }
            _ => None,
        }
    }

    fn class(&mut self, class: ClassUnicode) -> Expr {
        Expr::Terminal(self.builder.pattern(Pattern::from_hir(Hir::class(Class::Unicode(class)))))
    }

    fn atom(&mut self) -> Result<Expr, ReadError> {
        let pos = self.cursor.pos;
        match self.cursor.peek() {
            Some('(') => self.group(),
            Some('[') => self.set(),
            Some('#') if self.cursor.at("#x") => {
                let c = self.code()?;
                Ok(self.class(ClassUnicode::new([ClassUnicodeRange::new(c, c)])))
            }
            Some(quote @ ('"' | '\'')) => {
                self.cursor.bump();
                let text = self.cursor.eat_while(|c| c != quote && c != '\n').to_string();
                if self.cursor.bump() != Some(quote) {
                    return Err(self
                        .cursor
                        .error_at(pos, format!("expected `{quote}` at the end of this string")));
                }
                if text.is_empty() {
                    return Ok(Expr::Empty);
                }
                Ok(Expr::Terminal(self.builder.literal(text.as_bytes())))
            }
            _ => match self.name() {
                Some(name) => Ok(Expr::Rule(self.builder.rule(&name, pos))),
                None => {
                    Err(self.cursor.expected("a name, a string, `[`, `#x`, `(`, `|` or a new rule"))
                }
            },
        }
    }

    fn group(&mut self) -> Result<Expr, ReadError> {
        self.depth += 1;
        if self.depth > NEST_LIMIT {
            return Err(self.cursor.error(format!("groups are nested deeper than {NEST_LIMIT}")));
        }
        self.cursor.bump();
        let branches = self.choice()?;
        if !self.cursor.eat(")") {
            return Err(self.cursor.expected("`)` or `|`"));
        }
        self.depth -= 1;
        Ok(Expr::choice(branches))
    }

    fn set(&mut self) -> Result<Expr, ReadError> {
        let start = self.cursor.pos;
        self.cursor.bump();
        let negated = self.cursor.eat("^");
        let mut class = ClassUnicode::empty();
        let mut first = true;
        while first || !self.cursor.at("]") {
            first = false;
            let low = self.set_char(start)?;
            let range = self.cursor.at("-") && !self.cursor.at("-]");
            let high = if range {
                self.cursor.bump();
                self.set_char(start)?
            } else {
                low
            };
            if low > high {
                return Err(self.cursor.error_at(start, "a range in this set is empty"));
            }
            class.push(ClassUnicodeRange::new(low, high));
        }
        self.cursor.bump();
        if negated {
            class.negate();
        }
        Ok(self.class(class))
    }

    fn set_char(&mut self, start: usize) -> Result<char, ReadError> {
        if self.cursor.at("#x") {
            return self.code();
        }
        match self.cursor.bump() {
            None | Some('\n') => {
                Err(self.cursor.error_at(start, "expected `]` at the end of this set"))
            }
            Some(c) => Ok(c),
        }
    }

    fn code(&mut self) -> Result<char, ReadError> {
        let pos = self.cursor.pos;
        self.cursor.pos += 2;
        let digits = self.cursor.eat_while(|c| c.is_ascii_hexdigit());
        let code = u32::from_str_radix(digits, 16).ok();
        // Surrogates are no characters: the nearest one.
        let code = code.map(|c| if (0xd800..0xe000).contains(&c) { 0xd7ff } else { c });
        code.and_then(char::from_u32)
            .ok_or_else(|| self.cursor.error_at(pos, "expected `#x` and a code point"))
    }

    fn blank(&mut self) {
        loop {
            self.cursor.eat_while(char::is_whitespace);
            if self.cursor.at("/*") {
                self.cursor.pos += 2;
                self.cursor.eat_through("*/");
            } else if self.cursor.at("//") {
                self.cursor.eat_while(|c| c != '\n');
            } else {
                return;
            }
        }
    }
}
