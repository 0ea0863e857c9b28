//! What models say of texts with a repetition, against the library's own functions on the same text
//! with another number of filler bytes.

use crate::table;
use core::ffi::{c_char, c_int};
use expr::{Assignment, Dag, Recorded, TableData};
use proptest::prelude::*;
use runtime_core::testing::{TestRun, now};
use runtime_core::tls::tls;
use runtime_core::{build, nodes, repetitions, shadow};
use trace::{Event, EventKind, Label, Op, marks};

unsafe extern "C" {
    fn strlen(string: *const c_char) -> usize;
    fn strnlen(string: *const c_char, limit: usize) -> usize;
    fn strchr(string: *const c_char, c: c_int) -> *mut c_char;
    fn strrchr(string: *const c_char, c: c_int) -> *mut c_char;
    fn strspn(string: *const c_char, set: *const c_char) -> usize;
    fn strcspn(string: *const c_char, set: *const c_char) -> usize;
}

const FILLER: u8 = b'a';

/// A text with a repetition: bytes before and after it, each perhaps a hole.
#[derive(Clone, Debug)]
struct Text {
    before: Vec<(u8, bool)>,
    after: Vec<(u8, bool)>,
    count: usize,
}

impl Text {
    fn bytes(&self) -> Vec<u8> {
        let fixed = |part: &[(u8, bool)]| part.iter().map(|(byte, _)| *byte).collect::<Vec<u8>>();
        [fixed(&self.before), vec![FILLER; self.count], fixed(&self.after)].concat()
    }

    fn marks(&self) -> Vec<u8> {
        let marks =
            |part: &[(u8, bool)]| part.iter().map(|(_, hole)| u8::from(*hole)).collect::<Vec<u8>>();
        [marks(&self.before), vec![marks::FILLER; self.count], marks(&self.after)].concat()
    }

    /// The same with other holes and another count.
    fn other(&self, holes: &[u8], count: usize) -> Text {
        let mut fill = holes.iter().copied();
        let mut part = |part: &[(u8, bool)]| {
            let other = |&(byte, hole): &(u8, bool)| {
                (if hole { fill.next().unwrap_or(byte) } else { byte }, hole)
            };
            part.iter().map(other).collect::<Vec<_>>()
        };
        Text { before: part(&self.before), after: part(&self.after), count }
    }

    /// What expressions of a run on `self` are evaluated with to know of a run on `other`.
    fn assignment(&self, other: &Text) -> Assignment {
        let bytes = Text { count: self.count, ..other.clone() }.bytes();
        Assignment { bytes: [bytes, (other.count as u16).to_le_bytes().to_vec()].concat() }
    }
}

/// A run on a text, which is in memory with its labels and a final 0.
struct Repeated {
    run: TestRun,
    memory: Vec<u8>,
    len: u32,
}

impl Repeated {
    fn start(text: &Text) -> Repeated {
        let bytes = text.bytes();
        let run = TestRun::with_marks(&bytes, &text.marks());
        let memory = [&bytes[..], &[0]].concat();
        shadow::clear(memory.as_ptr() as usize, memory.len());
        for i in 0..bytes.len() {
            shadow::set_entry(
                now(),
                memory.as_ptr() as usize + i,
                nodes::input_byte(now(), i as u32),
            );
        }
        Repeated { run, memory, len: bytes.len() as u32 }
    }

    fn start_of_text(&self) -> *const c_char {
        self.memory.as_ptr().cast()
    }

    fn dag(&self) -> Dag {
        let recording = self.run.recording();
        let recorded = Recorded {
            nodes: recording.nodes,
            values: recording.values,
            tables: recording.tables.into_iter().map(TableData::concrete).collect(),
            shapes: recording.shapes,
            input_len: self.len + marks::COUNT_BYTES,
        };
        Dag::from_recorded(recorded, std::iter::empty()).expect("the runtime writes valid nodes")
    }

    fn events(&self, kind: EventKind) -> Vec<Event> {
        self.run.events().into_iter().filter(|event| event.kind == kind as u8).collect()
    }

    /// All branches of the run go the same way on another input.
    fn follows(&self, dag: &Dag, other: &Assignment) -> bool {
        let mut branches = self.events(EventKind::Branch).into_iter();
        branches.all(|event| dag.eval(event.label, other) == u128::from(event.taken))
    }
}

/// The label of what a model answered.
fn answered() -> Label {
    tls().results[0].take()
}

/// A function of a string: its model, and what the library says. Pointers are counted from the
/// string's start.
#[derive(Clone, Copy, Debug)]
enum Function {
    Length,
    LengthUpTo(usize),
    First(u8),
    Last(u8),
    Span,
    SpanUntil,
}

