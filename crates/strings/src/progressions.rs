//! Lengths of segments on the ways through a graph, as arithmetic progressions.
//!
//! A way through the graph of a scan reads one segment after the other. The lengths of a segment
//! between two places are finitely many progressions, because the sets of places after one byte,
//! two bytes and so on repeat at some point. One progression for each segment and the inequalities
//! make a linear system over integers, so conditions on lengths are decided without a bound.

use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::budget::{Budget, Stop};
use crate::inequalities::{Inequality, narrow};
use crate::language::UNBOUNDED;
use crate::linear::{Outcome, Row, solve};
use crate::scan::{SegmentId, Size};
use crate::search::Graph;

/// Sets of places that do not repeat after this many bytes are given up.
const BYTES: usize = 600;
/// So many choices of progressions are tried.
const CHOICES: usize = 10_000;

/// `least`, `least + period`, and so on up to `most`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Progression {
    least: u64,
    most: u64,
    period: u64,
}

/// The lengths of a segment by the place where the next one starts.
type Exits = Rc<Vec<(u32, Vec<Progression>)>>;

pub struct Lengths<'a> {
    graph: &'a Graph,
    /// The segments in the order in which they are read.
    segments: &'a [SegmentId],
    /// Segments whose lengths are asked for.
    measured: &'a [SegmentId],
    sizes: &'a [Size],
    inequalities: &'a [Inequality],
    exits: FxHashMap<u32, Exits>,
    chosen: Vec<Progression>,
    failed: FxHashSet<(u32, Vec<Progression>)>,
    choices: usize,
    unknown: bool,
}

impl<'a> Lengths<'a> {
    pub fn new(
        graph: &'a Graph,
        segments: &'a [SegmentId],
        measured: &'a [SegmentId],
        sizes: &'a [Size],
        inequalities: &'a [Inequality],
    ) -> Self {
        Lengths {
            graph,
            segments,
            measured,
            sizes,
            inequalities,
            exits: FxHashMap::default(),
            chosen: Vec::new(),
            failed: FxHashSet::default(),
            choices: 0,
            unknown: false,
        }
    }

    /// Lengths of the measured segments on some way that satisfies the inequalities; `None` if
    /// there is none.
    pub fn find(&mut self, budget: &mut Budget) -> Result<Option<Vec<u64>>, Stop> {
        let Some(start) = self.graph.start else { return Ok(None) };
        match self.extend(start, budget)? {
            None if self.unknown => Err(given_up()),
            found => Ok(found),
        }
    }

    fn extend(&mut self, place: u32, budget: &mut Budget) -> Result<Option<Vec<u64>>, Stop> {
        let Some(&segment) = self.segments.get(self.graph.places[place as usize].step as usize)
        else {
            return self.lengths(budget);
        };
        if self.failed.contains(&(place, self.chosen.clone())) {
            return Ok(None);
        }
        let is_measured = self.measured.contains(&segment);
        for (next, progressions) in self.exits(place, is_measured, budget)?.iter() {
            if !is_measured {
                if let Some(found) = self.extend(*next, budget)? {
                    return Ok(Some(found));
                }
                continue;
            }
            for progression in progressions {
                self.choices += 1;
                budget.spend()?;
                if self.choices > CHOICES {
                    return Err(given_up());
                }
                self.chosen.push(*progression);
                let found = if self.is_possible() { self.extend(*next, budget)? } else { None };
                self.chosen.pop();
                if found.is_some() {
                    return Ok(found);
                }
            }
        }
        self.failed.insert((place, self.chosen.clone()));
        Ok(None)
    }

