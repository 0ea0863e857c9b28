//! A search that remembers one input for each path through the code under test.
//!
//! Branches of the harness do not count: a path that does not look at an argument is one path,
//! whatever shape the argument has. How the run ended does count.

use std::collections::HashMap;
use std::ops::Range;

use path::ConstraintKind;
use search::{
    Claim, Context, Next, Outcome, Ran, SavedSearch, Strategy, TracedPath, Whitebox,
};
use sites::SiteTable;

pub(crate) struct Paths<'s> {
    search: Whitebox<'s>,
    /// What the harness is called in the site table.
    harness: &'static str,
    kept: HashMap<Key, usize>,
    inputs: Vec<Vec<u8>>,
}

/// The path, and the end.
type Key = (u64, Outcome);

impl<'s> Paths<'s> {
    pub fn new(search: Whitebox<'s>, harness: &'static str) -> Paths<'s> {
        Paths { search, harness, kept: HashMap::new(), inputs: Vec::new() }
    }

    /// One input for each path, in the order in which the paths were found.
    pub fn into_inputs(self) -> Vec<Vec<u8>> {
        self.inputs
    }

    fn keep(&mut self, key: Key, input: &[u8]) {
        let number = *self.kept.entry(key).or_insert(self.inputs.len());
        match self.inputs.get_mut(number) {
            None => self.inputs.push(input.to_vec()),
            Some(kept) if is_simpler(input, kept) => input.clone_into(kept),
            Some(_) => {}
        }
    }

    fn path(&self, path: &TracedPath, sites: &SiteTable) -> u64 {
        let constraints = path.condition.constraints.iter();
        let own = constraints.filter(|constraint| {
            let is_way = matches!(
                constraint.kind,
                ConstraintKind::Branch | ConstraintKind::Case { .. }
            );
            is_way && !self.is_harness(constraint.site, sites)
        });
        own.fold(0, |hash, constraint| constraint.step().after(hash))
    }

    fn is_harness(&self, site: u32, sites: &SiteTable) -> bool {
        let file = sites.sites.get(site as usize).and_then(|site| sites.files.get(site.file as usize));
        file.is_some_and(|file| file.ends_with(self.harness))
    }
}

/// Of two inputs of one path people prefer the one with more zeros.
fn is_simpler(input: &[u8], than: &[u8]) -> bool {
    let weight = |input: &[u8]| input.iter().filter(|byte| **byte != 0).count();
    (weight(input), input) < (weight(than), than)
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
        self.keep((path, ran.outcome), ran.input);
        self.search.learn(ran, context);
    }

    fn holes(&self) -> Option<&[Range<usize>]> {
        self.search.holes()
    }

    fn claim(&self) -> Option<Claim> {
        self.search.claim()
    }

    fn accounts_for_all(&self) -> bool {
        self.search.accounts_for_all()
    }

    fn takes_any_input(&self) -> bool {
        self.search.takes_any_input()
    }

    fn queue(&self) -> usize {
        self.search.queue()
    }

    fn save(&self) -> Option<SavedSearch> {
        self.search.save()
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
        paths.keep((1, Outcome::Exit(0)), &[7, 7]);
        paths.keep((1, Outcome::Exit(0)), &[0, 9]);
        paths.keep((1, Outcome::Exit(0)), &[9, 9]);
        paths.keep((1, Outcome::Signal(11)), &[5, 5]);
        assert_eq!(paths.into_inputs(), [vec![0, 9], vec![5, 5]]);
    }
}
