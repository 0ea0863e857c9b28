//! BNF in JSON: Grammar-Mutator (lists of symbols), the Fuzzing Book (strings with `<names>`
//! inside) and Nautilus (a list of pairs, strings with `{NAMES}` inside).

use crate::build::Builder;
use crate::cursor::Cursor;
use crate::{Read, ReadError};
use grammar::model::{Alternative, Expr};
use serde_json::{Map, Value};

pub fn read(file: &str, text: &str) -> Result<Read, ReadError> {
    let cursor = Cursor::new(file, text);
    let value: Value = serde_json::from_str(cursor.rest()).map_err(|e| ReadError {
        file: file.into(),
        line: e.line().max(1),
        column: e.column().max(1),
        message: e.to_string(),
    })?;
    let mut reader = Reader { cursor, builder: Builder::new(file), braces: false };
    match &value {
        Value::Object(rules) => reader.rules(rules)?,
        Value::Array(pairs) => reader.pairs(pairs)?,
        _ => return Err(reader.cursor.error("expected an object of rules or a list of pairs")),
    }
    reader.start();
    reader.builder.finish(&reader.cursor)
}

struct Reader<'t> {
    cursor: Cursor<'t>,
    builder: Builder,
    braces: bool,
}

impl Reader<'_> {
    fn rules(&mut self, rules: &Map<String, Value>) -> Result<(), ReadError> {
        for name in rules.keys() {
            self.builder.rule(name, 0);
        }
        for (name, value) in rules {
            let Value::Array(alternatives) = value else {
                return Err(self.error(name, "expected a list of alternatives"));
            };
            let mut all = Vec::new();
            for alternative in alternatives {
                all.push(self.alternative(name, alternative)?);
            }
            let rule = self.builder.rule(name, 0);
            self.builder.define(rule, all);
        }
        Ok(())
    }

    fn alternative(&mut self, rule: &str, value: &Value) -> Result<Alternative, ReadError> {
        match value {
            Value::String(text) => Ok(Alternative::new(self.mixed(text))),
            Value::Array(parts) => match &parts[..] {
                [Value::String(text), Value::Object(options)] => self.with_options(text, options),
                _ => {
                    let mut symbols = Vec::new();
                    for part in parts {
                        let Value::String(symbol) = part else {
                            return Err(self.error(rule, "expected a list of strings"));
                        };
                        symbols.push(self.symbol(symbol));
                    }
                    Ok(Alternative::new(Expr::seq(symbols)))
                }
            },
            _ => Err(self.error(rule, "expected a string or a list of strings")),
        }
    }

    /// The Fuzzing Book's `("expansion", opts(prob=0.5))`.
    fn with_options(
        &mut self,
        text: &str,
        options: &Map<String, Value>,
    ) -> Result<Alternative, ReadError> {
        let mut alternative = Alternative::new(self.mixed(text));
        for (name, value) in options {
            match (name.as_str(), value.as_f64()) {
                ("prob" | "weight", Some(weight)) if weight >= 0.0 => alternative.weight = weight,
                _ => self.builder.note(
                    &self.cursor.clone(),
                    0,
                    format!("option `{name}` is left out"),
                ),
            }
        }
        Ok(alternative)
    }

    fn symbol(&mut self, symbol: &str) -> Expr {
        if self.builder.has_rule(symbol) {
            return Expr::Rule(self.builder.rule(symbol, 0));
        }
        if symbol.len() > 2 && symbol.starts_with('<') && symbol.ends_with('>') {
            let text = format!("there is no rule `{symbol}`: it is taken as text");
            self.builder.note(&self.cursor.clone(), 0, text);
        }
        self.text(symbol)
    }

    fn text(&mut self, text: &str) -> Expr {
        if text.is_empty() {
            Expr::Empty
        } else {
            Expr::Terminal(self.builder.literal(text.as_bytes()))
        }
    }

    /// Text with names of rules in it.
    fn mixed(&mut self, text: &str) -> Expr {
        let (open, close) = if self.braces { ('{', '}') } else { ('<', '>') };
        let (mut parts, mut plain) = (Vec::new(), String::new());
        let mut rest = text;
        while let Some(c) = rest.chars().next() {
            if self.braces
                && (rest.starts_with("\\{") || rest.starts_with("\\}") || rest.starts_with("\\\\"))
            {
                plain.push_str(&rest[1..2]);
                rest = &rest[2..];
                continue;
            }
            let end = (c == open).then(|| rest[1..].find([open, close])).flatten();
            let name = end.filter(|e| rest[1 + e..].starts_with(close)).map(|e| &rest[..e + 2]);
            let key = name.map(|n| if self.braces { n[1..n.len() - 1].trim() } else { n });
            match (name, key.filter(|k| self.builder.has_rule(k))) {
                (Some(name), Some(key)) => {
                    if !plain.is_empty() {
                        let literal = std::mem::take(&mut plain);
                        parts.push(self.text(&literal));
                    }
                    parts.push(Expr::Rule(self.builder.rule(key, 0)));
                    rest = &rest[name.len()..];
                }
                _ => {
                    plain.push(c);
                    rest = &rest[c.len_utf8()..];
                }
            }
        }
        if !plain.is_empty() {
            parts.push(self.text(&plain));
        }
        Expr::seq(parts)
    }

    fn pairs(&mut self, pairs: &[Value]) -> Result<(), ReadError> {
        self.braces = true;
        let mut read = Vec::new();
        for pair in pairs {
            match pair.as_array().map(Vec::as_slice) {
                Some([Value::String(name), Value::String(text), ..]) => read.push((name, text)),
                _ => return Err(self.cursor.error("expected pairs of a rule's name and its text")),
            }
        }
        for (name, _) in &read {
            self.builder.rule(name, 0);
        }
        for (name, text) in read {
            let body = self.mixed(text);
            let rule = self.builder.rule(name, 0);
            self.builder.define(rule, vec![Alternative::new(body)]);
        }
        Ok(())
    }

    fn start(&mut self) {
        let name =
            ["<start>", "<START>", "START", "start"].into_iter().find(|n| self.builder.has_rule(n));
        if let Some(name) = name {
            self.builder.grammar.start = self.builder.rule(name, 0);
        }
    }

    fn error(&self, rule: &str, message: &str) -> ReadError {
        let pos = self.cursor.text.find(&format!("\"{rule}\"")).unwrap_or(0);
        self.cursor.error_at(pos, format!("{message} for `{rule}`"))
    }
}
