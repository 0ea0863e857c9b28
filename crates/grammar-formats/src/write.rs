//! Writers: Tarragon's notation and BNF in JSON.

use crate::build::quoted;
use grammar::analysis::{Combine, INFINITE, cheapest};
use grammar::automaton::{Automaton, Edge};
use grammar::core::{NtId, ProdId, Sym};
use grammar::model::{Alternative, Emit, Expr, Grammar, LexRule, Lexing, ModeId, ModeOp, TerminalId};
use grammar::{Core, Pattern};
use serde_json::{Map, Value};
use std::collections::HashSet;
use std::fmt::Write;

const KEYWORDS: [&str; 7] = ["start", "token", "skip", "more", "mode", "lexing", "separator"];

/// A grammar in Tarragon's notation.
pub fn to_tg(grammar: &Grammar) -> String {
    let mut out = String::new();
    header(grammar, &mut out);
    if grammar.lexing == Lexing::Scannerless {
        named_terminals(grammar, &mut out);
    } else {
        lexer(grammar, &mut out);
    }
    for rule in &grammar.rules {
        let alternatives: Vec<String> = rule.alternatives.iter().map(|a| alternative(grammar, a)).collect();
        let _ = writeln!(out, "{} = {} ;", name(&rule.name), alternatives.join("\n  | "));
    }
    out
}

fn header(grammar: &Grammar, out: &mut String) {
    let lexing = match grammar.lexing {
        Lexing::Scannerless => "scannerless",
        Lexing::Longest => "longest",
        Lexing::Contextual => "contextual",
    };
    let marker = if grammar.end_marker { " marker" } else { "" };
    let _ = writeln!(out, "lexing {lexing}{marker} ;");
    let _ = writeln!(out, "start {} ;", name(&grammar.rule(grammar.start).name));
    if let Some(separator) = &grammar.separator {
        let _ = writeln!(out, "separator {} ;", quoted(separator));
    }
}

fn named_terminals(grammar: &Grammar, out: &mut String) {
    for terminal in grammar.terminals.iter().filter(|t| !t.end_of_input && !anonymous(&t.name)) {
        let _ = writeln!(
            out,
            "token {}{} = {} ;",
            name(&terminal.name),
            code(terminal.code),
            regex(&terminal.pattern)
        );
    }
}

fn lexer(grammar: &Grammar, out: &mut String) {
    let mut mode = ModeId(0);
    for rule in &grammar.lex_rules {
        if rule.mode != mode {
            mode = rule.mode;
            let _ = writeln!(out, "mode {} ;", name(mode_name(grammar, mode)));
        }
        lex_rule(grammar, rule, out);
    }
    if mode != ModeId(0) {
        let _ = writeln!(out, "mode {} ;", name(mode_name(grammar, ModeId(0))));
    }
    let emitted: HashSet<TerminalId> = grammar
        .lex_rules
        .iter()
        .filter_map(|r| if let Emit::Token(t) = r.emit { Some(t) } else { None })
        .collect();
    for (i, terminal) in grammar.terminals.iter().enumerate() {
        if !terminal.end_of_input && !emitted.contains(&TerminalId::from(i)) {
            let pattern = regex(&terminal.pattern);
            let _ =
                writeln!(out, "token {}{} = {pattern} -> maybe ;", name(&terminal.name), code(terminal.code));
        }
    }
}

fn mode_name(grammar: &Grammar, mode: ModeId) -> &str {
    if mode == ModeId(0) { "default" } else { &grammar.modes[mode.index()] }
}

fn lex_rule(grammar: &Grammar, rule: &LexRule, out: &mut String) {
    let head = match rule.emit {
        Emit::Token(t) => {
            format!("token {}{} =", name(&grammar.terminal(t).name), code(grammar.terminal(t).code))
        }
        Emit::Skip => "skip".to_string(),
        Emit::More => "more".to_string(),
    };
    let mut commands: Vec<String> = rule
        .ops
        .iter()
        .map(|op| match op {
            ModeOp::Pop => "pop".to_string(),
            ModeOp::Push(m) => format!("push({})", name(mode_name(grammar, *m))),
            ModeOp::Set(m) => format!("set({})", name(mode_name(grammar, *m))),
        })
        .collect();
    if rule.predicated {
        commands.push("maybe".to_string());
    }
    let commands = if commands.is_empty() { String::new() } else { format!(" -> {}", commands.join(", ")) };
    let _ = writeln!(out, "{head} {}{commands} ;", regex(&rule.pattern));
}

fn code(code: Option<i64>) -> String {
    code.map(|c| format!("({c})")).unwrap_or_default()
}

/// Literals and patterns inside rules need no declaration.
fn anonymous(terminal: &str) -> bool {
    terminal.starts_with('"') || terminal.starts_with('/')
}

