//! `sample --len`: uniformly among all derivations of a length (McKenzie).
//!
//! The tables of `count`, in floating point: every weight is the count times x^length, with x
//! chosen such that nothing overflows and nothing that matters becomes zero; as all derivations of
//! one length get the same factor, the distribution does not change. Probabilities are exact up to
//! rounding (relative error below 1e-12 for lengths in the thousands).

use crate::automata::automaton::Automaton;
use crate::automata::dfa::DfaError;
use crate::counting::count::{Count, LengthTable, Unit};
use crate::lexing::spell::Speller;
use crate::model::TerminalId;
use crate::model::core::{NtId, ProdId, Sym};
use crate::model::language::Language;
use fastrand::Rng;

/// How often x is chosen anew at most.
const ATTEMPTS: usize = 60;
/// Some length this near to the wanted one has derivations, if any that long has.
const NEAR: usize = 64;

#[derive(Debug, Clone, thiserror::Error)]
pub enum UniformError {
    #[error("no sentence has exactly {0} bytes")]
    NoSentence(usize),
    #[error("there are infinitely many derivations of length {0}, so none can be drawn uniformly")]
    Infinite(usize),
    #[error(
        "the tables for {len} bytes would need {gib} GiB; at most {max} bytes fit with this \
         grammar (--size has no tables)"
    )]
    TooLong { len: usize, gib: usize, max: usize },
    #[error(transparent)]
    Lexer(#[from] DfaError),
}

/// Numbers that tables may have together, 2 GiB of them.
const MAX_NUMBERS: usize = 1 << 28;

pub struct Uniform<'l> {
    language: &'l Language,
    len: usize,
    /// Σ over the productions of a nonterminal up to each, by nonterminal and length: see
    /// `alternatives`.
    nt: Vec<Vec<f64>>,
    suffix: Vec<Vec<f64>>,
    terminal: Vec<Vec<f64>>,
    first: Vec<usize>,
    /// Accepted strings from each state, by terminal, length and state.
    paths: Vec<Vec<Vec<f64>>>,
    speller: Speller,
    stack: Vec<Task>,
}

#[derive(Clone, Copy)]
enum Task {
    Symbol(Sym, u32),
    Suffix(ProdId, u32, u32),
}

/// Lengths for which there would not be memory enough are refused before any of it is used.
fn refuse_long(language: &Language, len: usize) -> Result<(), UniformError> {
    let core = &language.core;
    let slots: usize = core.prod_ids().map(|p| core.rhs(p).len() + 1).sum();
    // Each length has a list of its own there.
    let states: usize = language.lexemes.iter().map(|lexeme| lexeme.accepts.len() + 4).sum();
    let rows = core.nts.len() + slots + states;
    let max = MAX_NUMBERS / rows.max(1);
    if len <= max {
        return Ok(());
    }
    let gib = rows.saturating_mul(len).saturating_mul(size_of::<f64>()) >> 30;
    Err(UniformError::TooLong { len, gib, max })
}

impl<'l> Uniform<'l> {
    pub fn new(language: &'l Language, len: usize) -> Result<Uniform<'l>, UniformError> {
        refuse_long(language, len)?;
        refuse_infinite(language, len)?;
        // The largest x that is known to be small enough, and the smallest that is known to be too
        // large.
        let (mut low, mut high) = (0.0, f64::INFINITY);
        let mut x: f64 = 1.0;
        for attempt in 1.. {
            let mut uniform = Uniform::tables(language, len, x)?;
            if !uniform.fill() {
                high = x;
            } else if high.is_infinite() || uniform.is_exact() || attempt >= ATTEMPTS {
                return uniform.with_sentence();
            } else {
                low = x;
            }
            x = if low == 0.0 { high * 0.5 } else { (low * high).sqrt() };
        }
        Err(UniformError::NoSentence(len))
    }

    /// Whether the weights of the longest derivations are far from what floating point takes for
    /// nothing.
    fn is_exact(&self) -> bool {
        let longest = self.nt.iter().flat_map(|row| row.iter().rev().take(NEAR));
        longest.fold(0.0, |a: f64, b| a.max(*b)) > 1e-150
    }

    fn with_sentence(self) -> Result<Uniform<'l>, UniformError> {
        if self.nt[self.language.core.start.index()][self.len] == 0.0 {
            return Err(UniformError::NoSentence(self.len));
        }
        Ok(self)
    }

