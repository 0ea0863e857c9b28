//! Attributes of functions: promises that instrumentation breaks, and wishes of the sanitizer's pass.

use crate::llvm::{self, LLVMOpcode, Value};
use crate::module::Module;
use inkwell::llvm_sys::LLVMLinkage;
use inkwell::llvm_sys::core::*;

const FUNCTION: u32 = u32::MAX;

/// An instrumented function writes labels, so it is neither pure nor free of memory accesses.
const BROKEN: [&str; 4] = ["memory", "speculatable", "nosync", "norecurse"];

/// Functions of Tarragon's own in a program are left as they are.
const OWN_SECTION: &str = ".text.tarragon";

pub fn is_own(function: Value) -> bool {
    // SAFETY: the handle is a function; the text belongs to it.
    unsafe {
        let section = LLVMGetSection(function);
        !section.is_null() && std::ffi::CStr::from_ptr(section).to_str() == Ok(OWN_SECTION)
    }
}

pub fn can_be_instrumented(function: Value) -> bool {
    // SAFETY: the handle is a function.
    unsafe {
        !llvm::is_declaration(function)
            && !is_own(function)
            && LLVMGetLinkage(function) != LLVMLinkage::LLVMAvailableExternallyLinkage
            && LLVMGetEnumAttributeAtIndex(function, FUNCTION, llvm::attribute_kind("naked")).is_null()
    }
}

/// Keeps the bodies of C++ functions that a library has, too (`extern template`): some of them the library has in name
/// only, because they are always inlined, and following the others is better than calling the library.
pub fn keep_template_instances(module: &Module) {
    for function in module.functions() {
        // SAFETY: the handle is a function; both linkages are those of definitions.
        unsafe {
            let external = LLVMGetLinkage(function) == LLVMLinkage::LLVMAvailableExternallyLinkage;
            if external && llvm::name(function).starts_with("_Z") {
                LLVMSetLinkage(function, LLVMLinkage::LLVMLinkOnceODRLinkage);
            }
        }
    }
}

/// Removes the broken promises from functions and calls; intrinsics keep theirs.
pub fn drop_memory_promises(module: &Module) {
    let kinds = BROKEN.map(llvm::attribute_kind);
    for function in module.functions() {
        if llvm::name(function).starts_with("llvm.") {
            continue;
        }
        for kind in kinds {
            // SAFETY: removing an absent attribute does nothing.
            unsafe { LLVMRemoveEnumAttributeAtIndex(function, FUNCTION, kind) };
        }
        for block in llvm::blocks(function) {
            for instruction in llvm::instructions(block) {
                drop_from_call(instruction, &kinds);
            }
        }
    }
}

fn drop_from_call(instruction: Value, kinds: &[u32]) {
    if !matches!(llvm::opcode(instruction), LLVMOpcode::LLVMCall | LLVMOpcode::LLVMInvoke) {
        return;
    }
    for &kind in kinds {
        // SAFETY: as above.
        unsafe { LLVMRemoveCallSiteEnumAttribute(instruction, FUNCTION, kind) };
    }
}

/// The sanitizer's pass looks only at functions that ask for it, as a compiler's front end makes them do.
pub fn ask_for_address_sanitizer(module: &Module) {
    let kind = llvm::attribute_kind("sanitize_address");
    for function in module.functions().into_iter().filter(|function| can_be_instrumented(*function)) {
        // SAFETY: the attribute belongs to the function's context.
        unsafe {
            let attribute = LLVMCreateEnumAttribute(module.context, kind, 0);
            LLVMAddAttributeAtIndex(function, FUNCTION, attribute);
        }
    }
}
