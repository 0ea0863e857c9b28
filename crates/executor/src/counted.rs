//! What keeps a run going that does not end: its loops, with their rounds and the operands of their
//! conditions, as the counted variant leaves them when its time is over.
//!
//! The variant is made when the first hang is looked into; most programs need none.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

use compiler::{DeriveOptions, Variant, derive};
use path::PathCondition;
use runner::{Runner, TargetOptions, default_capacities};
use search::{Condition, Execution, InputByte, LoopRounds, OperandValues, Outcome, Rounds};
use sites::{LAST_ROUNDS, LoopExit, LoopTable, Operand, OperandKind, SiteKind, SiteTable};
use trace::Capacities;

use crate::TargetError;
use crate::traced::read_table;

pub(crate) struct Counted {
    program: PathBuf,
    options: TargetOptions,
    sites: SiteTable,
    /// `None` after a failure: hangs are reported without.
    variant: Option<Start>,
}

enum Start {
    NotYet,
    Started { table: LoopTable, runner: Box<Runner> },
}

impl Counted {
    /// `options` and `sites` are those of the traced variant.
    pub(crate) fn new(program: PathBuf, options: TargetOptions, sites: SiteTable) -> Counted {
        Counted { program, options, sites, variant: Some(Start::NotYet) }
    }

    /// The loops in which a run on `input` is when its time is over; `None` if it ends, or if
    /// nothing can be counted.
    pub(crate) fn count(&mut self, input: &[u8], run_time: Duration) -> Option<Going> {
        if let Some(Start::NotYet) = self.variant {
            self.variant = start(self.program.clone(), self.options.clone()).ok();
        }
        let Some(Start::Started { table, runner }) = &mut self.variant else { return None };
        runner.set_times(run_time, None);
        let run = runner.run(input, false).ok()?;
        let words = words(run.coverage);
        (run.outcome == Outcome::Timeout).then(|| going(table, &words))
    }

    /// The same with what the conditions depend on, by a traced run on the same input.
    pub(crate) fn explain(&self, going: Going, input: &[u8], traced: Execution) -> Rounds {
        let sites: BTreeSet<u32> = going.sites.iter().flatten().flatten().copied().collect();
        let is_reached = sites.is_empty() || self.covers(&traced.covered, &sites);
        let Some(mut trace) = traced.trace else { return Rounds { cut: true, ..going.rounds } };
        let path = PathCondition::new(&mut trace, &self.sites);
        let of_loops = path.constraints.iter().filter(|of| sites.contains(&of.site));
        let depends: Vec<(u32, Vec<u32>)> =
            of_loops.map(|of| (of.site, trace.dag.support(of.label).bytes().collect())).collect();
        let bytes = |wanted: &[u32]| -> Vec<InputByte> {
            let of_these = depends.iter().filter(|(site, _)| wanted.contains(site));
            let offsets: BTreeSet<u32> = of_these.flat_map(|(_, bytes)| bytes).copied().collect();
            let byte =
                |offset: u32| Some(InputByte { offset, value: *input.get(offset as usize)? });
            offsets.into_iter().filter_map(byte).collect()
        };
        let mut rounds = going.rounds;
        for (of, sites) in rounds.loops.iter_mut().zip(&going.sites) {
            let [exits, others] = sites;
            for (condition, exit) in of.conditions.iter_mut().zip(exits) {
                condition.depends_on = bytes(&[*exit]);
            }
            of.decided_by = bytes(others);
        }
        Rounds { cut: trace.truncated || !is_reached, ..rounds }
    }

    /// Whether a run came to one of these branches.
    fn covers(&self, covered: &[u32], branches: &BTreeSet<u32>) -> bool {
        let outcomes = |site: &u32| match &self.sites.sites.get(*site as usize)?.kind {
            SiteKind::Branch { coverage } => Some(*coverage..=coverage + 1),
            SiteKind::Switch { coverage, cases } => Some(*coverage..=coverage + cases.len() as u32),
            SiteKind::Plain => None,
        };
        let outcomes = || branches.iter().filter_map(outcomes);
        covered.iter().any(|outcome| outcomes().any(|range| range.contains(outcome)))
    }
}

/// Loops that keep going, and the numbers of their exits and of their other branches.
pub(crate) struct Going {
    rounds: Rounds,
    sites: Vec<[Vec<u32>; 2]>,
}

fn start(program: PathBuf, mut options: TargetOptions) -> Result<Start, TargetError> {
    let derived = derive(&program, Variant::Counted, &DeriveOptions::from_environment()?)?;
    let table: LoopTable = read_table(&derived.sites)?;
    options.program = derived.executable;
    let input = options.capacities.input;
    options.capacities = Capacities { input, ..default_capacities(table.len()) };
    let does_not_run = |source| TargetError::DoesNotRun { variant: Variant::Counted, source };
    let runner = Box::new(Runner::start(options).map_err(does_not_run)?);
    Ok(Start::Started { table, runner })
}

fn words(counters: &[u8]) -> Vec<u64> {
    let word = |bytes: &[u8]| bytes.try_into().map(u64::from_ne_bytes).unwrap_or_default();
    counters.chunks(8).map(word).collect()
}

/// Around the innermost loop that keeps going.
const MAX_LOOPS: usize = 3;

