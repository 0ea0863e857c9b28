//! Context-free grammars over bytes, as lean as solving needs them.
//!
//! Alternatives of one byte are kept as one set per nonterminal: grammars that list 250 bytes as
//! 250 alternatives are common, and nothing above needs to see them one by one. This module knows
//! nothing of automata or constraints.
//!
//! It is a model that grows: problems add rules to a grammar that is there already. Algorithms that
//! `grammar` needs too work on what it is lowered to, `context_free::Productions`.

use context_free::{Productions, Sym, TerminalId};
use rustc_hash::FxHashMap;

use crate::bytes::ByteSet;

/// Index of a nonterminal.
pub use context_free::NtId as Nonterminal;

/// Index of a set of bytes within its grammar.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SetId(pub u32);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Symbol {
    Bytes(SetId),
    Nonterminal(Nonterminal),
}

impl Symbol {
    fn lower(self) -> Sym {
        match self {
            Symbol::Bytes(set) => Sym::terminal(TerminalId(set.0)),
            Symbol::Nonterminal(nonterminal) => Sym::nonterminal(nonterminal),
        }
    }
}

/// The alternatives of one nonterminal.
#[derive(Clone, Debug, Default)]
pub struct Rule {
    /// The alternatives that are one byte.
    pub bytes: ByteSet,
    /// All other alternatives.
    pub productions: Vec<Vec<Symbol>>,
}

/// What `(x)?`, `(x)*` and `(x)+` mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Repetition {
    Optional,
    Star,
    Plus,
}

#[derive(Clone, Debug, Default)]
pub struct Grammar {
    rules: Vec<Rule>,
    sets: Vec<ByteSet>,
    set_ids: FxHashMap<ByteSet, SetId>,
    repetitions: FxHashMap<(Symbol, Repetition), Nonterminal>,
}

impl Grammar {
    pub fn add_nonterminal(&mut self) -> Nonterminal {
        self.rules.push(Rule::default());
        Nonterminal(self.rules.len() as u32 - 1)
    }

    pub fn add_production(&mut self, left: Nonterminal, right: Vec<Symbol>) {
        match right[..] {
            [Symbol::Bytes(set)] => self.add_bytes(left, self.set(set)),
            _ => self.rules[left.index()].productions.push(right),
        }
    }

    /// Each byte of `bytes` is an alternative of `left`.
    pub fn add_bytes(&mut self, left: Nonterminal, bytes: ByteSet) {
        let rule = &mut self.rules[left.index()];
        rule.bytes = rule.bytes.union(bytes);
    }

    pub fn symbol(&mut self, bytes: ByteSet) -> Symbol {
        let next = SetId(self.sets.len() as u32);
        let id = *self.set_ids.entry(bytes).or_insert(next);
        if id == next {
            self.sets.push(bytes);
        }
        Symbol::Bytes(id)
    }

    pub fn literal(&mut self, text: &[u8]) -> Vec<Symbol> {
        text.iter().map(|&byte| self.symbol(ByteSet::single(byte))).collect()
    }

    /// A nonterminal for a repeated symbol; the same one each time.
    pub fn repeat(&mut self, symbol: Symbol, repetition: Repetition) -> Nonterminal {
        if let Some(&known) = self.repetitions.get(&(symbol, repetition)) {
            return known;
        }
        let new = self.add_nonterminal();
        let again = Symbol::Nonterminal(new);
        let (first, second) = match repetition {
            Repetition::Optional => (vec![], vec![symbol]),
            Repetition::Star => (vec![], vec![again, symbol]),
            Repetition::Plus => (vec![symbol], vec![again, symbol]),
        };
        self.add_production(new, first);
        self.add_production(new, second);
        self.repetitions.insert((symbol, repetition), new);
        new
    }

    pub fn set(&self, id: SetId) -> ByteSet {
        self.sets[id.0 as usize]
    }

    pub fn rule(&self, nonterminal: Nonterminal) -> &Rule {
        &self.rules[nonterminal.index()]
    }

    pub fn nonterminals(&self) -> impl Iterator<Item = Nonterminal> + use<> {
        (0..self.rules.len() as u32).map(Nonterminal)
    }

    pub fn len(&self) -> usize {
        self.rules.len()
    }

    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// All sets of bytes that productions mention, those of one-byte alternatives included.
    pub fn byte_sets(&self) -> impl Iterator<Item = ByteSet> + '_ {
        self.sets.iter().copied().chain(self.rules.iter().map(|rule| rule.bytes))
    }

    /// The same language as plain productions, and the bytes that each terminal stands for, which
    /// are at least one. A production with a set of no bytes derives nothing and is left out.
    pub fn lower(&self) -> (Productions, Vec<ByteSet>) {
        let mut all = Grammar {
            sets: self.sets.clone(),
            set_ids: self.set_ids.clone(),
            ..Grammar::default()
        };
        let bytes: Vec<Symbol> = self.rules.iter().map(|rule| all.symbol(rule.bytes)).collect();
        let mut productions = Productions::new(all.sets.len());
        for (rule, bytes) in self.rules.iter().zip(bytes) {
            productions.add_nonterminal();
            let others = rule.productions.iter().map(Vec::as_slice);
            for right in std::iter::once(&[bytes][..]).chain(others) {
                if !right.iter().any(|symbol| all.is_never(*symbol)) {
                    productions.add_production(right.iter().map(|symbol| symbol.lower()));
                }
            }
        }
        (productions, all.sets)
    }

    fn is_never(&self, symbol: Symbol) -> bool {
        matches!(symbol, Symbol::Bytes(set) if self.set(set).is_empty())
    }
}
