//! Words within a window that several readers accept, each of which reads a text of its own made
//! from the window's bytes.
//!
//! This is the question of a solver for programs: strings that the program cut out of its input,
//! changed and searched, are texts whose bytes stand somewhere in the input, and what the program
//! found out about each is a reader. The window is gone through from left to right, with the states
//! of all readers; of the ways to one combination of states the one that changes the fewest bytes
//! is kept. Most readers accept what others lead to, so this is first done without any, and then
//! again with those that did not accept the word found. So the answer is exact, and as close to the
//! present bytes as there is one. Where a reader of the whole window is context-free, the answer is
//! exact too, but only near.
//!
//! ```
//! use strings::{Budget, ByteSet, Cell, Languages, Occurrence, Reader, Track, Tracks};
//!
//! let pattern = [ByteSet::single(b'a'), ByteSet::single(b'b')];
//! let anywhere = vec![true, true, true, true, false];
//! let reader = Reader::Occurrence(Occurrence::new(&pattern, false, false, anywhere).unwrap());
//! let tracks = [Track { reader, cells: (0..4).map(Cell::at).collect() }];
//! let problem = Tracks { bytes: &[ByteSet::FULL; 4], near: b"xxbx", tracks: &tracks };
//! let word = problem.find(&mut Languages::default(), &mut Budget::default());
//! assert_eq!(word, Ok(Some(b"xabx".to_vec())));
//! ```

mod context_free;
mod readers;

use std::rc::Rc;

use rustc_hash::FxHashMap;

use crate::budget::{Budget, Stop};
use crate::bytes::{ByteSet, Class, classes};
use crate::language::Languages;
use context_free::Sentence;
use readers::{ACCEPTED, State};
pub use readers::{Comparison, Occurrence, Reader};

/// A byte of a text.
#[derive(Clone, Debug)]
pub enum Cell {
    Constant(u8),
    /// The byte at a position of the window, or what a function makes of it.
    Position(usize, Option<Rc<[u8; 256]>>),
}

impl Cell {
    pub fn at(position: usize) -> Cell {
        Cell::Position(position, None)
    }
}

/// A text and who reads it. The positions of its cells increase.
#[derive(Clone, Debug)]
pub struct Track {
    pub reader: Reader,
    pub cells: Vec<Cell>,
}

impl Track {
    /// Whether its positions increase and are in a window of this length.
    fn is_ordered(&self, length: usize) -> bool {
        let position = |cell: &Cell| match cell {
            Cell::Position(at, _) => Some(*at),
            Cell::Constant(_) => None,
        };
        let positions = self.cells.iter().filter_map(position);
        positions.chain([length]).is_sorted_by(|a, b| a < b)
    }

    /// Whether the reader accepts the text that a word of the window makes.
    fn accepts(&self, languages: &mut Languages, word: &[u8]) -> bool {
        let byte = |cell: &Cell| match cell {
            Cell::Constant(byte) => Some(*byte),
            Cell::Position(at, None) => word.get(*at).copied(),
            Cell::Position(at, Some(function)) => {
                word.get(*at).map(|&byte| function[usize::from(byte)])
            }
        };
        let text: Vec<u8> = self.cells.iter().filter_map(byte).collect();
        text.len() == self.cells.len()
            && read_all(&self.reader, languages, self.reader.start(), 0, &text, 0).is_some()
    }
}

/// See the module.
#[derive(Clone, Copy, Debug)]
pub struct Tracks<'t> {
    /// The bytes that each position may have.
    pub bytes: &'t [ByteSet],
    /// The word to stay close to; just as long.
    pub near: &'t [u8],
    pub tracks: &'t [Track],
}

/// A cell to be read when its position gets its byte, with the constants that follow it.
struct Step {
    track: usize,
    index: usize,
    function: Option<Rc<[u8; 256]>>,
    constants: Vec<u8>,
    /// Cells after all that.
    left: usize,
}

/// What is to be read when.
struct Plan {
    /// The states before the first position; `None` if a reader accepts nothing.
    start: Option<Vec<State>>,
    /// By position.
    steps: Vec<Vec<Step>>,
}

/// The sets that classes respect: by track what [`Reader::sets_key`] says, and the bytes that are
/// allowed.
type Sets = (Vec<(u32, u32)>, ByteSet);

