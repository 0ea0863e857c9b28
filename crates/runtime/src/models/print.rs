//! `sprintf` of symbolic values. The library prints first; then the model walks the format and
//! gives the characters of each symbolic value their expressions. How many digits a number has is a
//! branch for each digit.

use super::compare::is_cut;
use super::element::Elements;
use super::logic::*;
use super::table::real;
use super::{answer, byte, element, give_up, guarded, set_label};
use crate::build::Value;
use crate::calls::{Args, VaList};
use crate::state::active;
use crate::values::sign_extend;
use crate::{address, objects, shadow, stretches};
use core::ffi::c_int;
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
    format: *const u8,
    arguments: VaList,
    to: *mut u8,
    /// Characters that fitted into the buffer.
    written: usize,
    /// Characters printed so far, fitting or not.
    next: usize,
    /// How many that is, as far as it grows with the stretch.
    length: Value,
}

impl Print {
    unsafe fn run(&mut self) -> Result<(), Unknown> {
        unsafe {
            loop {
                let c = *self.format;
                if c == 0 {
                    return Ok(());
                }
                self.format = self.format.add(1);
                if c != b'%' {
                    self.next += 1;
                    continue;
                }
                let conversion = self.conversion()?;
                self.convert(&conversion)?;
            }
        }
    }

    unsafe fn take_if(&mut self, wanted: u8) -> bool {
        unsafe {
            if *self.format != wanted {
                return false;
            }
            self.format = self.format.add(1);
            true
        }
    }

    unsafe fn conversion(&mut self) -> Result<Conversion, Unknown> {
        unsafe {
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
            let width = self.number();
            conversion.left |= width < 0;
            conversion.width = width.unsigned_abs() as usize;
            if self.take_if(b'.') {
                conversion.precision = usize::try_from(self.number()).ok();
            }
            conversion.size = self.size();
            conversion.letter = *self.format;
            if conversion.letter == 0 {
                return Err(Unknown);
            }
            self.format = self.format.add(1);
            Ok(conversion)
        }
    }

    /// A width or precision, in the format or an argument.
    unsafe fn number(&mut self) -> i64 {
        unsafe {
            if self.take_if(b'*') {
                let place = self.arguments.next();
                let number = element(place, 4);
                crate::events::concretise(number.label, ConcretiseReason::Argument, super::call_site());
                return sign_extend(number.value, 32);
            }
            let mut number = 0i64;
            while (*self.format).is_ascii_digit() {
                number = number.saturating_mul(10).saturating_add((*self.format - b'0') as i64);
                self.format = self.format.add(1);
            }
            number
        }
    }

    unsafe fn size(&mut self) -> usize {
        unsafe {
            if self.take_if(b'h') {
                return if self.take_if(b'h') { 1 } else { 2 };
            }
            if self.take_if(b'l') {
                self.take_if(b'l');
                return 8;
            }
            if self.take_if(b'q') || self.take_if(b'j') || self.take_if(b'z') || self.take_if(b't') {
                return 8;
            }
            if self.take_if(b'L') { 16 } else { 4 }
        }
    }

    unsafe fn convert(&mut self, conversion: &Conversion) -> Result<(), Unknown> {
        unsafe {
            match conversion.letter {
                b'%' => self.next += 1,
                b'n' => {
                    let place = self.arguments.next().cast::<usize>().read();
                    shadow::clear(place, conversion.size);
                }
                b'c' if conversion.size != 8 => self.character(conversion),
                b's' if conversion.size != 8 => self.string(conversion),
                b'd' | b'i' | b'u' | b'x' | b'X' | b'o' => self.integer(conversion)?,
                b'p' => self.pointer(conversion)?,
                b'f' | b'F' | b'e' | b'E' | b'g' | b'G' | b'a' | b'A' if conversion.size != 16 => {
                    self.float(conversion)?;
                }
                _ => return Err(Unknown),
            }
            Ok(())
        }
    }

    /// Gives the character printed at `at` its label.
    unsafe fn put(&self, at: usize, c: Value) {
        unsafe {
            if at >= self.written || c.label == 0 {
                return;
            }
            if *self.to.add(at) as u64 == c.value {
                set_label(self.to.add(at), c.label, 1);
            } else {
                give_up();
            }
        }
    }

    /// Where `size` characters start in a field, and how long the field is.
    fn field(conversion: &Conversion, size: usize) -> (usize, usize) {
        let whole = size.max(conversion.width);
        (if conversion.left { 0 } else { whole - size }, whole)
    }

