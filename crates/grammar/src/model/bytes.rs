//! A scannerless grammar as a core over classes of bytes.
//!
//! A terminal's automaton becomes left-linear productions: `P(q)` are the strings that lead from
//! the start to state q, `P(q) ::= P(p) E` for an edge from p to q, `E` one of the edge's byte
//! classes. Left-linear, so that the recogniser's configurations stay the same however long a
//! lexeme is; deterministic, so that each lexeme has exactly one derivation.

use crate::automata::automaton::Automaton;
use crate::model::TerminalId;
use crate::model::core::{Core, NtId, RawNt, RawProd, Sym};
use rustc_hash::FxHashMap;

pub struct ByteCore {
    /// Its terminals are classes of bytes.
    pub core: Core,
    pub class_of: [u32; 256],
    pub classes: Vec<Vec<u8>>,
    /// For nonterminals that came from a terminal: which one.
    pub terminal: Vec<Option<TerminalId>>,
    /// For each class the terminals that are just that class.
    pub direct: Vec<Vec<TerminalId>>,
}

impl ByteCore {
    pub fn new(core: &Core, lexemes: &[Automaton]) -> ByteCore {
        let (class_of, classes) = partition(lexemes);
        let raw = core.to_raw();
        let terminal = vec![None; raw.len()];
        let mut builder =
            Builder { nts: raw, terminal, class_of: &class_of, edges: FxHashMap::default() };
        let roots: Vec<Sym> =
            lexemes.iter().enumerate().map(|(t, a)| builder.terminal(t, a)).collect();
        let mut direct = vec![Vec::new(); classes.len()];
        for (t, root) in roots.iter().enumerate() {
            if let Some(class) = root.as_terminal() {
                direct[class.index()].push(TerminalId::from(t));
            }
        }
        for nt in &mut builder.nts[..core.nts.len()] {
            for sym in nt.prods.iter_mut().flat_map(|p| &mut p.rhs) {
                if let Some(t) = sym.as_terminal() {
                    *sym = roots[t.index()];
                }
            }
        }
        let terminal = std::mem::take(&mut builder.terminal);
        let core = Core::from_raw(builder.nts, core.start, classes.len());
        ByteCore { core, class_of, classes, terminal, direct }
    }

    pub fn class(&self, byte: u8) -> TerminalId {
        TerminalId(self.class_of[byte as usize])
    }
}

/// The coarsest partition of bytes that tells all edges apart.
fn partition(lexemes: &[Automaton]) -> ([u32; 256], Vec<Vec<u8>>) {
    let mut class_of = [0u32; 256];
    let mut count = 1;
    let mut seen: rustc_hash::FxHashSet<&[u8]> = Default::default();
    for edge in lexemes.iter().flat_map(|a| a.edges.all()) {
        if count == 256 || !seen.insert(&edge.bytes) {
            continue;
        }
        let mut inside = [false; 256];
        edge.bytes.iter().for_each(|b| inside[*b as usize] = true);
        let mut ids: FxHashMap<(u32, bool), u32> = FxHashMap::default();
        for byte in 0..256 {
            let next = ids.len() as u32;
            class_of[byte] = *ids.entry((class_of[byte], inside[byte])).or_insert(next);
        }
        count = ids.len();
    }
    let mut classes = vec![Vec::new(); count];
    (0..=255u8).for_each(|b| classes[class_of[b as usize] as usize].push(b));
    (class_of, classes)
}

struct Builder<'a> {
    nts: Vec<RawNt>,
    terminal: Vec<Option<TerminalId>>,
    class_of: &'a [u32; 256],
    /// Nonterminals for sets of classes.
    edges: FxHashMap<(usize, Vec<u32>), Sym>,
}

impl Builder<'_> {
    fn terminal(&mut self, t: usize, automaton: &Automaton) -> Sym {
        if let ([edge], [_, true]) = (automaton.edges.all(), automaton.accepts.as_slice()) {
            return self.edge(t, &edge.bytes);
        }
        let base = self.nts.len();
        for _ in &automaton.accepts {
            self.add(t);
        }
        for (from, edges) in automaton.edges.iter().enumerate() {
            for edge in edges {
                let sym = self.edge(t, &edge.bytes);
                let target = &mut self.nts[base + edge.to as usize].prods;
                if from == 0 {
                    target.push(prod(vec![sym]));
                }
                target.push(prod(vec![Sym::nonterminal(NtId::from(base + from)), sym]));
            }
        }
        let root = self.add(t);
        for state in (0..automaton.accepts.len()).filter(|s| automaton.accepts[*s]) {
            self.nts[root].prods.push(prod(vec![Sym::nonterminal(NtId::from(base + state))]));
        }
        Sym::nonterminal(NtId::from(root))
    }

    fn edge(&mut self, t: usize, bytes: &[u8]) -> Sym {
        let mut classes: Vec<u32> = bytes.iter().map(|b| self.class_of[*b as usize]).collect();
        classes.sort_unstable();
        classes.dedup();
        if let [class] = classes[..] {
            return Sym::terminal(TerminalId(class));
        }
        if let Some(&sym) = self.edges.get(&(t, classes.clone())) {
            return sym;
        }
        let nt = self.add(t);
        self.nts[nt].prods =
            classes.iter().map(|c| prod(vec![Sym::terminal(TerminalId(*c))])).collect();
        let sym = Sym::nonterminal(NtId::from(nt));
        self.edges.insert((t, classes), sym);
        sym
    }

    fn add(&mut self, t: usize) -> usize {
        self.nts.push(RawNt { name: String::new(), rule: None, prods: Vec::new() });
        self.terminal.push(Some(TerminalId::from(t)));
        self.nts.len() - 1
    }
}

fn prod(rhs: Vec<Sym>) -> RawProd {
    RawProd { rhs, alt: 0, weight: 1.0 }
}