/// The bytes at a position that lead to the same states: one of them, and whether it is a change.
type Choice = (u8, bool);

/// A prefix of the word: how many bytes it changes, and the prefix before its last byte. Its states
/// are kept beside.
#[derive(Clone, Copy)]
struct Prefix {
    changes: u32,
    before: u32,
    byte: u8,
}

impl Tracks<'_> {
    /// A word that all readers accept; `None` if there is none.
    pub fn find(
        &self,
        languages: &mut Languages,
        budget: &mut Budget,
    ) -> Result<Option<Vec<u8>>, Stop> {
        if self.bytes.len() != self.near.len() {
            return Err(Stop::Unsupported(
                "a word to stay close to that has another length".to_string(),
            ));
        }
        if !self.tracks.iter().all(|track| track.is_ordered(self.bytes.len())) {
            return Err(Stop::Unsupported("a text whose bytes are not in order".to_string()));
        }
        languages.watch(budget);
        let mut chosen: Vec<Track> = Vec::new();
        let mut open: Vec<&Track> = self.tracks.iter().collect();
        loop {
            let word = Tracks { tracks: &chosen, ..*self }.find_together(languages, budget)?;
            languages.stopped()?;
            let Some(word) = word else { return Ok(None) };
            let accepted = open.len();
            open.retain(|track| {
                let accepts = track.accepts(languages, &word);
                chosen.extend((!accepts).then(|| (*track).clone()));
                accepts
            });
            languages.stopped()?;
            if open.len() == accepted {
                return Ok(Some(word));
            }
        }
    }

    /// A word that all readers accept, with the states of all of them.
    fn find_together(
        &self,
        languages: &mut Languages,
        budget: &mut Budget,
    ) -> Result<Option<Vec<u8>>, Stop> {
        let plan = self.plan(languages);
        let Some(start) = plan.start else { return Ok(None) };
        let search = Search::new(self, plan.steps, start);
        match Sentence::find(self, languages) {
            Some(sentence) => sentence.word(search, languages, budget),
            None => search.run(languages, budget),
        }
    }

    fn plan(&self, languages: &mut Languages) -> Plan {
        let mut steps: Vec<Vec<Step>> = self.bytes.iter().map(|_| Vec::new()).collect();
        let mut start = Vec::with_capacity(self.tracks.len());
        for (track, Track { reader, cells }) in self.tracks.iter().enumerate() {
            let leading = constants(cells, 0);
            for (index, cell) in cells.iter().enumerate() {
                let Cell::Position(position, function) = cell else { continue };
                let constants = constants(cells, index + 1);
                let left = cells.len() - index - 1 - constants.len();
                steps[*position].push(Step {
                    track,
                    index,
                    function: function.clone(),
                    constants,
                    left,
                });
            }
            let left = cells.len() - leading.len();
            start.push(read_all(reader, languages, reader.start(), 0, &leading, left));
        }
        Plan { start: start.into_iter().collect(), steps }
    }
}

/// The constants from a cell on, up to the next one that is none.
fn constants(cells: &[Cell], from: usize) -> Vec<u8> {
    let constant = |cell: &Cell| match cell {
        Cell::Constant(byte) => Some(*byte),
        Cell::Position(..) => None,
    };
    cells[from..].iter().map_while(constant).collect()
}

/// Reads bytes from number `index` on, after which `left` are to come.
fn read_all(
    reader: &Reader,
    languages: &mut Languages,
    mut state: State,
    index: usize,
    bytes: &[u8],
    left: usize,
) -> Option<State> {
    for (offset, &byte) in bytes.iter().enumerate() {
        let after = bytes.len() - offset - 1 + left;
        state = reader.read(languages, state, index + offset, byte, after)?;
    }
    if left == 0 { reader.finish(languages, state) } else { Some(state) }
}

struct Search<'s> {
    problem: &'s Tracks<'s>,
    steps: Vec<Vec<Step>>,
    /// All prefixes, by length, and their states one after the other.
    prefixes: Vec<Prefix>,
    states: Vec<State>,
    /// Classes by the sets that they respect.
    classes: FxHashMap<Sets, Rc<[Class]>>,
}

