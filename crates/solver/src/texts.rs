//! String-shaped questions: searches in texts and comparisons of texts, sets of bytes at single
//! positions, and languages that parts of the input must belong to.
//!
//! All of them become readers of one window, the bytes that the query is about, and `strings` finds
//! the word nearest to the present bytes. Both answers are exact where every literal became a
//! reader or a set of bytes; others are left out, which keeps "unsat" right, and an answer has to
//! meet them by luck, or after bytes that nobody reads were changed for them.

use crate::domain::Problem;
use crate::inversion::repaired;
use crate::query::{Answer, Effort, Lit, Query, UnknownReason};
use crate::text_atoms::Atom;
use crate::truth::{ShapeMap, Truths};
use expr::{Dag, Evaluator, Label, Op, Supports};
use rustc_hash::FxHashSet;
use std::ops::Range;
use std::rc::Rc;
use strings::{Budget, ByteSet, Cell, Language, Languages, Reader, Stop, Track, Tracks};

/// Parts of the input that must stay words of languages.
#[derive(Debug)]
pub struct Restrictions<'r> {
    /// Where the languages are from.
    pub languages: &'r mut Languages,
    pub windows: &'r [(Range<u32>, Language)],
}

impl Restrictions<'_> {
    pub(crate) fn reborrow(&mut self) -> Restrictions<'_> {
        Restrictions { languages: self.languages, windows: self.windows }
    }
}

/// Combinations of states that a search may take.
const MAX_STATES: usize = 1 << 17;
/// What part of them a quick search may take.
const QUICK_SHARE: usize = 16;

/// Whether there is an operation on a text at all.
pub(crate) fn has_texts(dag: &Dag) -> bool {
    !dag.tables().is_empty() && (1..dag.len() as Label).any(|label| dag.op(label).is_text())
}

pub(crate) fn solve(truths: &mut Truths, query: &Query) -> Answer {
    solve_within(
        truths,
        query,
        &mut Restrictions { languages: &mut Languages::default(), windows: &[] },
    )
}

/// As [`solve`], with parts of the answer in languages. "Unsat" proves nothing then: bytes of those
/// parts that the query does not mention keep their values.
pub(crate) fn solve_within(
    truths: &mut Truths,
    query: &Query,
    restrictions: &mut Restrictions,
) -> Answer {
    let Some(problem) = Problem::new(truths, query) else { return Answer::Unsat };
    let windows = restrictions.windows.iter().filter(|(range, _)| problem.concerns(range));
    let windows: Vec<(Range<u32>, Language)> = windows.cloned().collect();
    let mut window = Window::new(query, &problem, &windows);
    let Some(exact) = window.read_all(truths, query, &problem.joint) else {
        return Answer::Unknown(UnknownReason::Unsupported);
    };
    window.restrict(&windows);
    let share = if query.effort == Effort::Full { 1 } else { QUICK_SHARE };
    let mut budget = Budget::default().with_limit(MAX_STATES / share);
    match window.tracks().find(restrictions.languages, &mut budget) {
        Ok(Some(word)) => {
            let len =
                problem.length.and_then(|set| set.preferred(query.current.len() as u64).next());
            let bytes = window.places.iter().copied().zip(word);
            let input = query.input_with(bytes, len.map(|len| len as usize));
            if exact || holds(query, &input) {
                return Answer::Sat(input);
            }
            // A checksum of the text may stand beside it.
            let repaired =
                if windows.is_empty() { repaired(query, &input, &window.read()) } else { None };
            repaired.map_or(Answer::Unknown(UnknownReason::Unsupported), Answer::Sat)
        }
        Ok(None) if restrictions.windows.is_empty() => Answer::Unsat,
        Ok(None) | Err(Stop::Unsupported(_)) => Answer::Unknown(UnknownReason::Unsupported),
        Err(Stop::Memory(_)) => Answer::Unknown(UnknownReason::Budget),
        Err(Stop::Time) => Answer::Unknown(UnknownReason::Timeout),
    }
}

fn holds(query: &Query, input: &[u8]) -> bool {
    let mut evaluator = Evaluator::new();
    let mut evaluation = evaluator.under(query.dag, input);
    query.literals().all(|lit| evaluation.holds(lit.label) == lit.value)
}

/// Expressions as functions of one byte of the input.
struct ByteFunctions<'t> {
    truths: &'t mut Truths,
    map: ShapeMap,
    supports: Supports,
}

