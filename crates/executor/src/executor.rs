//! The search's view of a started program.

use std::ops::Range;
use std::time::{Duration, Instant};

use path::Trace;
use runner::{Runner, RunnerError, SandboxReport};
use search::{Diagnosis, ExecError, Execution, Executor, Offence, Outcome};

use crate::counted::Counted;
use crate::deadlock::deadlock;
use crate::execution::execution;
use crate::patience::{Patience, Times};
use crate::plain::Plain;
use crate::sanitized::Sanitized;
use crate::sharing::Sharing;

/// Runs a program that was started, and asks its other variants for their opinions.
pub struct RunnerExecutor {
    traced: Runner,
    /// The build that checks more.
    sanitized: Option<Sanitized>,
    /// The program itself.
    plain: Option<Plain>,
    /// The build that counts rounds.
    counted: Option<Counted>,
    /// Without traces and with, if runs are ended early.
    patience: Option<[Patience; 2]>,
    /// If inputs may share a process.
    sharing: Option<Sharing>,
    /// If inputs may share a process of the sanitized variant, too.
    shares_examinations: bool,
    /// Time limit of one run.
    run_time: Duration,
    /// When the campaign ends: no run goes on for much longer.
    until: Option<Instant>,
    /// A trace was not finished in time, so it is worth knowing whether a run ends before it is
    /// traced.
    probes: bool,
    /// The last input that ended without a trace.
    ended: Vec<u8>,
}

impl RunnerExecutor {
    /// The traced variant alone, or another one that is asked for its coverage only.
    pub fn new(traced: Runner, run_time: Duration) -> RunnerExecutor {
        RunnerExecutor {
            traced,
            sanitized: None,
            plain: None,
            counted: None,
            patience: None,
            sharing: None,
            run_time,
            until: None,
            probes: false,
            ended: Vec::new(),
            shares_examinations: false,
        }
    }

    /// Ends runs soon after this moment.
    pub fn end_by(&mut self, until: Instant) {
        self.until = Some(until);
    }

    /// Ends runs early from now on that take much longer than others.
    pub fn end_early(&mut self) {
        self.patience = Some([Patience::new(self.run_time), Patience::new(self.run_time)]);
    }

    pub(crate) fn sandbox(&self) -> &SandboxReport {
        self.traced.sandbox()
    }

    /// Asks the program itself for its opinion from now on.
    pub(crate) fn add_plain(&mut self, plain: Plain) {
        self.plain = Some(plain);
    }

    /// Counts the rounds of hangs from now on.
    pub(crate) fn add_counted(&mut self, counted: Counted) {
        self.counted = Some(counted);
    }

    /// Asks this variant for its opinion from now on.
    pub(crate) fn add_sanitized(&mut self, sanitized: Sanitized) {
        self.sanitized = Some(sanitized);
    }

    /// Lets inputs share a process from now on, if the program has a loop over inputs.
    pub fn share_processes(&mut self) {
        self.sharing = Some(Sharing::default());
    }

    /// The same for the sanitized variant. It cannot be rewound, because the sanitizer's memory
    /// would have to be, too; but a loop over inputs saves it a new process for each.
    pub fn share_examinations(&mut self) {
        self.shares_examinations = true;
    }

    /// A symbolic run that must have a trace.
    pub fn trace(&mut self, input: &[u8]) -> Result<(Outcome, Trace), ExecError> {
        let run = self.run(input, true)?;
        let missing = || ExecError(run.bad_trace.unwrap_or("the run left no trace".to_owned()));
        Ok((run.outcome, run.trace.ok_or_else(missing)?))
    }

    fn run_within(
        &mut self,
        limit: Times,
        input: &[u8],
        symbolic: bool,
    ) -> Result<Execution, ExecError> {
        self.traced.set_times(within(self.until, limit.run, MIN_RUN), limit.cpu);
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
        let patience =
            self.patience.as_ref().map(|patience| patience[usize::from(symbolic)].limit());
        patience.unwrap_or(Times { run: self.run_time, cpu: None })
    }

