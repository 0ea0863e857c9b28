//! Rewrites LLVM bitcode so that the program keeps expressions over its input beside its values.
//!
//! This is the only crate that links LLVM. It takes the bitcode of a whole program and writes one
//! object file and the table of the program's sites. It must not run the program, and it must not
//! know what expressions mean: that is the runtime's task, which is linked into the program here.

mod attributes;
mod call_places;
mod calls;
mod concrete;
mod constructors;
mod counted;
mod coverage;
mod covered;
mod crossings;
mod entry;
mod expressions;
mod foreign;
mod formats;
mod function;
mod globals;
#[cfg(test)]
mod golden;
mod intrinsics;
mod lexers;
mod library;
mod lines;
mod llvm;
mod memo;
mod module;
mod natural_loops;
mod numbering;
mod opaque;
mod operands;
mod outside;
mod promises;
mod rounds;
mod runtime;
mod source;
mod strings;
mod substitution;
mod types;
mod undefined;
mod versions;
mod visit;
mod wide_switch;
mod words;

pub use lexers::propose as propose_lexers;
pub use substitution::substitute;

use anyhow::{Context as _, Result};
use concrete::Concrete;
use coverage::Coverage;
use function::{Function, Program};
use llvm::{Builder, Value};
use module::Module;
use numbering::Numbering;
use runtime::Runtime;
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// Passes before sites are numbered: the C library's inline functions are calls again, which models
/// can answer.
const FIRST: &str = "elim-avail-extern";

/// Passes before instrumentation: values instead of memory, no vectors, no critical edges. Passes
/// that turn branches into selects are left out: a path is a sequence of branches.
const BEFORE: &str = "always-inline,\
    function(lower-expect,sroa<modify-cfg>,early-cse<memssa>,instsimplify,gvn,dse,\
    scalarizer<load-store>,dce,break-crit-edges)";

/// Passes after it, once the runtime's fast paths can be inlined.
const AFTER: &str = "always-inline,default<O2>";

/// The same for programs of more than [`LARGE`] instructions: a tenth slower code in a quarter of
/// the time.
const AFTER_LARGE: &str = "always-inline,globaldce,\
    function(sroa<modify-cfg>,early-cse<memssa>,simplifycfg,instcombine<max-iterations=1;no-verify-fixpoint>,\
    simplifycfg,loop-mssa(licm),gvn,simplifycfg)";
const LARGE: usize = 20_000;

/// Passes of the sanitized variant. Nothing is optimised before the sanitizer looks, so that
/// mistakes are still there. What comes after it makes code that is hardly slower than that of
/// `default<O1>`, in two thirds of the time.
const SANITIZE: &str = "elim-avail-extern,always-inline,\
    coro-cond(coro-early,cgscc(coro-split),coro-cleanup,globaldce),asan,globaldce,\
    function(sroa<modify-cfg>,early-cse<memssa>,simplifycfg,\
    instcombine<max-iterations=1;no-verify-fixpoint>,simplifycfg)";

/// Options of the sanitizer's pass that clang gives it and that have no place among the passes'
/// names.
const SANITIZER_FLAGS: [&std::ffi::CStr; 2] = [c"tarragon-instrument", c"-asan-use-after-scope"];

pub struct Options {
    pub inputs: Vec<PathBuf>,
    /// Folders of shared libraries that become part of the program, dependencies first.
    pub libraries: Vec<PathBuf>,
    pub object: PathBuf,
    /// A list of functions that code without bitcode knows by their names, one a line.
    pub called_by_name: Option<PathBuf>,
    /// Functions of which the traced variant makes tokens: `yylex`, `next_token:arg0->token.val`.
    pub lexers: Vec<String>,
    /// Also write the instrumented bitcode here.
    pub bitcode: Option<PathBuf>,
}

impl Options {
    fn known_names(&self) -> Result<HashSet<String>> {
        let Some(path) = &self.called_by_name else { return Ok(HashSet::new()) };
        let names = std::fs::read_to_string(path);
        let names = names.with_context(|| format!("cannot read {}", path.display()))?;
        Ok(names.lines().map(str::to_owned).collect())
    }
}

/// Derives the variant of a program that checks its memory accesses with AddressSanitizer, and its
/// arithmetic.
pub fn sanitized_variant(options: &Options) -> Result<()> {
    let module = Module::read(&options.inputs, &options.libraries)?;
    attributes::keep_inline_functions(&module)?;
    let builder = Builder::new(module.context);
    undefined::check(&module, &builder);
    promises::take_back(&module, &builder);
    promises::settle(&builder, module.functions());
    attributes::ask_for_address_sanitizer(&module);
    attributes::keep_calls(&module);
    let defined = instrumentable(&module);
    let runtime = Runtime::link_without_models(&module, &builder)?;
    let coverage = Coverage::new(&module, &builder, 0);
    if let Some(at) = runtime::main_start(&defined) {
        builder.before(at);
        runtime.start(&builder, &coverage, (builder.null(), 0));
    }
    words::insert(&module, &builder, &runtime);
    llvm::set_flags(&SANITIZER_FLAGS);
    lines::keep_only(&module)?;
    module.run_passes(SANITIZE)?;
    // Only now: the sanitizer's pass adds a constructor of its own, which makes variables known to
    // its runtime.
    constructors::place(&module);
    write(&module, options)
}

