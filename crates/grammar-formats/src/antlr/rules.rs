//! Parser rules.

use super::files::Unit;
use super::syntax::{Alt, Element, Kind, Part, RuleAst, is_lexical};
use crate::ReadError;
use crate::build::Builder;
use grammar::Pattern;
use grammar::model::{Alternative, Emit, Expr, Prec, Terminal, TerminalId};
use std::collections::HashSet;

/// `~` and `.` stand for sets of tokens; together they may not have more members than this.
const SETS_LIMIT: usize = 3_000_000;

/// Defines the rules; the first one is the start.
pub fn define(unit: &Unit, builder: &mut Builder) -> Result<(), ReadError> {
    alias_literals(unit, builder);
    for rule in &unit.parser_rules {
        builder.rule(&rule.name, 0);
    }
    // Literals have to be known before `~` and `.` are taken apart.
    let ends = lone_ends(unit);
    let mut definer =
        Definer { unit, builder, tokens: Vec::new(), members: 0, vocabulary_known: false, ends };
    for pass in [false, true] {
        definer.vocabulary_known = pass;
        for rule in &unit.parser_rules {
            definer.rule(rule, pass)?;
        }
        definer.tokens = definer.vocabulary();
    }
    if unit.parser_rules.is_empty() {
        only_tokens(unit, builder);
        return Ok(());
    }
    builder.grammar.start = start(unit, builder);
    Ok(())
}

/// `X : 'x' ;` in the lexer makes 'x' in a parser rule the token X.
fn alias_literals(unit: &Unit, builder: &mut Builder) {
    for rule in unit.lexer_rules.iter().filter(|r| !r.fragment) {
        let [Alt { parts, predicate: false, .. }] = &rule.alternatives[..] else { continue };
        let [Part { element: Element::Literal(text), min: 1, max: Some(1), .. }] = &parts[..]
        else {
            continue;
        };
        if let Some(id) = builder.terminal_named(&rule.name) {
            builder.alias(text.as_bytes(), id);
        }
    }
}

/// The first rule if it ends with `EOF`; else the first one that does and that no other rule uses.
fn start(unit: &Unit, builder: &mut Builder) -> grammar::RuleId {
    let mut used: HashSet<&str> = HashSet::new();
    let mut ending = Vec::new();
    for rule in &unit.parser_rules {
        let mut names = HashSet::new();
        mentioned(&rule.alternatives, &mut names);
        ending.push(names.contains("EOF"));
        names.remove(rule.name.as_str());
        used.extend(names);
    }
    let ends = |i: &usize| ending[*i] && !used.contains(unit.parser_rules[*i].name.as_str());
    let better = if ending[0] { None } else { (0..ending.len()).find(ends) };
    builder.rule(&unit.parser_rules[better.unwrap_or(0)].name, 0)
}

/// The names that alternatives mention. Recursion is bounded by the limit on nesting.
fn mentioned<'u>(alternatives: &'u [Alt], names: &mut HashSet<&'u str>) {
    fn element<'u>(e: &'u Element, names: &mut HashSet<&'u str>) {
        match e {
            Element::Name(name) => drop(names.insert(name)),
            Element::Block(inner) => mentioned(inner, names),
            Element::Not(inner) => element(inner, names),
            _ => {}
        }
    }
    alternatives.iter().flat_map(|a| &a.parts).for_each(|p| element(&p.element, names));
}

/// The lexer rules of which `EOF` alone makes a token.
fn lone_ends(unit: &Unit) -> HashSet<&str> {
    fn lone(alternatives: &[Alt]) -> bool {
        alternatives.iter().any(|alt| {
            let ends = alt.parts.iter().filter(|p| is_end(&p.element)).count();
            ends > 0 && alt.parts.iter().all(|p| p.min == 0 || is_end(&p.element))
        })
    }
    fn is_end(element: &Element) -> bool {
        match element {
            Element::Name(name) => name == "EOF",
            Element::Block(inner) => lone(inner),
            _ => false,
        }
    }
    let tokens = unit.lexer_rules.iter().filter(|r| !r.fragment);
    tokens.filter(|r| lone(&r.alternatives)).map(|r| r.name.as_str()).collect()
}

