//! Z3 as a link of the chain: queries are sent to a process of its own.

use crate::engine::{Engine, Limits};
use crate::helper::{Helper, Lost, Serve};
use crate::protocol::{Reply, Request, write_query};
use solver::{Answer, Link, Query, UnknownReason};
use std::time::Duration;

/// Solves queries with Z3 in another process. A query on which that crashes or overruns its limit
/// is unknown, and the next one goes to a new process.
pub struct Z3Link {
    limits: Limits,
    helper: Helper,
    core: Vec<u32>,
    economy: Option<Economy>,
}

/// The time that a query may take, by how it went lately: half after a query without an answer,
/// double after an answer.
struct Economy {
    allowed: Duration,
}

impl Economy {
    const MIN: Duration = Duration::from_millis(100);

    fn learn(&mut self, answered: bool, max: Duration) {
        self.allowed = if answered {
            (self.allowed * 2).min(max)
        } else {
            (self.allowed / 2).max(Economy::MIN)
        };
    }
}

/// What Z3 may take beyond its own limits before it is ended: it looks at them now and then only,
/// and starts twice.
const PATIENCE: u32 = 2;
const GRACE: Duration = Duration::from_millis(500);

impl Z3Link {
    pub const NAME: &'static str = "z3";

    /// Starts nothing yet.
    pub fn new(limits: Limits) -> Z3Link {
        let economy = limits.economical.then(|| Economy { allowed: max_time(limits) / 4 });
        Z3Link {
            limits,
            helper: Helper::new(limits.stop, move || serve(limits)),
            core: Vec::new(),
            economy,
        }
    }

    /// The process that runs Z3, once a query was asked.
    pub fn process(&self) -> Option<u32> {
        self.helper.pid()
    }
}

impl Link for Z3Link {
    fn name(&self) -> &'static str {
        Z3Link::NAME
    }

    fn solve(&mut self, query: &Query) -> Answer {
        let max = max_time(self.limits);
        let limit = self.economy.as_ref().map_or(max, |economy| economy.allowed);
        let reply = match self.helper.ask(&write_query(query), limit) {
            Ok(reply) => Reply::read(&reply).unwrap_or(Reply::Unknown(UnknownReason::Crash)),
            Err(Lost::Overrun) => Reply::Unknown(UnknownReason::Overrun),
            Err(Lost::Crash) => Reply::Unknown(UnknownReason::Crash),
        };
        if let Some(economy) = &mut self.economy {
            economy.learn(!matches!(reply, Reply::Unknown(_)), max);
        }
        match reply {
            Reply::Sat { bytes, len } => Answer::Sat(query.input_with(bytes, len)),
            Reply::Unsat(core) => {
                self.core = core;
                Answer::Unsat
            }
            Reply::Unknown(reason) => Answer::Unknown(reason),
        }
    }

    fn core(&self) -> Option<&[u32]> {
        Some(&self.core)
    }
}

fn max_time(limits: Limits) -> Duration {
    limits.time * PATIENCE + GRACE
}

fn serve(limits: Limits) -> Serve {
    let mut engine = Engine::new(limits);
    Box::new(move |request| match Request::read(request) {
        Some(request) => engine.solve(&request).write(),
        None => Reply::Unknown(UnknownReason::Unsupported).write(),
    })
}
