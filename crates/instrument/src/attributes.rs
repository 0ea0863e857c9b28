//! Attributes of functions: promises that instrumentation breaks, and wishes of the sanitizer's
//! pass.

use crate::llvm::{self, LLVMOpcode, Value};
use crate::module::Module;
use crate::runtime;
use anyhow::Result;
use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::prelude::LLVMContextRef;
use inkwell::llvm_sys::{LLVMLinkage, LLVMTailCallKind};

/// The index of attributes of functions themselves.
pub const FUNCTION: u32 = u32::MAX;

/// An instrumented function writes labels, so it is neither pure nor free of memory accesses.
const BROKEN: [&str; 4] = ["memory", "speculatable", "nosync", "norecurse"];

/// Functions of Tarragon's own in a program are left as they are.
const OWN_SECTION: &str = ".text.tarragon";

/// Marks functions of modules that clang's front end compiled without its sanitizers.
const UNCHECKED: &str = "tarragon-unchecked";
const SANITIZED: &str = "sanitize_address";

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
            && LLVMGetEnumAttributeAtIndex(function, FUNCTION, llvm::attribute_kind("naked"))
                .is_null()
    }
}

/// Keeps the bodies of inline functions that somebody else is said to have, too (`extern template`,
/// `extern inline`): some exist in name only, because an optimised program always inlines them, and
/// following the others is better than calling a library. Those of the C library that have models
/// become calls again.
pub fn keep_inline_functions(module: &Module) -> Result<()> {
    let models = runtime::model_names()?;
    for function in module.functions() {
        // SAFETY: the handle is a function; both linkages are those of definitions.
        unsafe {
            let external = LLVMGetLinkage(function) == LLVMLinkage::LLVMAvailableExternallyLinkage;
            if external && !models.contains(&llvm::name(function)) {
                LLVMSetLinkage(function, LLVMLinkage::LLVMLinkOnceODRLinkage);
            }
        }
    }
    Ok(())
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
    if !is_call(instruction) {
        return;
    }
    for &kind in kinds {
        // SAFETY: as above.
        unsafe { LLVMRemoveCallSiteEnumAttribute(instruction, FUNCTION, kind) };
    }
}

/// Marks the functions of a module before it is linked with others, unless clang's front end put
/// its checks there. What it did not mark for AddressSanitizer in such a module is left alone
/// because the program asks for that.
pub fn mark_unchecked(context: LLVMContextRef, functions: &[Value]) {
    let kind = llvm::attribute_kind(SANITIZED);
    // SAFETY: the handles are functions.
    let is_checked = |function: &Value| unsafe {
        !LLVMGetEnumAttributeAtIndex(*function, FUNCTION, kind).is_null()
    };
    if functions.iter().any(is_checked) {
        return;
    }
    for &function in functions {
        add_text(context, function, UNCHECKED, "");
    }
}

pub fn is_unchecked(function: Value) -> bool {
    // SAFETY: the handle is a function, and the text has this length.
    unsafe {
        let length = UNCHECKED.len() as u32;
        !LLVMGetStringAttributeAtIndex(function, FUNCTION, UNCHECKED.as_ptr().cast(), length)
            .is_null()
    }
}

/// The sanitizer's pass looks only at functions that ask for it, as clang's front end makes them
/// do.
pub fn ask_for_address_sanitizer(module: &Module) {
    let unchecked = |function: &Value| is_unchecked(*function) && can_be_instrumented(*function);
    for function in module.functions().into_iter().filter(unchecked) {
        add(module.context, function, SANITIZED);
    }
}

/// Has the optimiser make every call of the C library, and leave every caller on the stack: else a
/// function that ends with a call that is reported would be missing, and its callers would count as
/// causes of their own. Calls that are alike stay apart: one call of `abort` in the place of two
/// has no line, and two mistakes would be one.
pub fn keep_calls(module: &Module) {
    for function in module.functions().into_iter().filter(|function| can_be_instrumented(*function))
    {
        add_text(module.context, function, "no-builtins", "");
        add_text(module.context, function, "disable-tail-calls", "true");
        for instruction in llvm::blocks(function).into_iter().flat_map(llvm::instructions) {
            keep_apart(module.context, instruction);
        }
    }
}