/// A lexer alone: any sequence of its tokens.
fn only_tokens(unit: &Unit, builder: &mut Builder) {
    let emits = builder.grammar.lex_rules.iter().filter_map(|r| match r.emit {
        Emit::Token(t) => Some(t),
        _ => None,
    });
    let mut tokens: Vec<TerminalId> = emits.collect();
    tokens.sort_unstable();
    tokens.dedup();
    let any = Expr::choice(tokens.into_iter().map(Expr::Terminal).collect());
    let rule = builder.rule("tokens", 0);
    builder.define(rule, vec![Alternative::new(any.repeat(0, None))]);
    if let Some(first) = unit.lexer_rules.first() {
        let text = "there are no parser rules: any sequence of tokens is a sentence";
        builder.notes.push(first.at.note(text));
    }
}

struct Definer<'u, 'b> {
    unit: &'u Unit,
    builder: &'b mut Builder,
    tokens: Vec<TerminalId>,
    /// Members of all sets so far.
    members: usize,
    vocabulary_known: bool,
    /// Tokens that a lone `EOF` makes.
    ends: HashSet<&'u str>,
}

impl Definer<'_, '_> {
    fn vocabulary(&self) -> Vec<TerminalId> {
        let terminals = self.builder.grammar.terminals.iter().enumerate();
        terminals.filter(|(_, t)| !t.end_of_input).map(|(i, _)| TerminalId::from(i)).collect()
    }

    fn rule(&mut self, rule: &RuleAst, keep: bool) -> Result<(), ReadError> {
        let count = rule.alternatives.len() as u32;
        let mut all = Vec::new();
        for (i, alt) in rule.alternatives.iter().enumerate() {
            let mut alternative = Alternative::new(self.sequence(alt)?);
            // Earlier alternatives bind tighter.
            alternative.prec = Some(Prec { level: count - i as u32, right: alt.right });
            all.push(alternative);
        }
        if keep {
            let id = self.builder.rule(&rule.name, 0);
            self.builder.define(id, all);
        }
        Ok(())
    }

    fn sequence(&mut self, alt: &Alt) -> Result<Expr, ReadError> {
        let mut parts = Vec::new();
        for (i, part) in alt.parts.iter().enumerate() {
            let lazy = self.lazy_set(part, alt.parts.get(i + 1))?;
            parts.push(match (lazy, part.min, part.max) {
                // The first round of `.+?` takes any token.
                (Some(set), 1, None) => {
                    Expr::seq(vec![self.all_but(&[], part)?, set.repeat(0, None)])
                }
                (Some(set), min, max) => set.repeat(min, max),
                (None, 1, Some(1)) => self.element(&part.element, part)?,
                (None, min, max) => self.element(&part.element, part)?.repeat(min, max),
            });
        }
        Ok(Expr::seq(parts))
    }

    /// `.*? X`: a non-greedy loop over tokens ends at the first X, so X is none of its tokens.
    fn lazy_set(&mut self, part: &Part, next: Option<&Part>) -> Result<Option<Expr>, ReadError> {
        let Some(next) = next.filter(|n| !part.greedy && n.min == 1) else { return Ok(None) };
        if !matches!(single(&part.element), Element::Any) {
            return Ok(None);
        }
        let mut out = Vec::new();
        let terminal = matches!(&next.element, Element::Literal(_))
            || matches!(&next.element, Element::Name(name) if is_lexical(name));
        if !terminal || self.set(&next.element, next, &mut out).is_err() {
            return Ok(None);
        }
        self.all_but(&out, part).map(Some)
    }