    unsafe fn character(&mut self, conversion: &Conversion) {
        unsafe {
            let c = truncated(8, element(self.arguments.next(), 4));
            let (start, whole) = Print::field(conversion, 1);
            self.put(self.next + start, c);
            self.next += whole;
        }
    }

    unsafe fn string(&mut self, conversion: &Conversion) {
        unsafe {
            let text = self.arguments.next().cast::<*const u8>().read();
            if text.is_null() {
                let shown = conversion.precision.is_none_or(|precision| precision >= 6);
                self.next += Print::field(conversion, if shown { 6 } else { 0 }).1;
                return;
            }
            let size = match conversion.precision {
                Some(limit) => real::strnlen(text, limit),
                None => real::strlen(text),
            };
            let (start, whole) = Print::field(conversion, size);
            if shadow::any_label(text as usize, size) {
                for i in 0..size {
                    self.put(self.next + start + i, byte(text.add(i)));
                }
                self.grow(text, size, conversion);
            }
            self.next += whole;
        }
    }

    /// A string was printed that may grow with the stretch. One that is cut or filled up does not,
    /// and stays so.
    unsafe fn grow(&mut self, text: *const u8, size: usize, conversion: &Conversion) {
        unsafe {
            let length = stretches::length(text, size);
            let is_cut = conversion.precision.is_some_and(|limit| is_cut(Elements::new(text, size), limit));
            let is_short =
                conversion.width > 0 && branch_on(apply_to(Op::Ult, 64, length, conversion.width as u64));
            if length.label != 0 && !is_cut && !is_short {
                let more = apply_to(Op::Sub, 64, length, size as u64);
                self.length = apply(Op::Add, 64, self.length, more);
            }
        }
    }

    unsafe fn integer(&mut self, conversion: &Conversion) -> Result<(), Unknown> {
        unsafe {
            let size = conversion.size.min(8);
            let bits = size as u32 * 8;
            let argument = element(self.arguments.next(), size.max(4));
            let argument = truncated(bits, argument);
            let signed = matches!(conversion.letter, b'd' | b'i');
            let negative = signed && branch_on(apply_to(Op::Slt, bits, argument, 0));
            let magnitude =
                if negative { apply(Op::Sub, bits, Value::concrete(0), argument) } else { argument };
            let magnitude = zero_extended(bits, 64, magnitude);
            let base = match conversion.letter {
                b'x' | b'X' => 16,
                b'o' => 8,
                _ => 10,
            };
            let mut prefix = (signed && (negative || conversion.plus || conversion.space)) as usize;
            if conversion.alternative {
                let zero = branch_on(apply_to(Op::Eq, 64, magnitude, 0));
                match base {
                    16 if !zero => prefix += 2,
                    8 => return Err(Unknown),
                    _ => {}
                }
            }
            let count = digit_count(magnitude, base, conversion.precision == Some(0));
            let digits = conversion.precision.unwrap_or(1).max(count);
            let padded = conversion.zeros && !conversion.left && conversion.precision.is_none();
            let (start, whole) = Print::field(conversion, prefix + digits);
            let last = if padded { whole } else { start + prefix + digits };
            for i in 0..count {
                self.put(self.next + last - 1 - i, digit(magnitude, base, i as u32, conversion.letter));
            }
            self.next += whole;
            Ok(())
        }
    }

    unsafe fn pointer(&mut self, conversion: &Conversion) -> Result<(), Unknown> {
        unsafe {
            let argument = element(self.arguments.next(), 8);
            if argument.label != 0 {
                give_up();
            }
            let mut spec = [0u8; 64];
            write_spec(conversion, &mut spec)?;
            let size = snprintf(core::ptr::null_mut(), 0, spec.as_ptr(), argument.value);
            self.next += size.max(0) as usize;
            Ok(())
        }
    }

    /// Digits of a float are not described.
    unsafe fn float(&mut self, conversion: &Conversion) -> Result<(), Unknown> {
        unsafe {
            let argument = element(self.arguments.next_float(), 8);
            if argument.label != 0 {
                give_up();
            }
            let mut spec = [0u8; 64];
            write_spec(conversion, &mut spec)?;
            let size = snprintf(core::ptr::null_mut(), 0, spec.as_ptr(), f64::from_bits(argument.value));
            self.next += size.max(0) as usize;
            Ok(())
        }
    }
}

