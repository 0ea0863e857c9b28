//! The inputs worth keeping: those that added coverage.

use crate::Origin;

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
    entries: Vec<Entry>,
    /// Ids up to here are taken by an earlier part of the campaign.
    first: u32,
}

impl Corpus {
    /// A corpus whose first entry gets the id `taken + 1`.
    pub fn after(taken: u32) -> Corpus {
        Corpus { entries: Vec::new(), first: taken }
    }

    pub fn add(
        &mut self,
        input: &[u8],
        origin: &Origin,
        new_outcomes: usize,
        (run, hangs): (u64, bool),
    ) -> &Entry {
        let id = self.first + self.entries.len() as u32 + 1;
        let entry =
            Entry { id, input: input.to_vec(), origin: origin.clone(), new_outcomes, run, hangs };
        self.entries.push(entry);
        &self.entries[self.entries.len() - 1]
    }

    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }
}
