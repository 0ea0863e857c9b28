//! How much travels between functions in a thread's block, [`TLS_BYTES`](crate::TLS_BYTES) in all.

/// Labels of arguments in a call.
pub const ARGS: usize = 64;

/// Labels of results.
pub const RESULTS: usize = 16;

/// Labels of variadic arguments, one every 8 bytes of where the calling convention keeps them.
pub const VARARGS: usize = 64;

/// Structs that a call passes by value.
pub const STRUCTS: usize = 8;
