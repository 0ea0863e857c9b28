//! `sprintf` of symbolic values. The library prints first; then the model walks the format and
//! gives the characters of each symbolic value their expressions. How many digits a number has is a
//! branch for each digit.

use super::compare::is_cut;
use super::element::{Element, Elements};
use super::logic::*;
use super::table::real;
use super::unfollowed::fix_bytes;
use super::{answer, byte, element, ends, give_up, guarded, set_label};
use core::ffi::c_int;
use core::ptr::null_mut;
use runtime_core::build::Value;
use runtime_core::calls::{Args, VaList, call_site};
use runtime_core::memory;
use runtime_core::repetitions::allocations;
use runtime_core::state::{Run, active};
use runtime_core::values::sign_extend;
use runtime_core::{address, events, objects, repetitions, shadow};
use trace::{ConcretiseReason, Op};

unsafe extern "C" {
    fn snprintf(to: *mut u8, size: usize, format: *const u8, ...) -> c_int;
}

/// A conversion of a format.
#[derive(Clone, Copy, Default)]
struct Conversion {
    left: bool,
    plus: bool,
    space: bool,
    alternative: bool,
    zeros: bool,
    width: usize,
    precision: Option<usize>,
    /// Bytes of an integer; 16 for `long double`.
    size: usize,
    letter: u8,
}

/// The format has something that the model does not know.
struct Unknown;

/// The walk along format and output.
struct Print {
    /// Where the rest of the format is.
    format: usize,
    arguments: VaList,
    to: *mut u8,
    /// Characters that fitted into the buffer.
    written: usize,
    /// Characters printed so far, fitting or not.
    next: usize,
    /// How many that is, as far as it grows with the repetition.
    length: Value,
}

impl Print {
    fn walk(&mut self, run: &Run) -> Result<(), Unknown> {
        while let Some(c) = self.take_text(run) {
            if !branch_on(run, is(run, c, b'%')) {
                self.put(run, self.next, c);
                self.next += 1;
                continue;
            }
            let start = self.format;
            let conversion = self.conversion(run);
            // Up to the end, where that is within the conversion.
            let size = self.format - start + conversion.is_err() as usize;
            fix_bytes(run, start as *const u8, size);
            self.convert(run, &conversion?)?;
        }
        Ok(())
    }

    /// The next character of the format with its label, outside of conversions.
    fn take_text(&mut self, run: &Run) -> Option<Value> {
        let c = byte(run, self.format as *const u8);
        if branch_on(run, is(run, c, 0)) {
            return None;
        }
        self.format += 1;
        Some(c)
    }

    /// The next character of the format, which the library has read.
    fn format_at(&self) -> u8 {
        memory::byte(self.format)
    }

    /// The same; then the format goes on after it. `None` at the end.
    fn take(&mut self) -> Option<u8> {
        let c = self.format_at();
        if c == 0 {
            return None;
        }
        self.format += 1;
        Some(c)
    }

    fn take_if(&mut self, wanted: u8) -> bool {
        // Not by adding the condition as a number: rustc 1.95 adds it before it is computed, where
        // this is inlined and a branch follows. `format` then stays, and the walk has no end.
        if self.format_at() != wanted {
            return false;
        }
        self.format += 1;
        true
    }

    /// Where the next argument is that is an integer or a pointer.
    fn next_place(&mut self) -> *const u8 {
        self.arguments.next_word()
    }

    /// The next argument, a pointer.
    fn next_pointer(&mut self) -> usize {
        shadow::read_value(self.next_place() as usize, 8) as usize
    }

    fn conversion(&mut self, run: &Run) -> Result<Conversion, Unknown> {
        let mut conversion = Conversion { size: 4, ..Conversion::default() };
        loop {
            if self.take_if(b'-') {
                conversion.left = true;
            } else if self.take_if(b'+') {
                conversion.plus = true;
            } else if self.take_if(b' ') {
                conversion.space = true;
            } else if self.take_if(b'#') {
                conversion.alternative = true;
            } else if self.take_if(b'0') {
                conversion.zeros = true;
            } else {
                break;
            }
        }
        let width = self.number(run);
        conversion.left |= width < 0;
        conversion.width = width.unsigned_abs() as usize;
        if self.take_if(b'.') {
            conversion.precision = usize::try_from(self.number(run)).ok();
        }
        conversion.size = self.size();
        conversion.letter = self.take().ok_or(Unknown)?;
        Ok(conversion)
    }

