//! What happens outside of the code that is followed. Functions without a model get memory that has labels, read the
//! input themselves, or start other programs; data goes into files and pipes and comes back. None of it has
//! expressions, so it is counted as given up, with the number of the function, and stands against claims of
//! completeness.
//!
//! Who reads the input is seen from its descriptors: they stand further ahead after the call than before, and no
//! model was there in between. That asks nothing of the code that reads. What moves no descriptor (`mmap`, `pread`) is found
//! in the program before the C library. A function that opens the input by its name is seen when it gets that name.

use crate::build::{self, Value};
use crate::models::input::{is_given, is_named};
use crate::models::stdio::{self, Stream};
use crate::state::{self, STATE, active};
use crate::{events, objects, os, shadow};
use core::ffi::{c_int, c_void};
use core::ptr::null_mut;
use trace::{GiveUp, Returned};

/// A descriptor that is open on the input.
#[derive(Clone, Copy)]
struct Watched {
    fd: c_int,
    /// The stream that reads through it, if one is known.
    stream: *mut Stream,
    /// Where the descriptor and the stream stood when they were looked at last.
    descriptor_at: i64,
    stream_at: i64,
}

const MOST_WATCHED: usize = 8;
const NONE: Watched = Watched { fd: -1, stream: null_mut(), descriptor_at: 0, stream_at: 0 };

struct Outside {
    watched: [Watched; MOST_WATCHED],
    count: usize,
    /// The standard input was looked at.
    is_prepared: bool,
    /// The input can only be opened by its name.
    has_name: bool,
    /// The function without a model that was called last and did not return yet, by its number and 1.
    called: u32,
    site: u32,
    /// The first such function of the run, by its number and 1.
    first: u32,
    /// A model used the input since the descriptors were looked at; and at all.
    has_moved: bool,
    was_used: bool,
    /// The output function whose labelled data goes elsewhere than to the standard streams, by its number and 1, while
    /// it is called; where that is; whether it prints into the program's own memory; and the last one that did so.
    writer: u32,
    writer_site: u32,
    is_memory: bool,
    left: u32,
    /// Standard streams that are no more what they were, by bits: 1 and 2.
    redirected: u32,
    /// The stream whose buffer the program has given it; all of them if there are several.
    buffered: usize,
    /// Memory that code without bitcode got, and may have kept the address of.
    lent: [usize; MOST_LENT],
    lent_count: usize,
    /// Objects that may still be looked at for what hangs on them.
    looks: u32,
    /// Pointers that may still be looked at for the input's name.
    names: u32,
}

/// More pointers than this are not remembered: then anything may have been kept.
const MOST_LENT: usize = 32;
const MOST_LOOKS: u32 = 20_000;
/// In place of a stream.
const ALL_STREAMS: usize = usize::MAX;

/// Looking for a file by name takes a microsecond.
const MOST_NAMES: u32 = 20_000;

const NOTHING: Outside = Outside {
    watched: [NONE; MOST_WATCHED],
    count: 0,
    is_prepared: false,
    has_name: false,
    called: 0,
    site: 0,
    first: 0,
    has_moved: false,
    was_used: false,
    writer: 0,
    writer_site: 0,
    is_memory: false,
    left: 0,
    redirected: 0,
    buffered: 0,
    lent: [0; MOST_LENT],
    lent_count: 0,
    looks: MOST_LOOKS,
    names: MOST_NAMES,
};

static mut OUTSIDE: Outside = NOTHING;

/// What a function may do with memory that it gets, as it stands in arguments.
mod ways {
    use trace::Lent;
    pub const ANY: u32 = Lent::Any as u32;
    pub const OUTPUT: u32 = Lent::Output as u32;
    pub const FOREIGN: u32 = Lent::Foreign as u32;
}

/// Where a function prints to, as it stands in arguments.
mod sinks {
    use trace::Sink;
    pub const DESCRIPTOR: u32 = Sink::Descriptor as u32;
    pub const STREAM: u32 = Sink::Stream as u32;
}