const SET: *const c_char = c"a;b".as_ptr();
const STOPS: *const c_char = c"/;".as_ptr();

impl Function {
    /// The model's result.
    unsafe fn model(self, text: *const c_char) -> u64 {
        // SAFETY: strings of ours, as the library wants them.
        unsafe {
            let text = text.cast();
            match self {
                Function::Length => table::strlen(text) as u64,
                Function::LengthUpTo(limit) => table::strnlen(text, limit) as u64,
                Function::First(c) => table::strchr(text, c.into()) as u64,
                Function::Last(c) => table::strrchr(text, c.into()) as u64,
                Function::Span => table::strspn(text, SET.cast()) as u64,
                Function::SpanUntil => table::strcspn(text, STOPS.cast()) as u64,
            }
        }
    }

    unsafe fn real(self, text: *const c_char) -> u64 {
        // SAFETY: as above.
        unsafe {
            match self {
                Function::Length => strlen(text) as u64,
                Function::LengthUpTo(limit) => strnlen(text, limit) as u64,
                Function::First(c) => strchr(text, c.into()) as u64,
                Function::Last(c) => strrchr(text, c.into()) as u64,
                Function::Span => strspn(text, SET) as u64,
                Function::SpanUntil => strcspn(text, STOPS) as u64,
            }
        }
    }

    fn is_place(self) -> bool {
        matches!(self, Function::First(_) | Function::Last(_))
    }
}

fn part() -> impl Strategy<Value = Vec<(u8, bool)>> {
    let byte = prop::sample::select(b"ab/;".to_vec());
    prop::collection::vec((byte, any::<bool>()), 0..5)
}

fn text() -> impl Strategy<Value = Text> {
    (part(), part(), 2usize..20).prop_map(|(before, after, count)| Text { before, after, count })
}

