//! `tarragon variant`: a derived program as a file.

use anyhow::Result;
use compiler::{DeriveOptions, Variant, derive_to};
use executor::{Replaced, find_program, left_out, replace_functions};

use crate::Verdict;
use crate::args::{VariantArgs, VariantName};

pub(crate) fn variant(args: &VariantArgs) -> Result<Verdict> {
    let variant = match args.variant {
        VariantName::Traced => Variant::Traced,
        VariantName::Sanitized => Variant::Sanitized,
        VariantName::Covered => Variant::Covered,
        VariantName::Counted => Variant::Counted,
    };
    let named = find_program(args.program.as_os_str())?;
    let Replaced { program, notes, .. } = replace_functions(&named, &args.models.models, None)?;
    notes.iter().for_each(|note| eprintln!("note: {note}"));
    let derived = derive_to(&program, variant, &args.output, &DeriveOptions::from_environment()?)?;
    left_out(variant, &derived.left_out).iter().for_each(|note| eprintln!("note: {note}"));
    println!("{}", derived.executable.display());
    if derived.sites.exists() {
        println!("{}", derived.sites.display());
    }
    Ok(Verdict::NoBug)
}
