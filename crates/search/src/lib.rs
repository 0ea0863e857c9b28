//! Searching for inputs: one engine, many strategies.
//!
//! A [`Strategy`] proposes inputs, the [`Engine`] has them run, keeps the books (coverage, corpus,
//! bugs, statistics) and tells the strategy what happened. Processes, time, randomness and output
//! come in through values and traits ([`Executor`], [`Clock`], [`Observer`], a seeded generator),
//! so a search can be tested without any of them: this crate never spawns a process, never reads
//! the clock and never writes a file.
//!
//! The same program, seeds, options and number of runs give the same result. What depends on time
//! is when the search ends, solver answers that a time limit turned into "unknown", and how small the
//! inputs of bugs become.

mod bugs;
mod claim;
mod corpus;
mod coverage;
mod diagnosis;
mod engine;
mod examination;
mod executor;
mod hangs;
mod hits;
mod judgement;
mod mutate;
mod named;
mod part_by_part;
mod paths;
mod random;
mod reach;
mod restart;
mod returns;
mod rounds;
mod sentences;
mod stats;
mod strategy;
mod suspicion;
mod violations;
mod whitebox;

pub use bugs::{Bug, BugKind, Bugs, Failure, Sighting};
pub use claim::{Claim, Enumeration, SizeCounts};
pub use corpus::{Corpus, Entry, KeepBy};
pub use coverage::Coverage;
pub use diagnosis::{Diagnosis, Frame, class};
pub use engine::{
    Clock, Engine, Limits, Observer, OutputError, Progress, Results, Seed, Stop, World,
};
pub use executor::{ExecError, Execution, Executor, Offence};
pub use hits::Hits;
pub use judgement::Judgement;
pub use mutate::Mutate;
pub use named::{Codes, Named, Run, TokenInputs, TokenOf, View};
pub use part_by_part::PartByPart;
pub use random::Random;
pub use restart::restart;
pub use returns::{Return, Returns};
pub use rounds::{Condition, InputByte, LoopRounds, OperandValues, Rounds};
pub use run::Outcome;
pub use sentences::{Change, Scope, Sentences};
pub use stats::{Answers, Growth, LinkStats, Optimism, PhaseTimes, SentenceStats, Stats, Verdicts};
pub use strategy::{Context, Next, Origin, Proposal, Ran, SavedSearch, Strategy, TracedPath};
pub use violations::{Violation, Violations};
pub use whitebox::{Completeness, Order, Whitebox, WhiteboxOptions};
