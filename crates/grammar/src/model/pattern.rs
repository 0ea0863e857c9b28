//! Patterns of terminals: regular expressions over bytes, with Unicode classes spelled in UTF-8.
//!
//! A thin coat over `regex_syntax`'s HIR, which already knows classes, repetition and case folding,
//! drops without recursion and prints itself as a regular expression again.

use regex_syntax::hir::{Class, Hir, HirKind, Repetition};
use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

/// Bytes in increasing order. A run of bytes, which nearly all sets are, needs no memory of its
/// own.
pub type ByteSet = Cow<'static, [u8]>;

static ALL_BYTES: [u8; 256] = {
    let (mut all, mut i) = ([0; 256], 0);
    while i < 256 {
        all[i] = i as u8;
        i += 1;
    }
    all
};

pub(crate) fn one_byte(byte: u8) -> ByteSet {
    Cow::Borrowed(std::slice::from_ref(&ALL_BYTES[usize::from(byte)]))
}

pub(crate) fn byte_set(bytes: Vec<u8>) -> ByteSet {
    match (bytes.first(), bytes.last()) {
        (Some(&first), Some(&last)) if usize::from(last - first) + 1 == bytes.len() => {
            Cow::Borrowed(&ALL_BYTES[first.into()..=last.into()])
        }
        _ => Cow::Owned(bytes),
    }
}

/// Patterns nested deeper than this are refused by the readers.
pub const NEST_LIMIT: u32 = 200;

/// Bytes of a regular expression's text: a longer one needs gigabytes, only for its automaton to be
/// refused.
pub const LONGEST: usize = 1 << 20;

/// Cheap to clone: a terminal, its lexer rule and every machine that reads it share one expression.
#[derive(Clone, PartialEq, Eq)]
pub struct Pattern(Arc<Hir>);

impl Pattern {
    pub fn from_hir(hir: Hir) -> Pattern {
        Pattern(Arc::new(hir))
    }

    pub fn literal(bytes: &[u8]) -> Pattern {
        Pattern::from_hir(Hir::literal(bytes.to_vec()))
    }

    pub fn empty() -> Pattern {
        Pattern::from_hir(Hir::empty())
    }

    /// The pattern that matches nothing at all.
    pub fn never() -> Pattern {
        Pattern::from_hir(Hir::fail())
    }

    /// Reads Rust-like syntax (`regex` crate). Bytes outside UTF-8 may be named inside `(?-u:…)`.
    pub fn parse(text: &str) -> Result<Pattern, PatternError> {
        if text.len() > LONGEST {
            let message =
                format!("a regular expression of more than {} MB is not read", LONGEST >> 20);
            return Err(PatternError { offset: 0, message });
        }
        let mut parser =
            regex_syntax::ParserBuilder::new().utf8(false).nest_limit(NEST_LIMIT).build();
        let hir = parser.parse(text).map_err(PatternError::from_syntax)?;
        reject_looks(&hir)?;
        Ok(Pattern::from_hir(strip_captures(hir)))
    }

    pub fn concat(mut parts: Vec<Pattern>) -> Pattern {
        if parts.len() == 1 {
            return parts.remove(0);
        }
        Pattern::from_hir(Hir::concat(parts.into_iter().map(Pattern::into_hir).collect()))
    }

    pub fn alternation(mut parts: Vec<Pattern>) -> Pattern {
        if parts.len() == 1 {
            return parts.remove(0);
        }
        Pattern::from_hir(Hir::alternation(parts.into_iter().map(Pattern::into_hir).collect()))
    }

    pub fn repeat(self, min: u32, max: Option<u32>, greedy: bool) -> Pattern {
        let sub = Box::new(self.into_hir());
        Pattern::from_hir(Hir::repetition(Repetition { min, max, greedy, sub }))
    }

    fn into_hir(self) -> Hir {
        Arc::unwrap_or_clone(self.0)
    }

    pub fn hir(&self) -> &Hir {
        &self.0
    }

    /// The only string the pattern matches, if it is written as one.
    pub fn as_literal(&self) -> Option<Vec<u8>> {
        let mut text = Vec::new();
        let mut todo = vec![self.hir()];
        while let Some(hir) = todo.pop() {
            match hir.kind() {
                HirKind::Empty => {}
                HirKind::Literal(literal) => text.extend_from_slice(&literal.0),
                HirKind::Class(class) => text.append(&mut class.literal()?),
                HirKind::Concat(parts) => todo.extend(parts.iter().rev()),
                _ => return None,
            }
        }
        Some(text)
    }

    /// The bytes that may stand at each place, if the pattern is no more than a sequence of single
    /// bytes.
    pub fn as_places(&self) -> Option<Vec<ByteSet>> {
        let mut places = Vec::new();
        let mut todo = vec![self.hir()];
        while let Some(hir) = todo.pop() {
            match hir.kind() {
                HirKind::Empty => {}
                HirKind::Literal(literal) => places.extend(literal.0.iter().map(|b| one_byte(*b))),
                HirKind::Class(class) => places.push(byte_set(class_bytes(class)?)),
                HirKind::Concat(parts) => todo.extend(parts.iter().rev()),
                _ => return None,
            }
        }
        Some(places)
    }

