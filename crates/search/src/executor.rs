//! Running one input, as the search sees it.

use std::ops::Range;
use std::time::Duration;

use path::Trace;
use run::Outcome;

use crate::{Diagnosis, Hits};

/// Runs the program on an input.
pub trait Executor {
    /// With `symbolic` the execution carries a trace, unless it ends at the time limit; without,
    /// only coverage is recorded, which is faster.
    fn run(&mut self, input: &[u8], symbolic: bool) -> Result<Execution, ExecError>;

    /// Makes only these bytes of the inputs from now on symbolic, and not their length; without
    /// holes, everything. With holes there may be a repetition, equal bytes whose number is
    /// symbolic: after the input, the bytes of traces go on with that number ([`trace::marks`]).
    fn restrict(&mut self, _holes: Option<&[Range<usize>]>, _repetition: Option<Range<usize>>) {}

    /// As `run` without a trace, with all the time that a run may take: `run` may end those early
    /// that take much longer than others.
    fn run_patiently(&mut self, input: &[u8]) -> Result<Execution, ExecError> {
        self.run(input, false)
    }

    /// A trace of the beginning of a run that hangs.
    fn trace_hang(&mut self, input: &[u8]) -> Result<Execution, ExecError> {
        self.run(input, true)
    }

    /// Runs the input once more in a build that checks more, if there is one: what is wrong there.
    fn examine(&mut self, _input: &[u8]) -> Result<Vec<Diagnosis>, ExecError> {
        Ok(Vec::new())
    }

    /// Inputs since the last call that make the program tamper with what it shares with whoever
    /// runs it. They are run in processes of their own from then on.
    fn take_offences(&mut self) -> Vec<Offence> {
        Vec::new()
    }

    /// Runs an input in a way that shows tampering.
    fn look_for_tampering(&mut self, _input: &[u8]) -> Result<Vec<Offence>, ExecError> {
        Ok(Vec::new())
    }

    /// How the program itself ends, as the user built it and with all the time that a run may take.
    /// `None` if that cannot be known.
    fn run_plain(&mut self, _input: &[u8]) -> Result<Option<Outcome>, ExecError> {
        Ok(None)
    }

    /// Why [`Executor::run_plain`] does not know, if it should.
    fn plain_trouble(&self) -> Option<String> {
        None
    }

    /// Where a run is that does not end, a diagnosis of the kind [`Diagnosis::ENDLESS_LOOP`] or
    /// [`Diagnosis::DEADLOCK`], and the mistakes that it makes before.
    fn locate_hang(&mut self, _input: &[u8]) -> Result<Vec<Diagnosis>, ExecError> {
        Ok(Vec::new())
    }

    /// Calls of [`Executor::examine`] so far that were ended at the time limit.
    fn unfinished_examinations(&self) -> u64 {
        0
    }

    /// Whether there is such a build.
    fn can_examine(&self) -> bool {
        false
    }

    /// Inputs so far whose crash, hang or new coverage hung on inputs before them in the same
    /// process.
    fn unstable(&self) -> u64 {
        0
    }

    /// Traces so far with decisions on the input that were made after others in the same process:
    /// what those left there may have decided, too.
    fn believed(&self) -> u64 {
        0
    }
}

/// What an input makes the program do to whoever runs it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offence {
    pub input: Vec<u8>,
    /// A verb and what follows: the program is the subject.
    pub what: String,
}

impl Offence {
    /// How the titles of such bugs begin.
    pub const TITLE: &str = "tampering";

    pub(crate) fn diagnosis(&self) -> Diagnosis {
        let kind = format!("{}: the program {}", Offence::TITLE, self.what);
        Diagnosis {
            kind,
            fatal: false,
            frames: Vec::new(),
            report: Vec::new(),
            hidden: None,
            rounds: None,
        }
    }
}

/// The program cannot be run any more. A crash or a hang of the program is no such error but an
/// [`Outcome`].
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct ExecError(pub String);

#[derive(Debug)]
pub struct Execution {
    pub outcome: Outcome,
    /// Coverage indices of the branch outcomes that the run took.
    pub covered: Vec<u32>,
    /// How often each of these, in the same order; 255 is that or more.
    pub counts: Vec<u8>,
    pub trace: Option<Trace>,
    /// Why a symbolic run has no usable trace.
    pub bad_trace: Option<String>,
    pub run_time: Duration,
    /// Processor time, which load on the machine does not change.
    pub cpu_time: Duration,
    /// The end of what the program wrote to its standard error.
    pub stderr: Vec<u8>,
}

impl Execution {
    pub fn hits(&self) -> Hits<'_> {
        Hits { outcomes: &self.covered, counts: &self.counts }
    }
}
