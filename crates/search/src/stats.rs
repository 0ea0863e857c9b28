//! Numbers that every strategy reports alike.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::Serialize;

use crate::Returns;

/// A run that added coverage.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Growth {
    pub run: u64,
    pub seconds: f64,
    /// Branch outcomes covered after it.
    pub covered: usize,
}

#[derive(Clone, Debug, Default, Serialize)]
pub struct Stats {
    pub runs: u64,
    pub symbolic_runs: u64,
    /// Distinct paths: of traced runs by the branches on symbolic conditions, of others by the
    /// outcomes covered; by both where inputs are kept for their paths.
    pub paths: u64,
    /// Where an input is kept for each path: runs that were not traced, because others covered the
    /// same.
    pub untraced: u64,
    pub covered: usize,
    pub outcomes: usize,
    pub corpus: usize,
    /// How coverage grew.
    #[serde(skip)]
    pub growth: Vec<Growth>,
    /// Without hangs.
    pub bugs: usize,
    pub hangs: usize,
    /// Runs that ended in a signal, at the time limit, or out of memory, known bugs included.
    pub crashes: u64,
    /// Runs that a signal ended which no mistake brings about, such as SIGTERM.
    pub told_to_end: u64,
    pub timeouts: u64,
    pub out_of_memory: u64,
    /// Timeouts that did not happen again when the input was run once more.
    pub flaky_timeouts: u64,
    /// Timeouts of runs that end in time in the program itself.
    pub slow_in_variant: u64,
    /// Timeouts at new places that were not looked into, because too many others were.
    pub unconfirmed_timeouts: u64,
    /// Inputs whose crash, hang or new coverage did not happen again in a process of their own.
    pub unstable: u64,
    /// Traces of runs after others in the same process, which may have left something there.
    pub believed: u64,
    /// Inputs that were run in a build that checks more, and those that were not although something
    /// was new about their runs.
    pub examined: u64,
    pub unexamined: u64,
    /// Examinations that were ended at the time limit.
    pub unfinished_examinations: u64,
    /// Inputs that were left out, because others with the same words did not end.
    pub shunned: u64,
    /// Runs only to make the inputs of bugs smaller, which are no part of `runs`.
    pub shrinking: u64,
    /// Runs on random inputs, because the strategy had nothing left to do.
    pub restarts: u64,
    /// Runs that were traced once more for flips that had been dropped.
    pub taken_up: u64,
    /// What earlier sessions explored is not explored again.
    #[serde(skip)]
    pub earlier_sessions: u64,
    /// Parts of the program that traces leave out on purpose.
    #[serde(skip)]
    pub overlooked: u64,
    /// Sentences that were drawn in a row and had all been run.
    #[serde(skip)]
    pub drawn_in_vain: u64,
    /// Flips that wait.
    pub queue: usize,
    /// Flips that were dropped because too many for the same branch side waited, or the solver had
    /// no answers there.
    pub dropped_flips: u64,
    /// Flips that needed no solving because the other side was already explored from the same
    /// prefix.
    pub known_flips: u64,
    pub answers: Answers,
    pub optimism: Optimism,
    pub sentences: SentenceStats,
    /// Of sentences that were looked at.
    pub verdicts: Verdicts,
    /// The same by production.
    #[serde(skip)]
    pub productions: BTreeMap<String, Verdicts>,
    /// Runs that left the path that the solver's answer predicted.
    pub divergences: u64,
    /// How many of them parted from the prediction at each site.
    #[serde(skip)]
    pub divergence_sites: BTreeMap<u32, u64>,
    /// Runs repeated only to get back a trace that memory had no room for.
    pub retraces: u64,
    /// Violations of a property that the solver proved reachable but that did not crash the
    /// program.
    pub silent_violations: u64,
    /// Traces that were cut because the record was full.
    pub truncated_traces: u64,
    /// Traces that could not be read.
    pub bad_traces: u64,
    pub concretisations: u64,
    /// Conditions of traced runs that could have gone the other way, by site.
    #[serde(skip)]
    pub constraint_sites: Vec<u64>,
    /// Proposed inputs that took a branch in each source file.
    #[serde(skip)]
    pub reached_files: Vec<u64>,
    /// By [`trace::GiveUp`].
    pub give_ups: Vec<u64>,
    /// How often symbolic data was lost through each function without a model, by the number in the
    /// site table. Also functions that read the input themselves, start programs, or write what
    /// comes back from a file.
    #[serde(skip)]
    pub lost_externals: BTreeMap<u32, u64>,
    /// The same for library calls that went beyond their model, by site.
    #[serde(skip)]
    pub lost_calls: BTreeMap<u32, u64>,
    pub solver: Vec<LinkStats>,
    pub times: PhaseTimes,
    /// What each kind of work took and brought.
    #[serde(skip)]
    pub returns: Returns,
}