/// In place of a function's number: nobody knows which it was.
const UNKNOWN: u32 = trace::UNKNOWN_FUNCTION;
/// The same where 1 is added to the number.
const ANYBODY: u32 = u32::MAX;

unsafe extern "C" {
    fn ioctl(fd: c_int, request: u64, ...) -> c_int;
    static __executable_start: u8;
    #[link_name = "_end"]
    static PROGRAM_END: u8;
    static __libc_stack_end: *const c_void;
}

/// A run ends.
pub unsafe fn forget() {
    unsafe { OUTSIDE = NOTHING };
}

/// The descriptor is open on the input.
pub unsafe fn watch(fd: c_int, stream: *mut Stream) {
    unsafe {
        let count = OUTSIDE.count.min(MOST_WATCHED);
        let known = OUTSIDE.watched.iter_mut().take(count).find(|watched| watched.fd == fd);
        match known {
            Some(known) if stream.is_null() || known.stream == stream => {}
            Some(known) => {
                known.stream = stream;
                look(known);
            }
            None => {
                let Some(free) = OUTSIDE.watched.get_mut(count) else { return };
                *free = Watched { fd, stream, ..NONE };
                look(free);
                OUTSIDE.count = count + 1;
            }
        }
    }
}

/// The stream is closed.
pub unsafe fn forget_stream(stream: *mut Stream) {
    unsafe {
        for watched in OUTSIDE.watched.iter_mut().filter(|watched| watched.stream == stream) {
            watched.stream = null_mut();
        }
    }
}

/// A model is about to use the input, or just did.
#[inline(always)]
pub unsafe fn note_model() {
    unsafe { (OUTSIDE.has_moved, OUTSIDE.was_used) = (true, true) };
}

/// How far a descriptor has got. A socket has no position, but the less is left in it the further it is.
unsafe fn position(fd: c_int) -> i64 {
    const FIONREAD: u64 = 0x541b;
    unsafe {
        let position = os::lseek(fd, 0, os::SEEK_CUR);
        let mut left: c_int = 0;
        if position < 0 && ioctl(fd, FIONREAD, &raw mut left) == 0 { -i64::from(left) } else { position }
    }
}

unsafe fn look(watched: &mut Watched) {
    unsafe {
        let errno = *os::errno();
        watched.descriptor_at = position(watched.fd);
        watched.stream_at = stream_position(watched);
        *os::errno() = errno;
    }
}

unsafe fn stream_position(watched: &Watched) -> i64 {
    unsafe {
        if watched.stream.is_null() {
            return 0;
        }
        stdio::position_before(watched.stream, watched.descriptor_at)
    }
}

/// Whether somebody has read from the descriptor since it was looked at, which it is again; and whether from the stream's
/// buffer, which the program itself reads with `getc_unlocked`.
unsafe fn was_read(watched: &mut Watched) -> (bool, bool) {
    unsafe {
        let before = *watched;
        look(watched);
        (watched.descriptor_at > before.descriptor_at, watched.stream_at > before.stream_at)
    }
}

/// Counts it if the function has read the input, with the guard held.
unsafe fn check(function: u32) {
    unsafe {
        let has_moved = core::mem::replace(&mut OUTSIDE.has_moved, false);
        let count = OUTSIDE.count.min(MOST_WATCHED);
        let mut was = false;
        for watched in OUTSIDE.watched.iter_mut().take(count) {
            let (descriptor, stream) = was_read(watched);
            was |= descriptor || stream && function != UNKNOWN;
        }
        if was && !has_moved {
            events::give_up(GiveUp::InputTaken, OUTSIDE.site, function);
        }
    }
}

