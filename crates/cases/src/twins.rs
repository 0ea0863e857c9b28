//! The builds of one program side by side: what one prints and how it ends, all must.

use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

use runner::{Limits, Outcome, PlainRunner, RunnerError, TargetOptions, default_capacities};

use crate::{Program, Tracer};

/// What can be seen of a run from outside.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Observed {
    pub outcome: Outcome,
    pub stdout: Vec<u8>,
}

pub struct Twins {
    plain: PlainRunner,
    others: Vec<(&'static str, PlainRunner)>,
}

/// The result of a comparison in which no build differed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Agreement {
    Same,
    /// The plain build does not end in a time that leaves room for the slower ones.
    TooSlow,
}

/// How long the plain build may take.
const PLAIN_TIME: Duration = Duration::from_secs(2);
/// How long the other builds may take: much longer, because machines that test are busy.
const OTHER_TIME: Duration = Duration::from_secs(60);

/// How targets run in all tests.
pub(crate) fn options(program: &Path, arguments: &[OsString], outcomes: u32) -> TargetOptions {
    let mut options = TargetOptions::new(program);
    options.arguments = arguments.to_vec();
    options.capture_stdout = true;
    options.capacities = default_capacities(outcomes);
    options.limits = Limits { run_time: OTHER_TIME, ..Limits::default() };
    options
}

impl Twins {
    pub fn new(program: &Program, arguments: &[OsString]) -> Result<Twins, String> {
        let runner = |path: &Path, time: Duration| {
            let mut options = options(path, arguments, 0);
            options.limits.run_time = time;
            PlainRunner::new(options).map_err(|error: RunnerError| error.to_string())
        };
        let others = vec![
            ("the build by tarragon cc", runner(&program.built, OTHER_TIME)?),
            ("the traced build without Tarragon", runner(&program.traced, OTHER_TIME)?),
        ];
        Ok(Twins { plain: runner(&program.plain, PLAIN_TIME)?, others })
    }

    /// Runs all builds on `input`, the traced one also under `tracer`, and says which one is
    /// different.
    pub fn compare(&mut self, tracer: &mut Tracer, input: &[u8]) -> Result<Agreement, String> {
        let expected = observe(&mut self.plain, input)?;
        if expected.outcome == Outcome::Timeout {
            return Ok(Agreement::TooSlow);
        }
        for (way, runner) in &mut self.others {
            same(&expected, &observe(runner, input)?, way, input)?;
        }
        let (traced, labelled) = tracer.observe(input, true)?;
        same(&expected, &traced, "the traced build on symbolic input", input)?;
        let (traced, concrete) = tracer.observe(input, false)?;
        same(&expected, &traced, "the traced build on concrete input", input)?;
        if labelled != concrete {
            let input = input.escape_ascii();
            return Err(format!(
                "on \"{input}\" the labelled code took the outcomes {labelled:?}, the concrete \
                 {concrete:?}"
            ));
        }
        Ok(Agreement::Same)
    }
}

fn observe(runner: &mut PlainRunner, input: &[u8]) -> Result<Observed, String> {
    let run = runner.run(input).map_err(|error| error.to_string())?;
    Ok(Observed { outcome: run.outcome, stdout: run.stdout })
}

fn same(expected: &Observed, observed: &Observed, way: &str, input: &[u8]) -> Result<(), String> {
    if class(expected.outcome) == class(observed.outcome) && expected.stdout == observed.stdout {
        return Ok(());
    }
    let input = input.escape_ascii();
    let show = |o: &Observed| format!("{} after {:?}", o.outcome, tail(&o.stdout));
    Err(format!("{way} on \"{input}\": {}; plain build: {}", show(observed), show(expected)))
}

/// Which of two signals an access far outside of all memory ends with depends on the register that
/// the address is in.
fn class(outcome: Outcome) -> Outcome {
    match outcome {
        Outcome::Signal(libc::SIGBUS) => Outcome::Signal(libc::SIGSEGV),
        outcome => outcome,
    }
}

fn tail(text: &[u8]) -> String {
    String::from_utf8_lossy(&text[text.len().saturating_sub(100)..]).into_owned()
}
