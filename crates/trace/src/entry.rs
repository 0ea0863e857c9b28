//! The functions of the runtime that instrumented code calls: one table for both sides.
//!
//! [`for_each_entry`](crate::for_each_entry) hands the table to a macro. With it the runtime checks
//! when it is compiled that its functions have these types, and the instrumenter makes the
//! constants through which it calls them. A name that only one side has does not compile.
//!
//! Functions named `__tgi_*` are always inlined, those named `__tg_*` never.

/// The types that the table names.
pub mod types {
    pub use crate::descriptor::{Global, PureRegion, VaList};
    pub use crate::node::Label;
    pub use crate::slots::VARARGS;
    pub use core::ffi::{c_char, c_int};
}

/// How an argument or a result is passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    I32,
    I64,
    I128,
    Pointer,
}

impl Type {
    /// `None` for no type at all, as the result of a function that has none.
    pub const fn of_result(types: &[Type]) -> Option<Type> {
        match types {
            [ty] => Some(*ty),
            _ => None,
        }
    }
}

/// A type that arguments and results have.
pub trait Passed {
    const TYPE: Type;
}

macro_rules! passed {
    ($($ty:ty: $passed:ident),*) => {
        $(impl Passed for $ty { const TYPE: Type = Type::$passed; })*
    };
}

passed!(u32: I32, i32: I32, u64: I64, i64: I64, usize: I64, u128: I128);

impl<T> Passed for *const T {
    const TYPE: Type = Type::Pointer;
}

impl<T> Passed for *mut T {
    const TYPE: Type = Type::Pointer;
}

impl<T> Passed for &T {
    const TYPE: Type = Type::Pointer;
}

/// A function of the runtime with `N` parameters.
#[derive(Clone, Copy, Debug)]
pub struct Entry<const N: usize> {
    pub name: &'static str,
    pub parameters: [Type; N],
    pub result: Option<Type>,
}

/// A row of the table, whatever the number of its parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Signature {
    pub name: &'static str,
    pub parameters: &'static [Type],
    pub result: Option<Type>,
}

macro_rules! signatures {
    ($($name:ident($($parameter:ident: $ty:ty),*) $(-> $result:ty)?;)*) => {
        /// The whole table.
        pub const SIGNATURES: &[Signature] = &[$(Signature {
            name: stringify!($name),
            parameters: &[$(<$ty as Passed>::TYPE),*],
            result: Type::of_result(&[$(<$result as Passed>::TYPE)?]),
        }),*];
    };
}

use types::*;
crate::for_each_entry!(signatures);

