//! tree-sitter's `grammar.json`.

use crate::build::Builder;
use crate::cursor::Cursor;
use crate::{Read, ReadError};
use grammar::model::{Alternative, Expr, LexRule, Terminal};
use grammar::{Lexing, Pattern};
use serde_json::{Map, Value};

pub fn read(file: &str, text: &str) -> Result<Read, ReadError> {
    let cursor = Cursor::new(file, text);
    let value: Value = serde_json::from_str(cursor.rest()).map_err(|e| ReadError {
        file: file.into(),
        line: e.line().max(1),
        column: e.column().max(1),
        message: e.to_string(),
    })?;
    let Some(rules) = value.get("rules").and_then(Value::as_object) else {
        return Err(cursor.error("expected an object with `rules`"));
    };
    let mut reader = Reader { cursor, builder: Builder::new(file), rules };
    reader.all(&value)?;
    reader.builder.finish(&reader.cursor)
}

struct Reader<'t> {
    cursor: Cursor<'t>,
    builder: Builder,
    rules: &'t Map<String, Value>,
}

impl<'t> Reader<'t> {
    fn all(&mut self, value: &'t Value) -> Result<(), ReadError> {
        for name in self.rules.keys() {
            self.builder.rule(name, 0);
        }
        for (name, node) in self.rules {
            let alternatives = self.alternatives(name, node)?;
            let rule = self.builder.rule(name, 0);
            self.builder.define(rule, alternatives);
        }
        self.extras(value)?;
        for key in ["conflicts", "inline", "supertypes", "reserved"] {
            if value.get(key).is_some_and(|v| v.as_array().is_some_and(|a| !a.is_empty())) {
                self.note(format!("`{key}` is left out"));
            }
        }
        self.builder.lexer_from_terminals(Lexing::Contextual);
        Ok(())
    }

    fn alternatives(&mut self, name: &str, node: &Value) -> Result<Vec<Alternative>, ReadError> {
        let node = strip(node);
        if kind(node) == "CHOICE" {
            let mut all = Vec::new();
            for member in members(node) {
                all.push(Alternative::new(self.expr(name, member)?));
            }
            return Ok(all);
        }
        Ok(vec![Alternative::new(self.expr(name, node)?)])
    }

    /// serde_json bounds the nesting, and so this recursion.
    fn expr(&mut self, rule: &str, node: &Value) -> Result<Expr, ReadError> {
        let node = strip(node);
        Ok(match kind(node) {
            "BLANK" => Expr::Empty,
            "STRING" => match text(node, "value") {
                "" => Expr::Empty,
                value => Expr::Terminal(self.builder.literal(value.as_bytes())),
            },
            "PATTERN" | "TOKEN" | "IMMEDIATE_TOKEN" => {
                if kind(node) == "IMMEDIATE_TOKEN" {
                    self.note(format!(
                        "`{rule}`: that nothing may stand before a token is left out"
                    ));
                }
                let pattern = self.pattern(rule, node)?;
                Expr::Terminal(self.builder.pattern(pattern))
            }
            "SYMBOL" => self.symbol(text(node, "name")),
            "SEQ" => {
                let mut parts = Vec::new();
                for member in members(node) {
                    parts.push(self.expr(rule, member)?);
                }
                Expr::seq(parts)
            }
            "CHOICE" => {
                let mut parts = Vec::new();
                for member in members(node) {
                    parts.push(self.expr(rule, member)?);
                }
                Expr::choice(parts)
            }
            "REPEAT" => self.expr(rule, &node["content"])?.repeat(0, None),
            "REPEAT1" => self.expr(rule, &node["content"])?.repeat(1, None),
            other => return Err(self.error(rule, &format!("unknown kind of node `{other}`"))),
        })
    }

    fn symbol(&mut self, name: &str) -> Expr {
        if self.builder.has_rule(name) {
            return Expr::Rule(self.builder.rule(name, 0));
        }
        if let Some(id) = self.builder.terminal_named(name) {
            return Expr::Terminal(id);
        }
        self.note(format!("`{name}` comes from an external scanner and matches nothing"));
        let terminal = Terminal { defined: false, ..Terminal::new(name, Pattern::never()) };
        Expr::Terminal(self.builder.add_terminal(terminal))
    }

