//! Sorting and searching with a comparison of the program's. The library would move elements
//! without their labels, so the model sorts itself, with the library's own algorithm: a merge sort
//! that calls the comparison in the same order on the same addresses. The order of two elements is
//! a branch.

use super::logic::{apply_to, branch_on};
use super::table::real;
use super::{answer, call_site, guarded};
use crate::outside::crossings;
use core::ffi::c_int;
use core::ptr::null;
use runtime_core::build::Value;
use runtime_core::calls::{self, Args};
use runtime_core::state::Run;
use runtime_core::{memory, os, shadow, state};
use trace::Op;

pub type Compare = unsafe extern "C" fn(*const u8, *const u8) -> c_int;
pub type CompareWith = unsafe extern "C" fn(*const u8, *const u8, *mut u8) -> c_int;

/// The program's comparison.
#[derive(Clone, Copy)]
enum Comparison {
    Plain(Compare),
    With(CompareWith, *mut u8),
}

impl Comparison {
    /// The comparison may be a function that is not followed. Returns whether it is.
    fn watch(&self, a: *const u8, b: *const u8, site: u32) -> u32 {
        let (compare, argument) = match *self {
            Comparison::Plain(compare) => (compare as usize, null()),
            Comparison::With(compare, argument) => (compare as usize, argument.cast_const()),
        };
        let followed = crossings::__tgi_through_pointer(compare, 0, site);
        for pointer in [a, b, argument] {
            crossings::__tgi_lend_through_pointer(followed, pointer as usize, 0, site);
        }
        followed
    }

    /// The result of the comparison with its label.
    fn call(&self, a: *const u8, b: *const u8, site: u32) -> Value {
        // A function that knows nothing of labels leaves this one.
        answer(0);
        let followed = self.watch(a, b, site);
        // SAFETY: the program's function takes two of its elements, as the library would pass them.
        let result = unsafe {
            match *self {
                Comparison::Plain(compare) => compare(a, b),
                Comparison::With(compare, argument) => compare(a, b, argument),
            }
        } as u32 as u64;
        crossings::__tgi_from_pointer(followed);
        calls::__tgi_call_site(site);
        Value::new(calls::__tgi_take_result(0, result), result)
    }
}

/// Whether a comparison's result is `op` 0: a branch.
fn branch_on_sign(op: Op, result: Value) -> bool {
    let sign = result.value as u32 as i32;
    let plain = if op == Op::Sle { sign <= 0 } else { sign < 0 };
    if result.label == 0 {
        return plain;
    }
    guarded(|run| branch_on(run, apply_to(run, op, 32, result, 0))).unwrap_or(plain)
}

/// Elements larger than this are sorted by their addresses first.
const MAX_DIRECT: usize = 32;
/// Memory that is taken from the stack.
const ON_STACK: usize = 1024;

/// Memory for merging.
struct Scratch {
    start: *mut u8,
    size: usize,
    is_mapped: bool,
}

impl Scratch {
    /// So many bytes: those of the frame if they are enough; `None` if there is no memory.
    fn new(frame: &mut [u64; ON_STACK / 8], size: usize) -> Option<Scratch> {
        let is_mapped = size > ON_STACK;
        let start =
            if is_mapped { os::allocate(size).cast() } else { frame.as_mut_ptr().cast::<u8>() };
        (!start.is_null()).then_some(Scratch { start, size, is_mapped })
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        shadow::clear(self.start as usize, self.size);
        if self.is_mapped {
            // SAFETY: the memory is this value's own, and nobody uses it any more.
            unsafe { os::release(self.start.cast(), self.size) };
        }
    }
}

struct Merge<'a> {
    run: &'a Run,
    comparison: Comparison,
    site: u32,
    /// Bytes of an element.
    size: usize,
    /// Room for all elements.
    scratch: *mut u8,
    /// The elements are pointers to what is compared.
    indirect: bool,
}

