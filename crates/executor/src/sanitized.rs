//! The sanitized variant: a second opinion on what the traced one ran.

use std::path::Path;
use std::time::Duration;

use compiler::{DeriveOptions, Variant, derive};
use runner::{
    Runner, RunnerError, SANITIZER_OPTIONS, SanitizerReport, Symbolizer, TargetOptions,
    UNDEFINED_OPTIONS, Waiting,
};
use search::{Diagnosis, ExecError, Frame, Outcome};
use trace::Capacities;

use crate::TargetError;
use crate::deadlock::{Threads, deadlock};
use crate::executor::failed;
use crate::loops::Loops;

/// What to look for beside overflows and uses after free.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sanitizers {
    /// Undefined behaviour that the program survives.
    pub undefined: bool,
    /// Memory that is never freed.
    pub leaks: bool,
}

/// How many times as long as the traced variant the sanitized one may run.
const PATIENCE: u32 = 4;

/// Bytes of what the sanitizers say about a run. Each place is reported once, so that this is a
/// lot.
const MAX_REPORTED: u64 = 1 << 20;

/// A report costs as much as many processes, so that a program with this many reports that do not
/// come again is better off without sharing.
const MAX_UNCONFIRMED: u32 = 4;

const SIGKILL: i32 = 9;

/// A started sanitized variant.
pub(crate) struct Sanitized {
    pub(crate) runner: Runner,
    /// Whether reports count that the program survives.
    undefined: bool,
    /// Whether the input is in arguments or environment variables.
    in_words: bool,
    symbolizer: Symbolizer,
    /// The same variant for runs that do not end.
    loops: Loops,
    /// The same variant for runs that stand still.
    threads: Threads,
    /// The last so many runs did not end in time, and how many did not in all.
    late: u32,
    pub(crate) unfinished: u64,
    /// Reports in a shared process that did not come again without the inputs before.
    unconfirmed: u32,
}

impl Sanitized {
    /// The variant, and what it has unchanged. `options` are those of the traced variant.
    pub(crate) fn start(
        program: &Path,
        options: TargetOptions,
        wanted: Sanitizers,
    ) -> Result<(Sanitized, Vec<String>), TargetError> {
        let run_time = options.limits.run_time;
        let derived = derive(program, Variant::Sanitized, &DeriveOptions::from_environment()?)?;
        let options = sanitizer_options(options, &derived.executable, wanted);
        let does_not_run = |source| TargetError::DoesNotRun { variant: Variant::Sanitized, source };
        let runner = Runner::start(options.clone()).map_err(does_not_run)?;
        let in_words = options.input_in_words();
        let threads = Threads::new(options.clone(), run_time)?;
        let loops = Loops::new(options, run_time)?;
        let (undefined, symbolizer) = (wanted.undefined, Symbolizer::default());
        let (late, unfinished, unconfirmed) = (0, 0, 0);
        let sanitized = Sanitized {
            runner,
            undefined,
            in_words,
            symbolizer,
            loops,
            threads,
            late,
            unfinished,
            unconfirmed,
        };
        Ok((sanitized, derived.left_out))
    }

    /// Longer than the traced variant may run, as checks take time; less where runs did not end
    /// lately.
    pub(crate) fn limit(&self, run_time: Duration) -> Duration {
        (run_time * PATIENCE / (1 << self.late.min(PATIENCE.ilog2()))).max(run_time)
    }

    /// What is wrong with a run on `input`, in a process that other inputs share or in its own.
    pub(crate) fn examine(
        &mut self,
        input: &[u8],
        may_share: bool,
        limit: Duration,
    ) -> Result<Vec<Diagnosis>, RunnerError> {
        self.runner.set_times(limit, None);
        let shares = may_share && self.unconfirmed < MAX_UNCONFIRMED;
        if shares && let Some(diagnoses) = self.examine_shared(input)? {
            return Ok(diagnoses);
        }
        let run = self.runner.run(input, false)?;
        let (outcome, said) = (run.outcome, run.reports());
        let diagnoses = self.diagnoses(&said, outcome);
        self.learn(outcome);
        self.unconfirmed += u32::from(shares && diagnoses.is_empty());
        Ok(diagnoses)
    }

    /// What is reported after other inputs in the same process is believed if it is reported
    /// without them, too: `None` asks for that.
    fn examine_shared(&mut self, input: &[u8]) -> Result<Option<Vec<Diagnosis>>, RunnerError> {
        let run = self.runner.run_shared(input, false)?;
        let (outcome, shared, said) = (run.outcome, run.shared, run.reports());
        let diagnoses = self.diagnoses(&said, outcome);
        let is_quiet = matches!(outcome, Outcome::Exit(_)) && diagnoses.is_empty();
        if shared && !is_quiet {
            return Ok(None);
        }
        self.learn(outcome);
        Ok(Some(diagnoses))
    }

    /// Where a run is that does not end, and what the sanitizers object to before.
    pub(crate) fn locate_hang(&mut self, input: &[u8]) -> Result<Vec<Diagnosis>, ExecError> {
        let stderr = self.loops.run(input).map_err(failed)?;
        let place = Loops::locate(&self.symbolizer.name_places(&stderr));
        let mut diagnoses = self.reported(SanitizerReport::before_samples(&stderr));
        diagnoses.extend(place);
        Ok(diagnoses)
    }

