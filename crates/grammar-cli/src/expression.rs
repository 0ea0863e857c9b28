//! The notation of regular expressions over terminals: token constraints in a row, with `( ) | * +
//! ?`.

use crate::tokens::{constraint, skip_blanks};
use anyhow::{Result, anyhow, bail};
use grammar::language::Language;
use grammar::regular::Expression;
use std::iter::Peekable;
use std::str::Chars;

/// Parentheses within parentheses.
const DEEPEST: usize = 200;

/// An open group: finished alternatives, and the parts of the present one.
#[derive(Default)]
struct Group {
    alternatives: Vec<Expression>,
    parts: Vec<Expression>,
}

impl Group {
    fn next_alternative(&mut self) {
        self.alternatives.push(Expression::Sequence(std::mem::take(&mut self.parts)));
    }

    fn close(mut self) -> Expression {
        self.next_alternative();
        Expression::Choice(self.alternatives)
    }
}

pub fn read(language: &Language, text: &str) -> Result<Expression> {
    let mut chars = text.chars().peekable();
    expression(language, &mut chars).map_err(|error| {
        let at = text.chars().count() - chars.count();
        anyhow!("--expression: up to character {at}: {error}")
    })
}

fn expression(language: &Language, chars: &mut Peekable<Chars>) -> Result<Expression> {
    let mut groups: Vec<Group> = Vec::new();
    let mut group = Group::default();
    loop {
        skip_blanks(chars);
        match chars.peek() {
            None if groups.is_empty() => return Ok(group.close()),
            None => bail!("a closing `)` is missing"),
            Some('|') => group.next_alternative(),
            Some('(') if groups.len() == DEEPEST => {
                bail!("more than {DEEPEST} groups within each other")
            }
            Some('(') => groups.push(std::mem::take(&mut group)),
            Some(')') => {
                let outer = groups.pop().ok_or_else(|| anyhow!("this `)` closes nothing"))?;
                let inner = std::mem::replace(&mut group, outer).close();
                group.parts.push(inner);
            }
            Some(&operator @ ('*' | '+' | '?')) => {
                let part = group
                    .parts
                    .pop()
                    .ok_or_else(|| anyhow!("nothing stands before `{operator}`"))?;
                group.parts.push(repeated(part, operator));
            }
            Some(_) => {
                let set = constraint(&language.grammar, chars)?.terminals(language);
                group.parts.push(Expression::Token(set));
                continue;
            }
        }
        chars.next();
    }
}

fn repeated(part: Expression, operator: char) -> Expression {
    match operator {
        '*' => Expression::Star(Box::new(part)),
        '+' => Expression::Sequence(vec![part.clone(), Expression::Star(Box::new(part))]),
        _ => Expression::Choice(vec![Expression::Sequence(Vec::new()), part]),
    }
}
