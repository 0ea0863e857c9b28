//! Lexer rules as patterns: fragments put in place, each made once, before the rules that use it.
//!
//! A rule that contains itself (nested comments) is no regular expression. It is put in place as
//! often as it stays small, which is deeper than people nest.

use super::files::Unit;
use super::syntax::{Alt, Element, Part, RuleAst};
use crate::{Note, ReadError};
use grammar::Pattern;
use grammar::model::END_MARKER;
use regex_syntax::hir::{Class, ClassUnicode, ClassUnicodeRange, Hir, HirKind};
use std::collections::HashMap;

/// A lexer rule that contains itself is put in place this many times: the first of these with which
/// it stays small.
const UNROLL: [usize; 4] = [32, 16, 8, 4];
/// Elements of a rule that contains itself.
const UNROLLED_SIZE: usize = 3_000;
/// Elements of one rule: with more, it would need gigabytes, only for its automaton to be refused.
const SIZE_LIMIT: usize = 500_000;
/// Groups and rules inside each other, while a rule is put in place.
const LEVELS: usize = 300;
/// Elements of all fragments, each counted as often as it is put in place.
const INLINED_SIZE: usize = 5_000_000;

pub(super) struct Patterns<'u> {
    rules: HashMap<&'u str, &'u RuleAst>,
    made: HashMap<&'u str, Sized>,
    /// Elements that were put in place so far.
    inlined: usize,
    unrolling: Unrolling<'u>,
    pub notes: Vec<Note>,
    pub end_marker: bool,
}

/// A pattern, how many elements it has, and how deep they are nested.
#[derive(Clone)]
struct Sized {
    pattern: Pattern,
    size: usize,
    depth: usize,
}

/// Rules that are being put in place because they contain themselves.
#[derive(Default)]
struct Unrolling<'u> {
    open: Vec<&'u str>,
    limit: usize,
    size: usize,
    level: usize,
    cut: Option<&'u str>,
}

impl Sized {
    fn leaf(pattern: Pattern, size: usize) -> Sized {
        Sized { pattern, size, depth: 1 }
    }

    fn join(parts: Vec<Sized>, join: fn(Vec<Pattern>) -> Pattern) -> Sized {
        let size = parts.iter().map(|p| p.size).sum::<usize>() + 1;
        let depth = parts.iter().map(|p| p.depth).max().unwrap_or(0) + usize::from(parts.len() > 1);
        Sized { pattern: join(parts.into_iter().map(|p| p.pattern).collect()), size, depth }
    }
}

