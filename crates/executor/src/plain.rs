//! The program itself, as the user built it. What it does with an input counts; variants of it are
//! only ways to find out more.

use std::ffi::OsString;
use std::path::Path;

use compiler::DeriveOptions;
use compiler::payload::Payload;
use runner::{PlainRunner, RunnerError, TargetOptions, Waiting};
use search::Outcome;

pub(crate) struct Plain {
    runner: PlainRunner,
    options: TargetOptions,
    /// An input on which the traced variant ends.
    good: Option<Vec<u8>>,
    /// The program was run on that input, too.
    is_checked: bool,
    /// Why the program is not asked any more.
    trouble: Option<String>,
    /// The last input and how it ended: several bugs may have it.
    last: Option<(Vec<u8>, Ended)>,
}

/// How a run ended.
struct Ended {
    outcome: Outcome,
    /// Where its threads wait, if it stood still for ever.
    standstill: Option<Vec<Waiting>>,
}

/// Lets signals end a libFuzzer harness, as they do in its variants.
const HARNESS_WORDS: [&str; 8] = [
    "-handle_segv=0",
    "-handle_bus=0",
    "-handle_abrt=0",
    "-handle_ill=0",
    "-handle_fpe=0",
    "-rss_limit_mb=0",
    "-timeout=0",
    "@@",
];

/// How the program itself is run, by how its variants are.
pub(crate) fn plain_options(program: &Path, mut options: TargetOptions) -> TargetOptions {
    options.program = std::path::absolute(program).unwrap_or_else(|_| program.to_owned());
    options.limits.address_space_allowance = Some(0);
    let is_harness =
        |payload: &Payload| payload.recipe.as_ref().is_some_and(|recipe| recipe.is_harness);
    if Payload::read(program).is_ok_and(|payload| is_harness(&payload)) {
        options.arguments = HARNESS_WORDS.iter().map(Into::into).collect();
    }
    options
}

/// A program that forks says nothing of how its children end. Without the library it is asked all the
/// same.
fn library_for_children(program: &Path) -> Option<(OsString, OsString)> {
    let options = DeriveOptions::from_environment().ok()?;
    let library = compiler::preloaded(program, &options.cache).ok()??;
    Some(("LD_PRELOAD".into(), library.into()))
}

/// An input in a message.
fn shown(input: &[u8]) -> String {
    const MOST: usize = 64;
    match input.len() {
        0..=MOST => format!("the input \"{}\"", input.escape_ascii()),
        len => format!("an input of {len} bytes (\"{}…\")", input[..MOST].escape_ascii()),
    }
}

impl Plain {
    /// `options` are those of the traced variant.
    pub(crate) fn new(program: &Path, options: TargetOptions) -> Result<Plain, RunnerError> {
        let mut options = plain_options(program, options);
        options.environment.extend(library_for_children(&options.program));
        let runner = PlainRunner::new(options.clone())?;
        Ok(Plain { runner, options, good: None, is_checked: false, trouble: None, last: None })
    }

    /// Takes note of how the traced variant ended.
    pub(crate) fn learn(&mut self, input: &[u8], outcome: Outcome) {
        if self.good.is_none() && matches!(outcome, Outcome::Exit(_)) {
            self.good = Some(input.to_vec());
        }
    }

    pub(crate) fn trouble(&self) -> Option<String> {
        self.trouble.clone()
    }

    pub(crate) fn run(&mut self, input: &[u8]) -> Option<Outcome> {
        self.check();
        if self.trouble.is_some() {
            return None;
        }
        Some(self.ended(input)?.outcome)
    }

    /// Where the threads wait of a run on `input` that stands still for ever; `None` if there is
    /// no such standstill, or if that cannot be known.
    pub(crate) fn standstill(&mut self, input: &[u8]) -> Option<Vec<Waiting>> {
        self.run(input)?;
        self.ended(input)?.standstill.clone()
    }

    fn ended(&mut self, input: &[u8]) -> Option<&Ended> {
        if self.last.as_ref().is_none_or(|(last, _)| last != input) {
            let ended = self.run_once(input)?;
            self.last = Some((input.to_vec(), ended));
        }
        self.last.as_ref().map(|(_, ended)| ended)
    }

    /// Input can come in ways that only variants know, such as a socket: the program waits for it
    /// in vain. Then it cannot be asked. A machine under load makes slow runs, so that it gets a
    /// second chance.
    fn check(&mut self) {
        if self.is_checked || self.trouble.is_some() {
            return;
        }
        let Some(good) = self.good.take() else { return };
        self.is_checked = true;
        let why = if self.wants_socket(&good) {
            "it uses a socket, which the sandbox denies; its variants get the input there"
                .to_owned()
        } else if (0..2).all(|_| self.hangs(&good)) {
            let good = shown(&good);
            format!(
                "it does not end on {good}, on which its variant does; does it wait \
                 for \
                 something else?"
            )
        } else {
            return;
        };
        self.trouble = Some(format!("finds are not confirmed on the program itself: {why}"));
    }

    fn hangs(&mut self, input: &[u8]) -> bool {
        self.run_once(input).is_some_and(|ended| ended.outcome == Outcome::Timeout)
    }

    fn wants_socket(&self, input: &[u8]) -> bool {
        let denied = runner::denials(self.options.clone(), input).unwrap_or_default();
        denied.iter().any(|denial| denial.call == "socket")
    }

    fn run_once(&mut self, input: &[u8]) -> Option<Ended> {
        match self.runner.run(input) {
            Ok(run) => Some(Ended { outcome: run.outcome, standstill: run.standstill }),
            // Nobody will ask again.
            Err(RunnerError::Interrupted) => None,
            Err(error) => {
                self.trouble =
                    Some(format!("finds are not confirmed on the program itself: {error}"));
                None
            }
        }
    }
}
