//! Where bytes of the input come from: all from one file or connection, or in parts from several.
//!
//! A *part* is a slot of the input with a place that never moves: its length, in one or two bytes,
//! then its bytes. The code that hands a part to the program tells the descriptor that delivers it
//! ([`__tarragon_delivers`]). Everything that models say of bytes and lengths they say of a
//! `Source`, which is a part or the whole input.

use crate::outside::descriptors::watch;
use crate::state::models;
use core::cell::Cell;
use core::ffi::c_int;
use runtime_core::build::{self, Value};
use runtime_core::calls::call_site;
use runtime_core::facts::lengths;
use runtime_core::state::{self, Run};
use runtime_core::{events, nodes, os, repetitions, shadow};
use trace::{Label, Op};

/// Where bytes of the input come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Source(u8);

/// Most parts that a run can have.
const MAX_PARTS: usize = 32;
const WHOLE: u8 = MAX_PARTS as u8;

/// A slot of the input.
struct Part {
    /// Device and inode of what delivers it.
    identity: Cell<Option<(u64, u64)>>,
    /// Its first byte in the input, after its length.
    place: Cell<u64>,
    length: Cell<Length>,
    /// Bytes that came from a descriptor without a position, such as a socket.
    received: Cell<u64>,
    /// A read got less than it wanted, as the end was near: whether more follows is no question.
    is_at_end: Cell<bool>,
}

/// How long a part is.
#[derive(Clone, Copy)]
struct Length {
    len: u64,
    /// Of the length, as 64 bits; 0 if it is no input.
    label: Label,
    /// The least and the most that the path leaves.
    least: u64,
    most: u64,
}

impl Part {
    const NONE: Part = Part {
        identity: Cell::new(None),
        place: Cell::new(0),
        length: Cell::new(Length { len: 0, label: 0, least: 0, most: 0 }),
        received: Cell::new(0),
        is_at_end: Cell::new(false),
    };
}

pub(crate) struct Sources {
    parts: [Part; MAX_PARTS],
    count: Cell<usize>,
    /// Of the whole input, where it comes from a descriptor without a position.
    received: Cell<u64>,
}

impl Sources {
    pub const NONE: Sources = Sources {
        parts: [const { Part::NONE }; MAX_PARTS],
        count: Cell::new(0),
        received: Cell::new(0),
    };

    pub fn reset(&self) {
        self.count.set(0);
        self.received.set(0);
    }

    /// The part that the file or socket with this identity delivers.
    pub fn with_identity(&self, identity: (u64, u64)) -> Option<Source> {
        let mut parts = self.parts.iter().take(self.count.get());
        let found = parts.position(|part| part.identity.get() == Some(identity));
        found.map(|number| Source(number as u8))
    }
}

impl Source {
    pub const WHOLE: Source = Source(WHOLE);

