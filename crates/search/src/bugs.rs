//! Bugs: runs that went wrong, grouped by cause, one smallest input each.
//!
//! The cause is what a [`Diagnosis`] says: the kind and the innermost frames of the program.
//! Without one it is approximated by the kind and the last step at which the run depended on its
//! input: where, and which way it went. Runs without a trace have no such step; the engine traces
//! them once before they come here.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::fmt;

use path::Step;
use sources::Layout;

use crate::diagnosis::{Cause, Frame, is_bad_access};
use crate::{Diagnosis, Offence, Outcome, Rounds};

/// Number of the signal by which programs end themselves.
const SIGABRT: i32 = 6;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum BugKind {
    /// Ended by a signal.
    Crash(i32),
    Hang,
    /// All threads wait for each other.
    Deadlock,
    OutOfMemory,
    /// Ended as it should, but a build that checks more objects.
    Reported,
}

impl BugKind {
    /// What is shown by a crash is shown best.
    fn severity(self) -> u8 {
        match self {
            BugKind::Reported => 0,
            BugKind::Hang => 1,
            BugKind::Crash(_) | BugKind::OutOfMemory | BugKind::Deadlock => 2,
        }
    }

    /// `None` for a run that ended as programs should, or was told to end.
    pub fn of(outcome: Outcome) -> Option<BugKind> {
        match outcome {
            outcome if outcome.was_sent() => None,
            Outcome::Exit(_) => None,
            Outcome::Signal(number) => Some(BugKind::Crash(number)),
            Outcome::Timeout => Some(BugKind::Hang),
            Outcome::OutOfMemory => Some(BugKind::OutOfMemory),
        }
    }
}

impl fmt::Display for BugKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BugKind::Crash(number) => write!(f, "{}", Outcome::Signal(*number)),
            BugKind::Hang => f.write_str("hang"),
            BugKind::Deadlock => f.write_str(Diagnosis::DEADLOCK),
            BugKind::OutOfMemory => f.write_str("out of memory"),
            BugKind::Reported => f.write_str("reported"),
        }
    }
}

/// A run that went wrong.
#[derive(Clone, Copy, Debug)]
pub struct Failure<'a> {
    pub kind: BugKind,
    /// The last step at which the run depended on its input.
    pub last: Step,
    pub input: &'a [u8],
    pub stderr: &'a [u8],
    /// Number of the run.
    pub run: u64,
}

#[derive(Clone, Debug)]
pub struct Bug {
    /// Counts from 1 in the order of finding.
    pub id: u32,
    pub kind: BugKind,
    /// The last site at which the run depended on its input; 0 if there is none.
    pub site: u32,
    /// The smallest input that shows the bug.
    pub input: Vec<u8>,
    /// The end of the standard error of the run on `input`.
    pub stderr: Vec<u8>,
    pub diagnosis: Option<Diagnosis>,
    /// How the program itself ends on `input`, if that is known; the bug was seen in a variant of
    /// it.
    pub plain: Option<Outcome>,
    /// How many runs ended in it.
    pub hits: u64,
    /// Number of the run that found it first.
    pub run: u64,
}

/// What is new about a run that ended in a bug.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sighting {
    New,
    Smaller,
    Known,
}

#[derive(Clone, Debug, Default)]
pub struct Bugs {
    bugs: Vec<Bug>,
    by_last_step: HashMap<(BugKind, Step), usize>,
    causes: Vec<(Cause, usize)>,
    first: u32,
    ignores_hangs: bool,
    /// What inputs are made of, if they are containers.
    layout: Option<Layout>,
}

impl Bug {
    /// What went wrong, in a few words.
    pub fn title(&self) -> String {
        match (&self.diagnosis, self.kind) {
            (Some(diagnosis), BugKind::Reported | BugKind::Hang | BugKind::Deadlock) => {
                diagnosis.kind.clone()
            }
            // Whether it is why the run ended is not known.
            (Some(diagnosis), BugKind::Crash(SIGABRT)) if is_bad_access(&diagnosis.kind) => {
                diagnosis.kind.clone()
            }
            (Some(diagnosis), kind) => format!("{kind} ({})", diagnosis.kind),
            (None, kind) => kind.to_string(),
        }
    }

