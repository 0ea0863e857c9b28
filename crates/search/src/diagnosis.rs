//! A second opinion on an input, by a build of the program that is slower and checks more.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use crate::{Outcome, Rounds};

/// What went wrong in a run, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnosis {
    /// In the words of the checker: `heap-buffer-overflow`, `FPE`.
    pub kind: String,
    /// Whether the run ended with it.
    pub fatal: bool,
    /// The innermost frame first.
    pub frames: Vec<Frame>,
    /// The checker's whole report.
    pub report: Vec<u8>,
    /// Why the program itself may not show it, if that is known.
    pub hidden: Option<&'static str>,
    /// Of a run that does not end, if its loops were counted.
    pub rounds: Option<Rounds>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Frame {
    pub function: String,
    /// File, line and column, or the place in the executable where there is no debug information.
    pub place: String,
}

impl Diagnosis {
    /// The kind of a diagnosis of a run that does not end in time. The frames are those that it
    /// never left, and the place of the innermost one has the lines that were seen there:
    /// `calc.c:10-14`.
    pub const ENDLESS_LOOP: &str = "long or endless loop";

    /// The kind of a diagnosis of a run whose threads all wait for each other. The frames are where
    /// each of them waits.
    pub const DEADLOCK: &str = "deadlock";

    /// Of a run that ended by a signal, and about which the checker said nothing.
    pub fn unreported(outcome: Outcome) -> Diagnosis {
        let kind = format!("{outcome}{UNREPORTED}");
        let report = b"The sanitized variant ended by this signal and reported nothing.\n".to_vec();
        Diagnosis { kind, fatal: true, frames: Vec::new(), report, hidden: None, rounds: None }
    }

    pub(crate) fn is_unreported(&self) -> bool {
        self.kind.ends_with(UNREPORTED)
    }

    /// Memory that nothing points to any more.
    pub const LEAK: &str = "memory-leak";

    /// What runs with the same cause agree in.
    pub(crate) fn cause(&self) -> Cause {
        let kind = self.kind.as_str();
        if let Some(frame) = self.frames.first().filter(|_| kind == Diagnosis::ENDLESS_LOOP) {
            return Cause::Loop(Loop::at(frame));
        }
        if kind == Diagnosis::DEADLOCK {
            let line =
                |frame: &Frame| format!("{} {}", frame.function, without_column(&frame.place));
            return Cause::Deadlock(self.frames.iter().map(line).collect());
        }
        let recurring = recurring(&self.frames);
        if kind == "stack-overflow" && !recurring.is_empty() {
            return Cause::Recursion(recurring);
        }
        let place = self.frames.first().map(|frame| frame.place.clone()).unwrap_or_default();
        Cause::At {
            kind: class(kind).to_owned(),
            object: is_of_object(kind).then(|| (kind.to_owned(), place)),
            frames: innermost_frames(kind, &self.frames),
        }
    }
}

const UNREPORTED: &str = " without a report";

/// Why a run went wrong, as far as a stack can tell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Cause {
    At {
        kind: String,
        /// What kind of object was left, and the place with its column, if the checker knows both.
        object: Option<(String, String)>,
        /// The innermost frame with its line, and the functions around it.
        frames: Vec<String>,
    },
    /// Where a recursion is cut off says nothing; these functions call each other.
    Recursion(BTreeSet<String>),
    Loop(Loop),
    /// The lines at which threads wait.
    Deadlock(BTreeSet<String>),
}

impl Cause {
    pub(crate) fn is_same(&self, other: &Cause) -> bool {
        match (self, other) {
            (Cause::Recursion(one), Cause::Recursion(other)) => {
                one == other || one.intersection(other).next().is_some()
            }
            (Cause::Loop(one), Cause::Loop(other)) => one.overlaps(other),
            // Without places, the last step of the input tells them apart.
            (Cause::Deadlock(one), Cause::Deadlock(other)) => one == other && !one.is_empty(),
            (
                Cause::At { kind, object, frames },
                Cause::At { kind: other_kind, object: other, frames: other_frames },
            ) => kind == other_kind && frames == other_frames && !are_two(object, other),
            _ => false,
        }
    }
}