    /// A width or precision, in the format or an argument.
    fn number(&mut self, run: &Run) -> i64 {
        if self.take_if(b'*') {
            let number = element(run, self.next_place(), 4);
            events::concretise(run, number.label, ConcretiseReason::Argument, call_site());
            return sign_extend(number.value, 32);
        }
        let mut number = 0i64;
        while self.format_at().is_ascii_digit() {
            let digit = self.take().map_or(0, |c| c - b'0');
            number = number.saturating_mul(10).saturating_add(digit.into());
        }
        number
    }

    fn size(&mut self) -> usize {
        if self.take_if(b'h') {
            return if self.take_if(b'h') { 1 } else { 2 };
        }
        if self.take_if(b'l') {
            self.take_if(b'l');
            return 8;
        }
        if [b'q', b'j', b'z', b't'].into_iter().any(|letter| self.take_if(letter)) {
            return 8;
        }
        if self.take_if(b'L') { 16 } else { 4 }
    }

    fn convert(&mut self, run: &Run, conversion: &Conversion) -> Result<(), Unknown> {
        match conversion.letter {
            b'%' => self.next += 1,
            b'n' => self.count(run, conversion.size),
            b'c' if conversion.size != 8 => self.character(run, conversion),
            b's' if conversion.size != 8 => self.string(run, conversion),
            b'd' | b'i' | b'u' | b'x' | b'X' | b'o' => self.integer(run, conversion)?,
            b'p' => self.pointer(run, conversion)?,
            b'f' | b'F' | b'e' | b'E' | b'g' | b'G' | b'a' | b'A' if conversion.size != 16 => {
                self.float(run, conversion)?;
            }
            _ => return Err(Unknown),
        }
        Ok(())
    }

    /// Gives the character printed at `at` its label.
    fn put(&self, run: &Run, at: usize, c: Value) {
        if at >= self.written || c.label == 0 {
            return;
        }
        let place = self.to.wrapping_add(at);
        if memory::byte(place as usize) as u64 == c.value {
            set_label(run, place, c.label, 1);
        } else {
            give_up(run);
        }
    }

    /// Stores how many characters there are up to here.
    fn count(&mut self, run: &Run, size: usize) {
        let place = self.next_pointer();
        let count = apply_to(run, Op::Add, 64, self.length, self.next as u64);
        set_label(run, place as *const u8, truncated(run, size as u32 * 8, count).label, size);
    }

    /// Where `size` characters start in a field, and how long the field is.
    fn field(conversion: &Conversion, size: usize) -> (usize, usize) {
        let whole = size.max(conversion.width);
        (if conversion.left { 0 } else { whole - size }, whole)
    }

    fn character(&mut self, run: &Run, conversion: &Conversion) {
        let c = truncated(run, 8, element(run, self.next_place(), 4));
        let (start, whole) = Print::field(conversion, 1);
        self.put(run, self.next + start, c);
        self.next += whole;
    }

    fn string(&mut self, run: &Run, conversion: &Conversion) {
        let text = self.next_pointer() as *const u8;
        if text.is_null() {
            let shown = conversion.precision.is_none_or(|precision| precision >= 6);
            self.next += Print::field(conversion, if shown { 6 } else { 0 }).1;
            return;
        }
        let size = match conversion.precision {
            Some(limit) => u8::length_within(text, limit),
            None => u8::length(text),
        };
        let (start, whole) = Print::field(conversion, size);
        ends::branch_on_length(run, text, size, conversion.precision.unwrap_or(usize::MAX));
        if shadow::any_label(text as usize, size) {
            for i in 0..size {
                self.put(run, self.next + start + i, byte(run, text.wrapping_add(i)));
            }
            self.grow(run, text, size, conversion);
        }
        self.next += whole;
    }

    /// A string was printed that may grow with the repetition. One that is cut or filled up does
    /// not, and stays so.
    fn grow(&mut self, run: &Run, text: *const u8, size: usize, conversion: &Conversion) {
        let length = repetitions::length(run, text as usize, size);
        let cuts = |limit| is_cut(run, Elements::new(text, size), limit);
        let is_cut = conversion.precision.is_some_and(cuts);
        let is_short = conversion.width > 0
            && branch_on(run, apply_to(run, Op::Ult, 64, length, conversion.width as u64));
        if length.label != 0 && !is_cut && !is_short {
            let more = apply_to(run, Op::Sub, 64, length, size as u64);
            self.length = apply(run, Op::Add, 64, self.length, more);
        }
    }

