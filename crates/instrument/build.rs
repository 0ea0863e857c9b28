//! Compiles the runtime to LLVM bitcode, which the instrumenter carries inside itself.
//!
//! The bitcode is made by the same compiler that builds Tarragon, as one module with link-time optimisation, so that
//! no symbol of Rust's libraries is left open in it.

use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    let crates = folder("CARGO_MANIFEST_DIR").parent().expect("the crates folder").to_owned();
    let out = folder("OUT_DIR");
    // Relative to this crate: another checkout may build into the same folder.
    for name in ["trace", "runtime"] {
        println!("cargo::rerun-if-changed=../{name}/src");
    }
    let trace = out.join("libtrace.rlib");
    rustc(&["--crate-name=trace", "--crate-type=rlib"], &crates.join("trace/src/lib.rs"), &trace);
    let external = format!("--extern=trace={}", trace.display());
    rustc(
        &[
            "--crate-name=runtime",
            "--crate-type=staticlib",
            "--cfg=tarragon_bitcode",
            "-Clto=fat",
            "--emit=llvm-bc",
            &external,
        ],
        &crates.join("runtime/src/lib.rs"),
        &out.join("runtime.bc"),
    );
}

/// Asked when this runs, not when it was compiled: a checkout may have moved since.
fn folder(variable: &str) -> PathBuf {
    PathBuf::from(std::env::var_os(variable).expect("cargo sets its variables"))
}

fn rustc(arguments: &[&str], source: &Path, output: &Path) {
    let compiler = std::env::var_os("RUSTC").expect("cargo sets RUSTC");
    let common = ["--edition=2024", "-Copt-level=3", "-Cpanic=abort", "-Ccodegen-units=1"];
    let status = Command::new(compiler)
        .args(common)
        .args(["-Crelocation-model=pic", "-Cforce-unwind-tables=no"])
        .args(arguments)
        .arg(source)
        .arg("-o")
        .arg(output)
        .status()
        .expect("rustc starts");
    assert!(status.success(), "the runtime does not compile to bitcode");
}
