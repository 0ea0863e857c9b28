//! Sorting and searching with a comparison of the program's. The library would move elements
//! without their labels, so the model sorts itself, with the library's own algorithm: a merge sort
//! that calls the comparison in the same order on the same addresses. The order of two elements is
//! a branch.

use super::logic::{apply_to, branch_on};
use super::table::real;
use super::{answer, call_site, guarded};
use crate::build::Value;
use crate::calls::{self, Args};
use crate::{memory, os, shadow, state};
use core::ffi::c_int;
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
    /// The result of the comparison with its label.
    unsafe fn call(&self, a: *const u8, b: *const u8, site: u32) -> Value {
        unsafe {
            // A function that knows nothing of labels leaves this one.
            answer(0);
            let result = match *self {
                Comparison::Plain(compare) => compare(a, b),
                Comparison::With(compare, argument) => compare(a, b, argument),
            } as u32 as u64;
            calls::__tgi_call_site(site);
            Value::new(calls::__tgi_take_result(0, result), result)
        }
    }
}

/// Whether a comparison's result is `op` 0: a branch.
unsafe fn branch_on_sign(op: Op, result: Value) -> bool {
    unsafe {
        let sign = result.value as u32 as i32;
        let plain = if op == Op::Sle { sign <= 0 } else { sign < 0 };
        if result.label == 0 {
            return plain;
        }
        guarded(|| branch_on(apply_to(op, 32, result, 0))).unwrap_or(plain)
    }
}

/// Elements larger than this are sorted by their addresses first.
const MAX_DIRECT: usize = 32;
/// Memory that is taken from the stack.
const ON_STACK: usize = 1024;

/// Memory for merging.
struct Scratch {
    start: *mut u8,
    size: usize,
    mapped: bool,
}

impl Scratch {
    unsafe fn new(stack: *mut u8, size: usize) -> Option<Scratch> {
        unsafe {
            let mapped = size > ON_STACK;
            let start = if mapped { os::allocate(size).cast() } else { stack };
            (!start.is_null()).then_some(Scratch { start, size, mapped })
        }
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // SAFETY: the memory is this value's own.
        unsafe {
            shadow::clear(self.start as usize, self.size);
            if self.mapped {
                os::release(self.start.cast(), self.size);
            }
        }
    }
}

struct Merge {
    comparison: Comparison,
    site: u32,
    /// Bytes of an element.
    size: usize,
    scratch: *mut u8,
    /// The elements are pointers to what is compared.
    indirect: bool,
}

impl Merge {
    unsafe fn in_order(&self, a: *const u8, b: *const u8) -> bool {
        unsafe {
            let object = |at: *const u8| if self.indirect { at.cast::<*const u8>().read() } else { at };
            let result = self.comparison.call(object(a), object(b), self.site);
            branch_on_sign(Op::Sle, result)
        }
    }

    unsafe fn sort(&self, start: *mut u8, count: usize) {
        unsafe {
            if count <= 1 {
                return;
            }
            let (mut left, mut right) = (count / 2, count - count / 2);
            let (mut a, mut b) = (start, start.add(left * self.size));
            self.sort(a, left);
            self.sort(b, right);
            let mut to = self.scratch;
            while left > 0 && right > 0 {
                let (from, rest) =
                    if self.in_order(a, b) { (&mut a, &mut left) } else { (&mut b, &mut right) };
                memory::copy_with_labels(to, *from, self.size);
                *from = from.add(self.size);
                *rest -= 1;
                to = to.add(self.size);
            }
            memory::copy_with_labels(to, a, left * self.size);
            memory::copy_with_labels(start, self.scratch, (count - right) * self.size);
        }
    }
}

/// Sorts; false if there is no memory for it.
unsafe fn sort(base: *mut u8, count: usize, size: usize, comparison: Comparison) -> bool {
    unsafe {
        let site = call_site();
        let mut stack = [0u64; ON_STACK / 8];
        let indirect = size > MAX_DIRECT;
        let Some(bytes) = count.checked_mul(size) else { return false };
        let pointers = if indirect { count * 2 * 8 } else { 0 };
        let Some(scratch) = Scratch::new(stack.as_mut_ptr().cast(), bytes + pointers) else { return false };
        let merge = Merge { comparison, site, size, scratch: scratch.start, indirect };
        if !indirect {
            merge.sort(base, count);
            return true;
        }
        let sorted = scratch.start.add(count * 8).cast::<*mut u8>();
        for i in 0..count {
            sorted.add(i).write(base.add(i * size));
        }
        Merge { size: 8, ..merge }.sort(sorted.cast(), count);
        let copy = scratch.start.add(pointers);
        for i in 0..count {
            memory::copy_with_labels(copy.add(i * size), sorted.add(i).read(), size);
        }
        memory::copy_with_labels(base, copy, bytes);
        true
    }
}

/// `qsort`
pub(super) unsafe fn sorted(_: &Args, base: *mut u8, count: usize, size: usize, compare: Compare) {
    unsafe {
        if !state::active() || !sort(base, count, size, Comparison::Plain(compare)) {
            real::qsort(base, count, size, compare);
        }
    }
}

/// `qsort_r`
pub(super) unsafe fn sorted_with(
    _: &Args,
    base: *mut u8,
    count: usize,
    size: usize,
    compare: CompareWith,
    argument: *mut u8,
) {
    unsafe {
        if !state::active() || !sort(base, count, size, Comparison::With(compare, argument)) {
            real::qsort_r(base, count, size, compare, argument);
        }
    }
}

/// `bsearch`
pub(super) unsafe fn found(
    _: &Args,
    key: *const u8,
    base: *const u8,
    count: usize,
    size: usize,
    compare: Compare,
) -> *mut u8 {
    unsafe {
        let site = call_site();
        let (mut low, mut high) = (0, count);
        let mut found: *const u8 = core::ptr::null();
        while low < high && found.is_null() {
            let middle = (low + high) / 2;
            let here = base.add(middle * size);
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
}
