//! Which bugs of campaigns still show, and what they have in common.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use search::{
    Bug, BugKind, Bugs, Diagnosis, ExecError, Executor, Judgement, Offence, Rounds, class,
};
use serde::Serialize;
use sites::SiteTable;

use crate::inputs::{InputError, read_inputs};
use crate::output::{INPUT_DIRS, is_output_dir, report_path};
use crate::replay::{failure, headline};
use crate::{Hangs, NamedInput};

/// What a campaign wrote about the bug of an input.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct Recorded {
    pub kind: String,
    /// The innermost frame, if it was known.
    pub place: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// The bug is there.
    Shows,
    /// The bug that was recorded is not there, but another one is.
    Other,
    Gone,
    /// The bug that was recorded shows in the sanitized variant only, which was not run.
    Unchecked,
}

/// One input.
#[derive(Clone, Debug, Serialize)]
pub struct Judged {
    pub path: PathBuf,
    pub status: Status,
    /// What is wrong, with the innermost frame.
    pub found: Vec<String>,
    /// How the program itself ends, or its traced variant if that is not known.
    pub outcome: String,
    pub recorded: Option<Recorded>,
}

/// What several inputs have in common.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Found {
    pub cause: String,
    pub is_hang: bool,
    /// Of runs that do not end: the loops of the smallest input's and what keeps them going.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rounds: Option<Rounds>,
    /// What the program itself does with the smallest input.
    pub plain: Option<String>,
    /// All inputs that show it, the smallest first.
    pub inputs: Vec<PathBuf>,
}

#[derive(Clone, Debug, Default, Serialize)]
pub struct Triage {
    pub inputs: usize,
    pub gone: usize,
    pub unchecked: usize,
    pub causes: Vec<Found>,
    /// Ended by an interrupt before the last input.
    pub interrupted: bool,
}

impl Triage {
    /// Whether a bug shows; hangs are bugs only if that is asked for.
    pub fn shows_bugs(&self, hangs: Hangs) -> bool {
        self.causes.iter().any(|cause| !cause.is_hang || hangs == Hangs::Bugs)
    }
}

/// The inputs that show bugs: of a campaign those of its crashes and hangs, which may be none,
/// otherwise all.
pub fn read_bugs(path: &Path, hangs: Hangs) -> Result<Vec<NamedInput>, InputError> {
    if !is_output_dir(path) {
        return read_inputs(path);
    }
    let wanted =
        ["crashes", "hangs"].into_iter().filter(|name| *name != "hangs" || hangs != Hangs::Off);
    let mut inputs = Vec::new();
    for dir in wanted.map(|name| path.join(name)).filter(|dir| dir.is_dir()) {
        match read_inputs(&dir) {
            Err(InputError::Empty(_)) => {}
            read => inputs.extend(read?),
        }
    }
    Ok(inputs)
}

/// Runs each input anew and tells `each` about every one of them.
pub fn triage(
    executor: &mut dyn Executor,
    sites: &SiteTable,
    inputs: &[NamedInput],
    (hangs, stop): (Hangs, &AtomicBool),
    mut each: impl FnMut(&Judged),
) -> Result<Triage, ExecError> {
    let mut groups = Groups::default();
    let mut done = Triage::default();
    for input in inputs {
        if stop.load(Ordering::Relaxed) {
            done.interrupted = true;
            break;
        }
        let recorded = recorded(&input.path);
        let mut judgement = Judgement::new(executor, sites, &input.bytes)?;
        if recorded.as_ref().is_some_and(Recorded::is_tampering) {
            judgement.look_for_tampering(executor, &input.bytes)?;
        }
        if hangs == Hangs::Off {
            judgement.failures.retain(|(kind, _)| *kind != BugKind::Hang);
        }
        let mut judged = groups.add(input, &judgement, recorded);
        if judged.is_unchecked(executor) {
            judged.status = Status::Unchecked;
        }
        done.inputs += 1;
        done.unchecked += usize::from(judged.status == Status::Unchecked);
        done.gone += usize::from(judged.status == Status::Gone);
        each(&judged);
    }
    done.causes = groups.finish();
    Ok(done)
}

/// Bugs by cause, and the inputs of each.
#[derive(Default)]
struct Groups {
    bugs: Bugs,
    /// Of the bug with the id that is one more.
    inputs: Vec<BTreeSet<(usize, PathBuf)>>,
}

impl Groups {
    fn add(
        &mut self,
        input: &NamedInput,
        judgement: &Judgement,
        recorded: Option<Recorded>,
    ) -> Judged {
        let mut found = Vec::new();
        let mut is_recorded = recorded.is_none();
        for (kind, diagnosis) in &judgement.failures {
            let failure = failure(judgement, *kind, &input.bytes);
            // Alone, it has the words that fit this input.
            let mut alone = Bugs::default();
            let this = alone.add(&failure, diagnosis.clone()).1;
            found.push(headline(this));
            is_recorded |= recorded.as_ref().is_some_and(|recorded| recorded.is_about(this));
            let id = self.bugs.add(&failure, diagnosis.clone()).1.id;
            self.bugs.confirm_if_smallest(id, &input.bytes, judgement.plain);
            self.inputs.resize_with(self.inputs.len().max(id as usize), BTreeSet::new);
            self.inputs[id as usize - 1].insert((input.bytes.len(), input.path.clone()));
        }
        let status = match (found.is_empty(), is_recorded) {
            (true, _) => Status::Gone,
            (false, true) => Status::Shows,
            (false, false) => Status::Other,
        };
        let outcome = judgement.outcome().to_string();
        Judged { path: input.path.clone(), status, found, outcome, recorded }
    }

