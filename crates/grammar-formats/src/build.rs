//! Builds a grammar from names: rules may be used before they are defined, equal literals are one
//! terminal.

use crate::cursor::Cursor;
use crate::{Note, Read, ReadError};
use grammar::model::{Alternative, Expr, Grammar, LexRule, RuleId, Terminal, TerminalId};
use grammar::{Lexing, Pattern};
use std::collections::HashMap;

pub struct Builder {
    pub grammar: Grammar,
    rules: HashMap<String, RuleId>,
    /// Where a rule was first used, for "undefined", and whether it is defined.
    seen: Vec<(usize, bool)>,
    terminals: HashMap<String, TerminalId>,
    literals: HashMap<Vec<u8>, TerminalId>,
    pub notes: Vec<Note>,
}

impl Builder {
    pub fn new(name: &str) -> Builder {
        Builder {
            grammar: Grammar::new(name),
            rules: HashMap::new(),
            seen: Vec::new(),
            terminals: HashMap::new(),
            literals: HashMap::new(),
            notes: Vec::new(),
        }
    }

    /// The rule of that name, which may be defined later. `pos` is where it is used.
    pub fn rule(&mut self, name: &str, pos: usize) -> RuleId {
        if let Some(&id) = self.rules.get(name) {
            return id;
        }
        let id = RuleId::from(self.grammar.rules.len());
        self.grammar.rules.push(grammar::Rule { name: name.to_string(), alternatives: Vec::new() });
        self.rules.insert(name.to_string(), id);
        self.seen.push((pos, false));
        id
    }

    pub fn has_rule(&self, name: &str) -> bool {
        self.rules.contains_key(name)
    }

    /// A rule that has the name of a terminal, and where it was first used.
    pub fn rule_and_terminal(&self) -> Option<(&str, usize)> {
        let both = |rule: &&grammar::Rule| self.terminals.contains_key(&rule.name);
        let rule = self.grammar.rules.iter().find(both)?;
        Some((&rule.name, self.seen[self.rules[&rule.name].index()].0))
    }

    pub fn is_defined(&self, rule: RuleId) -> bool {
        self.seen[rule.index()].1
    }

    /// Appends alternatives to a rule and marks it as defined.
    pub fn define(&mut self, rule: RuleId, alternatives: Vec<Alternative>) {
        self.seen[rule.index()].1 = true;
        self.grammar.rules[rule.index()].alternatives.extend(alternatives);
    }

    pub fn terminal_named(&self, name: &str) -> Option<TerminalId> {
        self.terminals.get(name).copied()
    }

    pub fn add_terminal(&mut self, terminal: Terminal) -> TerminalId {
        let id = TerminalId::from(self.grammar.terminals.len());
        self.terminals.insert(terminal.name.clone(), id);
        if let Some(text) =
            terminal.pattern.as_literal().filter(|_| terminal.defined && !terminal.end_of_input)
        {
            self.literals.entry(text).or_insert(id);
        }
        self.grammar.terminals.push(terminal);
        id
    }

    /// The terminal for a literal; its name is the literal in quotes.
    pub fn literal(&mut self, text: &[u8]) -> TerminalId {
        match self.literals.get(text) {
            Some(&id) => id,
            None => self.add_terminal(Terminal::new(quoted(text), Pattern::literal(text))),
        }
    }

    /// Makes a literal mean a terminal that has a name.
    pub fn alias(&mut self, text: &[u8], id: TerminalId) {
        self.literals.entry(text.to_vec()).or_insert(id);
    }

    pub fn literal_known(&self, text: &[u8]) -> Option<TerminalId> {
        self.literals.get(text).copied()
    }

    /// The terminal for a pattern that has no name of its own.
    pub fn pattern(&mut self, pattern: Pattern) -> TerminalId {
        if let Some(text) = pattern.as_literal() {
            return self.literal(&text);
        }
        let name = format!("/{pattern}/");
        match self.terminal_named(&name) {
            Some(id) => id,
            None => self.add_terminal(Terminal::new(name, pattern)),
        }
    }

