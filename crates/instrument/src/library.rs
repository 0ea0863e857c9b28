//! Shared libraries of a program that become part of it.
//!
//! A library comes as a folder: its modules, and the names that it exports. In one module with the
//! program it must behave as if the dynamic linker had loaded it: what it does not export is
//! invisible to the others, and a definition of the program's wins over the library's.

use crate::llvm::{self, Value};
use crate::module::{self, Module};
use anyhow::{Context as _, Result};
use inkwell::llvm_sys::LLVMLinkage;
use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::prelude::*;
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// Reads a library into one module, in which exported definitions give way to others of the same
/// name.
pub fn read(context: LLVMContextRef, folder: &Path) -> Result<LLVMModuleRef> {
    let library = module::read_linked(context, &modules_in(folder)?)?;
    let exports = exports_of(folder)?;
    for symbol in module::symbols(library).into_iter().filter(|symbol| is_strong(*symbol)) {
        let exported = exports.contains(&llvm::name(symbol));
        let linkage = if exported {
            LLVMLinkage::LLVMWeakAnyLinkage
        } else {
            LLVMLinkage::LLVMInternalLinkage
        };
        // SAFETY: the symbol is defined in a module that is alive.
        unsafe { LLVMSetLinkage(symbol, linkage) };
    }
    Ok(library)
}

/// Once everything is linked, nothing can take a definition's place any more: the optimiser may
/// look into it.
pub fn settle(program: &Module, folders: &[PathBuf]) -> Result<()> {
    for folder in folders {
        let exports = exports_of(folder)?;
        for symbol in module::symbols(program.raw) {
            // SAFETY: the symbol belongs to a module that is alive.
            unsafe {
                if LLVMGetLinkage(symbol) == LLVMLinkage::LLVMWeakAnyLinkage
                    && exports.contains(&llvm::name(symbol))
                {
                    LLVMSetLinkage(symbol, LLVMLinkage::LLVMExternalLinkage);
                }
            }
        }
    }
    Ok(())
}

/// In the order of their numbered names.
fn modules_in(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries =
        std::fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))?;
    let mut modules: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "bc"))
        .collect();
    modules.sort();
    Ok(modules)
}

fn exports_of(folder: &Path) -> Result<HashSet<String>> {
    let path = folder.join("exports");
    let text = std::fs::read_to_string(&path)
        .with_context(|| format!("cannot read {}", path.display()))?;
    Ok(text.lines().map(str::to_owned).collect())
}

/// An ordinary definition. Others (inline functions, weak and local ones) already have the linkage
/// that they need.
fn is_strong(symbol: Value) -> bool {
    // SAFETY: the handle is a global value.
    unsafe {
        LLVMIsDeclaration(symbol) == 0 && LLVMGetLinkage(symbol) == LLVMLinkage::LLVMExternalLinkage
    }
}