    fn part(self) -> Option<&'static Part> {
        models().sources.parts.get(usize::from(self.0))
    }

    /// Where in the input its first byte is.
    pub fn place(self) -> u64 {
        self.part().map_or(0, |part| part.place.get())
    }

    pub fn len(self, run: &Run) -> u64 {
        match self.part() {
            Some(part) => part.length.get().len,
            None => run.segment.input_len() as u64,
        }
    }

    /// The length: a variable, or with a repetition what grows with it.
    pub fn length(self, run: &Run) -> Value {
        let len = self.len(run);
        match self.part() {
            Some(part) => Value::new(part.length.get().label, len),
            None if repetitions::any(run) => repetitions::input_place(run, len),
            None => Value::new(nodes::length(run), len),
        }
    }

    /// One of its bytes as a number of the whole input's bytes.
    pub fn index(self, offset: u64) -> u64 {
        self.place().saturating_add(offset)
    }

    /// The label of a byte; 0 if there is none.
    pub fn label(self, run: &Run, offset: u64) -> Label {
        let exists = self.part().is_none_or(|part| offset < part.length.get().len);
        match u32::try_from(self.index(offset)) {
            Ok(index) if exists && index < u32::MAX => nodes::input_byte(run, index),
            _ => 0,
        }
    }

    /// A byte that exists, symbolic or not.
    pub fn byte(self, run: &Run, offset: u64) -> Value {
        nodes::input_value(run, self.index(offset) as u32)
    }

    /// Where a place of it is, which may grow with a repetition.
    pub fn position(self, run: &Run, offset: u64) -> Value {
        match self.part() {
            Some(_) => Value::concrete(offset),
            None => repetitions::input_place(run, offset),
        }
    }

    /// The program asked whether its byte `offset` exists.
    pub fn ask_byte(self, run: &Run, offset: u64) {
        let Some(part) = self.part() else { return ask_whole(run, offset) };
        let mut length = part.length.get();
        if offset < length.least || offset >= length.most {
            return;
        }
        let len = Value::new(length.label, length.len);
        let exists = build::binary(run, Op::Ult, 64, Value::concrete(offset), len);
        events::branch(run, exists, offset < length.len, call_site());
        match offset < length.len {
            true => length.least = offset + 1,
            false => length.most = offset,
        }
        part.length.set(length);
    }

    /// The path leaves several lengths.
    pub fn is_length_open(self, run: &Run) -> bool {
        match self.part() {
            Some(part) => {
                let Length { label, least, most, .. } = part.length.get();
                label != 0 && least != most
            }
            None => {
                let range = lengths::range(run);
                nodes::length(run) != 0 && range.min != range.max
            }
        }
    }

    /// A read of a connection got less than was wanted, and all that was left.
    pub fn reach_end(self) {
        if let Some(part) = self.part() {
            part.is_at_end.set(part.received.get() != 0);
        }
    }

    /// Whether a read before has said that the end is here.
    pub fn is_at_end(self) -> bool {
        self.part().is_some_and(|part| part.is_at_end.get())
    }

    /// How many bytes came before the `got` that were just read from a descriptor without a
    /// position; they stay there after a peek.
    pub fn receive(self, got: u64, stays: bool) -> u64 {
        let received = self.part().map_or(&models().sources.received, |part| &part.received);
        let start = received.get();
        if !stays {
            received.set(start + got);
        }
        start
    }
}

fn ask_whole(run: &Run, index: u64) {
    if lengths::has_byte(run, index) {
        return;
    }
    let len = Value::new(nodes::length(run), run.segment.input_len() as u64);
    let exists = build::binary(run, Op::Ult, 64, Value::concrete(index), len);
    events::branch(run, exists, index < len.value, call_site());
}

/// What the descriptor delivers is the part of the input whose `capacity` bytes begin at `place`.
/// Its length stands in the `head` bytes before it.
#[unsafe(no_mangle)]
pub extern "C" fn __tarragon_delivers(fd: c_int, place: usize, head: usize, capacity: usize) {
    let run = Run::current();
    let sources = &models().sources;
    let identity = os::file_identity(fd);
    let known = identity.and_then(|identity| sources.with_identity(identity));
    let number = known.map_or(sources.count.get(), |known| usize::from(known.0));
    let Some(part) = sources.parts.get(number) else { return };
    sources.count.set(sources.count.get().max(number + 1));
    part.identity.set(identity);
    part.place.set(place as u64);
    part.received.set(0);
    part.is_at_end.set(false);
    if run.symbolic.get()
        && let Some(_entered) = state::enter(run)
    {
        part.length.set(length_before(run, place, head, capacity));
    }
}

/// A descriptor that delivers a part stays open: whether code that is not followed reads it has to
/// be looked at. Of files that is known when they are opened.
#[unsafe(no_mangle)]
pub extern "C" fn __tarragon_watches(fd: c_int) {
    let run = Run::current();
    if run.symbolic.get()
        && let Some(_entered) = state::enter(run)
    {
        watch(fd);
    }
}

/// Memory of the program holds the `size` bytes of the input on from `place`.
///
/// # Safety
/// The memory is the caller's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_holds(memory: *mut u8, place: usize, size: usize) {
    let run = Run::current();
    if run.symbolic.get()
        && let Some(_entered) = state::enter(run)
    {
        for i in 0..size {
            let label = Source::WHOLE.label(run, (place + i) as u64);
            shadow::set_entry(run, memory as usize + i, label);
        }
    }
}

