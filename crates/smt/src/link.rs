//! Asking Z3.

use crate::translate::Translator;
use solver::{Answer, Link, Query, UnknownReason};
use std::time::Duration;
use z3::ast::BV;
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

/// Solves queries with Z3.
#[derive(Clone, Debug)]
pub struct Z3Link {
    limits: Limits,
}

impl Z3Link {
    pub const NAME: &'static str = "z3";

    pub fn new(limits: Limits) -> Z3Link {
        Z3Link { limits }
    }

    fn solver(&self) -> Solver {
        let solver = Solver::new();
        let mut params = Params::new();
        params.set_u32("timeout", u32::try_from(self.limits.time.as_millis()).unwrap_or(u32::MAX));
        if self.limits.steps > 0 {
            params.set_u32("rlimit", self.limits.steps);
        }
        solver.set_params(&params);
        solver
    }
}

/// How many bytes beyond the current length are tried before any length.
const NEAR: usize = 64;

impl Link for Z3Link {
    fn name(&self) -> &'static str {
        Z3Link::NAME
    }

    fn solve(&mut self, query: &Query) -> Answer {
        let mut translator = Translator::new(query.dag);
        let solver = self.solver();
        for lit in query.literals() {
            match translator.condition(lit.label) {
                Some(condition) if lit.value => solver.assert(&condition),
                Some(condition) => solver.assert(condition.not()),
                None => return Answer::Unknown(UnknownReason::Unsupported),
            }
        }
        if let Some(len) = translator.length() {
            solver.assert(len.bvule(BV::from_u64(query.max_len as u64, 64)));
        }
        match check(&solver, translator.length(), query) {
            SatResult::Sat => model_input(&solver.get_model(), &translator, query),
            SatResult::Unsat if translator.is_exact() => Answer::Unsat,
            SatResult::Unsat => Answer::Unknown(UnknownReason::Unsupported),
            SatResult::Unknown => Answer::Unknown(UnknownReason::Timeout),
        }
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
