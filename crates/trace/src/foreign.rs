//! What the instrumenter tells the runtime of calls of functions without a model: numbers in
//! arguments of the entry points.

/// What a function may do with memory that it gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Lent {
    /// Anything.
    Any,
    /// Anything but open files.
    NoFiles,
    /// Write it to where `__tg_output` was told.
    Output,
    /// Print it, and tell the program how much that was.
    Counted,
    /// Anything, also later: it is no function of the system's libraries.
    Foreign,
}

/// Where a function prints to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Sink {
    Descriptor,
    Stream,
    StandardOutput,
}

/// What a function that prints returns of what it gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Returned {
    /// The byte that it printed.
    Byte,
    /// The count, if all goes well.
    Count,
}