    fn integer(&mut self, run: &Run, conversion: &Conversion) -> Result<(), Unknown> {
        let size = conversion.size.min(8);
        let bits = size as u32 * 8;
        let argument = element(run, self.next_place(), size.max(4));
        let argument = truncated(run, bits, argument);
        let signed = matches!(conversion.letter, b'd' | b'i');
        let negative = signed && branch_on(run, apply_to(run, Op::Slt, bits, argument, 0));
        let magnitude = if negative {
            apply(run, Op::Sub, bits, Value::concrete(0), argument)
        } else {
            argument
        };
        let magnitude = zero_extended(run, bits, 64, magnitude);
        let base = match conversion.letter {
            b'x' | b'X' => 16,
            b'o' => 8,
            _ => 10,
        };
        let mut prefix = (signed && (negative || conversion.plus || conversion.space)) as usize;
        if conversion.alternative {
            let zero = branch_on(run, apply_to(run, Op::Eq, 64, magnitude, 0));
            match base {
                16 if !zero => prefix += 2,
                8 => return Err(Unknown),
                _ => {}
            }
        }
        let count = digit_count(run, magnitude, base, conversion.precision == Some(0));
        let digits = conversion.precision.unwrap_or(1).max(count);
        let padded = conversion.zeros && !conversion.left && conversion.precision.is_none();
        let (start, whole) = Print::field(conversion, prefix + digits);
        let last = if padded { whole } else { start + prefix + digits };
        for i in 0..count {
            self.put(
                run,
                self.next + last - 1 - i,
                digit(run, magnitude, base, i as u32, conversion.letter),
            );
        }
        self.next += whole;
        Ok(())
    }

    fn pointer(&mut self, run: &Run, conversion: &Conversion) -> Result<(), Unknown> {
        let argument = element(run, self.next_place(), 8);
        if argument.label != 0 {
            give_up(run);
        }
        let mut spec = [0u8; 64];
        write_spec(conversion, &mut spec)?;
        // SAFETY: the format is one for a pointer, ends with 0, and nothing is written.
        let size = unsafe { snprintf(null_mut(), 0, spec.as_ptr(), argument.value) };
        self.next += size.max(0) as usize;
        Ok(())
    }

    /// Digits of a float are not described.
    fn float(&mut self, run: &Run, conversion: &Conversion) -> Result<(), Unknown> {
        let argument = element(run, self.arguments.next_float(), 8);
        if argument.label != 0 {
            give_up(run);
        }
        let mut spec = [0u8; 64];
        write_spec(conversion, &mut spec)?;
        let number = f64::from_bits(argument.value);
        // SAFETY: the format is one for a `double`, ends with 0, and nothing is written.
        let size = unsafe { snprintf(null_mut(), 0, spec.as_ptr(), number) };
        self.next += size.max(0) as usize;
        Ok(())
    }
}

impl Print {
    /// Answers with the number of characters, where it depends on the repetition: whether they fit
    /// into `room` is a branch, or a property where the library does not know the room.
    fn answer_length(&self, run: &Run, room: usize) {
        if self.length.label == 0 {
            return;
        }
        let length = apply_to(run, Op::Add, 64, self.length, self.next as u64);
        if room == usize::MAX {
            let needed = apply_to(run, Op::Add, 64, length, 1);
            address::check_room(run, self.to as usize, needed, call_site());
        } else {
            branch_on(run, apply_to(run, Op::Ult, 64, length, room as u64));
        }
        answer(truncated(run, 32, length).label);
    }
}

/// The conversion as a format of its own.
fn write_spec(conversion: &Conversion, spec: &mut [u8; 64]) -> Result<(), Unknown> {
    let mut next = 0;
    let mut put = |c: u8| {
        if let Some(place) = spec.get_mut(next) {
            *place = c;
        }
        next += 1;
    };
    put(b'%');
    let flags = [
        (conversion.left, b'-'),
        (conversion.plus, b'+'),
        (conversion.space, b' '),
        (conversion.alternative, b'#'),
        (conversion.zeros, b'0'),
    ];
    flags.into_iter().filter(|(set, _)| *set).for_each(|(_, flag)| put(flag));
    if conversion.width > 0 {
        put_number(conversion.width, &mut put);
    }
    if let Some(precision) = conversion.precision {
        put(b'.');
        put_number(precision, &mut put);
    }
    put(conversion.letter);
    if next < spec.len() { Ok(()) } else { Err(Unknown) }
}

fn put_number(number: usize, put: &mut impl FnMut(u8)) {
    if number >= 10 {
        put_number(number / 10, put);
    }
    put(b'0' + (number % 10) as u8);
}

/// Number of digits of `magnitude`: at least 1, unless a 0 is printed as nothing.
fn digit_count(run: &Run, magnitude: Value, base: u64, empty_zero: bool) -> usize {
    if empty_zero && branch_on(run, apply_to(run, Op::Eq, 64, magnitude, 0)) {
        return 0;
    }
    let mut power = base;
    let mut count = 1;
    while !branch_on(run, apply_to(run, Op::Ult, 64, magnitude, power)) {
        count += 1;
        match power.checked_mul(base) {
            Some(next) => power = next,
            None => break,
        }
    }
    count
}

