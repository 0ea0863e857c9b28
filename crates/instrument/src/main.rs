//! `tarragon-instrument`: the instrumenter as a program of its own, so that a failure of LLVM,
//! which ends the process, is an error message of the caller's. Users meet it through `tarragon
//! fuzz` and `tarragon variant`.

mod allocator;

use clap::{Parser, ValueEnum};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Derive a variant of a program from its bitcode
#[derive(Parser)]
struct Arguments {
    /// Which variant to derive
    #[arg(long, value_enum, default_value = "traced")]
    variant: Variant,
    /// Derive nothing, print functions that look like lexers as JSON
    #[arg(long, conflicts_with_all = ["variant", "output", "sites", "bitcode"])]
    lexers: bool,
    /// Derive nothing, write the program's modules and the models to this folder, with the functions
    /// of the models in the place of others
    #[arg(
        long,
        value_name = "FOLDER",
        conflicts_with_all = ["variant", "lexers", "output", "sites", "bitcode"]
    )]
    substitute: Option<PathBuf>,
    /// Bitcode of the user's models
    #[arg(long = "model", value_name = "FILE", requires = "substitute")]
    models: Vec<PathBuf>,
    /// Bitcode of what stands between a program and its surroundings: models that may wrap main, and
    /// that give way to the user's
    #[arg(long, value_name = "FILE", requires = "substitute")]
    surroundings: Vec<PathBuf>,
    /// A model's main takes the place of the program's
    #[arg(long, requires = "substitute")]
    entry: bool,
    /// The entry may use this function or variable, although it is static in the program
    #[arg(long = "open", value_name = "NAME", requires = "entry")]
    opened: Vec<String>,
    /// Object file to write
    #[arg(short, long, required_unless_present_any = ["lexers", "substitute"])]
    output: Option<PathBuf>,
    /// Table to write: of sites for the traced variant, of source lines for the covered one, of
    /// loops for the counted one
    #[arg(long, required_if_eq_any([
        ("variant", "traced"), ("variant", "covered"), ("variant", "counted")
    ]))]
    sites: Option<PathBuf>,
    /// Also write the instrumented bitcode
    #[arg(long)]
    bitcode: Option<PathBuf>,
    /// A shared library that becomes part of the program: a folder with its bitcode and a list of
    /// its exports
    #[arg(long = "library", value_name = "FOLDER")]
    libraries: Vec<PathBuf>,
    /// A list of functions that code without bitcode knows by their names, one a line
    #[arg(long, value_name = "FILE")]
    called_by_name: Option<PathBuf>,
    /// A function that makes tokens, and where it leaves them; only for the traced variant
    #[arg(long = "lexer", value_name = "FUNCTION[:PLACE]")]
    named: Vec<String>,
    /// Bitcode of the program, in link order
    #[arg(required_unless_present = "libraries")]
    inputs: Vec<PathBuf>,
}

#[derive(Clone, Copy, ValueEnum)]
enum Variant {
    /// Records its path condition
    Traced,
    /// Checks its memory accesses with AddressSanitizer
    Sanitized,
    /// Records which of its lines run
    Covered,
    /// Counts the rounds of its loops
    Counted,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let result = match &arguments.substitute {
        Some(folder) => substitute(&arguments, folder),
        None if arguments.lexers => print_lexers(&arguments),
        None => derive(arguments),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("tarragon-instrument: {error:#}");
            ExitCode::from(2)
        }
    }
}

fn print_lexers(arguments: &Arguments) -> anyhow::Result<()> {
    let proposals = instrument::propose_lexers(&arguments.inputs, &arguments.libraries)?;
    println!("{}", serde_json::to_string(&proposals)?);
    Ok(())
}

fn substitute(arguments: &Arguments, folder: &Path) -> anyhow::Result<()> {
    let Arguments { inputs, libraries, models, surroundings, .. } = arguments;
    let opened = arguments.entry.then_some(&*arguments.opened);
    let report = instrument::substitute(inputs, libraries, (models, surroundings), opened, folder)?;
    println!("{}", serde_json::to_string(&report)?);
    Ok(())
}

fn derive(arguments: Arguments) -> anyhow::Result<()> {
    let options = instrument::Options {
        inputs: arguments.inputs,
        libraries: arguments.libraries,
        called_by_name: arguments.called_by_name,
        lexers: arguments.named,
        object: arguments.output.unwrap_or_default(),
        bitcode: arguments.bitcode,
    };
    let table = arguments.sites.unwrap_or_default();
    match arguments.variant {
        Variant::Traced => instrument::trace_variant(&options, &table),
        Variant::Covered => instrument::covered_variant(&options, &table),
        Variant::Counted => instrument::counted_variant(&options, &table),
        Variant::Sanitized => instrument::sanitized_variant(&options),
    }
}
