//! `parse`: is the string in the language, and what is its tree?

pub use crate::parse::chart::Stuck;
pub mod ambiguity;
mod chart;
mod derivations;
mod engine;
mod extract;
mod flatten;
mod fragment;
mod precedence;

use crate::automata::dfa::DfaError;
use crate::lexing::lexer::{Anything, Candidate, Lexer};
use crate::model::core::{Core, ProdId};
use crate::model::{Grammar, Lexing};
use crate::parse::engine::{Engine, Limit};
use crate::parse::flatten::{Flat, flatten};
use crate::parse::precedence::stratify;
use crate::trees::tree::Tree;

/// A parser with its caches: use one for many inputs.
pub struct Parser {
    lexing: Lexing,
    core: Core,
    lexer: Lexer,
    engine: Engine,
    /// For inputs on which `engine` is slow; made for the first of them. `Some(None)`: it would be
    /// too large.
    flat: Option<Option<Box<(Engine, Flat)>>>,
    dense: Limit,
}

/// Inputs are indexed with 32 bits.
pub const MAX_INPUT: usize = u32::MAX as usize / 2;
/// Items of a set from which on flat productions are tried: more than in any set of the grammars
/// that people write for deterministic parsers.
const DENSE: Limit = Limit(200);

impl Parser {
    pub fn new(grammar: &Grammar) -> Result<Parser, DfaError> {
        let core = Core::new(grammar);
        let layers = stratify(grammar, &core);
        let lexer = Lexer::new(grammar)?;
        let engine = Engine::new(grammar, layers.core, layers.original);
        Ok(Parser { lexing: grammar.lexing, core, lexer, engine, flat: None, dense: DENSE })
    }

    /// With another size of sets from which on flat productions are tried. Zero tries them for
    /// every input.
    pub fn dense_from(mut self, items: usize) -> Parser {
        self.dense = Limit(items);
        self
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
        let limit = self.limit();
        if let Ok(answer) = self.engine.check(&mut self.lexer, input, limit) {
            return answer;
        }
        let (engine, lexer, _) = self.unlimited();
        engine.check(lexer, input, Limit::NONE).expect("no limit")
    }

    /// The tree of `input`.
    pub fn parse(&mut self, input: &[u8]) -> Result<Tree, Stuck> {
        let limit = self.limit();
        if let Ok(answer) = self.engine.parse(&mut self.lexer, input, limit) {
            return answer;
        }
        let (engine, lexer, flat) = self.unlimited();
        let tree = engine.parse(lexer, input, Limit::NONE).expect("no limit")?;
        Ok(flat.map_or_else(|| tree.clone(), |flat| flat.restore(&tree)))
    }

    /// There is one as long as there may be something better.
    fn limit(&self) -> Limit {
        if matches!(self.flat, Some(None)) { Limit::NONE } else { self.dense }
    }

    /// What parses dense inputs: the flat productions, if they can be made.
    fn unlimited(&mut self) -> (&mut Engine, &mut Lexer, Option<&Flat>) {
        let Parser { lexing, lexer, engine, flat, .. } = self;
        let flat = flat.get_or_insert_with(|| {
            let flat = flatten(&engine.core, &engine.original)?;
            let shown = flat.core.prod_ids().map(Some).collect::<Vec<Option<ProdId>>>();
            Some(Box::new((Engine::of_tokens(*lexing, flat.core.clone(), shown), flat)))
        });
        match flat {
            Some(made) => (&mut made.0, lexer, Some(&made.1)),
            None => (engine, lexer, None),
        }
    }

    /// Tokens without parsing, as far as the lexer gets; `Err` has the position where it stops.
    pub fn tokens(&mut self, input: &[u8]) -> Result<Vec<Candidate>, usize> {
        let (mut place, mut tokens) = (self.lexer.begin(), Vec::new());
        loop {
            let mut next = Vec::new();
            let at_end = self.lexer.candidates(input, place, &Anything, &mut next);
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

    pub fn lexing(&self) -> Lexing {
        self.lexing
    }
}

/// Line and column (both from 1, in characters) of a byte offset.
pub fn line_column(input: &[u8], pos: usize) -> (usize, usize) {
    let before = &input[..pos.min(input.len())];
    let line = before.iter().filter(|b| **b == b'\n').count() + 1;
    let start = before.iter().rposition(|b| *b == b'\n').map_or(0, |i| i + 1);
    (line, String::from_utf8_lossy(&before[start..]).chars().count() + 1)
}