    /// Whether a run shows the bug in a worse way, or as badly by a smaller input.
    fn is_shown_better_by(&self, failure: &Failure, layout: Option<&Layout>) -> bool {
        match failure.kind.severity().cmp(&self.kind.severity()) {
            Ordering::Greater => true,
            Ordering::Equal => is_smaller(failure.input, &self.input, layout),
            Ordering::Less => false,
        }
    }

    /// What the program itself has to say about the bug, if that is known.
    pub fn verdict(&self) -> Option<String> {
        let plain = self.plain?;
        // What a variant shares with whoever runs it, the program itself does not have.
        let is_offence = self.title().starts_with(Offence::TITLE);
        Some(match (BugKind::of(plain), self.kind) {
            (Some(_), _) => plain.to_string(),
            _ if is_offence => plain.to_string(),
            (None, BugKind::Reported) => format!("{plain}, reported by the sanitized variant"),
            (None, _) => match self.diagnosis.as_ref().and_then(|diagnosis| diagnosis.hidden) {
                Some(why) => format!("{plain}, the variant disagrees: {why}"),
                None => format!("{plain}, the variant disagrees"),
            },
        })
    }

    /// The loops of a run that does not end, if they were counted.
    pub fn rounds(&self) -> Option<&Rounds> {
        self.diagnosis.as_ref()?.rounds.as_ref()
    }

    /// Where it is, if that is known: the innermost frame, or where each thread waits.
    pub fn place(&self) -> Option<String> {
        const SHOWN: usize = 4;
        let count = if self.kind == BugKind::Deadlock { SHOWN } else { 1 };
        let mut places: Vec<String> = Vec::new();
        for frame in self.stack().iter().map(ToString::to_string) {
            if !places.contains(&frame) && places.len() < count {
                places.push(frame);
            }
        }
        (!places.is_empty()).then(|| places.join(" and "))
    }

    /// The frames of the stack, the innermost first; none without a diagnosis. Of a deadlock, where
    /// each thread waits.
    pub fn stack(&self) -> &[Frame] {
        self.diagnosis.as_ref().map_or(&[], |diagnosis| &diagnosis.frames)
    }
}

impl Bugs {
    /// A list whose first bug gets the id `taken + 1`.
    pub fn after(taken: u32) -> Bugs {
        Bugs { first: taken, ..Bugs::default() }
    }

    /// The same list, which takes no hangs.
    pub fn without_hangs(self) -> Bugs {
        Bugs { ignores_hangs: true, ..self }
    }

    /// The same list, whose inputs are containers of this layout.
    pub fn of_layout(self, layout: Option<Layout>) -> Bugs {
        Bugs { layout, ..self }
    }

    pub fn ignores(&self, kind: BugKind) -> bool {
        self.ignores_hangs && kind == BugKind::Hang
    }

    pub fn all(&self) -> &[Bug] {
        &self.bugs
    }

    pub fn knows(&self, kind: BugKind, last: Step) -> bool {
        self.by_last_step.contains_key(&(kind, last))
    }

    /// Whether a run that ended this way tells nothing new, not even a smaller input.
    pub fn is_stale(&self, failure: &Failure) -> bool {
        let known = self.by_last_step.get(&(failure.kind, failure.last));
        known.is_some_and(|&index| {
            !self.bugs[index].is_shown_better_by(failure, self.layout.as_ref())
        })
    }

    pub fn add(&mut self, failure: &Failure, diagnosis: Option<Diagnosis>) -> (Sighting, &Bug) {
        let cause = diagnosis.as_ref().map(Diagnosis::cause);
        let next = self.bugs.len();
        let index = self.find(failure, cause.as_ref()).unwrap_or(next);
        self.by_last_step.entry((failure.kind, failure.last)).or_insert(index);
        if let Some(cause) =
            cause.filter(|cause| !self.causes.iter().any(|(known, _)| known == cause))
        {
            self.causes.push((cause, index));
        }
        if index == next {
            self.bugs.push(Bug::new(self.first + next as u32 + 1, failure, diagnosis));
            return (Sighting::New, &self.bugs[index]);
        }
        let bug = &mut self.bugs[index];
        bug.hits += 1;
        // A diagnosis is worth more than a few bytes.
        let says_less = diagnosis.is_none() && bug.diagnosis.is_some();
        if says_less || !bug.is_shown_better_by(failure, self.layout.as_ref()) {
            return (Sighting::Known, bug);
        }
        bug.kind = failure.kind;
        bug.site = failure.last.site;
        bug.input = failure.input.to_vec();
        bug.stderr = failure.stderr.to_vec();
        bug.diagnosis = diagnosis;
        bug.plain = None;
        (Sighting::Smaller, bug)
    }

