//! Finds functions that look like hashes: they read memory through a pointer, write none, mix what they read, and return a
//! number. Functions without source that take a pointer and return a number may be such, too.

use crate::llvm::{self, LLVMOpcode, LLVMTypeKind, Type, Value};
use crate::module::Module;
use inkwell::llvm_sys::core::*;
use std::collections::HashSet;

/// Infers which functions only read memory.
const INFER: &str = "cgscc(function-attrs)";
/// In LLVM's encoding of what a function does to memory: the bits that stand for writing.
const WRITES: u64 = 0xaaaa_aaaa_aaaa_aaaa;

/// Names of the program's functions that look like hashes. Works on a copy, because the promises that are inferred here
/// do not hold for instrumented code.
pub fn hashes(module: &Module) -> anyhow::Result<HashSet<String>> {
    let copy = module.copy();
    copy.run_passes(INFER)?;
    let found = copy.functions().into_iter().filter(|function| {
        !llvm::is_declaration(*function) && only_reads(*function) && mixes(*function) && is_asked(*function)
    });
    Ok(found.map(llvm::name).collect())
}

/// Whether the function takes a pointer and returns a number that could be a hash.
pub fn is_asked(function: Value) -> bool {
    let ty = llvm::value_type(function);
    let result = llvm::return_type(ty);
    let is_number = llvm::kind(result) == LLVMTypeKind::LLVMIntegerTypeKind
        && (16..=64).contains(&llvm::int_width(result));
    is_number && !llvm::is_variadic(ty) && text_parameter(ty).is_some()
}

/// The position of the first pointer, and of a number after it.
pub fn text_parameter(function_type: Type) -> Option<(u32, Option<u32>)> {
    let types = llvm::param_types(function_type);
    let is = |position: usize, kind| types.get(position).is_some_and(|ty| llvm::kind(*ty) == kind);
    let text = (0..types.len()).find(|i| is(*i, LLVMTypeKind::LLVMPointerTypeKind))?;
    let len = (text + 1..types.len()).find(|i| is(*i, LLVMTypeKind::LLVMIntegerTypeKind));
    Some((text as u32, len.map(|len| len as u32)))
}

fn only_reads(function: Value) -> bool {
    const FUNCTION: u32 = u32::MAX;
    // SAFETY: the handle is a function.
    unsafe {
        let attribute = LLVMGetEnumAttributeAtIndex(function, FUNCTION, llvm::attribute_kind("memory"));
        !attribute.is_null() && LLVMGetEnumAttributeValue(attribute) & WRITES == 0
    }
}

fn mixes(function: Value) -> bool {
    use LLVMOpcode::*;
    let mut instructions = llvm::blocks(function).into_iter().flat_map(llvm::instructions);
    instructions.any(|i| matches!(llvm::opcode(i), LLVMMul | LLVMXor | LLVMShl | LLVMLShr | LLVMAShr))
}
