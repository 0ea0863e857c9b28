//! Conjunctions with conditions on the lengths of segments.
//!
//! Lengths come first: some that the conjuncts and the conditions allow, or a proof that there are
//! none. The words follow as for any segments of known sizes. This needs regular conjuncts.

use crate::budget::{Budget, Stop};
use crate::conjunction::{Conjunction, exact};
use crate::inequalities::{Inequality, narrow};
use crate::language::{Languages, UNBOUNDED};
use crate::progressions::Lengths;
use crate::scan::{Scan, SegmentId, Size, Step};
use crate::search::{Graph, Words};

/// Known lengths up to this are counted by the automaton, so that it stays small.
const COUNTED: u64 = 200;
/// Larger graphs are not searched for lengths.
const PLACES: usize = 100_000;
/// How often a shorter solution is looked for.
const SHORTER: usize = 8;

impl Conjunction {
    /// Words for all segments that satisfy the inequalities too.
    pub fn solve_measured(
        mut self,
        languages: &mut Languages,
        budget: &mut Budget,
    ) -> Result<Option<Words>, Stop> {
        let mut inequalities = std::mem::take(&mut self.inequalities);
        if !narrow(&inequalities, &mut self.sizes.clone()) {
            return Ok(None);
        }
        for conjunct in &mut self.conjuncts {
            if languages.has_grammar(conjunct.language) {
                let Some(regular) = exact(languages, conjunct) else {
                    let reason = "lengths are compared beside a context-free language".to_string();
                    return Err(Stop::Unsupported(reason));
                };
                *conjunct = regular;
            }
        }
        let measured = measured(&inequalities);
        let graph = match self.graph(languages, &measured, &mut budget.with_limit(PLACES)) {
            Ok(Some(graph)) => graph,
            Ok(None) => return Ok(None),
            Err(Stop::Memory(_)) => {
                return Err(Stop::Unsupported("lengths are compared in a large graph".to_string()));
            }
            Err(stop) => return Err(stop),
        };
        let mut best: Option<Vec<u64>> = None;
        for _ in 0..SHORTER {
            let mut lengths =
                Lengths::new(&graph, &self.segments, &measured, &self.sizes, &inequalities);
            match lengths.find(budget) {
                Ok(Some(found)) => {
                    inequalities.push(shorter_than(&measured, &found));
                    best = Some(found);
                }
                Err(stop) if best.is_none() => return Err(stop),
                _ => break,
            }
        }
        let Some(lengths) = best else { return Ok(None) };
        for (&segment, length) in measured.iter().zip(lengths) {
            self.sizes[segment] = Size { least: length, most: length };
        }
        match self.scan(languages, &self.conjuncts, budget)? {
            None => Err(Stop::Unsupported("internal error: lengths without words".to_string())),
            words => Ok(words),
        }
    }

    /// The graph of the conjuncts, in which measured segments have any length.
    fn graph(
        &self,
        languages: &mut Languages,
        measured: &[SegmentId],
        budget: &mut Budget,
    ) -> Result<Option<Graph>, Stop> {
        let mut sizes = self.sizes.clone();
        for &segment in measured {
            let size = &mut sizes[segment];
            if size.least < size.most || size.least > COUNTED {
                *size = Size { least: 0, most: UNBOUNDED };
            }
        }
        let steps = self.segments.iter().map(|&segment| Step::Segment(segment)).collect();
        let Some(mut scan) = Scan::new(languages, &self.conjuncts, steps, sizes, &[], budget)?
        else {
            return Ok(None);
        };
        let graph = Graph::explore(&mut scan, languages, budget)?;
        Ok(graph.start.is_some().then_some(graph))
    }
}

fn measured(inequalities: &[Inequality]) -> Vec<SegmentId> {
    let mut all: Vec<SegmentId> = inequalities
        .iter()
        .flat_map(|inequality| inequality.sum.iter().map(|part| part.1))
        .collect();
    all.sort_unstable();
    all.dedup();
    all
}

fn shorter_than(measured: &[SegmentId], lengths: &[u64]) -> Inequality {
    let total: i128 = lengths.iter().map(|&length| i128::from(length)).sum();
    Inequality { sum: measured.iter().map(|&segment| (-1, segment)).collect(), constant: total - 1 }
}
