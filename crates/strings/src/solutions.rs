//! All solutions: listed shortest first, or counted.
//!
//! Cases are made disjoint, and within a case the paths of the scan correspond one to one to
//! assignments, so nothing is counted twice. Context-free languages take part as automata where
//! they are regular, and by their recognizers where the lengths are bounded.

use std::ops::ControlFlow;

use num_bigint::BigUint;
use rustc_hash::FxHashSet;

use crate::budget::{Budget, Stop};
use crate::bytes::Class;
use crate::cases::Cases;
use crate::conjunction::{Conjunction, exact};
use crate::language::{Languages, UNBOUNDED};
use crate::problem::Problem;
use crate::scan::{Conjunct, Scan, SegmentId, Step};
use crate::search::{Graph, Words};
use crate::solve::{Answer, Case, word};

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Count {
    Finite(BigUint),
    Infinite,
}

/// Where the graph of all solutions is larger, they are listed length by length.
const AT_ONCE: usize = 5_000;

/// Called with each solution; says whether to go on.
pub type Visitor<'v> = dyn FnMut(&[Vec<u8>]) -> ControlFlow<()> + 'v;

impl Problem {
    /// The number of solutions.
    pub fn count(&mut self, budget: &mut Budget) -> Result<Count, Stop> {
        self.languages.watch(budget);
        let count = self.count_watched(budget);
        match self.languages.stopped().and(count) {
            Err(Stop::Unsupported(_)) if self.solve(budget) == Answer::Unsat => {
                Ok(Count::Finite(BigUint::ZERO))
            }
            count => count,
        }
    }

    fn count_watched(&mut self, budget: &mut Budget) -> Result<Count, Stop> {
        let mut total = BigUint::ZERO;
        let mut cases = Cases::new(&self.constraints, true);
        while let Some(literals) = cases.next(self) {
            let split = self.split(&literals, budget)?;
            if !split.cases.iter().all(Case::is_one_to_one) {
                return self.count_one_by_one(budget);
            }
            for case in split.cases {
                let graph = graph_of(&mut self.languages, case.conjunction(), budget)?;
                match graph
                    .map_or(Ok(Count::Finite(BigUint::ZERO)), |(_, graph)| graph.count(budget))?
                {
                    Count::Finite(count) => total += count,
                    Count::Infinite => return Ok(Count::Infinite),
                }
            }
            if let Some(stop) = split.incomplete {
                return Err(stop);
            }
        }
        Ok(Count::Finite(total))
    }

    fn count_one_by_one(&mut self, budget: &mut Budget) -> Result<Count, Stop> {
        let mut count = BigUint::ZERO;
        self.each_solution(budget, &mut |_| {
            count += 1u8;
            ControlFlow::Continue(())
        })?;
        Ok(Count::Finite(count))
    }

    /// Visits every solution, shortest first within a case. Solutions may be infinitely many.
    pub fn each_solution(
        &mut self,
        budget: &mut Budget,
        visit: &mut Visitor<'_>,
    ) -> Result<(), Stop> {
        self.languages.watch(budget);
        let visited = self.each_watched(budget, visit);
        self.languages.stopped().and(visited)
    }

    fn each_watched(&mut self, budget: &mut Budget, visit: &mut Visitor<'_>) -> Result<(), Stop> {
        let mut cases = Cases::new(&self.constraints, true);
        while let Some(literals) = cases.next(self) {
            let split = self.split(&literals, budget)?;
            let mut seen = FxHashSet::default();
            for case in split.cases {
                if self.each_of_case(&case, &mut seen, budget, visit)?.is_break() {
                    return Ok(());
                }
            }
            if let Some(stop) = split.incomplete {
                return Err(stop);
            }
        }
        Ok(())
    }