fn keep_apart(context: LLVMContextRef, instruction: Value) {
    if !is_call(instruction) {
        return;
    }
    let name = llvm::as_function(llvm::called(instruction)).map(llvm::name).unwrap_or_default();
    if name.starts_with("llvm.") && !name.ends_with("trap") {
        return;
    }
    // SAFETY: the instruction is a call, and the attribute belongs to its context.
    unsafe {
        let attribute = LLVMCreateEnumAttribute(context, llvm::attribute_kind("nomerge"), 0);
        LLVMAddCallSiteAttribute(instruction, FUNCTION, attribute);
    }
}

pub fn is_call(instruction: Value) -> bool {
    matches!(llvm::opcode(instruction), LLVMOpcode::LLVMCall | LLVMOpcode::LLVMInvoke)
}

/// Recursion stays recursion where the program's own build has left it: as a loop it would not run
/// out of stack. Calls that this build may make loops of are marked.
pub fn keep_recursion(module: &Module) {
    let is_marked = |call: Value| {
        // SAFETY: the handle is a call.
        matches!(llvm::opcode(call), LLVMOpcode::LLVMCall)
            && unsafe { LLVMGetTailCallKind(call) } != LLVMTailCallKind::LLVMTailCallKindNone
    };
    for function in module.functions().into_iter().filter(|function| can_be_instrumented(*function))
    {
        if !llvm::blocks(function).into_iter().flat_map(llvm::instructions).any(is_marked) {
            add_text(module.context, function, "disable-tail-calls", "true");
        }
    }
}

/// Adds an attribute without a value, or with the value 0.
pub fn add(context: LLVMContextRef, function: Value, name: &str) {
    // SAFETY: the attribute belongs to the function's context.
    unsafe {
        let attribute = LLVMCreateEnumAttribute(context, llvm::attribute_kind(name), 0);
        LLVMAddAttributeAtIndex(function, FUNCTION, attribute);
    }
}

/// A function that exceptions pass through.
pub fn allow_unwinding(context: LLVMContextRef, function: Value) {
    // Entries for every instruction; 1 would be for calls only.
    const ALL: u64 = 2;
    // SAFETY: the attribute belongs to the function's context; removing an absent one does nothing.
    unsafe {
        let tables = LLVMCreateEnumAttribute(context, llvm::attribute_kind("uwtable"), ALL);
        LLVMAddAttributeAtIndex(function, FUNCTION, tables);
        LLVMRemoveEnumAttributeAtIndex(function, FUNCTION, llvm::attribute_kind("nounwind"));
    }
}

/// A function of a library that may call back into the program, whatever the runtime says of it.
pub fn may_throw(function: Value) {
    if !llvm::name(function).starts_with("llvm.") {
        // SAFETY: removing an absent attribute does nothing.
        unsafe {
            LLVMRemoveEnumAttributeAtIndex(function, FUNCTION, llvm::attribute_kind("nounwind"));
        }
    }
}

/// A call that may end by an exception.
pub fn may_unwind(call: Value) {
    // SAFETY: removing an absent attribute does nothing.
    unsafe { LLVMRemoveCallSiteEnumAttribute(call, FUNCTION, llvm::attribute_kind("nounwind")) };
}

/// Adds an attribute that is a text.
fn add_text(context: LLVMContextRef, function: Value, name: &str, value: &str) {
    // SAFETY: the attribute belongs to the function's context, and the texts have these lengths.
    unsafe {
        let (name_len, value_len) = (name.len() as u32, value.len() as u32);
        let (name, value) = (name.as_ptr().cast(), value.as_ptr().cast());
        let attribute = LLVMCreateStringAttribute(context, name, name_len, value, value_len);
        LLVMAddAttributeAtIndex(function, FUNCTION, attribute);
    }
}