/// Gives the rows `name(parameter: type, ...) -> result;` to the macro of this name. They use the
/// names of [`types`](crate::entry::types).
#[macro_export]
macro_rules! for_each_entry {
    ($macro:ident) => {
        $macro! {
            // Start and words of the program.
            __tg_start(
                coverage: *mut u8, coverage_len: usize, globals: *mut Global, count: usize,
                deferred: u32
            );
            __tg_keep_coverage(coverage: *const u8, len: usize) -> *mut u8;
            __tg_add_coverage(coverage: *mut u8, len: usize, copy: *const u8);
            __tg_words(count: c_int, arguments: *mut *mut u8);
            __tg_argument_count() -> c_int;
            __tg_arguments() -> *mut *mut c_char;
            __tgi_is_concrete() -> u32;

            // Labels of memory.
            __tgi_load1(address: usize, value: u64) -> Label;
            __tgi_load2(address: usize, value: u64) -> Label;
            __tgi_load4(address: usize, value: u64) -> Label;
            __tgi_load8(address: usize, value: u64) -> Label;
            __tg_load_sized(address: usize, value: u64, size: usize) -> Label;
            __tg_untracked_load(address: usize, size: usize, reason: u32);
            __tgi_store1(address: usize, label: Label);
            __tgi_store2(address: usize, label: Label);
            __tgi_store4(address: usize, label: Label);
            __tgi_store8(address: usize, label: Label);
            __tg_store_sized(address: usize, label: Label, size: usize);
            __tgi_clear(address: usize, size: usize);
            __tg_copy(to: usize, from: usize, size: usize, lt: Label, lf: Label, ls: Label);
            __tg_fill(to: usize, size: usize, label: Label, lt: Label, ls: Label);
            __tg_assembly(address: usize, size: usize, site: u32);

            // Symbolic addresses.
            __tg_load_at(
                address: usize, la: Label, value: u64, size: usize, start: usize,
                object_size: usize, site: u32
            ) -> Label;
            __tg_store_at(
                address: usize, la: Label, label: Label, value: u64, size: usize, start: usize,
                object_size: usize, site: u32
            );
            __tg_member(count: u64, label: Label, index: u64, site: u32);
            __tg_follow(address: usize, la: Label, site: u32);

            // Objects.
            __tgi_enter_frame() -> u32;
            __tgi_stack_array(start: usize, size: usize);
            __tgi_leave_frame(length: u32);
            __tg_new(label: Label, size: usize, site: u32);
            __tg_created(object: usize, size: usize);
            __tg_deleted(object: usize);

            // Expressions.
            __tg_binary(op: u32, bits: u32, la: Label, lb: Label, a: u64, b: u64) -> Label;
            __tg_unary(op: u32, bits: u32, label: Label, value: u64) -> Label;
            __tg_cast(op: u32, from: u32, to: u32, label: Label, value: u64) -> Label;
            __tg_select(
                bits: u32, lc: Label, ly: Label, ln: Label, condition: u64, yes: u64, no: u64
            ) -> Label;
            __tg_binary_wide(
                op: u32, bits: u32, la: Label, lb: Label, a: u128, b: u128, result: u64
            ) -> Label;
            __tg_cast_wide(op: u32, to: u32, label: Label, result: u64) -> Label;
            __tg_select_wide(
                bits: u32, lc: Label, ly: Label, ln: Label, condition: u64, yes: u128, no: u128
            ) -> Label;
            __tg_index(lb: Label, li: Label, base: u64, index: u64, scale: u64) -> Label;
            __tg_float(
                op: u32, bits: u32, la: Label, lb: Label, a: u64, b: u64, result: u64
            ) -> Label;
            __tg_float_unary(op: u32, to: u32, label: Label, result: u64) -> Label;

            // Regions that are looked up.
            __tg_lookup1(region: &PureRegion, la: Label, a: u64, taken: u32) -> u128;
            __tg_lookup2(
                region: &PureRegion, la: Label, a: u64, lb: Label, b: u64, taken: u32
            ) -> u128;
            __tg_lookup3(
                region: &PureRegion, la: Label, a: u64, lb: Label, b: u64, lc: Label, c: u64,
                taken: u32
            ) -> u128;
            __tg_note(
                region: &PureRegion, la: Label, a: u64, lb: Label, b: u64, lc: Label, c: u64,
                labels: u128
            ) -> u128;
            __tg_lookup_branch(region: &PureRegion, label: Label, value: u64, taken: u32) -> u32;
            __tg_lookup_switch(
                region: &PureRegion, label: Label, value: u64, cases: *const u64, count: u32
            ) -> u32;
            __tg_lookup_load1(region: &PureRegion, la: Label, a: u64, address: usize) -> u64;
            __tg_lookup_load2(
                region: &PureRegion, la: Label, a: u64, lb: Label, b: u64, address: usize
            ) -> u64;

            // Events.
            __tg_branch(label: Label, taken: u32, site: u32);
            __tg_switch(
                label: Label, value: u64, bits: u32, cases: *const u64, count: u32, site: u32
            );
            __tg_concretise(label: Label, reason: u32, site: u32);
            __tg_give_up(labels: Label, reason: u32, site: u32, arg: u32);

            // Checks.
            __tg_division(
                la: Label, lb: Label, a: u64, b: u64, bits: u32, signed: u32, site: u32
            );
            __tg_signed(op: u32, bits: u32, la: Label, lb: Label, a: u64, b: u64, site: u32);
            __tg_shift(bits: u32, label: Label, amount: u64, site: u32);
            __tg_format(format: *const u8, site: u32);

            // Calls.
            __tgi_args_in_flight() -> u32;
            __tgi_send_arg(slot: u32, label: Label);
            __tg_take_arg(slot: u32, value: u64) -> Label;
            __tgi_args_taken();
            __tgi_send_result(slot: u32, label: Label);
            __tgi_take_result(slot: u32, value: u64) -> Label;
            __tg_send_struct(slot: u32, from: usize);
            __tg_take_struct(slot: u32, to: usize, size: usize);
            __tgi_call_site(site: u32);
            __tg_send_vararg(offset: u32, label: Label);
            __tg_take_varargs(into: *mut [Label; VARARGS]);
            __tg_va_start(list: *const VaList, labels: *const [Label; VARARGS]);

            // Code that is not instrumented.
            __tgi_outside(function: u32, site: u32);
            __tg_outside(function: u32, site: u32, border: usize);
            __tg_back(function: u32);
            __tg_caught();
            __tg_ends();
            __tg_child(function: u32, site: u32);
            __tg_opened(fd: c_int);
            __tg_buffered(stream: usize, buffer: usize);
            __tg_output(function: u32, to: usize, kind: u32, site: u32);
            __tgi_printed_result(
                label: Label, argument: u64, result: u64, kind: u32, function: u32, site: u32
            ) -> Label;
            __tg_printed(label: Label);
            __tg_stores_count(format: *const u8) -> u32;
            __tg_lend(function: u32, pointer: usize, size: usize, way: u32, site: u32);
            __tg_foreign(function: u32, address: usize, site: u32);
            __tgi_through_pointer(address: usize, labels: Label, site: u32) -> u32;
            __tg_through_pointer(address: usize, labels: Label, site: u32, border: usize);
            __tgi_lend_through_pointer(followed: u32, pointer: usize, size: usize, site: u32);
            __tgi_from_pointer(followed: u32);
            __tgi_called_from(address: usize);
            __tg_called_back();
            __tgi_returns(labels: Label, address: usize, site: u32);
            __tg_returns(labels: Label, address: usize, site: u32);
            __tgi_hands_back(pointer: usize, address: usize, site: u32);
            __tg_hands_back(pointer: usize, site: u32);
            __tg_keeps(function: u32, site: u32);
            __tg_sample(function: u32, text: *const u8, len: i64, site: u32) -> u32;
            __tg_hashed(function: u32, label: Label, len: u32) -> Label;
        }
    };
}
