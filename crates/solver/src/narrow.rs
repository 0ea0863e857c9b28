//! Literals about texts as literals about their bytes.
//!
//! `4 < strlen(s)` says of each of five bytes that it is not 0, and of no two of them anything
//! together. As one literal on all bytes of the text it would tie them, and all that depends on any
//! of them, into one slice. So a path is written with literals on single bytes where these say the
//! same, given what stands before them.

use crate::query::Lit;
use crate::text_atoms::Atom;
use crate::texts::has_texts;
use expr::{Dag, Label, Op, text_flags as flags};
use rustc_hash::FxHashMap;

/// Results of searches that are looked at for one path.
const MAX_RESULTS: usize = 1 << 16;
/// A goal is that one byte is hit and this many before it are not.
const MAX_PASSED: usize = 4;

/// A path in other literals.
#[derive(Clone, Debug, Default)]
pub struct Narrowed {
    pub lits: Vec<Lit>,
    /// How many of them the first n of the path are.
    counts: Vec<u32>,
    /// By the number of the literal of the path.
    flips: FxHashMap<u32, Flip>,
}

/// What the opposite of a literal of the path means after those before it.
#[derive(Clone, Copy, Debug)]
struct Flip {
    of: Lit,
    means: Lit,
}

impl Narrowed {
    pub fn new(dag: &mut Dag, path: impl IntoIterator<Item = Lit>) -> Narrowed {
        let mut narrowed = Narrowed { counts: vec![0], ..Narrowed::default() };
        let mut places = has_texts(dag).then(Places::default);
        for (number, lit) in (0..).zip(path) {
            match &mut places {
                Some(places) => places.narrow(dag, number, lit, &mut narrowed),
                None => narrowed.lits.push(lit),
            }
            narrowed.counts.push(narrowed.lits.len() as u32);
        }
        narrowed
    }

    /// How many literals the first `prefix` of the path are.
    pub fn count(&self, prefix: usize) -> usize {
        self.counts[prefix] as usize
    }

    /// A goal after `prefix` literals of the path, in narrower terms if it is the opposite of the
    /// next one.
    pub fn narrow_goal(&self, prefix: usize, goal: Lit) -> Lit {
        let flip = self.flips.get(&(prefix as u32));
        flip.filter(|flip| flip.of == goal).map_or(goal, |flip| flip.means)
    }

    /// The literal of the path that a literal is a part of.
    pub fn origin(&self, lit: usize) -> usize {
        self.counts.partition_point(|&count| count as usize <= lit) - 1
    }
}

/// What a path says about each search so far: the least and greatest place where it ends.
#[derive(Default)]
struct Places {
    of: FxHashMap<Label, (usize, usize)>,
    looked_at: usize,
}

impl Places {
    fn narrow(&mut self, dag: &mut Dag, number: u32, lit: Lit, to: &mut Narrowed) {
        let atom = (self.looked_at < MAX_RESULTS).then(|| Atom::new(dag, lit)).flatten();
        let Some(atom) = atom else { return to.lits.push(lit) };
        self.looked_at += atom.accepted.len();
        match dag.op(atom.label) {
            Op::Compare => narrow_comparison(dag, &atom, lit, to),
            _ => self.narrow_search(dag, number, &atom, lit, to),
        }
    }

    fn narrow_search(
        &mut self,
        dag: &mut Dag,
        number: u32,
        atom: &Atom,
        lit: Lit,
        to: &mut Narrowed,
    ) {
        let Some(search) = Search::of(dag, atom.label) else { return to.lits.push(lit) };
        let bounds = self.of.entry(atom.label).or_insert_with(|| search.bounds(dag));
        let (least, most) = *bounds;
        let among =
            |is: bool| (least..=most).filter(move |&place| atom.accepted[place] == is).fuse();
        if let (Some(place), None) = (among(false).next(), among(false).nth(1))
            && let Some(means) = search.ends_at(dag, least, place)
        {
            to.flips.insert(number, Flip { of: lit.negated(), means });
        }
        let (Some(first), Some(last)) = (among(true).next(), among(true).last()) else {
            return to.lits.push(lit);
        };
        if search.is_terminated && last == search.len {
            // The text may end anywhere.
            return to.lits.push(lit);
        }
        *bounds = (first, last);
        for place in least..first {
            let stops = search.stops(dag, place);
            to.assert(dag, stops, false);
        }
        if first == last && first < search.len {
            let hits = search.hits(dag, first);
            to.assert(dag, hits, true);
        }
        let is_interval = among(true).count() == last - first + 1;
        if first != last && (last < most || !is_interval) {
            to.lits.push(lit);
        }
    }
}

