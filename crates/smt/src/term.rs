//! A translated node. Conditions stay Booleans and floats stay floats until something needs their
//! bits.

use z3::ast::{BV, Bool, Float};

#[derive(Clone, Debug)]
pub(crate) enum Term {
    Bits(BV),
    /// A 1-bit value.
    Truth(Bool),
    Float(Float),
}

impl Term {
    /// The value as bits. The bits of a NaN are not determined.
    pub(crate) fn bits(&self) -> BV {
        match self {
            Term::Bits(bits) => bits.clone(),
            Term::Truth(truth) => truth.ite(&BV::from_u64(1, 1), &BV::from_u64(0, 1)),
            Term::Float(float) => float.to_ieee_bv(),
        }
    }

    /// A 1-bit value as a Boolean.
    pub(crate) fn truth(&self) -> Bool {
        match self {
            Term::Truth(truth) => truth.clone(),
            other => other.bits().eq(BV::from_u64(1, 1)),
        }
    }
}

/// A constant of any width.
pub(crate) fn constant(bits: u32, value: u128) -> BV {
    if bits <= 64 {
        return BV::from_u64(value as u64, bits);
    }
    BV::from_u64((value >> 64) as u64, bits - 64).concat(BV::from_u64(value as u64, 64))
}
