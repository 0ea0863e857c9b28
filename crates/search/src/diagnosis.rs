//! A second opinion on an input, by a build of the program that is slower and checks more.

use std::fmt;

/// What went wrong in a run, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnosis {
    /// In the words of the checker: `heap-buffer-overflow`, `FPE`.
    pub kind: String,
    /// Whether the run ended with it.
    pub fatal: bool,
    /// The innermost frame first.
    pub frames: Vec<Frame>,
    /// The checker's whole report.
    pub report: Vec<u8>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Frame {
    pub function: String,
    /// File, line and column, or the place in the executable where there is no debug information.
    pub place: String,
}

impl Diagnosis {
    /// How many frames two runs with one cause have in common.
    const TOP: usize = 3;

    /// What runs with the same cause agree in.
    pub(crate) fn cause(&self) -> (String, Vec<Frame>) {
        (self.kind.clone(), self.frames.iter().take(Diagnosis::TOP).cloned().collect())
    }
}

impl fmt::Display for Frame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.place, self.function)
    }
}
