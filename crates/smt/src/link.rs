//! Asking Z3.

use crate::translate::Translator;
use solver::{Answer, Link, Query, UnknownReason};
use std::time::Duration;
use z3::ast::{BV, Bool};
use z3::{Model, Params, SatResult, Solver};

/// What one query may cost.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    pub time: Duration,
    /// Z3's own count of steps; unlike time, it ends a query at the same point on every machine. 0 is no limit.
    pub steps: u32,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { time: Duration::from_secs(1), steps: 0 }
    }
}

/// Solves queries with Z3: first with its incremental core, which starts at once, then with the tactics for
/// bit-vectors or floats, which take milliseconds to start but solve harder queries.
pub struct Z3Link {
    limits: Limits,
    incremental: Option<Solver>,
    /// Queries that the incremental core has seen.
    seen: u32,
}

/// The incremental core gets this part of the time and steps.
const QUICK_SHARE: u32 = 4;
/// It is renewed after so many queries, for what it learns is never used again.
const QUERIES_PER_CORE: u32 = 1000;
/// How many bytes beyond the current length are tried before any length.
const NEAR: usize = 64;

impl Z3Link {
    pub const NAME: &'static str = "z3";

    pub fn new(limits: Limits) -> Z3Link {
        Z3Link { limits, incremental: None, seen: 0 }
    }

    fn params(&self, share: u32) -> Params {
        let mut params = Params::new();
        let time = u32::try_from(self.limits.time.as_millis()).unwrap_or(u32::MAX);
        params.set_u32("timeout", (time / share).max(1));
        if self.limits.steps > 0 {
            params.set_u32("rlimit", (self.limits.steps / share).max(1));
        }
        params
    }

    /// The incremental core, taken out of the link: Z3 copies all of a solver that is cloned.
    fn take_incremental(&mut self) -> Solver {
        self.seen += 1;
        let kept = self.incremental.take().filter(|_| !self.seen.is_multiple_of(QUERIES_PER_CORE));
        kept.unwrap_or_else(|| {
            // Setting parameters costs as much as a small query.
            let solver = Solver::new();
            solver.set_params(&self.params(QUICK_SHARE));
            solver
        })
    }

    fn with_tactics(&self, translator: &Translator) -> Solver {
        let logic = if translator.has_floats() { "QF_FPBV" } else { "QF_BV" };
        let solver = Solver::new_for_logic(logic).unwrap_or_default();
        solver.set_params(&self.params(1));
        solver
    }
}

impl Link for Z3Link {
    fn name(&self) -> &'static str {
        Z3Link::NAME
    }

    fn solve(&mut self, query: &Query) -> Answer {
        let mut translator = Translator::new(query.dag);
        let Some(assertions) = assertions(&mut translator, query) else {
            return Answer::Unknown(UnknownReason::Unsupported);
        };
        let solver = self.take_incremental();
        solver.push();
        let mut answer = ask(&solver, &assertions, &translator, query);
        solver.pop(1);
        self.incremental = Some(solver);
        if answer == Answer::Unknown(UnknownReason::Timeout) {
            answer = ask(&self.with_tactics(&translator), &assertions, &translator, query);
        }
        answer
    }
}

/// The literals, and the limit of the length.
fn assertions(translator: &mut Translator, query: &Query) -> Option<Vec<Bool>> {
    let mut assertions = Vec::new();
    for lit in query.literals() {
        let condition = translator.condition(lit.label)?;
        assertions.push(if lit.value { condition } else { condition.not() });
    }
    let limit = translator.length().map(|len| len.bvule(BV::from_u64(query.max_len as u64, 64)));
    assertions.extend(limit);
    Some(assertions)
}

fn ask(solver: &Solver, assertions: &[Bool], translator: &Translator, query: &Query) -> Answer {
    for assertion in assertions {
        solver.assert(assertion);
    }
    match check(solver, translator.length(), query) {
        SatResult::Sat => model_input(&solver.get_model(), translator, query),
        SatResult::Unsat if translator.is_exact() => Answer::Unsat,
        SatResult::Unsat => Answer::Unknown(UnknownReason::Unsupported),
        SatResult::Unknown => Answer::Unknown(UnknownReason::Timeout),
    }
}

/// Prefers inputs that are not much longer than the current one.
fn check(solver: &Solver, length: Option<&BV>, query: &Query) -> SatResult {
    let Some(length) = length else { return solver.check() };
    let near = length.bvule(BV::from_u64((query.current.len() + NEAR) as u64, 64));
    match solver.check_assumptions(&[near]) {
        SatResult::Sat => SatResult::Sat,
        _ => solver.check(),
    }
}

fn model_input(model: &Option<Model>, translator: &Translator, query: &Query) -> Answer {
    let value = |variable: &BV| model.as_ref()?.eval(variable, true)?.as_u64();
    let len = match translator.length().map(value) {
        Some(Some(len)) => Some(len as usize),
        Some(None) => return Answer::Unknown(UnknownReason::WrongModel),
        None => None,
    };
    let bytes: Option<Vec<(u32, u8)>> =
        translator.inputs().map(|(index, variable)| Some((index, value(variable)? as u8))).collect();
    match bytes {
        Some(bytes) => Answer::Sat(query.input_with(bytes, len)),
        None => Answer::Unknown(UnknownReason::WrongModel),
    }
}