    fn element(&mut self, element: &Element, part: &Part) -> Result<Expr, ReadError> {
        match element {
            Element::Name(name) => self.name(name, part),
            Element::Literal(text) if text.is_empty() => Ok(Expr::Empty),
            Element::Literal(text) => Ok(Expr::Terminal(self.literal(text, part))),
            Element::Any => self.all_but(&[], part),
            Element::Not(inner) => {
                let mut out = Vec::new();
                self.set(inner, part, &mut out)?;
                self.all_but(&out, part)
            }
            Element::Block(alternatives) => {
                let mut all = Vec::new();
                for alternative in alternatives {
                    all.push(self.sequence(alternative)?);
                }
                Ok(Expr::choice(all))
            }
            Element::Class(_) => {
                Err(part.at.error("a set of characters cannot stand in a parser rule"))
            }
        }
    }

    /// A token that may be nothing but the end of the input is an `EOF` to the rules, too.
    fn token(&mut self, name: &str, id: TerminalId) -> Expr {
        if !self.ends.contains(name) {
            return Expr::Terminal(id);
        }
        Expr::choice(vec![Expr::Terminal(id), Expr::Terminal(self.builder.end_of_input())])
    }

    fn name(&mut self, name: &str, part: &Part) -> Result<Expr, ReadError> {
        if name == "EOF" {
            return Ok(Expr::Terminal(self.builder.end_of_input()));
        }
        if !is_lexical(name) {
            if !self.builder.has_rule(name) {
                return Err(part.at.error(format!("`{name}` is used here but never defined")));
            }
            return Ok(Expr::Rule(self.builder.rule(name, 0)));
        }
        if let Some(id) = self.builder.terminal_named(name) {
            return Ok(self.token(name, id));
        }
        if self.unit.has_lexer && !self.vocabulary_known {
            let text = format!("no lexer rule makes the token `{name}`");
            self.builder.notes.push(part.at.note(text));
        }
        let unknown =
            Terminal { defined: false, ..Terminal::new(name, Pattern::literal(name.as_bytes())) };
        Ok(Expr::Terminal(self.builder.add_terminal(unknown)))
    }

    fn literal(&mut self, text: &str, part: &Part) -> TerminalId {
        let known = self.builder.literal_known(text.as_bytes());
        if known.is_none() && self.unit.kind == Kind::Parser && self.unit.has_lexer {
            let text = format!("no lexer rule is the literal '{text}'");
            self.builder.notes.push(part.at.note(text));
        }
        self.builder.literal(text.as_bytes())
    }

    fn set(
        &mut self,
        element: &Element,
        part: &Part,
        out: &mut Vec<TerminalId>,
    ) -> Result<(), ReadError> {
        match self.element(element, part)? {
            Expr::Terminal(t) => out.push(t),
            Expr::Choice(parts) if parts.iter().all(|p| matches!(p, Expr::Terminal(_))) => {
                out.extend(
                    parts
                        .iter()
                        .filter_map(|p| if let Expr::Terminal(t) = p { Some(*t) } else { None }),
                );
            }
            _ => return Err(part.at.error("expected a token or a set of tokens after `~`")),
        }
        Ok(())
    }

    fn all_but(&mut self, out: &[TerminalId], part: &Part) -> Result<Expr, ReadError> {
        let rest = self.tokens.iter().filter(|t| !out.contains(t));
        let all: Vec<Expr> = rest.map(|t| Expr::Terminal(*t)).collect();
        self.members += all.len();
        if self.members > SETS_LIMIT {
            let message = format!("`~` and `.` stand for more than {SETS_LIMIT} tokens altogether");
            return Err(part.at.error(message));
        }
        Ok(Expr::choice(all))
    }
}

/// A group of one element is that element.
fn single(element: &Element) -> &Element {
    if let Element::Block(alternatives) = element
        && let [alternative] = &alternatives[..]
        && let [part] = &alternative.parts[..]
        && (part.min, part.max) == (1, Some(1))
    {
        return single(&part.element);
    }
    element
}
