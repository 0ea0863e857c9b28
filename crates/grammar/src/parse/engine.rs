//! One set of productions with the two machines that parse them: a recogniser, and a chart for
//! trees.
//!
//! Sets of items that grow with the input make both slow. `Limit` says from which size on an engine
//! gives up, so that the caller can try other productions for the same language.

use crate::automata::automaton::{Automaton, lexemes};
use crate::lexing::lexer::{Candidate, Expected, Lexer, Place};
use crate::model::bytes::ByteCore;
use crate::model::core::{Core, ProdId};
use crate::model::{Grammar, Lexing, Terminal, TerminalId};
use crate::parse::chart::{Chart, Stuck};
use crate::parse::extract::{Extractor, empty_productions};
use crate::trees::tree::Tree;
use context_free::earley::recognize::{Config, Recognizer};
use context_free::earley::tables::Tables;

pub(crate) struct Engine {
    pub core: Core,
    /// The production to show for each of the core's; `None`: leave it out.
    pub original: Vec<Option<ProdId>>,
    tables: Tables,
    empty: Vec<Option<ProdId>>,
    fast: Fast,
}

/// The recogniser and what it reads.
enum Fast {
    Tokens(Box<Recognizer>),
    Bytes(Box<Recognizer>, Box<ByteCore>),
    /// The terminals' automata are not known, or too large to be spelled out in bytes: the chart
    /// has to do.
    None,
}

/// Items of one set at which an engine gives up.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Limit(pub usize);

impl Limit {
    pub const NONE: Limit = Limit(usize::MAX);
}

/// An engine gave up: a set grew larger than the limit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct TooDense;

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
    TooDense,
}

impl Engine {
    pub fn new(grammar: &Grammar, core: Core, original: Vec<Option<ProdId>>) -> Engine {
        let fast = match grammar.lexing {
            Lexing::Scannerless => Fast::bytes(grammar, &core),
            _ => Fast::tokens(&core),
        };
        Engine::with(fast, core, original)
    }

    /// An engine that does not know how terminals are spelled; without a lexer it has only a chart.
    pub fn of_tokens(lexing: Lexing, core: Core, original: Vec<Option<ProdId>>) -> Engine {
        let fast = if lexing == Lexing::Scannerless { Fast::None } else { Fast::tokens(&core) };
        Engine::with(fast, core, original)
    }

    fn with(fast: Fast, core: Core, original: Vec<Option<ProdId>>) -> Engine {
        Engine {
            fast,
            tables: Tables::new(&core.productions),
            empty: empty_productions(&core),
            original,
            core,
        }
    }

    pub fn check(
        &mut self,
        lexer: &mut Lexer,
        input: &[u8],
        limit: Limit,
    ) -> Result<Result<(), Stuck>, TooDense> {
        let outcome = match &mut self.fast {
            Fast::Bytes(recognizer, bytes) => check_bytes(recognizer, bytes, input, limit),
            Fast::Tokens(recognizer) => check_tokens(recognizer, lexer, input, limit),
            Fast::None => Outcome::Undecided,
        };
        self.forget();
        match outcome {
            Outcome::Sentence => Ok(Ok(())),
            Outcome::Stuck(stuck) => Ok(Err(stuck)),
            Outcome::TooDense => Err(TooDense),
            Outcome::Undecided => {
                Ok(Chart::within((&mut self.tables, self.core.start), lexer, input, limit)?
                    .map(|_| ()))
            }
        }
    }

    pub fn parse(
        &mut self,
        lexer: &mut Lexer,
        input: &[u8],
        limit: Limit,
    ) -> Result<Result<Tree, Stuck>, TooDense> {
        Ok(Chart::within((&mut self.tables, self.core.start), lexer, input, limit)?.map(|chart| {
            let tree = Extractor::new(&chart, &self.core, &self.original, &self.empty).tree(input);
            tree.expect("an accepted chart holds a tree")
        }))
    }

    /// Keeps memory bounded over many inputs.
    fn forget(&mut self) {
        match &mut self.fast {
            Fast::Bytes(recognizer, bytes) if recognizer.configs() > KEEP_CONFIGS => {
                **recognizer = bytes.core.recognizer();
            }
            Fast::Tokens(recognizer) if recognizer.configs() > KEEP_CONFIGS => {
                **recognizer = self.core.recognizer();
            }
            _ => {}
        }
    }
}

impl Fast {
    fn tokens(core: &Core) -> Fast {
        Fast::Tokens(Box::new(core.recognizer()))
    }

    fn bytes(grammar: &Grammar, core: &Core) -> Fast {
        let long = |t: &Terminal| t.pattern.hir().properties().minimum_len().unwrap_or(0);
        if grammar.terminals.iter().map(long).sum::<usize>() > SPELLED_OUT {
            return Fast::None;
        }
        let Ok(automata) = lexemes(grammar).into_iter().collect::<Result<Vec<Automaton>, _>>()
        else {
            return Fast::None;
        };
        let bytes = ByteCore::new(core, &automata);
        Fast::Bytes(Box::new(bytes.core.recognizer()), Box::new(bytes))
    }
}

fn check_bytes(
    recognizer: &mut Recognizer,
    bytes: &ByteCore,
    input: &[u8],
    limit: Limit,
) -> Outcome {
    let mut config = recognizer.begin();
    for (pos, &byte) in input.iter().enumerate() {
        match recognizer.advance(config, bytes.class(byte)) {
            Some(next) if recognizer.items(next).len() > limit.0 => return Outcome::TooDense,
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
    Outcome::Stuck(Stuck {
        pos: input.len(),
        expected: expected_terminals(recognizer, bytes, config),
    })
}

/// Terminals that can begin or go on here.
fn expected_terminals(
    recognizer: &Recognizer,
    bytes: &ByteCore,
    config: Config,
) -> Vec<TerminalId> {
    let tables = recognizer.tables();
    let mut all = Vec::new();
    let of = |slot: u32, class: TerminalId| match bytes.terminal[tables.lhs[slot as usize].index()]
    {
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
        for slot in tables.predicted(
            recognizer.predictions(config),
            context_free::earley::tables::Next::terminal(class),
        ) {
            all.extend(of(*slot, class));
        }
    }
    all.sort_unstable();
    all.dedup();
    all
}

fn check_tokens(
    recognizer: &mut Recognizer,
    lexer: &mut Lexer,
    input: &[u8],
    limit: Limit,
) -> Outcome {
    let mut config = recognizer.begin();
    let mut place = lexer.begin();
    let mut candidates = Vec::new();
    loop {
        candidates.clear();
        let at_end = lexer.candidates(input, place, &At(recognizer, config), &mut candidates);
        let step = match candidates[..] {
            [] if at_end && recognizer.accepts(config) => return Outcome::Sentence,
            [only] if !at_end => {
                recognizer.advance(config, only.terminal).map(|next| (next, only.next))
            }
            [] => None,
            _ => return Outcome::Undecided,
        };
        match step {
            Some((next, _)) if recognizer.items(next).len() > limit.0 => return Outcome::TooDense,
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
