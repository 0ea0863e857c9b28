//! Walking a scan: a shortest path, the whole graph, and the automaton that saturation needs.

use std::collections::VecDeque;
use std::collections::hash_map::Entry;

use rustc_hash::FxHashMap;

use crate::budget::{Budget, Stop};
use crate::bytes::Class;
use crate::language::Languages;
use crate::saturate::Machine;
use crate::scan::{Place, Scan, SegmentId, Step};

/// The bytes of each segment that was read.
pub type Words = FxHashMap<SegmentId, Vec<u8>>;

/// Best-first search: places ordered by bytes read plus the fewest that must follow, the newest
/// first among equals.
struct Frontier {
    places: Vec<Place>,
    /// Bytes read, the place before and the byte that led here.
    best: Vec<(u64, u32, Option<u8>)>,
    ids: FxHashMap<Place, u32>,
    queue: Vec<Vec<(u32, u64)>>,
    lowest: usize,
}

const NONE: u32 = u32::MAX;

impl Frontier {
    fn reach(&mut self, place: Place, read: u64, distance: u64, from: u32, byte: Option<u8>) {
        let next = self.places.len() as u32;
        let id = match self.ids.entry(place) {
            Entry::Vacant(entry) => {
                entry.insert(next);
                self.places.push(place);
                self.best.push((read, from, byte));
                next
            }
            Entry::Occupied(entry) if self.best[*entry.get() as usize].0 > read => {
                self.best[*entry.get() as usize] = (read, from, byte);
                *entry.get()
            }
            Entry::Occupied(_) => return,
        };
        let priority = (read + distance) as usize;
        if priority >= self.queue.len() {
            self.queue.resize_with(priority + 1, Vec::new);
        }
        self.queue[priority].push((id, read));
        self.lowest = self.lowest.min(priority);
    }

    fn pop(&mut self) -> Option<(u32, u64)> {
        while self.lowest < self.queue.len() {
            if let Some((id, read)) = self.queue[self.lowest].pop() {
                if self.best[id as usize].0 == read {
                    return Some((id, read));
                }
            } else {
                self.lowest += 1;
            }
        }
        None
    }
}

/// The words of all segments on a shortest way from `from` to the end.
pub fn shortest(
    scan: &mut Scan,
    languages: &mut Languages,
    from: Place,
    budget: &mut Budget,
) -> Result<Option<Words>, Stop> {
    let mut frontier = Frontier {
        places: Vec::new(),
        best: Vec::new(),
        ids: FxHashMap::default(),
        queue: Vec::new(),
        lowest: usize::MAX,
    };
    let distance = scan.distance(languages, from);
    if distance > MAX_DISTANCE {
        return Err(Stop::Memory(MAX_DISTANCE as usize));
    }
    frontier.reach(from, 0, distance, NONE, None);
    let mut moves = Vec::new();
    while let Some((id, read)) = frontier.pop() {
        budget.spend()?;
        budget.spend_many(scan.take_growth())?;
        let place = frontier.places[id as usize];
        if scan.finished(place) {
            return Ok(Some(words(scan, &frontier, id)));
        }
        if let Some(next) = scan.leave(languages, place) {
            frontier.reach(next, read, scan.distance(languages, next), id, None);
        }
        scan.moves(languages, place, &mut moves);
        for (class, next) in moves.iter().rev() {
            let distance = scan.distance(languages, *next);
            if distance <= MAX_DISTANCE {
                frontier.reach(*next, read + 1, distance, id, Some(class.representative));
            }
        }
    }
    Ok(None)
}

/// Longer solutions than this are not looked for.
pub const MAX_DISTANCE: u64 = 1 << 24;

fn words(scan: &Scan, frontier: &Frontier, end: u32) -> Words {
    let mut words = Words::default();
    let mut at = end;
    while at != NONE {
        let (_, from, byte) = frontier.best[at as usize];
        if let Some(&Step::Segment(segment)) = scan.step(frontier.places[at as usize]) {
            words.entry(segment).or_default().extend(byte);
        }
        at = from;
    }
    words.values_mut().for_each(|word| word.reverse());
    words
}

/// So many moves are as large as a state.
const MOVES_OF_A_STATE: usize = 4;

/// Every place that lies on a way from the start to the end.
#[derive(Debug, Default)]
pub struct Graph {
    pub places: Vec<Place>,
    /// `None` for leaving a step.
    pub moves: Vec<Vec<(Option<Class>, u32)>>,
    /// How many bytes are read at least on the way to the end.
    pub rest: Vec<usize>,
    pub start: Option<u32>,
}

