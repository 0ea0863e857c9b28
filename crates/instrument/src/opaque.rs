//! Finds functions that look like hashes: they read memory through a pointer, mix what they read,
//! and return a number. Either they write no memory, which LLVM proves, or they mix thoroughly and
//! are small and by themselves: hashes that keep a state of their own write it through pointers
//! that nobody follows. Functions without source that take a pointer and return a number may be
//! such, too.

use crate::function::underlying_object;
use crate::llvm::{self, LLVMOpcode, LLVMTypeKind, Type, Value};
use crate::module::Module;
use inkwell::llvm_sys::core::*;
use std::collections::HashSet;

/// Infers which functions only read memory.
const INFER: &str = "cgscc(function-attrs)";
/// In LLVM's encoding of what a function does to memory: the bits that stand for writing.
const WRITES: u64 = 0xaaaa_aaaa_aaaa_aaaa;

/// Names of the program's functions that look like hashes. Works on a copy, because the promises
/// that are inferred here do not hold for instrumented code.
pub fn hashes(module: &Module) -> anyhow::Result<HashSet<String>> {
    let copy = module.copy();
    copy.run_passes(INFER)?;
    let mut found: HashSet<String> = HashSet::new();
    let mut with_state: Vec<(String, HashSet<String>)> = Vec::new();
    for function in
        copy.functions().into_iter().filter(|f| !llvm::is_declaration(*f) && is_asked(*f))
    {
        if only_reads(function) && mixes(function) {
            found.insert(llvm::name(function));
        } else if let Some(called) = mixes_by_itself(function) {
            with_state.push((llvm::name(function), called.into_iter().map(llvm::name).collect()));
        }
    }
    // A function around a hash is none, and what is a part of one is none either: its text would be
    // the state.
    with_state.retain(|(_, parts)| parts.is_disjoint(&found));
    let is_part = |name: &String| with_state.iter().any(|(_, parts)| parts.contains(name));
    found.extend(with_state.iter().map(|(name, _)| name).filter(|name| !is_part(name)).cloned());
    Ok(found)
}

/// Whether the function takes a pointer and returns a number that could be a hash.
pub fn is_asked(function: Value) -> bool {
    let ty = llvm::value_type(function);
    let result = llvm::return_type(ty);
    let is_number = llvm::kind(result) == LLVMTypeKind::LLVMIntegerTypeKind
        && (16..=64).contains(&llvm::int_width(result));
    is_number && !llvm::is_variadic(ty) && text_parameter(ty).is_some()
}

/// The position of the last pointer, and of a number after it: what comes before is the table, or
/// what the hash is seeded with.
pub fn text_parameter(function_type: Type) -> Option<(u32, Option<u32>)> {
    let types = llvm::param_types(function_type);
    let is = |position: usize, kind| types.get(position).is_some_and(|ty| llvm::kind(*ty) == kind);
    let text = (0..types.len()).rev().find(|i| is(*i, LLVMTypeKind::LLVMPointerTypeKind))?;
    let len = (text + 1..types.len()).find(|i| is(*i, LLVMTypeKind::LLVMIntegerTypeKind));
    Some((text as u32, len.map(|len| len as u32)))
}

fn only_reads(function: Value) -> bool {
    const FUNCTION: u32 = u32::MAX;
    // SAFETY: the handle is a function.
    unsafe {
        let attribute =
            LLVMGetEnumAttributeAtIndex(function, FUNCTION, llvm::attribute_kind("memory"));
        !attribute.is_null() && LLVMGetEnumAttributeValue(attribute) & WRITES == 0
    }
}

fn mixes(function: Value) -> bool {
    use LLVMOpcode::*;
    let mut instructions = llvm::blocks(function).into_iter().flat_map(llvm::instructions);
    instructions
        .any(|i| matches!(llvm::opcode(i), LLVMMul | LLVMXor | LLVMShl | LLVMLShr | LLVMAShr))
}

/// Instructions of a function that mixes by itself, those that it calls included, at most.
const MAX_INSTRUCTIONS: usize = 2000;
/// Of each kind that mixing needs, at least.
const LEAST_MIXING: usize = 4;
/// What such functions may call of the C library.
const HARMLESS: [&str; 5] = ["strlen", "memcpy", "memset", "memmove", "memcmp"];

/// The functions that a function calls, if they and it add, shift and take exclusive ors, write no
/// variable of the program's and call nothing else.
fn mixes_by_itself(function: Value) -> Option<Vec<Value>> {
    use LLVMOpcode::*;
    let (mut reached, mut next) = (vec![function], 0);
    let (mut instructions, mut mixing) = (0, [0; 3]);
    while let Some(&function) = reached.get(next) {
        next += 1;
        for instruction in llvm::blocks(function).into_iter().flat_map(llvm::instructions) {
            instructions += 1;
            match llvm::opcode(instruction) {
                LLVMAdd | LLVMMul => mixing[0] += 1,
                LLVMXor => mixing[1] += 1,
                LLVMShl | LLVMLShr => mixing[2] += 1,
                LLVMStore if is_variable(llvm::operand(instruction, 1)) => return None,
                LLVMInvoke | LLVMCallBr | LLVMAtomicRMW | LLVMAtomicCmpXchg | LLVMFence => {
                    return None;
                }
                LLVMCall => match called(instruction) {
                    Called::Nothing => {}
                    Called::Unknown => return None,
                    Called::Function(callee) if reached.contains(&callee) => {}
                    Called::Function(callee) => reached.push(callee),
                },
                _ => {}
            }
        }
        if instructions > MAX_INSTRUCTIONS {
            return None;
        }
    }
    mixing.iter().all(|count| *count >= LEAST_MIXING).then(|| reached.split_off(1))
}

fn is_variable(pointer: Value) -> bool {
    llvm::as_global_variable(underlying_object(pointer)).is_some()
}

enum Called {
    /// That matters here.
    Nothing,
    Function(Value),
    Unknown,
}

fn called(call: Value) -> Called {
    let Some(function) = llvm::as_function(llvm::called(call)) else { return Called::Unknown };
    let name = llvm::name(function);
    if name.starts_with("llvm.") || HARMLESS.contains(&name.as_str()) {
        Called::Nothing
    } else if llvm::is_declaration(function) {
        Called::Unknown
    } else {
        Called::Function(function)
    }
}
