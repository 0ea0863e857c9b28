//! What kind of input a file name or a `-x` language announces.

use std::ffi::OsStr;
use std::path::Path;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InputKind {
    /// Clang turns it into LLVM code.
    Source,
    Assembly,
    /// Compiled, it becomes a precompiled header.
    Header,
    /// Goes to the linker as it is: object, archive, shared library, linker script.
    Native,
    /// A language in which one input has several outputs or another compiler does the work.
    Foreign,
}

impl InputKind {
    pub fn of(path: &Path, language: Option<&OsStr>) -> InputKind {
        match language.map(OsStr::to_string_lossy) {
            Some(language) => of_language(&language),
            None => of_extension(&path.extension().unwrap_or_default().to_string_lossy()),
        }
    }
}

fn of_language(language: &str) -> InputKind {
    match language {
        "c" | "c++" | "objective-c" | "objective-c++" | "ir" | "c++-module" | "pcm" => {
            InputKind::Source
        }
        "assembler" | "assembler-with-cpp" => InputKind::Assembly,
        _ if language.ends_with("cpp-output") => InputKind::Source,
        _ if language.ends_with("header") || language.ends_with("header-unit") => InputKind::Header,
        _ => InputKind::Foreign,
    }
}

fn of_extension(extension: &str) -> InputKind {
    match extension {
        "c" | "i" | "m" | "mi" | "bc" | "ll" | "pcm" => InputKind::Source,
        "cc" | "cp" | "cpp" | "cxx" | "c++" | "C" | "CC" | "CPP" | "CXX" | "C++" | "ii" | "iim" => {
            InputKind::Source
        }
        "mm" | "M" | "mii" | "cppm" | "ccm" | "cxxm" | "c++m" | "ixx" => InputKind::Source,
        "s" | "S" | "sx" | "asm" => InputKind::Assembly,
        "h" | "hh" | "hpp" | "hxx" | "h++" | "H" | "hp" | "HPP" => InputKind::Header,
        "cu" | "hip" | "cl" | "clcpp" | "hlsl" | "rs" | "adb" | "ads" => InputKind::Foreign,
        "f" | "F" | "f77" | "for" | "FOR" | "fpp" | "FPP" | "f90" | "F90" | "f95" | "F95" => {
            InputKind::Foreign
        }
        _ => InputKind::Native,
    }
}
