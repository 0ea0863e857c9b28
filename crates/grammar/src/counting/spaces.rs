//! The spaces that `enumerate` offers: derivations by length, derivations by height, distinct
//! strings.

use crate::automata::automaton::Automaton;
use crate::counting::count::{Count, HeightTable, LengthTable, Unit};
use crate::counting::space::{NodeId, Space};
use crate::model::TerminalId;
use crate::model::bytes::ByteCore;
use crate::model::core::{NtId, ProdId, Sym};
use crate::model::language::Language;
use context_free::earley::recognize::{Config, Recognizer};
use num_bigint::BigUint;
use rustc_hash::FxHashMap;

#[derive(Debug, Clone, thiserror::Error, PartialEq, Eq)]
pub enum SpaceError {
    #[error(
        "there are infinitely many derivations of {0}; distinct strings can be enumerated instead"
    )]
    InfinitelyMany(String),
    #[error("terminal `{0}` has infinitely many lexemes; give a longest lexeme")]
    InfiniteTerminal(String),
    #[error("more than {0} states are needed to tell the strings apart")]
    TooManyStates(usize),
    #[error("there are strings of more than {0} bytes, too long to tell all of them apart")]
    TooLong(u64),
}

/// Lexemes of the terminals, as nodes.
struct Lexemes<'l> {
    language: &'l Language,
    nodes: FxHashMap<(TerminalId, u32, usize), Option<NodeId>>,
    tokens: FxHashMap<(TerminalId, usize), NodeId>,
    marked: bool,
}

impl<'l> Lexemes<'l> {
    fn new(language: &'l Language) -> Lexemes<'l> {
        let marked = !language.is_scannerless();
        Lexemes { language, nodes: FxHashMap::default(), tokens: FxHashMap::default(), marked }
    }

    /// The lexemes of exactly `len` bytes. Recursion is as deep as the lexeme is long, so it is
    /// unrolled by length: shorter rests first.
    fn exactly(&mut self, space: &mut Space, t: TerminalId, len: usize) -> Option<NodeId> {
        if let Some(&node) = self.tokens.get(&(t, len)) {
            return Some(node);
        }
        let automaton = &self.language.lexemes[t.index()];
        let needed = reachable_by_length(automaton, len);
        for rest in 1..=len {
            for &state in &needed[len - rest] {
                self.rest(space, t, state, rest);
            }
        }
        let lexeme = self.nodes.get(&(t, 0, len)).copied().flatten()?;
        let node = if self.marked { self.with_mark(space, t, lexeme) } else { lexeme };
        self.tokens.insert((t, len), node);
        Some(node)
    }

    fn with_mark(&self, space: &mut Space, t: TerminalId, lexeme: NodeId) -> NodeId {
        let node = space.reserve();
        let mark = space.mark(t);
        space.set_options(node, &[vec![mark, lexeme]]);
        node
    }

    fn rest(&mut self, space: &mut Space, t: TerminalId, state: u32, len: usize) {
        if self.nodes.contains_key(&(t, state, len)) {
            return;
        }
        let automaton = &self.language.lexemes[t.index()];
        let mut options = Vec::new();
        for edge in &automaton.edges[state as usize] {
            if len == 1 && automaton.accepts[edge.to as usize] {
                options.push(vec![space.bytes(&edge.bytes)]);
            } else if len > 1
                && let Some(Some(rest)) = self.nodes.get(&(t, edge.to, len - 1)).copied()
            {
                options.push(vec![space.bytes(&edge.bytes), rest]);
            }
        }
        let node = match &options[..] {
            [] => None,
            [only] if only.len() == 1 => Some(only[0]),
            _ => {
                let node = space.reserve();
                space.set_options(node, &options);
                Some(node)
            }
        };
        self.nodes.insert((t, state, len), node);
    }
}

/// States that can be reached in exactly 0, 1, … `len` steps.
fn reachable_by_length(automaton: &Automaton, len: usize) -> Vec<Vec<u32>> {
    let mut levels = vec![vec![0u32]];
    for _ in 0..len {
        let last = levels.last().expect("never empty");
        let mut next: Vec<u32> =
            last.iter().flat_map(|s| automaton.edges[*s as usize].iter().map(|e| e.to)).collect();
        next.sort_unstable();
        next.dedup();
        levels.push(next);
    }
    levels
}

/// All derivations of length 0 to `max`, shortest first.
pub fn by_length(language: &Language, max: usize) -> Result<Space, SpaceError> {
    let table = LengthTable::new(language, max, Unit::Bytes);
    let mut builder = ByLength {
        language,
        table: &table,
        space: Space::default(),
        lexemes: Lexemes::new(language),
        nts: FxHashMap::default(),
        suffixes: FxHashMap::default(),
        todo: Vec::new(),
    };
    let start = language.core.start;
    for n in 0..=max {
        match &table.nt[start.index()][n] {
            Count::Infinite => return Err(SpaceError::InfinitelyMany(format!("length {n}"))),
            count if count.is_zero() => continue,
            _ => {}
        }
        let root = builder.nt(start, n);
        builder.drain();
        builder.space.finish(root);
        builder.space.push_root(root, n);
    }
    Ok(builder.space)
}

struct ByLength<'l> {
    language: &'l Language,
    table: &'l LengthTable,
    space: Space,
    lexemes: Lexemes<'l>,
    nts: FxHashMap<(NtId, usize), NodeId>,
    suffixes: FxHashMap<(ProdId, usize, usize), NodeId>,
    todo: Vec<Open>,
}

