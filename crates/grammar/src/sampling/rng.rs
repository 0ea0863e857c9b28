//! The one source of randomness: small, fast, seeded, the same on every machine (wyrand).

#[derive(Clone, Debug)]
pub struct Rng(u64);

impl Rng {
    pub fn new(seed: u64) -> Rng {
        let mut rng = Rng(seed ^ 0x2d35_8dcc_aa6c_78a5);
        rng.word();
        rng
    }

    #[inline]
    pub fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0xa076_1d64_78bd_642f);
        let t = u128::from(self.0) * u128::from(self.0 ^ 0xe703_7ed1_a0b4_28db);
        (t >> 64) as u64 ^ t as u64
    }

    /// Uniform below `n`, up to a bias of n / 2^32.
    #[inline]
    pub fn below(&mut self, n: u32) -> u32 {
        ((u64::from(self.word() as u32) * u64::from(n)) >> 32) as u32
    }

    pub fn index(&mut self, len: usize) -> usize {
        self.below(len as u32) as usize
    }

    /// Uniform in [0, 1).
    #[inline]
    pub fn unit(&mut self) -> f64 {
        (self.word() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    pub fn chance(&mut self, one_in: u32) -> bool {
        self.below(one_in) == 0
    }
}
