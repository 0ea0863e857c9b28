//! Lexer rules: fragments put in place, sets, commands and modes.

use super::files::Unit;
use super::patterns::Patterns;
use super::syntax::{Alt, RuleAst};
use crate::ReadError;
use crate::build::Builder;
use grammar::model::{Emit, LexRule, ModeId, ModeOp, Terminal, TerminalId};
use grammar::{Lexing, Pattern};
use std::collections::HashSet;

/// Declares the terminals and lexer rules of a grammar.
pub fn declare(unit: &Unit, builder: &mut Builder) -> Result<(), ReadError> {
    builder.grammar.lexing = Lexing::Longest;
    builder.grammar.modes = modes(unit);
    let mut patterns = Patterns::new(unit)?;
    for rule in unit.lexer_rules.iter().filter(|r| !r.fragment) {
        let name = &rule.name;
        if builder.terminal_named(name).is_none() {
            builder.add_terminal(Terminal::new(name.clone(), Pattern::never()));
        }
    }
    for name in &unit.tokens {
        if builder.terminal_named(name).is_none() {
            let known = Terminal {
                defined: false,
                ..Terminal::new(name.clone(), Pattern::literal(name.as_bytes()))
            };
            builder.add_terminal(known);
        }
    }
    for rule in unit.lexer_rules.iter().filter(|r| !r.fragment) {
        lexer_rule(rule, &mut patterns, builder)?;
    }
    builder.notes.append(&mut patterns.notes);
    builder.grammar.end_marker = patterns.end_marker;
    Ok(())
}

fn modes(unit: &Unit) -> Vec<String> {
    let mut modes = vec!["DEFAULT_MODE".to_string()];
    for rule in &unit.lexer_rules {
        if !modes.contains(&rule.mode) {
            modes.push(rule.mode.clone());
        }
    }
    modes
}

fn lexer_rule<'u>(
    rule: &'u RuleAst,
    patterns: &mut Patterns<'u>,
    builder: &mut Builder,
) -> Result<(), ReadError> {
    let mode =
        builder.grammar.modes.iter().position(|m| *m == rule.mode).map_or(ModeId(0), ModeId::from);
    // Alternatives with commands of their own are rules of their own, in order.
    let split =
        rule.alternatives.iter().any(|a| !a.commands.is_empty()) && rule.alternatives.len() > 1;
    let groups: Vec<&[Alt]> =
        if split { rule.alternatives.chunks(1).collect() } else { vec![&rule.alternatives] };
    for group in groups {
        let pattern = patterns.of(group, rule)?;
        let own = builder.terminal_named(&rule.name).expect("declared before");
        let mut lex = LexRule::token(own, &rule.name, pattern);
        lex.mode = mode;
        lex.predicated = patterns.predicated(group);
        for (command, argument) in &group.last().expect("not empty").commands {
            apply(command, argument.as_deref(), rule, &mut lex, builder);
        }
        if lex.pattern.matches_empty() {
            builder.notes.push(
                rule.at
                    .note(format!("`{}` matches the empty string, which no token is", rule.name)),
            );
        }
        builder.grammar.lex_rules.push(lex);
    }
    Ok(())
}

fn apply(
    command: &str,
    argument: Option<&str>,
    rule: &RuleAst,
    lex: &mut LexRule,
    builder: &mut Builder,
) {
    let mode = |builder: &Builder| {
        let name = argument.unwrap_or_default();
        let name = if name == "0" { "DEFAULT_MODE" } else { name };
        builder.grammar.modes.iter().position(|m| m == name).map(ModeId::from)
    };
    match command {
        "skip" => lex.emit = Emit::Skip,
        "more" => lex.emit = Emit::More,
        "channel" if !matches!(argument, Some("DEFAULT_TOKEN_CHANNEL" | "0")) => {
            lex.emit = Emit::Skip
        }
        "channel" => {}
        "popMode" => lex.ops.push(ModeOp::Pop),
        "type" => {
            let name = argument.unwrap_or_default();
            let known = builder.terminal_named(name);
            let id = known
                .unwrap_or_else(|| builder.add_terminal(Terminal::new(name, Pattern::never())));
            lex.emit = Emit::Token(id);
        }
        "mode" | "pushMode" => match mode(builder) {
            Some(id) if command == "mode" => lex.ops.push(ModeOp::Set(id)),
            Some(id) => lex.ops.push(ModeOp::Push(id)),
            None => {
                builder.notes.push(
                    rule.at
                        .note(format!("there is no lexer mode `{}`", argument.unwrap_or_default())),
                );
            }
        },
        _ => {
            builder.notes.push(rule.at.note(format!("lexer command `{command}` is left out")));
        }
    }
}

