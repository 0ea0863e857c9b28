//! Inputs with their tokens: what the solver sees of a run of a program whose lexers are named.
//!
//! A *token input* is the number of a run, one byte for each token that was delivered in it (see
//! [`Codes`]), and its text. The solver chooses tokens and bytes alike; what it chose is turned
//! into a text again by whoever knows the lexemes.

use std::collections::BTreeMap;
use std::ops::Range;

use rustc_hash::FxHashMap;

use expr::{Dag, Importer, Node, Op, Support, Supports, TableData};
use path::{Constraint, ConstraintKind, Delivered, PathCondition, Trace};
use trace::Label;

use super::codes::Codes;
use crate::TracedPath;

/// Bytes of the number.
const HEADER: usize = 4;
/// Later tokens of a run are not symbolic.
const MAX_TOKENS: usize = 4096;
/// How much longer a token input may be than its text.
pub(super) const MAX_ADDED: usize = HEADER + MAX_TOKENS;
/// Set in the number if the text has the tokens.
const SPELT: u32 = 1 << 31;
/// Stands for no run.
const NO_RUN: u32 = SPELT - 1;

/// A token of an input that was run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TokenOf {
    /// Of its code.
    pub index: u8,
    /// Where its text begins, white space before it included.
    pub start: u32,
}

/// An input that was run, with its tokens.
#[derive(Debug)]
pub struct Run {
    pub text: Vec<u8>,
    pub tokens: Vec<TokenOf>,
}

impl Run {
    /// The bytes of a token, white space before it included.
    pub fn piece(&self, token: usize) -> Range<usize> {
        let start = |token: &TokenOf| (token.start as usize).min(self.text.len());
        let from = self.tokens.get(token).map_or(self.text.len(), start);
        from..self.tokens.get(token + 1).map_or(self.text.len(), start).max(from)
    }
}

/// A token input, taken apart.
#[derive(Clone, Copy, Debug)]
pub struct View<'i> {
    /// The run that it is like, and that has this number.
    pub run: Option<(u32, &'i Run)>,
    /// As many as the run has.
    pub indices: &'i [u8],
    pub text: &'i [u8],
    /// The text has these tokens, as far as that is known.
    pub is_spelt: bool,
}

impl View<'_> {
    /// Where in its text the byte of a token input is: for a token, where its piece begins. `None`
    /// for the number.
    pub fn place(&self, byte: usize) -> Option<usize> {
        let byte = byte.checked_sub(HEADER)?;
        match byte.checked_sub(self.indices.len()) {
            Some(byte) => Some(byte),
            None => self.run.map(|(_, run)| run.piece(byte).start),
        }
    }
}

/// All inputs that were run.
#[derive(Debug, Default)]
pub struct TokenInputs {
    pub codes: Codes,
    runs: Vec<Run>,
    numbers: FxHashMap<Vec<u8>, u32>,
}

impl TokenInputs {
    /// The parts of a token input.
    pub fn view<'i>(&'i self, input: &'i [u8]) -> View<'i> {
        let (header, rest) = input.split_at_checked(HEADER).unwrap_or((&[], input));
        let number = header.try_into().map_or(NO_RUN, u32::from_le_bytes);
        let run = self.runs.get((number & !SPELT) as usize).map(|run| (number & !SPELT, run));
        let count = run.map_or(0, |(_, run)| run.tokens.len());
        let (indices, text) = rest.split_at_checked(count).unwrap_or((&[], rest));
        let is_same =
            |(_, run): (u32, &Run)| run.tokens.iter().map(|token| &token.index).eq(indices);
        View { run, indices, text, is_spelt: number & SPELT != 0 || run.is_none_or(is_same) }
    }

    /// In the order in which they ran.
    pub fn runs(&self) -> &[Run] {
        &self.runs
    }

    /// A text of which nothing is known.
    pub fn fresh(text: &[u8]) -> Vec<u8> {
        [&NO_RUN.to_le_bytes(), text].concat()
    }

    /// A text like that of a run, with the tokens that it will have; as many count as the run has.
    pub fn like(&self, number: u32, indices: impl IntoIterator<Item = u8>, text: &[u8]) -> Vec<u8> {
        let count = self.runs.get(number as usize).map_or(0, |run| run.tokens.len());
        let mut input = (number | SPELT).to_le_bytes().to_vec();
        input.extend(indices.into_iter().chain(std::iter::repeat(Codes::UNKNOWN)).take(count));
        input.extend_from_slice(text);
        input
    }

