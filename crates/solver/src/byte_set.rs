//! Sets of byte values.

pub use trace::ByteSet;
