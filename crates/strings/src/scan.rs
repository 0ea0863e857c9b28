//! Conjunctions of memberships, read from left to right.
//!
//! The unknowns are *segments*; a conjunct says that a sequence of segments and literals is a word
//! of a language. All conjuncts advance together over the segments in one order, so the states of
//! this automaton are tuples of languages. A conjunct that reads segments out of order or twice is
//! cut into *runs*; a run whose first language is not known yet is followed from every language
//! that it might start in, and the runs are put together at the end. Its paths correspond one to
//! one to assignments of the segments.

use std::rc::Rc;

use rustc_hash::FxHashMap;

use crate::budget::{Budget, Stop};
use crate::bytes::{Class, classes};
use crate::language::{Language, Languages, UNBOUNDED};

/// Index of a segment.
pub type SegmentId = usize;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    Literal(Vec<u8>),
    Segment(SegmentId),
}

/// Lengths that a segment may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    pub least: u64,
    pub most: u64,
}

/// `parts` is a word of `language`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conjunct {
    pub parts: Vec<Part>,
    pub language: Language,
}

/// One stretch of what is read: bytes of a segment, or literal bytes that only a context-free term
/// sees.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    Segment(SegmentId),
    Literal(Vec<u8>),
}

/// A place on the way: which step, how many bytes of it are read, and in which languages the
/// conjuncts are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Place {
    pub step: u32,
    pub count: u64,
    tuple: u32,
}

/// The part of a conjunct that reads segments in order.
#[derive(Debug)]
struct Run {
    /// For each segment that is read: the step, and the literal before it.
    reads: Vec<(u32, Vec<u8>)>,
    /// The literal after the last segment.
    trailing: Vec<u8>,
    /// The languages it might start in; one if that is known.
    starts: Vec<Language>,
    /// Whether it is the only run of its conjunct.
    alone: bool,
    first: bool,
}

/// The languages that the runs are in, for each language that a run might have started in.
type Tuple = Rc<[Box<[Language]>]>;

/// What one step does to one run.
#[derive(Debug)]
struct Action {
    run: u32,
    before: Vec<u8>,
    last: bool,
    /// Literal bytes of the conjunct that come later.
    literals_left: u64,
}

#[derive(Debug)]
pub struct Scan {
    steps: Vec<Step>,
    sizes: Vec<Size>,
    runs: Vec<Run>,
    actions: Vec<Vec<Action>>,
    /// Classes of all languages involved; with each, the byte that stands for it in the conjuncts.
    classes: Vec<(Class, u8)>,
    tuples: Vec<Tuple>,
    tuple_ids: FxHashMap<Tuple, u32>,
    /// Size of the tuples since `take_growth`, in states.
    growth: usize,
}

/// So many languages of a tuple are as large as a state.
const LANGUAGES_OF_A_STATE: usize = 16;
/// A run may start in this many languages.
const STARTS: usize = 50_000;

impl Scan {
    /// `None` if a conjunct without segments is false.
    pub fn new(
        languages: &mut Languages,
        conjuncts: &[Conjunct],
        steps: Vec<Step>,
        sizes: Vec<Size>,
        more: &[Language],
        budget: &mut Budget,
    ) -> Result<Option<Self>, Stop> {
        let roots: Vec<Language> = conjuncts.iter().map(|conjunct| conjunct.language).collect();
        let mut sets = languages.byte_sets(&roots);
        sets.extend(literal_bytes(conjuncts, &steps));
        let coarse = classes(sets.iter().copied());
        sets.extend(languages.byte_sets(more));
        let mut scan = Scan {
            actions: steps.iter().map(|_| Vec::new()).collect(),
            steps,
            sizes,
            runs: Vec::new(),
            classes: refine(&coarse, classes(sets)),
            tuples: Vec::new(),
            tuple_ids: FxHashMap::default(),
            growth: 0,
        };
        for conjunct in merge(languages, conjuncts) {
            if !scan.add(languages, &conjunct, budget)? {
                return Ok(None);
            }
        }
        Ok(Some(scan))
    }

    /// Cuts a conjunct into runs.
    fn add(
        &mut self,
        languages: &mut Languages,
        conjunct: &Conjunct,
        budget: &mut Budget,
    ) -> Result<bool, Stop> {
        let mut runs: Vec<Run> = Vec::new();
        let mut literal = Vec::new();
        for part in &conjunct.parts {
            match part {
                Part::Literal(text) => literal.extend_from_slice(text),
                Part::Segment(segment) => {
                    let step = self.step_of(*segment);
                    let in_order = runs
                        .last()
                        .and_then(|run| run.reads.last())
                        .is_some_and(|read| read.0 < step);
                    if !in_order {
                        runs.push(Run {
                            reads: Vec::new(),
                            trailing: Vec::new(),
                            starts: Vec::new(),
                            alone: false,
                            first: runs.is_empty(),
                        });
                    }
                    let last = runs.len() - 1;
                    runs[last].reads.push((step, std::mem::take(&mut literal)));
                }
            }
        }
        let Some(last) = runs.last_mut() else {
            return Ok(languages.contains(conjunct.language, &literal));
        };
        last.trailing = literal;
        let alone = runs.len() == 1;
        let closure =
            if alone { Vec::new() } else { self.closure(languages, conjunct.language, budget)? };
        for mut run in runs {
            run.alone = alone;
            run.starts = if run.first { vec![conjunct.language] } else { closure.clone() };
            self.add_actions(&run);
            self.runs.push(run);
        }
        Ok(true)
    }