/// Before the first call of a run: where the input comes from.
unsafe fn prepare() {
    unsafe {
        if core::mem::replace(&mut OUTSIDE.is_prepared, true) {
            return;
        }
        let in_words = (*STATE.header).flags & trace::flags::WORDS != 0;
        let is_stdin = is_given(0);
        OUTSIDE.has_name = !is_stdin && !in_words;
        if is_stdin {
            watch(0, stdio::stdin);
        }
    }
}

/// A function without a model is about to be called.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tg_outside(function: u32, site: u32) {
    unsafe {
        if !active() {
            return;
        }
        let Some(_entered) = state::enter() else { return };
        prepare();
        check(OUTSIDE.called.checked_sub(1).unwrap_or(UNKNOWN));
        (OUTSIDE.called, OUTSIDE.site) = (function.wrapping_add(1), site);
        if OUTSIDE.first == 0 {
            OUTSIDE.first = OUTSIDE.called;
        }
    }
}

/// It has returned.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tg_back(function: u32) {
    unsafe {
        if !active() {
            return;
        }
        let Some(_entered) = state::enter() else { return };
        check(function);
        OUTSIDE.called = 0;
    }
}

/// An exception was caught: it did not return.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tg_caught() {
    unsafe {
        if !active() || OUTSIDE.called == 0 {
            return;
        }
        let Some(_entered) = state::enter() else { return };
        check(OUTSIDE.called - 1);
        OUTSIDE.called = 0;
    }
}

/// The run ends. Reading an empty input moves nothing: where no model asked for the input, functions without one may have.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tg_ends() {
    unsafe {
        if !active() {
            return;
        }
        let Some(_entered) = state::enter() else { return };
        prepare();
        check(OUTSIDE.called.checked_sub(1).unwrap_or(UNKNOWN));
        if OUTSIDE.first != 0 && !OUTSIDE.was_used && OUTSIDE.count != 0 && STATE.input_len == 0 {
            events::give_up(GiveUp::InputTaken, OUTSIDE.site, OUTSIDE.first - 1);
        }
        OUTSIDE.first = 0;
    }
}

/// The input was read in a way that moves no descriptor.
unsafe fn note_taken(fd: c_int) {
    unsafe {
        if active()
            && is_given(fd)
            && let Some(_entered) = state::enter()
        {
            let function = OUTSIDE.called.checked_sub(1).unwrap_or(UNKNOWN);
            events::give_up(GiveUp::InputTaken, OUTSIDE.site, function);
        }
    }
}

/// In place of the C library's `mmap`, for code without bitcode. Models do not come here.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_own_mmap(
    at: *mut c_void,
    size: usize,
    protection: c_int,
    flags: c_int,
    fd: c_int,
    offset: i64,
) -> *mut c_void {
    const MAP_ANONYMOUS: c_int = 0x20;
    unsafe {
        let result = os::map_file(at, size, protection, flags, fd, offset);
        if flags & MAP_ANONYMOUS == 0 && result as isize != -1 {
            note_taken(fd);
        }
        result
    }
}

/// The same for `pread`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_own_pread(fd: c_int, to: *mut c_void, size: usize, at: i64) -> isize {
    unsafe {
        let got = os::read_at(fd, to, size, at);
        if got >= 0 {
            note_taken(fd);
        }
        got
    }
}

/// Another program is started: it inherits the descriptors of this one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tg_child(function: u32, site: u32) {
    unsafe {
        if !active() {
            return;
        }
        let Some(_entered) = state::enter() else { return };
        events::give_up(GiveUp::OtherProgram, site, function);
    }
}

/// A function has returned a descriptor.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tg_opened(fd: c_int) {
    unsafe {
        if !active() {
            return;
        }
        note_redirected(fd);
        if is_given(fd) {
            watch(fd, null_mut());
        }
    }
}

/// The descriptor is closed, or something else than before.
pub unsafe fn note_redirected(fd: c_int) {
    unsafe {
        if fd == 1 || fd == 2 {
            OUTSIDE.redirected |= 1 << fd;
        }
    }
}

