//! `scanf` of strings and of the input. The library scans first; then the model walks the same text
//! along the format: what each character was taken for is a branch, and what was stored gets the
//! expression of its characters.

use super::decimals::{narrowed, read_decimal};
use super::element::{Element, MAX_STRING};
use super::logic::*;
use super::numbers::{Characters, Format, InMemory, PLAIN, read_number};
use super::print::arguments_of;
use super::stdio::{Stream, input_position, note_position};
use super::unfollowed::fix_string;
use super::{answer, give_up, guarded, set_label};
use crate::sources::Source;
use core::ffi::c_int;
use runtime_core::build::Value;
use runtime_core::calls::{Args, VaList};
use runtime_core::memory;
use runtime_core::state::{Run, active};
use runtime_core::{objects, shadow};

/// A source from one of its bytes on.
struct FromInput(Source, u64);

impl Characters for FromInput {
    const ENDS_WITH_ZERO: bool = false;

    fn at(&self, run: &Run, index: usize) -> Option<Value> {
        let FromInput(source, start) = *self;
        let offset = start + index as u64;
        source.ask_byte(run, offset);
        (offset < source.len(run)).then(|| source.byte(run, offset))
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

/// A format, which the library has read, item by item: where its rest is.
struct Items(usize);

impl Items {
    /// A character of the rest, if all before it are there.
    fn at(&self, index: usize) -> u8 {
        memory::byte(self.0 + index)
    }

    /// The next character; `None` at the end.
    fn take(&mut self) -> Option<u8> {
        let c = self.at(0);
        if c == 0 {
            return None;
        }
        self.0 += 1;
        Some(c)
    }

    fn take_if(&mut self, wanted: u8) -> bool {
        // As in `print`: the condition is not added as a number.
        if self.at(0) != wanted {
            return false;
        }
        self.0 += 1;
        true
    }

    fn conversion(&mut self) -> Option<Conversion> {
        let suppressed = self.take_if(b'*');
        let mut width = None;
        while self.at(0).is_ascii_digit() {
            let digit = self.take().map_or(0, |c| usize::from(c - b'0'));
            width = Some(width.unwrap_or(0usize).saturating_mul(10).saturating_add(digit));
        }
        let allocated = self.take_if(b'm');
        let size = self.size();
        let letter = self.take()?;
        let set = if letter == b'[' { self.set()? } else { ByteSet::EMPTY };
        Some(Conversion { suppressed, allocated, width, size, letter, set })
    }

    /// The length modifier as a size in bytes; 16 for `long double`.
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

    /// `^? ]? ... ]`, in which `a-z` is a range.
    fn set(&mut self) -> Option<ByteSet> {
        let excluded = self.take_if(b'^');
        let mut set = ByteSet::EMPTY;
        let mut first = true;
        while first || self.at(0) != b']' {
            let c = self.take()?;
            let is_range = self.at(0) == b'-' && !matches!(self.at(1), 0 | b']');
            if is_range && self.at(1) >= c {
                set.insert_range(c, self.at(1));
                self.0 += 2;
            } else {
                set.insert(c);
            }
            first = false;
        }
        self.0 += 1;
        Some(if excluded { set.complement() } else { set })
    }
}

impl Iterator for Items {
    type Item = Item;

    fn next(&mut self) -> Option<Item> {
        match self.take()? {
            b' ' | b'\t'..=b'\r' => Some(Item::Space),
            b'%' => self.conversion().map(Item::Conversion),
            other => Some(Item::Literal(other)),
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
    fn walk(&mut self, run: &Run, items: Items) -> Result<(), Stop> {
        for item in items {
            match item {
                Item::Space => self.skip_space(run),
                Item::Literal(c) => self.literal(run, c)?,
                Item::Conversion(conversion) => self.convert(run, &conversion)?,
            }
        }
        Ok(())
    }

    fn skip_space(&mut self, run: &Run) {
        while self.next < MAX_STRING
            && let Some(c) = self.text.at(run, self.next)
            && branch_on(run, is_space(run, c))
        {
            self.next += 1;
        }
    }

    /// The text does not match here; whether it ended decides what the library returns.
    fn mismatch(&self, run: &Run, at: usize) -> Stop {
        if T::ENDS_WITH_ZERO
            && let Some(c) = self.text.at(run, at)
        {
            branch_on(run, is(run, c, 0));
        }
        Stop::Mismatch
    }

    fn literal(&mut self, run: &Run, wanted: u8) -> Result<(), Stop> {
        let c = self.text.at(run, self.next).ok_or(Stop::Mismatch)?;
        if !branch_on(run, is(run, c, wanted)) {
            return Err(self.mismatch(run, self.next));
        }
        self.next += 1;
        Ok(())
    }

    fn convert(&mut self, run: &Run, conversion: &Conversion) -> Result<(), Stop> {
        if !matches!(conversion.letter, b'c' | b'[' | b'n' | b'C') {
            self.skip_space(run);
        }
        let wide = conversion.size == 8;
        match conversion.letter {
            b'%' => self.literal(run, b'%'),
            b'n' => self.position(conversion),
            b'd' => self.integer(run, conversion, 10, true),
            b'i' => self.integer(run, conversion, 0, true),
            b'u' => self.integer(run, conversion, 10, false),
            b'x' | b'X' => self.integer(run, conversion, 16, false),
            b'o' => self.integer(run, conversion, 8, false),
            b'f' | b'F' | b'e' | b'E' | b'g' | b'G' => self.decimal(run, conversion),
            b's' if !wide => {
                let mut stops = ByteSet::EMPTY;
                stops.insert(b' ');
                stops.insert_range(b'\t', b'\r');
                self.characters(run, conversion, stops.complement(), usize::MAX, 1)
            }
            b'[' if !wide => self.characters(run, conversion, conversion.set, usize::MAX, 1),
            b'c' if !wide => {
                let count = conversion.width.unwrap_or(1);
                self.characters(run, conversion, ByteSet::EMPTY.complement(), count, count)
            }
            _ => Err(Stop::Unknown),
        }
    }

    /// Where the next result goes; `None` if it goes nowhere.
    fn place(&mut self, conversion: &Conversion) -> Option<usize> {
        if conversion.suppressed {
            return None;
        }
        let place = next_pointer(&mut self.arguments);
        if conversion.letter != b'n' {
            self.assigned += 1;
        }
        (self.assigned <= self.result).then_some(place)
    }

    fn position(&mut self, conversion: &Conversion) -> Result<(), Stop> {
        if !conversion.suppressed {
            shadow::clear(next_pointer(&mut self.arguments), conversion.size);
        }
        Ok(())
    }

    fn integer(
        &mut self,
        run: &Run,
        conversion: &Conversion,
        base: u32,
        signed: bool,
    ) -> Result<(), Stop> {
        let width = conversion.width.unwrap_or(usize::MAX);
        let format = Format { base, signed, width, keeps_prefix: true, ..PLAIN };
        let parsed = read_number(run, self.text, self.next, &format);
        let Some(end) = parsed.end else { return Err(self.mismatch(run, self.next)) };
        self.next = end;
        if let Some(place) = self.place(conversion) {
            let number = truncated(run, conversion.size as u32 * 8, parsed.number);
            store(run, place, number, conversion.size);
        }
        Ok(())
    }

    fn decimal(&mut self, run: &Run, conversion: &Conversion) -> Result<(), Stop> {
        let width = conversion.width.unwrap_or(usize::MAX);
        let read = read_decimal(run, self.text, self.next, width).ok_or(Stop::Unknown)?;
        let Some(end) = read.end else { return Err(self.mismatch(run, self.next)) };
        self.next = end;
        if conversion.size > 8 {
            return Err(Stop::Unknown);
        }
        if let Some(place) = self.place(conversion) {
            let number =
                if conversion.size == 4 { narrowed(run, read.number) } else { read.number };
            store(run, place, number, conversion.size);
        }
        Ok(())
    }

    /// Characters of a set, at least `min` and at most `max` of them.
    fn characters(
        &mut self,
        run: &Run,
        conversion: &Conversion,
        set: ByteSet,
        max: usize,
        min: usize,
    ) -> Result<(), Stop> {
        let mut ends = ByteSet::EMPTY;
        if T::ENDS_WITH_ZERO {
            ends.insert(0);
        }
        let max = max.min(conversion.width.unwrap_or(usize::MAX)).min(MAX_STRING);
        let start = self.next;
        while self.next - start < max
            && let Some(c) = self.text.at(run, self.next)
            && branch_on(run, both(run, set.holds(run, c), ends.complement().holds(run, c)))
        {
            self.next += 1;
        }
        let count = self.next - start;
        if count < min {
            return Err(self.mismatch(run, self.next));
        }
        let Some(mut place) = self.place(conversion) else { return Ok(()) };
        if conversion.allocated {
            place = shadow::read_value(place, 8) as usize;
            objects::note_allocation(run, place, None);
        }
        for i in 0..count {
            if let Some(c) = self.text.at(run, start + i) {
                store(run, place + i, c, 1);
            }
        }
        Ok(())
    }
}

/// The next argument, a pointer.
fn next_pointer(arguments: &mut VaList) -> usize {
    shadow::read_value(arguments.next_word() as usize, 8) as usize
}

/// Gives memory that the library wrote its label.
fn store(run: &Run, place: usize, number: Value, size: usize) {
    if shadow::read_value(place, size) == number.value {
        set_label(run, place as *const u8, number.label, size);
    } else {
        give_up(run);
    }
}

/// Makes what the library stored concrete.
fn clear_results(format: *const u8, mut arguments: VaList, result: c_int) {
    let mut assigned = 0;
    for item in Items(format as usize) {
        let Item::Conversion(conversion) = item else { continue };
        if conversion.suppressed || conversion.letter == b'%' {
            continue;
        }
        assigned += (conversion.letter != b'n') as c_int;
        if assigned > result {
            return;
        }
        let place = next_pointer(&mut arguments);
        let size = match conversion.letter {
            _ if conversion.allocated => 8,
            b's' | b'[' => u8::length(place as *const u8) + 1,
            b'c' => conversion.width.unwrap_or(1),
            b'p' => 8,
            _ => conversion.size,
        };
        shadow::clear(place, size);
    }
}

/// The library scanned `text` and returned `result`.
fn scanned<T: Characters>(text: &T, format: *const u8, arguments: VaList, result: c_int) {
    clear_results(format, arguments, result);
    guarded(|run| {
        let mut scan = Scan { text, next: 0, arguments, assigned: 0, result };
        let known = !matches!(scan.walk(run, Items(format as usize)), Err(Stop::Unknown));
        if !known || scan.assigned != result.max(0) {
            give_up(run);
        }
    });
}

/// `vsscanf`
pub(super) fn string(
    run: &Run,
    real: unsafe extern "C" fn(*const u8, *const u8, *mut VaList) -> c_int,
    _: &Args,
    text: *const u8,
    format: *const u8,
    list: *mut VaList,
) -> c_int {
    let arguments = arguments_of(list);
    let size = if active(run) { u8::length(text) } else { 0 };
    fix_string(run, format);
    // SAFETY: the program's own call.
    let result = unsafe { real(text, format, list) };
    answer(0);
    if !active(run) {
        return result;
    }
    if shadow::any_label(text as usize, (size + 1).min(MAX_STRING)) {
        // The library has just read the string.
        scanned(&InMemory::new(text), format, arguments, result);
    } else {
        clear_results(format, arguments, result);
    }
    result
}

/// `vfscanf`
pub(super) fn stream(
    run: &Run,
    real: unsafe extern "C" fn(*mut Stream, *const u8, *mut VaList) -> c_int,
    _: &Args,
    stream: *mut Stream,
    format: *const u8,
    list: *mut VaList,
) -> c_int {
    let arguments = arguments_of(list);
    let from = input_position(run, stream);
    fix_string(run, format);
    // SAFETY: the program's own call.
    let result = unsafe { real(stream, format, list) };
    answer(0);
    match from {
        Some((source, start)) => {
            scanned(&FromInput(source, start), format, arguments, result);
            note_position(source, stream);
        }
        None if active(run) => clear_results(format, arguments, result),
        None => {}
    }
    result
}