/// Whether objects of two kinds were left at two places of a line. A single wrong pointer has one
/// place, and where it leads to no object, anything may be meant.
fn are_two(one: &Option<(String, String)>, other: &Option<(String, String)>) -> bool {
    match (one, other) {
        (Some((kind, place)), Some((other_kind, other_place))) => {
            kind != other_kind && place != other_place
        }
        _ => false,
    }
}

/// The innermost function that a run never left, and the lines of it that were seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Loop {
    function: String,
    file: String,
    first: u32,
    last: u32,
}

impl Loop {
    fn at(frame: &Frame) -> Loop {
        let (file, lines) = frame.place.split_once(':').unwrap_or((&frame.place, ""));
        let lines = lines.split(':').next().unwrap_or_default();
        let (first, last) = lines.split_once('-').unwrap_or((lines, lines));
        let number = |text: &str| text.parse().unwrap_or(0);
        let (first, last) = (number(first), number(last));
        Loop { function: frame.function.clone(), file: file.to_owned(), first, last }
    }

    /// A loop is seen at some of its lines only.
    fn overlaps(&self, other: &Loop) -> bool {
        self.function == other.function
            && self.file == other.file
            && self.first <= other.last
            && other.first <= self.last
    }
}

/// Kinds that one wrong index or pointer shows itself by, whichever object it happens to hit.
const BAD_ACCESSES: [&str; 9] = [
    "SEGV",
    "BUS",
    "heap-buffer-overflow",
    "stack-buffer-overflow",
    "stack-buffer-underflow",
    "dynamic-stack-buffer-overflow",
    "global-buffer-overflow",
    "container-overflow",
    "unknown-crash",
];

/// What kinds that one mistake may have are called together.
pub fn class(kind: &str) -> &str {
    if BAD_ACCESSES.contains(&kind) { "bad access" } else { kind }
}

/// Whether the kind says what kind of object was left.
fn is_of_object(kind: &str) -> bool {
    class(kind) == "bad access" && kind.ends_with("flow")
}

/// Kinds that may be the reason for which a program or its C library aborts later, and need not be.
pub(crate) fn is_bad_access(kind: &str) -> bool {
    class(kind) == "bad access" || kind.contains("use-after")
}

/// Signals by which a program ends itself, often in one function for all reasons.
const OWN_ENDS: [&str; 3] = ["ABRT", "ILL", "TRAP"];

/// One mistake is reached along many calls, so that only the function around it counts beside its
/// line. Of a program that ends itself the call counts, too: `check(a); check(b);` are two.
fn innermost_frames(kind: &str, frames: &[Frame]) -> Vec<String> {
    let mut frames: Vec<&Frame> = frames.iter().collect();
    frames.dedup_by(|frame, inner| frame.function == inner.function);
    let ends_itself = OWN_ENDS.contains(&kind);
    let name = |(depth, frame): (usize, &Frame)| match depth {
        0 => format!("{} {}", frame.function, without_column(&frame.place)),
        1 if ends_itself => format!("{} {}", frame.function, frame.place),
        _ => frame.function.clone(),
    };
    let count = if ends_itself { 3 } else { 2 };
    frames.into_iter().take(count).enumerate().map(name).collect()
}

/// `calc.c:10` of `calc.c:10:7`.
fn without_column(place: &str) -> &str {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    match place.rsplit_once(':') {
        Some((line, column))
            if is_number(column) && line.rsplit(':').next().is_some_and(is_number) =>
        {
            line
        }
        _ => place,
    }
}

/// Functions that are on the stack more than once. There are none where a single frame is too
/// large.
fn recurring(frames: &[Frame]) -> BTreeSet<String> {
    let mut counts: BTreeMap<&str, u32> = BTreeMap::new();
    for frame in frames {
        *counts.entry(&frame.function).or_default() += 1;
    }
    counts.into_iter().filter(|(_, count)| *count > 1).map(|(name, _)| name.to_owned()).collect()
}