enum Open {
    Nt(NtId, usize, NodeId),
    Suffix(ProdId, usize, usize, NodeId),
}

impl ByLength<'_> {
    fn drain(&mut self) {
        while let Some(open) = self.todo.pop() {
            match open {
                Open::Nt(nt, n, node) => self.fill_nt(nt, n, node),
                Open::Suffix(p, i, n, node) => self.fill_suffix(p, i, n, node),
            }
        }
    }

    fn nt(&mut self, nt: NtId, n: usize) -> NodeId {
        if let Some(&node) = self.nts.get(&(nt, n)) {
            return node;
        }
        let node = self.space.reserve();
        self.nts.insert((nt, n), node);
        self.todo.push(Open::Nt(nt, n, node));
        node
    }

    fn fill_nt(&mut self, nt: NtId, n: usize, node: NodeId) {
        let mut options = Vec::new();
        for p in self.language.core.prods_of(nt) {
            let first = self.table.first[p.index()];
            if !self.table.suffix[first][n].is_zero() {
                options.push(self.sequence(p, 0, n));
            }
        }
        self.space.set_options(node, &options);
    }

    /// The symbols of `p` from `i` on, in `n` bytes.
    fn sequence(&mut self, p: ProdId, i: usize, n: usize) -> Vec<NodeId> {
        let rhs = self.language.core.rhs(p);
        match rhs.len() - i {
            0 => Vec::new(),
            1 => vec![self.symbol(rhs[i], n)],
            _ => vec![self.suffix(p, i, n)],
        }
    }

    fn symbol(&mut self, sym: Sym, n: usize) -> NodeId {
        match sym.as_terminal() {
            Some(t) => self.lexemes.exactly(&mut self.space, t, n).expect("counted lexemes exist"),
            None => self.nt(sym.as_nonterminal().expect("not a terminal"), n),
        }
    }

    fn suffix(&mut self, p: ProdId, i: usize, n: usize) -> NodeId {
        if let Some(&node) = self.suffixes.get(&(p, i, n)) {
            return node;
        }
        let node = self.space.reserve();
        self.suffixes.insert((p, i, n), node);
        self.todo.push(Open::Suffix(p, i, n, node));
        node
    }

    fn fill_suffix(&mut self, p: ProdId, i: usize, n: usize, node: NodeId) {
        let sym = self.language.core.rhs(p)[i];
        let next = self.table.first[p.index()] + i + 1;
        let mut options = Vec::new();
        for m in 0..=n {
            if self.table.symbol(sym, m).is_zero() || self.table.suffix[next][n - m].is_zero() {
                continue;
            }
            let mut option = vec![self.symbol(sym, m)];
            option.extend(self.sequence(p, i + 1, n - m));
            options.push(option);
        }
        self.space.set_options(node, &options);
    }
}