impl Graph {
    pub fn explore(
        scan: &mut Scan,
        languages: &mut Languages,
        budget: &mut Budget,
    ) -> Result<Self, Stop> {
        let Some(start) = scan.start(languages) else { return Ok(Graph::default()) };
        let mut graph = Graph { places: vec![start], ..Graph::default() };
        let mut ids = FxHashMap::from_iter([(start, 0)]);
        let mut moves = Vec::new();
        while graph.moves.len() < graph.places.len() {
            budget.spend()?;
            let place = graph.places[graph.moves.len()];
            let mut out = Vec::new();
            let left = scan.leave(languages, place).map(|next| (None, next));
            scan.moves(languages, place, &mut moves);
            for (class, next) in
                left.into_iter().chain(moves.iter().map(|&(class, next)| (Some(class), next)))
            {
                let id = *ids.entry(next).or_insert_with(|| {
                    graph.places.push(next);
                    graph.places.len() as u32 - 1
                });
                out.push((class, id));
            }
            budget.spend_many(scan.take_growth() + out.len() / MOVES_OF_A_STATE)?;
            graph.moves.push(out);
        }
        let ends: Vec<u32> = (0..graph.places.len())
            .filter(|&i| scan.finished(graph.places[i]))
            .map(|i| i as u32)
            .collect();
        Ok(graph.trim(&ends))
    }

    /// Keeps the places from which one of `ends` can be reached.
    fn trim(self, ends: &[u32]) -> Self {
        let rest = self.distances(ends);
        let mut new_id = vec![NONE; self.places.len()];
        let mut graph = Graph::default();
        for i in (0..self.places.len()).filter(|&i| rest[i] != usize::MAX) {
            new_id[i] = graph.places.len() as u32;
            graph.places.push(self.places[i]);
            graph.rest.push(rest[i]);
        }
        for (i, moves) in self.moves.into_iter().enumerate().filter(|&(i, _)| new_id[i] != NONE) {
            let alive = moves.into_iter().filter(|&(_, to)| new_id[to as usize] != NONE);
            graph.moves.push(alive.map(|(class, to)| (class, new_id[to as usize])).collect());
            debug_assert!((i as u32) >= new_id[i]);
        }
        graph.start = new_id.first().copied().filter(|&id| id != NONE);
        graph
    }

    /// How many bytes are read from each place to the nearest of `ends`, `usize::MAX` where none
    /// can be reached.
    fn distances(&self, ends: &[u32]) -> Vec<usize> {
        let mut back = vec![Vec::new(); self.places.len()];
        for (from, moves) in self.moves.iter().enumerate() {
            for &(class, to) in moves {
                back[to as usize].push((usize::from(class.is_some()), from as u32));
            }
        }
        let mut distances = vec![usize::MAX; self.places.len()];
        let mut open: VecDeque<(usize, u32)> = ends.iter().map(|&end| (0, end)).collect();
        while let Some((distance, place)) = open.pop_front() {
            if distances[place as usize] != usize::MAX {
                continue;
            }
            distances[place as usize] = distance;
            for &(read, from) in &back[place as usize] {
                if read == 0 {
                    open.push_front((distance, from));
                } else {
                    open.push_back((distance + 1, from));
                }
            }
        }
        distances
    }

    /// The automaton of what the first `steps` steps read.
    pub fn machine(&self, steps: u32, budget: &mut Budget) -> Result<Option<Machine>, Stop> {
        let Some(start) = self.start else { return Ok(None) };
        let mut machine = Machine { start, ..Machine::default() };
        for place in 0..self.places.len() as u32 {
            let (mut rest, mut moves) = (None, Vec::new());
            for at in self.without_reading(place, steps) {
                if self.places[at as usize].step >= steps {
                    rest = Some(self.rest[at as usize].min(rest.unwrap_or(usize::MAX)));
                } else {
                    moves.extend(
                        self.moves[at as usize]
                            .iter()
                            .filter_map(|&(class, to)| Some((class?.representative, to))),
                    );
                }
            }
            budget.spend_many(moves.len() / MOVES_OF_A_STATE)?;
            machine.rest.push(rest);
            machine.moves.push(moves);
        }
        machine.reduce(budget).map(Some)
    }

    /// Places that leaving steps reaches, itself included.
    fn without_reading(&self, place: u32, steps: u32) -> Vec<u32> {
        let mut all = vec![place];
        let mut next = 0;
        while next < all.len() {
            let at = all[next] as usize;
            next += 1;
            if self.places[at].step < steps {
                all.extend(
                    self.moves[at].iter().filter(|(class, _)| class.is_none()).map(|&(_, to)| to),
                );
            }
        }
        all
    }
}

