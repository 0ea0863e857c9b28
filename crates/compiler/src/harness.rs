//! libFuzzer harnesses: programs that have `LLVMFuzzerTestOneInput` and get their `main` from
//! `-fsanitize=fuzzer`.
//!
//! The program that clang links is libFuzzer's. In a variant a small `main` takes libFuzzer's
//! place, which reads one input and hands it over; it is part of the variant's bitcode like the
//! program's own code, so the input is followed from its first byte on.

/// The `main` that reads one input.
pub(crate) const MAIN: &str = include_str!("harness_main.c");

/// Whether an option of a link asks for libFuzzer's `main`.
pub(crate) fn asks_for_main(option: &str) -> bool {
    let names = option.strip_prefix("-fsanitize=");
    names.is_some_and(|names| names.split(',').any(|name| name == "fuzzer"))
}
