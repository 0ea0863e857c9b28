//! `tarragon fuzz --strategy cese` and `grammar-enumerate`: all strings of a grammar.

use anyhow::Result;
use grammar::language::Language;
use grammar::symbolic::{Measure, Options, Symbolic, symbolic};
use grammar_search::{Cese, CeseOptions};

use crate::args::{FuzzArgs, MeasureName, StrategyName, Switch};

/// The grammar whose strings are enumerated, with holes or without; `None` for other strategies.
pub(crate) fn abstraction(args: &FuzzArgs, language: Option<&Language>) -> Result<Option<Symbolic>> {
    match (args.strategy, language) {
        (Some(StrategyName::Cese), Some(language)) => {
            args.enumeration.abstraction.symbolic(language).map(Some)
        }
        (Some(StrategyName::GrammarEnumerate), Some(language)) => {
            Ok(Some(symbolic(language, &Options::concrete(&language.grammar))?))
        }
        _ => Ok(None),
    }
}

pub(crate) fn cese<'s>(args: &FuzzArgs, symbolic: &'s Symbolic) -> Result<Cese<'s>> {
    let (measure, largest) = match args.enumeration.by {
        MeasureName::Length => (Measure::Length, Some(args.max_len)),
        MeasureName::Height => (Measure::Height, args.enumeration.max_height),
    };
    let sizes = args.enumeration.abstraction.sizes(measure);
    let shard = args.enumeration.shard.unwrap_or((0, 1));
    let lengths = args.enumeration.lengths == Switch::On;
    Ok(Cese::new(symbolic, &CeseOptions { sizes, largest, shard, lengths })?)
}
