//! What can be said to `tarragon unit`.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use unit::interface::GivenLength;

use crate::args::{CheckArgs, ConfinementArgs, OutputArgs, Switch};
use crate::units::time;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tarragon unit abs.c --function my_abs                    a row for each path
  tarragon unit abs.c --function my_abs --check 'result >= 0'
  tarragon unit list.c --all -- -Iinclude -DNDEBUG         all functions; options of the compiler
  tarragon unit sum.c --function sum --length a=n --assume 'n < 3'
  tarragon unit net.c --function poll --stub-externals     what is not in the file returns anything
  tarragon unit abs.c --function my_abs --against other.c:abs2     do they do the same?
  tarragon unit lib.a --function parse                     what tarragon-cc built
  tarragon unit ./calc --function evaluate                 a function of a linked program
  tarragon unit list.h --all -- list.c                     what a header declares

Exit codes: 0 no bug, 1 bugs found (crashes, violations, differences), 2 error.")]
pub(crate) struct UnitArgs {
    /// A C source, or a program, an object or an archive that was built with `tarragon cc`, or a
    /// header whose functions are in what stands after `--`
    pub file: PathBuf,
    /// A function to test
    #[arg(long = "function", value_name = "NAME", required_unless_present = "all")]
    pub functions: Vec<String>,
    /// Test all functions that the file defines, or a header declares
    #[arg(long, conflicts_with = "functions")]
    pub all: bool,
    /// Compare with this function of the same type, on the same arguments
    #[arg(long, value_name = "[FILE.c:]NAME", conflicts_with = "all")]
    pub against: Option<String>,
    /// By how much floating-point numbers may differ, with --against
    #[arg(long, value_name = "X", default_value_t = 0.0, requires = "against")]
    pub tolerance: f64,
    /// A condition over the parameters, in C, that holds before each call
    #[arg(long, value_name = "CONDITION")]
    pub assume: Vec<String>,
    /// A condition over the parameters and `result`, in C, that must hold after each call
    #[arg(long, value_name = "CONDITION")]
    pub check: Vec<String>,
    /// How long the array of a parameter is: the name of another parameter, or a number
    #[arg(long = "length", value_name = "ARRAY=LENGTH", value_parser = given_length)]
    pub lengths: Vec<GivenLength>,
    /// A global variable that has any value before each call
    #[arg(long = "global", value_name = "NAME")]
    pub globals: Vec<String>,
    /// Functions without a body return any value of their type
    #[arg(long)]
    pub stub_externals: bool,
    /// New objects lie at most this many pointers away from an argument
    #[arg(long, value_name = "N", default_value_t = 2)]
    pub depth: u32,
    /// Longest text behind a pointer to characters
    #[arg(long, value_name = "N", default_value_t = 4)]
    pub text_len: u64,
    /// Most elements of an array whose length is a parameter
    #[arg(long, value_name = "N", default_value_t = 4)]
    pub array_len: u64,
    /// Whether pointers may be null
    #[arg(long, value_enum, default_value_t = Switch::On)]
    pub null: Switch,
    /// Let enumerations have values that they do not name
    #[arg(long)]
    pub any_enum: bool,
    /// Stop after this time for each function
    #[arg(long, value_name = "TIME", value_parser = time, default_value = "10s")]
    pub time: Duration,
    /// Directory for the results
    #[arg(long, value_name = "DIR", default_value = "tarragon-unit")]
    pub out: PathBuf,
    /// Print a table in the format of spreadsheets
    #[arg(long, conflicts_with_all = ["json", "quiet"])]
    pub csv: bool,
    #[command(flatten)]
    pub confinement: ConfinementArgs,
    #[command(flatten)]
    pub checks: CheckArgs,
    #[command(flatten)]
    pub output: OutputArgs,
    /// Options of the compiler, and further sources, objects and libraries to link
    #[arg(last = true, value_name = "OPTIONS")]
    pub options: Vec<OsString>,
}

/// `a=n`
fn given_length(text: &str) -> Result<GivenLength, String> {
    match text.split_once('=') {
        Some((array, length)) if !array.is_empty() && !length.is_empty() => {
            Ok(GivenLength { array: array.trim().to_owned(), length: length.trim().to_owned() })
        }
        _ => Err("write the array's parameter and its length as ARRAY=LENGTH".to_owned()),
    }
}
