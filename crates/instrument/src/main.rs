//! `tarragon-instrument`: the instrumenter as a program of its own, so that a failure of LLVM, which ends the process, is
//! an error message of the caller's. Users meet it through `tarragon fuzz` and `tarragon variant`.

use clap::Parser;
use std::path::PathBuf;
use std::process::ExitCode;

/// Derive a variant of a program from its bitcode
#[derive(Parser)]
struct Arguments {
    /// Which variant to derive
    #[arg(long, value_parser = ["traced"], default_value = "traced")]
    variant: String,
    /// Object file to write
    #[arg(short, long)]
    output: PathBuf,
    /// Table of sites to write
    #[arg(long)]
    sites: PathBuf,
    /// Also write the instrumented bitcode
    #[arg(long)]
    bitcode: Option<PathBuf>,
    /// A shared library that becomes part of the program: a folder with its bitcode and a list of its exports
    #[arg(long = "library", value_name = "FOLDER")]
    libraries: Vec<PathBuf>,
    /// Bitcode of the program, in link order
    #[arg(required_unless_present = "libraries")]
    inputs: Vec<PathBuf>,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let options = instrument::Options {
        inputs: arguments.inputs,
        libraries: arguments.libraries,
        object: arguments.output,
        sites: arguments.sites,
        bitcode: arguments.bitcode,
    };
    match instrument::trace_variant(&options) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("tarragon-instrument: {error:#}");
            ExitCode::from(2)
        }
    }
}