fn regex(pattern: &Pattern) -> String {
    if let Some(text) = pattern.as_literal().filter(|t| !t.is_empty()) {
        return quoted(&text);
    }
    let text = pattern.to_string().replace('/', "\\/");
    let text = text.replace('\n', "\\n").replace('\r', "\\r").replace('\t', "\\t");
    if text.is_empty() { "/(?:)/".to_string() } else { format!("/{text}/") }
}

fn alternative(grammar: &Grammar, alternative: &Alternative) -> String {
    let mut out = expr(grammar, &alternative.body, 0);
    if out.is_empty() {
        out.push_str("\"\"");
    }
    if alternative.weight != 1.0 {
        let _ = write!(out, " @{}", alternative.weight);
    }
    if let Some(prec) = alternative.prec {
        let side = if prec.right { "right" } else { "left" };
        let _ = write!(out, " @{side}({})", prec.level);
    }
    out
}

/// `level` 0: alternatives, 1: a sequence, 2: something a sign can follow.
fn expr(grammar: &Grammar, e: &Expr, level: u8) -> String {
    let text = match e {
        Expr::Empty => "\"\"".to_string(),
        Expr::Terminal(t) => terminal(grammar, *t),
        Expr::Rule(r) => name(&grammar.rule(*r).name),
        Expr::Seq(parts) => parts.iter().map(|p| expr(grammar, p, 1)).collect::<Vec<_>>().join(" "),
        Expr::Choice(parts) => {
            let branches: Vec<String> = parts.iter().map(|p| expr(grammar, p, 1)).collect();
            return format!("({})", branches.join(" | "));
        }
        Expr::Repeat { inner, min, max } => {
            let sign = match (min, max) {
                (0, Some(1)) => "?".to_string(),
                (0, None) => "*".to_string(),
                (1, None) => "+".to_string(),
                (m, Some(n)) => format!("{{{m},{n}}}"),
                (m, None) => format!("{{{m},}}"),
            };
            format!("{}{sign}", expr(grammar, inner, 2))
        }
    };
    if level == 2 && matches!(e, Expr::Seq(_) | Expr::Repeat { .. }) { format!("({text})") } else { text }
}

fn terminal(grammar: &Grammar, t: TerminalId) -> String {
    let terminal = grammar.terminal(t);
    if terminal.end_of_input {
        return "$end".to_string();
    }
    if grammar.lexing == Lexing::Scannerless && anonymous(&terminal.name) {
        return regex(&terminal.pattern);
    }
    name(&terminal.name)
}

fn name(text: &str) -> String {
    let plain = text.chars().next().is_some_and(|c| c.is_alphabetic() || c == '_')
        && text.chars().all(|c| c.is_alphanumeric() || c == '_')
        && !KEYWORDS.contains(&text);
    if plain { text.to_string() } else { format!("`{}`", text.replace(['`', '\n'], "_")) }
}

/// A grammar as BNF in JSON (lists of symbols), and what could not be expressed.
pub fn to_bnf_json(grammar: &Grammar) -> (String, Vec<String>) {
    let core = Core::new(grammar);
    let mut writer = JsonWriter {
        grammar,
        core: &core,
        names: names(&core),
        lexemes: Vec::new(),
        out: Map::new(),
        notes: Vec::new(),
    };
    writer.write();
    let text = serde_json::to_string_pretty(&Value::Object(writer.out)).expect("strings only");
    (text + "\n", writer.notes)
}

struct JsonWriter<'g> {
    grammar: &'g Grammar,
    core: &'g Core,
    names: Vec<String>,
    /// Automata without states for terminals that cannot be written.
    lexemes: Vec<Automaton>,
    out: Map<String, Value>,
    notes: Vec<String>,
}

fn names(core: &Core) -> Vec<String> {
    let mut used: HashSet<String> = HashSet::from(["<start>".to_string()]);
    let fresh = |nt: NtId| {
        let base = core.nt(nt).name.trim_matches(['<', '>']).replace(['<', '>'], "");
        let mut name = format!("<{base}>");
        let mut n = 2;
        while !used.insert(name.clone()) {
            name = format!("<{base}_{n}>");
            n += 1;
        }
        name
    };
    core.nt_ids().map(fresh).collect()
}