impl fmt::Display for Frame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.place, self.function)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn diagnosis(kind: &str, frames: &[(&str, &str)]) -> Diagnosis {
        let frame = |(function, place): &(&str, &str)| Frame {
            function: (*function).to_owned(),
            place: (*place).to_owned(),
        };
        let frames = frames.iter().map(frame).collect();
        Diagnosis {
            kind: kind.to_owned(),
            fatal: true,
            frames,
            report: Vec::new(),
            hidden: None,
            rounds: None,
        }
    }

    fn same(one: &Diagnosis, other: &Diagnosis) -> bool {
        one.cause().is_same(&other.cause())
    }

    #[test]
    fn one_mistake_shows_itself_in_many_ways() {
        let near = diagnosis("heap-buffer-overflow", &[("get", "a.c:7:3"), ("parse", "a.c:20:1")]);
        let far =
            diagnosis("SEGV", &[("get", "a.c:7:12"), ("parse", "a.c:24:1"), ("main", "a.c:40:1")]);
        assert!(same(&near, &far));
        let deeper =
            diagnosis("SEGV", &[("get", "a.c:7:3"), ("get", "a.c:9:3"), ("parse", "a.c:24:1")]);
        assert!(same(&near, &deeper), "a recursion is one function");
        let others = [
            diagnosis("SEGV", &[("get", "a.c:8:3"), ("parse", "a.c:20:1")]),
            diagnosis("FPE", &[("get", "a.c:7:3"), ("parse", "a.c:20:1")]),
            diagnosis("SEGV", &[("get", "a.c:7:3"), ("print", "a.c:30:1")]),
        ];
        assert!(others.iter().all(|other| !same(&near, other)));
    }

    #[test]
    fn two_places_of_a_line_may_leave_two_objects() {
        let at = |kind, place| diagnosis(kind, &[("get", place), ("main", "a.c:20:1")]);
        let heap = at("heap-buffer-overflow", "a.c:7:3");
        assert!(!same(&heap, &at("stack-buffer-overflow", "a.c:7:22")));
        assert!(same(&heap, &at("stack-buffer-overflow", "a.c:7:3")), "one pointer, two objects");
        assert!(same(&heap, &at("heap-buffer-overflow", "a.c:7:22")), "one object");
    }

    #[test]
    fn programs_that_end_themselves_have_callers() {
        let abort = |caller| {
            diagnosis("ABRT", &[("die", "a.c:1:1"), ("check", "a.c:5:1"), (caller, "a.c:9:1")])
        };
        assert!(same(&abort("parse"), &abort("parse")));
        assert!(!same(&abort("parse"), &abort("print")));
    }

    #[test]
    fn helpers_that_end_the_program_do_so_for_their_callers() {
        let called = |kind, at| diagnosis(kind, &[("check", "a.c:1:1"), ("main", at)]);
        for kind in ["ABRT", "ILL"] {
            assert!(!same(&called(kind, "a.c:9:1"), &called(kind, "a.c:9:20")));
            assert!(same(&called(kind, "a.c:9:1"), &called(kind, "a.c:9:1")));
        }
        for kind in ["failed-assertion", "uncaught-exception", "SEGV"] {
            assert!(
                same(&called(kind, "a.c:9:1"), &called(kind, "a.c:10:1")),
                "{kind} says what is wrong"
            );
        }
    }

    #[test]
    fn frames_that_are_too_large_are_no_recursion() {
        let large = |function, place| {
            diagnosis("stack-overflow", &[(function, place), ("main", "a.c:9:1")])
        };
        assert!(same(&large("first", "a.c:1:1"), &large("first", "a.c:1:9")));
        assert!(!same(&large("first", "a.c:1:1"), &large("second", "a.c:2:1")));
    }

    #[test]
    fn recursions_are_cut_off_anywhere() {
        let cut = |frames: &[(&str, &str)]| diagnosis("stack-overflow", frames);
        let (e, t, u) = (("expr", "a.c:1:1"), ("term", "a.c:2:1"), ("unary", "a.c:3:1"));
        assert!(same(&cut(&[e, t, e, t, e]), &cut(&[t, e, t, e, t])));
        assert!(!same(&cut(&[e, t, e, t, e]), &cut(&[u, u, u, u, e])));
    }

    #[test]
    fn loops_are_seen_at_some_of_their_lines() {
        let looping =
            |place| diagnosis(Diagnosis::ENDLESS_LOOP, &[("run", place), ("main", "a.c:90:1")]);
        assert!(same(&looping("a.c:10-14"), &looping("a.c:14-20")));
        assert!(same(&looping("a.c:10"), &looping("a.c:9-14")));
        assert!(!same(&looping("a.c:10-14"), &looping("a.c:15-20")));
        assert!(!same(&looping("a.c:10-14"), &looping("b.c:10-14")));
    }
}
