//! Code of Tarragon's own that becomes part of a variant: the `main` of harnesses, sockets,
//! processes, stacks of threads, and reports of the sanitized variant.
//!
//! It is C, and compiled when the variant is derived, so that it fits the machine's C library.

use crate::clang;
use crate::derive::Variant;
use crate::driver::Language;
use crate::harness;
use crate::payload::Payload;
use object::read::elf::ElfFile64;
use object::{LittleEndian, Object as _, ObjectSymbol as _};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

const SOCKETS: &str =
    concat!(include_str!("settle.h"), include_str!("sockets.h"), include_str!("sockets.c"));
pub(crate) const PROCESSES: &str = concat!(include_str!("family.h"), include_str!("processes.c"));
const THREADS: &str = include_str!("threads.c");
const CHECKS: &str = include_str!("checks.c");
const SAMPLES: &str = include_str!("samples.c");

/// What becomes part of variants, which are made again where it is not what it was.
pub(crate) const TEXTS: [&str; 6] = [harness::MAIN, SOCKETS, PROCESSES, THREADS, CHECKS, SAMPLES];

/// Functions that wait for somebody else's data.
const CONNECTING: [&str; 6] = ["accept", "accept4", "connect", "recv", "recvfrom", "recvmsg"];

/// Functions that make another process of the program.
pub(crate) const FORKING: [&str; 2] = ["fork", "daemon"];

/// Functions that say how large stacks of threads are.
const SIZING: [&str; 1] = ["pthread_attr_setstacksize"];

/// Writes the bitcode of what the variant needs to `folder`.
pub(crate) fn write(
    program: &Path,
    payload: &Payload,
    variant: Variant,
    folder: &Path,
) -> Result<Vec<PathBuf>, String> {
    let mut sources = Vec::new();
    if payload.recipe.as_ref().is_some_and(|recipe| recipe.is_harness) {
        sources.push(("harness-main.bc", harness::MAIN));
    }
    if uses_one_of(program, &CONNECTING) {
        sources.push(("sockets.bc", SOCKETS));
    }
    if uses_one_of(program, &FORKING) {
        sources.push(("processes.bc", PROCESSES));
    }
    if uses_one_of(program, &SIZING) {
        sources.push(("threads.bc", THREADS));
    }
    if variant == Variant::Sanitized {
        sources.push(("checks.bc", CHECKS));
        sources.push(("samples.bc", SAMPLES));
    }
    let write = |(name, source): (&str, &str)| {
        let file = folder.join(name);
        std::fs::write(&file, compile(source, variant)?).map_err(|error| error.to_string())?;
        Ok(file)
    };
    sources.into_iter().map(write).collect()
}

fn compile(source: &str, variant: Variant) -> Result<Vec<u8>, String> {
    let compiler = clang::compiler(Language::C).map_err(|missing| missing.to_string())?;
    let mut words = vec![
        "-x",
        "c",
        "-O0",
        "-Xclang",
        "-disable-O0-optnone",
        "-c",
        "-emit-llvm",
        "-o",
        "-",
        "-",
    ];
    if variant == Variant::Traced {
        words.push("-DMODELLED");
    }
    let words: Vec<OsString> = words.into_iter().map(OsString::from).collect();
    let mut prepared = clang::prepare(&compiler, &words).map_err(|error| error.to_string())?;
    clang::capture(&mut prepared, Some(source.as_bytes()))
}

/// Whether the program may take several connections.
pub fn accepts_connections(program: &Path) -> bool {
    uses_one_of(program, &["accept", "accept4"])
}

/// Whether the program takes one of the functions from the C library.
pub(crate) fn uses_one_of(program: &Path, functions: &[&str]) -> bool {
    let Ok(content) = std::fs::read(program) else { return false };
    let Ok(elf) = ElfFile64::<LittleEndian>::parse(&*content) else { return false };
    let mut wanted = elf.dynamic_symbols().filter(|symbol| symbol.is_undefined());
    wanted.any(|symbol| symbol.name().is_ok_and(|name| functions.contains(&name)))
}