fn function() -> impl Strategy<Value = Function> {
    let byte = || prop::sample::select(b"ab/;".to_vec());
    prop_oneof![
        Just(Function::Length),
        (0usize..40).prop_map(Function::LengthUpTo),
        byte().prop_map(Function::First),
        byte().prop_map(Function::Last),
        Just(Function::Span),
        Just(Function::SpanUntil),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn results_are_those_of_the_library_for_every_count(
        text in text(),
        function in function(),
        others in prop::collection::vec((prop::collection::vec(prop::sample::select(b"ab/;\0".to_vec()), 10), 2usize..60), 8),
    ) {
        let run = Repeated::start(&text);
        // SAFETY: the text ends with 0.
        let result = unsafe { function.model(run.start_of_text()) };
        let label = answered();
        let dag = run.dag();
        let start = if function.is_place() { run.start_of_text() as u64 } else { 0 };
        for (holes, count) in others {
            let other = text.other(&holes, count);
            let assignment = text.assignment(&other);
            if !run.follows(&dag, &assignment) {
                continue;
            }
            let got = if label == 0 { result } else { dag.eval(label, &assignment) as u64 };
            let bytes = [other.bytes(), vec![0]].concat();
            // SAFETY: the other text ends with 0, too.
            let wanted = unsafe { function.real(bytes.as_ptr().cast()) };
            let other_start = if function.is_place() { bytes.as_ptr() as u64 } else { 0 };
            let from_start = |place: u64, start: u64| (start == 0 || place != 0).then(|| place.wrapping_sub(start));
            prop_assert_eq!(from_start(got, start), from_start(wanted, other_start), "{:?} \
                {:?}", function, other);
        }
    }

    /// The copy is a property that other counts violate, exactly those that need more room.
    #[test]
    fn copies_are_checked_for_every_count(text in text(), room in 64usize..200, counts in prop::collection::vec(2usize..300, 8)) {
        let run = Repeated::start(&text);
        // SAFETY: the object has room for the text.
        unsafe {
            let object = table::malloc(room);
            table::strcpy(object.cast(), run.start_of_text().cast());
            shadow::clear(object as usize, room);
            table::free(object);
        }
        let (dag, checks) = (run.dag(), run.events(EventKind::Check));
        prop_assert_eq!(checks.len(), 1);
        for count in counts {
            let other = Text { count, ..text.clone() };
            let violated = dag.eval(checks[0].label, &text.assignment(&other)) == 1;
            prop_assert_eq!(violated, other.bytes().len() + 1 > room);
        }
    }
}

fn plain(before: &str, count: usize, after: &str) -> Text {
    let part = |text: &str| text.bytes().map(|byte| (byte, false)).collect();
    Text { before: part(before), after: part(after), count }
}

#[test]
fn filler_is_no_condition_wherever_it_is_copied() {
    let run = Repeated::start(&plain("/", 16, ";"));
    let mut copied = vec![0u8; run.memory.len()];
    shadow::clear(copied.as_ptr() as usize, copied.len());
    let (from, to) = (run.memory.as_ptr() as usize, copied.as_mut_ptr() as usize);
    // By words, as compilers copy, and the rest by bytes that go through an int.
    for at in (0..16).step_by(8) {
        let value = shadow::read_value(from + at, 8);
        let label = shadow::__tgi_load8(from + at, value);
        shadow::__tgi_store8(to + at, label);
    }
    for at in 16..18 {
        let byte = run.memory[at] as u64;
        let wide = build::zext(
            now(),
            8,
            32,
            build::Value::new(shadow::__tgi_load1(from + at, byte), byte),
        );
        shadow::__tgi_store1(to + at, build::trunc(now(), 8, build::Value::new(wide, byte)));
    }
    copied.copy_from_slice(&run.memory);
    assert_eq!(repetitions::length(now(), copied.as_ptr() as usize, 18).value, 18);
    assert_ne!(
        repetitions::length(now(), copied.as_ptr() as usize, 18).label,
        0,
        "the whole repetition is there"
    );
    assert_eq!(
        repetitions::length(now(), copied.as_ptr() as usize, 16).label,
        0,
        "its last byte is not"
    );
    let label = shadow::label_of_byte(now(), from + 3);
    let byte = build::Value::new(label, FILLER.into());
    assert_eq!(build::binary(now(), Op::Eq, 8, byte, build::Value::concrete(b'x'.into())), 0);
    assert!(run.events(EventKind::Branch).is_empty());
}

#[test]
fn addresses_move_with_the_repetition_and_are_not_fixed() {
    let mut text = plain("", 16, ";b");
    text.before.push((b'x', true));
    let run = Repeated::start(&text);
    let place = repetitions::length(now(), run.memory.as_ptr() as usize, 17);
    assert_eq!(repetitions::concretised(now(), place.label), 0, "nothing but the count is in it");
    let byte =
        build::Value::new(build::zext(now(), 8, 64, nodes::input_value(now(), 0)), b'x'.into());
    let both = build::binary(now(), Op::Add, 64, place, byte);
    let (concretised, collapsed) =
        (repetitions::concretised(now(), both), repetitions::collapsed(now(), both));
    assert_eq!(nodes::value(now(), concretised), nodes::value(now(), both));
    assert_eq!(nodes::value(now(), collapsed), nodes::value(now(), both) - 16);
    let dag = run.dag();
    for label in [concretised, collapsed] {
        let here = text.assignment(&text);
        let there = text.assignment(&Text { count: 900, ..text.clone() });
        assert_eq!(dag.eval(label, &here), dag.eval(label, &there));
    }
}

#[test]
fn objects_that_are_made_to_measure_have_room() {
    let run = Repeated::start(&plain("/", 16, ""));
    // SAFETY: copies of strings are objects of their own.
    unsafe {
        let copied = table::strdup(run.start_of_text().cast());
        table::strcpy(copied, run.start_of_text().cast());
        assert!(run.events(EventKind::Check).is_empty(), "it fits however long it is");
        shadow::clear(copied as usize, 18);
        table::free(copied.cast());
    }
}

#[test]
fn copies_of_whole_buffers_are_as_long_on_every_input() {
    let run = Repeated::start(&plain("/", 16, "\0\0\0"));
    assert_ne!(repetitions::copied(now(), run.memory.as_ptr() as usize, 17).label, 0, "a text");
    assert_ne!(
        repetitions::copied(now(), run.memory.as_ptr() as usize, 18).label,
        0,
        "with its end"
    );
    assert_eq!(
        repetitions::copied(now(), run.memory.as_ptr() as usize, 19).label,
        0,
        "and what is after it"
    );
    assert_eq!(
        repetitions::copied(now(), run.memory.as_ptr() as usize, 16).label,
        0,
        "a part of the repetition"
    );
}

#[test]
fn lines_are_as_long_as_the_input_says() {
    let text = plain("a\nb", 16, "c\nd");
    let run = Repeated::start(&text);
    let lines = [0, 2, 5, 21].map(|start| repetitions::line_length(now(), start, b'\n'));
    let dag = run.dag();
    let lengths = |count: usize| {
        let other = text.assignment(&Text { count, ..text.clone() });
        lines.map(
            |line| if line.label == 0 { line.value } else { dag.eval(line.label, &other) as u64 },
        )
    };
    assert_eq!(lengths(16), [2, 19, 16, 1]);
    assert_eq!(lengths(100), [2, 103, 100, 1], "a line that was cut within the repetition goes on");
}
