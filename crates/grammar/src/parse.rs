//! `parse`: is the string in the language, and what is its tree?

use crate::automaton::{Automaton, lexemes};
use crate::bytes::ByteCore;
use crate::chart::Chart;
pub use crate::chart::Stuck;
use crate::core::{Core, ProdId};
use crate::dfa::DfaError;
use crate::extract::{Extractor, empty_productions};
use crate::lexer::{Candidate, Expected, Lexer, Place};
use crate::model::{Grammar, Lexing, Terminal, TerminalId};
use crate::precedence::stratify;
use crate::recognize::{Config, Recognizer};
use crate::tables::Tables;
use crate::tree::Tree;

/// A parser with its caches: use one for many inputs.
pub struct Parser {
    core: Core,
    lexing: Lexing,
    lexer: Lexer,
    fast: Fast,
    tables: Tables,
    layered: Core,
    original: Vec<Option<ProdId>>,
    empty: Vec<Option<ProdId>>,
}

/// The recogniser and what it reads.
enum Fast {
    Tokens(Box<Recognizer>),
    Bytes(Box<Recognizer>, Box<ByteCore>),
    /// The terminals' automata are too large to be spelled out in bytes: the chart has to do.
    None,
}

/// Inputs are indexed with 32 bits.
pub const MAX_INPUT: usize = u32::MAX as usize / 2;
/// Configurations that are kept from one input to the next.
const KEEP_CONFIGS: usize = 1_000_000;
/// Bytes of all terminals that are spelled out in rules.
const SPELLED_OUT: usize = 1_000_000;

struct At<'r>(&'r Recognizer, Config);

impl Expected for At<'_> {
    fn allows(&self, terminal: TerminalId) -> bool {
        self.0.allows(self.1, terminal)
    }
}

enum Outcome {
    Sentence,
    Stuck(Stuck),
    /// More than one token may stand somewhere.
    Undecided,
}

impl Parser {
    pub fn new(grammar: &Grammar) -> Result<Parser, DfaError> {
        let core = Core::new(grammar);
        let layers = stratify(grammar, &core);
        let lexer = Lexer::new(grammar)?;
        let fast = match grammar.lexing {
            Lexing::Scannerless => Fast::bytes(grammar, &layers.core),
            _ => Fast::Tokens(Box::new(Recognizer::new(&layers.core))),
        };
        Ok(Parser {
            lexing: grammar.lexing,
            lexer,
            fast,
            tables: Tables::new(&layers.core),
            empty: empty_productions(&layers.core),
            layered: layers.core,
            original: layers.original,
            core,
        })
    }

    /// The core that trees refer to.
    pub fn core(&self) -> &Core {
        &self.core
    }

    pub fn lexer(&mut self) -> &mut Lexer {
        &mut self.lexer
    }

    /// Is `input` a sentence? If not, where it stops being the beginning of one.
    pub fn check(&mut self, input: &[u8]) -> Result<(), Stuck> {
        let outcome = match &mut self.fast {
            Fast::Bytes(recognizer, bytes) => check_bytes(recognizer, bytes, input),
            Fast::Tokens(recognizer) => check_tokens(recognizer, &mut self.lexer, input),
            Fast::None => Outcome::Undecided,
        };
        self.forget();
        match outcome {
            Outcome::Sentence => Ok(()),
            Outcome::Stuck(stuck) => Err(stuck),
            Outcome::Undecided => Chart::build(&mut self.tables, &mut self.lexer, input, true).map(|_| ()),
        }
    }

    /// The tree of `input`.
    pub fn parse(&mut self, input: &[u8]) -> Result<Tree, Stuck> {
        let chart = Chart::build(&mut self.tables, &mut self.lexer, input, true)?;
        let tree = Extractor::new(&chart, &self.layered, &self.original, &self.empty).tree(input);
        Ok(tree.expect("an accepted chart holds a tree"))
    }

    /// Tokens without parsing, as far as the lexer gets; `Err` has the position where it stops.
    pub fn tokens(&mut self, input: &[u8]) -> Result<Vec<Candidate>, usize> {
        let (mut place, mut tokens) = (self.lexer.begin(), Vec::new());
        loop {
            let mut next = Vec::new();
            let at_end = self.lexer.candidates(input, place, &crate::lexer::Anything, &mut next);
            match next.first() {
                Some(token) => {
                    tokens.push(*token);
                    place = token.next;
                }
                None if at_end => return Ok(tokens),
                None => return Err(self.lexer.after_skipped(input, place)),
            }
        }
    }

