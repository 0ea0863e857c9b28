//! Buffered input. The stream's buffer gets the labels of the input bytes in it, so that code which reads the buffer
//! itself (`getc_unlocked` as a macro) works like the functions do.

use super::input::{ask_byte, ask_bytes, is_input, label_input};
use super::{answer, byte, element};
use crate::build;
use crate::calls::{self, Args};
use crate::state::{self, active};
use crate::{os, outside, shadow, stretches};
use core::ffi::{c_char, c_int, c_long, c_void};
use trace::ConcretiseReason;

/// The part of glibc's `FILE` that its own macros have always exposed.
#[repr(C)]
pub struct Stream {
    flags: c_int,
    read_ptr: *mut u8,
    read_end: *mut u8,
    read_base: *mut u8,
    write_base: *mut u8,
    write_ptr: *mut u8,
    write_end: *mut u8,
    buf_base: *mut u8,
    buf_end: *mut u8,
    save_base: *mut u8,
    backup_base: *mut u8,
    save_end: *mut u8,
    markers: *mut c_void,
    chain: *mut c_void,
    fileno: c_int,
}

/// The stream reads from a push-back area, not from its buffer.
const IN_BACKUP: c_int = 0x100;
/// The stream has a descriptor.
const IS_FILE: c_int = 0x2000;

unsafe extern "C" {
    fn getc(stream: *mut Stream) -> c_int;
    fn __uflow(stream: *mut Stream) -> c_int;
    fn __underflow(stream: *mut Stream) -> c_int;
    fn ungetc(byte: c_int, stream: *mut Stream) -> c_int;
    fn fread(to: *mut c_void, size: usize, count: usize, stream: *mut Stream) -> usize;
    fn fgets(to: *mut c_char, size: c_int, stream: *mut Stream) -> *mut c_char;
    fn getdelim(line: *mut *mut c_char, size: *mut usize, delimiter: c_int, stream: *mut Stream) -> isize;
    fn fopen(path: *const c_char, mode: *const c_char) -> *mut Stream;
    fn fdopen(fd: c_int, mode: *const c_char) -> *mut Stream;
    fn freopen(path: *const c_char, mode: *const c_char, stream: *mut Stream) -> *mut Stream;
    fn fclose(stream: *mut Stream) -> c_int;
    fn fseek(stream: *mut Stream, offset: c_long, whence: c_int) -> c_int;
    fn ftell(stream: *mut Stream) -> c_long;
    fn rewind(stream: *mut Stream);
    fn strlen(text: *const c_char) -> usize;
    fn getw(stream: *mut Stream) -> c_int;
    fn feof(stream: *mut Stream) -> c_int;
    fn memchr(bytes: *const c_void, byte: c_int, size: usize) -> *mut c_void;
    pub(crate) static stdin: *mut Stream;
    pub(crate) static stdout: *mut Stream;
}

/// What is known of the streams used last.
#[derive(Clone, Copy)]
struct Known {
    stream: *mut Stream,
    input: bool,
    /// Input byte that the stream delivers next, as far as models were used; -1 if not known.
    next: i64,
    /// Bytes that were put back and are not those of the input that were there.
    pushed: u32,
    /// The last `fseek` was to this place, counted from the input's end.
    from_end: Option<i64>,
    /// The buffer that has its labels: its start, its size, and where it ends in the file.
    labelled: (usize, usize, i64),
}

const UNKNOWN: Known = Known {
    stream: core::ptr::null_mut(),
    input: false,
    next: -1,
    pushed: 0,
    from_end: None,
    labelled: (0, 0, 0),
};
static mut STREAMS: [Known; 4] = [UNKNOWN; 4];
static mut NEXT_SLOT: usize = 0;

pub unsafe fn forget_streams() {
    unsafe { STREAMS = [UNKNOWN; 4] };
}

#[inline(always)]
unsafe fn known(stream: *mut Stream) -> *mut Known {
    unsafe { if STREAMS[0].stream == stream { &raw mut STREAMS[0] } else { find_known(stream) } }
}

#[inline(never)]
unsafe fn find_known(stream: *mut Stream) -> *mut Known {
    unsafe {
        for slot in &mut STREAMS {
            if slot.stream == stream {
                return slot;
            }
        }
        let slot = &raw mut STREAMS[NEXT_SLOT & 3];
        NEXT_SLOT += 1;
        let input = is_input((*stream).fileno);
        *slot = Known { stream, input, ..UNKNOWN };
        if input {
            outside::watch((*stream).fileno, stream);
        }
        slot
    }
}