/// All derivations of height 1 to `max`, lowest first. Terminals with infinitely many lexemes have
/// those of up to `max_lexeme` bytes.
pub fn by_height(
    language: &Language,
    max: usize,
    max_lexeme: Option<usize>,
) -> Result<Space, SpaceError> {
    let table = HeightTable::new(language, max, max_lexeme);
    for (t, count) in table.terminal.iter().enumerate() {
        if *count == Count::Infinite {
            return Err(SpaceError::InfiniteTerminal(language.grammar.terminals[t].name.clone()));
        }
    }
    let mut builder = ByHeight {
        language,
        table: &table,
        max_lexeme,
        space: Space::default(),
        lexemes: Lexemes::new(language),
        nodes: FxHashMap::default(),
        terminals: FxHashMap::default(),
        todo: Vec::new(),
    };
    for h in 1..=max {
        if table.exactly(language.core.start, h).is_zero() {
            continue;
        }
        let root = builder.nt(language.core.start, h, true);
        while let Some((nt, h, exact, node)) = builder.todo.pop() {
            builder.fill(nt, h, exact, node);
        }
        builder.space.finish(root);
        builder.space.push_root(root, h);
    }
    Ok(builder.space)
}

struct ByHeight<'l> {
    language: &'l Language,
    table: &'l HeightTable,
    max_lexeme: Option<usize>,
    space: Space,
    lexemes: Lexemes<'l>,
    nodes: FxHashMap<(NtId, usize, bool), NodeId>,
    terminals: FxHashMap<TerminalId, NodeId>,
    todo: Vec<(NtId, usize, bool, NodeId)>,
}

impl ByHeight<'_> {
    /// Derivations of height exactly `h`, or at most `h`.
    fn nt(&mut self, nt: NtId, h: usize, exact: bool) -> NodeId {
        if let Some(&node) = self.nodes.get(&(nt, h, exact)) {
            return node;
        }
        let node = self.space.reserve();
        self.nodes.insert((nt, h, exact), node);
        self.todo.push((nt, h, exact, node));
        node
    }

    fn terminal(&mut self, t: TerminalId) -> NodeId {
        if let Some(&node) = self.terminals.get(&t) {
            return node;
        }
        let longest = self.language.lexemes[t.index()].max_len().map(|l| l as usize);
        let max = longest.or(self.max_lexeme).unwrap_or(0);
        let lexemes = (1..=max).filter_map(|n| self.lexemes.exactly(&mut self.space, t, n));
        let options: Vec<Vec<NodeId>> = lexemes.map(|l| vec![l]).collect();
        let node = self.space.reserve();
        self.space.set_options(node, &options);
        self.terminals.insert(t, node);
        node
    }

    fn fill(&mut self, nt: NtId, h: usize, exact: bool, node: NodeId) {
        let mut options = Vec::new();
        for p in self.language.core.prods_of(nt) {
            let rhs = self.language.core.rhs(p).to_vec();
            if !exact {
                options.extend(self.at_most(&rhs, h - 1));
            } else if h == 1 {
                options.extend(self.at_most(&rhs, 0));
            } else {
                // The first child that is as high as possible: lower ones before, any after it.
                (0..rhs.len()).for_each(|i| options.extend(self.highest_at(&rhs, i, h - 1)));
            }
        }
        self.space.set_options(node, &options);
    }

    fn at_most(&mut self, rhs: &[Sym], h: usize) -> Option<Vec<NodeId>> {
        if rhs.iter().any(|s| self.table.symbol(*s, h).is_zero()) {
            return None;
        }
        Some(rhs.iter().map(|s| self.symbol(*s, h)).collect())
    }

    fn symbol(&mut self, sym: Sym, h: usize) -> NodeId {
        match sym.as_terminal() {
            Some(t) => self.terminal(t),
            None => self.nt(sym.as_nonterminal().expect("not a terminal"), h, false),
        }
    }

    fn highest_at(&mut self, rhs: &[Sym], i: usize, h: usize) -> Option<Vec<NodeId>> {
        let nt = rhs[i].as_nonterminal()?;
        if self.table.exactly(nt, h).is_zero() {
            return None;
        }
        let mut nodes = self.at_most(&rhs[..i], h - 1)?;
        let after = self.at_most(&rhs[i + 1..], h)?;
        nodes.push(self.nt(nt, h, true));
        nodes.extend(after);
        Some(nodes)
    }
}

/// Configurations that may be explored to tell strings apart.
const STATE_LIMIT: usize = 20_000_000;