/// The program gives a stream a buffer, which it can read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tg_buffered(stream: usize, buffer: usize) {
    unsafe {
        if active() && buffer != 0 {
            let is_only = OUTSIDE.buffered == 0 || OUTSIDE.buffered == stream;
            OUTSIDE.buffered = if is_only { stream } else { ALL_STREAMS };
        }
    }
}

/// A function that prints is about to be called, to a [`trace::Sink`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tg_output(function: u32, to: usize, kind: u32, site: u32) {
    unsafe {
        if !active() {
            return;
        }
        let stream = match kind {
            sinks::DESCRIPTOR => 0,
            sinks::STREAM => to,
            _ => stdio::stdout as usize,
        };
        let fd = if stream == 0 { to as c_int } else { stdio::descriptor(stream as *mut Stream) };
        let is_buffered = OUTSIDE.buffered == stream || OUTSIDE.buffered == ALL_STREAMS;
        OUTSIDE.is_memory = stream != 0 && (fd < 0 || is_buffered);
        let is_standard = (fd == 1 || fd == 2) && OUTSIDE.redirected & 1 << fd == 0 && !OUTSIDE.is_memory;
        (OUTSIDE.writer, OUTSIDE.writer_site) =
            (if is_standard { 0 } else { function.wrapping_add(1) }, site);
    }
}

/// Labelled data is printed, with the guard held.
unsafe fn leaves() {
    unsafe {
        if OUTSIDE.writer == 0 {
            return;
        }
        if OUTSIDE.is_memory {
            events::give_up(GiveUp::CameBack, OUTSIDE.writer_site, OUTSIDE.writer.wrapping_sub(1));
        } else {
            OUTSIDE.left = OUTSIDE.writer;
        }
    }
}

/// Memory that is also a file's content: what is stored there comes back by other ways.
pub unsafe fn note_shared_memory() {
    unsafe {
        if OUTSIDE.left == 0 {
            OUTSIDE.left = ANYBODY;
        }
    }
}

/// The label of the result of an output function that returns the byte that it got, or the count.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tgi_printed_result(
    label: trace::Label,
    argument: u64,
    result: u64,
    kind: u32,
    function: u32,
    site: u32,
) -> trace::Label {
    unsafe { if label == 0 { 0 } else { printed_result((label, argument), result, kind, (function, site)) } }
}

#[cold]
#[inline(never)]
unsafe fn printed_result(
    (label, argument): (trace::Label, u64),
    result: u64,
    kind: u32,
    (function, site): (u32, u32),
) -> trace::Label {
    unsafe {
        let Some(_entered) = state::enter() else { return 0 };
        if kind == Returned::Byte as u32 && result == argument & 0xFF {
            let byte = build::trunc(8, Value::new(label, argument));
            return build::zext(8, 32, Value::new(byte, result));
        }
        if kind != Returned::Byte as u32 && result == argument {
            return label;
        }
        events::give_up(GiveUp::External, site, function);
        0
    }
}

/// One of the values that it prints has a label.
#[unsafe(no_mangle)]
#[cold]
pub unsafe extern "C" fn __tg_printed(label: trace::Label) {
    unsafe {
        if label != 0
            && active()
            && let Some(_entered) = state::enter()
        {
            leaves();
        }
    }
}

/// Data that is no input was read from a file, a pipe or a socket: it may be what was written to one before.
#[inline(always)]
pub unsafe fn note_other_data() {
    unsafe {
        if OUTSIDE.left != 0 {
            came_back();
        }
    }
}

#[cold]
unsafe fn came_back() {
    unsafe {
        if !active() {
            return;
        }
        let Some(_entered) = state::enter() else { return };
        let left = core::mem::replace(&mut OUTSIDE.left, 0);
        let function = if left == ANYBODY { UNKNOWN } else { left - 1 };
        events::give_up(GiveUp::CameBack, crate::models::call_site(), function);
    }
}

