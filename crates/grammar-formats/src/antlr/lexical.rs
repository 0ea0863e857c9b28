//! Lexer rules: fragments put in place, sets, commands and modes.

use super::files::Unit;
use super::syntax::{Alt, Element, Part, RuleAst};
use crate::build::Builder;
use crate::{Note, ReadError};
use grammar::model::{END_MARKER, Emit, LexRule, ModeId, ModeOp, Terminal, TerminalId};
use grammar::{Lexing, Pattern};
use regex_syntax::hir::{Class, ClassUnicode, ClassUnicodeRange, Hir, HirKind};
use std::collections::{HashMap, HashSet};

/// A lexer rule that contains itself is put in place this many times.
const UNROLL: usize = 3;
/// Fragments of fragments may not make a pattern larger than this.
const SIZE_LIMIT: usize = 200_000;

/// Declares the terminals and lexer rules of a grammar.
pub fn declare(unit: &Unit, builder: &mut Builder) -> Result<(), ReadError> {
    builder.grammar.lexing = Lexing::Longest;
    builder.grammar.modes = modes(unit);
    let mut patterns = Patterns::new(unit);
    for rule in unit.lexer_rules.iter().filter(|r| !r.fragment) {
        let name = &rule.name;
        if builder.terminal_named(name).is_none() {
            builder.add_terminal(Terminal::new(name.clone(), Pattern::never()));
        }
    }
    for name in &unit.tokens {
        if builder.terminal_named(name).is_none() {
            let known =
                Terminal { defined: false, ..Terminal::new(name.clone(), Pattern::literal(name.as_bytes())) };
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

fn lexer_rule(rule: &RuleAst, patterns: &mut Patterns, builder: &mut Builder) -> Result<(), ReadError> {
    let mode = builder.grammar.modes.iter().position(|m| *m == rule.mode).map_or(ModeId(0), ModeId::from);
    // Alternatives with commands of their own are rules of their own, in order.
    let split = rule.alternatives.iter().any(|a| !a.commands.is_empty()) && rule.alternatives.len() > 1;
    let groups: Vec<&[Alt]> =
        if split { rule.alternatives.chunks(1).collect() } else { vec![&rule.alternatives] };
    for group in groups {
        let pattern = patterns.alternatives(group, rule)?;
        let pattern = if rule.ignore_case == Some(true) { pattern.ignore_case() } else { pattern };
        let own = builder.terminal_named(&rule.name).expect("declared before");
        let mut lex = LexRule::token(own, &rule.name, pattern);
        lex.mode = mode;
        lex.predicated = patterns.predicated(group);
        for (command, argument) in &group.last().expect("not empty").commands {
            apply(command, argument.as_deref(), rule, &mut lex, builder);
        }
        if lex.pattern.matches_empty() {
            let text = format!("`{}` matches the empty string, which no token is", rule.name);
            builder.notes.push(Note { text, ..rule.at.clone() });
        }
        builder.grammar.lex_rules.push(lex);
    }
    Ok(())
}

fn apply(command: &str, argument: Option<&str>, rule: &RuleAst, lex: &mut LexRule, builder: &mut Builder) {
    let mode = |builder: &Builder| {
        let name = argument.unwrap_or_default();
        let name = if name == "0" { "DEFAULT_MODE" } else { name };
        builder.grammar.modes.iter().position(|m| m == name).map(ModeId::from)
    };
    match command {
        "skip" => lex.emit = Emit::Skip,
        "more" => lex.emit = Emit::More,
        "channel" if !matches!(argument, Some("DEFAULT_TOKEN_CHANNEL" | "0")) => lex.emit = Emit::Skip,
        "channel" => {}
        "popMode" => lex.ops.push(ModeOp::Pop),
        "type" => {
            let name = argument.unwrap_or_default();
            let known = builder.terminal_named(name);
            let id = known.unwrap_or_else(|| builder.add_terminal(Terminal::new(name, Pattern::never())));
            lex.emit = Emit::Token(id);
        }
        "mode" | "pushMode" => match mode(builder) {
            Some(id) if command == "mode" => lex.ops.push(ModeOp::Set(id)),
            Some(id) => lex.ops.push(ModeOp::Push(id)),
            None => {
                let text = format!("there is no lexer mode `{}`", argument.unwrap_or_default());
                builder.notes.push(Note { text, ..rule.at.clone() });
            }
        },
        _ => {
            let text = format!("lexer command `{command}` is left out");
            builder.notes.push(Note { text, ..rule.at.clone() });
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

/// For each terminal the patterns of its lexemes; a mode that `more` leads into puts a beginning before them.
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
    let entry: Vec<Pattern> =
        more().filter(|r| r.mode != mode && r.ops.iter().any(enters)).map(|r| r.pattern.clone()).collect();
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

/// Lexer rules as patterns, each made once.
struct Patterns<'u> {
    rules: HashMap<&'u str, &'u RuleAst>,
    made: HashMap<String, Pattern>,
    open: Vec<String>,
    notes: Vec<Note>,
    end_marker: bool,
}

impl<'u> Patterns<'u> {
    fn new(unit: &'u Unit) -> Patterns<'u> {
        let rules = unit.lexer_rules.iter().map(|r| (r.name.as_str(), r)).collect();
        Patterns { rules, made: HashMap::new(), open: Vec::new(), notes: Vec::new(), end_marker: false }
    }

    fn alternatives(&mut self, alternatives: &[Alt], rule: &RuleAst) -> Result<Pattern, ReadError> {
        let mut all = Vec::new();
        for alternative in alternatives {
            let mut parts = Vec::new();
            for part in &alternative.parts {
                parts.push(self.part(part, rule)?);
            }
            all.push(Pattern::concat(parts));
        }
        Ok(Pattern::alternation(all))
    }

    fn part(&mut self, part: &Part, rule: &RuleAst) -> Result<Pattern, ReadError> {
        let pattern = self.element(&part.element, part, rule)?;
        if (part.min, part.max) == (1, Some(1)) {
            return Ok(pattern);
        }
        Ok(pattern.repeat(part.min, part.max, part.greedy))
    }

    fn element(&mut self, element: &Element, part: &Part, rule: &RuleAst) -> Result<Pattern, ReadError> {
        Ok(match element {
            Element::Literal(text) => Pattern::literal(text.as_bytes()),
            Element::Class(class) => Pattern::from_hir(Hir::class(Class::Unicode(class.clone()))),
            Element::Any => Pattern::from_hir(Hir::class(Class::Unicode(any()))),
            Element::Block(alternatives) => self.alternatives(alternatives, rule)?,
            Element::Name(name) if name == "EOF" => {
                self.end_marker = true;
                Pattern::from_hir(Hir::literal([END_MARKER]))
            }
            Element::Name(name) => self.named(name, part)?,
            Element::Not(inner) => {
                let inner = self.element(inner, part, rule)?;
                let Some(mut class) = as_class(inner.hir()) else {
                    return Err(error(&part.at, "expected a set of single characters after `~`"));
                };
                if rule.ignore_case == Some(true) {
                    let _ = class.try_case_fold_simple();
                }
                class.negate();
                Pattern::from_hir(Hir::class(Class::Unicode(class)))
            }
        })
    }

    fn named(&mut self, name: &str, part: &Part) -> Result<Pattern, ReadError> {
        if let Some(pattern) = self.made.get(name) {
            return Ok(pattern.clone());
        }
        let Some(&rule) = self.rules.get(name) else {
            return Err(error(&part.at, &format!("lexer rule `{name}` is used here but never defined")));
        };
        let depth = self.open.iter().filter(|n| *n == name).count();
        if depth >= UNROLL {
            return Ok(Pattern::never());
        }
        if depth == 1 {
            let text = format!("`{name}` contains itself: nesting is followed {UNROLL} deep only");
            self.notes.push(Note { text, ..rule.at.clone() });
        }
        self.open.push(name.to_string());
        let pattern = self.alternatives(&rule.alternatives, rule);
        self.open.pop();
        let pattern = pattern?;
        if pattern.to_string().len() > SIZE_LIMIT {
            return Err(error(&rule.at, "this lexer rule is too large with its fragments put in place"));
        }
        if !self.open.contains(&name.to_string()) && !contains_open(rule, &self.open) {
            self.made.insert(name.to_string(), pattern.clone());
        }
        Ok(pattern)
    }

    /// Is there a predicate in the alternatives or in a fragment they use directly?
    fn predicated(&self, alternatives: &[Alt]) -> bool {
        alternatives
            .iter()
            .any(|a| a.predicate || a.parts.iter().any(|p| self.element_predicated(&p.element)))
    }

    fn element_predicated(&self, element: &Element) -> bool {
        match element {
            Element::Block(alternatives) => self.predicated(alternatives),
            Element::Not(inner) => self.element_predicated(inner),
            Element::Name(name) => self
                .rules
                .get(name.as_str())
                .is_some_and(|r| r.fragment && r.alternatives.iter().any(|a| a.predicate)),
            _ => false,
        }
    }
}

/// A pattern that was cut short because of recursion must not be kept.
fn contains_open(rule: &RuleAst, open: &[String]) -> bool {
    fn mentions(alternatives: &[Alt], open: &[String]) -> bool {
        let hit = |e: &Element| match e {
            Element::Name(name) => open.contains(name),
            Element::Block(inner) => mentions(inner, open),
            _ => false,
        };
        alternatives.iter().any(|a| a.parts.iter().any(|p| hit(&p.element)))
    }
    mentions(&rule.alternatives, open)
}

fn error(at: &Note, message: &str) -> ReadError {
    ReadError { file: at.file.clone(), line: at.line, column: at.column, message: message.to_string() }
}

fn any() -> ClassUnicode {
    ClassUnicode::new([ClassUnicodeRange::new('\0', '\u{10ffff}')])
}

/// A pattern of single characters as a set.
fn as_class(hir: &Hir) -> Option<ClassUnicode> {
    match hir.kind() {
        HirKind::Class(Class::Unicode(class)) => Some(class.clone()),
        HirKind::Class(Class::Bytes(bytes)) => {
            let ranges = bytes.ranges().iter();
            Some(ClassUnicode::new(
                ranges.map(|r| ClassUnicodeRange::new(r.start() as char, r.end() as char)),
            ))
        }
        HirKind::Literal(literal) => {
            let text = std::str::from_utf8(&literal.0).ok()?;
            let c = text.chars().next().filter(|c| c.len_utf8() == text.len())?;
            Some(ClassUnicode::new([ClassUnicodeRange::new(c, c)]))
        }
        HirKind::Empty => Some(ClassUnicode::empty()),
        HirKind::Alternation(parts) => parts.iter().try_fold(ClassUnicode::empty(), |mut all, part| {
            all.union(&as_class(part)?);
            Some(all)
        }),
        _ => None,
    }
}
