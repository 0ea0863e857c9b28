//! Functions that loop over inputs, one run after the other in one process.
//!
//! Labels do not outlive their run: the runtime forgets those of memory. Values that such a
//! function would keep in registers from one round to the next keep their labels beside them, so
//! its variables stay in memory.

use crate::attributes;
use crate::llvm::{self, LLVMOpcode, Value};
use crate::module::Module;
use inkwell::llvm_sys::core::LLVMSetVolatile;
use std::collections::HashSet;

/// What the function calls at the end of a round.
const AGAIN: &str = "__tarragon_again";

/// Comes before the passes that turn memory into values.
pub fn keep_variables_in_memory(module: &Module) {
    let mut functions: Vec<Value> =
        module.functions().into_iter().filter(|function| llvm::name(*function) == AGAIN).collect();
    // The loops call it through functions of Tarragon's own.
    while let Some(function) = functions.pop() {
        for caller in callers(function) {
            if attributes::is_own(caller) {
                functions.push(caller);
            } else {
                llvm::blocks(caller)
                    .into_iter()
                    .flat_map(llvm::instructions)
                    .for_each(keep_in_memory);
            }
        }
    }
}

/// Functions that may run while one run ends and the next begins.
pub fn functions_around(module: &Module) -> HashSet<Value> {
    let mut around: HashSet<Value> = HashSet::new();
    let mut open: Vec<Value> =
        module.functions().into_iter().filter(|function| llvm::name(*function) == AGAIN).collect();
    while let Some(function) = open.pop() {
        open.extend(callers(function).filter(|caller| around.insert(*caller)));
    }
    around
}

fn callers(function: Value) -> impl Iterator<Item = Value> {
    let uses = llvm::users(function).into_iter().filter_map(llvm::as_instruction);
    uses.map(|call| llvm::function_of(llvm::block_of(call)))
}

/// Has passes leave a load or store as it is.
pub fn keep_in_memory(access: Value) {
    if matches!(llvm::opcode(access), LLVMOpcode::LLVMLoad | LLVMOpcode::LLVMStore) {
        // SAFETY: the instruction is a load or a store.
        unsafe { LLVMSetVolatile(access, 1) };
    }
}
