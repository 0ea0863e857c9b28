//! Asking Z3, in the process that runs this.

use crate::protocol::{Reply, Request};
use crate::translate::Translator;
use solver::UnknownReason;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use z3::ast::{BV, Bool};
use z3::{Model, Params, SatResult, Solver};

/// What one query may cost.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    pub time: Duration,
    /// Z3's own count of steps; unlike time, it ends a query at the same point on every machine. 0
    /// is no limit.
    pub steps: u32,
    /// Give less time to queries while they bring no answers: a search has other things to try.
    pub economical: bool,
    /// Once this is set, a query that goes on is ended.
    pub stop: Option<&'static AtomicBool>,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { time: Duration::from_secs(1), steps: 0, economical: false, stop: None }
    }
}

/// Solves queries with Z3: first with its incremental core, which starts at once, then with the
/// tactics for bit-vectors or floats, which take milliseconds to start but solve harder queries.
pub(crate) struct Engine {
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

impl Engine {
    pub(crate) fn new(limits: Limits) -> Engine {
        Engine { limits, incremental: None, seen: 0 }
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

impl Engine {
    pub(crate) fn solve(&mut self, request: &Request) -> Reply {
        let mut translator = Translator::new(&request.dag);
        let Some(question) = Question::new(&mut translator, request) else {
            return Reply::Unknown(UnknownReason::Unsupported);
        };
        let solver = self.take_incremental();
        solver.push();
        let mut reply = question.ask_for_core(&solver, &translator);
        solver.pop(1);
        self.incremental = Some(solver);
        if reply == Reply::Unknown(UnknownReason::Timeout) {
            reply = question.ask(&self.with_tactics(&translator), &translator);
        }
        reply
    }
}

/// What Z3 is asked.
struct Question {
    /// The literals in the order of the request.
    literals: Vec<Bool>,
    /// The limit of the length, and one that is tried first: inputs that are not much longer than
    /// the current one.
    length: Option<[Bool; 2]>,
}

impl Question {
    fn new(translator: &mut Translator, request: &Request) -> Option<Question> {
        let mut literals = Vec::new();
        for lit in &request.literals {
            let condition = translator.condition(lit.label)?;
            literals.push(if lit.value { condition } else { condition.not() });
        }
        let below =
            |limit: usize| translator.length().map(|len| len.bvule(BV::from_u64(limit as u64, 64)));
        let length = below(request.max_len)
            .zip(below(request.current_len + NEAR))
            .map(|(all, near)| [all, near]);
        Some(Question { literals, length })
    }

    fn ask(&self, solver: &Solver, translator: &Translator) -> Reply {
        for literal in self.literals.iter().chain(self.length.as_ref().map(|[limit, _]| limit)) {
            solver.assert(literal);
        }
        let near = match &self.length {
            Some([_, near]) => solver.check_assumptions(std::slice::from_ref(near)),
            None => SatResult::Unknown,
        };
        let result = if near == SatResult::Sat { near } else { solver.check() };
        self.reply(result, solver, translator)
    }

    /// As [`Question::ask`], with each literal under a name, so that "unsat" comes with those that
    /// contradict each other.
    fn ask_for_core(&self, solver: &Solver, translator: &Translator) -> Reply {
        for (literal, name) in self.literals.iter().zip(names()) {
            solver.assert(name.implies(literal));
        }
        if let Some([limit, _]) = &self.length {
            solver.assert(limit);
        }
        let names: Vec<Bool> = names().take(self.literals.len()).collect();
        let near = match &self.length {
            Some([_, near]) => {
                solver.check_assumptions(&[&names[..], std::slice::from_ref(near)].concat())
            }
            None => SatResult::Unknown,
        };
        let result = if near == SatResult::Sat { near } else { solver.check_assumptions(&names) };
        self.reply(result, solver, translator)
    }

    fn reply(&self, result: SatResult, solver: &Solver, translator: &Translator) -> Reply {
        match result {
            SatResult::Sat => model(&solver.get_model(), translator),
            SatResult::Unsat if translator.is_exact() => Reply::Unsat(self.core(solver)),
            SatResult::Unsat => Reply::Unknown(UnknownReason::Unsupported),
            SatResult::Unknown => Reply::Unknown(UnknownReason::Timeout),
        }
    }

    /// Numbers of literals that contradict each other; all if Z3 does not tell.
    fn core(&self, solver: &Solver) -> Vec<u32> {
        let core = solver.get_unsat_core();
        let all = 0..self.literals.len() as u32;
        if core.is_empty() {
            return all.collect();
        }
        all.zip(names()).filter(|(_, name)| core.contains(name)).map(|(number, _)| number).collect()
    }
}

/// Names of literals.
fn names() -> impl Iterator<Item = Bool> {
    (0..).map(|number: u32| Bool::new_const(number))
}

fn model(model: &Option<Model>, translator: &Translator) -> Reply {
    let value = |variable: &BV| model.as_ref()?.eval(variable, true)?.as_u64();
    let len = match translator.length().map(value) {
        Some(Some(len)) => Some(len as usize),
        Some(None) => return Reply::Unknown(UnknownReason::WrongModel),
        None => None,
    };
    let bytes: Option<Vec<(u32, u8)>> = translator
        .inputs()
        .map(|(index, variable)| Some((index, value(variable)? as u8)))
        .collect();
    match bytes {
        Some(bytes) => Reply::Sat { bytes, len },
        None => Reply::Unknown(UnknownReason::WrongModel),
    }
}