/// Two texts that are equal are so in each byte.
fn narrow_comparison(dag: &mut Dag, atom: &Atom, lit: Lit, to: &mut Narrowed) {
    if atom.accepted != [false, true, false] {
        return to.lits.push(lit);
    }
    let text = Text::of(dag, atom.label);
    let pattern = dag.table(dag.node(atom.label).c).bytes.clone();
    let end = pattern.iter().position(|&byte| text.is_terminated && byte == 0);
    let compared = end.map_or(pattern.len(), |end| end + 1).min(text.len);
    for (place, &byte) in pattern.iter().enumerate().take(compared) {
        let same = text.is_one_of(dag, place, &[byte]);
        to.assert(dag, same, true);
    }
}

impl Narrowed {
    /// Adds a literal unless it is true in any case.
    fn assert(&mut self, dag: &Dag, label: Label, value: bool) {
        if dag.as_constant(label) != Some(u128::from(value)) {
            self.lits.push(Lit::new(label, value));
        }
    }
}

/// What an operation looks at.
#[derive(Clone, Copy)]
struct Text {
    table: u32,
    len: usize,
    folds: bool,
    is_terminated: bool,
}

impl Text {
    fn of(dag: &Dag, label: Label) -> Text {
        let node = dag.node(label);
        let has = |flag: u16| node.aux & flag != 0;
        let len = dag.table(node.b).bytes.len();
        let (folds, is_terminated) = (has(flags::FOLD), has(flags::TERMINATED));
        Text { table: node.b, len, folds, is_terminated }
    }

    /// The byte at a place.
    fn byte(&self, dag: &mut Dag, place: usize) -> Label {
        let cells = dag.table_cells(self.table);
        match cells.binary_search_by_key(&(place as u32), |&(index, _)| index) {
            Ok(found) => cells[found].1,
            Err(_) => {
                let byte = dag.table(self.table).bytes[place];
                dag.constant(8, byte.into())
            }
        }
    }

    fn is_one_of(&self, dag: &mut Dag, place: usize, members: &[u8]) -> Label {
        let byte = self.byte(dag, place);
        let mut wanted: Vec<u8> = members.to_vec();
        if self.folds {
            wanted.extend(members.iter().map(u8::to_ascii_uppercase));
            wanted.extend(members.iter().map(u8::to_ascii_lowercase));
        }
        wanted.sort_unstable();
        wanted.dedup();
        let none = dag.constant(1, 0);
        wanted.into_iter().fold(none, |any, member| {
            let member = dag.constant(8, member.into());
            let same = dag.make_binary(Op::Eq, 1, byte, member);
            dag.make_binary(Op::Or, 1, any, same)
        })
    }
}

/// The first byte of a text that is one of some.
struct Search {
    text: Text,
    len: usize,
    is_terminated: bool,
    members: Vec<u8>,
    /// It is the first that is none of them.
    is_negated: bool,
}

impl Search {
    /// `None` for the last one, and for patterns of several bytes.
    fn of(dag: &Dag, label: Label) -> Option<Search> {
        let (node, text) = (dag.node(label), Text::of(dag, label));
        let has = |flag: u16| node.aux & flag != 0;
        let members = dag.table(node.c).bytes.clone();
        let is_byte = has(flags::SET) || members.len() == 1;
        let is_negated = has(flags::SET) && has(flags::NEGATED);
        let Text { len, is_terminated, .. } = text;
        (is_byte && !has(flags::LAST)).then_some(Search {
            text,
            len,
            is_terminated,
            members,
            is_negated,
        })
    }

    /// The search ends at this place if it comes there.
    fn hits(&self, dag: &mut Dag, place: usize) -> Label {
        let is_member = self.text.is_one_of(dag, place, &self.members);
        if self.is_negated { dag.make_unary(Op::Not, 1, is_member) } else { is_member }
    }

    /// The search goes no further than this place.
    fn stops(&self, dag: &mut Dag, place: usize) -> Label {
        let hits = self.hits(dag, place);
        if !self.is_terminated {
            return hits;
        }
        let ends = self.text.is_one_of(dag, place, &[0]);
        dag.make_binary(Op::Or, 1, hits, ends)
    }

    /// The least and greatest place where it ends on any input.
    fn bounds(&self, dag: &mut Dag) -> (usize, usize) {
        let is_certain = |place: &usize| {
            let hits = self.hits(dag, *place);
            dag.as_constant(hits) == Some(1)
        };
        let end = if self.is_terminated { None } else { (0..self.len).find(is_certain) };
        (0, end.unwrap_or(self.len))
    }

    /// That the search, which came to `least`, ends at `place`; `None` if that says much.
    fn ends_at(&self, dag: &mut Dag, least: usize, place: usize) -> Option<Lit> {
        let is_nowhere = place == self.len;
        if place - least > MAX_PASSED || is_nowhere && self.is_terminated {
            return None;
        }
        let mut all = if is_nowhere { dag.constant(1, 1) } else { self.hits(dag, place) };
        for passed in least..place {
            let stops = self.stops(dag, passed);
            let goes_on = dag.make_unary(Op::Not, 1, stops);
            all = dag.make_binary(Op::And, 1, all, goes_on);
        }
        Some(Lit::new(all, true))
    }
}