    /// The measured segments in the order in which they are read.
    fn order(&self) -> impl Iterator<Item = SegmentId> + '_ {
        self.segments.iter().copied().filter(|segment| self.measured.contains(segment))
    }

    /// Whether the bounds of the progressions chosen so far leave anything.
    fn is_possible(&self) -> bool {
        let mut sizes = self.sizes.to_vec();
        for (segment, progression) in self.order().zip(&self.chosen) {
            let size = &mut sizes[segment];
            size.least = size.least.max(progression.least);
            size.most = size.most.min(progression.most);
        }
        sizes.iter().all(|size| size.least <= size.most) && narrow(self.inequalities, &mut sizes)
    }

    /// Solves the linear system of the chosen progressions.
    fn lengths(&mut self, budget: &mut Budget) -> Result<Option<Vec<u64>>, Stop> {
        let order: Vec<SegmentId> = self.order().collect();
        let rows = self.rows(&order);
        match solve(rows, order.len(), budget)? {
            Outcome::None => Ok(None),
            Outcome::Unknown => {
                self.unknown = true;
                Ok(None)
            }
            Outcome::Solution(counts) => {
                let length = |(progression, count): (&Progression, i128)| {
                    u64::try_from(
                        i128::from(progression.least) + i128::from(progression.period) * count,
                    )
                    .ok()
                };
                let lengths: Option<Vec<u64>> =
                    self.chosen.iter().zip(counts).map(length).collect();
                let Some(lengths) = lengths else { return Err(given_up()) };
                let of = |segment: &SegmentId| order.iter().position(|other| other == segment);
                Ok(Some(
                    self.measured
                        .iter()
                        .filter_map(|segment| Some(lengths[of(segment)?]))
                        .collect(),
                ))
            }
        }
    }

    fn rows(&self, order: &[SegmentId]) -> Vec<Row> {
        let mut rows = Vec::new();
        for inequality in self.inequalities {
            let mut row = Row { factors: vec![0; order.len()], constant: inequality.constant };
            for &(factor, segment) in &inequality.sum {
                if let Some(i) = order.iter().position(|&other| other == segment) {
                    row.factors[i] += factor * i128::from(self.chosen[i].period);
                    row.constant += factor * i128::from(self.chosen[i].least);
                }
            }
            rows.push(row);
        }
        for (i, (&segment, progression)) in order.iter().zip(&self.chosen).enumerate() {
            let size = self.sizes[segment];
            let unit = |factor: i128| {
                let mut factors = vec![0; order.len()];
                factors[i] = factor;
                factors
            };
            let (least, period) = (i128::from(progression.least), i128::from(progression.period));
            rows.push(Row { factors: unit(1), constant: 0 });
            rows.push(Row { factors: unit(period), constant: least - i128::from(size.least) });
            let most = size.most.min(progression.most);
            if most != UNBOUNDED {
                rows.push(Row { factors: unit(-period), constant: i128::from(most) - least });
            }
        }
        rows
    }

    /// Where the segment that starts at a place may end; without progressions if it is not
    /// measured.
    fn exits(&mut self, place: u32, is_measured: bool, budget: &mut Budget) -> Result<Exits, Stop> {
        if let Some(known) = self.exits.get(&place) {
            return Ok(known.clone());
        }
        let exits = if is_measured {
            self.by_length(place, budget)?
        } else {
            self.reachable(place, budget)?
        };
        let exits = Rc::new(exits);
        self.exits.insert(place, exits.clone());
        Ok(exits)
    }

    fn reachable(
        &self,
        place: u32,
        budget: &mut Budget,
    ) -> Result<Vec<(u32, Vec<Progression>)>, Stop> {
        let mut seen: FxHashSet<u32> = [place].into_iter().collect();
        let (mut open, mut exits) = (vec![place], Vec::new());
        while let Some(at) = open.pop() {
            budget.work(1 + self.graph.moves[at as usize].len())?;
            for &(class, to) in &self.graph.moves[at as usize] {
                if seen.insert(to) {
                    if class.is_some() { open.push(to) } else { exits.push((to, Vec::new())) }
                }
            }
        }
        Ok(exits)
    }

    fn by_length(
        &self,
        place: u32,
        budget: &mut Budget,
    ) -> Result<Vec<(u32, Vec<Progression>)>, Stop> {
        let mut known: FxHashMap<Vec<u32>, usize> = FxHashMap::default();
        let mut exits: Vec<(u32, Vec<u64>)> = Vec::new();
        let mut places = vec![place];
        let mut length = 0;
        let repeats = loop {
            if places.is_empty() {
                break None;
            }
            if let Some(&first) = known.get(&places) {
                break Some(first as u64);
            }
            if length == BYTES {
                return Err(given_up());
            }
            known.insert(places.clone(), length);
            let mut next = Vec::new();
            for &(class, to) in places.iter().flat_map(|&at| &self.graph.moves[at as usize]) {
                budget.work(1)?;
                match class {
                    Some(_) => next.push(to),
                    None => add(&mut exits, to, length as u64),
                }
            }
            next.sort_unstable();
            next.dedup();
            budget.spend_many(1 + next.len() / 8)?;
            places = next;
            length += 1;
        };
        let of =
            |(to, lengths): (u32, Vec<u64>)| (to, progressions(&lengths, repeats, length as u64));
        Ok(exits.into_iter().map(of).collect())
    }
}

fn given_up() -> Stop {
    Stop::Unsupported("lengths without bounds are compared".to_string())
}

fn add(exits: &mut Vec<(u32, Vec<u64>)>, to: u32, length: u64) {
    match exits.iter_mut().find(|exit| exit.0 == to) {
        Some((_, lengths)) if lengths.last() == Some(&length) => {}
        Some((_, lengths)) => lengths.push(length),
        None => exits.push((to, vec![length])),
    }
}

/// The lengths, where those from `repeats` on come again and again with the period `end - repeats`.
fn progressions(lengths: &[u64], repeats: Option<u64>, end: u64) -> Vec<Progression> {
    let first = repeats.unwrap_or(end);
    let (once, again): (Vec<u64>, Vec<u64>) = lengths.iter().partition(|&&length| length < first);
    let mut all: Vec<Progression> = Vec::new();
    for length in once {
        match all.last_mut() {
            Some(run) if run.most + 1 == length => run.most = length,
            _ => all.push(Progression { least: length, most: length, period: 1 }),
        }
    }
    let period = end - first;
    if again.len() as u64 == period && period > 0 {
        match all.last_mut() {
            Some(run) if run.most + 1 == first => run.most = UNBOUNDED,
            _ => all.push(Progression { least: first, most: UNBOUNDED, period: 1 }),
        }
        return all;
    }
    all.extend(again.into_iter().map(|least| Progression { least, most: UNBOUNDED, period }));
    all
}
