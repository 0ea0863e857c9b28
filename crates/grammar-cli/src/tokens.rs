//! The notation of token constraints: `{(,num} !{')'} "text"`.

use anyhow::{Result, anyhow, bail};
use grammar::constraint::Constraint;
use grammar::model::{Expr, RuleId};
use grammar::{Grammar, Terminal, TerminalId};
use std::iter::Peekable;
use std::str::Chars;

/// Names that are proposed where one is unknown.
const PROPOSED: usize = 3;

/// A name or literal as it was written.
struct Word {
    text: String,
    quoted: bool,
}

/// Reads constraints, one for each token, separated by blanks.
pub fn read(grammar: &Grammar, text: &str) -> Result<Vec<Constraint>> {
    let mut chars = text.chars().peekable();
    let mut all = Vec::new();
    loop {
        skip_blanks(&mut chars);
        if chars.peek().is_none() {
            return Ok(all);
        }
        let constraint = constraint(grammar, &mut chars);
        all.push(constraint.map_err(|e| anyhow!("--tokens: token {}: {e}", all.len() + 1))?);
    }
}

pub fn constraint(grammar: &Grammar, chars: &mut Peekable<Chars>) -> Result<Constraint> {
    match chars.next() {
        Some('.') => Ok(Constraint::AllBut(Vec::new())),
        Some('{') => Ok(Constraint::OneOf(set(grammar, chars)?)),
        Some('!') if chars.next_if_eq(&'{').is_some() => {
            Ok(Constraint::AllBut(set(grammar, chars)?))
        }
        Some('"') => Ok(Constraint::Lexeme(quoted(chars, '"')?.into_bytes())),
        _ => bail!("expected a set {{…}}, all but a set !{{…}}, or a lexeme \"…\""),
    }
}

/// What stands between braces; the first one has been read.
fn set(grammar: &Grammar, chars: &mut Peekable<Chars>) -> Result<Vec<TerminalId>> {
    let mut members = Vec::new();
    skip_blanks(chars);
    if chars.next_if_eq(&'}').is_some() {
        return Ok(members);
    }
    loop {
        members.extend(find(grammar, &word(chars)?)?);
        skip_blanks(chars);
        match chars.next() {
            Some('}') => return Ok(members),
            Some(',') => {}
            Some(c) => bail!("expected `,` or `}}` before `{c}`"),
            None => bail!("the closing `}}` is missing"),
        }
    }
}

fn word(chars: &mut Peekable<Chars>) -> Result<Word> {
    skip_blanks(chars);
    if let Some(quote) = chars.next_if(|c| *c == '\'' || *c == '"') {
        return Ok(Word { text: quoted(chars, quote)?, quoted: true });
    }
    let mut text = String::new();
    while let Some(c) = chars.next_if(|c| !",{}".contains(*c) && !c.is_whitespace()) {
        text.push(if c == '\\' { escaped(chars)? } else { c });
    }
    if text.is_empty() {
        bail!("expected a terminal; write `,` `{{` `}}` as '…' or with a backslash");
    }
    Ok(Word { text, quoted: false })
}

/// Up to the closing quote; the first one has been read.
fn quoted(chars: &mut Peekable<Chars>, quote: char) -> Result<String> {
    let mut text = String::new();
    loop {
        match chars.next() {
            Some(c) if c == quote => return Ok(text),
            Some('\\') => text.push(escaped(chars)?),
            Some(c) => text.push(c),
            None => bail!("the closing {quote} is missing"),
        }
    }
}

fn escaped(chars: &mut Peekable<Chars>) -> Result<char> {
    Ok(match chars.next().ok_or_else(|| anyhow!("nothing follows the backslash"))? {
        'n' => '\n',
        't' => '\t',
        'r' => '\r',
        c => c,
    })
}

pub fn skip_blanks(chars: &mut Peekable<Chars>) {
    while chars.next_if(|c| c.is_whitespace()).is_some() {}
}

/// The terminals of a rule that derives single tokens only, as `op = '+' | '-'` does.
fn of_rule(grammar: &Grammar, name: &str) -> Vec<TerminalId> {
    let mut found = Vec::new();
    let mut rules: Vec<RuleId> = grammar.find_rule(name).into_iter().collect();
    let mut next = 0;
    while let Some(&rule) = rules.get(next) {
        next += 1;
        let mut open: Vec<&Expr> =
            grammar.rule(rule).alternatives.iter().map(|alternative| &alternative.body).collect();
        while let Some(expression) = open.pop() {
            match expression {
                Expr::Terminal(terminal) => found.push(*terminal),
                Expr::Choice(parts) => open.extend(parts),
                Expr::Rule(inner) if rules.contains(inner) => {}
                Expr::Rule(inner) => rules.push(*inner),
                _ => return Vec::new(),
            }
        }
    }
    found
}

/// The terminal of that name, those of a rule of that name, or those with that literal; in quotes
/// the literal comes first.
fn find(grammar: &Grammar, word: &Word) -> Result<Vec<TerminalId>> {
    let named: Vec<TerminalId> = grammar.find_terminal(&word.text).into_iter().collect();
    let is_literal =
        |t: &Terminal| t.pattern.as_literal().is_some_and(|text| text == word.text.as_bytes());
    let ids = (0..grammar.terminals.len()).map(TerminalId::from);
    let literal: Vec<TerminalId> = ids.filter(|t| is_literal(grammar.terminal(*t))).collect();
    let by_rule = if word.quoted { Vec::new() } else { of_rule(grammar, &word.text) };
    let order = if word.quoted { [literal, named, by_rule] } else { [named, by_rule, literal] };
    let found = order.into_iter().find(|found| !found.is_empty());
    found.ok_or_else(|| {
        anyhow!("there is no terminal `{}`; {}", word.text, nearest(grammar, &word.text))
    })
}

fn nearest(grammar: &Grammar, text: &str) -> String {
    let mut names: Vec<String> = grammar.terminals.iter().map(shown).collect();
    names.sort_by_key(|name| strsim::osa_distance(&name.to_lowercase(), &text.to_lowercase()));
    names.truncate(PROPOSED);
    if names.is_empty() {
        return "the grammar has none".to_string();
    }
    format!("the nearest are `{}`", names.join("`, `"))
}

/// The name of a terminal; if it has none of its own, its literal text.
pub fn shown(terminal: &Terminal) -> String {
    match terminal.pattern.as_literal().filter(|_| terminal.name.starts_with('"')) {
        Some(text) => String::from_utf8_lossy(&text).into_owned(),
        None => terminal.name.clone(),
    }
}
