//! Runs a target on one input after the other: fork-server client, sandbox, limits, shared memory.
//!
//! [`Runner`] starts a program that was built with Tarragon once and lets it fork for each input;
//! [`PlainRunner`] starts any program anew for each. Both use the same sandbox ([`Sandbox`]), the
//! same limits ([`Limits`]) and the same [`Outcome`]. Whatever a target does, nothing of it is left
//! when a run ends, and nothing of a runner is left when it is dropped or when the driver dies.
//!
//! This crate gives the raw trace of a run and no meaning to it: it must not know expressions,
//! sites or strategies, and it must not read a number from shared memory without checking it.

mod capture;
mod denials;
mod error;
mod input;
mod launch;
mod left;
mod line;
mod options;
mod outcome;
mod own_limits;
mod plain;
mod processor;
mod program;
mod runner;
mod sandbox;
mod sanitizer;
mod scratch;
mod segment;
mod server;
mod stage;
mod standstill;
mod symbolizer;
mod words;
mod workdir;

pub use capture::TAIL_LEN;
pub use denials::{Denial, denials};
pub use error::RunnerError;
pub use options::{
    INPUT_PLACEHOLDER, Limits, Sandbox, TargetOptions, WorkingDirectory, default_capacities,
};
pub use own_limits::survive_file_size_limit;
pub use plain::{PlainRun, PlainRunner, run_plain};
pub use processor::keep_to_one_processor;
pub use run::{Outcome, RawTrace};
pub use runner::{Counters, Offence, RawRun, Runner};
pub use sandbox::SandboxReport;
pub use sanitizer::{SANITIZER_OPTIONS, SanitizerFrame, SanitizerReport, UNDEFINED_OPTIONS};
pub use segment::{Segment, SegmentCorrupted};
pub use standstill::Waiting;
pub use symbolizer::Symbolizer;
pub use words::fill_words;
