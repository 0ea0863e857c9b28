//! The program's words: `main` takes its arguments from the runtime, which puts the input into them
//! where the driver asked for that.

use crate::entry;
use crate::llvm::{self, Builder, LLVMOpcode, Value};
use crate::module::Module;
use crate::runtime::Runtime;

/// Comes after the runtime's start was placed in `main`.
pub fn insert(module: &Module, builder: &Builder, runtime: &Runtime) {
    let Some(main) =
        module.functions().into_iter().find(|function| llvm::name(*function) == "main")
    else {
        return;
    };
    let start = runtime.entry(entry::__tg_start);
    let instructions = llvm::blocks(main).into_iter().flat_map(llvm::instructions);
    let mut calls = instructions
        .filter(|i| llvm::opcode(*i) == LLVMOpcode::LLVMCall && llvm::called(*i) == start);
    let Some(next) = calls.next().and_then(llvm::next_instruction) else { return };
    let parameters: Vec<Value> =
        (0..llvm::param_count(main)).map(|i| llvm::param(main, i)).collect();
    let own = [entry::__tg_argument_count, entry::__tg_arguments];
    builder.before(next);
    let taken: Vec<(Value, Value)> = parameters
        .iter()
        .zip(own)
        .map(|(parameter, own)| (*parameter, runtime.call(builder, own, [])))
        .collect();
    for &(parameter, from_runtime) in &taken {
        llvm::replace_uses(parameter, from_runtime);
    }
    builder.before(taken.first().map_or(next, |(_, first)| *first));
    let count = parameters.first().copied().unwrap_or(builder.const_i32(0));
    let list = parameters.get(1).copied().unwrap_or(builder.null());
    runtime.call(builder, entry::__tg_words, [count, list]);
}
