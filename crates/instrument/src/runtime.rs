//! The runtime inside the program: its bitcode, its functions, and what it needs from the instrumenter.
//!
//! The functions' types come from the bitcode itself, so there is no second declaration that could drift.

use crate::llvm::{self, Builder, Value};
use crate::module::Module;
use anyhow::{Context as _, Result};
use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::prelude::LLVMModuleRef;
use inkwell::llvm_sys::{LLVMLinkage, LLVMThreadLocalMode};
use std::collections::HashMap;

const BITCODE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/runtime.bc"));
const MODEL: &str = "__tarragon_model_";

pub struct Runtime {
    functions: HashMap<String, Value>,
}

impl Runtime {
    /// Links the runtime into the program and redirects library functions to their models.
    pub fn link(module: &Module, builder: &Builder) -> Result<Runtime> {
        redirect_to_models(module)?;
        let program: Vec<Value> = module.functions();
        module.link_bitcode(BITCODE).context("cannot link the runtime")?;
        resolve_aliases(module);
        let own =
            module.functions().into_iter().filter(|f| !program.contains(f) || is_runtime(&llvm::name(*f)));
        let mut functions = HashMap::new();
        for function in own {
            let name = llvm::name(function);
            if llvm::is_declaration(function) {
                define_missing(module, builder, function, &name);
                continue;
            }
            // SAFETY: the function is defined in this module, which is the whole program.
            unsafe { LLVMSetLinkage(function, LLVMLinkage::LLVMInternalLinkage) };
            inline_by_name(module, function, &name);
            functions.insert(name, function);
        }
        Ok(Runtime { functions })
    }

    pub fn function(&self, name: &str) -> Value {
        match self.functions.get(name) {
            Some(function) => *function,
            None => panic!("the runtime has no function {name}"),
        }
    }

    pub fn is_model(&self, function: Value) -> bool {
        llvm::name(function).starts_with(MODEL)
    }
}

/// The runtime's compiler folds equal functions into aliases; calls go to the functions themselves.
fn resolve_aliases(module: &Module) {
    for alias in aliases(module.raw) {
        if is_runtime(&llvm::name(alias)) {
            // SAFETY: an alias and its target have one type.
            unsafe {
                llvm::replace_uses(alias, LLVMAliasGetAliasee(alias));
                LLVMSetLinkage(alias, LLVMLinkage::LLVMInternalLinkage);
            }
        }
    }
}

fn aliases(module: LLVMModuleRef) -> Vec<Value> {
    let mut found = Vec::new();
    // SAFETY: iteration ends with null.
    unsafe {
        let mut next = LLVMGetFirstGlobalAlias(module);
        while !next.is_null() {
            found.push(next);
            next = LLVMGetNextGlobalAlias(next);
        }
    }
    found
}

fn is_runtime(name: &str) -> bool {
    name.starts_with("__tg") || name.starts_with("__tarragon_")
}

/// Declarations of modelled functions take the model's name, so that linking resolves them to it.
fn redirect_to_models(module: &Module) -> Result<()> {
    let models = model_names()?;
    for function in module.functions() {
        let name = llvm::name(function);
        if llvm::is_declaration(function) && models.contains(&name) {
            llvm::set_name(function, &format!("{MODEL}{name}"));
        }
    }
    Ok(())
}

/// Names of the library functions that have models, read from the bitcode's own symbols.
fn model_names() -> Result<Vec<String>> {
    // SAFETY: the buffer refers to static bytes; the module is freed with its context.
    unsafe {
        let context = LLVMContextCreate();
        let buffer = LLVMCreateMemoryBufferWithMemoryRangeCopy(
            BITCODE.as_ptr().cast(),
            BITCODE.len(),
            c"runtime".as_ptr(),
        );
        let mut module = std::ptr::null_mut();
        let failed = inkwell::llvm_sys::bit_reader::LLVMParseBitcodeInContext2(context, buffer, &mut module);
        anyhow::ensure!(failed == 0, "the runtime's bitcode cannot be read");
        let mut symbols = aliases(module);
        let mut next = LLVMGetFirstFunction(module);
        while !next.is_null() {
            symbols.push(next);
            next = LLVMGetNextFunction(next);
        }
        let names = symbols
            .into_iter()
            .filter_map(|s| llvm::name(s).strip_prefix(MODEL).map(str::to_owned))
            .collect();
        LLVMDisposeModule(module);
        LLVMContextDispose(context);
        Ok(names)
    }
}

/// Fast paths are always inlined; slow paths never, so that they do not crowd the code that runs on concrete data.
fn inline_by_name(module: &Module, function: Value, name: &str) {
    let kind = if name.starts_with("__tgi_") {
        "alwaysinline"
    } else if name.starts_with("__tg_") {
        "noinline"
    } else {
        return;
    };
    // SAFETY: the attribute is a known one without a value.
    unsafe {
        let attribute = LLVMCreateEnumAttribute(module.context, llvm::attribute_kind(kind), 0);
        LLVMAddAttributeAtIndex(function, u32::MAX, attribute);
    }
}

/// What the runtime declares and the program's libraries do not have.
fn define_missing(module: &Module, builder: &Builder, function: Value, name: &str) {
    match name {
        "__tarragon_tls" => define_tls(module, builder, function),
        "rust_eh_personality" => define_personality(module, builder, function),
        _ => {}
    }
}

fn define_tls(module: &Module, builder: &Builder, function: Value) {
    // SAFETY: the block is a variable of this program; the function returns its address.
    unsafe {
        let ty = LLVMArrayType2(builder.i64, trace::TLS_BYTES as u64 / 8);
        let block = LLVMAddGlobal(module.raw, ty, c"__tarragon_tls_block".as_ptr());
        LLVMSetInitializer(block, LLVMConstNull(ty));
        LLVMSetLinkage(block, LLVMLinkage::LLVMInternalLinkage);
        LLVMSetThreadLocalMode(block, LLVMThreadLocalMode::LLVMLocalExecTLSModel);
        LLVMSetLinkage(function, LLVMLinkage::LLVMInternalLinkage);
        let entry = LLVMAppendBasicBlockInContext(module.context, function, c"".as_ptr());
        let raw = LLVMCreateBuilderInContext(module.context);
        LLVMPositionBuilderAtEnd(raw, entry);
        LLVMBuildRet(raw, block);
        LLVMDisposeBuilder(raw);
        let attribute = LLVMCreateEnumAttribute(module.context, llvm::attribute_kind("alwaysinline"), 0);
        LLVMAddAttributeAtIndex(function, u32::MAX, attribute);
    }
}

/// The runtime does not unwind; a function of its own keeps it apart from a Rust program's personality.
fn define_personality(module: &Module, builder: &Builder, function: Value) {
    llvm::set_name(function, "__tarragon_personality");
    // SAFETY: the function gets a body that returns 0.
    unsafe {
        LLVMSetLinkage(function, LLVMLinkage::LLVMInternalLinkage);
        let entry = LLVMAppendBasicBlockInContext(module.context, function, c"".as_ptr());
        let raw = LLVMCreateBuilderInContext(module.context);
        LLVMPositionBuilderAtEnd(raw, entry);
        let ty = llvm::return_type(llvm::value_type(function));
        if llvm::kind(ty) == llvm::LLVMTypeKind::LLVMVoidTypeKind {
            LLVMBuildRetVoid(raw);
        } else {
            LLVMBuildRet(raw, builder.const_int(ty, 0));
        }
        LLVMDisposeBuilder(raw);
    }
}
