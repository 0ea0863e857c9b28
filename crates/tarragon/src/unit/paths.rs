//! A search that remembers one input for each path.
//!
//! A path is first of all what the code under test does. The harness has branches of its own, which
//! choose the shapes of arguments; whether a shape makes a difference shows later, when the runs
//! are described, so that some shapes for each path are kept.

use std::collections::HashMap;

use path::{Constraint, ConstraintKind};
use search::{Context, Next, Outcome, Ran, SavedSearch, Strategy, TracedPath, Whitebox};
use sites::SiteTable;

pub(crate) struct Paths<'s> {
    search: Whitebox<'s>,
    /// What the harness is called in the site table.
    harness: &'static str,
    kept: HashMap<Key, usize>,
    inputs: Vec<Kept>,
    /// How many shapes were kept of each path through the code under test.
    shapes: HashMap<(u64, Outcome), usize>,
}

/// Shapes that are looked at for each path through the code under test.
const SHAPES: usize = 24;

/// The simplest input of a path so far.
pub(crate) struct Kept {
    pub input: Vec<u8>,
    /// The path through the code under test alone.
    pub path: u64,
    /// It also violates a property, which is a bug's business, not the path's.
    violates: bool,
}

/// The path, that through the harness included, and the end.
type Key = (u64, Outcome);

impl<'s> Paths<'s> {
    pub fn new(search: Whitebox<'s>, harness: &'static str) -> Paths<'s> {
        let (kept, shapes) = Default::default();
        Paths { search, harness, kept, shapes, inputs: Vec::new() }
    }

    /// One input for each path, the simplest first.
    pub fn into_inputs(mut self) -> Vec<Kept> {
        self.inputs.sort_by(|one, other| one.cost().cmp(&other.cost()));
        self.inputs
    }

    fn keep(&mut self, key: Key, new: Kept) {
        if !self.kept.contains_key(&key) {
            let shapes = self.shapes.entry((new.path, key.1)).or_default();
            if *shapes == SHAPES {
                return;
            }
            *shapes += 1;
        }
        let number = *self.kept.entry(key).or_insert(self.inputs.len());
        match self.inputs.get_mut(number) {
            None => self.inputs.push(new),
            Some(kept) if new.cost() < kept.cost() => *kept = new,
            Some(_) => {}
        }
    }

    fn path(&self, path: &TracedPath, sites: &SiteTable) -> u64 {
        let constraints = path.condition.constraints.iter();
        let own = constraints.filter(|constraint| {
            let is_way =
                matches!(constraint.kind, ConstraintKind::Branch | ConstraintKind::Case { .. });
            is_way && !self.is_harness(constraint.site, sites)
        });
        own.fold(0, |hash, constraint| constraint.step().after(hash))
    }

    fn is_harness(&self, site: u32, sites: &SiteTable) -> bool {
        let file =
            sites.sites.get(site as usize).and_then(|site| sites.files.get(site.file as usize));
        file.is_some_and(|file| file.ends_with(self.harness))
    }
}

impl Kept {
    /// People prefer an input with more zeros.
    fn cost(&self) -> (bool, usize, &[u8]) {
        let weight = self.input.iter().filter(|byte| **byte != 0).count();
        (self.violates, weight, &self.input)
    }
}

impl Strategy for Paths<'_> {
    fn name(&self) -> &'static str {
        self.search.name()
    }

    fn next(&mut self, context: &mut Context<'_>) -> Next {
        self.search.next(context)
    }

    fn learn(&mut self, ran: Ran<'_>, context: &mut Context<'_>) {
        let path = match &ran.path {
            Some(path) => self.path(path, context.sites),
            None => ran.covered,
        };
        let constraints = ran.path.iter().flat_map(|path| &path.condition.constraints);
        let violates = constraints.into_iter().any(Constraint::is_violated_check);
        let whole = ran.path.as_ref().map_or(path, |path| path.condition.control_hash());
        let input = ran.input.to_vec();
        self.keep((whole, ran.outcome), Kept { input, path, violates });
        self.search.learn(ran, context);
    }

    fn wrapped(&self) -> Option<&dyn Strategy> {
        Some(&self.search)
    }

    fn restore(&mut self, saved: &SavedSearch) {
        self.search.restore(saved);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use search::WhiteboxOptions;

    #[test]
    fn the_simplest_input_of_a_path_is_kept() {
        let mut paths = Paths::new(Whitebox::new(WhiteboxOptions::default()), "h.c");
        let kept = |input: [u8; 2], violates| Kept { input: input.to_vec(), path: 1, violates };
        paths.keep((1, Outcome::Exit(0)), kept([7, 7], false));
        paths.keep((1, Outcome::Exit(0)), kept([0, 9], false));
        paths.keep((1, Outcome::Exit(0)), kept([9, 9], false));
        paths.keep((1, Outcome::Exit(0)), kept([0, 0], true));
        paths.keep((1, Outcome::Signal(11)), kept([5, 5], false));
        let inputs: Vec<_> = paths.into_inputs().into_iter().map(|kept| kept.input).collect();
        assert_eq!(inputs, [vec![0, 9], vec![5, 5]], "the one without a violation");
    }
}
