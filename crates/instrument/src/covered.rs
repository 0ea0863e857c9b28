//! The covered variant: a coverage map of branch outcomes and basic blocks, and the fork server. It
//! keeps no labels.

use crate::coverage::Coverage;
use crate::llvm::Builder;
use crate::module::Module;
use crate::numbering::Numbering;
use crate::runtime::{Runtime, main_start};
use crate::{constructors, entry, instrumentable, source, words};
use anyhow::Result;
use sites::SourceTable;

/// Each side of a branch gets a block of its own. Blocks of the program were marked before.
const SPLIT: &str = "function(break-crit-edges)";

/// Passes after everything that counts was marked: little, because each input runs once.
const AFTER: &str = "always-inline,globaldce,\
    function(sroa<modify-cfg>,early-cse<memssa>,simplifycfg)";

pub fn instrument(
    module: &Module,
    builder: &Builder,
    numbering: &Numbering,
) -> Result<SourceTable> {
    let defined = instrumentable(module);
    let table = source::describe(numbering, &defined);
    let mut coverage = Coverage::new(module, builder, table.coverage_len());
    let mut next = table.outcomes;
    for &function in &defined {
        next = coverage.mark_blocks(builder, function, next);
    }
    module.run_passes(SPLIT)?;
    for &function in &defined {
        coverage.instrument(builder, numbering, function);
    }
    let runtime = Runtime::link_without_models(module, builder)?;
    if let Some(at) = main_start(&defined) {
        builder.before(at);
        start(builder, &runtime, &coverage);
    }
    words::insert(module, builder, &runtime);
    constructors::place(module);
    module.verify()?;
    module.forget_source();
    module.run_passes(AFTER)?;
    Ok(table)
}

/// What ran before `main` belongs to every run: it is kept over the start, at which the map becomes
/// shared memory.
fn start(builder: &Builder, runtime: &Runtime, coverage: &Coverage) {
    let len = builder.const_i64(coverage.len);
    let early = runtime.call(builder, entry::__tg_keep_coverage, [coverage.map, len]);
    runtime.start(builder, coverage, (builder.null(), 0));
    runtime.call(builder, entry::__tg_add_coverage, [coverage.map, len, early]);
}