unsafe fn reads_input(stream: *mut Stream) -> bool {
    unsafe {
        if !active() || stream.is_null() {
            return false;
        }
        let input = (*known(stream)).input;
        if input {
            outside::note_model();
        } else {
            outside::note_other_data();
        }
        input
    }
}

/// The descriptor behind a stream; -1 if it has none, as one that prints into memory.
pub(crate) unsafe fn descriptor(stream: *mut Stream) -> c_int {
    unsafe { if stream.is_null() || (*stream).flags & IS_FILE == 0 { -1 } else { (*stream).fileno } }
}

/// Offset in the file of what the stream reads from it next.
unsafe fn file_position(stream: *mut Stream) -> i64 {
    unsafe { os::lseek((*stream).fileno, 0, os::SEEK_CUR) }
}

/// Offset in the file of the byte that the stream delivers next.
unsafe fn position(stream: *mut Stream) -> i64 {
    unsafe { position_before(stream, file_position(stream)) }
}

pub(crate) unsafe fn position_before(stream: *mut Stream, end: i64) -> i64 {
    unsafe {
        let mut ahead = (*stream).read_end as i64 - (*stream).read_ptr as i64;
        if (*stream).flags & IN_BACKUP != 0 {
            ahead += (*stream).save_end as i64 - (*stream).save_base as i64;
        }
        end - ahead
    }
}

/// Labels the whole buffer, which ends at `end` in the file, unless it has its labels: a line takes a small part of it.
unsafe fn label_buffer(stream: *mut Stream, end: i64) {
    unsafe {
        if (*stream).flags & IN_BACKUP != 0 {
            return;
        }
        let base = (*stream).read_base as usize;
        let size = (*stream).read_end as usize - base;
        let labelled = core::mem::replace(&mut (*known(stream)).labelled, (base, size, end));
        if end >= size as i64 && labelled != (base, size, end) {
            label_input((*stream).read_base, (end - size as i64) as u64, size);
        }
    }
}

/// The input byte that the stream delivers next, if it reads the input.
pub(super) unsafe fn input_position(stream: *mut Stream) -> Option<u64> {
    unsafe { if reads_many(stream) { u64::try_from(position(stream)).ok() } else { None } }
}

/// As [`reads_input`], for functions that take several bytes. They do not know what was put back.
unsafe fn reads_many(stream: *mut Stream) -> bool {
    unsafe {
        let input = reads_input(stream);
        if input && core::mem::take(&mut (*known(stream)).pushed) != 0 {
            super::give_up_outside();
        }
        input
    }
}

/// A library function moved the stream on.
pub(super) unsafe fn note_position(stream: *mut Stream) {
    unsafe {
        let Some(_entered) = state::enter() else { return };
        let end = file_position(stream);
        label_buffer(stream, end);
        (*known(stream)).next = position_before(stream, end);
    }
}

/// The input byte that a wide stream delivers next: its buffer is ahead of what the program has seen, so it is counted.
pub(super) unsafe fn next_of_wide(stream: *mut Stream) -> Option<*mut i64> {
    unsafe {
        if !reads_input(stream) {
            return None;
        }
        let known = known(stream);
        if (*known).next < 0 {
            (*known).next = position(stream);
        }
        Some(&raw mut (*known).next)
    }
}

/// The label of a byte that the stream delivered, and its events.
unsafe fn delivered(stream: *mut Stream, result: c_int) -> u32 {
    unsafe {
        if !reads_input(stream) {
            return 0;
        }
        let Some(_entered) = state::enter() else { return 0 };
        let known = known(stream);
        if result < 0 {
            let at = position(stream);
            (*known).next = at;
            ask_byte(at.max(0) as u64);
            return 0;
        }
        let at = (*stream).read_ptr.sub(1);
        if (*known).pushed != 0 {
            (*known).pushed -= 1;
            return build::zext(8, 32, byte(at));
        }
        let fresh = (*known).next < 0 || at == (*stream).read_base;
        let expected = |label: u32| label != 0 && label as i64 == (*known).next + 1;
        let mut label = shadow::label_of_byte(at as usize);
        if fresh || !expected(label) {
            let end = file_position(stream);
            label_buffer(stream, end);
            (*known).next = position_before(stream, end) - 1;
            label = shadow::label_of_byte(at as usize);
        }
        ask_byte((*known).next.max(0) as u64);
        (*known).next += 1;
        build::zext(8, 32, byte(at).with_label(label))
    }
}

