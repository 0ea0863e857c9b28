//! Tells models of the system where the program calls them, so that a report can say which call
//! failed: before each such call, the place is stored in a variable of the model's file.

use crate::llvm::{self, Builder, Value};
use crate::module;
use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::prelude::*;

/// The variable: a pointer to text.
const PLACE: &str = "tarragon_site";

/// Whether a file of models wants to know.
pub fn wants_places(model: LLVMModuleRef) -> bool {
    module::symbols(model).into_iter().any(|symbol| llvm::name(symbol) == PLACE)
}

/// Stores the places of all calls of a model in the modules of the program.
pub fn tell(context: LLVMContextRef, modules: &[LLVMModuleRef], model: &str) {
    let builder = Builder::new(context);
    for &module in modules {
        let functions = module::symbols(module).into_iter();
        for function in functions.filter(|symbol| llvm::name(*symbol) == model) {
            let calls = llvm::users(function).into_iter().filter(|user| is_call(*user, function));
            calls.for_each(|call| store_place(&builder, module, call));
        }
    }
}

fn is_call(user: Value, function: Value) -> bool {
    // SAFETY: the handle is a value; the callee is asked of calls only.
    unsafe {
        let is_call = !LLVMIsACallInst(user).is_null() || !LLVMIsAInvokeInst(user).is_null();
        is_call && LLVMGetCalledValue(user) == function
    }
}

fn store_place(builder: &Builder, module: LLVMModuleRef, call: Value) {
    builder.before(call);
    builder.store(builder.text(&place(call)), variable(builder, module));
}

fn variable(builder: &Builder, module: LLVMModuleRef) -> Value {
    let name = llvm::c_string(PLACE);
    // SAFETY: the module is alive, and of the builder's context.
    unsafe {
        let there = LLVMGetNamedGlobal(module, name.as_ptr());
        if there.is_null() { LLVMAddGlobal(module, builder.ptr, name.as_ptr()) } else { there }
    }
}

/// `list.c:31 (push)`
fn place(call: Value) -> String {
    let function = llvm::name(llvm::function_of(llvm::block_of(call)));
    let function = trace::replaced_name(&function);
    match llvm::debug_line(call) {
        0 => function.to_owned(),
        line => format!("{}:{line} ({function})", llvm::debug_file(call)),
    }
}