impl<'u> Patterns<'u> {
    /// Makes the patterns of everything that the tokens use and that does not contain itself.
    pub fn new(unit: &'u Unit) -> Result<Patterns<'u>, ReadError> {
        let rules: HashMap<&str, &RuleAst> =
            unit.lexer_rules.iter().map(|r| (r.name.as_str(), r)).collect();
        let order = bottom_up(unit, &rules);
        let (made, notes, unrolling) = Default::default();
        let mut patterns =
            Patterns { rules, made, inlined: 0, unrolling, notes, end_marker: false };
        for rule in order {
            let pattern = patterns.alternatives(&rule.alternatives, rule)?;
            if pattern.depth > LEVELS {
                return Err(rule
                    .at
                    .error("the fragments of this lexer rule are nested too deeply"));
            }
            patterns.made.insert(&rule.name, pattern);
        }
        Ok(patterns)
    }

    /// The pattern of some alternatives of a rule.
    pub fn of(&mut self, alternatives: &'u [Alt], rule: &'u RuleAst) -> Result<Pattern, ReadError> {
        let mut found = None;
        for limit in UNROLL {
            self.unrolling = Unrolling { open: vec![&rule.name], limit, ..Unrolling::default() };
            found = Some(self.alternatives(alternatives, rule)?.pattern);
            if self.unrolling.cut.is_none() || self.unrolling.size <= UNROLLED_SIZE {
                break;
            }
        }
        let Unrolling { cut, limit, .. } = std::mem::take(&mut self.unrolling);
        if let Some(name) = cut {
            let text =
                format!("`{name}` contains itself: nesting is followed at most {limit} deep");
            self.notes.push(rule.at.note(text));
        }
        Ok(found.expect("there is a limit"))
    }

    fn alternatives(
        &mut self,
        alternatives: &'u [Alt],
        rule: &'u RuleAst,
    ) -> Result<Sized, ReadError> {
        self.unrolling.level += 1;
        let mut all = Vec::new();
        let elements: usize = alternatives.iter().map(|a| a.parts.len()).sum();
        if elements > SIZE_LIMIT {
            let message =
                "a lexer rule with more than 500,000 elements is not read: split it into several";
            return Err(rule.at.error(message));
        }
        for alternative in alternatives {
            let mut parts = Vec::new();
            for part in &alternative.parts {
                parts.push(self.part(part, rule)?);
            }
            all.push(Sized::join(parts, Pattern::concat));
        }
        self.unrolling.level -= 1;
        Ok(Sized::join(all, Pattern::alternation))
    }

    fn part(&mut self, part: &'u Part, rule: &'u RuleAst) -> Result<Sized, ReadError> {
        let Sized { pattern, size, depth } = self.element(&part.element, part, rule)?;
        if (part.min, part.max) == (1, Some(1)) {
            return Ok(Sized { pattern, size, depth });
        }
        Ok(Sized {
            pattern: pattern.repeat(part.min, part.max, part.greedy),
            size: size + 1,
            depth: depth + 1,
        })
    }

    fn element(
        &mut self,
        element: &'u Element,
        part: &'u Part,
        rule: &'u RuleAst,
    ) -> Result<Sized, ReadError> {
        let ignore_case = rule.ignore_case == Some(true);
        Ok(match element {
            Element::Literal(text) if ignore_case => folded_literal(text),
            Element::Literal(text) => {
                Sized::leaf(Pattern::literal(text.as_bytes()), 1 + text.len() / 16)
            }
            Element::Class(class) => of_class(class.clone(), ignore_case),
            Element::Any => of_class(any(), false),
            Element::Block(alternatives) => self.alternatives(alternatives, rule)?,
            Element::Name(name) if name == "EOF" => {
                self.end_marker = true;
                Sized::leaf(Pattern::from_hir(Hir::literal([END_MARKER])), 1)
            }
            Element::Name(name) => self.named(name, part)?,
            Element::Not(inner) => {
                let inner = self.element(inner, part, rule)?;
                let Some(mut class) = as_class(inner.pattern.hir()) else {
                    return Err(part.at.error("expected a set of single characters after `~`"));
                };
                if ignore_case {
                    let _ = class.try_case_fold_simple();
                }
                class.negate();
                of_class(class, false)
            }
        })
    }

    fn named(&mut self, name: &'u str, part: &'u Part) -> Result<Sized, ReadError> {
        let Some(&rule) = self.rules.get(name) else {
            return Err(part
                .at
                .error(format!("lexer rule `{name}` is used here but never defined")));
        };
        let found = match self.made.get(name) {
            Some(made) => made.clone(),
            None => self.again(name, rule)?,
        };
        self.inlined += found.size;
        if self.inlined > INLINED_SIZE {
            return Err(rule
                .at
                .error("this lexer rule is too large with its fragments put in place"));
        }
        Ok(found)
    }

    /// A rule that contains itself, or leads to one that does, once more.
    fn again(&mut self, name: &'u str, rule: &'u RuleAst) -> Result<Sized, ReadError> {
        let unrolling = &mut self.unrolling;
        unrolling.size += 1 + rule.alternatives.iter().map(|a| a.parts.len()).sum::<usize>();
        let depth = unrolling.open.iter().filter(|n| **n == name).count();
        let large = unrolling.size > UNROLLED_SIZE || unrolling.level > LEVELS;
        if depth >= unrolling.limit || (depth > 0 && large) || unrolling.level > 2 * LEVELS {
            unrolling.cut = Some(name);
            return Ok(Sized::leaf(Pattern::never(), 1));
        }
        unrolling.open.push(name);
        let found = self.alternatives(&rule.alternatives, rule);
        self.unrolling.open.pop();
        found
    }

    /// Is there a predicate in the alternatives or in a fragment they use directly?
    pub fn predicated(&self, alternatives: &[Alt]) -> bool {
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

/// The rules that other lexer rules use and from which no rule that contains itself is reached,
/// each after those that it uses.
fn bottom_up<'u>(unit: &'u Unit, rules: &HashMap<&'u str, &'u RuleAst>) -> Vec<&'u RuleAst> {
    #[derive(Clone, Copy, PartialEq)]
    enum State {
        Open,
        Plain,
        Cyclic,
    }
    let mut states: HashMap<&str, State> = HashMap::new();
    let mut order = Vec::new();
    for root in unit.lexer_rules.iter().filter(|r| !r.fragment) {
        let mut stack = vec![(root, used(root), false)];
        while let Some((rule, names, cyclic)) = stack.last_mut() {
            let rule = *rule;
            match names.pop() {
                Some(name) => match (states.get(name), rules.get(name)) {
                    (Some(State::Open | State::Cyclic), _) => *cyclic = true,
                    (None, Some(next)) => {
                        states.insert(name, State::Open);
                        stack.push((next, used(next), false));
                    }
                    _ => {}
                },
                None => {
                    let cyclic = *cyclic;
                    stack.pop();
                    if let Some(user) = stack.last_mut() {
                        user.2 |= cyclic;
                        states
                            .insert(&rule.name, if cyclic { State::Cyclic } else { State::Plain });
                        order.extend((!cyclic).then_some(rule));
                    }
                }
            }
        }
    }
    order
}

/// The names that a rule uses. Recursion is bounded by the limit on nesting.
fn used(rule: &RuleAst) -> Vec<&str> {
    fn of<'u>(alternatives: &'u [Alt], names: &mut Vec<&'u str>) {
        alternatives.iter().flat_map(|a| &a.parts).for_each(|p| element(&p.element, names));
    }
    fn element<'u>(e: &'u Element, names: &mut Vec<&'u str>) {
        match e {
            Element::Name(name) => names.push(name),
            Element::Block(inner) => of(inner, names),
            Element::Not(inner) => element(inner, names),
            _ => {}
        }
    }
    let mut names = Vec::new();
    of(&rule.alternatives, &mut names);
    names
}

fn of_class(mut class: ClassUnicode, ignore_case: bool) -> Sized {
    if ignore_case {
        let _ = class.try_case_fold_simple();
    }
    let size = 1 + class.ranges().len() / 16;
    Sized::leaf(Pattern::from_hir(Hir::class(Class::Unicode(class))), size)
}

fn folded_literal(text: &str) -> Sized {
    let of = |c: char| of_class(ClassUnicode::new([ClassUnicodeRange::new(c, c)]), true);
    Sized::join(text.chars().map(of).collect(), Pattern::concat)
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
        HirKind::Alternation(parts) => {
            parts.iter().try_fold(ClassUnicode::empty(), |mut all, part| {
                all.union(&as_class(part)?);
                Some(all)
            })
        }
        _ => None,
    }
}
