//! Tables over pairs of numbers, by open addressing, for the innermost loops. A step of a
//! recogniser that was taken before is one lookup here; `hashbrown` needs more instructions for it,
//! and has no set that is emptied in constant time.

/// A set of pairs that is emptied in constant time.
#[derive(Clone, Debug, Default)]
pub struct PairSet {
    table: Vec<(u32, u32, u32)>,
    stamp: u32,
    len: usize,
}

impl PairSet {
    pub fn clear(&mut self) {
        if self.table.is_empty() {
            self.table = vec![(0, 0, 0); 64];
        }
        self.stamp = self.stamp.wrapping_add(1);
        if self.stamp == 0 {
            self.table.iter_mut().for_each(|e| e.2 = 0);
            self.stamp = 1;
        }
        self.len = 0;
    }

    /// True if the pair was not there.
    #[inline]
    pub fn insert(&mut self, a: u32, b: u32) -> bool {
        if self.len * 2 >= self.table.len() {
            self.grow();
        }
        let mask = self.table.len() - 1;
        let mut i = hash_pair(a, b) as usize & mask;
        loop {
            let entry = &mut self.table[i];
            if entry.2 != self.stamp {
                *entry = (a, b, self.stamp);
                self.len += 1;
                return true;
            }
            if entry.0 == a && entry.1 == b {
                return false;
            }
            i = (i + 1) & mask;
        }
    }

    fn grow(&mut self) {
        let size = self.table.len() * 2;
        let old = std::mem::replace(&mut self.table, vec![(0, 0, 0); size]);
        self.len = 0;
        for (a, b, stamp) in old {
            if stamp == self.stamp {
                self.insert(a, b);
            }
        }
    }
}

#[inline]
pub fn hash_pair(a: u32, b: u32) -> u64 {
    let x = (u64::from(a) << 32 | u64::from(b)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    x ^ x >> 29
}

/// A map from pairs to numbers. No pair begins with `u32::MAX`.
#[derive(Clone, Debug, Default)]
pub struct PairMap {
    table: Vec<(u32, u32, u32)>,
    len: usize,
}

const FREE: u32 = u32::MAX;

impl PairMap {
    #[inline]
    pub fn get(&self, a: u32, b: u32) -> Option<u32> {
        let mask = self.table.len().checked_sub(1)?;
        let mut i = hash_pair(a, b) as usize & mask;
        loop {
            let (first, second, to) = self.table[i];
            if first == a && second == b {
                return Some(to);
            }
            if first == FREE {
                return None;
            }
            i = (i + 1) & mask;
        }
    }

    pub fn insert(&mut self, a: u32, b: u32, to: u32) {
        if self.len * 2 >= self.table.len() {
            let size = (self.table.len() * 2).max(1024);
            let old = std::mem::replace(&mut self.table, vec![(FREE, 0, 0); size]);
            self.len = 0;
            old.into_iter().filter(|e| e.0 != FREE).for_each(|(a, b, to)| self.insert(a, b, to));
        }
        let mask = self.table.len() - 1;
        let mut i = hash_pair(a, b) as usize & mask;
        while self.table[i].0 != FREE {
            i = (i + 1) & mask;
        }
        self.table[i] = (a, b, to);
        self.len += 1;
    }
}
