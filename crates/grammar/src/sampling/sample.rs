//! `sample --size`: random expansion of bounded size, as fast as memory allows.
//!
//! A stack machine over flat tables. What is on the stack needs at least `committed` bytes in all;
//! an alternative may be taken if that stays within the size, so no expansion ever has to be taken
//! back.

use crate::automata::dfa::DfaError;
use crate::lexing::spell::Speller;
use crate::model::TerminalId;
use crate::model::analysis::{Combine, INFINITE, cheapest_productions};
use crate::model::core::{NtId, ProdId, Sym};
use crate::model::language::Language;
use crate::sampling::alias::alias_table;
use crate::sampling::below;
use crate::sampling::lexeme::Lexeme;
use crate::trees::tree::{Label, Node, Tree};
use fastrand::Rng;

const TERMINAL: u32 = 1 << 31;
/// Marks the end of a node when a tree is wanted.
const CLOSE: u32 = 1 << 30;

/// A terminal that is one byte, spelled in the symbol itself.
const BYTE: u32 = 1 << 30;

/// Expansions after which only cheapest alternatives are taken.
const FREE_STEPS: usize = 1_000;
const STEPS_PER_BYTE: usize = 64;
/// How far units are followed, and to how many alternatives.
const UNIT_DEPTH: u32 = 8;
const UNIT_WIDTH: usize = 64;
/// Slacks for which the choice is tabulated.
const LEVELS: u32 = 16;

pub struct Sampler<'l> {
    language: &'l Language,
    alternatives: Vec<Alternative>,
    /// Alternatives of each nonterminal, cheapest first.
    ranges: Vec<(u32, u32)>,
    /// The same before `skip_units`, for trees.
    plain: (Vec<Alternative>, Vec<(u32, u32)>),
    /// Least size of each nonterminal.
    least: Vec<u32>,
    /// A cheapest alternative of each nonterminal; taking these always ends.
    home: Vec<Alternative>,
    /// Right-hand sides, last symbol first.
    symbols: Vec<u32>,
    /// The same with terminals of one byte spelled out, where tokens need not be kept apart.
    quick: Vec<u32>,
    lexemes: Vec<Lexeme>,
    speller: Speller,
    stack: Vec<u32>,
    /// Walker's alias method: keep an alternative if a random number is below, else take the other.
    alias: Vec<(u32, u32)>,
    /// Where the alias table of a nonterminal begins for a small slack, and how many alternatives
    /// fit then.
    fitting: Vec<(u32, u32)>,
    /// How much slack each nonterminal needs for all its alternatives to fit.
    ample: Vec<u32>,
}

#[derive(Clone, Copy)]
struct Alternative {
    prod: ProdId,
    least: u32,
    /// Sum of the weights up to and including this one.
    weight: f64,
    from: u32,
    to: u32,
}