    /// Where the threads of a run wait that stands still, and what the sanitizers object to before.
    pub(crate) fn locate_deadlock(
        &mut self,
        input: &[u8],
        waiting: &[Waiting],
    ) -> Result<Vec<Diagnosis>, ExecError> {
        let stderr = self.threads.run(input).map_err(failed)?;
        let said = self.symbolizer.name_places(&stderr);
        let mut diagnoses = self.reported(SanitizerReport::before_samples(&stderr));
        diagnoses.push(deadlock(waiting, SanitizerReport::threads(&said)));
        Ok(diagnoses)
    }

    /// A run ended by itself, or did not.
    fn learn(&mut self, outcome: Outcome) {
        let is_late = outcome == Outcome::Timeout;
        self.late = if is_late { self.late + 1 } else { 0 };
        self.unfinished += u64::from(is_late);
    }

    /// What the sanitizers object to in a run about which they said this.
    fn reported(&mut self, said: &[u8]) -> Vec<Diagnosis> {
        let said = self.symbolizer.name_places(said);
        let wanted = |report: &SanitizerReport| report.fatal || self.undefined;
        let reports = SanitizerReport::parse(&said).into_iter().filter(wanted);
        let hidden = (self.in_words && is_before_page(&said)).then_some(BEFORE_WORDS);
        reports.map(|report| diagnosis(report, &said, hidden)).collect()
    }

    /// The same, and that the run ended badly if they did not say why.
    fn diagnoses(&mut self, said: &[u8], outcome: Outcome) -> Vec<Diagnosis> {
        let mut diagnoses = self.reported(said);
        // The kernel kills innocent runs, too.
        let is_killed = outcome.is_crash() && outcome != Outcome::Signal(SIGKILL);
        if is_killed && !diagnoses.iter().any(|diagnosis| diagnosis.fatal) {
            diagnoses.push(Diagnosis::unreported(outcome));
        }
        diagnoses
    }
}

fn sanitizer_options(
    mut options: TargetOptions,
    executable: &Path,
    wanted: Sanitizers,
) -> TargetOptions {
    options.program = executable.to_owned();
    let (name, value) = SANITIZER_OPTIONS;
    let value = format!("{value}:detect_leaks={}", u8::from(wanted.leaks));
    options.environment.push((name.into(), value.into()));
    let (name, value) = UNDEFINED_OPTIONS;
    options.environment.push((name.into(), value.into()));
    if wanted.undefined {
        options.environment.push(("TARRAGON_UNDEFINED".into(), "1".into()));
    }
    options.may_trace_itself = wanted.leaks;
    options.limits.run_time *= PATIENCE;
    // The sanitizer reserves more address space than any limit would leave.
    options.limits.address_space_allowance = None;
    options.capacities =
        Capacities { events: 1, nodes: 1, tables: 1, data: MAX_REPORTED, ..options.capacities };
    options
}

fn diagnosis(report: SanitizerReport, said: &[u8], hidden: Option<&'static str>) -> Diagnosis {
    let SanitizerReport { kind, fatal, frames } = report;
    let frame =
        |frame: runner::SanitizerFrame| Frame { function: frame.function, place: frame.place };
    let hidden = hidden.filter(|_| kind == "SEGV");
    let (frames, report) = (frames.into_iter().map(frame).collect(), said.to_vec());
    Diagnosis { kind, fatal, frames, report, hidden, rounds: None }
}

/// Why the program survives a read before its first argument from the input: there it is another
/// argument's end.
const BEFORE_WORDS: &str =
    "arguments lie at the edge of a page there, so that reading before the first of them is seen";

/// Whether what was reported is an access just before a page.
fn is_before_page(said: &[u8]) -> bool {
    const ADDRESS: &str = "SEGV on unknown address 0x";
    const PAGE: u64 = 4096;
    const NEAR: u64 = 64;
    let said = String::from_utf8_lossy(said);
    let address = said.split_once(ADDRESS).map(|(_, rest)| rest);
    let digits = address.and_then(|rest| rest.split(|c: char| !c.is_ascii_hexdigit()).next());
    let address = digits.and_then(|digits| u64::from_str_radix(digits, 16).ok());
    address.is_some_and(|address| address > PAGE && address % PAGE >= PAGE - NEAR)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_before_a_page_are_known_by_their_address() {
        let said = |address: &str| {
            format!(
                "==2==ERROR: AddressSanitizer: SEGV on unknown address {address} (pc \
                 0x5555556aeba1 bp"
            )
        };
        assert!(is_before_page(said("0x7ffff77e5fff").as_bytes()));
        assert!(!is_before_page(said("0x7ffff77e6000").as_bytes()));
        assert!(!is_before_page(said("0x000000000fff").as_bytes()), "a null pointer");
        assert!(!is_before_page(b"heap-buffer-overflow on address 0x7c1ff6de0fff"));
    }
}