    /// Takes in a run: its token input, and its path over that.
    pub(super) fn add(&mut self, text: &[u8], path: TracedPath) -> (Vec<u8>, TracedPath) {
        let number = self.number(text, &path.condition.tokens);
        let run = &self.runs[number as usize];
        let indices = run.tokens.iter().map(|token| token.index);
        let input: Vec<u8> =
            number.to_le_bytes().into_iter().chain(indices).chain(text.iter().copied()).collect();
        let count = run.tokens.len();
        (input, over_tokens(path, count, self.codes.table()))
    }

    fn number(&mut self, text: &[u8], delivered: &[Delivered]) -> u32 {
        if let Some(&number) = self.numbers.get(text) {
            return number;
        }
        let token = |token: &Delivered| {
            Some(TokenOf { index: self.codes.index(token.code)?, start: token.start })
        };
        let tokens = delivered.iter().take(MAX_TOKENS).map_while(token).collect();
        let number = self.runs.len() as u32;
        self.runs.push(Run { text: text.to_vec(), tokens });
        self.numbers.insert(text.to_vec(), number);
        number
    }
}

/// The path with variables in place of its first `count` tokens.
fn over_tokens(path: TracedPath, count: usize, codes: Vec<u8>) -> TracedPath {
    let shift = (HEADER + count) as u32;
    let tokens = &path.condition.tokens;
    let places: BTreeMap<Label, u32> =
        tokens.iter().take(count).map(|token| token.label).zip(0..).collect();
    let (from, mut into) = (&path.trace.dag, Dag::new());
    let Ok(table) = into.add_table(TableData::concrete(codes)) else { return path };
    let mut importer = Importer::new();
    let mut copy = |label: Label| {
        importer.import_with(from, label, &mut into, &mut |label, into| match from.op(label) {
            Op::Input => Some(into.input(shift + from.node(label).a)),
            // Other tokens are mostly longer or shorter, so the length is nobody's choice.
            Op::Len => Some(into.constant(64, u128::from(from.input_len()))),
            Op::Token => {
                let place = *places.get(&label)?;
                let index = into.input(HEADER as u32 + place);
                let (index, three) =
                    (into.add(Node::unary(Op::ZExt, 64, index)), into.constant(64, 3));
                let offset = into.add(Node::binary(Op::Shl, 64, index, three));
                Some(into.add(Node { b: table, ..Node::unary(Op::Read, 64, offset) }))
            }
            _ => None,
        })
    };
    let mut over = |constraint: &Constraint| {
        let kind = match constraint.kind {
            ConstraintKind::Case { on, index } => ConstraintKind::Case { on: copy(on), index },
            ConstraintKind::Concretise { on, value, is_target } => {
                ConstraintKind::Concretise { on: copy(on), value, is_target }
            }
            kind => kind,
        };
        Constraint { label: copy(constraint.label), kind, ..constraint.clone() }
    };
    let mut constraints: Vec<Constraint> =
        path.condition.constraints.iter().map(&mut over).collect();
    let mut given: Vec<Constraint> = about_values(&path).into_iter().map(&mut over).collect();
    // Tokens of a prelude are constants.
    let mut supports = Supports::new();
    constraints.retain(|constraint| {
        let support = supports.of(&into, constraint.label);
        !supports.get(support).is_empty()
    });
    // What a lexer asked about earlier tokens would fix them.
    given.retain(|constraint| {
        let support = supports.of(&into, constraint.label);
        let support = supports.get(support);
        !support.is_empty() && support.bytes().all(|byte| byte >= shift)
    });
    let condition = PathCondition { constraints, given, ..PathCondition::default() };
    // Events are of the other expressions.
    TracedPath { trace: Trace { dag: into, events: Vec::new(), ..path.trace }, condition }
}

/// The lexers' conditions on bytes that the program after them asks about. Most tokens have a code
/// and nothing else that counts.
fn about_values(path: &TracedPath) -> Vec<&Constraint> {
    let mut supports = Supports::new();
    let mut of = |constraint: &Constraint| {
        let id = supports.of(&path.trace.dag, constraint.label);
        supports.get(id).without_len()
    };
    let PathCondition { constraints, given, .. } = &path.condition;
    let nothing = Support::default();
    let mut asked =
        constraints.iter().fold(nothing, |asked, constraint| asked.union(&of(constraint)));
    let mut left: Vec<(&Constraint, Support)> =
        given.iter().map(|given| (given, of(given))).collect();
    let mut found = Vec::new();
    loop {
        let (new, others): (Vec<_>, Vec<_>) =
            left.into_iter().partition(|(_, support)| support.intersects(&asked));
        if new.is_empty() {
            return found;
        }
        asked = new.iter().fold(asked, |asked, (_, support)| asked.union(support));
        found.extend(new.into_iter().map(|(given, _)| given));
        left = others;
    }
}