/// A function without a model, or one that prints, gets a pointer to memory of `size` bytes, 0 if that is not known.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tg_lend(function: u32, pointer: usize, size: usize, way: u32, site: u32) {
    unsafe {
        if !active() || !(LOWEST..HIGHEST).contains(&pointer) || way == ways::OUTPUT && OUTSIDE.writer == 0 {
            return;
        }
        let Some(_entered) = state::enter() else { return };
        let memory = Memory::at(pointer, size);
        if way == ways::FOREIGN {
            remember(pointer);
        }
        let is_symbolic = match way {
            ways::OUTPUT | ways::FOREIGN => Search::from(memory).finds_label(),
            _ => memory.is_symbolic() || memory.words().any(|word| Memory::at(word, 0).is_symbolic()),
        };
        if is_symbolic {
            match way {
                ways::OUTPUT => leaves(),
                _ => events::give_up(GiveUp::External, site, function),
            }
        }
        let opens_files = way == ways::ANY || way == ways::FOREIGN;
        if opens_files && (is_name(pointer) || memory.words().any(|word| is_name(word))) {
            events::give_up(GiveUp::InputTaken, site, function);
            OUTSIDE.has_name = false;
        }
    }
}

/// Code without bitcode may keep the pointer.
unsafe fn remember(pointer: usize) {
    unsafe {
        let count = OUTSIDE.lent_count.min(MOST_LENT);
        if OUTSIDE.lent.iter().take(count).any(|lent| *lent == pointer) {
            return;
        }
        if let Some(free) = OUTSIDE.lent.get_mut(count) {
            *free = pointer;
        }
        OUTSIDE.lent_count += 1;
    }
}

/// A function is about to be called that is neither the program's nor one of the system's libraries. It may use what it
/// got earlier; and variables of the program, if it was linked with it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tg_foreign(function: u32, address: usize, site: u32) {
    unsafe {
        if !active() {
            return;
        }
        let Some(_entered) = state::enter() else { return };
        if sees_kept_memory() || is_in_program(address) && sees_variables() {
            events::give_up(GiveUp::External, site, function);
        }
    }
}

fn is_in_program(address: usize) -> bool {
    // The linker defines both ends.
    (&raw const __executable_start as usize..&raw const PROGRAM_END as usize).contains(&address)
}

unsafe fn sees_kept_memory() -> bool {
    unsafe {
        let kept = OUTSIDE.lent.iter().take(OUTSIDE.lent_count);
        OUTSIDE.lent_count > MOST_LENT && OUTSIDE.was_used
            || kept.copied().any(|pointer| Search::from(Memory::at(pointer, 0)).finds_label())
    }
}

unsafe fn sees_variables() -> bool {
    unsafe {
        objects::visible_globals().any(|variable| {
            Search::from(Memory { start: variable.start, size: variable.size, is_there: true }).finds_label()
        })
    }
}

/// Whether there is the input's name at the address.
unsafe fn is_name(address: usize) -> bool {
    unsafe {
        prepare();
        if !OUTSIDE.has_name || OUTSIDE.names == 0 {
            return false;
        }
        OUTSIDE.names -= 1;
        let errno = *os::errno();
        let is = is_named(address as *const _);
        *os::errno() = errno;
        is
    }
}

/// Addresses of objects are between these.
const LOWEST: usize = 1 << 16;
const HIGHEST: usize = 1 << 47;
/// Bytes that are looked at of what a pointer points to: of an object whose end is known, of others, and for pointers to
/// what hangs on it.
const MOST_BYTES: usize = 1 << 20;
const UNKNOWN_BYTES: usize = 32;
const WORD_BYTES: usize = 64;
/// Objects so large may be gone, if code without bitcode has freed them: the allocator gives them back to the kernel.
const LARGE_BYTES: usize = 1 << 16;

/// What code can reach from a piece of memory: the objects that pointers lead to.
struct Search {
    found: [Memory; MOST_FOUND],
    count: usize,
    /// Not everything was looked at.
    is_cut: bool,
}

