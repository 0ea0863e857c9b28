//! `tarragon fuzz --strategy cese` and `grammar-enumerate`: all strings of a grammar.

use anyhow::Result;
use grammar::language::Language;
use grammar::symbolic::{Measure, Options, Symbolic, symbolic};
use grammar_search::{Cese, CeseOptions};

use crate::args::{FuzzArgs, MeasureName, Switch};

/// The grammar with holes for tokens.
pub(crate) fn with_holes(args: &FuzzArgs, language: &Language) -> Result<Symbolic> {
    args.enumeration.abstraction.symbolic(language)
}

/// The grammar itself.
pub(crate) fn without_holes(_: &FuzzArgs, language: &Language) -> Result<Symbolic> {
    Ok(symbolic(language, &Options::concrete(&language.grammar))?)
}

pub(crate) fn cese<'s>(args: &FuzzArgs, symbolic: &'s Symbolic) -> Result<Cese<'s>> {
    let (measure, largest) = match args.enumeration.by {
        MeasureName::Length => (Measure::Length, Some(args.bounds.max_len)),
        MeasureName::Height => (Measure::Height, args.enumeration.max_height),
    };
    let sizes = args.enumeration.abstraction.sizes(measure);
    let shard = args.enumeration.shard.unwrap_or((0, 1));
    let lengths = args.enumeration.lengths == Switch::On;
    Ok(Cese::new(symbolic, &CeseOptions { sizes, largest, shard, lengths })?)
}