    /// The terminal that matches the end of the input.
    pub fn end_of_input(&mut self) -> TerminalId {
        const NAME: &str = "$end";
        if let Some(id) = self.terminal_named(NAME) {
            return id;
        }
        self.add_terminal(Terminal { end_of_input: true, ..Terminal::new(NAME, Pattern::empty()) })
    }

    pub fn note(&mut self, cursor: &Cursor, pos: usize, text: impl Into<String>) {
        self.notes.push(cursor.note_at(pos, text));
    }

    /// Removes the rules that turned out to be terminals.
    pub fn rules_to_terminals(&mut self, which: &[Option<TerminalId>]) {
        let mut kept = 0;
        let symbols: Vec<Expr> = which
            .iter()
            .map(|terminal| match terminal {
                Some(t) => Expr::Terminal(*t),
                None => {
                    kept += 1;
                    Expr::Rule(RuleId(kept - 1))
                }
            })
            .collect();
        let mut i = 0;
        let mut keep = |_: &grammar::Rule| {
            i += 1;
            which[i - 1].is_none()
        };
        self.grammar.rules.retain(&mut keep);
        let mut keep = which.iter().map(Option::is_none);
        self.seen.retain(|_| keep.next().expect("as many as rules"));
        self.rules = self
            .grammar
            .rules
            .iter()
            .enumerate()
            .map(|(i, r)| (r.name.clone(), RuleId::from(i)))
            .collect();
        for alternative in self.grammar.rules.iter_mut().flat_map(|r| &mut r.alternatives) {
            replace(&mut alternative.body, &symbols);
        }
    }

    /// Checks that everything is defined and that there is a start.
    pub fn finish(self, cursor: &Cursor) -> Result<Read, ReadError> {
        if self.grammar.rules.is_empty() {
            return Err(cursor.error("there is no rule in this grammar, so there is no start rule"));
        }
        if let Some(i) = self.seen.iter().position(|(_, defined)| !defined) {
            let name = &self.grammar.rules[i].name;
            return Err(
                cursor.error_at(self.seen[i].0, format!("`{name}` is used here but never defined"))
            );
        }
        Ok(Read { grammar: self.grammar, notes: self.notes })
    }

    /// For formats with a lexer: one rule per terminal, literals first, so that keywords win over
    /// names.
    pub fn lexer_from_terminals(&mut self, lexing: Lexing) {
        self.grammar.lexing = lexing;
        let (mut literals, mut others) = (Vec::new(), Vec::new());
        for (i, terminal) in
            self.grammar.terminals.iter().enumerate().filter(|(_, t)| !t.end_of_input)
        {
            let rule =
                LexRule::token(TerminalId::from(i), &terminal.name, terminal.pattern.clone());
            let list =
                if terminal.pattern.as_literal().is_some() { &mut literals } else { &mut others };
            list.push(rule);
        }
        let skips = std::mem::take(&mut self.grammar.lex_rules);
        self.grammar.lex_rules = literals.into_iter().chain(others).chain(skips).collect();
    }
}

/// Recursion is bounded by the readers' limits on nesting.
fn replace(expr: &mut Expr, symbols: &[Expr]) {
    match expr {
        Expr::Rule(rule) => *expr = symbols[rule.index()].clone(),
        Expr::Seq(parts) | Expr::Choice(parts) => {
            parts.iter_mut().for_each(|p| replace(p, symbols))
        }
        Expr::Repeat { inner, .. } => replace(inner, symbols),
        Expr::Empty | Expr::Terminal(_) => {}
    }
}

/// A literal as a name: in double quotes, with escapes.
pub fn quoted(text: &[u8]) -> String {
    let mut out = String::from("\"");
    for chunk in text.utf8_chunks() {
        for c in chunk.valid().chars() {
            match c {
                '"' => out.push_str("\\\""),
                '\\' => out.push_str("\\\\"),
                '\n' => out.push_str("\\n"),
                '\t' => out.push_str("\\t"),
                '\r' => out.push_str("\\r"),
                c if c.is_control() => out.push_str(&format!("\\u{{{:x}}}", c as u32)),
                c => out.push(c),
            }
        }
        chunk.invalid().iter().for_each(|b| out.push_str(&format!("\\x{b:02x}")));
    }
    out.push('"');
    out
}
