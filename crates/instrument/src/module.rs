//! Modules as a whole: reading, linking, running LLVM's own passes, writing object code.

use crate::llvm::{self, c_string, take_message};
use crate::{attributes, library, versions};
use anyhow::{Context as _, Result, bail};
use inkwell::llvm_sys::bit_reader::LLVMParseBitcodeInContext2;
use inkwell::llvm_sys::bit_writer::LLVMWriteBitcodeToFile;
use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::debuginfo::LLVMStripModuleDebugInfo;
use inkwell::llvm_sys::error::{LLVMDisposeErrorMessage, LLVMGetErrorMessage};
use inkwell::llvm_sys::linker::LLVMLinkModules2;
use inkwell::llvm_sys::prelude::*;
use inkwell::llvm_sys::target::*;
use inkwell::llvm_sys::target_machine::*;
use inkwell::llvm_sys::transforms::pass_builder::*;
use std::path::{Path, PathBuf};
use std::ptr::null_mut;

/// A module with the context that it lives in. There is one a process: both are left to the end of
/// the process.
pub struct Module {
    pub context: LLVMContextRef,
    pub raw: LLVMModuleRef,
    machine: LLVMTargetMachineRef,
}

impl Module {
    /// Reads the bitcode of a program and of the shared libraries that become part of it, and links
    /// all.
    pub fn read(files: &[PathBuf], libraries: &[PathBuf]) -> Result<Module> {
        // SAFETY: a context of its own; it is never freed.
        let context = unsafe { LLVMContextCreate() };
        let mut parts = Vec::new();
        for folder in libraries {
            parts.push(library::read(context, folder)?);
        }
        if !files.is_empty() {
            parts.push(read_linked(context, files)?);
        }
        let mut parts = parts.into_iter();
        let raw = parts.next().context("no bitcode was given")?;
        for part in parts {
            link(raw, part).context("cannot link a library into the program")?;
        }
        let module = Module { context, raw, machine: target_machine(raw)? };
        library::settle(&module, libraries)?;
        Ok(module)
    }

    /// Links bitcode that is in memory.
    pub fn link_bitcode(&self, bitcode: &[u8]) -> Result<()> {
        // SAFETY: the buffer copies the bytes.
        let buffer = unsafe {
            LLVMCreateMemoryBufferWithMemoryRangeCopy(
                bitcode.as_ptr().cast(),
                bitcode.len(),
                c"runtime".as_ptr(),
            )
        };
        let other = parse(self.context, buffer)?;
        // SAFETY: both modules are alive. The triples differ in the vendor's name only.
        unsafe { LLVMSetTarget(other, LLVMGetTarget(self.raw)) };
        link(self.raw, other)
    }

    pub fn layout(&self) -> crate::llvm::Layout {
        // SAFETY: the module is alive.
        crate::llvm::Layout(unsafe { LLVMGetModuleDataLayout(self.raw) })
    }

    /// A copy of the module in the same context.
    pub fn copy(&self) -> Module {
        // SAFETY: the module is alive; the copy is left to the end of the process, too.
        Module { raw: unsafe { LLVMCloneModule(self.raw) }, ..*self }
    }

    /// Runs passes, named as `opt -passes` takes them.
    pub fn run_passes(&self, passes: &str) -> Result<()> {
        let passes_text = c_string(passes);
        // SAFETY: options are freed; the error, if any, is turned into text.
        unsafe {
            let options = LLVMCreatePassBuilderOptions();
            LLVMPassBuilderOptionsSetLoopVectorization(options, 0);
            LLVMPassBuilderOptionsSetSLPVectorization(options, 0);
            let error = LLVMRunPasses(self.raw, passes_text.as_ptr(), self.machine, options);
            LLVMDisposePassBuilderOptions(options);
            if !error.is_null() {
                let message = LLVMGetErrorMessage(error);
                let text = std::ffi::CStr::from_ptr(message).to_string_lossy().into_owned();
                LLVMDisposeErrorMessage(message);
                bail!("LLVM passes failed: {text}");
            }
        }
        Ok(())
    }

    /// Forgets places in the source, once nobody asks for them any more: code generation works on
    /// them, too.
    pub fn forget_source(&self) {
        // SAFETY: the module is alive.
        unsafe { LLVMStripModuleDebugInfo(self.raw) };
    }

    pub fn verify(&self) -> Result<()> {
        use inkwell::llvm_sys::analysis::*;
        let mut message = null_mut();
        // SAFETY: the message is freed by `take_message`.
        let broken = unsafe {
            let action = LLVMVerifierFailureAction::LLVMReturnStatusAction;
            LLVMVerifyModule(self.raw, action, &mut message) != 0
        };
        let text = take_message(message);
        if broken {
            bail!("the instrumented module is not valid: {text}");
        }
        Ok(())
    }

    pub fn write_object(&self, path: &Path) -> Result<()> {
        let name = c_string(&path.to_string_lossy());
        let mut message = null_mut();
        // SAFETY: the message is freed by `take_message`.
        let failed = unsafe {
            let kind = LLVMCodeGenFileType::LLVMObjectFile;
            LLVMTargetMachineEmitToFile(self.machine, self.raw, name.as_ptr(), kind, &mut message)
                != 0
        };
        if failed {
            bail!("cannot write {}: {}", path.display(), take_message(message));
        }
        Ok(())
    }

