//! Proposes functions that look like a program's tokenization function.
//!
//! The paper on grammar-based whitebox fuzzing asks its user for the name of that function; here
//! the program is asked. A lexer takes bytes and delivers one of a few numbers, which the rest of
//! the program compares with constants, or looks up in the tables of a parser generator. What is
//! found is ranked, never acted upon: this module only reads the program.

mod constants;
mod debug;
mod delivery;
pub mod named;
mod notation;
mod place;
mod program;
mod score;
mod shape;
mod uses;
mod written;

use crate::llvm::{self, Value};
use crate::module::Module;
use anyhow::Result;
use delivery::{Delivery, Route, deliveries};
use program::Program;
use score::Score;
use sites::LexerProposal;
use std::collections::BTreeSet;
use std::path::PathBuf;
use uses::{Following, Uses};

/// Local variables become values; every function stays.
const PREPARE: &str = "elim-avail-extern,function(mem2reg)";

/// With fewer kinds of tokens nothing tells a lexer from other functions.
const FEWEST_TOKENS: usize = 3;
/// The same where a parser generator's tables say what is compared.
const FEWEST_WITH_TABLE: usize = 2;

/// A function that tells fewer tokens of another one apart may be a lexer that corrects what a
/// helper found.
const FEWEST_OF_PARSER: usize = 5;

/// What looks like a lexer in the program with this bitcode, the most likely first.
pub fn propose(inputs: &[PathBuf], libraries: &[PathBuf]) -> Result<Vec<LexerProposal>> {
    let module = Module::read(inputs, libraries)?;
    module.run_passes(PREPARE)?;
    let program = Program::new(&module);
    let found = program
        .functions
        .iter()
        .flat_map(|function| candidates(&program, *function))
        .collect::<Vec<_>>();
    let mut proposals: Vec<LexerProposal> = found
        .iter()
        .filter_map(|candidate| candidate.proposal(&module, &program, &found))
        .collect();
    proposals.sort_by(|a, b| b.score.cmp(&a.score).then_with(|| a.lexer.cmp(&b.lexer)));
    let mut named = BTreeSet::new();
    proposals.retain(|proposal| named.insert(proposal.function.clone()));
    Ok(proposals)
}

/// A function with one of its deliveries.
pub struct Candidate {
    pub function: Value,
    /// The function and its helpers.
    pub cluster: Vec<Value>,
    pub route: Route,
    pub delivered: BTreeSet<i64>,
    pub uses: Uses,
    /// The function whose result is all that is delivered.
    pub passed_on: Option<Value>,
}

fn candidates(program: &Program, function: Value) -> Vec<Candidate> {
    let takes_input =
        shape::moves_on(program, function) || shape::input_function(program, function).is_some();
    if !takes_input || program.calls(function).is_empty() {
        return Vec::new();
    }
    let cluster = program.cluster(function);
    let all = deliveries(program, function, &cluster);
    all.into_iter()
        .filter_map(|delivery| candidate(program, function, &cluster, delivery))
        .collect()
}

fn candidate(
    program: &Program,
    function: Value,
    cluster: &[Value],
    delivery: Delivery,
) -> Option<Candidate> {
    let delivered = constants::constants(program, &delivery.values);
    if delivered.len() < FEWEST_WITH_TABLE {
        return None;
    }
    let following = Following::new(program, cluster);
    let uses = match &delivery.route {
        Route::Result => following.values(program.calls(function)),
        Route::Memory { place, .. } => following.place(place),
    };
    let tokens = delivered.intersection(&uses.constants()).count();
    let enough = tokens >= FEWEST_TOKENS || !uses.tables.is_empty();
    enough.then(|| Candidate {
        function,
        cluster: cluster.to_vec(),
        route: delivery.route,
        delivered,
        uses,
        passed_on: passed_on(&delivery.values),
    })
}

/// The function of which all values are results.
fn passed_on(values: &[Value]) -> Option<Value> {
    let callee = |value: &Value| {
        let call = Some(*value).filter(|value| program::is_call(*value))?;
        llvm::as_function(llvm::called(call)).filter(|callee| !llvm::is_declaration(*callee))
    };
    let first = callee(values.first()?)?;
    values.iter().all(|value| callee(value) == Some(first)).then_some(first)
}

impl Candidate {
    /// How many of the delivered constants these functions compare the delivered number with.
    pub fn tokens_in(&self, readers: &[Value]) -> usize {
        let compared = readers.iter().filter_map(|reader| self.uses.readers.get(reader)).flatten();
        let known: BTreeSet<&i64> =
            compared.filter(|constant| self.delivered.contains(constant)).collect();
        known.len()
    }

    /// Whether this is the parser of what `other` delivers.
    pub fn is_parser_of(&self, other: &Candidate) -> bool {
        let outside: Vec<Value> = self
            .cluster
            .iter()
            .copied()
            .filter(|function| !other.cluster.contains(function))
            .collect();
        let looks_up = outside.iter().any(|function| other.uses.table_readers.contains(function));
        other.function != self.function
            && (looks_up || other.tokens_in(&outside) >= FEWEST_OF_PARSER)
    }

    fn proposal(
        &self,
        module: &Module,
        program: &Program,
        all: &[Candidate],
    ) -> Option<LexerProposal> {
        let score = Score::of(self, program, all);
        let function = self.function;
        (score.points >= score::LOWEST).then(|| LexerProposal {
            lexer: notation::notation(module, function, &self.route),
            function: llvm::name(function),
            file: llvm::debug_file(function),
            line: llvm::debug_line(function),
            score: score.points as u32,
            reasons: score.reasons,
        })
    }
}