/// A loop that is entered again and again is not what keeps a run going: the innermost of those
/// that ran all through the second half of all rounds is.
fn going(table: &LoopTable, words: &[u64]) -> Going {
    let word = |at: u32| words.get(at as usize).copied().unwrap_or(0);
    let (clock, numbers) = (word(0), 0..table.loops.len() as u32);
    let entered_at = |number: u32| word(table.word_of_loop(number) + 2);
    let runs = |number: &u32| {
        word(table.word_of_loop(*number)) == 1 && entered_at(*number) <= clock.div_ceil(2)
    };
    let mut running: Vec<u32> = numbers.filter(runs).collect();
    running.sort_by_key(|number| std::cmp::Reverse(entered_at(*number)));
    running.truncate(MAX_LOOPS);
    let exits = |number: u32| {
        let exits = table.exits.iter().zip(0..);
        exits.filter(move |(exit, _)| exit.loops.contains(&number))
    };
    let of = |&number: &u32| {
        let (site, first) = (&table.loops[number as usize], table.word_of_loop(number));
        let conditions =
            exits(number).map(|(exit, at)| condition(exit, table.word_of_exit(at), &word));
        LoopRounds {
            function: site.function.clone(),
            place: site.place.clone(),
            rounds: word(first + 1),
            entered: word(first + 3),
            conditions: conditions.collect(),
            decided_by: Vec::new(),
        }
    };
    let sites = |&number: &u32| {
        let exits: Vec<u32> = exits(number).map(|(exit, _)| exit.site).collect();
        let others = table.loops[number as usize].branches.iter();
        let others = others.filter(|site| !exits.contains(site)).copied().collect();
        [exits, others]
    };
    let sites = running.iter().map(sites).collect();
    Going { rounds: Rounds { loops: running.iter().map(of).collect(), cut: false }, sites }
}

fn condition(exit: &LoopExit, first: u32, word: &impl Fn(u32) -> u64) -> Condition {
    let name = |operand: &Operand, side: u32| {
        let sides = ["the left side", "the right side"];
        operand.name.clone().unwrap_or_else(|| sides[side as usize].to_owned())
    };
    let left = name(&exit.left, 0);
    let goes_on_while = match &exit.comparison {
        Some((sign, right)) => format!("{left} {sign} {}", name(right, 1)),
        None => format!("{left} is in no case that leaves it"),
    };
    let passed = word(first);
    let rounds = passed.saturating_sub(u64::from(LAST_ROUNDS))..passed;
    let at = |round: u64| first + 1 + 2 * (round % u64::from(LAST_ROUNDS)) as u32;
    let values = |operand: &Operand, side: u32| {
        let values = rounds.clone().map(|round| shown(operand.kind, word(at(round) + side)));
        OperandValues { name: name(operand, side), values: values.collect() }
    };
    let right = exit.comparison.as_ref().map(|(_, right)| right);
    let sides = [Some(&exit.left), right].into_iter().flatten().zip(0..);
    let is_kept = |of: &Operand| ![OperandKind::Constant, OperandKind::TooLarge].contains(&of.kind);
    let varying = sides.filter(|(operand, _)| is_kept(operand));
    let operands = varying.map(|(operand, side)| values(operand, side)).collect();
    let (place, depends_on) = (exit.place.clone(), Vec::new());
    Condition { place, goes_on_while, passed, operands, depends_on }
}

fn shown(kind: OperandKind, word: u64) -> String {
    match kind {
        OperandKind::Signed => (word as i64).to_string(),
        OperandKind::Constant | OperandKind::TooLarge | OperandKind::Unsigned => word.to_string(),
        OperandKind::Pointer => format!("{word:#x}"),
        OperandKind::Float => f64::from_bits(word).to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sites::LoopSite;

    /// Loops with when they were entered, if they run.
    fn table(loops: &[Option<u64>], clock: u64) -> (LoopTable, Vec<u64>) {
        let site = |number: usize| LoopSite {
            function: format!("f{number}"),
            place: String::new(),
            branches: Vec::new(),
        };
        let sites = (0..loops.len()).map(site).collect();
        let of = |entered: &Option<u64>| match entered {
            Some(at) => [1, clock - at, *at, 1],
            None => [0, 5, 1, 1],
        };
        let words = std::iter::once(clock).chain(loops.iter().flat_map(of)).collect();
        (LoopTable { loops: sites, exits: Vec::new() }, words)
    }

    fn functions(loops: &[Option<u64>], clock: u64) -> Vec<String> {
        let (table, words) = table(loops, clock);
        going(&table, &words).rounds.loops.into_iter().map(|of| of.function).collect()
    }

    #[test]
    fn the_innermost_loop_that_was_never_left_comes_first() {
        assert_eq!(functions(&[Some(1), Some(9)], 1000), ["f1", "f0"]);
        assert_eq!(functions(&[Some(1), Some(990)], 1000), ["f0"], "entered again and again");
        assert_eq!(functions(&[None, Some(3)], 1000), ["f1"]);
        assert!(functions(&[None], 1000).is_empty());
    }

    #[test]
    fn the_last_rounds_are_in_order() {
        let operand = |name: &str, kind| Operand { name: Some(name.to_owned()), kind };
        let right = operand("10", OperandKind::Constant);
        let exit = LoopExit {
            loops: vec![0],
            site: 1,
            place: String::new(),
            left: operand("i", OperandKind::Signed),
            comparison: Some(("<".to_owned(), right)),
        };
        let words = [6, 4, 0, 5, 0, (-2i64) as u64, 0, 3, 0];
        let of = condition(&exit, 0, &|at| words[at as usize]);
        assert_eq!(of.goes_on_while, "i < 10");
        assert_eq!(of.operands.len(), 1);
        assert_eq!(of.operands[0].values, ["-2", "3", "4", "5"]);
    }
}
