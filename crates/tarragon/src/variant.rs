//! `tarragon variant`: a derived program as a file.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use compiler::{DeriveOptions, Variant, derive_to, with_entry};
use executor::{Replaced, find_program, left_out, replace_functions};

use crate::Verdict;
use crate::args::{VariantArgs, VariantName};

pub(crate) fn variant(args: &VariantArgs) -> Result<Verdict> {
    let program = replaced(args)?;
    let variant = match args.variant {
        VariantName::Plain => return plain(args, &program),
        VariantName::Traced => Variant::Traced,
        VariantName::Sanitized => Variant::Sanitized,
        VariantName::Covered => Variant::Covered,
        VariantName::Counted => Variant::Counted,
    };
    let derived = derive_to(&program, variant, &args.output, &DeriveOptions::from_environment()?)?;
    left_out(variant, &derived.left_out).iter().for_each(|note| eprintln!("note: {note}"));
    println!("{}", derived.executable.display());
    if derived.sites.exists() {
        println!("{}", derived.sites.display());
    }
    Ok(Verdict::NoBug)
}

/// The program with what takes the place of its functions.
fn replaced(args: &VariantArgs) -> Result<PathBuf> {
    let named = find_program(args.program.as_os_str())?;
    if let Some(main) = &args.main {
        return Ok(with_entry(&named, main, &args.opened, &DeriveOptions::from_environment()?)?);
    }
    let Replaced { program, notes, .. } = replace_functions(&named, &args.models.models, None)?;
    notes.iter().for_each(|note| eprintln!("note: {note}"));
    Ok(program)
}

fn plain(args: &VariantArgs, program: &Path) -> Result<Verdict> {
    let is_changed = args.main.is_some() || !args.models.models.is_empty();
    ensure!(is_changed, "the plain program is there already; replace its --main or give a --model");
    std::fs::copy(program, &args.output)
        .with_context(|| format!("{}: cannot be written", args.output.display()))?;
    println!("{}", args.output.display());
    Ok(Verdict::NoBug)
}