/// All distinct strings of length 0 to `max`, shortest first, then in order of bytes (of terminals,
/// if the grammar has a lexer). Exact for every grammar: the recogniser's configurations form a
/// deterministic automaton whose paths are the strings, ambiguous or not.
pub fn distinct(language: &Language, max: usize) -> Result<Space, SpaceError> {
    let bytes = language.is_scannerless().then(|| ByteCore::new(&language.core, &language.lexemes));
    let recognizer = bytes.as_ref().map_or(&language.core, |b| &b.core).recognizer();
    let mut builder = Distinct {
        bytes: bytes.as_ref(),
        recognizer,
        lexemes: Lexemes::new(language),
        lengths: language.lexemes.iter().map(|a| lengths(a, max)).collect(),
        space: Space::default(),
        nodes: FxHashMap::default(),
    };
    for n in 0..=max {
        if let Some(root) = builder.build(n)? {
            builder.space.finish(root);
            builder.space.push_root(root, n);
        }
    }
    Ok(builder.space)
}

/// Number of distinct strings of each length from 0 to `max`.
pub fn count_distinct(language: &Language, max: usize) -> Result<Vec<Count>, SpaceError> {
    let mut counts = vec![Count::zero(); max + 1];
    let space = distinct(language, max)?;
    for (root, n) in space.roots.iter().zip(&space.sizes) {
        counts[*n] = Count::Finite(space.count(*root).clone());
    }
    Ok(counts)
}

/// Lengths of lexemes, up to `max`.
fn lengths(automaton: &Automaton, max: usize) -> Vec<usize> {
    let counts = crate::counting::count::lexeme_counts(automaton, max);
    (1..=max).filter(|n| counts[*n] != BigUint::ZERO).collect()
}

struct Distinct<'l> {
    bytes: Option<&'l ByteCore>,
    recognizer: Recognizer,
    lexemes: Lexemes<'l>,
    lengths: Vec<Vec<usize>>,
    space: Space,
    /// What can follow a configuration in exactly n bytes; `None`: nothing.
    nodes: FxHashMap<(Config, usize), Option<NodeId>>,
}

impl Distinct<'_> {
    fn build(&mut self, n: usize) -> Result<Option<NodeId>, SpaceError> {
        let root = (self.recognizer.begin(), n);
        let mut todo = vec![root];
        while let Some(&(config, n)) = todo.last() {
            if self.nodes.contains_key(&(config, n)) {
                todo.pop();
                continue;
            }
            if self.nodes.len() > STATE_LIMIT {
                return Err(SpaceError::TooManyStates(STATE_LIMIT));
            }
            let steps = self.steps(config, n);
            let before = todo.len();
            let missing =
                steps.iter().map(|(_, _, to)| *to).filter(|to| !self.nodes.contains_key(to));
            todo.extend(missing);
            if todo.len() == before {
                let node = self.node(config, n, &steps);
                self.nodes.insert((config, n), node);
                todo.pop();
            }
        }
        Ok(self.nodes[&root])
    }

    /// (terminal, bytes of its lexeme, what remains)
    fn steps(&mut self, config: Config, n: usize) -> Vec<(TerminalId, usize, (Config, usize))> {
        let mut steps = Vec::new();
        for t in self.recognizer.expected(config) {
            let lengths: &[usize] =
                if self.bytes.is_some() { &[1] } else { &self.lengths[t.index()] };
            let fitting: Vec<usize> = lengths.iter().copied().filter(|l| *l <= n).collect();
            if fitting.is_empty() {
                continue;
            }
            if let Some(to) = self.recognizer.advance(config, t) {
                steps.extend(fitting.iter().map(|l| (t, *l, (to, n - l))));
            }
        }
        steps
    }

    fn node(
        &mut self,
        config: Config,
        n: usize,
        steps: &[(TerminalId, usize, (Config, usize))],
    ) -> Option<NodeId> {
        let mut options = Vec::new();
        if n == 0 && self.recognizer.accepts(config) {
            options.push(Vec::new());
        }
        for &(t, len, to) in steps {
            let Some(rest) = self.nodes[&to] else { continue };
            let head = match self.bytes {
                Some(bytes) => self.space.bytes(&bytes.classes[t.index()]),
                None => self.lexemes.exactly(&mut self.space, t, len)?,
            };
            options.push(if to.1 == 0 { vec![head] } else { vec![head, rest] });
        }
        if options.is_empty() {
            return None;
        }
        let node = self.space.reserve();
        self.space.set_options(node, &options);
        Some(node)
    }
}