impl<'s> Search<'s> {
    fn new(problem: &'s Tracks<'s>, steps: Vec<Vec<Step>>, start: Vec<State>) -> Search<'s> {
        let prefixes = vec![Prefix { changes: 0, before: u32::MAX, byte: 0 }];
        Search { problem, steps, prefixes, states: start, classes: FxHashMap::default() }
    }

    /// Follows all prefixes of one length together, the best one for each combination of states.
    fn run(
        mut self,
        languages: &mut Languages,
        budget: &mut Budget,
    ) -> Result<Option<Vec<u8>>, Stop> {
        let mut layer = 0..1;
        let mut known: FxHashMap<Box<[State]>, u32> = FxHashMap::default();
        let mut states = Vec::new();
        for position in 0..self.problem.bytes.len() {
            let choices = self.choices(languages, position);
            let next = self.prefixes.len();
            known.clear();
            for from in layer {
                budget.work(choices.len())?;
                for &(byte, changed) in &choices {
                    if !self.read(languages, from, position, byte, &mut states) {
                        continue;
                    }
                    let changes = self.prefixes[from].changes + u32::from(changed);
                    let prefix = Prefix { changes, before: from as u32, byte };
                    match known.get(&states[..]) {
                        Some(&id) if self.prefixes[id as usize].changes <= changes => {}
                        Some(&id) => self.prefixes[id as usize] = prefix,
                        None => {
                            budget.spend()?;
                            known.insert(states.clone().into(), self.prefixes.len() as u32);
                            self.prefixes.push(prefix);
                            self.states.extend_from_slice(&states);
                        }
                    }
                }
            }
            layer = next..self.prefixes.len();
        }
        let best = layer.min_by_key(|&id| self.prefixes[id].changes);
        Ok(best.map(|id| self.spell(id)))
    }

    /// The states after one more byte; false if a reader does not accept it.
    fn read(
        &self,
        languages: &mut Languages,
        from: usize,
        position: usize,
        byte: u8,
        states: &mut Vec<State>,
    ) -> bool {
        let count = self.problem.tracks.len();
        states.clear();
        states.extend_from_slice(&self.states[from * count..(from + 1) * count]);
        self.steps[position].iter().all(|step| {
            let state = &mut states[step.track];
            if *state == ACCEPTED {
                return true;
            }
            let reader = &self.problem.tracks[step.track].reader;
            let byte = step.function.as_ref().map_or(byte, |function| function[usize::from(byte)]);
            let left = step.constants.len() + step.left;
            let next = reader.read(languages, *state, step.index, byte, left).and_then(|next| {
                read_all(reader, languages, next, step.index + 1, &step.constants, step.left)
            });
            *state = next.unwrap_or(ACCEPTED);
            next.is_some()
        })
    }

    /// One byte of each class, the present one if it can be.
    fn choices(&mut self, languages: &Languages, position: usize) -> Vec<Choice> {
        let near = self.problem.near[position];
        let allowed = self.problem.bytes[position];
        let classes = self.classes_at(languages, position, allowed);
        let inside = classes.iter().filter(|class| allowed.contains(class.representative));
        inside
            .map(|class| match class.members.contains(near) {
                true => (near, false),
                false => (class.representative, true),
            })
            .collect()
    }

    fn classes_at(
        &mut self,
        languages: &Languages,
        position: usize,
        allowed: ByteSet,
    ) -> Rc<[Class]> {
        let (problem, steps) = (self.problem, &self.steps[position]);
        let reader = |step: &Step| &problem.tracks[step.track].reader;
        let key = |step: &Step| match step.function {
            // Functions are not compared.
            Some(_) => (step.track as u32, 1 << 16 | step.index as u32),
            None => (step.track as u32, reader(step).sets_key(step.index)),
        };
        let key = (steps.iter().map(key).collect(), allowed);
        let make = || {
            let sets = steps.iter().flat_map(|step| {
                let sets = reader(step).sets(languages, step.index).into_iter();
                sets.map(|set| match &step.function {
                    Some(function) => {
                        (0..=255).filter(|&b| set.contains(function[usize::from(b)])).collect()
                    }
                    None => set,
                })
            });
            classes(sets.chain([allowed])).into()
        };
        Rc::clone(self.classes.entry(key).or_insert_with(make))
    }

    fn spell(&self, end: usize) -> Vec<u8> {
        let mut word = Vec::new();
        let mut at = self.prefixes[end];
        while let Some(before) = self.prefixes.get(at.before as usize) {
            word.push(at.byte);
            at = *before;
        }
        word.reverse();
        word
    }
}
