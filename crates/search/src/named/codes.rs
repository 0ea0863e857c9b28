//! Token codes as bytes: one variable of the solver's stands for one token.

use rustc_hash::FxHashMap;

/// The codes that lexers delivered so far, each with its index.
#[derive(Clone, Debug, Default)]
pub struct Codes {
    codes: Vec<u64>,
    indices: FxHashMap<u64, u8>,
}

impl Codes {
    /// Stands for a token whose code is not known.
    pub const UNKNOWN: u8 = u8::MAX;

    /// The index of a code, new or known; `None` if there are too many.
    pub fn index(&mut self, code: u64) -> Option<u8> {
        if let Some(&index) = self.indices.get(&code) {
            return Some(index);
        }
        let index = u8::try_from(self.codes.len()).ok().filter(|index| *index < Codes::UNKNOWN)?;
        self.codes.push(code);
        self.indices.insert(code, index);
        Some(index)
    }

    pub fn code(&self, index: u8) -> Option<u64> {
        self.codes.get(usize::from(index)).copied()
    }

    /// The code of each index, 8 bytes each; indices without one have a code that no program
    /// delivers.
    pub(super) fn table(&self) -> Vec<u8> {
        let code = |index: u8| self.code(index).unwrap_or(u64::MAX);
        (0..=u8::MAX).flat_map(|index| code(index).to_le_bytes()).collect()
    }
}
