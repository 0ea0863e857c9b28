//! Checks of the sanitized variant that clang's front end does not put there: formats that are no
//! constants, and, in modules that it compiled without its sanitizers, what bitcode still shows of
//! undefined behaviour: signed arithmetic and shifts. The functions that report come with the
//! program's own bitcode.

use crate::llvm::{self, Builder, LLVMIntPredicate, LLVMOpcode, LLVMTypeKind, Value};
use crate::module::Module;
use crate::{attributes, formats};
use std::collections::HashMap;

/// As `checks.c` of the compilers numbers them.
const SIGNED_OVERFLOW: u32 = 0;
const SHIFT_TOO_FAR: u32 = 1;

pub fn check(module: &Module, builder: &Builder) {
    let functions: HashMap<String, Value> =
        module.functions().into_iter().map(|function| (llvm::name(function), function)).collect();
    let (Some(&undefined), Some(&format)) =
        (functions.get("__tarragon_undefined"), functions.get("__tarragon_format"))
    else {
        return;
    };
    let checks = Checks { module, builder, undefined, format };
    let checked = functions.values().filter(|function| **function != undefined);
    for &function in checked.filter(|function| attributes::can_be_instrumented(**function)) {
        let unchecked = attributes::is_unchecked(function);
        for instruction in llvm::blocks(function).into_iter().flat_map(llvm::instructions) {
            checks.call(instruction);
            if unchecked {
                checks.arithmetic_or_shift(instruction);
            }
        }
    }
}

struct Checks<'a> {
    module: &'a Module,
    builder: &'a Builder,
    undefined: Value,
    format: Value,
}

impl Checks<'_> {
    fn arithmetic_or_shift(&self, instruction: Value) {
        use LLVMOpcode::*;
        match llvm::opcode(instruction) {
            LLVMAdd => self.arithmetic(instruction, "llvm.sadd.with.overflow"),
            LLVMSub => self.arithmetic(instruction, "llvm.ssub.with.overflow"),
            LLVMMul => self.arithmetic(instruction, "llvm.smul.with.overflow"),
            LLVMShl | LLVMLShr | LLVMAShr => self.shift(instruction),
            _ => {}
        }
    }

    fn arithmetic(&self, instruction: Value, intrinsic: &str) {
        let ty = llvm::type_of(instruction);
        if !llvm::has_no_signed_wrap(instruction)
            || llvm::kind(ty) != LLVMTypeKind::LLVMIntegerTypeKind
        {
            return;
        }
        let checking = llvm::intrinsic(self.module.raw, intrinsic, &mut [ty]);
        self.builder.before(instruction);
        let both = self
            .builder
            .call(checking, &[llvm::operand(instruction, 0), llvm::operand(instruction, 1)]);
        self.report(self.builder.extract(both, 1), SIGNED_OVERFLOW);
    }

    fn shift(&self, instruction: Value) {
        let (ty, amount) = (llvm::type_of(instruction), llvm::operand(instruction, 1));
        if llvm::kind(ty) != LLVMTypeKind::LLVMIntegerTypeKind || llvm::is_constant(amount) {
            return;
        }
        self.builder.before(instruction);
        let width = self.builder.const_int(ty, llvm::int_width(ty) as u64);
        let far = self.builder.compare(LLVMIntPredicate::LLVMIntUGE, amount, width);
        self.report(far, SHIFT_TOO_FAR);
    }

    fn call(&self, call: Value) {
        if llvm::opcode(call) != LLVMOpcode::LLVMCall {
            return;
        }
        let Some(function) = llvm::as_function(llvm::called(call)) else { return };
        let Some(position) = formats::position(&llvm::name(function)) else { return };
        if position < llvm::argument_count(call)
            && !llvm::is_constant(llvm::operand(call, position))
        {
            self.builder.before(call);
            self.builder.call(self.format, &[llvm::operand(call, position)]);
        }
    }

    fn report(&self, violated: Value, kind: u32) {
        let violated = self.builder.zext_or_trunc(violated, self.builder.i32);
        self.builder.call(self.undefined, &[violated, self.builder.const_i32(kind)]);
    }
}
