//! The words of a grammar up to a length, as a minimal deterministic automaton.
//!
//! For each nonterminal and each length there is one set of words. Sets are hash-consed automata
//! without cycles, so equal sets are the same however ambiguous the grammar is, and union and
//! concatenation are computed once for each pair of sets. The automaton may still be exponential
//! where the language needs it (palindromes); then the budget ends it.

use rustc_hash::FxHashMap;

use crate::budget::{Budget, Stop};
use crate::bytes::{Class, classes};
use crate::grammar::{Grammar, Nonterminal, Symbol};
use crate::nfa::Nfa;

/// Index of a set of words.
type Set = u32;

/// No words.
const NONE: Set = 0;
/// Only the empty word.
const EMPTY_WORD: Set = 1;
/// Longer words are not written out.
const LONGEST: u64 = 1_000;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Node {
    has_empty_word: bool,
    /// Classes of bytes and the sets of what follows them, never `NONE`.
    moves: Box<[(u8, Set)]>,
}

/// The automaton of the words of `start` with at most `longest` bytes. The budget bounds its size.
pub fn up_to(
    grammar: &Grammar,
    start: Nonterminal,
    longest: u64,
    budget: &mut Budget,
) -> Result<Nfa, Stop> {
    if longest > LONGEST {
        return Err(Stop::Memory(LONGEST as usize));
    }
    let mut sets = Sets::new(budget);
    let mut table = Table::new(grammar, start);
    let mut all = NONE;
    for length in 0..=longest as usize {
        table.extend(&mut sets, length)?;
        all = sets.union(all, table.words[start.index()][length])?;
    }
    Ok(sets.automaton(all, &table.classes))
}

struct Sets<'b> {
    nodes: Vec<Node>,
    known: FxHashMap<Node, Set>,
    unions: FxHashMap<(Set, Set), Set>,
    concatenations: FxHashMap<(Set, Set), Set>,
    budget: &'b mut Budget,
}

impl<'b> Sets<'b> {
    fn new(budget: &'b mut Budget) -> Self {
        let mut sets = Sets {
            nodes: Vec::new(),
            known: FxHashMap::default(),
            unions: FxHashMap::default(),
            concatenations: FxHashMap::default(),
            budget,
        };
        for has_empty_word in [false, true] {
            let node = Node { has_empty_word, moves: Box::new([]) };
            sets.known.insert(node.clone(), sets.nodes.len() as Set);
            sets.nodes.push(node);
        }
        sets
    }

    fn intern(&mut self, has_empty_word: bool, moves: Vec<(u8, Set)>) -> Result<Set, Stop> {
        let node = Node { has_empty_word, moves: moves.into() };
        if let Some(&known) = self.known.get(&node) {
            return Ok(known);
        }
        self.budget.spend_many(1 + node.moves.len() / 8)?;
        let set = self.nodes.len() as Set;
        self.nodes.push(node.clone());
        self.known.insert(node, set);
        Ok(set)
    }

    /// The words of one byte.
    fn bytes(&mut self, members: impl Iterator<Item = u8>) -> Result<Set, Stop> {
        self.intern(false, members.map(|class| (class, EMPTY_WORD)).collect())
    }

    fn union(&mut self, a: Set, b: Set) -> Result<Set, Stop> {
        let (a, b) = (a.min(b), a.max(b));
        if a == NONE || a == b {
            return Ok(b);
        }
        if let Some(&known) = self.unions.get(&(a, b)) {
            return Ok(known);
        }
        self.budget.spend()?;
        let (left, right) = (self.nodes[a as usize].clone(), self.nodes[b as usize].clone());
        let mut moves = Vec::with_capacity(left.moves.len().max(right.moves.len()));
        let mut others = right.moves.iter().copied().peekable();
        for &(class, to) in &left.moves {
            while let Some(other) = others.next_if(|other| other.0 < class) {
                moves.push(other);
            }
            let both = others.next_if(|other| other.0 == class).map_or(NONE, |other| other.1);
            moves.push((class, self.union(to, both)?));
        }
        moves.extend(others);
        let union = self.intern(left.has_empty_word || right.has_empty_word, moves)?;
        self.unions.insert((a, b), union);
        Ok(union)
    }

    /// The words of `a`, all of one length, each followed by one of `b`.
    fn concat(&mut self, a: Set, b: Set) -> Result<Set, Stop> {
        match (a, b) {
            (NONE, _) | (_, NONE) => return Ok(NONE),
            (EMPTY_WORD, other) | (other, EMPTY_WORD) => return Ok(other),
            _ => {}
        }
        if let Some(&known) = self.concatenations.get(&(a, b)) {
            return Ok(known);
        }
        self.budget.spend()?;
        let mut moves = self.nodes[a as usize].moves.to_vec();
        for (_, to) in &mut moves {
            *to = self.concat(*to, b)?;
        }
        let concatenation = self.intern(false, moves)?;
        self.concatenations.insert((a, b), concatenation);
        Ok(concatenation)
    }