    fn add_actions(&mut self, run: &Run) {
        let number = self.runs.len() as u32;
        let mut literals_left =
            run.reads.iter().map(|read| read.1.len()).sum::<usize>() + run.trailing.len();
        for (i, (step, before)) in run.reads.iter().enumerate() {
            literals_left -= before.len();
            self.actions[*step as usize].push(Action {
                run: number,
                before: before.clone(),
                last: i + 1 == run.reads.len(),
                literals_left: literals_left as u64,
            });
        }
    }

    fn step_of(&self, segment: SegmentId) -> u32 {
        let is_it = |step: &Step| matches!(step, Step::Segment(other) if *other == segment);
        self.steps.iter().position(is_it).unwrap_or_default() as u32
    }

    /// All languages that can be reached from one, itself first.
    fn closure(
        &self,
        languages: &mut Languages,
        from: Language,
        budget: &Budget,
    ) -> Result<Vec<Language>, Stop> {
        let mut budget = budget.with_limit(STARTS);
        let mut all = vec![from];
        let mut seen: rustc_hash::FxHashSet<Language> = all.iter().copied().collect();
        let mut next = 0;
        while next < all.len() {
            for (_, byte) in &self.classes {
                let to = languages.derivative(all[next], *byte);
                if seen.insert(to) {
                    budget.spend()?;
                    all.push(to);
                }
            }
            next += 1;
        }
        Ok(all)
    }

    pub fn start(&mut self, languages: &mut Languages) -> Option<Place> {
        let tuple: Vec<_> =
            self.runs.iter().map(|run| run.starts.clone().into_boxed_slice()).collect();
        self.enter(languages, 0, tuple)
    }

    /// How much memory the tuples took since the last call, in states.
    pub fn take_growth(&mut self) -> usize {
        std::mem::take(&mut self.growth)
    }

    pub fn finished(&self, place: Place) -> bool {
        place.step as usize == self.steps.len()
    }

    pub fn step(&self, place: Place) -> Option<&Step> {
        self.steps.get(place.step as usize)
    }

    /// No way from here to the end reads fewer bytes of segments.
    pub fn distance(&self, languages: &Languages, place: Place) -> u64 {
        let Some(actions) = self.actions.get(place.step as usize) else { return 0 };
        let tuple = &self.tuples[place.tuple as usize];
        let bound = |action: &Action| {
            let language = tuple[action.run as usize][0];
            languages.shortest(language).saturating_sub(action.literals_left)
        };
        actions
            .iter()
            .filter(|action| self.runs[action.run as usize].alone)
            .map(bound)
            .max()
            .unwrap_or(0)
    }

    /// The next places after reading one byte: a class of bytes and where it leads.
    pub fn moves(
        &mut self,
        languages: &mut Languages,
        place: Place,
        into: &mut Vec<(Class, Place)>,
    ) {
        into.clear();
        let Some(step) = self.steps.get(place.step as usize) else { return };
        match step {
            Step::Literal(text) => {
                if let Some(&byte) = text.get(place.count as usize) {
                    let class = Class {
                        representative: byte,
                        members: crate::bytes::ByteSet::single(byte),
                    };
                    into.push((class, Place { count: place.count + 1, ..place }));
                }
            }
            Step::Segment(segment) => {
                let size = self.sizes[*segment];
                if place.count >= size.most {
                    return;
                }
                let counted = if size.most == UNBOUNDED { size.least } else { size.most };
                let count = (place.count + 1).min(counted);
                let mut last = None;
                for i in 0..self.classes.len() {
                    let (class, byte) = self.classes[i];
                    let tuple = match last {
                        Some((known, tuple)) if known == byte => tuple,
                        _ => self.read(languages, place, byte),
                    };
                    last = Some((byte, tuple));
                    into.extend(tuple.map(|tuple| (class, Place { count, tuple, ..place })));
                }
            }
        }
    }

    fn read(&mut self, languages: &mut Languages, place: Place, byte: u8) -> Option<u32> {
        let actions = &self.actions[place.step as usize];
        if actions.is_empty() {
            return Some(place.tuple);
        }
        let mut tuple = self.tuples[place.tuple as usize].to_vec();
        for action in actions {
            for language in &mut tuple[action.run as usize] {
                *language = languages.derivative(*language, byte);
            }
            if is_dead(&tuple[action.run as usize]) {
                return None;
            }
        }
        Some(self.intern(tuple))
    }

