//! A search for a string that has several derivations.

use crate::automata::automaton::Automaton;
use crate::counting::count::{Count, LengthTable, Unit};
use crate::lexing::spell::Speller;
use crate::model::bytes::ByteCore;
use crate::model::core::Core;
use crate::model::language::Language;
use crate::model::{RuleId, TerminalId};
pub use crate::parse::derivations::count_trees;
use crate::parse::derivations::some_trees;
use crate::trees::tree::{Label, Node, Tree};
use context_free::earley::recognize::{Config, Recognizer};
use num_bigint::BigUint;
use rustc_hash::FxHashMap;

/// A string with several derivations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Witness {
    pub length: usize,
    /// How many derivations and how many distinct strings there are of that length.
    pub derivations: Count,
    pub strings: Count,
    /// None if the search for one took too long.
    pub example: Option<Example>,
}

/// A sentence with several trees.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Example {
    pub sentence: Vec<u8>,
    pub count: Count,
    /// Two of them, unless there is no end of them.
    pub trees: Vec<Tree>,
    /// Where the two differ first.
    pub rule: Option<RuleId>,
}

/// A configuration may have an item for every place in the grammar; no more items than this are
/// made.
const ITEMS: usize = 50_000_000;
/// Strings of the length that has ambiguous ones that are looked at, evenly spread over all.
const EXAMPLES: u32 = 5_000;
/// Grammars with more symbols are not searched: their tables alone would take minutes.
const LARGEST: usize = 100_000;

/// Looks for ambiguity among the strings of up to `max` tokens (bytes, if there is no lexer):
/// there, a length with more derivations than strings proves it. Stops when more than `states`
/// configurations are needed.
pub fn search(language: &Language, max: usize, states: usize) -> (Option<Witness>, usize) {
    if size(language) > LARGEST {
        return (None, 0);
    }
    let bytes = language.is_scannerless().then(|| ByteCore::new(&language.core, &language.lexemes));
    let core = bytes.as_ref().map_or(&language.core, |b| &b.core);
    let weight = |t: usize| match &bytes {
        Some(b) => b.classes[t].len(),
        None => usize::from(!language.lexemes[t].is_empty()),
    };
    let weights: Vec<usize> = (0..core.terminals()).map(weight).collect();
    let states = states.min(ITEMS / (core.size() + 1)).max(1);
    let mut strings = Strings {
        recognizer: core.recognizer(),
        weights: &weights,
        known: FxHashMap::default(),
        states,
    };
    for length in 0..=max {
        let Some(distinct) = strings.count(length) else { return (None, length.saturating_sub(1)) };
        let derivations = match &bytes {
            Some(_) => derivations(core, &weights, length),
            None => LengthTable::new(language, length, Unit::Tokens).nt[core.start.index()][length]
                .clone(),
        };
        if derivations != distinct {
            let example = strings.example(language, bytes.as_ref(), length, &distinct);
            return (Some(Witness { length, derivations, strings: distinct, example }), length);
        }
    }
    (None, max)
}

/// About as many symbols as the grammar that is searched will have.
fn size(language: &Language) -> usize {
    let edges = |a: &Automaton| a.edges.all().len();
    let lexemes =
        if language.is_scannerless() { language.lexemes.iter().map(edges).sum() } else { 0 };
    language.core.size() + 2 * lexemes
}

fn derivations(core: &Core, weights: &[usize], length: usize) -> Count {
    let row = |w: &usize| {
        (0..=length)
            .map(|n| if n == 1 { Count::Finite((*w).into()) } else { Count::zero() })
            .collect()
    };
    let table = LengthTable::with_terminals(core, weights.iter().map(row).collect(), length);
    table.nt[core.start.index()][length].clone()
}

struct Strings<'w> {
    recognizer: Recognizer,
    weights: &'w [usize],
    known: FxHashMap<(Config, usize), Count>,
    states: usize,
}