/// Answers to strict queries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Answers {
    pub sat: u64,
    pub unsat: u64,
    pub unknown: u64,
}

impl Answers {
    pub(crate) fn count(&mut self, answer: &solver::Answer) {
        match answer {
            solver::Answer::Sat(_) => self.sat += 1,
            solver::Answer::Unsat => self.unsat += 1,
            solver::Answer::Unknown(_) => self.unknown += 1,
        }
    }
}

/// Second attempts without the constraints that concretisation added.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Optimism {
    pub asked: u64,
    pub sat: u64,
    /// Of the satisfiable ones, those whose run took the intended side all the same.
    pub confirmed: u64,
}

impl Optimism {
    /// Second attempts that may bring nothing for each that is confirmed, and runs.
    const ATTEMPTS: u64 = 1000;
    const RUNS: u64 = 32;

    /// False where second attempts cost more than they bring.
    pub(crate) fn is_justified(&self) -> bool {
        let worth = self.confirmed + 1;
        self.asked < worth * Optimism::ATTEMPTS && self.sat < worth * Optimism::RUNS
    }
}

/// Answers within a language.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SentenceStats {
    /// Sentences that took the place of an answer which was none.
    pub lifted: u64,
    /// Sentences that were solved for as such.
    pub solved: u64,
    /// Runs of sentences with another token.
    pub changed: u64,
    /// Goals that no sentence near the running input reaches.
    pub pruned: u64,
}

/// What the program says about inputs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Verdicts {
    pub accepted: u64,
    pub rejected: u64,
}

impl Verdicts {
    pub fn count(&mut self, rejected: bool) {
        self.rejected += u64::from(rejected);
        self.accepted += u64::from(!rejected);
    }

    pub fn all(&self) -> u64 {
        self.accepted + self.rejected
    }
}

/// What one link of the solver chain did.
#[derive(Clone, Debug, Default, Serialize)]
pub struct LinkStats {
    pub name: String,
    pub asked: u64,
    pub sat: u64,
    pub unsat: u64,
    pub unknown: u64,
    /// Proposed inputs that did not pass the check; they are among `unknown` too.
    pub wrong: u64,
    /// Queries that cost the link its process; they are among `unknown` too.
    pub lost: u64,
    pub seconds: f64,
    /// Branch outcomes that its inputs were the first to take.
    pub outcomes: u64,
}

#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct PhaseTimes {
    #[serde(serialize_with = "seconds")]
    pub total: Duration,
    #[serde(serialize_with = "seconds")]
    pub running: Duration,
    /// The part of it that runs with a trace took.
    #[serde(serialize_with = "seconds")]
    pub tracing: Duration,
    #[serde(serialize_with = "seconds")]
    pub solving: Duration,
    /// Looking for sentences.
    #[serde(serialize_with = "seconds")]
    pub grammar: Duration,
    /// Second opinions.
    #[serde(serialize_with = "seconds")]
    pub examining: Duration,
}

fn seconds<S: serde::Serializer>(time: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64(time.as_secs_f64())
}

impl Stats {
    pub fn new() -> Stats {
        Stats { give_ups: vec![0; trace::GiveUp::ALL.len()], ..Stats::default() }
    }

