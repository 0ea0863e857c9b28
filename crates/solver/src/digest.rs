//! 128-bit digests of expressions. That two different ones share one is less likely than a broken
//! machine.

use rustc_hash::FxHasher;
use std::hash::Hasher;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Key(pub u64, pub u64);

/// Two hashers that start differently.
pub(crate) struct Digest(FxHasher, FxHasher);

impl Digest {
    pub(crate) fn new() -> Digest {
        let mut digest = Digest(FxHasher::default(), FxHasher::default());
        digest.1.write_u64(0x7461_7272_6167_6f6e);
        digest
    }

    pub(crate) fn word(&mut self, word: u64) {
        self.0.write_u64(word);
        self.1.write_u64(word.rotate_left(23) ^ 0x9e37_79b9_7f4a_7c15);
    }

    pub(crate) fn key(&mut self, key: Key) {
        self.word(key.0);
        self.word(key.1);
    }

    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        self.word(bytes.len() as u64);
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.word(u64::from_le_bytes(word));
        }
    }

    pub(crate) fn finish(&self) -> Key {
        Key(self.0.finish(), self.1.finish())
    }
}
