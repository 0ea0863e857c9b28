//! `count`: how many derivations there are, by length and by height, exactly.
//!
//! With `c(A, n)` the derivations of nonterminal A of length n, and `f(i, n)` those of the symbols
//! from slot i to the end of its production: `f(i, n) = Σ c(Xi, m) · f(i+1, n-m)`, and c(A, n) is
//! the sum of f over A's productions. Within one length, A depends on B if B can stand alone in a
//! production of A; a cycle of such dependencies through something that derives a string of that
//! length means infinitely many derivations.

use crate::automata::automaton::Automaton;
use crate::model::analysis::{self, Edge};
use crate::model::core::{Core, NtId, ProdId, Sym};
use crate::model::language::Language;
use num_bigint::BigUint;
use std::fmt;

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Count {
    Finite(BigUint),
    Infinite,
}

impl Count {
    pub fn zero() -> Count {
        Count::Finite(BigUint::ZERO)
    }

    pub fn one() -> Count {
        Count::Finite(BigUint::from(1u32))
    }

    pub fn is_zero(&self) -> bool {
        matches!(self, Count::Finite(n) if *n == BigUint::ZERO)
    }

    pub fn finite(&self) -> Option<&BigUint> {
        match self {
            Count::Finite(n) => Some(n),
            Count::Infinite => None,
        }
    }

    pub fn add(&mut self, other: &Count) {
        match (&mut *self, other) {
            (Count::Finite(a), Count::Finite(b)) => *a += b,
            _ => *self = Count::Infinite,
        }
    }

    pub fn times(&self, other: &Count) -> Count {
        match (self, other) {
            (Count::Finite(a), Count::Finite(b)) => Count::Finite(a * b),
            (a, b) if a.is_zero() || b.is_zero() => Count::zero(),
            _ => Count::Infinite,
        }
    }

    fn minus(&self, other: &Count) -> Count {
        match (self, other) {
            (Count::Finite(a), Count::Finite(b)) => Count::Finite(a - b),
            _ => Count::Infinite,
        }
    }
}

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Count::Finite(n) => write!(f, "{n}"),
            Count::Infinite => write!(f, "infinite"),
        }
    }
}

/// What the length of a string is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unit {
    /// Bytes of its lexemes; what is written between tokens does not count.
    Bytes,
    /// Tokens; all lexemes of a terminal are one.
    Tokens,
}

/// Number of lexemes of each length up to `max`.
pub fn lexeme_counts(automaton: &Automaton, max: usize) -> Vec<BigUint> {
    let n = automaton.edges.len();
    let mut counts = vec![BigUint::ZERO; max + 1];
    let mut paths = vec![BigUint::ZERO; n];
    if n == 0 {
        return counts;
    }
    paths[0] = BigUint::from(1u32);
    for count in counts.iter_mut().skip(1) {
        let mut next = vec![BigUint::ZERO; n];
        for state in (0..n).filter(|s| paths[*s] != BigUint::ZERO) {
            for edge in &automaton.edges[state] {
                next[edge.to as usize] += &paths[state] * edge.bytes.len();
            }
        }
        paths = next;
        let accepted = (0..n).filter(|s| automaton.accepts[*s]);
        accepted.for_each(|s| *count += &paths[s]);
        if paths.iter().all(|p| *p == BigUint::ZERO) {
            break;
        }
    }
    counts
}

/// c and f for all lengths up to a bound.
pub struct LengthTable {
    pub max: usize,
    pub terminal: Vec<Vec<Count>>,
    pub nt: Vec<Vec<Count>>,
    /// f, by first slot of the production plus position.
    pub suffix: Vec<Vec<Count>>,
    pub first: Vec<usize>,
}

impl LengthTable {
    pub fn new(language: &Language, max: usize, unit: Unit) -> LengthTable {
        let finite = |v: Vec<BigUint>| v.into_iter().map(Count::Finite).collect::<Vec<_>>();
        let terminal = language.lexemes.iter().map(|a| match unit {
            Unit::Bytes => finite(lexeme_counts(a, max)),
            Unit::Tokens => one_token(a, max),
        });
        LengthTable::with_terminals(&language.core, terminal.collect(), max)
    }

    pub fn with_terminals(core: &Core, terminal: Vec<Vec<Count>>, max: usize) -> LengthTable {
        let mut first = Vec::new();
        let mut slots = 0;
        for p in core.prod_ids() {
            first.push(slots);
            slots += core.rhs(p).len() + 1;
        }
        let mut table = LengthTable {
            max,
            terminal,
            nt: vec![Vec::with_capacity(max + 1); core.nts.len()],
            suffix: vec![Vec::with_capacity(max + 1); slots],
            first,
        };
        let order = Order::new(core);
        for n in 0..=max {
            table.fill(core, &order, n);
        }
        table
    }

    fn fill(&mut self, core: &Core, order: &Order, n: usize) {
        self.nt.iter_mut().for_each(|row| row.push(Count::zero()));
        self.suffix.iter_mut().for_each(|row| row.push(Count::zero()));
        for component in &order.components {
            for &nt in component {
                self.nt[nt.index()][n] = self.sum(core, nt, n);
            }
            let cyclic = component.iter().any(|nt| order.cyclic[nt.index()]);
            if cyclic && component.iter().any(|nt| !self.nt[nt.index()][n].is_zero()) {
                component.iter().for_each(|nt| self.nt[nt.index()][n] = Count::Infinite);
            }
        }
        // Suffixes that begin with something of a later component are right only now.
        core.prod_ids().for_each(|p| self.suffixes(core, p, n));
    }