/// The character of digit `index`, counted from the right.
fn digit(run: &Run, magnitude: Value, base: u64, index: u32, letter: u8) -> Value {
    if magnitude.label == 0 {
        return Value::concrete(0);
    }
    let shift = if base == 16 { 4 } else { 3 };
    let number = if base == 10 {
        let quotient = apply_to(run, Op::UDiv, 64, magnitude, 10u64.pow(index));
        apply_to(run, Op::URem, 64, quotient, 10)
    } else {
        let shifted = apply_to(run, Op::LShr, 64, magnitude, (shift * index) as u64);
        apply_to(run, Op::And, 64, shifted, base - 1)
    };
    let narrow = truncated(run, 8, number);
    let plain = apply_to(run, Op::Add, 8, narrow, b'0' as u64);
    if base != 16 {
        return plain;
    }
    let above = letter.wrapping_sub(b'x' - b'a' + 10);
    choose(
        run,
        8,
        apply_to(run, Op::Ult, 8, narrow, 10),
        plain,
        apply_to(run, Op::Add, 8, narrow, above as u64),
    )
}

/// The library printed `result` characters, of which `room` had room with the final 0.
fn printed(
    run: &Run,
    to: *mut u8,
    room: usize,
    format: *const u8,
    arguments: VaList,
    result: c_int,
) {
    answer(0);
    if !active(run) || result < 0 {
        return;
    }
    let written = (result as usize).min(room.saturating_sub(1));
    if room > 0 {
        shadow::clear(to as usize, written + 1);
    }
    guarded(|run| {
        let format = format as usize;
        let mut print = Print { format, arguments, to, written, next: 0, length: FALSE };
        if print.walk(run).is_err() || print.next != result as usize {
            return give_up(run);
        }
        print.answer_length(run, room);
    });
}

/// The arguments that the program passes to the library.
pub(super) fn arguments_of(list: *const VaList) -> VaList {
    // SAFETY: the library is about to take them from the list.
    unsafe { list.read() }
}

/// `vsnprintf`
pub(super) fn within(
    run: &Run,
    _: &Args,
    to: *mut u8,
    size: usize,
    format: *const u8,
    list: *mut VaList,
) -> c_int {
    let arguments = arguments_of(list);
    // SAFETY: the program's own call.
    let result = unsafe { real::vsnprintf(to, size, format, list) };
    printed(run, to, size, format, arguments, result);
    result
}

/// `vsprintf`
pub(super) fn string(
    run: &Run,
    _: &Args,
    to: *mut u8,
    format: *const u8,
    list: *mut VaList,
) -> c_int {
    let arguments = arguments_of(list);
    // SAFETY: the program's own call.
    let result = unsafe { real::vsprintf(to, format, list) };
    printed(run, to, usize::MAX, format, arguments, result);
    result
}

/// `__vsnprintf_chk`: how much is printed is known only afterwards, so the library checks it.
#[allow(clippy::too_many_arguments, reason = "those of the library's function")]
pub(super) fn checked_within(
    run: &Run,
    _: &Args,
    to: *mut u8,
    size: usize,
    flag: c_int,
    room: usize,
    format: *const u8,
    list: *mut VaList,
) -> c_int {
    let arguments = arguments_of(list);
    // SAFETY: the program's own call.
    let result = unsafe { real::__vsnprintf_chk(to, size, flag, room, format, list) };
    printed(run, to, size, format, arguments, result);
    result
}

/// `__vsprintf_chk`
pub(super) fn checked_string(
    run: &Run,
    _: &Args,
    to: *mut u8,
    flag: c_int,
    room: usize,
    format: *const u8,
    list: *mut VaList,
) -> c_int {
    let arguments = arguments_of(list);
    // SAFETY: the program's own call.
    let result = unsafe { real::__vsprintf_chk(to, flag, room, format, list) };
    printed(run, to, usize::MAX, format, arguments, result);
    result
}

/// `vasprintf`
pub(super) fn allocated(
    run: &Run,
    _: &Args,
    to: *mut *mut u8,
    format: *const u8,
    list: *mut VaList,
) -> c_int {
    let arguments = arguments_of(list);
    // SAFETY: the program's own call.
    let result = unsafe { real::vasprintf(to, format, list) };
    answer(0);
    shadow::clear(to as usize, 8);
    if active(run) && result >= 0 {
        // SAFETY: the library has just put the object there.
        let text = unsafe { to.read() };
        objects::note_allocation(run, text as usize, Some(result as usize + 1));
        guarded(|run| allocations::note_allocation(run, text as usize, allocations::ENOUGH));
        printed(run, text, usize::MAX, format, arguments, result);
    }
    result
}