/// Literals of parser rules first, then what every terminal matches in all modes.
pub fn finish(unit: &Unit, builder: &mut Builder) {
    let emitted: HashSet<TerminalId> = builder
        .grammar
        .lex_rules
        .iter()
        .filter_map(|r| if let Emit::Token(t) = r.emit { Some(t) } else { None })
        .collect();
    let mut implicit = Vec::new();
    for (i, terminal) in builder.grammar.terminals.iter().enumerate() {
        let id = TerminalId::from(i);
        if emitted.contains(&id) || terminal.end_of_input || terminal.pattern.is_never() {
            continue;
        }
        if terminal.defined || !unit.has_lexer {
            implicit.push(LexRule::token(id, &terminal.name, terminal.pattern.clone()));
        }
    }
    if unit.ignore_case {
        implicit.iter_mut().for_each(|r| r.pattern = r.pattern.ignore_case());
    }
    if !unit.has_lexer {
        implicit.push(LexRule::skip("blank", Pattern::parse("[ \\t\\r\\n]+").expect("valid")));
    }
    implicit.append(&mut builder.grammar.lex_rules);
    builder.grammar.lex_rules = implicit;
    let whole: Vec<Vec<Pattern>> = lexemes(&builder.grammar);
    for (terminal, patterns) in builder.grammar.terminals.iter_mut().zip(whole) {
        if !patterns.is_empty() {
            terminal.pattern = Pattern::alternation(patterns);
        }
    }
}

/// For each terminal the patterns of its lexemes; a mode that `more` leads into puts a beginning
/// before them.
pub fn lexemes(grammar: &grammar::Grammar) -> Vec<Vec<Pattern>> {
    let mut all = vec![Vec::new(); grammar.terminals.len()];
    let prefixes: Vec<Option<Pattern>> =
        (0..grammar.modes.len()).map(|mode| more_prefix(grammar, ModeId::from(mode))).collect();
    for rule in &grammar.lex_rules {
        if let Emit::Token(t) = rule.emit {
            let parts = [prefixes[rule.mode.index()].clone(), Some(rule.pattern.clone())];
            all[t.index()].push(Pattern::concat(parts.into_iter().flatten().collect()));
        }
    }
    all
}

fn more_prefix(grammar: &grammar::Grammar, mode: ModeId) -> Option<Pattern> {
    let more = || grammar.lex_rules.iter().filter(|r| r.emit == Emit::More);
    let enters = |op: &ModeOp| matches!(op, ModeOp::Push(m) | ModeOp::Set(m) if *m == mode);
    let entry: Vec<Pattern> = more()
        .filter(|r| r.mode != mode && r.ops.iter().any(enters))
        .map(|r| r.pattern.clone())
        .collect();
    let own: Vec<Pattern> =
        more().filter(|r| r.mode == mode && r.ops.is_empty()).map(|r| r.pattern.clone()).collect();
    if entry.is_empty() && own.is_empty() {
        return None;
    }
    let mut parts = Vec::new();
    if !entry.is_empty() {
        parts.push(Pattern::alternation(entry));
    }
    if !own.is_empty() {
        parts.push(Pattern::alternation(own).repeat(0, None, false));
    }
    Some(Pattern::concat(parts))
}
