//! Golden tests: `tests/golden/*.ll` go in, and what the traced variant makes of their functions is
//! compared with the files beside them, which `UPDATE_EXPECT=1` writes anew.
//!
//! LLVM's passes after the instrumentation have not run: what is compared is the instrumenter's
//! own.

use crate::llvm::{self, Builder, Value, take_message};
use crate::module::Module;
use anyhow::{Context as _, Result, ensure};
use inkwell::llvm_sys::bit_writer::LLVMWriteBitcodeToFile;
use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::ir_reader::LLVMParseIRInContext2;
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::ptr::null_mut;

fn inputs() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let entries = std::fs::read_dir(folder).expect("the folder of golden tests");
    let files = entries.map(|entry| entry.expect("an entry").path());
    let mut inputs: Vec<PathBuf> =
        files.filter(|file| file.extension() == Some("ll".as_ref())).collect();
    inputs.sort();
    inputs
}

/// Writes the bitcode of a text, as a program's comes.
pub(crate) fn assemble(text: &Path, bitcode: &Path) -> Result<()> {
    let [from, to] = [text, bitcode].map(|path| llvm::c_string(&path.to_string_lossy()));
    let (mut buffer, mut module, mut message) = (null_mut(), null_mut(), null_mut());
    // SAFETY: a context of its own; results are checked; the buffer is freed.
    unsafe {
        let context = LLVMContextCreate();
        let failed =
            LLVMCreateMemoryBufferWithContentsOfFile(from.as_ptr(), &mut buffer, &mut message) != 0
                || LLVMParseIRInContext2(context, buffer, &mut module, &mut message) != 0;
        LLVMDisposeMemoryBuffer(buffer);
        ensure!(!failed, "{}: {}", text.display(), take_message(message));
        ensure!(
            LLVMWriteBitcodeToFile(module, to.as_ptr()) == 0,
            "cannot write {}",
            bitcode.display()
        );
        LLVMDisposeModule(module);
        LLVMContextDispose(context);
    }
    Ok(())
}

/// What becomes of the functions of a program, and the descriptors that they name.
fn instrumented(text: &Path) -> Result<String> {
    let stem = text.file_stem().context("a name")?.to_string_lossy();
    let bitcode =
        std::env::temp_dir().join(format!("tarragon-golden-{}-{stem}.bc", std::process::id()));
    assemble(text, &bitcode)?;
    let module = Module::read(std::slice::from_ref(&bitcode), &[])?;
    std::fs::remove_file(&bitcode)?;
    let builder = Builder::new(module.context);
    let functions = crate::instrumentable(&module);
    crate::trace_program(&module, &builder, &[], &HashSet::new())?;
    let code: String =
        functions.iter().map(|function| format!("\n{}", printed(&module, *function))).collect();
    Ok(descriptors(&module, &code) + &code)
}

/// A value as text, without numbers that depend on what else is in the program.
fn printed(module: &Module, value: Value) -> String {
    name_descriptors(module);
    // SAFETY: LLVM's text is freed by `take_message`.
    let text = take_message(unsafe { LLVMPrintValueToString(value) });
    let lines = text.lines().filter(|line| !line.starts_with(';'));
    lines
        .map(|line| without_numbers(line.split(" ; preds").next().unwrap_or(line)) + "\n")
        .collect()
}

/// Removes the numbers of attributes and metadata.
fn without_numbers(line: &str) -> String {
    let words = line.split(' ').filter(|word| {
        let number = word.strip_prefix(['#', '!']);
        !number.is_some_and(|number| number.bytes().all(|byte| byte.is_ascii_digit()))
    });
    let line = words.collect::<Vec<&str>>().join(" ");
    line.trim_end().to_owned()
}

/// Regions and lists of cases have no names, and LLVM's numbers for them depend on the runtime.
fn name_descriptors(module: &Module) {
    for global in module.globals().into_iter().filter(|global| llvm::name(*global).is_empty()) {
        llvm::set_name(global, "descriptor");
    }
}

/// The constants without names of their own that code uses.
fn descriptors(module: &Module, code: &str) -> String {
    let is_used = |global: &Value| {
        let name = llvm::name(*global);
        let words = || code.split([' ', ',', '(', ')', '\n']);
        name.starts_with("descriptor") && words().any(|word| word.strip_prefix('@') == Some(&name))
    };
    module.globals().into_iter().filter(is_used).map(|global| printed(module, global)).collect()
}

#[test]
fn instrumented_code_is_as_expected() {
    let is_update = std::env::var_os("UPDATE_EXPECT").is_some();
    let mut different = Vec::new();
    for input in inputs() {
        let actual = instrumented(&input).expect("an instrumented program");
        let expected_file = input.with_extension("expected");
        if is_update {
            std::fs::write(&expected_file, &actual).expect("the expected output");
        }
        let expected = std::fs::read_to_string(&expected_file).unwrap_or_default();
        if actual != expected {
            different.push(format!("{}:\n{actual}", input.display()));
        }
    }
    assert!(different.is_empty(), "UPDATE_EXPECT=1 if this is right:\n{}", different.join("\n"));
}