impl Strings<'_> {
    /// Distinct strings of a length, or nothing if there are too many configurations.
    fn count(&mut self, length: usize) -> Option<Count> {
        let root = (self.recognizer.begin(), length);
        let mut todo = vec![root];
        while let Some(&(config, n)) = todo.last() {
            if self.known.contains_key(&(config, n)) {
                todo.pop();
                continue;
            }
            if self.known.len() > self.states || self.recognizer.configs() > self.states {
                return None;
            }
            if n == 0 {
                let one =
                    if self.recognizer.accepts(config) { Count::one() } else { Count::zero() };
                self.known.insert((config, n), one);
                continue;
            }
            let steps = self.steps(config, n);
            let before = todo.len();
            todo.extend(steps.iter().map(|(_, to)| *to).filter(|to| !self.known.contains_key(to)));
            if todo.len() == before {
                let mut sum = Count::zero();
                for (t, to) in steps {
                    let weight = Count::Finite(self.weights[t.index()].into());
                    sum.add(&weight.times(&self.known[&to]));
                }
                self.known.insert((config, n), sum);
            }
        }
        self.known.get(&root).cloned()
    }

    fn steps(&mut self, config: Config, n: usize) -> Vec<(TerminalId, (Config, usize))> {
        let mut steps = Vec::new();
        for t in self.recognizer.expected(config) {
            if self.weights[t.index()] > 0
                && let Some(to) = self.recognizer.advance(config, t)
            {
                steps.push((t, (to, n - 1)));
            }
        }
        steps
    }

    /// A sentence of the length that has several trees.
    fn example(
        &mut self,
        language: &Language,
        bytes: Option<&ByteCore>,
        length: usize,
        strings: &Count,
    ) -> Option<Example> {
        let all = strings.finite()?;
        let mut writer = Writer::new(language, bytes)?;
        let looked_at = all.min(&EXAMPLES.into()).clone();
        let mut i = BigUint::ZERO;
        while i < looked_at {
            let rank = &i * all / &looked_at;
            let sentence = writer.write(&self.unrank(length, rank)?);
            if let Ok(Ok((count, trees))) =
                some_trees(&language.grammar, &language.core, &sentence, 2)
                && count != Count::one()
            {
                let cyclic =
                    || language.core.nt_ids().find(|nt| language.analysis.cyclic[nt.index()]);
                let endless = |nt| language.core.nt(nt).rule.filter(|_| count == Count::Infinite);
                let rule =
                    difference(&language.core, &trees).or_else(|| cyclic().and_then(endless));
                return Some(Example { sentence, count, trees, rule });
            }
            i += 1u32;
        }
        None
    }

    /// The string of a rank among those of a length, as terminals and which of their bytes.
    fn unrank(&mut self, length: usize, mut rank: BigUint) -> Option<Vec<(TerminalId, usize)>> {
        let mut config = self.recognizer.begin();
        let mut found = Vec::new();
        for n in (1..=length).rev() {
            let mut steps = self.steps(config, n).into_iter();
            loop {
                let (t, to) = steps.next()?;
                let each = self.known.get(&to)?.finite()?.clone();
                let all = &each * self.weights[t.index()];
                if rank < all {
                    found.push((t, usize::try_from(&rank / &each).ok()?));
                    (rank, config) = (rank % each, to.0);
                    break;
                }
                rank -= all;
            }
        }
        Some(found)
    }
}

/// Writes strings of terminals of the core that is searched.
enum Writer<'l> {
    Bytes(&'l ByteCore),
    Tokens(Box<Speller>, Vec<Vec<u8>>),
}

impl<'l> Writer<'l> {
    fn new(language: &Language, bytes: Option<&'l ByteCore>) -> Option<Writer<'l>> {
        if let Some(bytes) = bytes {
            return Some(Writer::Bytes(bytes));
        }
        let shortest = language.lexemes.iter().map(|a| a.shortest().unwrap_or_default()).collect();
        Some(Writer::Tokens(Box::new(Speller::new(&language.grammar).ok()?), shortest))
    }

    fn write(&mut self, string: &[(TerminalId, usize)]) -> Vec<u8> {
        match self {
            Writer::Bytes(bytes) => {
                string.iter().map(|(t, i)| bytes.classes[t.index()][*i]).collect()
            }
            Writer::Tokens(speller, shortest) => {
                speller.spell(string.iter().map(|(t, _)| (*t, &shortest[t.index()][..])))
            }
        }
    }
}

/// The rule around the first place at which two trees differ.
fn difference(core: &Core, trees: &[Tree]) -> Option<RuleId> {
    let [a, b] = trees else { return None };
    let at = a.nodes.iter().zip(&b.nodes).position(|(a, b)| a != b)?;
    let rule = |node: &Node| match node.label {
        Label::Prod(p) => core.nt(core.lhs(p)).rule,
        Label::Token(_) => None,
    };
    // The same production with other spans or sizes differs further inside, unless its children
    // begin elsewhere.
    let same = |i: &usize| a.nodes[*i].label == b.nodes[*i].label;
    let inside = (at..a.nodes.len().min(b.nodes.len()))
        .find(|i| !same(i) || a.nodes[*i].end != b.nodes[*i].end);
    let at = inside.unwrap_or(at);
    let around = |i: &usize| i + a.nodes[*i].size as usize > at && (*i < at || !same(i));
    (0..=at).rev().filter(around).find_map(|i| rule(&a.nodes[i]))
}