    fn sum(&mut self, core: &Core, nt: NtId, n: usize) -> Count {
        let mut total = Count::zero();
        for p in core.prods_of(nt) {
            self.suffixes(core, p, n);
            total.add(&self.suffix[self.first[p.index()]][n]);
        }
        total
    }

    fn suffixes(&mut self, core: &Core, p: ProdId, n: usize) {
        let first = self.first[p.index()];
        let rhs = core.rhs(p);
        self.suffix[first + rhs.len()][n] = if n == 0 { Count::one() } else { Count::zero() };
        for (i, sym) in rhs.iter().enumerate().rev() {
            let mut total = Count::zero();
            for m in 0..=n {
                let head = self.symbol(*sym, m);
                let tail = &self.suffix[first + i + 1][n - m];
                if !head.is_zero() && !tail.is_zero() {
                    total.add(&head.times(tail));
                }
            }
            self.suffix[first + i][n] = total;
        }
    }

    pub fn symbol(&self, sym: Sym, n: usize) -> &Count {
        match sym.as_terminal() {
            Some(t) => &self.terminal[t.index()][n],
            None => &self.nt[sym.as_nonterminal().expect("not a terminal").index()][n],
        }
    }
}

fn one_token(automaton: &Automaton, max: usize) -> Vec<Count> {
    let one = |n| if n == 1 && !automaton.is_empty() { Count::one() } else { Count::zero() };
    (0..=max).map(one).collect()
}

/// Nonterminals in an order in which, within one length, each depends on earlier ones only.
struct Order {
    components: Vec<Vec<NtId>>,
    cyclic: Vec<bool>,
}

impl Order {
    fn new(core: &Core) -> Order {
        let nullable = analysis::nullable(&core.productions);
        let edges = analysis::edges(core, &nullable, Edge::Alone);
        let numbers = analysis::components(&edges);
        let count = numbers.iter().max().map_or(0, |m| *m as usize + 1);
        let mut components = vec![Vec::new(); count];
        core.nt_ids().for_each(|nt| components[numbers[nt.index()] as usize].push(nt));
        let own = |nt: NtId| edges[nt.index()].contains(&nt);
        let cyclic =
            core.nt_ids().map(|nt| own(nt) || components[numbers[nt.index()] as usize].len() > 1);
        Order { cyclic: cyclic.collect(), components }
    }
}

/// Nonterminals such that, within one length, each depends on earlier ones only (where nothing is
/// cyclic).
pub(crate) fn order(core: &Core) -> Vec<NtId> {
    Order::new(core).components.concat()
}

/// Derivations of each length from 0 to `max`.
pub fn by_length(language: &Language, max: usize, unit: Unit) -> Vec<Count> {
    let table = LengthTable::new(language, max, unit);
    table.nt[language.core.start.index()].clone()
}

/// How many lexemes of a terminal count in derivations by height.
pub fn lexemes_up_to(automaton: &Automaton, max_lexeme: Option<usize>) -> Count {
    let longest = automaton.max_len().map(|len| len as usize).or(max_lexeme);
    longest.map_or(Count::Infinite, |max| {
        Count::Finite(lexeme_counts(automaton, max).into_iter().sum())
    })
}

/// c(A, ≤h): derivations of height at most h, for all h up to a bound.
pub struct HeightTable {
    pub terminal: Vec<Count>,
    /// By height, then nonterminal.
    pub at_most: Vec<Vec<Count>>,
}

impl HeightTable {
    pub fn new(language: &Language, max: usize, max_lexeme: Option<usize>) -> HeightTable {
        let core = &language.core;
        let terminal: Vec<Count> =
            language.lexemes.iter().map(|a| lexemes_up_to(a, max_lexeme)).collect();
        let mut table =
            HeightTable { terminal, at_most: vec![vec![Count::zero(); core.nts.len()]] };
        for h in 1..=max {
            let row = core.nt_ids().map(|nt| table.sum(core, nt, h)).collect();
            table.at_most.push(row);
        }
        table
    }

    fn sum(&self, core: &Core, nt: NtId, h: usize) -> Count {
        let mut total = Count::zero();
        for p in core.prods_of(nt) {
            let product = |acc: Count, sym: &Sym| acc.times(self.symbol(*sym, h - 1));
            total.add(&core.rhs(p).iter().fold(Count::one(), product));
        }
        total
    }

    pub fn symbol(&self, sym: Sym, h: usize) -> &Count {
        match sym.as_terminal() {
            Some(t) => &self.terminal[t.index()],
            None => &self.at_most[h][sym.as_nonterminal().expect("not a terminal").index()],
        }
    }

    pub fn exactly(&self, nt: NtId, h: usize) -> Count {
        match h {
            0 => Count::zero(),
            _ => self.at_most[h][nt.index()].minus(&self.at_most[h - 1][nt.index()]),
        }
    }
}

/// Derivations of each height from 0 to `max`.
pub fn by_height(language: &Language, max: usize, max_lexeme: Option<usize>) -> Vec<Count> {
    let table = HeightTable::new(language, max, max_lexeme);
    (0..=max).map(|h| table.exactly(language.core.start, h)).collect()
}

pub fn total(counts: &[Count]) -> Count {
    counts.iter().fold(Count::zero(), |mut sum, c| {
        sum.add(c);
        sum
    })
}