    /// What kept the search from trying everything, with the options that change it.
    pub fn shortfalls(&self) -> Vec<String> {
        let reasons = [
            (
                self.dropped_flips,
                "flips were dropped, most of them of long loops (--exhaustive drops none)",
            ),
            (
                self.answers.unknown,
                "questions were beyond the solver (--solver-timeout gives it more time)",
            ),
            (self.concretisations, "values were fixed to what they were"),
            (self.give_ups.iter().sum(), "times symbolic data was dropped"),
            (self.divergences, "runs left the predicted path"),
            (self.truncated_traces + self.bad_traces, "traces were cut or could not be read"),
            (self.timeouts, "runs were stopped at the time limit (--timeout)"),
            (self.out_of_memory, "runs were stopped at the memory limit (--memory)"),
            (
                self.believed,
                "traces were made after others in one process (--fresh-process makes none)",
            ),
            (self.unstable, "inputs did something after others that they do not do alone"),
            (self.earlier_sessions, "earlier session may have left something out"),
            (self.overlooked, "lexer was not looked into (--lexer)"),
            (self.drawn_in_vain, "sentences drawn in a row had all been run and traced before"),
        ];
        reasons
            .iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, what)| format!("{count} {what}"))
            .collect()
    }

    /// Counts the functions through which symbolic data was lost.
    pub(crate) fn add_losses(&mut self, events: &[trace::Event]) {
        let give_ups = events.iter().filter(|event| event.kind == trace::EventKind::GiveUp as u8);
        for event in give_ups {
            use trace::GiveUp::{CameBack, External, InputTaken, Model, OtherProgram};
            match trace::GiveUp::from_byte(event.aux) {
                Some(External | InputTaken | OtherProgram | CameBack) => {
                    *self.lost_externals.entry(event.arg).or_default() += 1;
                }
                Some(Model) => *self.lost_calls.entry(event.site).or_default() += 1,
                _ => {}
            }
        }
    }

    /// Counts where the conditions of a path come from, those that only record a value apart.
    pub(crate) fn add_constraints(&mut self, constraints: &[path::Constraint]) {
        for constraint in constraints {
            if constraint.is_concretisation() {
                self.concretisations += 1;
                continue;
            }
            let site = constraint.site as usize;
            if self.constraint_sites.len() <= site {
                self.constraint_sites.resize(site + 1, 0);
            }
            self.constraint_sites[site] += 1;
        }
    }

    pub(crate) fn add_give_ups(&mut self, counts: &[u32; 32]) {
        for (total, &count) in self.give_ups.iter_mut().zip(counts) {
            *total += u64::from(count);
        }
    }
}

/// What each link of the chain has done so far, in the chain's order.
pub(crate) fn links(chain: &solver::Chain, returns: &Returns) -> Vec<LinkStats> {
    let link = |(name, counters): (&'static str, solver::Counters)| {
        LinkStats::new(name, &counters, returns.of_stage(name))
    };
    chain.counters().map(link).collect()
}

impl LinkStats {
    fn new(name: &str, counters: &solver::Counters, outcomes: u64) -> LinkStats {
        LinkStats {
            name: name.to_owned(),
            asked: counters.asked,
            sat: counters.sat,
            unsat: counters.unsat,
            unknown: counters.unknown,
            wrong: counters.wrong,
            lost: counters.lost,
            seconds: counters.time.as_secs_f64(),
            outcomes,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trace::{Event, EventKind, GiveUp};

    #[test]
    fn losses_are_counted_by_function_and_by_call() {
        let event = |reason: GiveUp, site, arg| Event {
            kind: EventKind::GiveUp as u8,
            aux: reason as u16,
            site,
            arg,
            ..Event::default()
        };
        let mut stats = Stats::new();
        stats.add_losses(&[
            event(GiveUp::External, 7, 2),
            event(GiveUp::Model, 7, 0),
            event(GiveUp::InputTaken, 8, 2),
            event(GiveUp::Vector, 9, 0),
        ]);
        assert_eq!(stats.lost_externals, BTreeMap::from([(2, 2)]));
        assert_eq!(stats.lost_calls, BTreeMap::from([(7, 1)]));
    }
}
