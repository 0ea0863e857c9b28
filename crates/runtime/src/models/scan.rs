//! `scanf` of strings and of the input. The library scans first; then the model walks the same text
//! along the format: what each character was taken for is a branch, and what was stored gets the
//! expression of its characters.

use super::decimals::{narrowed, read_decimal};
use super::element::MAX_STRING;
use super::input::ask_byte;
use super::logic::*;
use super::numbers::{Characters, Format, InMemory, PLAIN, read_number};
use super::stdio::{Stream, input_position, note_position};
use super::table::real;
use super::{answer, give_up, guarded, set_label};
use crate::build::Value;
use crate::calls::{Args, VaList};
use crate::state::{STATE, active};
use crate::{nodes, shadow};
use core::ffi::c_int;

/// The input from one of its bytes on.
struct FromInput(u64);

impl Characters for FromInput {
    const ENDS_WITH_ZERO: bool = false;

    unsafe fn at(&self, index: usize) -> Option<Value> {
        unsafe {
            let index = self.0 + index as u64;
            ask_byte(index);
            if index >= STATE.input_len as u64 {
                return None;
            }
            Some(nodes::input_value(index as u32))
        }
    }
}

/// A part of a format.
enum Item {
    Space,
    Literal(u8),
    Conversion(Conversion),
}

struct Conversion {
    suppressed: bool,
    allocated: bool,
    width: Option<usize>,
    /// Bytes of a number that is stored.
    size: usize,
    /// The conversion's letter.
    letter: u8,
    /// Of `%[`.
    set: ByteSet,
}

/// A format that is read item by item.
struct Items(*const u8);

impl Items {
    unsafe fn take_if(&mut self, wanted: u8) -> bool {
        unsafe {
            if *self.0 != wanted {
                return false;
            }
            self.0 = self.0.add(1);
            true
        }
    }

    unsafe fn next(&mut self) -> Option<Item> {
        unsafe {
            let c = *self.0;
            if c == 0 {
                return None;
            }
            self.0 = self.0.add(1);
            match c {
                b' ' | b'\t'..=b'\r' => Some(Item::Space),
                b'%' => self.conversion().map(Item::Conversion),
                other => Some(Item::Literal(other)),
            }
        }
    }

    unsafe fn conversion(&mut self) -> Option<Conversion> {
        unsafe {
            let suppressed = self.take_if(b'*');
            let mut width = None;
            while (*self.0).is_ascii_digit() {
                let digit = (*self.0 - b'0') as usize;
                width = Some(width.unwrap_or(0usize).saturating_mul(10).saturating_add(digit));
                self.0 = self.0.add(1);
            }
            let allocated = self.take_if(b'm');
            let size = self.size();
            let letter = *self.0;
            if letter == 0 {
                return None;
            }
            self.0 = self.0.add(1);
            let set = if letter == b'[' { self.set()? } else { ByteSet::EMPTY };
            Some(Conversion { suppressed, allocated, width, size, letter, set })
        }
    }

    /// The length modifier as a size in bytes; 16 for `long double`.
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

    /// `^? ]? ... ]`, in which `a-z` is a range.
    unsafe fn set(&mut self) -> Option<ByteSet> {
        unsafe {
            let excluded = self.take_if(b'^');
            let mut set = ByteSet::EMPTY;
            let mut first = true;
            while first || *self.0 != b']' {
                let c = *self.0;
                if c == 0 {
                    return None;
                }
                let last = *self.0.add(1);
                if last == b'-' && !matches!(*self.0.add(2), 0 | b']') && *self.0.add(2) >= c {
                    set.insert_range(c, *self.0.add(2));
                    self.0 = self.0.add(3);
                } else {
                    set.insert(c);
                    self.0 = self.0.add(1);
                }
                first = false;
            }
            self.0 = self.0.add(1);
            Some(if excluded { set.complement() } else { set })
        }
    }
}

/// Why a scan ended.
enum Stop {
    /// As the library's does.
    Mismatch,
    /// The model does not know the conversion.
    Unknown,
}

/// The walk along text and format.
struct Scan<'a, T> {
    text: &'a T,
    next: usize,
    arguments: VaList,
    assigned: c_int,
    /// How many the library assigned.
    result: c_int,
}