macro_rules! byte_readers {
    ($($name:ident = $real:expr),*) => {$(
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(stream: *mut Stream) -> c_int {
            unsafe {
                calls::__tgi_args_taken();
                let result = $real(stream);
                answer(delivered(stream, result));
                result
            }
        }
    )*};
}

byte_readers!(
    __tarragon_model_getc = getc,
    __tarragon_model_fgetc = getc,
    __tarragon_model__IO_getc = getc,
    __tarragon_model_getc_unlocked = getc,
    __tarragon_model_fgetc_unlocked = getc,
    __tarragon_model___uflow = __uflow
);

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_model_getchar() -> c_int {
    unsafe {
        let result = getc(stdin);
        answer(delivered(stdin, result));
        result
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_model_getchar_unlocked() -> c_int {
    unsafe { __tarragon_model_getchar() }
}

/// Fills the buffer without taking a byte.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_model___underflow(stream: *mut Stream) -> c_int {
    unsafe {
        calls::__tgi_args_taken();
        let result = __underflow(stream);
        answer(0);
        if reads_input(stream)
            && let Some(_entered) = state::enter()
        {
            let end = file_position(stream);
            label_buffer(stream, end);
            ask_byte(position_before(stream, end).max(0) as u64);
        }
        result
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_model_ungetc(pushed: c_int, stream: *mut Stream) -> c_int {
    unsafe {
        let args = Args::take();
        let result = ungetc(pushed, stream);
        answer(if result == pushed { args.label(0) } else { 0 });
        if result >= 0
            && reads_input(stream)
            && let Some(_entered) = state::enter()
        {
            put_back(stream, build::trunc(8, build::Value::new(args.label(0), pushed as u32 as u64)));
        }
        result
    }
}

/// A byte with this label was put back. It need not be the one that was there.
unsafe fn put_back(stream: *mut Stream, label: u32) {
    unsafe {
        let known = known(stream);
        if (*known).pushed == 0 && label != 0 && label as i64 == (*known).next {
            (*known).next -= 1;
            return;
        }
        if (*known).pushed == 0 {
            label_buffer(stream, file_position(stream));
        }
        shadow::set_entry((*stream).read_ptr as usize, label);
        (*known).pushed += 1;
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_model_fread(
    to: *mut c_void,
    size: usize,
    count: usize,
    stream: *mut Stream,
) -> usize {
    unsafe {
        super::copy::take_sized(2, [to, to], count, size);
        let input = reads_many(stream);
        let before = if input { position(stream) } else { 0 };
        let result = fread(to, size, count, stream);
        answer(0);
        if !input || before < 0 {
            shadow::__tgi_clear(to as usize, (result * size).max(1));
            return result;
        }
        let Some(_entered) = state::enter() else { return result };
        let end = file_position(stream);
        let after = position_before(stream, end);
        let got = (after - before).max(0) as u64;
        label_input(to.cast(), before as u64, got as usize);
        label_buffer(stream, end);
        (*known(stream)).next = after;
        let label = ask_bytes(before as u64, (size * count) as u64, got);
        answer(if size == 1 { label } else { 0 });
        result
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_model_fread_unlocked(
    to: *mut c_void,
    size: usize,
    count: usize,
    stream: *mut Stream,
) -> usize {
    unsafe { __tarragon_model_fread(to, size, count, stream) }
}

/// The label of the length of a line in which the stretch begins or goes on. Whether the line fits is a branch.
unsafe fn line_length(start: u64, limit: usize, delimiter: u8) -> u32 {
    use crate::build::Value;
    unsafe {
        let length = stretches::line_length(start, delimiter);
        let fits = length.value <= limit as u64;
        if limit != usize::MAX {
            let label = build::binary(trace::Op::Ule, 64, length, Value::concrete(limit as u64));
            crate::events::branch(label, fits, super::call_site());
        }
        if fits { length.label } else { 0 }
    }
}

/// A line was delivered into `to`, which held `got` bytes of it; `limit` is how many it could hold. Answers with its length.
unsafe fn delivered_line(
    to: *const u8,
    got: usize,
    limit: usize,
    delimiter: u8,
    before: i64,
    stream: *mut Stream,
) {
    use crate::build::Value;
    unsafe {
        let Some(_entered) = state::enter() else { return };
        label_input(to, before as u64, got);
        let mut is_stretched = false;
        for i in 0..got {
            ask_byte(before as u64 + i as u64);
            let here = byte(to.add(i));
            // Which bytes follow the stretch hangs on whether the line is cut.
            if !is_stretched && stretches::is_filler(here.label) {
                is_stretched = true;
                answer(line_length(before as u64, limit, delimiter));
            }
            let is_end = build::binary(trace::Op::Eq, 8, here, Value::concrete(delimiter as u64));
            crate::events::branch(is_end, here.value == delimiter as u64, super::call_site());
        }
        let ended = got > 0 && *to.add(got - 1) == delimiter;
        if !ended && got < limit {
            ask_byte(before as u64 + got as u64);
        }
        label_buffer(stream, file_position(stream));
        (*known(stream)).next = before + got as i64;
    }
}

/// Bytes that `fgets` wrote of the `size` that it could. A line ends at its first line feed, or with the file.
unsafe fn written(to: *const c_char, size: usize, stream: *mut Stream) -> usize {
    unsafe {
        if feof(stream) != 0 {
            return strlen(to) + 1;
        }
        let end = memchr(to.cast(), c_int::from(b'\n'), size - 1) as usize;
        if end == 0 { size } else { end - to as usize + 2 }
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_model_fgets(
    to: *mut c_char,
    size: c_int,
    stream: *mut Stream,
) -> *mut c_char {
    unsafe {
        calls::concretise_args(&Args::take(), ConcretiseReason::CopyLength);
        let input = reads_many(stream);
        let before = if input { position(stream) } else { -1 };
        let result = fgets(to, size, stream);
        answer(0);
        if before < 0 || size < 1 {
            if !result.is_null() {
                shadow::__tgi_clear(to as usize, written(to, size.max(1) as usize, stream));
            }
            return result;
        }
        let got = (position(stream) - before).max(0) as usize;
        if !result.is_null() {
            shadow::clear(to as usize + got, 1);
        }
        delivered_line(to.cast(), got, size as usize - 1, b'\n', before, stream);
        answer(0);
        result
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_model_fgets_unlocked(
    to: *mut c_char,
    size: c_int,
    stream: *mut Stream,
) -> *mut c_char {
    unsafe { __tarragon_model_fgets(to, size, stream) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_model_getdelim(
    line: *mut *mut c_char,
    size: *mut usize,
    delimiter: c_int,
    stream: *mut Stream,
) -> isize {
    unsafe {
        calls::concretise_args(&Args::take(), ConcretiseReason::Argument);
        let input = reads_many(stream);
        let before = if input { position(stream) } else { -1 };
        let (old, old_size) = (*line as usize, *size);
        let result = getdelim(line, size, delimiter, stream);
        answer(0);
        shadow::clear(line as usize, 8);
        shadow::clear(size as usize, 8);
        if *line as usize != old {
            crate::objects::note_free(old);
        }
        if (*line as usize, *size) != (old, old_size) {
            crate::objects::note_allocation(*line as usize, Some(*size));
        }
        if let Some(_entered) = state::enter() {
            stretches::note_allocation(*line as usize, stretches::ENOUGH);
        }
        if result < 0 || before < 0 {
            if result > 0 {
                shadow::clear(*line as usize, result as usize + 1);
            }
            if before >= 0
                && let Some(_entered) = state::enter()
            {
                ask_byte(before as u64);
            }
            return result;
        }
        shadow::clear(*line as usize + result as usize, 1);
        delivered_line((*line).cast(), result as usize, usize::MAX, delimiter as u8, before, stream);
        result
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_model___getdelim(
    line: *mut *mut c_char,
    size: *mut usize,
    delimiter: c_int,
    stream: *mut Stream,
) -> isize {
    unsafe { __tarragon_model_getdelim(line, size, delimiter, stream) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_model_getline(
    line: *mut *mut c_char,
    size: *mut usize,
    stream: *mut Stream,
) -> isize {
    unsafe { __tarragon_model_getdelim(line, size, b'\n' as c_int, stream) }
}

/// What is behind a name that the input has a say in is not known for other inputs.
unsafe fn note_name(path: *const c_char) {
    unsafe {
        if active() && !path.is_null() && shadow::any_label(path as usize, strlen(path) + 1) {
            super::give_up_outside();
        }
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_model_fopen(path: *const c_char, mode: *const c_char) -> *mut Stream {
    unsafe {
        calls::__tgi_args_taken();
        note_name(path);
        let stream = fopen(path, mode);
        forget_streams();
        outside::note_redirected(descriptor(stream));
        answer(0);
        stream
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_model_fopen64(path: *const c_char, mode: *const c_char) -> *mut Stream {
    unsafe { __tarragon_model_fopen(path, mode) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_model_fdopen(fd: c_int, mode: *const c_char) -> *mut Stream {
    unsafe {
        calls::__tgi_args_taken();
        let stream = fdopen(fd, mode);
        forget_streams();
        answer(0);
        stream
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_model_freopen(
    path: *const c_char,
    mode: *const c_char,
    stream: *mut Stream,
) -> *mut Stream {
    unsafe {
        calls::__tgi_args_taken();
        note_name(path);
        outside::forget_stream(stream);
        let stream = freopen(path, mode, stream);
        forget_streams();
        outside::note_redirected(descriptor(stream));
        answer(0);
        stream
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_model_fclose(stream: *mut Stream) -> c_int {
    unsafe {
        calls::__tgi_args_taken();
        forget_streams();
        outside::forget_stream(stream);
        outside::note_redirected(descriptor(stream));
        answer(0);
        fclose(stream)
    }
}

const SEEK_END: c_int = 2;

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_model_fseek(stream: *mut Stream, offset: c_long, whence: c_int) -> c_int {
    unsafe {
        calls::concretise_args(&Args::take(), ConcretiseReason::Argument);
        outside::note_model();
        let result = fseek(stream, offset, whence);
        answer(0);
        if result == 0 && reads_input(stream) {
            let known = known(stream);
            ((*known).next, (*known).pushed) = (-1, 0);
            ((*known).from_end, (*known).labelled) = ((whence == SEEK_END).then_some(offset), (0, 0, 0));
        }
        result
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_model_fseeko(
    stream: *mut Stream,
    offset: c_long,
    whence: c_int,
) -> c_int {
    unsafe { __tarragon_model_fseek(stream, offset, whence) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_model_fseeko64(
    stream: *mut Stream,
    offset: c_long,
    whence: c_int,
) -> c_int {
    unsafe { __tarragon_model_fseek(stream, offset, whence) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_model_rewind(stream: *mut Stream) {
    unsafe {
        calls::__tgi_args_taken();
        outside::note_model();
        rewind(stream);
        if reads_input(stream) {
            let known = known(stream);
            ((*known).next, (*known).pushed) = (-1, 0);
            ((*known).from_end, (*known).labelled) = (None, (0, 0, 0));
        }
    }
}

/// Behind a seek to the end, the place is an expression of the input's length.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_model_ftell(stream: *mut Stream) -> c_long {
    unsafe {
        calls::__tgi_args_taken();
        let result = ftell(stream);
        answer(0);
        if result >= 0
            && reads_input(stream)
            && let Some(offset) = (*known(stream)).from_end
            && let Some(_entered) = state::enter()
        {
            super::input::answer_from_end(offset, result);
        }
        result
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_model_ftello(stream: *mut Stream) -> c_long {
    unsafe { __tarragon_model_ftell(stream) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_model_ftello64(stream: *mut Stream) -> c_long {
    unsafe { __tarragon_model_ftell(stream) }
}

/// Four bytes as an `int`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_model_getw(stream: *mut Stream) -> c_int {
    unsafe {
        calls::__tgi_args_taken();
        let before = input_position(stream);
        let result = getw(stream);
        answer(0);
        let Some(before) = before else { return result };
        {
            let Some(_entered) = state::enter() else { return result };
            let got = (position(stream) - before as i64).max(0) as u64;
            ask_bytes(before, 4, got);
            if got == 4 {
                label_input((&raw const result).cast(), before, 4);
                answer(element((&raw const result).cast(), 4).label);
                shadow::clear(&raw const result as usize, 4);
            }
        }
        note_position(stream);
        result
    }
}