impl JsonWriter<'_> {
    fn write(&mut self) {
        self.lexemes = self.writable_lexemes();
        let cost = |a: &Automaton| if a.is_empty() { INFINITE } else { 1 };
        let lengths: Vec<u64> = self.lexemes.iter().map(cost).collect();
        let least = cheapest(self.core, &lengths, Combine::Sum);
        if least[self.core.start.index()] == INFINITE {
            self.note("the start rule derives no string at all: there is nothing to write".to_string());
            return;
        }
        let start = self.names[self.core.start.index()].clone();
        self.out.insert("<start>".to_string(), alternatives(vec![vec![start]]));
        let of = |s: &Sym| match s.as_terminal() {
            Some(t) => lengths[t.index()],
            None => s.as_nonterminal().map_or(INFINITE, |nt| least[nt.index()]),
        };
        for nt in self.core.nt_ids() {
            self.rule(nt, |p| self.core.rhs(p).iter().all(|s| of(s) < INFINITE));
        }
        for (i, automaton) in std::mem::take(&mut self.lexemes).iter().enumerate() {
            self.terminal(TerminalId::from(i), automaton);
        }
        if self.grammar.has_skip() {
            self.note(
                "every token is followed by a separator, as there is no lexer in this format".to_string(),
            );
        }
    }

    /// Writes the alternatives that derive a string; a rule without any is left out.
    fn rule(&mut self, nt: NtId, derives: impl Fn(ProdId) -> bool) {
        let mut all = Vec::new();
        for p in self.core.prods_of(nt).filter(|p| derives(*p)) {
            all.push(self.core.rhs(p).iter().map(|s| self.symbol(*s)).collect());
            if self.core.prod(p).weight != 1.0 {
                self.note("weights are left out".to_string());
            }
        }
        if all.is_empty() {
            self.note(format!("rule `{}` derives no string and is left out", self.core.nt(nt).name));
        } else {
            self.out.insert(self.names[nt.index()].clone(), alternatives(all));
        }
    }

    fn writable_lexemes(&mut self) -> Vec<Automaton> {
        let mut all = Vec::new();
        for (terminal, automaton) in
            self.grammar.terminals.iter().zip(grammar::automaton::lexemes(self.grammar))
        {
            let (lexemes, note) = match automaton {
                Ok(automaton) => writable(automaton),
                Err(e) => (Automaton::default(), Some(e.to_string())),
            };
            if let Some(note) = note.filter(|_| !terminal.end_of_input) {
                self.note(format!("terminal `{}`: {note}", terminal.name));
            }
            all.push(lexemes);
        }
        all
    }

    fn symbol(&self, sym: Sym) -> String {
        match sym.as_terminal() {
            Some(t) => self.terminal_name(t, 0),
            None => self.names[sym.as_nonterminal().expect("not a terminal").index()].clone(),
        }
    }

    /// Terminals are rules of their own: `<T 3>` is terminal 3, `<T 3 7>` what follows in its state 7.
    fn terminal_name(&self, t: TerminalId, state: u32) -> String {
        if state == 0 { format!("<T {}>", t.0) } else { format!("<T {} {state}>", t.0) }
    }

    fn terminal(&mut self, t: TerminalId, automaton: &Automaton) {
        let separator = if self.grammar.has_skip() { " " } else { "" };
        if let Some(text) = automaton.single().and_then(|l| String::from_utf8(l).ok()) {
            self.out.insert(self.terminal_name(t, 0), alternatives(vec![vec![text + separator]]));
            return;
        }
        for (state, edges) in automaton.edges.iter().enumerate() {
            let mut all: Vec<Vec<String>> = Vec::new();
            for edge in edges {
                for byte in edge.bytes.iter() {
                    let text = (*byte as char).to_string();
                    if automaton.accepts[edge.to as usize] {
                        all.push(vec![text.clone() + separator]);
                    }
                    if !automaton.edges[edge.to as usize].is_empty() {
                        all.push(vec![text, self.state_name(t, edge.to)]);
                    }
                }
            }
            if all.is_empty() {
                continue;
            }
            let name = if state == 0 { self.terminal_name(t, 0) } else { self.state_name(t, state as u32) };
            self.out.insert(name, alternatives(all.clone()));
            if state == 0 {
                self.out.insert(self.state_name(t, 0), alternatives(all));
            }
        }
    }

    fn state_name(&self, t: TerminalId, state: u32) -> String {
        format!("<T {} {state}>", t.0)
    }

    fn note(&mut self, text: String) {
        if !self.notes.contains(&text) {
            self.notes.push(text);
        }
    }
}

/// The lexemes that JSON can hold byte by byte, and what to say about the rest. A single lexeme is written whole.
fn writable(mut automaton: Automaton) -> (Automaton, Option<String>) {
    if automaton.is_empty() {
        return (automaton, Some("it has no lexeme".to_string()));
    }
    let single = automaton.single().is_some_and(|l| String::from_utf8(l).is_ok());
    if single || automaton.edges.all().iter().all(|e| e.bytes.is_ascii()) {
        return (automaton, None);
    }
    automaton.edges = automaton.edges.filter_map(|edge| {
        let bytes: grammar::pattern::ByteSet = edge.bytes.iter().copied().filter(u8::is_ascii).collect();
        (!bytes.is_empty()).then_some(Edge { bytes, to: edge.to })
    });
    let distance = automaton.distances();
    let alive = |edge: &Edge| (distance[edge.to as usize] < u32::MAX).then(|| edge.clone());
    automaton.edges = automaton.edges.filter_map(alive);
    let some = distance[0] < u32::MAX;
    (if some { automaton } else { Automaton::default() }, Some("ASCII only".to_string()))
}

fn alternatives(all: Vec<Vec<String>>) -> Value {
    let list = |symbols: Vec<String>| Value::Array(symbols.into_iter().map(Value::String).collect());
    Value::Array(all.into_iter().map(list).collect())
}
