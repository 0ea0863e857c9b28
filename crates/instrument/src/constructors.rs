//! Functions that run before and after `main`.
//!
//! LLVM's C interface writes them into `.ctors`, which today's linkers and C libraries ignore; they
//! are put into `.init_array` and `.fini_array` here.

use crate::llvm::{self, Value, c_string};
use crate::module::Module;
use inkwell::llvm_sys::LLVMLinkage;
use inkwell::llvm_sys::core::*;

/// The priority of functions that ask for none.
const DEFAULT_PRIORITY: u64 = 65535;

pub fn place(module: &Module) {
    place_list(module, "llvm.global_ctors", ".init_array");
    place_list(module, "llvm.global_dtors", ".fini_array");
}

fn place_list(module: &Module, list: &str, section: &str) {
    let name = c_string(list);
    // SAFETY: the module is alive; the list is an array of structs (priority, function, data).
    unsafe {
        let Some(list) = llvm::non_null(LLVMGetNamedGlobal(module.raw, name.as_ptr())) else {
            return;
        };
        let content = LLVMGetInitializer(list);
        for i in 0..llvm::array_size(llvm::type_of(content)) {
            let Some(entry) = llvm::non_null(LLVMGetAggregateElement(content, i as u32)) else {
                continue;
            };
            let priority = llvm::constant_bits(LLVMGetAggregateElement(entry, 0));
            place_function(module, LLVMGetAggregateElement(entry, 1), priority, section);
        }
        LLVMDeleteGlobal(list);
    }
}

fn place_function(module: &Module, function: Value, priority: u64, section: &str) {
    let section = match priority {
        DEFAULT_PRIORITY => section.to_owned(),
        _ => format!("{section}.{priority:05}"),
    };
    let section = c_string(&section);
    // SAFETY: the variable is a pointer to the function; external linkage with hidden visibility
    // keeps it.
    unsafe {
        let entry =
            LLVMAddGlobal(module.raw, llvm::type_of(function), c"__tarragon_constructor".as_ptr());
        LLVMSetInitializer(entry, function);
        LLVMSetSection(entry, section.as_ptr());
        LLVMSetLinkage(entry, LLVMLinkage::LLVMExternalLinkage);
        LLVMSetVisibility(entry, inkwell::llvm_sys::LLVMVisibility::LLVMHiddenVisibility);
    }
}