    pub fn write_bitcode(&self, path: &Path) -> Result<()> {
        let name = c_string(&path.to_string_lossy());
        // SAFETY: the module is alive.
        if unsafe { LLVMWriteBitcodeToFile(self.raw, name.as_ptr()) } != 0 {
            bail!("cannot write {}", path.display());
        }
        Ok(())
    }

    /// Functions in the module's order.
    pub fn functions(&self) -> Vec<LLVMValueRef> {
        // SAFETY: the module is alive.
        unsafe { listed(LLVMGetFirstFunction(self.raw), LLVMGetNextFunction) }
    }

    pub fn globals(&self) -> Vec<LLVMValueRef> {
        // SAFETY: the module is alive.
        unsafe { listed(LLVMGetFirstGlobal(self.raw), LLVMGetNextGlobal) }
    }
}

/// Reads bitcode files and links them into one module.
pub fn read_linked(context: LLVMContextRef, files: &[PathBuf]) -> Result<LLVMModuleRef> {
    let (first, rest) = files.split_first().context("no bitcode was given")?;
    let module = parse_file(context, first)?;
    for file in rest {
        let other = parse_file(context, file)?;
        link(module, other).with_context(|| format!("cannot link {}", file.display()))?;
    }
    Ok(module)
}

/// All that has a name across modules: functions, variables, aliases and indirect functions.
pub fn symbols(module: LLVMModuleRef) -> Vec<LLVMValueRef> {
    // SAFETY: the module is alive.
    unsafe {
        let mut found = listed(LLVMGetFirstFunction(module), LLVMGetNextFunction);
        found.extend(listed(LLVMGetFirstGlobal(module), LLVMGetNextGlobal));
        found.extend(listed(LLVMGetFirstGlobalAlias(module), LLVMGetNextGlobalAlias));
        found.extend(listed(LLVMGetFirstGlobalIFunc(module), LLVMGetNextGlobalIFunc));
        found
    }
}

/// A list of LLVM's, which ends with null.
fn listed(
    first: LLVMValueRef,
    next: unsafe extern "C" fn(LLVMValueRef) -> LLVMValueRef,
) -> Vec<LLVMValueRef> {
    // SAFETY: `next` takes what it returned before.
    let step =
        |value: &LLVMValueRef| Some(unsafe { next(*value) }).filter(|value| !value.is_null());
    std::iter::successors(Some(first).filter(|value| !value.is_null()), step).collect()
}

fn parse_file(context: LLVMContextRef, path: &Path) -> Result<LLVMModuleRef> {
    let name = c_string(&path.to_string_lossy());
    let (mut buffer, mut message) = (null_mut(), null_mut());
    // SAFETY: both results are checked.
    let failed = unsafe {
        LLVMCreateMemoryBufferWithContentsOfFile(name.as_ptr(), &mut buffer, &mut message)
    } != 0;
    if failed {
        bail!("cannot read {}: {}", path.display(), take_message(message));
    }
    let module = parse(context, buffer)
        .with_context(|| format!("{} is not bitcode of this LLVM", path.display()))?;
    // SAFETY: the module is alive.
    let functions = unsafe { listed(LLVMGetFirstFunction(module), LLVMGetNextFunction) };
    attributes::mark_unchecked(context, &functions);
    functions
        .into_iter()
        .filter(|function| llvm::is_declaration(*function))
        .for_each(|declaration| forget_source(context, declaration));
    versions::resolve(module);
    Ok(module)
}

/// What debug information says of a declaration nobody asks. Without its types, declarations of two
/// functions may look alike, which LLVM refuses.
fn forget_source(context: LLVMContextRef, declaration: LLVMValueRef) {
    // SAFETY: the handle is a function.
    unsafe { LLVMGlobalEraseMetadata(declaration, llvm::metadata_kind(context, "dbg")) };
}

fn parse(context: LLVMContextRef, buffer: LLVMMemoryBufferRef) -> Result<LLVMModuleRef> {
    let mut module = null_mut();
    // SAFETY: the buffer is freed after reading.
    let failed = unsafe {
        let failed = LLVMParseBitcodeInContext2(context, buffer, &mut module) != 0;
        LLVMDisposeMemoryBuffer(buffer);
        failed
    };
    if failed {
        bail!("bitcode cannot be read");
    }
    Ok(module)
}

fn link(into: LLVMModuleRef, from: LLVMModuleRef) -> Result<()> {
    // SAFETY: linking consumes `from`.
    if unsafe { LLVMLinkModules2(into, from) } != 0 {
        bail!("modules do not fit together");
    }
    Ok(())
}

fn target_machine(module: LLVMModuleRef) -> Result<LLVMTargetMachineRef> {
    let mut target = null_mut();
    let mut message = null_mut();
    // SAFETY: initialisation is idempotent; results are checked.
    unsafe {
        LLVMInitializeX86TargetInfo();
        LLVMInitializeX86Target();
        LLVMInitializeX86TargetMC();
        LLVMInitializeX86AsmPrinter();
        LLVMInitializeX86AsmParser();
        let triple = LLVMGetTarget(module);
        if LLVMGetTargetFromTriple(triple, &mut target, &mut message) != 0 {
            bail!("this target is not supported (only x86-64 is): {}", take_message(message));
        }
        Ok(LLVMCreateTargetMachine(
            target,
            triple,
            c"x86-64".as_ptr(),
            c"".as_ptr(),
            LLVMCodeGenOptLevel::LLVMCodeGenLevelDefault,
            LLVMRelocMode::LLVMRelocPIC,
            LLVMCodeModel::LLVMCodeModelDefault,
        ))
    }
}