    fn each_of_case(
        &mut self,
        case: &Case,
        seen: &mut FxHashSet<Vec<Vec<u8>>>,
        budget: &mut Budget,
        visit: &mut Visitor<'_>,
    ) -> Result<ControlFlow<()>, Stop> {
        let variables = self.variables.len();
        let mut one = |problem: &mut Problem, words: &Words| {
            let solution: Vec<Vec<u8>> = (0..variables)
                .map(|variable| word(&case.segments.variable(variable), words))
                .collect();
            if !case.is_one_to_one()
                && (!problem.holds(&solution) || !seen.insert(solution.clone()))
            {
                return ControlFlow::Continue(());
            }
            visit(&solution)
        };
        let mut conjunction = case.conjunction();
        if !conjunction.prepare(&mut self.languages) {
            return Ok(ControlFlow::Continue(()));
        }
        match graph_of(&mut self.languages, conjunction.clone(), &mut budget.with_limit(AT_ONCE)) {
            Ok(None) => Ok(ControlFlow::Continue(())),
            Ok(Some((scan, graph))) => {
                graph.each_path(&scan, budget, &mut |words| one(self, words))
            }
            Err(Stop::Unsupported(_) | Stop::Memory(_)) => {
                for longest in 0..=conjunction.longest_segment(&self.languages) {
                    budget.check_time()?;
                    self.languages.stopped()?;
                    if (longest == 0 || longest.is_power_of_two())
                        && !has_solution_from(&mut self.languages, &conjunction, longest, budget)?
                    {
                        break;
                    }
                    let sliced = slice(&conjunction, longest);
                    let Some((scan, graph)) =
                        graph_of(&mut self.languages, sliced.clone(), budget)?
                    else {
                        continue;
                    };
                    let is_new = |words: &Words| is_at(&conjunction, words, longest);
                    let mut fresh = |words: &Words| {
                        if is_new(words) { one(self, words) } else { ControlFlow::Continue(()) }
                    };
                    if graph.each_path(&scan, budget, &mut fresh)?.is_break() {
                        return Ok(ControlFlow::Break(()));
                    }
                }
                Ok(ControlFlow::Continue(()))
            }
            Err(stop) => Err(stop),
        }
    }
}

/// The same with no segment longer than `longest`.
fn slice(conjunction: &Conjunction, longest: u64) -> Conjunction {
    let mut slice = conjunction.clone();
    slice.sizes.iter_mut().for_each(|size| size.most = size.most.min(longest));
    slice
}

/// Whether some solution has a segment of at least this length. Where that is not known, there may
/// be one.
fn has_solution_from(
    languages: &mut Languages,
    conjunction: &Conjunction,
    length: u64,
    budget: &mut Budget,
) -> Result<bool, Stop> {
    for &segment in &conjunction.segments {
        let mut longer = conjunction.clone();
        longer.sizes[segment].least = longer.sizes[segment].least.max(length);
        match longer.solve(languages, &mut budget.with_limit(AT_ONCE)) {
            Ok(None) => {}
            Err(Stop::Time) => return Err(Stop::Time),
            _ => return Ok(true),
        }
    }
    Ok(false)
}

/// Whether the longest segment has exactly this length.
fn is_at(conjunction: &Conjunction, words: &Words, longest: u64) -> bool {
    let lengths = conjunction.segments.iter().map(|segment| words.get(segment).map_or(0, Vec::len));
    lengths.max() == Some(longest as usize)
}

/// The graph of all solutions of a conjunction; `None` if there are none.
fn graph_of(
    languages: &mut Languages,
    mut conjunction: Conjunction,
    budget: &mut Budget,
) -> Result<Option<(Scan, Graph)>, Stop> {
    if !conjunction.prepare(languages) {
        return Ok(None);
    }
    let mut conjuncts = Vec::new();
    for conjunct in &conjunction.conjuncts {
        conjuncts.push(finite(languages, &conjunction, conjunct, budget)?);
    }
    let steps = conjunction.segments.iter().map(|&segment| Step::Segment(segment)).collect();
    let Some(mut scan) =
        Scan::new(languages, &conjuncts, steps, conjunction.sizes.clone(), &[], budget)?
    else {
        return Ok(None);
    };
    let graph = Graph::explore(&mut scan, languages, budget)?;
    Ok(graph.start.is_some().then_some((scan, graph)))
}

/// The conjunct with finitely many derivatives.
fn finite(
    languages: &mut Languages,
    conjunction: &Conjunction,
    conjunct: &Conjunct,
    budget: &Budget,
) -> Result<Conjunct, Stop> {
    if !languages.has_grammar(conjunct.language) {
        return Ok(conjunct.clone());
    }
    if let Some(exact) = exact(languages, conjunct) {
        return Ok(exact);
    }
    let bounded = conjunction.with_length(languages, conjunct);
    if bounded.language == conjunct.language && languages.longest(conjunct.language) == UNBOUNDED {
        let reason = "counting words of a context-free language needs a size (`var v : 0 .. 10;`)";
        return Err(Stop::Unsupported(reason.to_string()));
    }
    Ok(conjunction.written_out(languages, &bounded, budget)?.unwrap_or(bounded))
}

/// A number of so many bits is as large as a state.
const BITS_OF_A_STATE: usize = 1024;