impl Merge<'_> {
    /// What is compared of an element.
    fn object(&self, element: *const u8) -> *const u8 {
        if !self.indirect {
            return element;
        }
        // SAFETY: the elements are pointers, in memory that is aligned for them.
        unsafe { element.cast::<*const u8>().read() }
    }

    fn in_order(&self, a: *const u8, b: *const u8) -> bool {
        let result = self.comparison.call(self.object(a), self.object(b), self.site);
        branch_on_sign(Op::Sle, result)
    }

    /// Copies so many elements.
    fn copy(&self, to: *mut u8, from: *const u8, count: usize) {
        // SAFETY: the program's array and the scratch memory have room for all elements.
        unsafe { memory::copy_with_labels(self.run, to, from, count * self.size) };
    }

    /// Sorts the elements at `start`.
    fn sort(&self, start: *mut u8, count: usize) {
        if count <= 1 {
            return;
        }
        let (mut left, mut right) = (count / 2, count - count / 2);
        let (mut a, mut b) = (start, start.wrapping_add(left * self.size));
        self.sort(a, left);
        self.sort(b, right);
        let mut to = self.scratch;
        while left > 0 && right > 0 {
            let (from, rest) =
                if self.in_order(a, b) { (&mut a, &mut left) } else { (&mut b, &mut right) };
            self.copy(to, *from, 1);
            *from = from.wrapping_add(self.size);
            *rest -= 1;
            to = to.wrapping_add(self.size);
        }
        self.copy(to, a, left);
        self.copy(start, self.scratch, count - right);
    }

    /// Sorts the elements at `base` by their addresses, which `pointers` has room for, and moves
    /// them then.
    fn sort_by_address(&self, base: *mut u8, count: usize, pointers: *mut *mut u8, copy: *mut u8) {
        for i in 0..count {
            // SAFETY: there is room for so many.
            unsafe { pointers.add(i).write(base.wrapping_add(i * self.size)) };
        }
        Merge { size: POINTER, indirect: true, ..*self }.sort(pointers.cast(), count);
        for i in 0..count {
            // SAFETY: so many were written.
            let from = unsafe { pointers.add(i).read() };
            self.copy(copy.wrapping_add(i * self.size), from, 1);
        }
        self.copy(base, copy, count);
    }
}

/// Bytes of a pointer.
const POINTER: usize = size_of::<*mut u8>();

/// Sorts; false if there is no memory for it.
fn sort(run: &Run, base: *mut u8, count: usize, size: usize, comparison: Comparison) -> bool {
    let site = call_site();
    let mut frame = [0u64; ON_STACK / 8];
    let is_direct = size <= MAX_DIRECT;
    let Some(bytes) = count.checked_mul(size) else { return false };
    // Two pointers for each element, that one is for merging.
    let pointers = if is_direct { 0 } else { count * 2 * POINTER };
    let Some(scratch) = Scratch::new(&mut frame, bytes + pointers) else { return false };
    let start = scratch.start;
    let merge = Merge { run, comparison, site, size, scratch: start, indirect: false };
    if is_direct {
        merge.sort(base, count);
    } else {
        let sorted = start.wrapping_add(count * POINTER).cast();
        merge.sort_by_address(base, count, sorted, start.wrapping_add(pointers));
    }
    true
}

/// `qsort`
pub(super) fn sorted(
    run: &Run,
    _: &Args,
    base: *mut u8,
    count: usize,
    size: usize,
    compare: Compare,
) {
    if !state::active(run) || !sort(run, base, count, size, Comparison::Plain(compare)) {
        // SAFETY: the program's own call.
        unsafe { real::qsort(base, count, size, compare) };
    }
}

/// `qsort_r`
pub(super) fn sorted_with(
    run: &Run,
    _: &Args,
    base: *mut u8,
    count: usize,
    size: usize,
    compare: CompareWith,
    argument: *mut u8,
) {
    if !state::active(run) || !sort(run, base, count, size, Comparison::With(compare, argument)) {
        // SAFETY: the program's own call.
        unsafe { real::qsort_r(base, count, size, compare, argument) };
    }
}

/// `bsearch`
pub(super) fn found(
    _: &Run,
    _: &Args,
    key: *const u8,
    base: *const u8,
    count: usize,
    size: usize,
    compare: Compare,
) -> *mut u8 {
    let site = call_site();
    let (mut low, mut high) = (0, count);
    let mut found: *const u8 = core::ptr::null();
    while low < high && found.is_null() {
        let middle = (low + high) / 2;
        let here = base.wrapping_add(middle * size);
        let result = Comparison::Plain(compare).call(key, here, site);
        if branch_on_sign(Op::Slt, result) {
            high = middle;
        } else if branch_on_sign(Op::Sle, result) {
            found = here;
        } else {
            low = middle + 1;
        }
    }
    answer(0);
    found.cast_mut()
}
