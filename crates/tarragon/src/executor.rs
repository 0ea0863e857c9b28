//! The search's view of a started program.

use std::ops::Range;
use std::time::{Duration, Instant};

use path::Trace;
use runner::{RawRun, Runner, RunnerError, SanitizerReport, Symbolizer};
use search::{Diagnosis, ExecError, Execution, Executor, Frame, Offence, Outcome};

use crate::loops::Loops;
use crate::patience::{Patience, Times};
use crate::plain::Plain;
use crate::sharing::Sharing;
use crate::target::PATIENCE;

/// A started sanitized variant.
pub(crate) struct Sanitized {
    runner: Runner,
    /// Whether reports count that the program survives.
    undefined: bool,
    symbolizer: Symbolizer,
    /// The same variant for runs that do not end.
    loops: Loops,
    /// The last so many runs did not end in time, and how many did not in all.
    late: u32,
    unfinished: u64,
}

impl Sanitized {
    pub(crate) fn new(runner: Runner, undefined: bool, loops: Loops) -> Sanitized {
        let symbolizer = Symbolizer::default();
        Sanitized { runner, undefined, symbolizer, loops, late: 0, unfinished: 0 }
    }

    /// Longer than the traced variant may run, as checks take time; less where runs did not end
    /// lately.
    fn limit(&self, run_time: Duration) -> Duration {
        (run_time * PATIENCE / (1 << self.late.min(PATIENCE.ilog2()))).max(run_time)
    }

    /// A run ended by itself, or did not.
    fn learn(&mut self, is_late: bool) {
        self.late = if is_late { self.late + 1 } else { 0 };
        self.unfinished += u64::from(is_late);
    }

    /// What the sanitizers object to in a run about which they said this.
    fn reported(&mut self, said: &[u8]) -> Vec<Diagnosis> {
        let said = self.symbolizer.name_places(said);
        let wanted = |report: &SanitizerReport| report.fatal || self.undefined;
        let reports = SanitizerReport::parse(&said).into_iter().filter(wanted);
        reports.map(|report| diagnosis(report, &said)).collect()
    }

    /// The same, and that the run ended badly if they did not say why.
    fn diagnoses(&mut self, said: &[u8], outcome: Outcome) -> Vec<Diagnosis> {
        let mut diagnoses = self.reported(said);
        // The kernel kills innocent runs, too.
        let is_killed = matches!(outcome, Outcome::Signal(signal) if signal != SIGKILL);
        if is_killed && !diagnoses.iter().any(|diagnosis| diagnosis.fatal) {
            diagnoses.push(Diagnosis::unreported(outcome));
        }
        diagnoses
    }
}

pub(crate) struct RunnerExecutor {
    pub traced: Runner,
    /// The build that checks more.
    sanitized: Option<Sanitized>,
    /// The program itself.
    pub plain: Option<Plain>,
    /// Without traces and with, if runs are ended early.
    patience: Option<[Patience; 2]>,
    /// If inputs may share a process.
    sharing: Option<Sharing>,
    /// If inputs may share a process of the sanitized variant, too.
    shares_examinations: bool,
    /// Reports in such a process that did not come again without the inputs before.
    unconfirmed: u32,
    /// Time limit of one run.
    run_time: Duration,
    /// When the campaign ends: no run goes on for much longer.
    until: Option<Instant>,
    /// A trace was not finished in time, so it is worth knowing whether a run ends before it is traced.
    probes: bool,
    /// The last input that ended without a trace.
    ended: Vec<u8>,
}

const SIGKILL: i32 = 9;

/// A report costs as much as many processes, so that a program with such reports is better off without sharing.
const MOST_UNCONFIRMED: u32 = 4;

impl RunnerExecutor {
    pub(crate) fn new(traced: Runner, run_time: Duration) -> RunnerExecutor {
        RunnerExecutor {
            traced,
            sanitized: None,
            plain: None,
            patience: None,
            sharing: None,
            run_time,
            until: None,
            probes: false,
            ended: Vec::new(),
            shares_examinations: false,
            unconfirmed: 0,
        }
    }

    /// Ends runs soon after this moment.
    pub(crate) fn end_by(&mut self, until: Instant) {
        self.until = Some(until);
    }

    /// Ends runs early from now on that take much longer than others.
    pub(crate) fn end_early(&mut self) {
        self.patience = Some([Patience::new(self.run_time), Patience::new(self.run_time)]);
    }

    /// Asks this variant for its opinion from now on.
    pub(crate) fn add_sanitized(&mut self, sanitized: Sanitized) {
        self.sanitized = Some(sanitized);
    }