/// Automata larger than this are taken as they are.
const REDUCE: usize = 2000;

impl Machine {
    /// Merges states with the same future, by refining a partition until it is stable.
    fn reduce(self, budget: &mut Budget) -> Result<Self, Stop> {
        if self.rest.len() > REDUCE {
            return Ok(self);
        }
        let mut ends = FxHashMap::default();
        let mut blocks: Vec<u32> = Vec::with_capacity(self.rest.len());
        for rest in &self.rest {
            let next = ends.len() as u32;
            blocks.push(*ends.entry(rest).or_insert(next));
        }
        let mut count = 0;
        loop {
            let mut ids: FxHashMap<(u32, Vec<(u8, u32)>), u32> = FxHashMap::default();
            let signature = |state: usize| {
                let mut moves: Vec<_> =
                    self.moves[state].iter().map(|&(b, to)| (b, blocks[to as usize])).collect();
                moves.sort_unstable();
                moves.dedup();
                (blocks[state], moves)
            };
            let mut refined = Vec::with_capacity(blocks.len());
            for state in 0..blocks.len() {
                budget.work(1 + self.moves[state].len())?;
                let next = ids.len() as u32;
                refined.push(*ids.entry(signature(state)).or_insert(next));
            }
            blocks = refined;
            if ids.len() == count {
                break;
            }
            count = ids.len();
        }
        Ok(self.quotient(&blocks, count))
    }

    fn quotient(self, blocks: &[u32], count: usize) -> Self {
        let mut machine = Machine {
            start: blocks[self.start as usize],
            rest: vec![None; count],
            moves: vec![Vec::new(); count],
        };
        for (state, moves) in self.moves.into_iter().enumerate() {
            let block = blocks[state] as usize;
            machine.rest[block] = self.rest[state];
            if machine.moves[block].is_empty() {
                machine.moves[block] =
                    moves.into_iter().map(|(byte, to)| (byte, blocks[to as usize])).collect();
            }
        }
        machine
    }
}

/// Splits a word that the first `steps` steps read into segments, and says where they end: where
/// the least must follow.
pub fn follow(
    scan: &Scan,
    graph: &Graph,
    word: &[u8],
    steps: u32,
    budget: &mut Budget,
) -> Result<Option<(Words, Place)>, Stop> {
    let Some(start) = graph.start else { return Ok(None) };
    // Each layer: the place, the index of the one before it in its layer, and whether a byte was
    // read.
    let mut layers: Vec<Vec<(u32, u32, bool)>> = vec![vec![(start, NONE, false)]];
    for position in 0..=word.len() {
        let mut next = 0;
        while next < layers[position].len() {
            let at = layers[position][next].0;
            budget.spend()?;
            budget.work(layers[position].len())?;
            for &(class, to) in &graph.moves[at as usize] {
                if graph.places[at as usize].step >= steps {
                    break;
                }
                match class {
                    None => insert(&mut layers[position], (to, next as u32, false)),
                    Some(class) => {
                        if word.get(position).is_some_and(|&byte| class.members.contains(byte)) {
                            if layers.len() == position + 1 {
                                layers.push(Vec::new());
                            }
                            insert(&mut layers[position + 1], (to, next as u32, true));
                        }
                    }
                }
            }
            next += 1;
        }
        if layers.len() == position + 1 && position < word.len() {
            return Ok(None);
        }
    }
    let last = &layers[layers.len() - 1];
    let ends = (0..last.len()).filter(|&end| graph.places[last[end].0 as usize].step >= steps);
    let Some(end) = ends.min_by_key(|&end| graph.rest[last[end].0 as usize]) else {
        return Ok(None);
    };
    let place = graph.places[last[end].0 as usize];
    let mut words = Words::default();
    let (mut layer, mut index) = (layers.len() - 1, end as u32);
    while index != NONE {
        let (at, before, read) = layers[layer][index as usize];
        if let Some(&Step::Segment(segment)) = scan.step(graph.places[at as usize]) {
            let word_of = words.entry(segment).or_default();
            if read {
                word_of.push(word[layer - 1]);
            }
        }
        layer -= usize::from(read);
        index = before;
    }
    words.values_mut().for_each(|word| word.reverse());
    Ok(Some((words, place)))
}

fn insert(layer: &mut Vec<(u32, u32, bool)>, entry: (u32, u32, bool)) {
    if layer.iter().all(|other| other.0 != entry.0) {
        layer.push(entry);
    }
}
