//! The inputs worth keeping: those that added coverage, or one for each path.

use serde::{Deserialize, Serialize};

use crate::Origin;

/// What makes an input worth keeping.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum KeepBy {
    /// It takes a branch outcome that none before it took.
    #[default]
    Coverage,
    /// It takes a path that none before it took.
    Paths,
}

#[derive(Clone, Debug)]
pub struct Entry {
    /// Counts from 1 in the order of finding.
    pub id: u32,
    pub input: Vec<u8>,
    pub origin: Origin,
    /// How many branch outcomes this input was the first to take.
    pub new_outcomes: usize,
    /// Number of the run that found it.
    pub run: u64,
    /// That run did not end.
    pub hangs: bool,
}

#[derive(Clone, Debug, Default)]
pub struct Corpus {
    keep_by: KeepBy,
    entries: Vec<Entry>,
    /// How many were kept, those of no use to others included.
    kept: u32,
    /// Ids up to here are taken by an earlier part of the campaign.
    first: u32,
}

impl Corpus {
    /// A corpus whose first entry gets the id `taken + 1`.
    pub fn after(taken: u32, keep_by: KeepBy) -> Corpus {
        Corpus { keep_by, first: taken, ..Corpus::default() }
    }

    pub fn keep_by(&self) -> KeepBy {
        self.keep_by
    }

    /// Adds an input, and returns its entry for whoever writes it down.
    pub fn add(
        &mut self,
        input: &[u8],
        origin: &Origin,
        new_outcomes: usize,
        (run, hangs): (u64, bool),
    ) -> Entry {
        self.kept += 1;
        let id = self.first + self.kept;
        let entry =
            Entry { id, input: input.to_vec(), origin: origin.clone(), new_outcomes, run, hangs };
        if new_outcomes > 0 {
            self.entries.push(entry.clone());
        }
        entry
    }

    /// The inputs that added coverage: paths are many, and strategies make others of these.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// How many inputs were kept.
    pub fn kept(&self) -> usize {
        self.kept as usize
    }
}