    fn tables(language: &'l Language, len: usize, x: f64) -> Result<Uniform<'l>, UniformError> {
        let core = &language.core;
        let mut first = Vec::new();
        let mut slots = 0;
        for p in core.prod_ids() {
            first.push(slots);
            slots += core.rhs(p).len() + 1;
        }
        let paths: Vec<Vec<Vec<f64>>> = language.lexemes.iter().map(|a| paths(a, len, x)).collect();
        let of =
            |p: &Vec<Vec<f64>>| p.iter().map(|row| row.first().copied().unwrap_or(0.0)).collect();
        let mut terminal: Vec<Vec<f64>> = paths.iter().map(of).collect();
        // The empty string is no lexeme.
        terminal.iter_mut().for_each(|row| row[0] = 0.0);
        Ok(Uniform {
            language,
            len,
            nt: vec![vec![0.0; len + 1]; core.nts.len()],
            suffix: vec![vec![0.0; len + 1]; slots],
            terminal,
            first,
            paths,
            speller: Speller::new(&language.grammar)?,
            stack: Vec::new(),
        })
    }

    /// False if a number became too large.
    fn fill(&mut self) -> bool {
        let order = crate::counting::count::order(&self.language.core);
        for n in 0..=self.len {
            for &nt in &order {
                let mut sum = 0.0;
                for p in self.language.core.prods_of(nt) {
                    self.suffixes(p, n);
                    sum += self.suffix[self.first[p.index()]][n];
                }
                self.nt[nt.index()][n] = sum;
                if sum > 1e250 {
                    return false;
                }
            }
            self.language.core.prod_ids().for_each(|p| self.suffixes(p, n));
        }
        true
    }

    fn suffixes(&mut self, p: ProdId, n: usize) {
        let first = self.first[p.index()];
        let rhs = self.language.core.rhs(p);
        self.suffix[first + rhs.len()][n] = if n == 0 { 1.0 } else { 0.0 };
        for (i, sym) in rhs.iter().enumerate().rev() {
            let head = match sym.as_terminal() {
                Some(t) => &self.terminal[t.index()],
                None => &self.nt[sym.as_nonterminal().expect("not a terminal").index()],
            };
            let tail = &self.suffix[first + i + 1];
            let total: f64 =
                head[..=n].iter().zip(tail[..=n].iter().rev()).map(|(h, t)| h * t).sum();
            self.suffix[first + i][n] = total;
        }
    }

    /// Appends a sentence.
    pub fn sample(&mut self, rng: &mut Rng, out: &mut Vec<u8>) {
        let language = self.language;
        let spell = self.speller.keeps_apart();
        let (mut text, mut lexeme) = (Vec::new(), Vec::new());
        self.speller.begin();
        self.stack.clear();
        self.stack.push(Task::Symbol(Sym::nonterminal(language.core.start), self.len as u32));
        while let Some(task) = self.stack.pop() {
            match task {
                Task::Suffix(p, i, n) => self.split(p, i as usize, n as usize, rng),
                Task::Symbol(sym, n) => match sym.as_terminal() {
                    Some(t) if spell => {
                        lexeme.clear();
                        self.lexeme(t, n as usize, rng, &mut lexeme);
                        self.speller.write(&mut text, t, &lexeme);
                    }
                    Some(t) => self.lexeme(t, n as usize, rng, out),
                    None => {
                        self.choose(sym.as_nonterminal().expect("not a terminal"), n as usize, rng)
                    }
                },
            }
        }
        out.append(&mut text);
    }

    #[inline]
    fn choose(&mut self, nt: NtId, n: usize, rng: &mut Rng) {
        let mut mark = rng.f64() * self.nt[nt.index()][n];
        let mut last = None;
        for p in self.language.core.prods_of(nt) {
            let weight = self.suffix[self.first[p.index()]][n];
            if weight > 0.0 {
                last = Some(p);
                if mark < weight {
                    break;
                }
                mark -= weight;
            }
        }
        let p = last.expect("a nonterminal with a weight has a production with one");
        self.push(p, 0, n);
    }

    #[inline]
    fn push(&mut self, p: ProdId, i: usize, n: usize) {
        let rhs = self.language.core.rhs(p);
        match rhs.len() - i {
            0 => {}
            1 => self.stack.push(Task::Symbol(rhs[i], n as u32)),
            _ => self.stack.push(Task::Suffix(p, i as u32, n as u32)),
        }
    }

    /// Divides n bytes between a symbol and the rest of its production, looking from both ends.
    #[inline]
    fn split(&mut self, p: ProdId, i: usize, n: usize, rng: &mut Rng) {
        let sym = self.language.core.rhs(p)[i];
        let slot = self.first[p.index()] + i;
        let head = match sym.as_terminal() {
            Some(t) => &self.terminal[t.index()],
            None => &self.nt[sym.as_nonterminal().expect("not a terminal").index()],
        };
        let tail = &self.suffix[slot + 1];
        let mut mark = rng.f64() * self.suffix[slot][n];
        let (mut low, mut high) = (0, n);
        let mut found = usize::MAX;
        while low <= high {
            for m in [low, high] {
                let weight = head[m] * tail[n - m];
                if weight > 0.0 {
                    found = m;
                    mark -= weight;
                    if mark < 0.0 {
                        break;
                    }
                }
                if low == high {
                    break;
                }
            }
            if mark < 0.0 || high == 0 {
                break;
            }
            low += 1;
            high -= 1;
        }
        self.push(p, i + 1, n - found);
        self.stack.push(Task::Symbol(sym, found as u32));
    }

    #[inline]
    fn lexeme(&self, t: TerminalId, n: usize, rng: &mut Rng, out: &mut Vec<u8>) {
        let automaton = &self.language.lexemes[t.index()];
        let paths = &self.paths[t.index()];
        let mut state = 0usize;
        for left in (0..n).rev() {
            let edges = &automaton.edges[state];
            let weigh = |e: &crate::automata::automaton::Edge| {
                paths[left][e.to as usize] * e.bytes.len() as f64
            };
            let edge = match edges {
                [only] => only,
                _ => {
                    let mut mark = rng.f64() * edges.iter().map(weigh).sum::<f64>();
                    let good = edges.iter().filter(|e| weigh(e) > 0.0);
                    let mut chosen = &edges[0];
                    for edge in good {
                        chosen = edge;
                        mark -= weigh(edge);
                        if mark < 0.0 {
                            break;
                        }
                    }
                    chosen
                }
            };
            let byte = if edge.bytes.len() == 1 {
                edge.bytes[0]
            } else {
                edge.bytes[rng.usize(..edge.bytes.len())]
            };
            out.push(byte);
            state = edge.to as usize;
        }
    }
}

/// paths[n][q]: weighted number of accepted strings of length n from state q.
fn paths(automaton: &Automaton, len: usize, x: f64) -> Vec<Vec<f64>> {
    let mut rows: Vec<Vec<f64>> =
        vec![automaton.accepts.iter().map(|a| f64::from(u8::from(*a))).collect()];
    for n in 1..=len {
        let last: &Vec<f64> = &rows[n - 1];
        let of = |edges: &[crate::automata::automaton::Edge]| {
            edges.iter().map(|e| last[e.to as usize] * e.bytes.len() as f64 * x).sum()
        };
        rows.push(automaton.edges.iter().map(of).collect());
    }
    rows
}

/// Cyclic rules that derive something of this length make it infinite; short lengths show it.
fn refuse_infinite(language: &Language, len: usize) -> Result<(), UniformError> {
    if !language.analysis.cyclic.contains(&true) {
        return Ok(());
    }
    let table = LengthTable::new(language, len, Unit::Bytes);
    match table.nt[language.core.start.index()][len] {
        Count::Infinite => Err(UniformError::Infinite(len)),
        _ => Ok(()),
    }
}
