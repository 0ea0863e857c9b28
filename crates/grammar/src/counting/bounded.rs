//! The part of a language that derivations up to a height reach, as a language of its own.
//!
//! Nonterminal A becomes one nonterminal per height: `A(h) ::= α(h-1)` for each production `A ::=
//! α`. The result is finite and not recursive, so distinct strings up to a height are the distinct
//! strings of this language.

use crate::automata::automaton::{Automaton, Edge};
use crate::counting::count::Count;
use crate::counting::space::Space;
use crate::counting::spaces::{self, SpaceError};
use crate::model::analysis::{Analysis, INFINITE};
use crate::model::core::{Core, NtId, RawNt, RawProd, Sym};
use crate::model::language::Language;
use num_bigint::BigUint;

/// Longer strings are not told apart.
const LONGEST: u64 = 10_000;

/// The distinct strings that have a derivation of at most this height, shortest first.
pub fn distinct(
    language: &Language,
    max: usize,
    max_lexeme: Option<usize>,
) -> Result<Space, SpaceError> {
    let (bounded, longest) = up_to_height(language, max, max_lexeme)?;
    match longest {
        None => Ok(Space::default()),
        Some(n) if n > LONGEST => Err(SpaceError::TooLong(LONGEST)),
        Some(n) => spaces::distinct(&bounded, n as usize),
    }
}

/// Distinct strings by the least height of their derivations, from 0 to `max`.
pub fn count_distinct(
    language: &Language,
    max: usize,
    max_lexeme: Option<usize>,
) -> Result<Vec<Count>, SpaceError> {
    let mut before = BigUint::ZERO;
    let mut counts = Vec::new();
    for height in 0..=max {
        let total = distinct(language, height, max_lexeme)?.total();
        counts.push(Count::Finite(&total - before));
        before = total;
    }
    Ok(counts)
}

/// The language of derivations up to a height, and the length of its longest string, if it has one.
fn up_to_height(
    language: &Language,
    max: usize,
    max_lexeme: Option<usize>,
) -> Result<(Language, Option<u64>), SpaceError> {
    let mut lexemes = Vec::new();
    for (terminal, automaton) in language.grammar.terminals.iter().zip(&language.lexemes) {
        match (automaton.max_len(), max_lexeme) {
            (Some(_), _) => lexemes.push(automaton.clone()),
            (None, Some(limit)) => lexemes.push(cut(automaton, limit)),
            (None, None) => return Err(SpaceError::InfiniteTerminal(terminal.name.clone())),
        }
    }
    let lengths: Vec<Option<u64>> =
        lexemes.iter().map(|a| a.max_len().filter(|_| !a.is_empty()).map(u64::from)).collect();
    let (core, longest) = unroll(&language.core, &lengths, max);
    let least: Vec<u64> = lexemes.iter().map(|a| a.min_len().map_or(INFINITE, u64::from)).collect();
    let analysis = Analysis::new(&core, &least);
    Ok((Language { grammar: language.grammar.clone(), core, lexemes, analysis }, longest))
}

/// Only the lexemes of at most `limit` bytes: a state for each state and number of bytes read.
fn cut(automaton: &Automaton, limit: usize) -> Automaton {
    let rest = automaton.distances();
    let (mut levels, mut states) = (vec![vec![]; limit + 1], Vec::new());
    if automaton.is_empty() || rest[0] as usize > limit {
        return Automaton::default();
    }
    levels[0].push(0u32);
    let mut out = Automaton::default();
    for depth in 0..=limit {
        states.push(out.edges.len() as u32);
        for i in 0..levels[depth].len() {
            let state = levels[depth][i] as usize;
            out.accepts.push(automaton.accepts[state]);
            let first_below = states[depth] + levels[depth].len() as u32;
            let mut edges = Vec::new();
            for edge in &automaton.edges[state] {
                if depth + 1 + rest[edge.to as usize] as usize > limit {
                    continue;
                }
                let below = &mut levels[depth + 1];
                let at = below.iter().position(|s| *s == edge.to).unwrap_or_else(|| {
                    below.push(edge.to);
                    below.len() - 1
                });
                edges.push(Edge { bytes: edge.bytes.clone(), to: first_below + at as u32 });
            }
            out.edges.push(edges);
        }
    }
    out
}

/// Nonterminal `nt` at height `h` gets the number `h * nonterminals + nt`. `lengths` are those of
/// the longest lexemes.
fn unroll(core: &Core, lengths: &[Option<u64>], max: usize) -> (Core, Option<u64>) {
    let n = core.nts.len();
    let mut longest: Vec<Option<u64>> = vec![None; n];
    let mut raw: Vec<RawNt> = core.nt_ids().map(|nt| empty(core, nt)).collect();
    for height in 1..=max {
        let below = longest.clone();
        for nt in core.nt_ids() {
            let mut copy = empty(core, nt);
            for p in core.prods_of(nt) {
                let rhs = core.rhs(p);
                let length = rhs.iter().try_fold(0u64, |sum, sym| {
                    Some(sum.saturating_add(of(*sym, lengths, &below)?))
                });
                let Some(length) = length else { continue };
                longest[nt.index()] = longest[nt.index()].max(Some(length));
                let lower = |sym: &Sym| match sym.as_nonterminal() {
                    Some(nt) => Sym::nonterminal(NtId::from((height - 1) * n + nt.index())),
                    None => *sym,
                };
                let prod = core.prod(p);
                let rhs = rhs.iter().map(lower).collect();
                copy.prods.push(RawProd { rhs, alt: prod.alt, weight: prod.weight });
            }
            raw.push(copy);
        }
    }
    let start = NtId::from(max * n + core.start.index());
    (Core::from_raw(raw, start, core.terminals()), longest[core.start.index()])
}

fn of(sym: Sym, lengths: &[Option<u64>], below: &[Option<u64>]) -> Option<u64> {
    match sym.as_nonterminal() {
        Some(nt) => below[nt.index()],
        None => lengths[sym.as_terminal().expect("not a nonterminal").index()],
    }
}

fn empty(core: &Core, nt: NtId) -> RawNt {
    RawNt { name: core.nt(nt).name.clone(), rule: core.nt(nt).rule, prods: Vec::new() }
}
