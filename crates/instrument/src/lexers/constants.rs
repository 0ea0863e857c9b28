//! Which constants a value can be: through choices, arguments of all calls, and results of the
//! program's functions.

use super::place::place;
use super::program::{Program, is_call, results};
use crate::llvm::{self, LLVMOpcode, Value};
use std::collections::{BTreeSet, HashSet};

/// More values than this are not looked at for one question.
const LIMIT: usize = 5_000;

/// All constants among the possible values of `values`.
pub fn constants(program: &Program, values: &[Value]) -> BTreeSet<i64> {
    let mut found = BTreeSet::new();
    let mut seen: HashSet<Value> = HashSet::new();
    let mut open = values.to_vec();
    while let Some(value) = open.pop().filter(|_| seen.len() < LIMIT) {
        if !seen.insert(value) {
            continue;
        }
        match llvm::as_constant_int(value) {
            Some(constant) => drop(found.insert(llvm::signed_constant(constant))),
            None => open.extend(origins(program, value)),
        }
    }
    found
}

/// The values that a value is a copy of.
fn origins(program: &Program, value: Value) -> Vec<Value> {
    use LLVMOpcode::*;
    if llvm::as_argument(value).is_some() {
        return actual_arguments(program, value);
    }
    let Some(instruction) = llvm::as_instruction(value) else { return Vec::new() };
    match llvm::opcode(instruction) {
        LLVMZExt | LLVMSExt | LLVMTrunc | LLVMFreeze => vec![llvm::operand(instruction, 0)],
        LLVMSelect => vec![llvm::operand(instruction, 1), llvm::operand(instruction, 2)],
        LLVMPHI => {
            (0..llvm::phi_count(instruction)).map(|i| llvm::phi_value(instruction, i)).collect()
        }
        LLVMCall | LLVMInvoke => {
            llvm::as_function(llvm::called(instruction)).map_or(Vec::new(), results)
        }
        LLVMLoad => stored_here(program, instruction),
        _ => Vec::new(),
    }
}

/// What calls pass for an argument.
pub fn actual_arguments(program: &Program, argument: Value) -> Vec<Value> {
    let function = llvm::function_of_argument(argument);
    let position = (0..llvm::param_count(function)).find(|i| llvm::param(function, *i) == argument);
    let calls = program.calls(function).iter().filter(|call| is_call(**call));
    let passed = |call: &Value| {
        position.filter(|i| *i < llvm::argument_count(*call)).map(|i| llvm::operand(*call, i))
    };
    calls.filter_map(passed).collect()
}

/// What the function itself stores where it loads from.
fn stored_here(program: &Program, load: Value) -> Vec<Value> {
    let Some(place) = place(program.layout, llvm::operand(load, 0)) else { return Vec::new() };
    let stores = program.stores(llvm::function_of(llvm::block_of(load)));
    stores
        .iter()
        .filter(|store| store.place.as_ref() == Some(&place))
        .map(|store| store.value)
        .collect()
}
