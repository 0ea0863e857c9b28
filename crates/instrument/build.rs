//! Compiles the runtime to LLVM bitcode, which the instrumenter carries inside itself.
//!
//! The bitcode is made by the same compiler that builds Tarragon, as one module with link-time
//! optimisation, so that no symbol of Rust's libraries is left open in it.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The crates of the runtime, each after those that it depends on. The bitcode is that of the last,
/// with all others in it.
const CRATES: &[&str] = &["trace", "runtime-process", "runtime-core", "runtime-models", "runtime"];

/// What `src/allocator.rs` has in the place of the C library, for all libraries to find: what one
/// function made another must know.
const ALLOCATOR: &[&str] = &[
    "malloc",
    "calloc",
    "realloc",
    "free",
    "malloc_usable_size",
    "aligned_alloc",
    "memalign",
    "posix_memalign",
];

fn main() {
    for name in ALLOCATOR {
        println!("cargo::rustc-link-arg-bins=-Wl,--export-dynamic-symbol={name}");
    }
    let crates = folder("CARGO_MANIFEST_DIR").parent().expect("the crates folder").to_owned();
    let out = folder("OUT_DIR");
    let (last, libraries) = CRATES.split_last().expect("there are crates");
    // Relative to this crate: another checkout may build into the same folder.
    for name in CRATES {
        println!("cargo::rerun-if-changed=../{name}/src");
    }
    let source = |name: &str| crates.join(name).join("src/lib.rs");
    // Crates are found by name, and there again where another one refers to them.
    let mut externs = vec![format!("-Ldependency={}", out.display())];
    for name in libraries {
        let library = out.join(format!("lib{}.rlib", identifier(name)));
        compile(name, &["--crate-type=rlib"], &externs, &source(name), &library);
        externs.push(format!("--extern={}={}", identifier(name), library.display()));
    }
    // The crates become one module only where the compiler links, too.
    let emit = format!("--emit=link,llvm-bc={}", out.join("runtime.bc").display());
    let bitcode = ["--crate-type=staticlib", "-Clto=fat", &emit];
    compile(last, &bitcode, &externs, &source(last), &out.join("libruntime.a"));
}

/// Asked when this runs, not when it was compiled: a checkout may have moved since.
fn folder(variable: &str) -> PathBuf {
    PathBuf::from(std::env::var_os(variable).expect("cargo sets its variables"))
}

/// The name of a package as code has it.
fn identifier(name: &str) -> String {
    name.replace('-', "_")
}

fn compile(name: &str, kind: &[&str], externs: &[String], source: &Path, output: &Path) {
    let compiler = std::env::var_os("RUSTC").expect("cargo sets RUSTC");
    let common = ["--edition=2024", "-Copt-level=3", "-Cpanic=abort", "-Ccodegen-units=1"];
    let status = Command::new(compiler)
        .arg(format!("--crate-name={}", identifier(name)))
        .args(common)
        .args(["-Crelocation-model=pic", "-Cforce-unwind-tables=no", "--cfg=tarragon_bitcode"])
        .args(kind)
        .args(externs)
        .arg(source)
        .arg("-o")
        .arg(output)
        .status()
        .expect("rustc starts");
    assert!(status.success(), "{name} does not compile to bitcode");
}