    fn automaton(&self, start: Set, classes: &[Class]) -> Nfa {
        let moves = self.nodes.iter().map(|node| {
            node.moves.iter().map(|&(class, to)| (classes[class as usize].members, to)).collect()
        });
        let ends =
            (0..self.nodes.len() as u32).filter(|&set| self.nodes[set as usize].has_empty_word);
        Nfa::new(moves.collect(), ends, start)
    }
}

/// The words of each nonterminal and of each rest of a production, by length.
struct Table<'g> {
    grammar: &'g Grammar,
    classes: Vec<Class>,
    /// Nonterminals that the start symbol needs.
    needed: Vec<Nonterminal>,
    words: Vec<Vec<Set>>,
    /// For each needed nonterminal and production: the words of the symbols from a position on.
    rests: Vec<Vec<Vec<Vec<Set>>>>,
}

impl<'g> Table<'g> {
    fn new(grammar: &'g Grammar, start: Nonterminal) -> Self {
        let mut needed = vec![start];
        let mut seen = vec![false; grammar.len()];
        seen[start.index()] = true;
        let mut next = 0;
        while next < needed.len() {
            for symbol in grammar.rule(needed[next]).productions.iter().flatten() {
                if let Symbol::Nonterminal(nonterminal) = symbol
                    && !std::mem::replace(&mut seen[nonterminal.index()], true)
                {
                    needed.push(*nonterminal);
                }
            }
            next += 1;
        }
        let rests = |&left: &Nonterminal| {
            let productions = grammar.rule(left).productions.iter();
            productions.map(|production| vec![Vec::new(); production.len() + 1]).collect()
        };
        Table {
            grammar,
            classes: classes(grammar.byte_sets()),
            rests: needed.iter().map(rests).collect(),
            needed,
            words: vec![Vec::new(); grammar.len()],
        }
    }

    /// Adds the words of one more length: repeats until nothing is added, as rules may need each
    /// other at this length.
    fn extend(&mut self, sets: &mut Sets<'_>, length: usize) -> Result<(), Stop> {
        for &nonterminal in &self.needed {
            self.words[nonterminal.index()].push(NONE);
        }
        self.rests.iter_mut().flatten().flatten().for_each(|rest| rest.push(NONE));
        loop {
            let mut changed = false;
            for i in 0..self.needed.len() {
                changed |= self.extend_rule(sets, i, length)?;
            }
            if !changed {
                return Ok(());
            }
        }
    }

    fn extend_rule(&mut self, sets: &mut Sets<'_>, i: usize, length: usize) -> Result<bool, Stop> {
        let left = self.needed[i];
        let rule = self.grammar.rule(left);
        let mut all = self.words[left.index()][length];
        if length == 1 {
            let bytes = self.bytes(sets, rule.bytes)?;
            all = sets.union(all, bytes)?;
        }
        for (p, production) in rule.productions.iter().enumerate() {
            self.rests[i][p][production.len()][length] =
                if length == 0 { EMPTY_WORD } else { NONE };
            for dot in (0..production.len()).rev() {
                let words = self.rest(sets, production[dot], &self.rests[i][p][dot + 1], length)?;
                self.rests[i][p][dot][length] = words;
            }
            all = sets.union(all, self.rests[i][p][0][length])?;
        }
        let changed = all != self.words[left.index()][length];
        self.words[left.index()][length] = all;
        Ok(changed)
    }

    /// The words of a symbol followed by those of `after`, of this length in total.
    fn rest(
        &self,
        sets: &mut Sets<'_>,
        first: Symbol,
        after: &[Set],
        length: usize,
    ) -> Result<Set, Stop> {
        match first {
            Symbol::Bytes(_) if length == 0 => Ok(NONE),
            Symbol::Bytes(set) => {
                let bytes = self.bytes(sets, self.grammar.set(set))?;
                sets.concat(bytes, after[length - 1])
            }
            Symbol::Nonterminal(nonterminal) => {
                let mut all = NONE;
                for (first, words) in self.words[nonterminal.index()].iter().enumerate() {
                    sets.budget.work(1)?;
                    let words = sets.concat(*words, after[length - first])?;
                    all = sets.union(all, words)?;
                }
                Ok(all)
            }
        }
    }

    fn bytes(&self, sets: &mut Sets<'_>, bytes: crate::bytes::ByteSet) -> Result<Set, Stop> {
        let inside = |class: &&u8| bytes.contains(self.classes[**class as usize].representative);
        let all: Vec<u8> = (0..self.classes.len()).map(|class| class as u8).collect();
        sets.bytes(all.iter().filter(inside).copied())
    }
}
