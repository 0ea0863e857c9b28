//! Problems with one context-free language over the whole window.
//!
//! Recognizers' states remember where each rule began, so that too many prefixes differ. Instead
//! the other readers together are a finite automaton over the window, and the grammar is
//! intersected with it.

use rustc_hash::FxHashMap;

use super::readers::{ACCEPTED, State};
use super::{Cell, Reader, Search, Track, Tracks};
use crate::budget::{Budget, Stop};
use crate::grammar::Nonterminal;
use crate::language::{GrammarId, Languages};
use crate::saturate::{Bounds, Machine, Saturation};

/// A track that reads the whole window as a word of a grammar.
pub(super) struct Sentence {
    pub track: usize,
    grammar: GrammarId,
    start: Nonterminal,
}

impl Sentence {
    pub(super) fn find(problem: &Tracks<'_>, languages: &mut Languages) -> Option<Sentence> {
        let is_whole = |track: &Track| {
            let mut cells = track.cells.iter().enumerate();
            track.cells.len() == problem.bytes.len()
                && cells
                    .all(|(index, cell)| matches!(cell, Cell::Position(at, None) if *at == index))
        };
        problem.tracks.iter().enumerate().find_map(|(number, track)| {
            let Reader::Language(language) = track.reader else { return None };
            if !languages.has_grammar(language) || !is_whole(track) {
                return None;
            }
            let (grammar, start) = languages.as_context_free(language)?;
            Some(Sentence { track: number, grammar, start })
        })
    }

    /// A shortest word, which has the present bytes where nothing tells them from others.
    pub(super) fn word(
        &self,
        mut search: Search<'_>,
        languages: &mut Languages,
        budget: &mut Budget,
    ) -> Result<Option<Vec<u8>>, Stop> {
        search.states[self.track] = ACCEPTED;
        let machine = machine(&mut search, languages, budget)?;
        let bounds = Bounds { least: 0, most: None };
        Saturation::new(languages.grammar(self.grammar), &machine, bounds).run(self.start, budget)
    }
}

/// All ways through the window.
fn machine(
    search: &mut Search<'_>,
    languages: &mut Languages,
    budget: &mut Budget,
) -> Result<Machine, Stop> {
    let mut machine = Machine { start: 0, rest: Vec::new(), moves: vec![Vec::new()] };
    let mut known: FxHashMap<Box<[State]>, u32> = FxHashMap::default();
    let mut states = Vec::new();
    let mut layer = 0..1;
    for position in 0..search.problem.bytes.len() {
        let choices = search.choices(languages, position);
        let next = machine.moves.len();
        known.clear();
        for from in layer {
            budget.work(choices.len())?;
            for &(byte, _) in &choices {
                if !search.read(languages, from, position, byte, &mut states) {
                    continue;
                }
                let to = match known.get(&states[..]) {
                    Some(&id) => id,
                    None => {
                        budget.spend()?;
                        let id = machine.moves.len() as u32;
                        known.insert(states.clone().into(), id);
                        machine.moves.push(Vec::new());
                        search.states.extend_from_slice(&states);
                        id
                    }
                };
                machine.moves[from].push((byte, to));
            }
        }
        layer = next..machine.moves.len();
    }
    machine.rest =
        (0..machine.moves.len()).map(|state| layer.contains(&state).then_some(0)).collect();
    Ok(machine)
}
