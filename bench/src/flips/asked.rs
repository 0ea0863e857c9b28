//! What a chain answers to the flips of a run, and how long it takes.

use super::rate;
use super::recorded::RecordedPath;
use smt::{Limits, Z3Link, standard_chain};
use solver::{Answer, Chain, ChainOptions, Counters, Lit, PathSolver};
use std::fmt::{self, Write as _};
use std::time::{Duration, Instant};

/// Bytes that an answer may be longer than the input.
const ROOM: usize = 100;

pub struct Asked {
    asked: usize,
    /// Sat, unsat, unknown.
    answers: [usize; 3],
    /// Preparation of the path included.
    pub time: Duration,
    links: Vec<(&'static str, Counters)>,
}

impl Asked {
    /// The whole chain, new, on at most `most` of the flips.
    pub fn chain(recorded: &RecordedPath, most: usize) -> Asked {
        let chain = standard_chain(ChainOptions::default(), Limits::default());
        Asked::new(recorded, chain, &recorded.sampled(most))
    }

    /// Z3 on at most `sample` of the flips. Slicing is not a link, so Z3 has the benefit of it.
    pub fn z3_alone(recorded: &RecordedPath, sample: usize) -> Asked {
        let options = ChainOptions { max_nodes: usize::MAX, ..ChainOptions::only(Z3Link::NAME) };
        let chain = standard_chain(options, Limits::default());
        Asked::new(recorded, chain, &recorded.sampled(sample))
    }

    fn new(recorded: &RecordedPath, mut chain: Chain, flips: &[(usize, Lit)]) -> Asked {
        let start = Instant::now();
        let max_len = recorded.input.len() + ROOM;
        let mut solver = PathSolver::new(&recorded.dag, &recorded.lits, &recorded.input, max_len);
        let mut answers = [0; 3];
        for &(prefix, goal) in flips {
            let answer = solver.solve(&mut chain, prefix, &[], goal);
            answers[match answer {
                Answer::Sat(_) => 0,
                Answer::Unsat => 1,
                Answer::Unknown(_) => 2,
            }] += 1;
        }
        Asked {
            asked: flips.len(),
            answers,
            time: start.elapsed(),
            links: chain.counters().collect(),
        }
    }

    /// Flips per second.
    pub fn rate(&self) -> f64 {
        rate(self.asked, self.time)
    }

    /// The share of all flips that Z3 was asked about.
    pub fn reach_z3(&self) -> f64 {
        let asked =
            self.links.iter().find(|(name, _)| *name == Z3Link::NAME).map_or(0, |(_, c)| c.asked);
        asked as f64 / self.asked as f64
    }

    /// One line a link.
    pub fn links(&self) -> String {
        let mut text = String::new();
        for (name, c) in self.links.iter().filter(|(_, c)| c.asked > 0) {
            let milliseconds = c.time.as_secs_f64() * 1e3;
            let _ = writeln!(
                text,
                "      {name:<11} asked {:>6}, sat {:>6}, unsat {:>6}, unknown {:>6}, wrong \
                 {:>3}, {milliseconds:>8.1} ms",
                c.asked, c.sat, c.unsat, c.unknown, c.wrong
            );
        }
        text.truncate(text.trim_end().len());
        text
    }
}

impl fmt::Display for Asked {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [sat, unsat, unknown] = self.answers;
        let seconds = self.time.as_secs_f64();
        write!(
            out,
            "{:>6} flips in {seconds:>7.3} s: {:>8.0} a second; {sat} sat, {unsat} unsat, \
             {unknown} unknown",
            self.asked,
            self.rate()
        )
    }
}