impl Print {
    /// Answers with the number of characters, where it depends on the stretch: whether they fit
    /// into `room` is a branch, or a property where the library does not know the room.
    unsafe fn answer_length(&self, room: usize) {
        unsafe {
            if self.length.label == 0 {
                return;
            }
            let length = apply_to(Op::Add, 64, self.length, self.next as u64);
            if room == usize::MAX {
                let needed = apply_to(Op::Add, 64, length, 1);
                address::check_room(self.to as usize, needed, super::call_site());
            } else {
                branch_on(apply_to(Op::Ult, 64, length, room as u64));
            }
            answer(truncated(32, length).label);
        }
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
unsafe fn digit_count(magnitude: Value, base: u64, empty_zero: bool) -> usize {
    unsafe {
        if empty_zero && branch_on(apply_to(Op::Eq, 64, magnitude, 0)) {
            return 0;
        }
        let mut power = base;
        let mut count = 1;
        while !branch_on(apply_to(Op::Ult, 64, magnitude, power)) {
            count += 1;
            match power.checked_mul(base) {
                Some(next) => power = next,
                None => break,
            }
        }
        count
    }
}

/// The character of digit `index`, counted from the right.
unsafe fn digit(magnitude: Value, base: u64, index: u32, letter: u8) -> Value {
    unsafe {
        if magnitude.label == 0 {
            return Value::concrete(0);
        }
        let shift = if base == 16 { 4 } else { 3 };
        let number = if base == 10 {
            let quotient = apply_to(Op::UDiv, 64, magnitude, 10u64.pow(index));
            apply_to(Op::URem, 64, quotient, 10)
        } else {
            let shifted = apply_to(Op::LShr, 64, magnitude, (shift * index) as u64);
            apply_to(Op::And, 64, shifted, base - 1)
        };
        let narrow = truncated(8, number);
        let plain = apply_to(Op::Add, 8, narrow, b'0' as u64);
        if base != 16 {
            return plain;
        }
        let above = letter - b'x' + b'a' - 10;
        choose(8, apply_to(Op::Ult, 8, narrow, 10), plain, apply_to(Op::Add, 8, narrow, above as u64))
    }
}

/// The library printed `result` characters, of which `room` had room with the final 0.
unsafe fn printed(to: *mut u8, room: usize, format: *const u8, arguments: VaList, result: c_int) {
    unsafe {
        answer(0);
        if !active() || result < 0 {
            return;
        }
        let written = (result as usize).min(room.saturating_sub(1));
        if room > 0 {
            shadow::clear(to as usize, written + 1);
        }
        guarded(|| {
            let mut print = Print { format, arguments, to, written, next: 0, length: FALSE };
            if print.run().is_err() || print.next != result as usize {
                return give_up();
            }
            print.answer_length(room);
        });
    }
}

/// `vsnprintf`
pub(super) unsafe fn within(
    _: &Args,
    to: *mut u8,
    size: usize,
    format: *const u8,
    list: *mut VaList,
) -> c_int {
    unsafe {
        let arguments = *list;
        let result = real::vsnprintf(to, size, format, list);
        printed(to, size, format, arguments, result);
        result
    }
}

/// `vsprintf`
pub(super) unsafe fn string(_: &Args, to: *mut u8, format: *const u8, list: *mut VaList) -> c_int {
    unsafe {
        let arguments = *list;
        let result = real::vsprintf(to, format, list);
        printed(to, usize::MAX, format, arguments, result);
        result
    }
}

/// `__vsnprintf_chk`: how much is printed is known only afterwards, so the library checks it.
pub(super) unsafe fn checked_within(
    _: &Args,
    to: *mut u8,
    size: usize,
    flag: c_int,
    room: usize,
    format: *const u8,
    list: *mut VaList,
) -> c_int {
    unsafe {
        let arguments = *list;
        let result = real::__vsnprintf_chk(to, size, flag, room, format, list);
        printed(to, size, format, arguments, result);
        result
    }
}

/// `__vsprintf_chk`
pub(super) unsafe fn checked_string(
    _: &Args,
    to: *mut u8,
    flag: c_int,
    room: usize,
    format: *const u8,
    list: *mut VaList,
) -> c_int {
    unsafe {
        let arguments = *list;
        let result = real::__vsprintf_chk(to, flag, room, format, list);
        printed(to, usize::MAX, format, arguments, result);
        result
    }
}

/// `vasprintf`
pub(super) unsafe fn allocated(_: &Args, to: *mut *mut u8, format: *const u8, list: *mut VaList) -> c_int {
    unsafe {
        let arguments = *list;
        let result = real::vasprintf(to, format, list);
        answer(0);
        shadow::clear(to as usize, 8);
        if active() && result >= 0 {
            objects::note_allocation(*to as usize, Some(result as usize + 1));
            guarded(|| stretches::note_allocation(*to as usize, stretches::ENOUGH));
            printed(*to, usize::MAX, format, arguments, result);
        }
        result
    }
}