impl<T: Characters> Scan<'_, T> {
    unsafe fn run(&mut self, format: *const u8) -> Result<(), Stop> {
        unsafe {
            let mut items = Items(format);
            while let Some(item) = items.next() {
                match item {
                    Item::Space => self.skip_space(),
                    Item::Literal(c) => self.literal(c)?,
                    Item::Conversion(conversion) => self.convert(&conversion)?,
                }
            }
            Ok(())
        }
    }

    unsafe fn skip_space(&mut self) {
        unsafe {
            while self.next < MAX_STRING
                && let Some(c) = self.text.at(self.next)
                && branch_on(is_space(c))
            {
                self.next += 1;
            }
        }
    }

    /// The text does not match here; whether it ended decides what the library returns.
    unsafe fn mismatch(&self, at: usize) -> Stop {
        unsafe {
            if T::ENDS_WITH_ZERO
                && let Some(c) = self.text.at(at)
            {
                branch_on(is(c, 0));
            }
            Stop::Mismatch
        }
    }

    unsafe fn literal(&mut self, wanted: u8) -> Result<(), Stop> {
        unsafe {
            let c = self.text.at(self.next).ok_or(Stop::Mismatch)?;
            if !branch_on(is(c, wanted)) {
                return Err(self.mismatch(self.next));
            }
            self.next += 1;
            Ok(())
        }
    }

    unsafe fn convert(&mut self, conversion: &Conversion) -> Result<(), Stop> {
        unsafe {
            if !matches!(conversion.letter, b'c' | b'[' | b'n' | b'C') {
                self.skip_space();
            }
            let wide = conversion.size == 8;
            match conversion.letter {
                b'%' => self.literal(b'%'),
                b'n' => self.position(conversion),
                b'd' => self.integer(conversion, 10, true),
                b'i' => self.integer(conversion, 0, true),
                b'u' => self.integer(conversion, 10, false),
                b'x' | b'X' => self.integer(conversion, 16, false),
                b'o' => self.integer(conversion, 8, false),
                b'f' | b'F' | b'e' | b'E' | b'g' | b'G' => self.decimal(conversion),
                b's' if !wide => {
                    let mut stops = ByteSet::EMPTY;
                    stops.insert(b' ');
                    stops.insert_range(b'\t', b'\r');
                    self.characters(conversion, stops.complement(), usize::MAX, 1)
                }
                b'[' if !wide => self.characters(conversion, conversion.set, usize::MAX, 1),
                b'c' if !wide => {
                    let count = conversion.width.unwrap_or(1);
                    self.characters(conversion, ByteSet::EMPTY.complement(), count, count)
                }
                _ => Err(Stop::Unknown),
            }
        }
    }

    /// Where the next result goes; `None` if it goes nowhere.
    unsafe fn place(&mut self, conversion: &Conversion) -> Option<*mut u8> {
        unsafe {
            if conversion.suppressed {
                return None;
            }
            let place = self.arguments.next().cast::<*mut u8>().read();
            if conversion.letter != b'n' {
                self.assigned += 1;
            }
            (self.assigned <= self.result).then_some(place)
        }
    }

    unsafe fn position(&mut self, conversion: &Conversion) -> Result<(), Stop> {
        unsafe {
            if !conversion.suppressed {
                let place = self.arguments.next().cast::<*mut u8>().read();
                shadow::clear(place as usize, conversion.size);
            }
            Ok(())
        }
    }

    unsafe fn integer(&mut self, conversion: &Conversion, base: u32, signed: bool) -> Result<(), Stop> {
        unsafe {
            let width = conversion.width.unwrap_or(usize::MAX);
            let format = Format { base, signed, width, keeps_prefix: true, ..PLAIN };
            let parsed = read_number(self.text, self.next, &format);
            let Some(end) = parsed.end else { return Err(self.mismatch(self.next)) };
            self.next = end;
            if let Some(place) = self.place(conversion) {
                store(place, truncated(conversion.size as u32 * 8, parsed.number), conversion.size);
            }
            Ok(())
        }
    }

    unsafe fn decimal(&mut self, conversion: &Conversion) -> Result<(), Stop> {
        unsafe {
            let width = conversion.width.unwrap_or(usize::MAX);
            let read = read_decimal(self.text, self.next, width).ok_or(Stop::Unknown)?;
            let Some(end) = read.end else { return Err(self.mismatch(self.next)) };
            self.next = end;
            if conversion.size > 8 {
                return Err(Stop::Unknown);
            }
            if let Some(place) = self.place(conversion) {
                let number = if conversion.size == 4 { narrowed(read.number) } else { read.number };
                store(place, number, conversion.size);
            }
            Ok(())
        }
    }

    /// Characters of a set, at least `min` and at most `max` of them.
    unsafe fn characters(
        &mut self,
        conversion: &Conversion,
        set: ByteSet,
        max: usize,
        min: usize,
    ) -> Result<(), Stop> {
        unsafe {
            let mut ends = ByteSet::EMPTY;
            if T::ENDS_WITH_ZERO {
                ends.insert(0);
            }
            let max = max.min(conversion.width.unwrap_or(usize::MAX)).min(MAX_STRING);
            let start = self.next;
            while self.next - start < max
                && let Some(c) = self.text.at(self.next)
                && branch_on(both(set.holds(c), ends.complement().holds(c)))
            {
                self.next += 1;
            }
            let count = self.next - start;
            if count < min {
                return Err(self.mismatch(self.next));
            }
            let Some(mut place) = self.place(conversion) else { return Ok(()) };
            if conversion.allocated {
                place = place.cast::<*mut u8>().read();
                crate::objects::note_allocation(place as usize, None);
            }
            for i in 0..count {
                if let Some(c) = self.text.at(start + i) {
                    store(place.add(i), c, 1);
                }
            }
            Ok(())
        }
    }
}