    /// Adds what an earlier session said about an input that is not run again.
    pub fn add_offence(&mut self, input: &[u8], kind: String) -> &Bug {
        let last = Step { site: 0, direction: 0 };
        let failure = Failure { kind: BugKind::Reported, last, input, stderr: b"", run: 0 };
        let diagnosis = Diagnosis {
            kind,
            fatal: false,
            frames: Vec::new(),
            report: Vec::new(),
            hidden: None,
            rounds: None,
        };
        self.add(&failure, Some(diagnosis)).1
    }

    pub fn get(&self, id: u32) -> Option<&Bug> {
        self.bugs.iter().find(|bug| bug.id == id)
    }

    /// Takes note of how the program itself ends on the input of a bug.
    pub fn confirm(&mut self, id: u32, plain: Option<Outcome>) -> Option<&Bug> {
        let bug = self.bugs.iter_mut().find(|bug| bug.id == id)?;
        bug.plain = plain;
        Some(bug)
    }

    /// The same, if the bug has this input.
    pub fn confirm_if_smallest(&mut self, id: u32, input: &[u8], plain: Option<Outcome>) {
        if self.bugs.iter().any(|bug| bug.id == id && bug.input == input) {
            self.confirm(id, plain);
        }
    }

    /// A diagnosis decides; a last step only where one of the two runs has no diagnosis.
    fn find(&self, failure: &Failure, cause: Option<&Cause>) -> Option<usize> {
        let same = |cause: &Cause| self.causes.iter().find(|(known, _)| known.is_same(cause));
        if let Some(&(_, index)) = cause.and_then(same) {
            return Some(index);
        }
        let index = *self.by_last_step.get(&(failure.kind, failure.last))?;
        (cause.is_none() || self.bugs[index].diagnosis.is_none()).then_some(index)
    }
}

impl Bug {
    fn new(id: u32, failure: &Failure, diagnosis: Option<Diagnosis>) -> Bug {
        Bug {
            id,
            kind: failure.kind,
            site: failure.last.site,
            input: failure.input.to_vec(),
            stderr: failure.stderr.to_vec(),
            diagnosis,
            plain: None,
            hits: 1,
            run: failure.run,
        }
    }
}