    fn finish(self) -> Vec<Found> {
        let of = |(bug, inputs): (&Bug, BTreeSet<(usize, PathBuf)>)| Found {
            cause: headline(bug),
            is_hang: bug.kind == BugKind::Hang,
            rounds: bug.rounds().cloned(),
            plain: bug.verdict(),
            inputs: inputs.into_iter().map(|(_, path)| path).collect(),
        };
        self.bugs.all().iter().zip(self.inputs).map(of).collect()
    }
}

impl Judged {
    /// Whether nothing can be said about what was recorded.
    fn is_unchecked(&self, executor: &dyn Executor) -> bool {
        let is_of_sanitizer =
            |recorded: &Recorded| !recorded.is_ending() && !recorded.is_tampering();
        self.status == Status::Gone
            && !executor.can_examine()
            && self.recorded.as_ref().is_some_and(is_of_sanitizer)
    }
}

/// Whether campaigns found leaks with some of the inputs, so that those are to be looked for.
pub fn record_leaks(inputs: &[NamedInput]) -> bool {
    inputs
        .iter()
        .filter_map(|input| recorded(&input.path))
        .any(|recorded| recorded.kind == Diagnosis::LEAK)
}

/// Whether a campaign found that an input makes the program tamper with what it shares.
pub(crate) fn records_tampering(input: &NamedInput) -> bool {
    recorded(&input.path).is_some_and(|recorded| recorded.is_tampering())
}

impl Recorded {
    fn is_tampering(&self) -> bool {
        self.kind.starts_with(Offence::TITLE)
    }

    /// Whether it is about how runs end, which needs no sanitizer.
    fn is_ending(&self) -> bool {
        let kinds = [
            "SIG",
            "signal",
            "hang",
            Diagnosis::ENDLESS_LOOP,
            Diagnosis::DEADLOCK,
            "out of memory",
        ];
        kinds.iter().any(|kind| self.kind.starts_with(kind))
    }

    /// Lines move when a program is changed, functions and what goes wrong there stay.
    fn is_about(&self, bug: &Bug) -> bool {
        let title = bug.title();
        let same_kind = is_same_kind(&self.kind, &title);
        let function = self.place.as_deref().and_then(function);
        match (function, bug.stack().first()) {
            (Some(function), Some(frame)) => same_kind && function == frame.function,
            _ => same_kind,
        }
    }
}

/// Where one of two was found without the sanitizer, how the runs end decides.
fn is_same_kind(one: &str, other: &str) -> bool {
    match (split(one), split(other)) {
        ((_, Some(one)), (_, Some(other))) => class(one) == class(other),
        ((one, None), (other, Some(cause))) | ((other, Some(cause)), (one, None)) => {
            one == other || class(one) == class(cause)
        }
        ((one, None), (other, None)) => class(one) == class(other),
    }
}

/// `SIGFPE` and `FPE` of `SIGFPE (FPE)`.
fn split(title: &str) -> (&str, Option<&str>) {
    match title.split_once(" (") {
        Some((outcome, cause)) => (outcome, Some(cause.trim_end_matches(')'))),
        None => (title, None),
    }
}

/// `divide` of `calc.c:10:7 (divide)`.
fn function(place: &str) -> Option<&str> {
    place.split_once(" (")?.1.strip_suffix(')')
}

/// What the campaign that wrote an input said about it.
pub fn recorded(input: &Path) -> Option<Recorded> {
    reported(input, "kind ")
}

/// The property that an input violates without a crash, as the campaign said.
pub fn violated(input: &Path) -> Option<Recorded> {
    reported(input, "property ")
}

/// What the report about an input says; its kind stands in the line with this key.
fn reported(input: &Path, kind: &str) -> Option<Recorded> {
    let dir = input.parent()?;
    let campaign =
        dir.parent().map(|dir| if dir.as_os_str().is_empty() { Path::new(".") } else { dir })?;
    let is_inputs = INPUT_DIRS.iter().any(|name| dir.ends_with(name));
    if !is_inputs || !is_output_dir(campaign) {
        return None;
    }
    let name = input.file_name()?.to_string_lossy();
    let report = fs::read(campaign.join(report_path(&name))).ok()?;
    let report = String::from_utf8_lossy(&report);
    let line =
        |key: &str| report.lines().find_map(|line| Some(line.strip_prefix(key)?.trim().to_owned()));
    Some(Recorded { kind: line(kind)?, place: line("where ") })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_and_places_are_taken_apart() {
        assert_eq!(split("SIGFPE (FPE)"), ("SIGFPE", Some("FPE")));
        assert!(is_same_kind("SIGFPE", "SIGFPE (FPE)") && is_same_kind("SEGV", "SIGSEGV (SEGV)"));
        assert!(is_same_kind("SIGABRT (double-free)", "SIGABRT (double-free)"));
        assert!(!is_same_kind("SIGABRT (double-free)", "SIGABRT (ABRT)"));
        assert!(!is_same_kind("SIGABRT", "SIGSEGV (SEGV)"));
        assert_eq!(function("/src/a.cc:3:4 (get(char const*))"), Some("get(char const*)"));
        assert_eq!(function("/src/a.c:3:4"), None);
    }
}