    /// Lets inputs share a process from now on, if the program has a loop over inputs.
    pub(crate) fn share_processes(&mut self) {
        self.sharing = Some(Sharing::default());
    }

    /// The same for the sanitized variant. It cannot be rewound, because the sanitizer's memory would have to be, too; but a loop over
    /// inputs saves it a new process for each.
    pub(crate) fn share_examinations(&mut self) {
        self.shares_examinations = true;
    }

    fn run_within(&mut self, limit: Times, input: &[u8], symbolic: bool) -> Result<Execution, ExecError> {
        self.traced.set_times(within(self.until, limit.run, LEAST), limit.cpu);
        let execution = self.run_in_some_process(limit, input, symbolic)?;
        if let Some(plain) = &mut self.plain {
            plain.learn(input, execution.outcome);
        }
        let Some(patience) = &mut self.patience else { return Ok(execution) };
        match execution.outcome {
            Outcome::Timeout => {
                self.probes |= symbolic;
                patience[usize::from(symbolic)].lose(execution.run_time);
            }
            _ => patience[usize::from(symbolic)].learn(execution.run_time, execution.cpu_time),
        }
        if !symbolic && execution.outcome != Outcome::Timeout {
            input.clone_into(&mut self.ended);
        }
        Ok(execution)
    }

    fn limit(&self, symbolic: bool) -> Times {
        let patience = self.patience.as_ref().map(|patience| patience[usize::from(symbolic)].limit());
        patience.unwrap_or(Times { run: self.run_time, cpu: None })
    }

    fn run_in_some_process(
        &mut self,
        limit: Times,
        input: &[u8],
        symbolic: bool,
    ) -> Result<Execution, ExecError> {
        let Some(sharing) = self.sharing.as_mut().filter(|sharing| !sharing.is_futile()) else {
            return Ok(execution(self.traced.run(input, symbolic).map_err(failed)?, symbolic));
        };
        let run = self.traced.run_shared(input, symbolic).map_err(failed)?;
        let shared = run.shared;
        let first = execution(run, symbolic);
        if shared && !sharing.is_doubtful(&first, input.len()) {
            return Ok(first);
        }
        let own = if shared {
            // The first run may have taken what was left of the campaign.
            self.traced.set_times(within(self.until, limit.run, LEAST), limit.cpu);
            let own = execution(self.traced.run(input, symbolic).map_err(failed)?, symbolic);
            sharing.compare(&first, &own);
            own
        } else {
            first
        };
        sharing.learn(&own, input.len());
        Ok(own)
    }
}

impl Executor for RunnerExecutor {
    fn run(&mut self, input: &[u8], symbolic: bool) -> Result<Execution, ExecError> {
        if symbolic && self.probes && self.ended != input {
            let untraced = self.run_within(self.limit(false), input, false)?;
            if untraced.outcome == Outcome::Timeout {
                return Ok(untraced);
            }
        }
        self.run_within(self.limit(symbolic), input, symbolic)
    }

    fn restrict(&mut self, holes: Option<&[Range<usize>]>, stretch: Option<Range<usize>>) {
        self.traced.restrict(holes, stretch);
    }

    fn run_patiently(&mut self, input: &[u8]) -> Result<Execution, ExecError> {
        self.run_within(Times { run: self.run_time, cpu: None }, input, false)
    }

    fn trace_hang(&mut self, input: &[u8]) -> Result<Execution, ExecError> {
        // A trace takes its time to get to where the run hangs.
        self.run_within(Times { cpu: None, ..self.limit(false) }, input, true)
    }

    fn take_offences(&mut self) -> Vec<Offence> {
        let traced = self.traced.take_offences().into_iter();
        let sanitized = self.sanitized.iter_mut().flat_map(|sanitized| sanitized.runner.take_offences());
        // One that is known for what it does in the traced variant has been told.
        let sanitized = sanitized.filter(|(input, _)| !self.traced.is_offender(input));
        let all = traced.chain(sanitized);
        all.map(|(input, offence)| Offence { input, what: offence.to_string() }).collect()
    }

    fn look_for_tampering(&mut self, input: &[u8]) -> Result<Vec<Offence>, ExecError> {
        for symbolic in [false, true] {
            self.traced.run_shared(input, symbolic).map_err(failed)?;
        }
        if let Some(sanitized) = &mut self.sanitized {
            sanitized.runner.run_shared(input, false).map_err(failed)?;
        }
        // The same deed may be seen in several runs.
        let mut offences = self.take_offences();
        offences.truncate(1);
        Ok(offences)
    }

    fn run_plain(&mut self, input: &[u8]) -> Result<Option<Outcome>, ExecError> {
        Ok(self.plain.as_mut().and_then(|plain| plain.run(input)))
    }