/// A number in memory is the length that stands in the `head` bytes before `place`.
///
/// # Safety
/// The memory is the caller's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_holds_length(
    memory: *mut u64,
    place: usize,
    head: usize,
    capacity: usize,
) {
    let run = Run::current();
    if run.symbolic.get()
        && let Some(_entered) = state::enter(run)
    {
        let length = length_before(run, place, head, capacity);
        crate::set_label(run, memory.cast(), length.label, size_of::<u64>());
    }
}

/// The piece of a part that begins at `place` was looked for the byte `offset` of the part: whether
/// there is one, and whether it is zero, which ends the piece.
#[unsafe(no_mangle)]
pub extern "C" fn __tarragon_asks_piece(place: usize, offset: usize) {
    let run = Run::current();
    let sources = &models().sources;
    let mut parts = sources.parts.iter().take(sources.count.get());
    let number = parts.position(|part| part.place.get() == place as u64);
    if run.symbolic.get()
        && let Some(number) = number
        && let Some(_entered) = state::enter(run)
    {
        let (source, offset) = (Source(number as u8), offset as u64);
        source.ask_byte(run, offset);
        if offset < source.len(run) {
            ask_zero(run, source.byte(run, offset));
        }
    }
}

/// Whether the input's byte at `place` is zero was asked for.
#[unsafe(no_mangle)]
pub extern "C" fn __tarragon_asks_zero(place: usize) {
    let run = Run::current();
    if run.symbolic.get()
        && let Some(_entered) = state::enter(run)
    {
        ask_zero(run, Source::WHOLE.byte(run, place as u64));
    }
}

/// Which ends a text.
fn ask_zero(run: &Run, byte: Value) {
    let is_zero = build::binary(run, Op::Eq, 8, byte, Value::concrete(0));
    events::branch(run, is_zero, byte.value == 0, 0);
}

/// A connection that delivers the part of the input at `part` sends a message that begins with its
/// byte `start`. Its size is the byte of the input at `place`: zero, or more than there is, means all
/// that there is. Each size is a case of its own.
#[unsafe(no_mangle)]
pub extern "C" fn __tarragon_asks_size(place: usize, part: usize, start: usize) {
    let run = Run::current();
    let sources = &models().sources;
    let mut parts = sources.parts.iter().take(sources.count.get());
    let Some(number) = parts.position(|of| of.place.get() == part as u64) else { return };
    if !run.symbolic.get() {
        return;
    }
    let Some(_entered) = state::enter(run) else { return };
    let (source, byte) = (Source(number as u8), Source::WHOLE.byte(run, place as u64));
    for size in 0..=byte.value {
        let end = start as u64 + size;
        source.ask_byte(run, end);
        if end >= source.len(run) {
            return;
        }
        let is_it = build::binary(run, Op::Eq, 8, byte, Value::concrete(size));
        events::branch(run, is_it, byte.value == size, 0);
    }
}

/// The length of a part. No search makes one beyond the capacity; elsewhere it is taken for that.
fn length_before(run: &Run, place: usize, head: usize, capacity: usize) -> Length {
    let capacity = capacity as u64;
    let number = number_before(run, place, head, capacity);
    let fits = number.value <= capacity;
    if capacity >> (8 * head) == 0 && capacity + 1 != 1 << (8 * head) {
        let condition = build::binary(run, Op::Ule, 64, number, Value::concrete(capacity));
        if fits {
            events::given(run, condition);
        }
    }
    let Value { label, value: len } = if fits { number } else { Value::concrete(capacity) };
    let (least, most) = if label == 0 { (len, len) } else { (0, capacity) };
    Length { len, label, least, most }
}

/// The number in the `head` bytes before `place`, the low one first; `otherwise` if there are none.
fn number_before(run: &Run, place: usize, head: usize, otherwise: u64) -> Value {
    let byte = |i: usize| {
        let byte = Source::WHOLE.byte(run, (place - head + i) as u64);
        Value::new(build::zext(run, 8, 64, byte), byte.value)
    };
    match head {
        0 => Value::concrete(otherwise),
        1 => byte(0),
        _ => {
            let eight = Value::concrete(8);
            let high = byte(1);
            let high = Value::new(build::binary(run, Op::Shl, 64, high, eight), high.value << 8);
            let low = byte(0);
            Value::new(build::binary(run, Op::Or, 64, high, low), high.value | low.value)
        }
    }
}
