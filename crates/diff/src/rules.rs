//! What counts as a difference.

use std::collections::BTreeSet;
use std::fmt;

use run::Outcome;
use serde::Serialize;

use crate::Normaliser;

/// Something about a run that is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Aspect {
    Exit,
    Stdout,
    Stderr,
    Files,
}

impl fmt::Display for Aspect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Aspect::Exit => "exit",
            Aspect::Stdout => "stdout",
            Aspect::Stderr => "stderr",
            Aspect::Files => "files",
        })
    }
}

#[derive(Clone, Debug)]
pub struct Rules {
    pub aspects: BTreeSet<Aspect>,
    /// Applied to outputs and files, in order.
    pub normalisers: Vec<Normaliser>,
    /// How far apart two numbers may be: absolutely, and relative to the larger one. Without it,
    /// outputs are compared byte by byte.
    pub tolerance: Option<f64>,
    /// Exit codes with which a program rejects its input; empty for all but 0.
    pub rejects: Vec<i32>,
}

impl Default for Rules {
    /// Messages differ between programs, so that stderr is not compared.
    fn default() -> Rules {
        Rules {
            aspects: [Aspect::Exit, Aspect::Stdout, Aspect::Files].into(),
            normalisers: Vec::new(),
            tolerance: None,
            rejects: Vec::new(),
        }
    }
}

/// What a program says about its input by the way it ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Accepts,
    Rejects,
    Crashes,
    /// It was ended by a limit, so that nothing is known.
    Unfinished,
}

impl Rules {
    pub(crate) fn counts(&self, aspect: Aspect) -> bool {
        self.aspects.contains(&aspect)
    }

    /// Without exit codes, every run that ends by itself accepts.
    pub(crate) fn verdict(&self, outcome: Outcome) -> Verdict {
        match outcome {
            Outcome::Exit(_) if !self.counts(Aspect::Exit) => Verdict::Accepts,
            Outcome::Exit(code) if self.is_rejection(code) => Verdict::Rejects,
            Outcome::Exit(_) => Verdict::Accepts,
            Outcome::Signal(LIMIT_OF_FILE_SIZE) => Verdict::Unfinished,
            Outcome::Signal(_) => Verdict::Crashes,
            Outcome::Timeout | Outcome::OutOfMemory => Verdict::Unfinished,
        }
    }

    fn is_rejection(&self, code: i32) -> bool {
        if self.rejects.is_empty() { code != 0 } else { self.rejects.contains(&code) }
    }

    pub(crate) fn normalised(&self, output: &[u8]) -> Vec<u8> {
        let mut text = output.to_vec();
        for normaliser in &self.normalisers {
            text = normaliser.apply(text);
        }
        text
    }
}

/// SIGXFSZ: the program printed more than it may.
const LIMIT_OF_FILE_SIZE: i32 = 25;
