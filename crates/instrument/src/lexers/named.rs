//! Lexers that the user named: calls of the runtime at their entry and before each return, which
//! make what they deliver a symbolic token.

use super::debug::enumerations;
use super::program::name;
use super::written::{Written, delivery};
use crate::llvm::{self, Builder, LLVMOpcode, Type, Value, c_string};
use crate::module::Module;
use anyhow::{Context as _, Result, ensure};
use inkwell::llvm_sys::core::*;
use std::collections::BTreeMap;

/// Comes first, on the program as it was compiled: names of fields are still known, and nothing is
/// inlined. Returns the enumerations whose constants tokens may be.
pub fn insert(
    module: &Module,
    builder: &Builder,
    lexers: &[String],
) -> Result<Vec<BTreeMap<String, i64>>> {
    for (number, lexer) in lexers.iter().enumerate() {
        let (function, place) = match lexer.split_once(':') {
            Some((function, place)) => (function, Some(place)),
            None => (lexer.as_str(), None),
        };
        let is_named = |value: &Value| !llvm::is_declaration(*value) && name(*value) == function;
        let functions: Vec<Value> = module.functions().into_iter().filter(is_named).collect();
        ensure!(
            !functions.is_empty(),
            "the program has no function named {function}; `tarragon lexers PROGRAM` proposes some"
        );
        for function in functions {
            let written =
                delivery(module, function, place).with_context(|| format!("--lexer '{lexer}'"))?;
            Calls { module, builder, lexer: number as u32 }.insert(function, &written);
        }
    }
    Ok(if lexers.is_empty() { Vec::new() } else { enumerations(module) })
}

struct Calls<'a> {
    module: &'a Module,
    builder: &'a Builder,
    lexer: u32,
}

impl Calls<'_> {
    fn insert(&self, function: Value, written: &Written) {
        let builder = self.builder;
        if let Some(first) = llvm::first_instruction(llvm::entry_block(function)) {
            builder.before(llvm::after_allocas(first));
            self.call("tarragon_lexer_entered", self.void(), &[]);
        }
        let returns = llvm::blocks(function).into_iter().filter_map(llvm::terminator);
        for at in returns.filter(|i| llvm::opcode(*i) == LLVMOpcode::LLVMRet) {
            builder.before(at);
            match written {
                Written::Result => self.deliver_result(at),
                Written::Memory { base, steps, size } => {
                    self.deliver_in_memory(*base, steps, *size)
                }
            }
        }
    }

    fn deliver_result(&self, at: Value) {
        let builder = self.builder;
        let result = llvm::operand(at, 0);
        let code = builder.zext_or_trunc(result, builder.i64);
        let token =
            self.call("tarragon_token", builder.i64, &[code, builder.const_i32(self.lexer)]);
        let token = builder.zext_or_trunc(token, llvm::type_of(result));
        // SAFETY: a return of a value has one operand, and the new one has its type.
        unsafe { LLVMSetOperand(at, 0, token) };
    }

    fn deliver_in_memory(&self, base: Value, steps: &[u64], size: u64) {
        let builder = self.builder;
        let mut place = base;
        for (i, step) in steps.iter().enumerate() {
            if i > 0 {
                place = builder.load(llvm::type_of(builder.null()), place);
            }
            place = builder.offset(place, builder.const_i64(*step));
        }
        let arguments = [place, builder.const_i64(size), builder.const_i32(self.lexer)];
        self.call("tarragon_token_at", self.void(), &arguments);
    }

    fn void(&self) -> Type {
        // SAFETY: the context is the module's.
        unsafe { LLVMVoidTypeInContext(self.module.context) }
    }

    /// Calls a function that only the runtime's model of it will define.
    fn call(&self, name: &str, result: Type, arguments: &[Value]) -> Value {
        let known =
            self.module.functions().into_iter().find(|function| llvm::name(*function) == name);
        let function = known.unwrap_or_else(|| {
            let mut types: Vec<Type> =
                arguments.iter().map(|argument| llvm::type_of(*argument)).collect();
            // SAFETY: the types belong to the module's context, and LLVM copies them.
            unsafe {
                let ty = LLVMFunctionType(result, types.as_mut_ptr(), types.len() as u32, 0);
                LLVMAddFunction(self.module.raw, c_string(name).as_ptr(), ty)
            }
        });
        self.builder.call(function, arguments)
    }
}