/// Derives the variant of a program that records which of its lines run, and writes the table of
/// its lines.
pub fn covered_variant(options: &Options, source: &Path) -> Result<()> {
    untraced_variant(options, source, covered::instrument)
}

/// Derives the variant of a program that counts the rounds of its loops, and writes the table of
/// its loops.
pub fn counted_variant(options: &Options, loops: &Path) -> Result<()> {
    untraced_variant(options, loops, counted::instrument)
}

/// A variant of the program as it is, with sites numbered as in the traced one, and its table.
fn untraced_variant<T: serde::Serialize>(
    options: &Options,
    table: &Path,
    instrument: impl FnOnce(&Module, &Builder, &Numbering) -> Result<T>,
) -> Result<()> {
    let module = Module::read(&options.inputs, &options.libraries)?;
    let builder = Builder::new(module.context);
    promises::take_back(&module, &builder);
    promises::initialise_variables(&module, &builder);
    promises::settle(&builder, module.functions());
    attributes::keep_recursion(&module);
    let numbering = number(&module, &builder)?;
    let made = instrument(&module, &builder, &numbering)?;
    write(&module, options)?;
    write_table(&made, table)
}

/// Derives the traced variant of a program, and writes the table of its sites.
pub fn trace_variant(options: &Options, sites: &Path) -> Result<()> {
    let module = Module::read(&options.inputs, &options.libraries)?;
    let builder = Builder::new(module.context);
    let known_names = options.known_names()?;
    let (numbering, after) = trace_program(&module, &builder, &options.lexers, &known_names)?;
    module.forget_source();
    module.run_passes(after)?;
    crossings::place_code(&module);
    write(&module, options)?;
    write_table(&numbering.table, sites)
}

/// Instruments a program; also returns the passes that come next.
fn trace_program(
    module: &Module,
    builder: &Builder,
    lexers: &[String],
    known_names: &HashSet<String>,
) -> Result<(Numbering, &'static str)> {
    promises::take_back(module, builder);
    promises::initialise_variables(module, builder);
    promises::hide(module, builder);
    attributes::keep_recursion(module);
    let enumerations = lexers::named::insert(module, builder, lexers)?;
    let mut numbering = number(module, builder)?;
    numbering.table.enumerations = enumerations;
    rounds::keep_variables_in_memory(module);
    lines::keep_only(module)?;
    module.run_passes(BEFORE)?;
    promises::show(module, builder);
    let defined = instrumentable(module);
    let hashes = opaque::hashes(module)?;
    let after = if instruction_count(&defined) > LARGE { AFTER_LARGE } else { AFTER };
    attributes::drop_memory_promises(module);
    let globals = globals::list(module, builder);
    let reachable = crossings::reachable_from_outside(module, &defined, known_names);
    let runtime = Runtime::link(module, builder)?;
    let mut coverage = Coverage::new(module, builder, numbering.table.outcomes);
    for &function in &defined {
        coverage.instrument(builder, &numbering, function);
    }
    let concrete = Concrete::versions(module, builder, &defined);
    crossings::keep_apart(module, &reachable);
    let program = Program {
        concrete: &concrete,
        builder,
        runtime: &runtime,
        layout: module.layout(),
        coverage: &coverage,
        instrumented: HashSet::from_iter(defined.iter().copied()),
        hashes,
        globals,
        standard_streams: outside::standard_streams(module),
        reads_status: crossings::reads_status(module),
        reachable,
    };
    for &function in &defined {
        Function::new(&program, &mut numbering, function).instrument();
    }
    promises::keep_allocations(module);
    promises::settle(
        builder,
        module.functions().into_iter().filter(|function| !runtime.owns(*function)),
    );
    words::insert(module, builder, &runtime);
    constructors::place(module);
    module.verify()?;
    Ok((numbering, after))
}

/// Numbers the branches of the unoptimised program.
fn number(module: &Module, builder: &Builder) -> Result<Numbering> {
    let mut numbering = Numbering::new(module.context);
    numbering.table.words = strings::collect(module);
    attributes::keep_inline_functions(module)?;
    module.run_passes(FIRST)?;
    wide_switch::lower(module, builder);
    for function in module.functions().into_iter().filter(|function| !attributes::is_own(*function))
    {
        numbering.number_function(function);
    }
    Ok(numbering)
}

fn instruction_count(functions: &[Value]) -> usize {
    let blocks = functions.iter().flat_map(|function| llvm::blocks(*function));
    blocks.map(|block| llvm::instructions(block).len()).sum()
}

fn instrumentable(module: &Module) -> Vec<Value> {
    module
        .functions()
        .into_iter()
        .filter(|function| attributes::can_be_instrumented(*function))
        .collect()
}

fn write(module: &Module, options: &Options) -> Result<()> {
    if let Some(path) = &options.bitcode {
        module.write_bitcode(path)?;
    }
    module.write_object(&options.object)
}

fn write_table(table: &impl serde::Serialize, path: &Path) -> Result<()> {
    let text = serde_json::to_vec(table)?;
    std::fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
}
