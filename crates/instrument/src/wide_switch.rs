//! Switches on more than 64 bits become comparisons: the table of sites holds case values of 64
//! bits.

use crate::llvm::{self, Block, Builder, LLVMIntPredicate, LLVMOpcode, Value};
use crate::module::Module;

const WIDEST: u32 = 64;

pub fn lower(module: &Module, builder: &Builder) {
    for function in module.functions() {
        for block in llvm::blocks(function) {
            if let Some(switch) =
                llvm::terminator(block).filter(|&terminator| is_wide_switch(terminator))
            {
                lower_switch(builder, switch);
            }
        }
    }
}

/// Unoptimised code has no phi nodes where switches lead; a switch that leads to one stays.
fn is_wide_switch(terminator: Value) -> bool {
    llvm::opcode(terminator) == LLVMOpcode::LLVMSwitch
        && llvm::int_width(llvm::type_of(llvm::operand(terminator, 0))) > WIDEST
        && !llvm::successors(terminator).into_iter().any(starts_with_phi)
}

fn starts_with_phi(block: Block) -> bool {
    llvm::first_instruction(block).is_some_and(|first| llvm::opcode(first) == LLVMOpcode::LLVMPHI)
}

fn lower_switch(builder: &Builder, switch: Value) {
    let (value, default) = (llvm::operand(switch, 0), llvm::successor(switch, 0));
    let mut otherwise = default;
    for case in (1..llvm::successor_count(switch)).rev() {
        let block = builder.new_block(default);
        builder.at_end_for(block, switch);
        let case_value = llvm::case_value(switch, case);
        let equal = builder.compare(LLVMIntPredicate::LLVMIntEQ, value, case_value);
        builder.branch(equal, llvm::successor(switch, case), otherwise);
        otherwise = block;
    }
    builder.before(switch);
    builder.jump(otherwise);
    llvm::erase(switch);
}