const MOST_FOUND: usize = 64;

impl Search {
    fn from(memory: Memory) -> Search {
        let mut found = [Memory { start: 0, size: 0, is_there: false }; MOST_FOUND];
        found[0] = memory;
        Search { found, count: 1, is_cut: memory.size > MOST_BYTES }
    }

    /// Whether a label is among it. Where it is too much to look at, there is one, if the input was read at all.
    unsafe fn finds_label(&mut self) -> bool {
        unsafe {
            let mut next = 0;
            while let Some(memory) = self.found.get(next).copied().filter(|_| next < self.count) {
                next += 1;
                if memory.is_symbolic() {
                    return true;
                }
                for word in memory.words_of(MOST_BYTES) {
                    self.add(word);
                }
            }
            self.is_cut && OUTSIDE.was_used
        }
    }

    unsafe fn add(&mut self, pointer: usize) {
        unsafe {
            let known = self.found.iter().take(self.count);
            let is_known =
                known.into_iter().any(|memory| (memory.start..memory.start + memory.size).contains(&pointer));
            if is_known {
                return;
            }
            let object = objects::find(pointer).filter(|object| !object.constant);
            let memory = match object {
                Some(object) => Memory::at(object.start, object.size),
                None => Memory::at(pointer, 0),
            };
            if !memory.is_there {
                return;
            }
            OUTSIDE.looks = OUTSIDE.looks.saturating_sub(1);
            let free = self.found.get_mut(self.count).filter(|_| OUTSIDE.looks != 0);
            match free {
                Some(free) => {
                    *free = memory;
                    self.count += 1;
                    self.is_cut |= memory.size == MOST_BYTES;
                }
                None => self.is_cut = true,
            }
        }
    }
}

/// Memory that a pointer leads to.
#[derive(Clone, Copy)]
struct Memory {
    start: usize,
    size: usize,
    /// It can be read.
    is_there: bool,
}

impl Memory {
    unsafe fn at(start: usize, size: usize) -> Memory {
        unsafe {
            let rest = |object: objects::Object| (object.start + object.size).saturating_sub(start);
            let known = if size != 0 { Some(size) } else { objects::find(start).map(rest) };
            let size = known.unwrap_or(UNKNOWN_BYTES).min(MOST_BYTES);
            let is_there = known.is_some() && (size < LARGE_BYTES || os::is_mapped(start, size));
            Memory { start, size, is_there: is_there || is_on_stack(start) }
        }
    }

    /// Whether a byte of it has a label. What is not believed does not count.
    unsafe fn is_symbolic(&self) -> bool {
        unsafe {
            let is_free = self.start >= HIGHEST || !shadow::any_label(self.start, self.size);
            let mut bytes = self.start..self.start + self.size;
            !is_free && (!self.is_there || bytes.any(|at| shadow::is_believed(at)))
        }
    }

    /// The first words of it that could be pointers.
    fn words(self) -> impl Iterator<Item = usize> {
        self.words_of(WORD_BYTES)
    }

    /// Those among the first so many bytes.
    fn words_of(self, most: usize) -> impl Iterator<Item = usize> {
        let first = self.start.next_multiple_of(size_of::<usize>());
        let end = if self.is_there { self.start + self.size.min(most) } else { first };
        let words = (first..end).step_by(size_of::<usize>()).filter(move |at| at + size_of::<usize>() <= end);
        // SAFETY: the words lie within memory that is there.
        words.map(|at| unsafe { (at as *const usize).read() }).filter(|word| (LOWEST..HIGHEST).contains(word))
    }
}

/// Whether the address is in a frame of the main thread, or in its arguments.
unsafe fn is_on_stack(address: usize) -> bool {
    let here = 0u8;
    // SAFETY: the C library sets the variable before the program starts.
    unsafe { address > (&raw const here) as usize && address < __libc_stack_end as usize }
}
