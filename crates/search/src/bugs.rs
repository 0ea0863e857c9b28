//! Bugs: runs that ended badly, grouped by cause, one smallest input each.
//!
//! The cause is approximated by the kind and the last step at which the run depended on its input: where, and which way
//! it went. Runs without a trace have no such step; the engine traces them once before they come here.

use std::collections::HashMap;
use std::fmt;

use path::Step;

use crate::Ending;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum BugKind {
    /// Ended by a signal.
    Crash(i32),
    Hang,
    OutOfMemory,
}

impl BugKind {
    /// `None` for a run that ended as programs should.
    pub fn of(ending: Ending) -> Option<BugKind> {
        match ending {
            Ending::Exit(_) => None,
            Ending::Signal(number) => Some(BugKind::Crash(number)),
            Ending::Timeout => Some(BugKind::Hang),
            Ending::OutOfMemory => Some(BugKind::OutOfMemory),
        }
    }
}

impl fmt::Display for BugKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BugKind::Crash(number) => write!(f, "{}", Ending::Signal(*number)),
            BugKind::Hang => f.write_str("hang"),
            BugKind::OutOfMemory => f.write_str("out of memory"),
        }
    }
}

#[derive(Clone, Debug)]
pub struct Bug {
    /// Counts from 1 in the order of finding.
    pub id: u32,
    pub kind: BugKind,
    /// The last site at which the run depended on its input; 0 if there is none.
    pub site: u32,
    /// The smallest input that shows the bug.
    pub input: Vec<u8>,
    /// The end of the standard error of the run on `input`.
    pub stderr: Vec<u8>,
    /// How many runs ended in it.
    pub hits: u64,
    /// Number of the run that found it first.
    pub run: u64,
}

/// What is new about a run that ended in a bug.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sighting {
    New,
    Smaller,
    Known,
}

#[derive(Clone, Debug, Default)]
pub struct Bugs {
    bugs: Vec<Bug>,
    by_cause: HashMap<(BugKind, Step), usize>,
    first: u32,
}

impl Bugs {
    /// A list whose first bug gets the id `taken + 1`.
    pub fn after(taken: u32) -> Bugs {
        Bugs { first: taken, ..Bugs::default() }
    }

    pub fn all(&self) -> &[Bug] {
        &self.bugs
    }

    pub fn knows(&self, kind: BugKind, last: Step) -> bool {
        self.by_cause.contains_key(&(kind, last))
    }

    pub fn add(
        &mut self,
        kind: BugKind,
        last: Step,
        input: &[u8],
        stderr: &[u8],
        run: u64,
    ) -> (Sighting, &Bug) {
        let next = self.bugs.len();
        let index = *self.by_cause.entry((kind, last)).or_insert(next);
        if index == next {
            let id = self.first + next as u32 + 1;
            let site = last.site;
            let bug = Bug { id, kind, site, input: input.to_vec(), stderr: stderr.to_vec(), hits: 1, run };
            self.bugs.push(bug);
            return (Sighting::New, &self.bugs[index]);
        }
        let bug = &mut self.bugs[index];
        bug.hits += 1;
        if (input.len(), input) >= (bug.input.len(), &bug.input[..]) {
            return (Sighting::Known, bug);
        }
        bug.input = input.to_vec();
        bug.stderr = stderr.to_vec();
        (Sighting::Smaller, bug)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_smallest_input_of_each_cause_stays() {
        let mut bugs = Bugs::after(7);
        let crash = BugKind::Crash(8);
        let at = |site, direction| Step { site, direction };
        assert_eq!(bugs.add(crash, at(3, 0), b"1/00", b"", 1).0, Sighting::New);
        assert_eq!(bugs.add(crash, at(3, 0), b"11/0", b"", 2).0, Sighting::Known);
        assert_eq!(bugs.add(crash, at(3, 0), b"1/0", b"", 3).0, Sighting::Smaller);
        assert_eq!(bugs.add(crash, at(4, 0), b"1%0", b"", 4).0, Sighting::New);
        assert_eq!(bugs.add(crash, at(4, 1), b"2%0", b"", 5).0, Sighting::New);
        let shown: Vec<_> = bugs.all().iter().map(|b| (b.id, &b.input[..], b.hits, b.run)).collect();
        assert_eq!(shown, [(8, &b"1/0"[..], 3, 1), (9, &b"1%0"[..], 1, 4), (10, &b"2%0"[..], 1, 5)]);
    }
}
