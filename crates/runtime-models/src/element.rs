//! Elements of strings and memory, bytes or wide characters, as kernels see them: values with
//! labels. Kernels are written once, for both widths.

use super::logic::{FALSE, apply, apply_to};
use super::table::real;
use core::ffi::c_int;
use core::marker::PhantomData;
use runtime_core::build::Value;
use runtime_core::repetitions::{self, Passed};
use runtime_core::state::Run;
use runtime_core::texts::Bytes;
use runtime_core::{shadow, state};
use trace::{Label, Op};

/// More elements than this are not put into one expression.
pub(super) const MAX_STRING: usize = 4096;
const PAGE: usize = 4096;

/// A byte or a wide character.
pub(super) trait Element: Copy + PartialEq + 'static {
    const SIZE: usize;
    const BITS: u32;
    /// How the library orders elements.
    const LESS: Op;
    const ZERO: Self;
    /// An argument that is an element, as the library takes it.
    fn of_argument(c: c_int) -> Self;
    fn value(self) -> u64;
    /// The library's `strlen`, of a string that the program has passed to it.
    fn length(text: *const Self) -> usize;
    /// The library's `strnlen`, likewise.
    fn length_within(text: *const Self, limit: usize) -> usize;
    /// The current locale gives a case to ASCII letters only.
    fn only_ascii_has_case() -> bool;
    /// The elements as bytes. The solver's texts, repetitions and words consist of bytes, so what
    /// kernels do with these is for bytes only.
    fn as_bytes(elements: Elements<Self>) -> Option<Bytes>;
}

impl Element for u8 {
    const SIZE: usize = 1;
    const BITS: u32 = 8;
    const LESS: Op = Op::Ult;
    const ZERO: u8 = 0;

    fn of_argument(c: c_int) -> u8 {
        c as u8
    }

    fn value(self) -> u64 {
        self.into()
    }

    fn length(text: *const u8) -> usize {
        // SAFETY: a string of the program's.
        unsafe { real::strlen(text) }
    }

    fn length_within(text: *const u8, limit: usize) -> usize {
        // SAFETY: a string of the program's.
        unsafe { real::strnlen(text, limit) }
    }

    fn only_ascii_has_case() -> bool {
        // SAFETY: the table has entries for -128 to 255.
        unsafe {
            let table = *real::__ctype_tolower_loc();
            (0..256).all(|c| *table.add(c) == (c as u8).to_ascii_lowercase() as i32)
        }
    }

    #[inline(always)]
    fn as_bytes(elements: Elements<u8>) -> Option<Bytes> {
        Some(Bytes { start: elements.start, size: elements.count })
    }
}

impl Element for i32 {
    const SIZE: usize = 4;
    const BITS: u32 = 32;
    const LESS: Op = Op::Slt;
    const ZERO: i32 = 0;

    fn of_argument(c: c_int) -> i32 {
        c
    }

    fn value(self) -> u64 {
        self as u32 as u64
    }

    fn length(text: *const i32) -> usize {
        // SAFETY: a string of the program's.
        unsafe { real::wcslen(text) }
    }

    fn length_within(text: *const i32, limit: usize) -> usize {
        // SAFETY: a string of the program's.
        unsafe { real::wcsnlen(text, limit) }
    }

    fn only_ascii_has_case() -> bool {
        locale::is_c(locale::CHARACTERS)
    }

    #[inline(always)]
    fn as_bytes(_: Elements<i32>) -> Option<Bytes> {
        None
    }
}

/// What the program's locale says.
pub(super) mod locale {
    use core::ffi::{c_char, c_int};

    unsafe extern "C" {
        fn setlocale(category: c_int, name: *const c_char) -> *const c_char;
    }

    pub const CHARACTERS: c_int = 0;
    pub const ORDER: c_int = 3;

    /// The locale of this category is `C` or `POSIX`.
    pub fn is_c(category: c_int) -> bool {
        starts_with(category, b"C\0") || starts_with(category, b"POSIX\0")
    }

    /// The same, or `C.` with an encoding: there, too, characters have the order of their codes.
    pub fn is_plain(category: c_int) -> bool {
        is_c(category) || starts_with(category, b"C.")
    }

    /// The locale's name, its end included.
    fn starts_with(category: c_int, text: &[u8]) -> bool {
        // SAFETY: asking for the name changes nothing; a name ends with 0, so no byte after that
        // is looked at.
        unsafe {
            let name = setlocale(category, core::ptr::null()).cast::<u8>();
            !name.is_null() && (0..text.len()).all(|i| text.get(i) == Some(&*name.add(i)))
        }
    }
}

/// Elements in memory that can be read.
#[derive(Clone, Copy)]
pub(super) struct Elements<E> {
    start: usize,
    pub count: usize,
    kind: PhantomData<E>,
}

impl<E: Element> Elements<E> {
    /// The memory holds `count` elements that stay as they are while the value is used: as a rule,
    /// because the library has just read or written them.
    #[inline(always)]
    pub fn new(start: *const E, count: usize) -> Elements<E> {
        Elements { start: start as usize, count, kind: PhantomData }
    }

    #[inline(always)]
    pub fn address(&self) -> usize {
        self.start
    }