/// Gives memory that the library wrote its label.
unsafe fn store(place: *mut u8, number: Value, size: usize) {
    unsafe {
        if shadow::read_value(place as usize, size) == number.value {
            set_label(place, number.label, size);
        } else {
            give_up();
        }
    }
}

/// Makes what the library stored concrete.
unsafe fn clear_results(format: *const u8, mut arguments: VaList, result: c_int) {
    unsafe {
        let mut items = Items(format);
        let mut assigned = 0;
        while let Some(item) = items.next() {
            let Item::Conversion(conversion) = item else { continue };
            if conversion.suppressed || conversion.letter == b'%' {
                continue;
            }
            assigned += (conversion.letter != b'n') as c_int;
            if assigned > result {
                return;
            }
            let place = arguments.next().cast::<*mut u8>().read();
            let size = match conversion.letter {
                _ if conversion.allocated => 8,
                b's' | b'[' => real::strlen(place) + 1,
                b'c' => conversion.width.unwrap_or(1),
                b'p' => 8,
                _ => conversion.size,
            };
            shadow::clear(place as usize, size);
        }
    }
}

/// The library scanned `text` and returned `result`.
unsafe fn scanned<T: Characters>(text: &T, format: *const u8, arguments: VaList, result: c_int) {
    unsafe {
        clear_results(format, arguments, result);
        guarded(|| {
            let mut scan = Scan { text, next: 0, arguments, assigned: 0, result };
            let known = !matches!(scan.run(format), Err(Stop::Unknown));
            if !known || scan.assigned != result.max(0) {
                give_up();
            }
        });
    }
}

/// `vsscanf`
pub(super) unsafe fn string(
    real: unsafe extern "C" fn(*const u8, *const u8, *mut VaList) -> c_int,
    _: &Args,
    text: *const u8,
    format: *const u8,
    list: *mut VaList,
) -> c_int {
    unsafe {
        let arguments = *list;
        let size = if active() { real::strlen(text) } else { 0 };
        let result = real(text, format, list);
        answer(0);
        if !active() {
            return result;
        }
        if shadow::any_label(text as usize, (size + 1).min(MAX_STRING)) {
            // SAFETY: the library has just read the string.
            scanned(&InMemory::new(text), format, arguments, result);
        } else {
            clear_results(format, arguments, result);
        }
        result
    }
}

/// `vfscanf`
pub(super) unsafe fn stream(
    real: unsafe extern "C" fn(*mut Stream, *const u8, *mut VaList) -> c_int,
    _: &Args,
    stream: *mut Stream,
    format: *const u8,
    list: *mut VaList,
) -> c_int {
    unsafe {
        let arguments = *list;
        let start = input_position(stream);
        let result = real(stream, format, list);
        answer(0);
        match start {
            Some(start) => {
                scanned(&FromInput(start), format, arguments, result);
                note_position(stream);
            }
            None if active() => clear_results(format, arguments, result),
            None => {}
        }
        result
    }
}
