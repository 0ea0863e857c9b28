//! Programs as a search runs them: from the program that the user names to an implementation of
//! [`search::Executor`].
//!
//! A [`Target`] is a program with its variants: the traced one, the program itself (second opinion
//! on crashes and hangs) and, if wanted, the sanitized one (second opinion on everything that is
//! kept). Its [`RunnerExecutor`] decides how each input is run: how long (`patience`), in which
//! process (`sharing`), and whose word counts (`plain`, `sanitized`, `loops`). Who wants only a
//! traced variant has [`Traced`], and [`execution`] for a single run; who compares programs has
//! [`Observed`].
//!
//! This crate stands above `runner` and `search` and joins them. The trait stays in `search`,
//! because the search says what it needs of a run; so `search` starts no process and is tested
//! without one, and `runner` knows nothing of searches. This crate must not choose inputs and must
//! not print.

mod counted;
mod deadlock;
mod error;
mod execution;
mod executor;
mod loops;
mod observe;
mod observed;
mod patience;
mod plain;
mod program;
mod sanitized;
mod sharing;
mod target;
mod traced;

pub use error::TargetError;
pub use execution::execution;
pub use executor::RunnerExecutor;
pub use observe::{Observation, Observer, PathMarks, Words};
pub use observed::{Observed, has_bitcode};
pub use program::find_program;
pub use sanitized::Sanitizers;
pub use target::{
    CoveredVariant, Preparation, Replaced, Target, TargetSettings, left_out, prepare,
    replace_functions,
};
pub use traced::Traced;