impl Graph {
    fn count(&self, budget: &mut Budget) -> Result<Count, Stop> {
        let Some(start) = self.start else { return Ok(Count::Finite(BigUint::ZERO)) };
        let Some(order) = self.children_first(start) else { return Ok(Count::Infinite) };
        let mut counts = vec![BigUint::ZERO; self.places.len()];
        for place in order {
            let mut sum = BigUint::from(u8::from(self.moves[place as usize].is_empty()));
            for (class, to) in &self.moves[place as usize] {
                budget.work(1 + counts[*to as usize].bits() as usize / BITS_OF_A_STATE)?;
                sum += &counts[*to as usize] * class.map_or(1, |class| class.members.len());
            }
            budget.spend_many(sum.bits() as usize / BITS_OF_A_STATE)?;
            counts[place as usize] = sum;
        }
        Ok(Count::Finite(std::mem::take(&mut counts[start as usize])))
    }

    /// All places, each after those it leads to; `None` if there is a cycle.
    fn children_first(&self, start: u32) -> Option<Vec<u32>> {
        let mut state = vec![0u8; self.places.len()];
        let mut order = Vec::new();
        let mut calls = vec![(start, 0)];
        state[start as usize] = 1;
        while let Some((place, child)) = calls.pop() {
            match self.moves[place as usize].get(child) {
                None => {
                    state[place as usize] = 2;
                    order.push(place);
                }
                Some(&(_, to)) => {
                    calls.push((place, child + 1));
                    match state[to as usize] {
                        0 => {
                            state[to as usize] = 1;
                            calls.push((to, 0));
                        }
                        1 => return None,
                        _ => {}
                    }
                }
            }
        }
        Some(order)
    }

    /// Visits the words of every path, shortest first.
    fn each_path(
        &self,
        scan: &Scan,
        budget: &mut Budget,
        visit: &mut dyn FnMut(&Words) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>, Stop> {
        let Some(start) = self.start else { return Ok(ControlFlow::Continue(())) };
        let distances = &self.rest;
        // A path is its last place, the class read there, and the path before it.
        let mut paths: Vec<(u32, Option<Class>, u32)> = vec![(start, None, u32::MAX)];
        let mut queue: Vec<Vec<(u32, usize)>> = vec![Vec::new(); distances[start as usize] + 1];
        queue[distances[start as usize]].push((0, 0));
        let mut lowest = 0;
        while lowest < queue.len() {
            let Some((path, read)) = queue[lowest].pop() else {
                lowest += 1;
                continue;
            };
            budget.spend()?;
            let place = paths[path as usize].0;
            if scan.finished(self.places[place as usize]) {
                if self.each_spelling(scan, &paths, path, budget, visit)?.is_break() {
                    return Ok(ControlFlow::Break(()));
                }
                continue;
            }
            for &(class, to) in self.moves[place as usize].iter().rev() {
                let read = read + usize::from(class.is_some());
                let total = read + distances[to as usize];
                if total >= queue.len() {
                    queue.resize_with(total + 1, Vec::new);
                }
                queue[total].push((paths.len() as u32, read));
                paths.push((to, class, path));
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Visits every choice of bytes along one path of classes.
    fn each_spelling(
        &self,
        scan: &Scan,
        paths: &[(u32, Option<Class>, u32)],
        end: u32,
        budget: &mut Budget,
        visit: &mut dyn FnMut(&Words) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>, Stop> {
        let mut places: Vec<(SegmentId, Vec<u8>)> = Vec::new();
        let mut segments = Vec::new();
        let mut at = end;
        while at != u32::MAX {
            let (place, class, before) = paths[at as usize];
            if let Some(&Step::Segment(segment)) = scan.step(self.places[place as usize]) {
                segments.push(segment);
                places.extend(class.map(|class| (segment, class.members.iter().collect())));
            }
            at = before;
        }
        places.reverse();
        let mut choice = vec![0; places.len()];
        loop {
            budget.check_time()?;
            let mut words: Words = segments.iter().map(|&segment| (segment, Vec::new())).collect();
            for ((segment, bytes), &chosen) in places.iter().zip(&choice) {
                words.entry(*segment).or_default().push(bytes[chosen]);
            }
            if visit(&words).is_break() {
                return Ok(ControlFlow::Break(()));
            }
            let Some(next) = (0..places.len()).rev().find(|&i| choice[i] + 1 < places[i].1.len())
            else {
                return Ok(ControlFlow::Continue(()));
            };
            choice[next] += 1;
            choice[next + 1..].fill(0);
        }
    }
}