    fn plain_trouble(&self) -> Option<String> {
        self.plain.as_ref().and_then(Plain::trouble)
    }

    fn locate_hang(&mut self, input: &[u8]) -> Result<Vec<Diagnosis>, ExecError> {
        let Some(sanitized) = &mut self.sanitized else { return Ok(Vec::new()) };
        let stderr = sanitized.loops.run(input)?;
        let place = Loops::locate(&sanitized.symbolizer.name_places(&stderr));
        let mut diagnoses = sanitized.reported(SanitizerReport::before_samples(&stderr));
        diagnoses.extend(place);
        Ok(diagnoses)
    }

    fn unfinished_examinations(&self) -> u64 {
        self.sanitized.as_ref().map_or(0, |sanitized| sanitized.unfinished)
    }

    fn unstable(&self) -> u64 {
        self.sharing.as_ref().map_or(0, |sharing| sharing.unstable)
    }

    fn can_examine(&self) -> bool {
        self.sanitized.is_some()
    }

    fn examine(&mut self, input: &[u8]) -> Result<Vec<Diagnosis>, ExecError> {
        const LEAST: Duration = Duration::from_secs(2);
        let Some(sanitized) = &mut self.sanitized else { return Ok(Vec::new()) };
        let limit = within(self.until, sanitized.limit(self.run_time), LEAST);
        sanitized.runner.set_times(limit, None);
        let shares = self.shares_examinations && self.unconfirmed < MOST_UNCONFIRMED;
        if shares {
            let run = sanitized.runner.run_shared(input, false).map_err(failed)?;
            let (outcome, shared, said) = (run.outcome, run.shared, run.reports());
            let is_quiet = matches!(outcome, Outcome::Exit(_));
            let diagnoses = sanitized.diagnoses(&said, outcome);
            // What is reported after other inputs in the same process is believed if it is reported without them, too.
            if !shared || is_quiet && diagnoses.is_empty() {
                sanitized.learn(outcome == Outcome::Timeout);
                return Ok(diagnoses);
            }
        }
        let run = sanitized.runner.run(input, false).map_err(failed)?;
        let (outcome, said) = (run.outcome, run.reports());
        sanitized.learn(outcome == Outcome::Timeout);
        let diagnoses = sanitized.diagnoses(&said, outcome);
        self.unconfirmed += u32::from(shares && diagnoses.is_empty());
        Ok(diagnoses)
    }
}

/// Runs get this much time even at the end of the campaign.
const LEAST: Duration = Duration::from_millis(100);

/// A limit that leaves at least some time, and little more after the end of the campaign.
fn within(until: Option<Instant>, limit: Duration, least: Duration) -> Duration {
    let left = until.map(|until| until.saturating_duration_since(Instant::now()).max(least));
    left.map_or(limit, |left| limit.min(left))
}

fn failed(error: RunnerError) -> ExecError {
    ExecError(error.to_string())
}

fn diagnosis(SanitizerReport { kind, fatal, frames }: SanitizerReport, said: &[u8]) -> Diagnosis {
    let frame = |frame: runner::SanitizerFrame| Frame { function: frame.function, place: frame.place };
    Diagnosis { kind, fatal, frames: frames.into_iter().map(frame).collect(), report: said.to_vec() }
}

fn execution(run: RawRun<'_>, symbolic: bool) -> Execution {
    let outcome = run.outcome;
    let stderr = if matches!(outcome, Outcome::Exit(_)) { Vec::new() } else { run.stderr_tail() };
    let covered = covered(run.coverage);
    let (run_time, cpu_time) = (run.run_time, run.cpu_time);
    let (trace, bad_trace) = match run.trace {
        Ok(raw) if symbolic => split(Trace::from_raw(raw).map_err(|error| error.to_string())),
        Ok(_) => (None, None),
        Err(error) => (None, Some(error.to_string())),
    };
    Execution { outcome, covered, trace, bad_trace, run_time, cpu_time, stderr }
}

fn split(trace: Result<Trace, String>) -> (Option<Trace>, Option<String>) {
    match trace {
        Ok(trace) => (Some(trace), None),
        Err(error) => (None, Some(error)),
    }
}

fn covered(coverage: &[u8]) -> Vec<u32> {
    // Most outcomes are not seen, so that eight of them are looked at together.
    const TOGETHER: usize = 8;
    let mut covered = Vec::with_capacity(128);
    for (first, seen) in (0..).step_by(TOGETHER).zip(coverage.chunks(TOGETHER)) {
        if seen != [0; TOGETHER] {
            covered.extend((first..).zip(seen).filter(|(_, seen)| **seen != 0).map(|(outcome, _)| outcome));
        }
    }
    covered
}
