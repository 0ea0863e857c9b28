//! Data that leaves the program by output, and may come back.
//!
//! What goes to the standard streams is gone. Elsewhere (files, pipes, sockets) labelled data may
//! be read again later, without its labels: then any data that is no input may be it. What is
//! printed into the program's own memory has come back at once.

use super::{UNKNOWN, enter, known};
use crate::stdio::{self, Stream};
use core::cell::Cell;
use core::ffi::c_int;
use runtime_core::build::{self, Value};
use runtime_core::calls::call_site;
use runtime_core::state::{self, Run, active};
use runtime_core::{events, memory};
use trace::formats::stores_count;
use trace::{GiveUp, Label, Returned};

/// Where a function prints to, as it stands in arguments.
mod sinks {
    use trace::Sink;
    pub const DESCRIPTOR: u32 = Sink::Descriptor as u32;
    pub const STREAM: u32 = Sink::Stream as u32;
}

/// A function that prints elsewhere than to the standard streams.
#[derive(Clone, Copy)]
struct Writer {
    function: u32,
    site: u32,
    /// It prints into the program's own memory.
    is_memory: bool,
}

/// Streams whose buffers the program has given them.
#[derive(Clone, Copy, PartialEq)]
enum Buffered {
    Nothing,
    Stream(usize),
    /// There are several: all of them.
    Everything,
}

pub struct Output {
    /// The function that prints, if it is one whose labelled data matters.
    writer: Cell<Option<Writer>>,
    /// The last function by which labelled data has left.
    left: Cell<Option<u32>>,
    /// Standard streams that are no more what they were, by bits: 1 and 2.
    redirected: Cell<u32>,
    buffered: Cell<Buffered>,
    /// The program has memory that processes which it forks share with it.
    shares: Cell<bool>,
}

impl Output {
    pub const NEW: Output = Output {
        writer: Cell::new(None),
        left: Cell::new(None),
        redirected: Cell::new(0),
        buffered: Cell::new(Buffered::Nothing),
        shares: Cell::new(false),
    };

    /// A run ends.
    pub fn reset(&self) {
        self.writer.set(None);
        self.left.set(None);
        self.redirected.set(0);
        self.buffered.set(Buffered::Nothing);
        self.shares.set(false);
    }

    /// Whether it matters what is printed now.
    pub fn matters(&self) -> bool {
        self.writer.get().is_some()
    }

    fn is_buffered(&self, stream: usize) -> bool {
        [Buffered::Stream(stream), Buffered::Everything].contains(&self.buffered.get())
    }

    /// Whether what is written to the descriptor is gone.
    fn is_standard(&self, fd: c_int) -> bool {
        (fd == 1 || fd == 2) && self.redirected.get() & 1 << fd == 0
    }
}

/// The descriptor is closed, or something else than before.
pub fn note_redirected(fd: c_int) {
    if fd == 1 || fd == 2 {
        known().output.redirected.update(|redirected| redirected | 1 << fd);
    }
}

/// The program gives a stream a buffer, which it can read.
#[unsafe(no_mangle)]
pub extern "C" fn __tg_buffered(stream: usize, buffer: usize) {
    if active(Run::current()) && buffer != 0 {
        known().output.buffered.update(|buffered| match buffered {
            Buffered::Nothing => Buffered::Stream(stream),
            Buffered::Stream(known) if known == stream => buffered,
            _ => Buffered::Everything,
        });
    }
}

/// A function that prints is about to be called, to a [`trace::Sink`].
#[unsafe(no_mangle)]
pub extern "C" fn __tg_output(function: u32, to: usize, kind: u32, site: u32) {
    if !active(Run::current()) {
        return;
    }
    let output = &known().output;
    let stream = stream_of(to, kind);
    let fd = if stream == 0 { to as c_int } else { descriptor(stream) };
    let is_memory = stream != 0 && (fd < 0 || output.is_buffered(stream));
    let is_gone = output.is_standard(fd) && !is_memory;
    output.writer.set((!is_gone).then_some(Writer { function, site, is_memory }));
}

/// The stream that is printed to; 0 if it is a descriptor.
fn stream_of(to: usize, kind: u32) -> usize {
    match kind {
        sinks::DESCRIPTOR => 0,
        sinks::STREAM => to,
        // SAFETY: the C library has set its variable before the program starts.
        _ => unsafe { stdio::stdout as usize },
    }
}

fn descriptor(stream: usize) -> c_int {
    // SAFETY: the program is about to print to the stream, so it is open.
    unsafe { stdio::descriptor(stream as *mut Stream) }
}

/// Labelled data is printed, with the guard held.
pub(super) fn note_printed(run: &Run) {
    let output = &known().output;
    let Some(writer) = output.writer.get() else { return };
    if writer.is_memory {
        events::give_up(run, GiveUp::CameBack, writer.site, writer.function);
    } else {
        output.left.set(Some(writer.function));
        run.family.note_left(writer.function);
    }
}

/// One of the values that are printed has a label.
#[unsafe(no_mangle)]
#[cold]
pub extern "C" fn __tg_printed(label: Label) {
    let run = Run::current();
    if label != 0
        && let Some(_entered) = enter(run)
    {
        note_printed(run);
    }
}

/// Whether a function that prints with this format, which is no constant, stores how much it has
/// printed.
#[unsafe(no_mangle)]
pub extern "C" fn __tg_stores_count(format: *const u8) -> u32 {
    let is_read = active(Run::current()) && !format.is_null();
    let text = (format as usize..).map(memory::byte).take_while(|c| *c != 0);
    (is_read && stores_count(text)) as u32
}

/// The label of the result of an output function that returns the byte that it got, or the count.
#[unsafe(no_mangle)]
pub extern "C" fn __tgi_printed_result(
    label: Label,
    argument: u64,
    result: u64,
    kind: u32,
    function: u32,
    site: u32,
) -> Label {
    if label == 0 {
        return 0;
    }
    printed_result(Value::new(label, argument), result, kind, (function, site))
}

#[cold]
#[inline(never)]
fn printed_result(argument: Value, result: u64, kind: u32, (function, site): (u32, u32)) -> Label {
    let run = Run::current();
    let Some(_entered) = state::enter(run) else { return 0 };
    let is_byte = kind == Returned::Byte as u32;
    if is_byte && result == argument.value & 0xFF {
        let byte = build::trunc(run, 8, argument);
        return build::zext(run, 8, 32, Value::new(byte, result));
    }
    if !is_byte && result == argument.value {
        return argument.label;
    }
    events::give_up(run, GiveUp::External, site, function);
    0
}

/// Memory that stays one where the program forks: labels do not follow what is stored there.
pub fn note_common_memory() {
    known().output.shares.set(true);
}

/// Whether there is any.
pub fn has_common_memory() -> bool {
    known().output.shares.get()
}

/// Memory that is also a file's content: what is stored there comes back by other ways.
pub fn note_shared_memory() {
    let left = &known().output.left;
    left.set(left.get().or(Some(UNKNOWN)));
}

/// Data that is no input was read from a file, a pipe or a socket: it may be what was written to
/// one before.
#[inline(always)]
pub fn note_other_data(run: &Run) {
    if known().output.left.get().is_some() || run.family.is_founded() {
        note_return(run);
    }
}

#[cold]
fn note_return(run: &Run) {
    if let Some(_entered) = enter(run)
        && let Some(function) = known().output.left.take().or_else(|| run.family.take_left())
    {
        events::give_up(run, GiveUp::CameBack, call_site(), function);
    }
}