    /// The inside of a token.
    fn pattern(&mut self, rule: &str, node: &Value) -> Result<Pattern, ReadError> {
        let node = strip(node);
        Ok(match kind(node) {
            "BLANK" => Pattern::empty(),
            "STRING" => Pattern::literal(text(node, "value").as_bytes()),
            "PATTERN" => self.regex(rule, text(node, "value"), text(node, "flags")),
            "TOKEN" | "IMMEDIATE_TOKEN" => self.pattern(rule, &node["content"])?,
            "REPEAT" => self.pattern(rule, &node["content"])?.repeat(0, None, true),
            "REPEAT1" => self.pattern(rule, &node["content"])?.repeat(1, None, true),
            "SEQ" | "CHOICE" => {
                let mut parts = Vec::new();
                for member in members(node) {
                    parts.push(self.pattern(rule, member)?);
                }
                if kind(node) == "SEQ" {
                    Pattern::concat(parts)
                } else {
                    Pattern::alternation(parts)
                }
            }
            "SYMBOL" => {
                let name = text(node, "name");
                match self.rules.get(name).filter(|_| name != rule) {
                    Some(inner) => self.pattern(name, inner)?,
                    None => {
                        return Err(
                            self.error(rule, &format!("`{name}` cannot stand inside a token"))
                        );
                    }
                }
            }
            other => {
                return Err(self.error(rule, &format!("unknown kind of node `{other}` in a token")));
            }
        })
    }

    /// JavaScript's regular expressions are nearly those of Rust.
    fn regex(&mut self, rule: &str, value: &str, flags: &str) -> Pattern {
        let text = javascript(value);
        let text = if flags.contains('i') { format!("(?i:{text})") } else { text };
        Pattern::parse(&text).unwrap_or_else(|e| {
            self.note(format!(
                "`{rule}`: the pattern /{value}/ is not understood and matches nothing: {e}"
            ));
            Pattern::never()
        })
    }

    fn extras(&mut self, value: &'t Value) -> Result<(), ReadError> {
        let Some(extras) = value.get("extras").and_then(Value::as_array) else {
            let blank = Pattern::parse("\\s").expect("valid");
            self.builder.grammar.lex_rules.push(LexRule::skip("blank", blank));
            return Ok(());
        };
        for extra in extras {
            let name = text(extra, "name").to_string();
            let inner = if kind(extra) == "SYMBOL" { self.rules.get(&name) } else { Some(extra) };
            let pattern = inner.and_then(|node| self.pattern(&name, node).ok());
            match pattern {
                Some(pattern) => {
                    // A run of blanks is skipped at once.
                    let pattern =
                        if name.is_empty() { pattern.repeat(1, None, true) } else { pattern };
                    self.builder.grammar.lex_rules.push(LexRule::skip(&name, pattern));
                }
                None => self.note(format!("extra `{name}` is not a token and is left out")),
            }
        }
        Ok(())
    }

    fn note(&mut self, text: String) {
        let cursor = self.cursor.clone();
        let note = cursor.note_at(0, text);
        if !self.builder.notes.contains(&note) {
            self.builder.notes.push(note);
        }
    }

    fn error(&self, rule: &str, message: &str) -> ReadError {
        let pos = self.cursor.text.find(&format!("\"{rule}\"")).unwrap_or(0);
        self.cursor.error_at(pos, format!("rule `{rule}`: {message}"))
    }
}

fn kind(node: &Value) -> &str {
    text(node, "type")
}

fn text<'v>(node: &'v Value, key: &str) -> &'v str {
    node.get(key).and_then(Value::as_str).unwrap_or("")
}

fn members(node: &Value) -> &[Value] {
    node.get("members").and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// Names, fields and precedences do not change the language.
fn strip(mut node: &Value) -> &Value {
    while matches!(
        kind(node),
        "PREC" | "PREC_LEFT" | "PREC_RIGHT" | "PREC_DYNAMIC" | "FIELD" | "ALIAS" | "RESERVED"
    ) {
        node = &node["content"];
    }
    node
}

/// Escapes that Rust spells differently.
fn javascript(value: &str) -> String {
    let mut out = String::new();
    let mut chars = value.chars().peekable();
    let mut in_set = false;
    while let Some(c) = chars.next() {
        match c {
            '\\' => match chars.next() {
                Some('/') => out.push('/'),
                Some('u') if chars.peek() != Some(&'{') => {
                    let digits: String = chars.by_ref().take(4).collect();
                    out.push_str(&format!("\\u{{{digits}}}"));
                }
                Some(c) if c.is_alphanumeric() || !c.is_ascii() => out.extend(['\\', c]),
                Some(c) if regex_syntax::is_escapeable_character(c) => out.extend(['\\', c]),
                Some(c) => out.push(c),
                None => out.push('\\'),
            },
            '[' if in_set => out.push_str("\\["),
            '[' => {
                in_set = true;
                out.push('[');
                if chars.peek() == Some(&'^') {
                    out.extend(chars.next());
                }
            }
            ']' if in_set => {
                in_set = false;
                out.push(']');
            }
            // Rust gives these a meaning inside sets when doubled.
            '&' | '~' if in_set => out.extend(['\\', c]),
            '{' if !in_set && !chars.peek().is_some_and(char::is_ascii_digit) => {
                out.push_str("\\{")
            }
            c => out.push(c),
        }
    }
    out
}
