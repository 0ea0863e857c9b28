//! Strings of the program that it may look for in its input: those that it gives to a function
//! which compares or looks up, those in its tables, and words that it gives to functions of its
//! own. Messages are none: they have spaces, or go to functions that print.

use crate::llvm::{self, LLVMOpcode, Value};
use crate::module::Module;
use inkwell::llvm_sys::core::*;
use std::collections::BTreeSet;

/// Functions of the C library that look for their argument, in the length of which a comparison
/// with another one is not interested.
const COMPARING: [&str; 17] = [
    "strcmp",
    "strncmp",
    "strcasecmp",
    "strncasecmp",
    "strcoll",
    "memcmp",
    "bcmp",
    "strstr",
    "strcasestr",
    "memmem",
    "strspn",
    "strcspn",
    "strpbrk",
    "strsep",
    "strtok",
    "strtok_r",
    "fnmatch",
];

const LENGTHS: std::ops::RangeInclusive<usize> = 2..=48;
/// Words of tables that are nested deeper are not found.
const MAX_DEPTH: u32 = 4;

pub fn collect(module: &Module) -> Vec<String> {
    let mut found = BTreeSet::new();
    for function in module.functions() {
        let instructions = llvm::blocks(function).into_iter().flat_map(llvm::instructions);
        instructions.for_each(|instruction| of_call(instruction, &mut found));
    }
    for global in module.globals().into_iter().filter(|global| !llvm::is_declaration(*global)) {
        // SAFETY: the handle is a global variable.
        if let Some(initialiser) = llvm::non_null(unsafe { LLVMGetInitializer(global) }) {
            of_table(initialiser, MAX_DEPTH, &mut found);
        }
    }
    found.into_iter().collect()
}

fn of_call(instruction: Value, found: &mut BTreeSet<String>) {
    use LLVMOpcode::{LLVMCall, LLVMInvoke};
    if !matches!(llvm::opcode(instruction), LLVMCall | LLVMInvoke) {
        return;
    }
    let Some(called) = llvm::as_function(llvm::called(instruction)) else { return };
    let is_comparing = COMPARING.contains(&llvm::name(called).as_str());
    let is_own = !llvm::is_declaration(called) && !llvm::is_variadic(llvm::value_type(called));
    if !is_comparing && !is_own {
        return;
    }
    let arguments = (0..llvm::operand_count(instruction) as u32 - 1)
        .filter_map(|argument| text(llvm::operand(instruction, argument)));
    found.extend(arguments.filter(|text| is_comparing || is_word(text)));
}

/// Words that a constant of arrays and structs points to.
fn of_table(constant: Value, depth: u32, found: &mut BTreeSet<String>) {
    if llvm::as_global_variable(constant).is_some() {
        found.extend(text(constant).filter(|text| is_word(text)));
        return;
    }
    // SAFETY: the handle is a constant.
    let is_aggregate = unsafe {
        !LLVMIsAConstantArray(constant).is_null() || !LLVMIsAConstantStruct(constant).is_null()
    };
    if is_aggregate && depth > 0 {
        let operands = 0..llvm::operand_count(constant) as u32;
        operands.for_each(|i| of_table(llvm::operand(constant, i), depth - 1, found));
    }
}

/// The string that a pointer is the start of, if it is of a useful length and can be printed.
fn text(pointer: Value) -> Option<String> {
    let text = String::from_utf8(llvm::constant_text(pointer)?).ok()?;
    let is_printed = text.chars().all(|c| !c.is_control());
    (LENGTHS.contains(&text.len()) && is_printed).then_some(text)
}

fn is_word(text: &str) -> bool {
    !text.contains(|c: char| c.is_whitespace() || c == '%')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::golden::assemble;

    const PROGRAM: &str = r#"
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

@compared = private constant [8 x i8] c"two way\00"
@printed = private constant [8 x i8] c"printed\00"
@looked.up = private constant [6 x i8] c"while\00"
@message = private constant [9 x i8] c"no input\00"
@format = private constant [5 x i8] c"at%d\00"
@one = private constant [2 x i8] c"x\00"
@empty = private constant [4 x i8] zeroinitializer
@first = private constant [4 x i8] c"let\00"
@second = private constant [6 x i8] c"begin\00"
@table = internal constant [2 x { i32, ptr }] [
  { i32, ptr } { i32 1, ptr @first }, { i32, ptr } { i32 2, ptr @empty }]
@list = internal constant [2 x ptr] [ptr @second, ptr @one]

declare i32 @strcmp(ptr, ptr)
declare i32 @puts(ptr)

define i32 @look_up(ptr %name) {
  ret i32 0
}

define i32 @main() {
  %1 = call i32 @strcmp(ptr @compared, ptr @empty)
  %2 = call i32 @puts(ptr @printed)
  %3 = call i32 @look_up(ptr @looked.up)
  %4 = call i32 @look_up(ptr @message)
  %5 = call i32 @look_up(ptr @format)
  ret i32 0
}
"#;

    #[test]
    fn strings_that_the_input_may_have_are_found() {
        let place = std::env::temp_dir().join(format!("tarragon-strings-{}", std::process::id()));
        let [text, bitcode] = ["ll", "bc"].map(|extension| place.with_extension(extension));
        std::fs::write(&text, PROGRAM).expect("a file");
        assemble(&text, &bitcode).expect("a program");
        let module = Module::read(std::slice::from_ref(&bitcode), &[]).expect("a module");
        for file in [text, bitcode] {
            std::fs::remove_file(file).expect("a file");
        }
        assert_eq!(collect(&module), ["begin", "let", "two way", "while"]);
    }
}