    /// The first `count` of them.
    #[inline(always)]
    pub fn first(self, count: usize) -> Elements<E> {
        Elements { count: count.min(self.count), ..self }
    }

    /// An element without its label; 0 after the end.
    #[inline(always)]
    pub fn get(&self, i: usize) -> E {
        if i >= self.count {
            return E::ZERO;
        }
        // SAFETY: there are that many elements, as `new` was promised; wide ones need not be
        // aligned.
        unsafe { (self.start as *const E).add(i).read_unaligned() }
    }

    /// An element with its label, the guard held; 0 after the end.
    #[inline(always)]
    pub fn at(&self, run: &Run, i: usize) -> Value {
        if i >= self.count {
            return FALSE;
        }
        let at = self.address() + i * E::SIZE;
        let value = self.get(i).value();
        let label = match E::SIZE {
            1 => shadow::label_of_byte(run, at),
            size => shadow::loaded(run, at, size, value),
        };
        Value::new(label, value)
    }

    /// Whether an element has a label.
    #[inline(always)]
    pub fn is_symbolic(&self) -> bool {
        shadow::any_label(self.address(), self.count.saturating_mul(E::SIZE))
    }

    pub fn bytes(self) -> Option<Bytes> {
        E::as_bytes(self)
    }

    /// Where they hold the whole repetition of the input, the guard held.
    pub fn passed(self, run: &Run) -> Passed {
        let passed = |bytes: Bytes| repetitions::passed(run, bytes.start, bytes.size);
        self.bytes().map_or(Passed::NONE, passed)
    }
}

/// The bytes of so many elements.
pub(super) fn byte_size<E: Element>(run: &Run, count: Value) -> Value {
    if E::SIZE == 1 { count } else { apply_to(run, Op::Mul, 64, count, E::SIZE as u64) }
}

/// `a == b`
pub(super) fn equal<E: Element>(run: &Run, a: Value, b: Value) -> Value {
    apply(run, Op::Eq, E::BITS, a, b)
}

/// `element == 0`
pub(super) fn is_zero<E: Element>(run: &Run, element: Value) -> Value {
    apply_to(run, Op::Eq, E::BITS, element, 0)
}

/// An argument that is an element, with its label.
pub(super) fn wanted<E: Element>(run: &Run, c: c_int, label: Label) -> Value {
    let value = Value::new(label, c as u32 as u64);
    if E::BITS == 32 { value } else { super::logic::truncated(run, E::BITS, value) }
}

/// A string, as far as it reaches on some input: up to its first 0 that is concrete.
#[derive(Clone, Copy)]
pub(super) struct Extent<E> {
    /// Those before the end.
    pub elements: Elements<E>,
    /// The end is a concrete 0 or the limit. Otherwise it is where the string ends on this run.
    pub closed: bool,
}

impl<E: Element> Extent<E> {
    /// A string of which at most `limit` elements count and which has `length` on this run. The
    /// library has just read that much. Nothing after it is looked at but what is surely mapped.
    pub fn of(start: *const E, length: usize, limit: usize) -> Extent<E> {
        let mut count = length;
        while count < limit && count <= MAX_STRING {
            let here = Elements::new(start.wrapping_add(count), 1);
            if !here.is_symbolic() {
                if !is_readable(&here, count, length) {
                    break;
                }
                if here.get(0) == E::ZERO {
                    return Extent { elements: Elements::new(start, count), closed: true };
                }
            }
            count += 1;
        }
        let closed = count == limit;
        let count = if closed { limit } else { length };
        Extent { elements: Elements::new(start, count), closed }
    }

    /// A string without a limit; nothing of it is looked at in runs in which nothing is symbolic.
    pub fn of_string(run: &Run, start: *const E) -> Extent<E> {
        if !state::active(run) {
            return Extent { elements: Elements::new(start, 0), closed: true };
        }
        Extent::of(start, E::length(start), usize::MAX)
    }

    /// The element at the end, if that is where it is on this run only.
    pub fn open_end(&self, run: &Run) -> Option<Value> {
        let with_end = Elements { count: self.elements.count + 1, ..self.elements };
        (!self.closed).then(|| with_end.at(run, self.elements.count))
    }
}

/// Memory after what the library read is there if it shares a page with that.
fn is_readable<E: Element>(here: &Elements<E>, index: usize, length: usize) -> bool {
    index <= length || !enters_page::<E>(here.address())
}

/// An element at this address is the first with bytes of its page.
fn enters_page<E: Element>(at: usize) -> bool {
    (at + E::SIZE - 1) % PAGE < E::SIZE
}

/// How many of `limit` elements are surely mapped, of which the library read `seen`: those that
/// have labels, and those that share a page with others.
pub(super) fn mapped_within<E: Element>(start: *const E, seen: usize, limit: usize) -> usize {
    let is_mapped = |i: &usize| {
        let at = start as usize + i * E::SIZE;
        !enters_page::<E>(at) || shadow::any_label(at, E::SIZE)
    };
    (seen..limit.min(MAX_STRING)).find(|i| !is_mapped(i)).unwrap_or(limit.min(MAX_STRING).max(seen))
}