    /// The place at the start of the next step, if this one may end here.
    pub fn leave(&mut self, languages: &mut Languages, place: Place) -> Option<Place> {
        let ended = match self.steps.get(place.step as usize)? {
            Step::Literal(text) => place.count as usize == text.len(),
            Step::Segment(segment) => place.count >= self.sizes[*segment].least,
        };
        if !ended {
            return None;
        }
        let mut tuple = self.tuples[place.tuple as usize].to_vec();
        for action in &self.actions[place.step as usize] {
            let run = &self.runs[action.run as usize];
            if action.last {
                advance(languages, &mut tuple[action.run as usize], &run.trailing);
            }
            if action.last && run.alone {
                if !languages.nullable(tuple[action.run as usize][0]) {
                    return None;
                }
                tuple[action.run as usize][0] = Languages::EPSILON;
            }
        }
        self.enter(languages, place.step + 1, tuple)
    }

    fn enter(
        &mut self,
        languages: &mut Languages,
        step: u32,
        mut tuple: Vec<Box<[Language]>>,
    ) -> Option<Place> {
        if step as usize == self.steps.len() {
            return self.fits_together(languages, &tuple).then(|| {
                let tuple = self.intern(tuple);
                Place { step, count: 0, tuple }
            });
        }
        for action in &self.actions[step as usize] {
            advance(languages, &mut tuple[action.run as usize], &action.before);
            if is_dead(&tuple[action.run as usize]) {
                return None;
            }
        }
        let tuple = self.intern(tuple);
        Some(Place { step, count: 0, tuple })
    }

    /// Whether the runs of each conjunct, one after the other, end in a language with the empty
    /// word.
    fn fits_together(&self, languages: &Languages, tuple: &[Box<[Language]>]) -> bool {
        let mut at = None;
        for (i, run) in self.runs.iter().enumerate() {
            if run.alone {
                continue;
            }
            at = if run.first {
                tuple[i].first().copied()
            } else {
                let index = run.starts.iter().position(|&start| Some(start) == at);
                index.map(|index| tuple[i][index])
            };
            let ends = self.runs.get(i + 1).is_none_or(|next| next.first);
            if ends && !at.is_some_and(|language| languages.nullable(language)) {
                return false;
            }
        }
        true
    }

    fn intern(&mut self, tuple: Vec<Box<[Language]>>) -> u32 {
        if let Some(&id) = self.tuple_ids.get(&tuple[..]) {
            return id;
        }
        let tuple = Tuple::from(tuple);
        let id = self.tuples.len() as u32;
        self.growth += tuple.iter().map(|run| run.len()).sum::<usize>() / LANGUAGES_OF_A_STATE;
        self.tuples.push(tuple.clone());
        self.tuple_ids.insert(tuple, id);
        id
    }
}

fn is_dead(languages: &[Language]) -> bool {
    languages.iter().all(|&language| language == Languages::EMPTY)
}

fn advance(languages: &mut Languages, states: &mut [Language], text: &[u8]) {
    for state in states {
        *state = text.iter().fold(*state, |language, &byte| languages.derivative(language, byte));
    }
}

fn literal_bytes(conjuncts: &[Conjunct], steps: &[Step]) -> Vec<crate::bytes::ByteSet> {
    let literals =
        conjuncts.iter().flat_map(|conjunct| &conjunct.parts).filter_map(|part| match part {
            Part::Literal(text) => Some(text),
            Part::Segment(_) => None,
        });
    let visible = steps.iter().filter_map(|step| match step {
        Step::Literal(text) => Some(text),
        Step::Segment(_) => None,
    });
    let bytes: crate::bytes::ByteSet = literals.chain(visible).flatten().copied().collect();
    bytes.iter().map(crate::bytes::ByteSet::single).collect()
}

/// Pairs each class with the representative of the coarser class around it; classes of one coarser
/// class stand together.
fn refine(coarse: &[Class], fine: Vec<Class>) -> Vec<(Class, u8)> {
    let around = |class: &Class| {
        coarse.iter().position(|outer| outer.members.contains(class.representative))
    };
    let mut pairs: Vec<(usize, Class)> =
        fine.into_iter().filter_map(|class| Some((around(&class)?, class))).collect();
    pairs.sort_by_key(|pair| pair.0);
    pairs.into_iter().map(|(outer, class)| (class, coarse[outer].representative)).collect()
}

/// Conjuncts over the same parts become one.
fn merge(languages: &mut Languages, conjuncts: &[Conjunct]) -> Vec<Conjunct> {
    let mut merged: Vec<Conjunct> = Vec::new();
    for conjunct in conjuncts {
        match merged.iter_mut().find(|other| other.parts == conjunct.parts) {
            Some(other) => other.language = languages.and([other.language, conjunct.language]),
            None => merged.push(conjunct.clone()),
        }
    }
    merged
}
