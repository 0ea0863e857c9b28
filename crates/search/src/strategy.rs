//! What a strategy is: something that proposes inputs and learns from their runs.

use std::fmt;
use std::ops::Range;

use path::{PathCondition, Trace};
use serde::{Deserialize, Serialize};
use sites::SiteTable;
use solver::Chain;

use crate::{Claim, Clock, Completeness, Corpus, Coverage, Enumeration, Hits, Outcome, Stats};

pub trait Strategy {
    fn name(&self) -> &'static str;

    /// The next small piece of work. Must return within about one solver query, so that the engine
    /// can look at its limits in between.
    fn next(&mut self, context: &mut Context<'_>) -> Next;

    /// Called once for every run: seeds first, then each proposal before the next one is asked for.
    fn learn(&mut self, ran: Ran<'_>, context: &mut Context<'_>);

    /// The strategy that this one adds something to, and that answers where this one does not.
    fn wrapped(&self) -> Option<&dyn Strategy> {
        None
    }

    /// Which bytes of the proposals are symbolic; `None`: all of them, and the length.
    fn holes(&self) -> Option<&[Range<usize>]> {
        self.wrapped()?.holes()
    }

    /// Bytes of the proposals that are equal, and whose number is symbolic; only with holes.
    fn repetition(&self) -> Option<Range<usize>> {
        self.wrapped()?.repetition()
    }

    /// What can be said at the end about what was explored; `None` if that is nothing.
    fn claim(&self) -> Option<Claim> {
        self.wrapped()?.claim()
    }

    /// Whether the claim is about everything within bounds, so that each run counts for it.
    fn accounts_for_all(&self) -> bool {
        self.wrapped().is_some_and(|strategy| strategy.accounts_for_all())
    }

    /// Whether all paths were explored when it has nothing left to do and left nothing out.
    fn covers_all_paths(&self) -> bool {
        self.wrapped().is_some_and(|strategy| strategy.covers_all_paths())
    }

    /// Whether inputs that somebody else made up may help it on when it has nothing left to do.
    fn takes_any_input(&self) -> bool {
        self.wrapped().is_some_and(|strategy| strategy.takes_any_input())
    }

    /// How much work waits.
    fn queue(&self) -> usize {
        self.wrapped().map_or(0, |strategy| strategy.queue())
    }

    /// What a later session needs, beyond the corpus, to go on where this one is.
    fn save(&self) -> Option<SavedSearch> {
        self.wrapped()?.save()
    }

    /// Takes over what an earlier session saved. The saved inputs come back as seeds.
    fn restore(&mut self, _saved: &SavedSearch) {}
}

/// The state of a search between two sessions.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedSearch {
    /// Hashes of the path prefixes that were run or solved for.
    pub explored: Vec<u64>,
    /// Inputs of runs that have flips to try.
    pub waiting: Vec<Vec<u8>>,
    pub completeness: Completeness,
    /// Of a strategy that enumerates.
    #[serde(default)]
    pub enumeration: Option<Enumeration>,
}

/// What a strategy can see and use.
pub struct Context<'a> {
    pub sites: &'a SiteTable,
    pub solver: &'a mut Chain,
    pub rng: &'a mut fastrand::Rng,
    pub clock: &'a dyn Clock,
    pub coverage: &'a Coverage,
    pub corpus: &'a Corpus,
    pub stats: &'a mut Stats,
    pub max_len: usize,
    /// A limit ends the search, so that it may go on although nothing is left that is known to
    /// bring something.
    pub has_end: bool,
    /// No time limit does, but the number of runs.
    pub only_runs_end_it: bool,
}

pub enum Next {
    Run(Proposal),
    /// Worked, but has nothing to run yet.
    Busy,
    /// Nothing is left to do.
    Finished,
}

#[derive(Clone, Debug)]
pub struct Proposal {
    pub input: Vec<u8>,
    pub symbolic: bool,
    pub origin: Origin,
}

/// Where an input comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    Seed(String),
    /// Solved for the given direction at a site.
    Flip {
        site: u32,
        direction: u64,
    },
    /// As `Flip`, without the constraints of concretisations.
    OptimisticFlip {
        site: u32,
        direction: u64,
    },
    /// Solved for a violated check at a site: a division by zero, an index out of bounds.
    Violation {
        site: u32,
        direction: u64,
    },
    /// A sentence with another token.
    Change,
    /// Has a word that the program asked about in the place of another.
    Word,
    /// Run before; only its trace is needed again.
    Retrace,
    Random,
    Mutation,
    /// The next of all strings of a grammar.
    Enumerated,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Origin::Seed(name) => write!(f, "seed {name}"),
            Origin::Flip { .. } => f.write_str("flip"),
            Origin::OptimisticFlip { .. } => f.write_str("optimistic flip"),
            Origin::Violation { .. } => f.write_str("violation"),
            Origin::Change => f.write_str("change"),
            Origin::Word => f.write_str("word"),
            Origin::Retrace => f.write_str("retrace"),
            Origin::Random => f.write_str("random"),
            Origin::Mutation => f.write_str("mutation"),
            Origin::Enumerated => f.write_str("enumerated"),
        }
    }
}

/// The symbolic side of a run, ready for solving.
#[derive(Debug)]
pub struct TracedPath {
    pub trace: Trace,
    pub condition: PathCondition,
}

impl TracedPath {
    pub fn new(mut trace: Trace, sites: &SiteTable) -> TracedPath {
        let condition = PathCondition::new(&mut trace, sites);
        TracedPath { trace, condition }
    }
}

/// A run that just ended.
pub struct Ran<'a> {
    pub input: &'a [u8],
    pub origin: &'a Origin,
    pub outcome: Outcome,
    /// How many branch outcomes this run was the first to take.
    pub new_outcomes: usize,
    /// Hash of the branch outcomes that it took.
    pub covered: u64,
    /// These, and how often it took each; none if the input was not run.
    pub hits: Hits<'a>,
    pub path: Option<TracedPath>,
}

impl<'a> Ran<'a> {
    /// The same for somebody who does not get its path.
    pub fn untraced(&self) -> Ran<'a> {
        Ran { path: None, ..*self }
    }
}
