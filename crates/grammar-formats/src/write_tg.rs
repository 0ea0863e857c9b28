//! Writes Tarragon's notation.

use crate::build::quoted;
use grammar::Pattern;
use grammar::model::{
    Alternative, Emit, Expr, Grammar, LexRule, Lexing, ModeId, ModeOp, TerminalId,
};
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
        let alternatives: Vec<String> =
            rule.alternatives.iter().map(|a| alternative(grammar, a)).collect();
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
            let _ = writeln!(
                out,
                "token {}{} = {pattern} -> maybe ;",
                name(&terminal.name),
                code(terminal.code)
            );
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
    let commands =
        if commands.is_empty() { String::new() } else { format!(" -> {}", commands.join(", ")) };
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
    if level == 2 && matches!(e, Expr::Seq(_) | Expr::Repeat { .. }) {
        format!("({text})")
    } else {
        text
    }
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
    if plain { text.to_string() } else { format!("`{}`", text.replace('`', "``")) }
}