/// Containers are all of one length, and what is in them says how large they are.
pub(crate) fn is_smaller(input: &[u8], than: &[u8], layout: Option<&Layout>) -> bool {
    let size = |input: &[u8]| layout.map_or(input.len(), |layout| layout.content(input));
    (size(input), input) < (size(than), than)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failure(input: &[u8], site: u32, direction: u64, run: u64) -> Failure<'_> {
        Failure { kind: BugKind::Crash(8), last: Step { site, direction }, input, stderr: b"", run }
    }

    fn diagnosis(line: u32) -> Option<Diagnosis> {
        let frame = Frame { function: "divide".to_owned(), place: format!("calc.c:{line}") };
        Some(Diagnosis {
            kind: "FPE".to_owned(),
            fatal: true,
            frames: vec![frame],
            report: Vec::new(),
            hidden: None,
            rounds: None,
        })
    }

    #[test]
    fn the_smallest_input_of_each_cause_stays() {
        let mut bugs = Bugs::after(7);
        assert_eq!(bugs.add(&failure(b"1/00", 3, 0, 1), None).0, Sighting::New);
        assert_eq!(bugs.add(&failure(b"11/0", 3, 0, 2), None).0, Sighting::Known);
        assert_eq!(bugs.add(&failure(b"1/0", 3, 0, 3), None).0, Sighting::Smaller);
        assert_eq!(bugs.add(&failure(b"1%0", 4, 0, 4), None).0, Sighting::New);
        assert_eq!(bugs.add(&failure(b"2%0", 4, 1, 5), None).0, Sighting::New);
        let shown: Vec<_> =
            bugs.all().iter().map(|b| (b.id, &b.input[..], b.hits, b.run)).collect();
        assert_eq!(
            shown,
            [(8, &b"1/0"[..], 3, 1), (9, &b"1%0"[..], 1, 4), (10, &b"2%0"[..], 1, 5)]
        );
    }

    #[test]
    fn containers_with_less_in_them_are_smaller() {
        let parts = vec![sources::Part::data("stdin", 300), sources::Part::text("word1", 8)];
        let layout = Layout::new(parts).expect("a layout");
        let mut bugs = Bugs::default().of_layout(Some(layout.clone()));
        let mut sighting = |stdin: usize, word: &[u8]| {
            let input = layout.join(&[vec![b'a'; stdin], word.to_vec()]);
            bugs.add(&failure(&input, 3, 0, 1), None).0
        };
        assert_eq!(sighting(300, b"ab"), Sighting::New);
        assert_eq!(sighting(255, b"ab"), Sighting::Smaller, "although 255 has the higher low byte");
        assert_eq!(sighting(255, b"b"), Sighting::Smaller, "although b comes after a");
        assert_eq!(sighting(257, b""), Sighting::Known);
        assert_eq!(sighting(255, b"a"), Sighting::Smaller);
    }

    #[test]
    fn the_program_itself_has_the_last_word() {
        let mut bugs = Bugs::default();
        let id = bugs.add(&failure(b"1/0", 3, 0, 1), None).1.id;
        assert_eq!(bugs.all()[0].verdict(), None);
        let mut verdict =
            |plain| bugs.confirm(id, Some(plain)).and_then(Bug::verdict).expect("it was asked");
        assert_eq!(verdict(Outcome::Signal(8)), "SIGFPE");
        assert_eq!(verdict(Outcome::Exit(3)), "exit 3, the variant disagrees");
        let hidden =
            diagnosis(7).map(|diagnosis| Diagnosis { hidden: Some("it looks away"), ..diagnosis });
        let id = bugs.add(&failure(b"1%0", 9, 0, 1), hidden).1.id;
        let verdict = bugs.confirm(id, Some(Outcome::Exit(3))).and_then(Bug::verdict);
        assert_eq!(verdict.as_deref(), Some("exit 3, the variant disagrees: it looks away"));
        bugs.add(&failure(b"1", 3, 0, 1), None);
        assert_eq!(bugs.all()[0].verdict(), None, "another input");
    }

    #[test]
    fn a_diagnosis_joins_what_the_last_step_separates_and_the_other_way_round() {
        let mut bugs = Bugs::default();
        assert_eq!(bugs.add(&failure(b"1/0", 3, 0, 1), diagnosis(7)).0, Sighting::New);
        assert_eq!(bugs.add(&failure(b"(1)/0", 4, 1, 2), diagnosis(7)).0, Sighting::Known);
        assert_eq!(bugs.add(&failure(b"1%0", 3, 0, 3), diagnosis(8)).0, Sighting::New);
        assert_eq!(
            bugs.add(&failure(b"0", 3, 0, 4), None).0,
            Sighting::Known,
            "without a diagnosis"
        );
        assert!(bugs.is_stale(&failure(b"(1)/0", 4, 1, 4)));
        assert!(!bugs.is_stale(&failure(b"0/0", 4, 1, 4)));
        assert_eq!(bugs.all().len(), 2);
        assert_eq!(bugs.all()[1].title(), "SIGFPE (FPE)");
    }

    #[test]
    fn a_program_that_aborts_after_a_mistake_may_have_made_another() {
        let title = |kind: &str| {
            let diagnosis =
                diagnosis(7).map(|diagnosis| Diagnosis { kind: kind.to_owned(), ..diagnosis });
            let aborted = Failure { kind: BugKind::Crash(SIGABRT), ..failure(b"", 3, 0, 1) };
            Bugs::default().add(&aborted, diagnosis).1.title()
        };
        assert_eq!(title("heap-buffer-overflow"), "heap-buffer-overflow");
        assert_eq!(title("ABRT"), "SIGABRT (ABRT)");
        assert_eq!(title("double-free"), "SIGABRT (double-free)");
    }
}
