//! Objects with debug information, for those who read the types of a program.
//!
//! The passes of the optimiser stay off, so that nothing is lost; but clang describes the functions
//! that a source only calls where it is told to optimise.

use crate::arguments::Invocation;
use crate::clang;
use crate::driver::Language;
use std::ffi::OsString;

const TO_OBJECT: &str =
    "-O1 -g -gdwarf-5 -w -Qunused-arguments -Xclang -disable-llvm-passes -c -o - -x";

/// Compiles C source text with options of a compilation, of which inputs are left out. The error is
/// clang's text.
pub fn debug_object(text: &str, options: &[OsString]) -> Result<Vec<u8>, String> {
    let invocation = Invocation::parse(options);
    let words: Vec<OsString> =
        invocation.options().flat_map(|option| option.words.clone()).collect();
    compile(words, "c", text.as_bytes())
}

/// Compiles bitcode that a program carries.
pub fn debug_object_of(bitcode: &[u8]) -> Result<Vec<u8>, String> {
    compile(Vec::new(), "ir", bitcode)
}

fn compile(mut words: Vec<OsString>, language: &str, input: &[u8]) -> Result<Vec<u8>, String> {
    let compiler = clang::compiler(Language::C).map_err(|missing| missing.to_string())?;
    words.extend(TO_OBJECT.split_whitespace().chain([language, "-"]).map(OsString::from));
    let mut prepared = clang::prepare(&compiler, &words).map_err(|error| error.to_string())?;
    clang::capture(&mut prepared, Some(input))
}
