//! Which paths a search has seen.
//!
//! A path is the sequence of branches on symbolic conditions. Where inputs are kept for their paths,
//! the set of all branch outcomes that were taken counts, too: it tells apart what the sequence
//! leaves out, such as the target of a call through a pointer that was fixed, or branches on bytes
//! that are not symbolic. Of a run that was not traced only the set is known.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};

use crate::{KeepBy, TracedPath};

#[derive(Default)]
pub(crate) struct Paths {
    seen: HashSet<u64>,
    /// What runs covered whose paths are known, or cannot be known.
    covers: HashSet<u64>,
}

impl Paths {
    /// Whether a path is the first of its kind.
    pub(crate) fn is_new(&mut self, path: u64) -> bool {
        self.seen.insert(path)
    }

    /// Whether a run is the first that covers this.
    pub(crate) fn is_new_cover(&mut self, covered: u64) -> bool {
        self.covers.insert(covered)
    }
}

/// What tells the path of a run from others.
pub(crate) fn path_of(path: Option<&TracedPath>, covered: u64, keep_by: KeepBy) -> u64 {
    let Some(path) = path else { return covered };
    if keep_by == KeepBy::Coverage {
        return path.condition.control_hash();
    }
    let mut hasher = DefaultHasher::new();
    (path.condition.control_hash(), covered).hash(&mut hasher);
    hasher.finish()
}