    /// Keeps memory bounded over many inputs.
    fn forget(&mut self) {
        match &mut self.fast {
            Fast::Bytes(recognizer, bytes) if recognizer.configs() > KEEP_CONFIGS => {
                **recognizer = Recognizer::new(&bytes.core);
            }
            Fast::Tokens(recognizer) if recognizer.configs() > KEEP_CONFIGS => {
                **recognizer = Recognizer::new(&self.layered);
            }
            _ => {}
        }
    }

    pub fn lexing(&self) -> Lexing {
        self.lexing
    }
}

impl Fast {
    fn bytes(grammar: &Grammar, core: &Core) -> Fast {
        let long = |t: &Terminal| t.pattern.hir().properties().minimum_len().unwrap_or(0);
        if grammar.terminals.iter().map(long).sum::<usize>() > SPELLED_OUT {
            return Fast::None;
        }
        let Ok(automata) = lexemes(grammar).into_iter().collect::<Result<Vec<Automaton>, _>>() else {
            return Fast::None;
        };
        let bytes = ByteCore::new(core, &automata);
        Fast::Bytes(Box::new(Recognizer::new(&bytes.core)), Box::new(bytes))
    }
}

fn check_bytes(recognizer: &mut Recognizer, bytes: &ByteCore, input: &[u8]) -> Outcome {
    let mut config = recognizer.begin();
    for (pos, &byte) in input.iter().enumerate() {
        match recognizer.advance(config, bytes.class(byte)) {
            Some(next) => config = next,
            None => {
                return Outcome::Stuck(Stuck {
                    pos,
                    expected: expected_terminals(recognizer, bytes, config),
                });
            }
        }
    }
    if recognizer.accepts(config) {
        return Outcome::Sentence;
    }
    Outcome::Stuck(Stuck { pos: input.len(), expected: expected_terminals(recognizer, bytes, config) })
}

/// Terminals that can begin or go on here.
fn expected_terminals(recognizer: &Recognizer, bytes: &ByteCore, config: Config) -> Vec<TerminalId> {
    let tables = recognizer.tables();
    let mut all = Vec::new();
    let of = |slot: u32, class: TerminalId| match bytes.terminal[tables.lhs[slot as usize].index()] {
        Some(t) => vec![t],
        None => bytes.direct[class.index()].clone(),
    };
    for item in recognizer.items(config) {
        match tables.next[item.slot as usize].as_terminal() {
            Some(class) => all.extend(of(item.slot, class)),
            None => all.extend(bytes.terminal[tables.lhs[item.slot as usize].index()]),
        }
    }
    for class in recognizer.expected(config) {
        for slot in tables.predicted(recognizer.predictions(config), crate::tables::Next::terminal(class)) {
            all.extend(of(*slot, class));
        }
    }
    all.sort_unstable();
    all.dedup();
    all
}

fn check_tokens(recognizer: &mut Recognizer, lexer: &mut Lexer, input: &[u8]) -> Outcome {
    let mut config = recognizer.begin();
    let mut place = lexer.begin();
    let mut candidates = Vec::new();
    loop {
        candidates.clear();
        let at_end = lexer.candidates(input, place, &At(recognizer, config), &mut candidates);
        let step = match candidates[..] {
            [] if at_end && recognizer.accepts(config) => return Outcome::Sentence,
            [only] if !at_end => recognizer.advance(config, only.terminal).map(|next| (next, only.next)),
            [] => None,
            _ => return Outcome::Undecided,
        };
        match step {
            Some((next, after)) => (config, place) = (next, after),
            None => {
                let pos = stuck_at(lexer, input, place, &candidates);
                return Outcome::Stuck(Stuck { pos, expected: recognizer.expected(config) });
            }
        }
    }
}

fn stuck_at(lexer: &mut Lexer, input: &[u8], place: Place, candidates: &[Candidate]) -> usize {
    match candidates {
        [token] => token.start as usize,
        _ => lexer.after_skipped(input, place),
    }
}

/// Line and column (both from 1, in characters) of a byte offset.
pub fn line_column(input: &[u8], pos: usize) -> (usize, usize) {
    let before = &input[..pos.min(input.len())];
    let line = before.iter().filter(|b| **b == b'\n').count() + 1;
    let start = before.iter().rposition(|b| *b == b'\n').map_or(0, |i| i + 1);
    (line, String::from_utf8_lossy(&before[start..]).chars().count() + 1)
}