impl<'l> Sampler<'l> {
    pub fn new(language: &'l Language) -> Result<Sampler<'l>, DfaError> {
        let mut sampler = Sampler {
            language,
            alternatives: Vec::new(),
            ranges: Vec::new(),
            plain: Default::default(),
            least: language
                .analysis
                .min_len
                .iter()
                .map(|l| (*l).min(u64::from(CLOSE)) as u32)
                .collect(),
            home: Vec::new(),
            symbols: Vec::new(),
            quick: Vec::new(),
            lexemes: language.lexemes.iter().map(|_| Lexeme::Unmade).collect(),
            speller: Speller::new(&language.grammar)?,
            stack: Vec::new(),
            alias: Vec::new(),
            fitting: Vec::new(),
            ample: Vec::new(),
        };
        language.core.nt_ids().for_each(|nt| sampler.add(nt));
        sampler.plain = (sampler.alternatives.clone(), sampler.ranges.clone());
        sampler.skip_units();
        sampler.find_home();
        sampler.make_alias();
        sampler.spell_bytes();
        Ok(sampler)
    }

    fn spell_bytes(&mut self) {
        let apart = self.speller.keeps_apart();
        let spelled = |symbol: &u32| match self.language.lexemes.get((symbol & !TERMINAL) as usize)
        {
            Some(automaton) if !apart && symbol & TERMINAL != 0 => {
                automaton.single_byte().map_or(*symbol, |byte| TERMINAL | BYTE | u32::from(byte))
            }
            _ => *symbol,
        };
        self.quick = self.symbols.iter().map(spelled).collect();
    }

    fn add(&mut self, nt: NtId) {
        let first = self.alternatives.len();
        for p in self.language.core.prods_of(nt) {
            let least = self.least_size(p);
            let weight = self.language.core.prod(p).weight;
            if least >= INFINITE || weight <= 0.0 {
                continue;
            }
            let from = self.symbols.len() as u32;
            self.symbols.extend(self.language.core.rhs(p).iter().rev().map(encode));
            let to = self.symbols.len() as u32;
            self.alternatives.push(Alternative { prod: p, least: least as u32, weight, from, to });
        }
        accumulate(&mut self.alternatives[first..]);
        self.ranges.push((first as u32, self.alternatives.len() as u32));
    }

    /// Puts the alternatives of B in the place of `A ::= B`, with their share of its weight:
    /// without a bound on the size that draws the same strings equally often, in fewer steps.
    fn skip_units(&mut self) {
        let (alternatives, ranges) = &self.plain;
        let (mut all, mut new_ranges) = (Vec::new(), Vec::new());
        for nt in 0..ranges.len() as u32 {
            let first = all.len();
            let mut todo = vec![(nt, 1.0, 0)];
            while let Some((at, share, depth)) = todo.pop() {
                let (from, to) = ranges[at as usize];
                let mine = &alternatives[from as usize..to as usize];
                let total = mine.last().map_or(1.0, |a| a.weight);
                let mut before = 0.0;
                for alternative in mine {
                    let weight = share * (alternative.weight - before) / total;
                    before = alternative.weight;
                    match self.symbols[alternative.from as usize..alternative.to as usize] {
                        [unit]
                            if unit & TERMINAL == 0
                                && depth < UNIT_DEPTH
                                && all.len() - first < UNIT_WIDTH =>
                        {
                            todo.push((unit, weight, depth + 1));
                        }
                        _ => all.push(Alternative { weight, ..*alternative }),
                    }
                }
            }
            accumulate(&mut all[first..]);
            new_ranges.push((first as u32, all.len() as u32));
        }
        (self.alternatives, self.ranges) = (all, new_ranges);
    }

    fn make_alias(&mut self) {
        for (nt, &(from, to)) in self.ranges.iter().enumerate() {
            let mine = &self.alternatives[from as usize..to as usize];
            let least = self.least[nt];
            self.ample.push(mine.last().map_or(0, |a| a.least.saturating_sub(least)));
            let mut last = (0, u32::MAX);
            for slack in 0..LEVELS {
                let fit = mine.partition_point(|a| a.least <= least + slack);
                let fit = if slack == LEVELS - 1 { mine.len() } else { fit } as u32;
                if fit != last.1 {
                    last = (self.alias.len() as u32, fit);
                    self.alias.extend(alias_table(mine[..fit as usize].iter().map(|a| a.weight)));
                }
                self.fitting.push(last);
            }
        }
    }

    fn find_home(&mut self) {
        let cost: Vec<u64> =
            self.language.lexemes.iter().map(|a| a.min_len().map_or(INFINITE, u64::from)).collect();
        let best = cheapest_productions(&self.language.core.productions, &cost, Combine::Sum);
        let none = Alternative { prod: ProdId(0), least: 0, weight: 0.0, from: 0, to: 0 };
        let of = |p: ProdId| {
            let core = &self.language.core;
            let mut symbols: Vec<u32> = core.rhs(p).iter().rev().map(encode).collect();
            let from = self.symbols.len() as u32;
            let to = from + symbols.len() as u32;
            self.symbols.append(&mut symbols);
            Alternative { prod: p, least: self.least[core.lhs(p).index()], weight: 0.0, from, to }
        };
        self.home = best
            .into_iter()
            .map(|(_, p)| p)
            .map({
                let mut of = of;
                move |p| p.map_or(none, &mut of)
            })
            .collect();
    }

    fn least_size(&self, p: ProdId) -> u64 {
        let of = |s: &Sym| match s.as_terminal() {
            Some(t) => self.language.lexemes[t.index()].min_len().map_or(INFINITE, u64::from),
            None => {
                self.language.analysis.min_len[s.as_nonterminal().expect("not a terminal").index()]
            }
        };
        self.language.core.rhs(p).iter().map(of).fold(0, |a, b| (a + b).min(INFINITE))
    }

    /// Appends a sentence whose lexemes have at most `size` bytes in all, or as few as possible.
    pub fn sample(&mut self, rng: &mut Rng, size: usize, out: &mut Vec<u8>) {
        let start = self.language.core.start;
        self.expand::<false>(start, rng, size, out, &mut Vec::new());
    }

    /// As `sample`, with the tree; its text is the lexemes one after the other.
    pub fn tree(&mut self, nt: NtId, rng: &mut Rng, size: usize) -> Tree {
        let mut tree = Tree::default();
        let mut text = Vec::new();
        self.expand::<true>(nt, rng, size, &mut text, &mut tree.nodes);
        tree.text = text;
        tree.set_spans();
        tree
    }

    #[inline]
    fn expand<const TREE: bool>(
        &mut self,
        nt: NtId,
        rng: &mut Rng,
        size: usize,
        out: &mut Vec<u8>,
        nodes: &mut Vec<Node>,
    ) {
        let least = self.least[nt.index()];
        let mut slack = (size.min(CLOSE as usize) as u32).saturating_sub(least);
        // Rules that cost nothing could go on for ever.
        let (mut steps, limit) = (0usize, FREE_STEPS + STEPS_PER_BYTE * size.min(CLOSE as usize));
        let spell = self.speller.keeps_apart() && !TREE;
        let simple = self.speller.is_simple();
        let mut last: Option<TerminalId> = None;
        let (mut lexeme, mut text) = (Vec::new(), Vec::new());
        self.speller.begin();
        self.stack.clear();
        self.stack.push(nt.0);
        while let Some(symbol) = self.stack.pop() {
            if symbol & TERMINAL == 0 {
                if TREE && symbol & CLOSE != 0 {
                    close(nodes, symbol & !CLOSE);
                    continue;
                }
                steps += 1;
                let chosen = *if steps > limit {
                    &self.home[symbol as usize]
                } else if TREE {
                    self.choose(symbol, slack, rng, true)
                } else {
                    self.choose_text(symbol, slack, rng)
                };
                slack -= chosen.least - self.least[symbol as usize];
                if TREE {
                    self.stack.push(nodes.len() as u32 | CLOSE);
                    nodes.push(Node { label: Label::Prod(chosen.prod), size: 1, start: 0, end: 0 });
                }
                let symbols = if TREE { &self.symbols } else { &self.quick };
                for &symbol in &symbols[chosen.from as usize..chosen.to as usize] {
                    self.stack.push(symbol);
                }
                continue;
            }
            if !TREE && symbol & BYTE != 0 {
                out.push(symbol as u8);
                continue;
            }
            let terminal = TerminalId(symbol & !TERMINAL);
            if spell && simple {
                if let Some(last) = last.replace(terminal)
                    && let Some(between) =
                        self.speller.between(last, terminal, &self.language.lexemes)
                {
                    out.extend_from_slice(between);
                }
                slack -= self.lexemes[terminal.index()].draw(
                    &self.language.lexemes[terminal.index()],
                    rng,
                    slack,
                    out,
                );
            } else if spell {
                lexeme.clear();
                slack -= self.lexemes[terminal.index()].draw(
                    &self.language.lexemes[terminal.index()],
                    rng,
                    slack,
                    &mut lexeme,
                );
                self.speller.write(&mut text, terminal, &lexeme);
            } else {
                let start = out.len() as u32;
                slack -= self.lexemes[terminal.index()].draw(
                    &self.language.lexemes[terminal.index()],
                    rng,
                    slack,
                    out,
                );
                if TREE {
                    let label = Label::Token(terminal);
                    nodes.push(Node { label, size: 1, start, end: out.len() as u32 });
                }
            }
        }
        out.append(&mut text);
    }

    #[inline]
    fn choose_text(&self, nt: u32, slack: u32, rng: &mut Rng) -> &Alternative {
        // The last level is for everything that fits all alternatives.
        let ample = slack >= self.ample[nt as usize];
        if !ample && slack >= LEVELS - 1 {
            return self.choose(nt, slack, rng, false);
        }
        let level = if ample { LEVELS - 1 } else { slack };
        let (table, fit) = self.fitting[(nt * LEVELS + level) as usize];
        let from = self.ranges[nt as usize].0;
        if fit == 1 {
            return &self.alternatives[from as usize];
        }
        let random = rng.u64(..);
        let pick = below(random, fit);
        let (threshold, other) = self.alias[(table + pick) as usize];
        let index = if random as u32 <= threshold { pick } else { other };
        &self.alternatives[(from + index) as usize]
    }

    fn choose(&self, nt: u32, slack: u32, rng: &mut Rng, for_tree: bool) -> &Alternative {
        let (alternatives, ranges) = if for_tree {
            (&self.plain.0, &self.plain.1)
        } else {
            (&self.alternatives, &self.ranges)
        };
        let (from, to) = ranges[nt as usize];
        let all = &alternatives[from as usize..to as usize];
        let limit = self.least[nt as usize] + slack;
        let mut fit = all.len();
        while fit > 1 && all[fit - 1].least > limit {
            fit -= 1;
        }
        if fit == 1 {
            return &all[0];
        }
        let total = all[fit - 1].weight;
        if total == fit as f64 {
            return &all[below(rng.u64(..), fit as u32) as usize];
        }
        let mark = rng.f64() * total;
        let index = all[..fit].iter().position(|a| mark < a.weight).unwrap_or(fit - 1);
        &all[index]
    }

    /// Draws a lexeme of a terminal, with at most `extra` bytes more than the shortest.
    pub fn lexeme(&mut self, terminal: TerminalId, rng: &mut Rng, extra: u32, out: &mut Vec<u8>) {
        self.lexemes[terminal.index()].draw(
            &self.language.lexemes[terminal.index()],
            rng,
            extra,
            out,
        );
    }

    pub fn speller(&mut self) -> &mut Speller {
        &mut self.speller
    }
}

/// Cheapest first, and weights summed up.
fn accumulate(alternatives: &mut [Alternative]) {
    alternatives.sort_by_key(|a| a.least);
    let mut sum = 0.0;
    for alternative in alternatives {
        sum += alternative.weight;
        alternative.weight = sum;
    }
}

fn encode(sym: &Sym) -> u32 {
    match sym.as_terminal() {
        Some(t) => t.0 | TERMINAL,
        None => sym.as_nonterminal().expect("not a terminal").0,
    }
}

fn close(nodes: &mut [Node], node: u32) {
    nodes[node as usize].size = nodes.len() as u32 - node;
}
