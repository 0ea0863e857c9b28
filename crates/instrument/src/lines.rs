//! Debug information of lines alone, without types and variables, which no variant needs.
//!
//! LLVM's own pass takes the file of the whole function for each of its lines. It forgets what
//! `#line` says of a part, such as an action in a parser made by bison, so that is put back here.

use crate::llvm::{self, Value};
use crate::module::Module;
use anyhow::Result;
use inkwell::llvm_sys::debuginfo::*;
use inkwell::llvm_sys::prelude::*;
use std::collections::HashMap;

/// LLVM's pass.
const STRIP: &str = "strip-nonlinetable-debuginfo";

/// Leaves lines, each with its file. Instructions that were inlined keep the file of their function:
/// this comes before anything is inlined.
pub fn keep_only(module: &Module) -> Result<()> {
    let foreign = foreign_files(module);
    module.run_passes(STRIP)?;
    put_back(module, foreign);
    Ok(())
}

/// Instructions that stand in another file than their function, with that file.
fn foreign_files(module: &Module) -> Vec<(Value, LLVMMetadataRef)> {
    let mut found = Vec::new();
    for function in module.functions() {
        let Some(own) = file_of_function(function) else { continue };
        let instructions = llvm::blocks(function).into_iter().flat_map(llvm::instructions);
        let files = instructions.filter_map(|at| Some((at, file_of_instruction(at)?)));
        found.extend(files.filter(|(_, file)| *file != own));
    }
    found
}

fn file_of_function(function: Value) -> Option<LLVMMetadataRef> {
    // SAFETY: the handle is a function; without debug information it has no subprogram.
    let subprogram = Some(unsafe { LLVMGetSubprogram(function) }).filter(|at| !at.is_null())?;
    // SAFETY: a subprogram is a scope.
    Some(unsafe { LLVMDIScopeGetFile(subprogram) })
}

fn file_of_instruction(instruction: Value) -> Option<LLVMMetadataRef> {
    let location = location(instruction)?;
    // SAFETY: the handle is a location, which always has a scope.
    let file = unsafe { LLVMDIScopeGetFile(LLVMDILocationGetScope(location)) };
    Some(file).filter(|file| !file.is_null())
}

/// Of an instruction that was not inlined.
fn location(instruction: Value) -> Option<LLVMMetadataRef> {
    // SAFETY: the handle is an instruction; null is no location.
    unsafe {
        let location = LLVMInstructionGetDebugLoc(instruction);
        (!location.is_null() && LLVMDILocationGetInlinedAt(location).is_null()).then_some(location)
    }
}

fn put_back(module: &Module, foreign: Vec<(Value, LLVMMetadataRef)>) {
    // SAFETY: the module is alive, and the builder is disposed of below.
    let builder = unsafe { LLVMCreateDIBuilder(module.raw) };
    let mut scopes = HashMap::new();
    for (instruction, file) in foreign {
        let Some(location) = location(instruction) else { continue };
        // SAFETY: handles are valid, and live as long as the context. The pass removes no
        // instruction.
        unsafe {
            let outer = LLVMDILocationGetScope(location);
            let scope = *scopes
                .entry((outer, file))
                .or_insert_with(|| LLVMDIBuilderCreateLexicalBlockFile(builder, outer, file, 0));
            let (line, column) =
                (LLVMDILocationGetLine(location), LLVMDILocationGetColumn(location));
            let none = std::ptr::null_mut();
            let there = LLVMDIBuilderCreateDebugLocation(module.context, line, column, scope, none);
            LLVMInstructionSetDebugLoc(instruction, there);
        }
    }
    // SAFETY: it has built nothing that waits to be completed.
    unsafe { LLVMDisposeDIBuilder(builder) };
}