    /// Adds what keeps its loop going to the diagnosis of a hang.
    fn count_rounds(&mut self, input: &[u8], diagnoses: &mut [Diagnosis]) -> Result<(), ExecError> {
        let is_loop = |of: &&mut Diagnosis| of.kind == Diagnosis::ENDLESS_LOOP;
        let Some(diagnosis) = diagnoses.iter_mut().find(is_loop) else { return Ok(()) };
        let run_time = within(self.until, self.run_time, MIN_EXAMINATION);
        let counted = self.counted.as_mut();
        let Some(going) = counted.and_then(|counted| counted.count(input, run_time)) else {
            return Ok(());
        };
        let traced = self.trace_hang(input)?;
        if let Some(counted) = &self.counted {
            let rounds = counted.explain(going, input, traced);
            diagnosis.rounds = Some(rounds).filter(|rounds| !rounds.loops.is_empty());
        }
        Ok(())
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
            sharing.believe(&first);
            return Ok(first);
        }
        let own = if shared {
            // The first run may have taken what was left of the campaign.
            self.traced.set_times(within(self.until, limit.run, MIN_RUN), limit.cpu);
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

    fn restrict(&mut self, holes: Option<&[Range<usize>]>, repetition: Option<Range<usize>>) {
        self.traced.restrict(holes, repetition);
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
        let sanitized = self.sanitized.iter_mut();
        let sanitized = sanitized.flat_map(|sanitized| sanitized.runner.take_offences());
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
        let waiting = self.plain.as_mut().and_then(|plain| plain.standstill(input));
        let diagnoses = match (&mut self.sanitized, waiting) {
            (Some(sanitized), Some(waiting)) => sanitized.locate_deadlock(input, &waiting)?,
            (None, Some(waiting)) => vec![deadlock(&waiting, Vec::new())],
            (Some(sanitized), None) => {
                let mut diagnoses = sanitized.locate_hang(input)?;
                self.count_rounds(input, &mut diagnoses)?;
                diagnoses
            }
            (None, None) => Vec::new(),
        };
        Ok(seen_from_here(diagnoses))
    }

    fn unfinished_examinations(&self) -> u64 {
        self.sanitized.as_ref().map_or(0, |sanitized| sanitized.unfinished)
    }

    fn unstable(&self) -> u64 {
        self.sharing.as_ref().map_or(0, |sharing| sharing.unstable)
    }

    fn believed(&self) -> u64 {
        self.sharing.as_ref().map_or(0, |sharing| sharing.believed)
    }

    fn can_examine(&self) -> bool {
        self.sanitized.is_some()
    }

    fn examine(&mut self, input: &[u8]) -> Result<Vec<Diagnosis>, ExecError> {
        let Some(sanitized) = &mut self.sanitized else { return Ok(Vec::new()) };
        let limit = within(self.until, sanitized.limit(self.run_time), MIN_EXAMINATION);
        sanitized
            .examine(input, self.shares_examinations, limit)
            .map(seen_from_here)
            .map_err(failed)
    }
}

/// Places below the current directory are named from there, as the user names them.
fn seen_from_here(mut diagnoses: Vec<Diagnosis>) -> Vec<Diagnosis> {
    let Ok(here) = std::env::current_dir() else { return diagnoses };
    let here = format!("{}/", here.display());
    let frames = |diagnosis: &mut Diagnosis| {
        let frames = diagnosis.frames.iter_mut().map(|frame| &mut frame.place);
        let loops = diagnosis.rounds.iter_mut().flat_map(|rounds| &mut rounds.loops);
        let loops = loops.flat_map(|of| {
            let conditions = of.conditions.iter_mut().map(|condition| &mut condition.place);
            conditions.chain([&mut of.place])
        });
        for place in frames.chain(loops) {
            if let Some(below) = place.strip_prefix(&here) {
                *place = below.to_owned();
            }
        }
    };
    diagnoses.iter_mut().for_each(frames);
    diagnoses
}

/// Runs get this much time even at the end of the campaign.
const MIN_RUN: Duration = Duration::from_millis(100);
/// Runs of the sanitized variant do.
const MIN_EXAMINATION: Duration = Duration::from_secs(2);

/// A limit that leaves at least some time, and little more after the end of the campaign.
fn within(until: Option<Instant>, limit: Duration, least: Duration) -> Duration {
    let left = until.map(|until| until.saturating_duration_since(Instant::now()).max(least));
    left.map_or(limit, |left| limit.min(left))
}

pub(crate) fn failed(error: RunnerError) -> ExecError {
    ExecError(error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use search::Frame;

    #[test]
    fn places_are_named_from_here() {
        let here = std::env::current_dir().expect("a directory");
        let frame = |place: String| Frame { function: "main".to_owned(), place };
        let below = frame(format!("{}/src/calc.c:7:3", here.display()));
        let frames = vec![below, frame("/usr/src/libc.c:1:1".to_owned())];
        let diagnosis = Diagnosis {
            kind: "SEGV".to_owned(),
            fatal: true,
            frames,
            report: Vec::new(),
            hidden: None,
            rounds: None,
        };
        let seen = seen_from_here(vec![diagnosis]);
        let places: Vec<&str> = seen[0].frames.iter().map(|frame| frame.place.as_str()).collect();
        assert_eq!(places, ["src/calc.c:7:3", "/usr/src/libc.c:1:1"]);
    }
}
