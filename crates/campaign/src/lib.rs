//! A campaign: a search whose results go to a directory and whose progress is shown.
//!
//! [`Campaign`] joins the search engine with an [`OutputDir`], a [`Display`] and the clock.
//! [`replay`] runs a suite without searching, [`triage`] the bugs of campaigns. The crate sees the
//! program only through `search::Executor`; it must not know how a program is started, nor decide
//! what is run.

mod campaign;
mod clock;
mod display;
mod inputs;
mod interrupt;
mod lcov;
mod measure;
mod minimise;
mod output;
mod recorder;
mod replay;
mod report;
mod status;
mod summary;
mod triage;

pub use campaign::{Campaign, CampaignEnd};
pub use clock::WallClock;
pub use display::{Display, DisplayMode, Preparing};
pub use inputs::{InputError, NamedInput, Truncated, built_in_seeds, read_inputs, read_seeds};
pub use interrupt::stop_on_signals;
pub use lcov::{Lcov, SourceCoverage};
pub use measure::{Covered, MakeCovered, Measured, measure};
pub use minimise::{Minimised, minimise};
pub use output::{DirError, InputFile, OutputDir, Resumption, Saved};
pub use replay::{Replay, ReplayedInput, replay};
pub use report::{About, BugReport, CoverageReport, Hangs, Report, ViolationReport};
pub use triage::{
    Found, Judged, Recorded, Status, Triage, read_bugs, record_leaks, recorded, triage, violated,
};