    pub fn matches_empty(&self) -> bool {
        self.0.properties().minimum_len() == Some(0)
    }

    pub fn is_never(&self) -> bool {
        self.0.properties().minimum_len().is_none()
    }

    /// The alternatives of the outermost choice; ANTLR decides non-greedy loops in each on its own.
    pub fn branches(&self) -> Vec<Pattern> {
        match self.0.kind() {
            HirKind::Alternation(parts) => parts.iter().cloned().map(Pattern::from_hir).collect(),
            _ => vec![self.clone()],
        }
    }

    /// Does a non-greedy loop occur anywhere?
    pub fn has_lazy_loop(&self) -> bool {
        let mut todo = vec![self.hir()];
        while let Some(hir) = todo.pop() {
            match hir.kind() {
                HirKind::Repetition(rep) if !rep.greedy => return true,
                HirKind::Repetition(rep) => todo.push(&rep.sub),
                HirKind::Concat(parts) | HirKind::Alternation(parts) => todo.extend(parts),
                HirKind::Capture(capture) => todo.push(&capture.sub),
                _ => {}
            }
        }
        false
    }

    /// Bytes and classes inside bounded repetitions, each as often as it is repeated.
    pub fn repeated_size(&self) -> usize {
        let mut size = 0usize;
        let mut todo = vec![(self.hir(), 1usize)];
        while let Some((hir, times)) = todo.pop() {
            match hir.kind() {
                HirKind::Repetition(rep) => {
                    let most = rep.max.unwrap_or(rep.min).max(1) as usize;
                    todo.push((&rep.sub, times.saturating_mul(most)));
                }
                HirKind::Literal(literal) if times > 1 => {
                    size = size.saturating_add(times.saturating_mul(literal.0.len()));
                }
                HirKind::Class(_) if times > 1 => size = size.saturating_add(times),
                HirKind::Concat(parts) | HirKind::Alternation(parts) => {
                    todo.extend(parts.iter().map(|p| (p, times)));
                }
                HirKind::Capture(capture) => todo.push((&capture.sub, times)),
                _ => {}
            }
        }
        size
    }

    /// The same pattern without regard to case.
    pub fn ignore_case(&self) -> Pattern {
        let text = format!("(?i:{self})");
        Pattern::parse(&text).unwrap_or_else(|_| self.clone())
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

impl fmt::Debug for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "/{}/", self.0)
    }
}

#[derive(Debug, Clone, thiserror::Error)]
#[error("{message}")]
pub struct PatternError {
    /// Byte offset inside the pattern's text.
    pub offset: usize,
    pub message: String,
}

impl PatternError {
    fn from_syntax(error: regex_syntax::Error) -> PatternError {
        match error {
            regex_syntax::Error::Parse(e) => {
                PatternError { offset: e.span().start.offset, message: e.kind().to_string() }
            }
            regex_syntax::Error::Translate(e) => {
                PatternError { offset: e.span().start.offset, message: e.kind().to_string() }
            }
            other => PatternError { offset: 0, message: other.to_string() },
        }
    }
}

/// The members of a class that has some and in which each is one byte.
fn class_bytes(class: &Class) -> Option<Vec<u8>> {
    let bytes: Vec<u8> = match class {
        Class::Bytes(class) => class.iter().flat_map(|r| r.start()..=r.end()).collect(),
        Class::Unicode(class) if class.is_ascii() => {
            class.iter().flat_map(|r| r.start() as u8..=r.end() as u8).collect()
        }
        Class::Unicode(_) => return None,
    };
    (!bytes.is_empty()).then_some(bytes)
}

fn reject_looks(hir: &Hir) -> Result<(), PatternError> {
    if hir.properties().look_set().is_empty() {
        return Ok(());
    }
    let message = "anchors and word boundaries cannot be used in a terminal".to_string();
    Err(PatternError { offset: 0, message })
}

/// Groups have no meaning in a terminal. Recursion is bounded by `NEST_LIMIT`.
fn strip_captures(hir: Hir) -> Hir {
    match hir.into_kind() {
        HirKind::Capture(capture) => strip_captures(*capture.sub),
        HirKind::Concat(parts) => Hir::concat(parts.into_iter().map(strip_captures).collect()),
        HirKind::Alternation(parts) => {
            Hir::alternation(parts.into_iter().map(strip_captures).collect())
        }
        HirKind::Repetition(rep) => {
            let sub = Box::new(strip_captures(*rep.sub));
            Hir::repetition(Repetition { sub, ..rep })
        }
        HirKind::Empty => Hir::empty(),
        HirKind::Literal(lit) => Hir::literal(lit.0),
        HirKind::Class(class) => Hir::class(class),
        HirKind::Look(look) => Hir::look(look),
    }
}