impl ByteFunctions<'_> {
    /// The number of the byte, and the function unless it is the byte itself.
    fn of(&mut self, dag: &Dag, label: Label) -> Option<(u32, Option<Rc<[u8; 256]>>)> {
        if dag.op(label) == Op::Input {
            return Some((dag.node(label).a, None));
        }
        let support = self.supports.of(dag, label);
        let input = self.supports.get(support).single_byte()?;
        let function = self.truths.byte_function(&mut self.map, dag, label)?;
        Some((input, Some(Rc::new(function))))
    }
}

/// The bytes that the answer may change, and who reads them.
struct Window {
    /// Numbers of input bytes, in order.
    places: Vec<u32>,
    allowed: Vec<ByteSet>,
    near: Vec<u8>,
    tracks: Vec<Track>,
}

impl Window {
    fn new(query: &Query, problem: &Problem, windows: &[(Range<u32>, Language)]) -> Window {
        let current = |byte: u32| query.current.get(byte as usize).copied().unwrap_or(query.filler);
        let mut bytes: Vec<(u32, ByteSet)> =
            problem.bytes.iter().map(|&(byte, set)| (byte, ByteSet::from(set.words()))).collect();
        let others = windows.iter().flat_map(|(range, _)| range.clone());
        let others = others
            .filter(|byte| problem.bytes.binary_search_by_key(byte, |&(byte, _)| byte).is_err());
        bytes.extend(others.map(|byte| (byte, ByteSet::single(current(byte)))).collect::<Vec<_>>());
        bytes.sort_unstable_by_key(|&(byte, _)| byte);
        bytes.dedup_by_key(|&mut (byte, _)| byte);
        let near = bytes.iter().map(|&(byte, _)| current(byte)).collect();
        let (places, allowed) = bytes.into_iter().unzip();
        Window { places, allowed, near, tracks: Vec::new() }
    }

    /// Numbers of the bytes that readers read.
    fn read(&self) -> FxHashSet<u32> {
        let cells = self.tracks.iter().flat_map(|track| &track.cells);
        let positions = cells.filter_map(|cell| match cell {
            Cell::Position(position, _) => self.places.get(*position).copied(),
            Cell::Constant(_) => None,
        });
        positions.collect()
    }

    fn tracks(&self) -> Tracks<'_> {
        Tracks { bytes: &self.allowed, near: &self.near, tracks: &self.tracks }
    }

    /// Makes readers of the literals; says whether none had to be left out. `None` if the goal is
    /// one of those.
    fn read_all(&mut self, truths: &mut Truths, query: &Query, joint: &[Lit]) -> Option<bool> {
        let mut functions =
            ByteFunctions { truths, map: ShapeMap::default(), supports: Supports::new() };
        let mut atoms: Vec<(Atom, Vec<Lit>)> = Vec::new();
        let mut unread = Vec::new();
        for &lit in joint {
            let Some(atom) = Atom::new(query.dag, lit) else {
                unread.push(lit);
                continue;
            };
            match atoms.iter_mut().find(|(known, _)| known.label == atom.label) {
                Some((known, lits)) => {
                    known.intersect(&atom);
                    lits.push(lit);
                }
                None => atoms.push((atom, vec![lit])),
            }
        }
        for (atom, lits) in atoms {
            let reader = atom.reader(query.dag);
            match reader.zip(self.cells(&mut functions, query.dag, &atom)) {
                Some((reader, cells)) => self.tracks.push(Track { reader, cells }),
                None => unread.extend(lits),
            }
        }
        (!unread.contains(&query.goal)).then_some(unread.is_empty())
    }

    /// The bytes of an operation's text; `None` if they are not functions of bytes of the input in
    /// order.
    fn cells(&self, functions: &mut ByteFunctions, dag: &Dag, atom: &Atom) -> Option<Vec<Cell>> {
        let table = dag.table(dag.node(atom.label).b);
        let mut cells = Vec::with_capacity(table.bytes.len());
        let mut last = None;
        for (at, &byte) in table.bytes.iter().enumerate() {
            let label = table.label(at as u64);
            if label == 0 {
                cells.push(Cell::Constant(byte));
                continue;
            }
            let (input, function) = functions.of(dag, label)?;
            let position = self.places.binary_search(&input).ok()?;
            if last.is_some_and(|last| last >= position) {
                return None;
            }
            last = Some(position);
            cells.push(Cell::Position(position, function));
        }
        Some(cells)
    }

    fn restrict(&mut self, windows: &[(Range<u32>, Language)]) {
        for (range, language) in windows {
            let position = |byte: u32| self.places.partition_point(|&place| place < byte);
            let cells = (position(range.start)..position(range.end)).map(Cell::at).collect();
            self.tracks.push(Track { reader: Reader::Language(*language), cells });
        }
    }
}
